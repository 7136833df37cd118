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
    let scene = Scene::new().home(NOTES).global("## Memory facts\n\n- **[g1]** (importance 0.62) Global fact\n");
    insta::assert_snapshot!(scene.run(&["list"]).all(), @"");
    insta::assert_snapshot!(scene.run(&["list", "--all", "--kind", "memory", "--layer", "home"]).all(), @"");
}

#[test]
fn the_json_has_everything() {
    let scene = Scene::new().home(NOTES);
    let json = scene.run(&["list", "--json", "--kind", "memory"]).ok();
    insta::assert_snapshot!(json, @"");
    assert_eq!(Scene::new().run(&["list", "--json"]).ok(), "[]\n");
}

#[test]
fn show_tells_all_and_raw_the_bytes() {
    let scene = Scene::new().home(NOTES);
    insta::assert_snapshot!(scene.run(&["show", "n2"]).ok(), @"");
    let raw = "---\nid: n2\ntitle: Ports\ntags: [net, dev]\nx-ticket: OPS-1\n---\n\nUse 8080.\nAnd 9000.\n";
    assert_eq!(scene.run(&["show", "n2", "--raw"]).ok(), raw);
    scene.run(&["show", "n9"]).ends(1).says("no note in reach has the id `n9`").says("did you mean n1 or n2 or n3?");
    scene.run(&["show", "zzzzzz"]).ends(1).says("`layers list --all` shows all");
}

#[test]
fn status_says_where_and_why() {
    let scene = Scene::repo().home(NOTES).global("---\nid: g\nkind: memroy\n---\n\nx\n").file("app/.harness/app.md", "");
    insta::assert_snapshot!(scene.run(&["status", "--model", "a/m"]).all(), @"");
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
