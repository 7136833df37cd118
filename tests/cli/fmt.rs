//! `fmt`: on request, with a way to look first.

use super::scene::{HOME, Scene};

const UNTIDY: &str = "---\nimportance: 0.5\nid: n1\n---\nA fact.\n\n\n\n---\nid: n2\n---\n\nAnother.\n";

#[test]
fn check_and_diff_write_nothing() {
    let scene = Scene::new().home(UNTIDY);
    scene.run(&["fmt", "--check"]).ends(1).says("would format");
    insta::assert_snapshot!(scene.run(&["fmt", "--diff"]).ok(), @r"
    --- @/home/.harness/harness-state/app.md
    +++ @/home/.harness/harness-state/app.md
    @@ -1,10 +1,9 @@
     ---
    -importance: 0.5
     id: n1
    +importance: 0.50
     ---
    +
     A fact.
    -
    -
     
     ---
     id: n2
    ");
    assert_eq!(scene.read(HOME), UNTIDY);
}

#[test]
fn formatting_twice_changes_nothing_more() {
    let scene = Scene::new().home(UNTIDY);
    scene.run(&["fmt"]).ends(0).says("formatted");
    let text = scene.read(HOME);
    assert!(text.contains("importance: 0.50"), "{text}");
    scene.run(&["fmt"]).ends(0).says("nothing to format");
    scene.run(&["fmt", "--check"]).ok();
    assert_eq!(scene.read(HOME), text);
}

#[test]
fn conversions_go_both_ways() {
    let scene = Scene::new().home("---\nid: n1\n---\n\nA fact.\n");
    scene.run(&["fmt", "--to", "bullets"]).ok();
    assert!(scene.read(HOME).contains("- **[n1]** (importance 0.50) A fact.\n"));
    scene.run(&["fmt", "--to", "front-matter", "@/home/.harness/harness-state/app.md"]).ok();
    scene.run(&["show", "n1"]).ends(0).prints("A fact.");
}
