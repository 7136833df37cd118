//! `check`: each finding with its place and its remedy.

use super::scene::{HOME, Scene};

#[test]
fn findings_have_place_line_and_remedy() {
    let scene = Scene::new().home(
        "---\nlayer: project\nproject: shop\n---\n\n---\nid: n1\nimportance: 1.5\n---\n\nhid\u{202e}den\n\n---\nid: n2\nscope: project\nproject: other\n---\n\nx\n",
    );
    insta::assert_snapshot!(scene.run(&["check"]).all(), @r"
    @/home/.harness/harness-state/app.md:3:1: warning: the header says project shop, the file is the layer of app [header-project]
    3 | project: shop
      | ^^^^^^^^^^^^^
    help: write `project: app` or rename the file; the file's name counts
    @/home/.harness/harness-state/app.md:8:13: warning: importance 1.5 is outside 0 to 1 [importance-range]
    8 | importance: 1.5
      |             ^^^
    help: use a number from 0 to 1; it is read as the nearer end
    @/home/.harness/harness-state/app.md:11:4: warning: a character that turns the reading order around, U+202E [unwanted-character]
    11 | hid�den
       |    ^
    help: remove it; blocks leave it out, so a model never sees it
    @/home/.harness/harness-state/app.md:15:1: warning: the note names the project other, but stands in a layer of app: it counts nowhere [claims-other-project]
    15 | scope: project
       | ^^^^^^^^^^^^^^
    help: remove `scope` and `project`, or move the note into that project's layer with `layers move ID --to-project KEY`
    --- stderr, exit 1
    0 errors, 4 warnings, 0 notes in 1 file
    ");
    assert_eq!(scene.run(&["check", "--quiet"]).ends(1).all(), "--- stderr, exit 1\n");
}

#[test]
fn a_clean_layer_has_no_findings() {
    let scene = Scene::new().home("---\nid: n1\n---\n\nx\n");
    let ran = scene.run(&["check"]).ends(0);
    assert_eq!((&*ran.out, &*ran.err), ("", "0 errors, 0 warnings, 0 notes in 1 file\n"));
    assert_eq!(scene.run(&["check", "--json"]).ok(), "[]\n");
}

#[test]
fn files_are_checked_by_path() {
    let scene = Scene::new().file("app/a.md", "---\nid: n1\nkind: memroy\n---\n\nx\n");
    scene.run(&["check", "a.md"]).ends(1).prints("a.md:3:").prints("[unknown-kind]");
    scene.run(&["check", "none.md"]).ends(4).says("there is no file none.md");
    let json: serde_json::Value =
        serde_json::from_str(&scene.run(&["check", "a.md", "--json"]).ends(1).out).unwrap();
    assert_eq!((&json[0]["code"], &json[0]["line"]), (&"unknown-kind".into(), &3.into()));
}

#[test]
fn claims_of_a_repository_are_named() {
    let scene = Scene::repo()
        .global("---\nid: n1\n---\n\nmine\n\n---\nid: n0\nscope: project\n---\n\nnowhere\n")
        .file("app/.harness/app.md", "---\nid: n1\nscope: global\n---\n\ntheirs\n");
    let ran = scene.run(&["check"]).ends(1);
    for code in ["[shadowed]", "[project-unnamed]", "[claims-global]"] {
        assert!(ran.out.contains(code), "{}", ran.out);
    }
    assert!(!scene.path(HOME).exists(), "checking writes nothing");
}
