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
    let said = scene.run(&["man", "--out", "man"]).ends(0).err;
    let pages = std::fs::read_dir(scene.path("app/man")).unwrap().count();
    assert!(said.contains(&format!("wrote {pages} pages")), "{said}");
    for command in ["layers-render", "layers-git-sync", "layers-trust"] {
        assert!(scene.read(&format!("app/man/{command}.1")).contains(&format!(".TH {command} 1")));
    }
}
