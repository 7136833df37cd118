//! `list`, `show`, `status`.

use super::scene::Scene;

const NOTES: &str = "---
id: n1
kind: prompt
importance: 0.80
model: a/m
---

Answer in German.

---
id: n2
title: Ports
tags: [net, dev]
x-ticket: OPS-1
---

Use 8080.
And 9000.

---
id: n3
active: false
---

Old.
";

#[test]
fn the_table_is_for_people() {
    let scene =
        Scene::new().home(NOTES).global("## Memory facts\n\n- **[g1]** (importance 0.62) Global fact\n");
    insta::assert_snapshot!(scene.run(&["list"]).all(), @r"
    id  kind    importance  model  project  layer   state  text
    g1  memory  0.62        -      *        global  ok     Global fact
    n1  prompt  0.80        a/m    app      home    ok     Answer in German.
    n2  memory  0.50        -      app      home    ok     Ports
    --- stderr, exit 0
    1 more with --all (1 inactive)
    ");
    insta::assert_snapshot!(scene.run(&["list", "--all", "--kind", "memory", "--layer", "home"]).all(), @r"
    id  kind    importance  model  project  layer  state     text
    n2  memory  0.50        -      app      home   ok        Ports
    n3  memory  0.50        -      app      home   inactive  Old.
    --- stderr, exit 0
    ");
}

#[test]
fn the_json_has_everything() {
    let scene = Scene::new().home(NOTES);
    let json = scene.run(&["list", "--json", "--kind", "memory"]).ok();
    insta::assert_snapshot!(json, @r#"
    [
      {
        "id": "n2",
        "provisional": false,
        "kind": "memory",
        "title": "Ports",
        "content": "Use 8080.\nAnd 9000.",
        "importance": 0.5,
        "written_importance": null,
        "model": null,
        "scope": "project",
        "project": "app",
        "active": true,
        "approval": "approved",
        "evidence": "",
        "tags": [
          "net",
          "dev"
        ],
        "protected": false,
        "form": "front-matter",
        "state": "good",
        "standing": "eligible",
        "shadowed_by": null,
        "layer": "home",
        "path": "@/home/.harness/harness-state/app.md",
        "line": 10,
        "metadata": {
          "x-ticket": "OPS-1"
        }
      }
    ]
    "#);
    assert_eq!(Scene::new().run(&["list", "--json"]).ok(), "[]\n");
}

#[test]
fn show_tells_all_and_raw_the_bytes() {
    let scene = Scene::new().home(NOTES);
    insta::assert_snapshot!(scene.run(&["show", "n2"]).ok(), @r"
    n2
      kind        memory
      title       Ports
      importance  0.50 (default)
      model       none
      scope       project (app)
      active      yes
      approval    approved
      tags        net, dev
      x-ticket    OPS-1
      state       ok
      layer       home, @/home/.harness/harness-state/app.md:10

    Use 8080.
    And 9000.
    ");
    let raw = "---\nid: n2\ntitle: Ports\ntags: [net, dev]\nx-ticket: OPS-1\n---\n\nUse 8080.\nAnd 9000.\n";
    assert_eq!(scene.run(&["show", "n2", "--raw"]).ok(), raw);
    scene
        .run(&["show", "n9"])
        .ends(1)
        .says("no note in reach has the id `n9`")
        .says("did you mean n1 or n2 or n3?");
    scene.run(&["show", "zzzzzz"]).ends(1).says("`layers list --all` shows all");
}

#[test]
fn status_says_where_and_why() {
    let scene = Scene::repo()
        .home(NOTES)
        .global("---\nid: g\nkind: memroy\n---\n\nx\n")
        .file("app/.harness/app.md", "");
    insta::assert_snapshot!(scene.run(&["status", "--model", "a/m"]).all(), @r"
    root       @/home/.harness (the default)
    project    app (from @/app/.harness/app.md)
    work tree  @/app
    model      a/m

    layers, the last one wins
      layer   state  notes  problems  path
      global  ok     1      1 error   @/home/.harness/harness-state.md
      repo    ok     0      -         .harness/app.md
      home    ok     3      -         @/home/.harness/harness-state/app.md

    2 of 4 notes compete for a place in the block of a/m (2 ok, 1 inactive, 1 unparsed)
    --- stderr, exit 0
    help: `layers check` shows the problems with their lines
    ");
    let json: serde_json::Value = serde_json::from_str(&scene.run(&["status", "--json"]).ok()).unwrap();
    assert_eq!(json["project"]["key"], "app");
    assert_eq!(json["layers"].as_array().unwrap().len(), 3);
}

#[test]
fn a_clash_of_layers_is_a_finding() {
    let scene = Scene::repo().file("app/.harness/one.md", "").file("app/.harness/two.md", "");
    scene.run(&["status"]).ends(1).says("nothing says which is this one's");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let scene = Scene::new().home("---\nid: n1\n---\n\nred \u{1b}[31m text\n");
    let out = scene.run(&["list"]).ok() + &scene.run(&["show", "n1"]).ok();
    assert!(!out.contains('\u{1b}'), "{out:?}");
}

/// Every command that prints data prints one JSON value, whatever happens.
#[test]
fn json_is_json_in_every_case() {
    let scene = Scene::repo().global("---\nid: g\nmodel: b/m\n---\n\nx\n");
    let runs: [(&[&str], &str); 14] = [
        (&["init"], "/0/created"),
        (&["add", "--id", "n1", "one"], "/line"),
        (&["edit", "n1", "--importance", "0.9"], "/changed/0"),
        (&["edit", "n1", "--importance", "0.9"], "/standing"),
        (&["keep", "n1"], "/0/new"),
        (&["move", "n1", "home"], "/from"),
        (&["move", "n1", "repo"], "/to"),
        (&["move", "n1", "home"], "/line"),
        (&["list"], "/0/standing"),
        (&["show", "n1"], "/raw"),
        (&["status", "--model", "a/m"], "/standings/other-model"),
        (&["render"], "/notes"),
        (&["fmt"], "/0/left"),
        (&["export"], "/0/evidence"),
    ];
    for (args, key) in runs {
        let out = scene.run(&[args, &["--json"]].concat()).ok();
        let value: serde_json::Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{args:?}: {out}"));
        assert!(value.pointer(key).is_some(), "{args:?} has no {key}: {out}");
    }
    assert_eq!(scene.run(&["check", "--json"]).ok(), "[]\n");
}

/// Wide characters are counted as the columns that they take.
#[test]
fn wide_texts_are_cut_at_columns() {
    let scene = Scene::new();
    scene.run(&["add", "--id", "n1", &"東京".repeat(40)]).ok();
    let list = scene.run(&["list"]).ok();
    let text = list.lines().last().unwrap().split_whitespace().last().unwrap().to_owned();
    assert_eq!(text.chars().count(), 30, "29 wide characters and the mark of a cut: {text}");
}

/// On a terminal the text is cut to what fits; in a pipe it is whole.
#[test]
fn a_table_fits_the_terminal() {
    let scene = Scene::new();
    let text = "A rather long text that says a lot, and then goes on to say even more of it";
    scene.run(&["add", "--layer", "global", "--id", "n1", "--any-model", text]).ok();
    scene.run(&["archive", "n1"]).ok();
    assert!(scene.run(&["archive"]).ok().contains(text));
    let layers = env!("CARGO_BIN_EXE_layers");
    let shown = std::process::Command::new("script")
        .args(["-qec", &format!("stty cols 80 rows 24; '{layers}' archive 2>&1"), "/dev/null"])
        .current_dir(scene.path("app"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", scene.path("home"))
        .env("NO_COLOR", "1")
        .output();
    let Ok(shown) = shown else {
        println!("no `script` here: passed over");
        return;
    };
    let shown = String::from_utf8(shown.stdout).unwrap();
    let row = shown.lines().find(|line| line.contains("n1")).unwrap().trim_end();
    assert!(row.ends_with('…') && row.chars().count() == 80, "{row:?} of {shown}");
}
