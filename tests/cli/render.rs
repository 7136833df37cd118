//! `render`: what is in the block, and why not.

use super::scene::Scene;

fn note(id: &str, importance: &str, rest: &str, text: &str) -> String {
    format!("---\nid: {id}\nimportance: {importance}\n{rest}---\n\n{text}\n\n")
}

/// Forty small notes, and last an important long one.
fn forty() -> String {
    let small = (0..40).map(|at| note(&format!("a{at:02}"), "0.10", "", "small"));
    small.collect::<String>() + &note("zz", "1.00", "", &"z".repeat(400))
}

const TIGHT: &str = r#"{"injection": {"maxTokens": 500}}"#;

#[test]
fn an_important_note_is_there_whole_and_the_rest_is_accounted_for() {
    let scene = Scene::repo().home(&forty()).file("home/.harness/harness.json", TIGHT);
    let scene = scene.file("app/sub/x", "").var("LAYERS_MODEL", "a/m");
    let block = scene.run(&["render"]).ok();
    assert!(block.contains(&format!("\n- [zz] {}\n", "z".repeat(400))), "{block}");
    assert!(block.find("[zz]").unwrap() < block.find("[a00]").unwrap());
    assert!(block.contains("\n_(31 item(s) not shown"), "{block}");
    assert_eq!(block, scene.run(&["render"]).ok(), "same inputs, same bytes");

    let explained = scene.run(&["render", "--explain"]).ok();
    assert_eq!(explained.lines().count(), 1 + 41 + 1, "a line for every note:\n{explained}");
    let count = "10 taken, 31 item(s) not shown (31 over the kind cap, 0 over the budget), 0 out";
    assert!(explained.contains(count), "{explained}");

    scene.git("app", &["add", "-A"]);
    scene.git("app", &["commit", "-q", "-m", "x"]);
    scene.git("app", &["worktree", "add", "-q", "../feature"]);
    assert_eq!(scene.cwd("app/sub").run(&["render"]).ok(), block, "a subdirectory");
}

#[test]
fn a_linked_worktree_shows_the_same_block() {
    let scene = Scene::repo().home(&forty()).file("app/x", "").var("LAYERS_MODEL", "a/m");
    scene.git("app", &["add", "-A"]);
    scene.git("app", &["commit", "-q", "-m", "x"]);
    scene.git("app", &["worktree", "add", "-q", "../feature"]);
    let block = scene.run(&["render"]).ok();
    assert_eq!(scene.cwd("feature").run(&["render"]).ok(), block);
}

#[test]
fn spelling_does_not_decide_a_tie() {
    let text = note("b", "0.50", "", "one") + &note("a", "0.50", "", "two");
    let block = Scene::new().home(&text).run(&["render", "--model", "a/m"]).ok();
    assert!(block.find("[b]").unwrap() < block.find("[a]").unwrap());
}

#[test]
fn every_note_left_out_has_a_reason() {
    let text = [
        note("shown", "0.90", "", "Here."),
        note("big", "0.80", "", &"z".repeat(9000)),
        note("off", "0.50", "active: false\n", "x"),
        note("other", "0.50", "model: b/m\n", "x"),
        note("wait", "0.50", "approval: pending\n", "x"),
        note("far", "0.50", "scope: project\nproject: elsewhere\n", "x"),
        note("broken", "0.50", "kind: memroy\n", "x"),
    ];
    let scene = Scene::new().home(&text.concat()).global(&note("shown", "0.50", "", "outer"));
    let explained = scene.run(&["render", "--model", "a/m", "--explain"]).ok();
    insta::assert_snapshot!(explained, @r"
    kind    rank  cost  importance  outcome                                id      layer   text
    memory  1     4     0.90        taken                                  shown   home    Here.
    memory  2     2252  0.80        over the budget (injection.maxTokens)  big     home    zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…
    memory  -     4     0.50        shadowed by another layer              shown   global  outer
    memory  -     3     0.50        inactive                               off     home    x
    memory  -     3     0.50        other model                            other   home    x
    memory  -     3     0.50        pending approval                       wait    home    x
    memory  -     3     0.50        other project                          far     home    x
    memory  -     3     0.50        unparsed                               broken  home    x
    1 taken, 1 item(s) not shown (0 over the kind cap, 1 over the budget), 6 out; 4 of 1419 tokens
    ");
}

#[test]
fn without_a_model_nothing_is_rendered_and_it_is_said() {
    let scene = Scene::new().home(&note("n1", "0.50", "", "x"));
    let ran = scene.run(&["render"]).ends(0);
    assert_eq!(ran.out, "");
    insta::assert_snapshot!(ran.err, @r"
    warning: no model is asked for, so nothing is rendered
    help: give --model PROVIDER/ID or set $LAYERS_MODEL
    ");
}

#[test]
fn an_empty_block_prints_nothing() {
    let ran = Scene::new().run(&["render", "--model", "a/m"]).ends(0);
    assert_eq!((&*ran.out, &*ran.err), ("", ""));
}

#[test]
fn a_malformed_configuration_is_told_on_stderr_and_changes_nothing() {
    let scene = Scene::new().home(&note("n1", "0.50", "", "x"));
    let block = scene.run(&["render", "--model", "a/m"]).ok();
    scene.write("home/.harness/harness.json", "{\n  \"injection\": {\"maxTokens\": -1}\n}");
    let ran = scene.run(&["render", "--model", "a/m"]).ends(0).says("harness.json:2:");
    assert_eq!(ran.out, block);
}

#[test]
fn all_projects_are_marked() {
    let scene = Scene::new()
        .global(
            &(note("g", "0.50", "", "for all")
                + &note("s", "0.50", "scope: project\nproject: shop\n", "for shop")),
        )
        .home(&note("mine", "0.50", "", "here"))
        .file("home/.harness/harness-state/shop.md", &note("theirs", "0.50", "", "there"));
    let block = scene.run(&["render", "--model", "a/m", "--all-projects"]).ok();
    insta::assert_snapshot!(block, @r"
    ## Continual Harness state
    Self-improved notes accumulated from past trajectories via /refine.
    Treat these as durable working context. Update them with the harness_mutate tool when they are wrong or stale.

    ### Remembered facts (global)
    - [g] for all

    ### Remembered facts (project app)
    - [mine] here

    ### Remembered facts (project shop)
    - [s] for shop
    - [theirs] there
    ");
    let only = scene.run(&["render", "--model", "a/m"]).ok();
    assert!(!only.contains("shop") && !only.contains("there"));
}

#[test]
fn formats_and_json() {
    let scene = Scene::new().home(&note("n1", "0.50", "", "a < b"));
    scene.run(&["render", "--model", "a/m", "--format", "xml"]).ends(0).prints("a &lt; b");
    scene.run(&["render", "--model", "a/m", "--format", "plain"]).ends(0).prints("\n[n1] a < b\n");
    let json = scene.run(&["render", "--model", "a/m", "--json"]).ok();
    assert_eq!(json, scene.run(&["render", "--model", "a/m", "--format", "json"]).ok());
    let explained = scene.run(&["render", "--model", "a/m", "--explain", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&explained).unwrap();
    assert_eq!(value["candidates"][0]["outcome"], "taken");
    scene.run(&["render", "--format", "yaml"]).ends(2).says("markdown");
}
