//! Completions and manual pages.

use super::scene::Scene;

#[test]
fn scripts_for_five_shells() {
    let scene = Scene::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = scene.run(&["completions", shell]).ok();
        assert!(script.contains("render"), "{shell}");
    }
}

#[test]
fn shells_that_ask_get_ids_models_and_projects() {
    let note = "---\nid: n1\nmodel: a/m\n---\n\nA fact.\n";
    let scene = Scene::new().home(note).file("home/.harness/harness-state/shop.md", "");
    let scene = scene.var("COMPLETE", "fish");
    let ask = |words: &[&str]| scene.run(&[&["--", "layers"], words].concat()).ok();
    assert!(ask(&["show", "n"]).contains("n1\tA fact."));
    assert!(ask(&["list", "--model", ""]).contains("a/m"));
    assert!(ask(&["list", "--project", "s"]).contains("shop"));
    assert!(ask(&["list", "--kind", ""]).contains("skill"));
}

#[test]
fn a_manual_page_for_each_command() {
    let scene = Scene::new();
    scene.run(&["man"]).ends(0).prints(".TH layers 1");
    scene.run(&["man", "--out", "man"]).ends(0).says("wrote 31 pages");
    assert!(scene.read("app/man/layers-render.1").contains(".TH layers-render 1"));
}
