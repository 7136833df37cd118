//! `init`: made once, left alone afterwards.

use super::scene::{HOME, Scene};

#[test]
fn the_root_and_its_layers_are_made_once() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.run(&["init"]).all(), @r"
    --- stderr, exit 0
    made the global layer @/home/.harness/harness-state.md
    made the home layer @/home/.harness/harness-state/app.md
    help: `layers add TEXT` adds a note for this project, with --global for every project
    ");
    assert_eq!(scene.mode("home/.harness"), 0o700);
    assert_eq!(scene.mode(HOME), 0o600);
    // The revision is that of the text without its line.
    let named = "---\nlayer: project\nproject: app\nrevision: 8ef87f31dee4\n---\n";
    assert_eq!(scene.read(HOME), named);
    assert!(scene.read("home/.harness/harness-state.md").starts_with("---\nlayer: global\nrevision: "));
    scene.run(&["add", "--id", "n1", "x"]).ok();
    let text = scene.read(HOME);
    scene.run(&["init"]).ends(0).says("there already");
    assert_eq!(scene.read(HOME), text);
    scene.run(&["check"]).ok();
}

#[test]
fn a_repository_gets_a_layer_to_commit() {
    let scene = Scene::repo();
    scene.run(&["init", "--repo"]).ends(0).says("made the repo layer .harness/app.md");
    assert_eq!(scene.read("app/.harness/app.md"), "---\nlayer: project\nproject: app\n---\n");
    assert!(!scene.path(HOME).exists());
    Scene::new().run(&["init", "--repo"]).ends(3).says("no git work tree");
}

#[test]
fn pi_finds_its_own_title() {
    let scene = Scene::new().file("home/.pi/agent/harness.json", "{}");
    scene.run(&["init", "--global"]).ok();
    assert_eq!(scene.read("home/.pi/agent/harness-state.md"), "# Continual Harness State\n");
}
