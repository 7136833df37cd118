//! Layers in trouble: conflicts, copies, links that lead out, text that is none.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use harness_layers::files::Lock;

use super::scene::{HOME, Scene};

/// S16: real output of `git merge`.
const CONFLICTED: &str = "---
id: n1
importance: 0.80
---

<<<<<<< HEAD
Use pnpm, never npm.
=======
Use pnpm 9.
>>>>>>> feature

---
id: n2
---

Run migrations first!

A Setext title
=======
";

#[test]
fn a_layer_in_conflict_is_read_where_it_is_clean_and_not_written() {
    let scene = Scene::new().home(CONFLICTED);
    let block = scene.run(&["render", "--model", "a/m"]).ok();
    assert!(
        block.contains("[n2] Run migrations first!") && !block.contains("pnpm") && !block.contains("<<<<")
    );
    let ran = scene.run(&["add", "--id", "n3", "New."]).ends(3);
    insta::assert_snapshot!(ran.err, @r"
    @/home/.harness/harness-state/app.md:6:1: error: git's conflict markers stand in this layer; it is not written until they are gone
    6 | <<<<<<< HEAD
      | ^^^^^^^^^^^^
    help: resolve the conflict and remove the marker lines, then try again
    ");
    scene.run(&["edit", "n2", "--importance", "1"]).ends(3);
    scene.run(&["keep", "n2"]).ends(3);
    scene.run(&["move", "n2", "global"]).ends(3);
    scene.run(&["fmt"]).ends(3);
    assert_eq!(scene.read(HOME), CONFLICTED);
    let global = scene.path("home/.harness/harness-state.md");
    assert!(!global.exists(), "nothing of the move was begun");
    scene.run(&["list"]).ends(0).prints("in conflict");
    scene.run(&["status"]).ends(0).prints("in conflict");
}

/// S18: one id, two bodies.
#[test]
fn two_bodies_of_one_id_are_both_seen_and_neither_is_edited() {
    let text = "---\nid: n1\n---\n\nUse Redis.\n\n---\nid: n1\n---\n\nUse Memcached for tests.\n";
    let scene = Scene::new().home(text);
    scene.run(&["list"]).ends(0).prints("Use Redis.").prints("Use Memcached for tests.");
    let ran = scene.run(&["edit", "n1", "--importance", "0.9"]).ends(3);
    insta::assert_snapshot!(ran.err, @r"
    @/home/.harness/harness-state/app.md:7:1: error: 2 notes of this layer have the id n1
    7 | ---
      | ^^^
    help: give one of them another id by hand, or remove the copy; `layers check` lists them
    ");
    assert_eq!(scene.read(HOME), text);
    scene.run(&["check"]).ends(1).prints("[duplicate-id]");
}

#[test]
fn the_same_id_in_two_layers_is_the_inner_one() {
    let scene = Scene::new().global("---\nid: n1\n---\n\nglobal\n").home("---\nid: n1\n---\n\nprivate\n");
    scene.run(&["show", "n1"]).ends(0).prints("private").prints("shadows").prints("harness-state.md:1");
    scene
        .run(&["edit", "n1", "--importance", "0.9"])
        .ends(0)
        .says("another note with this id stays as it is");
    assert_eq!(scene.read("home/.harness/harness-state.md"), "---\nid: n1\n---\n\nglobal\n");
    scene.run(&["list"]).ends(0).says("1 more with --all (1 shadowed)");
}

/// S11 (b): a repository's layer must not lead out of its work tree.
#[test]
fn a_repo_layer_that_leads_out_is_neither_read_nor_written() {
    let outside = "---\nkind: memory\n---\n\nCANARY\n";
    let scene = Scene::repo().file("outside.md", outside).home("---\nid: n1\n---\n\nmine\n");
    fs::create_dir_all(scene.path("app/.harness")).unwrap();
    symlink("../../outside.md", scene.path("app/.harness/app.md")).unwrap();
    let ran = scene.run(&["render", "--model", "a/m"]).ends(3).says("outside its work tree");
    assert!(ran.out.contains("[n1] mine") && !ran.out.contains("CANARY"));
    scene.run(&["add", "--layer", "repo", "x"]).ends(3).says("is refused");
    scene.run(&["status"]).ends(3).prints("refused");
    assert_eq!(scene.read("outside.md"), outside);
}

#[test]
fn a_layer_that_is_no_text_does_not_hide_the_others() {
    let scene = Scene::new().home("---\nid: n1\n---\n\nmine\n");
    fs::write(scene.path("home/.harness/harness-state.md"), b"- **[a]** \xff\n").unwrap();
    let ran = scene.run(&["render", "--model", "a/m"]).ends(4).says("harness-state.md:1:11: not UTF-8");
    assert!(ran.out.contains("[n1] mine"));
    scene.run(&["add", "--global", "x"]).ends(4);
    assert_eq!(fs::read(scene.path("home/.harness/harness-state.md")).unwrap(), b"- **[a]** \xff\n");
    scene.end();
}

#[test]
fn a_key_that_is_none_is_a_usage_error() {
    Scene::new().run(&["status", "--project", "My App"]).ends(2).says("use `my-app");
}

#[test]
fn one_writer_at_a_time_and_the_wait_is_bounded() {
    let scene = Scene::new().file("home/.harness/harness.json", r#"{"layers": {"lockTimeoutMs": 50}}"#);
    let lock = Lock::acquire(&scene.path("home/.harness"), Duration::ZERO).unwrap();
    scene.run(&["add", "x"]).ends(4).says("is held by process").says("lockTimeoutMs");
    scene.run(&["list"]).ok();
    drop(lock);
    scene.run(&["add", "x"]).ok();
}

#[test]
fn many_writers_lose_nothing() {
    let scene = Scene::new();
    let children: Vec<_> =
        (0..8).map(|at| scene.command(&["add", "-q", &format!("note {at}")]).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let notes: serde_json::Value = serde_json::from_str(&scene.run(&["list", "--json"]).ok()).unwrap();
    assert_eq!(notes.as_array().unwrap().len(), 8);
}

/// The target took the note, the source cannot be written: the copy goes again.
#[test]
fn a_move_that_fails_half_way_is_undone() {
    let note = "---\nid: n1\n---\n\nA fact.\n";
    let scene = Scene::new().home(note).global("---\nid: g\n---\n\nx\n");
    scene.set_mode(HOME, 0o444);
    scene.run(&["move", "n1", "global"]).ends(3).says("read-only");
    assert_eq!(scene.read(HOME), note);
    assert_eq!(scene.read("home/.harness/harness-state.md"), "---\nid: g\n---\n\nx\n");
}
