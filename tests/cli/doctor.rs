//! `layers doctor`: each ailment is found, and its remedy heals it.

use std::fs;

use serde_json::Value;

use super::scene::{HOME, Scene};

const GLOBAL: &str = "home/.harness/harness-state.md";
const STORE: &str = "home/.local/state/harness-layers/store.db";

/// A root as `init` makes it, with a note and a store.
fn sound() -> Scene {
    let scene = Scene::repo();
    scene.run(&["init"]).ok();
    scene.run(&["add", "--layer", "global", "--id", "n1", "--any-model", "Use 30 s."]).ok();
    scene
}

/// The findings of an area: severity and message.
fn findings(scene: &Scene, area: &str) -> Vec<(String, String)> {
    let all: Value = serde_json::from_str(&scene.run(&["doctor", "--json"]).out).unwrap();
    let examined = all.as_array().unwrap().iter().find(|one| one["area"] == area).unwrap().clone();
    let findings = examined["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|one| {
            assert!(!one["help"].as_str().unwrap().is_empty(), "{one} has no remedy");
            (one["severity"].as_str().unwrap().to_owned(), one["message"].as_str().unwrap().to_owned())
        })
        .collect()
}

#[track_caller]
fn has(scene: &Scene, area: &str, severity: &str, part: &str) {
    let found = findings(scene, area);
    assert!(found.iter().any(|(it, said)| it == severity && said.contains(part)), "{part}: {found:?}");
}

#[test]
fn a_sound_root_has_no_findings_and_nothing_is_changed() {
    let scene = sound();
    let ran = scene.run(&["doctor"]).ends(0).says("all is well");
    for area in ["root", "config", "project", "layers", "store", "watch", "git"] {
        assert!(ran.out.lines().any(|line| line.starts_with(area)), "{area}: {}", ran.out);
    }
    let bare = Scene::new();
    bare.run(&["doctor"]).ends(0).prints("does not exist yet").prints("layers init");
    assert!(!bare.path("home/.harness").exists() && !bare.path("home/.local").exists());
}

#[test]
fn private_notes_that_others_may_read_are_told_and_the_remedy_heals() {
    let scene = sound();
    scene.set_mode("home/.harness", 0o755);
    scene.set_mode(GLOBAL, 0o644);
    has(&scene, "root", "warning", "others on this machine may open");
    scene.run(&["doctor"]).ends(1).prints("chmod -R go=");
    scene.set_mode("home/.harness", 0o700);
    assert_eq!(findings(&scene, "root"), []);
    scene.set_mode(STORE, 0o644);
    scene.set_mode("home/.local/state/harness-layers", 0o755);
    has(&scene, "store", "warning", "others on this machine may read");
}

#[test]
fn a_configuration_that_does_not_hold_is_told_with_its_place() {
    let scene = sound().file("home/.harness/harness.json", "{\n  \"layers\": {\"orphan\": 1}\n}");
    has(&scene, "config", "warning", "harness.json:2:24: `layers.orphan` is unknown");
}

#[test]
fn layers_that_do_not_reach_anybody_are_told() {
    let scene = sound();
    scene.write(HOME, "<<<<<<< ours\n---\nid: a\n---\n\nA\n=======\n---\nid: a\n---\n\nB\n>>>>>>> theirs\n");
    has(&scene, "layers", "error", "conflict markers");
    scene.run(&["doctor"]).ends(4);
    fs::remove_file(scene.path(HOME)).unwrap();
    fs::remove_file(scene.path(GLOBAL)).unwrap();
    has(&scene, "layers", "error", "is held");
    scene.run(&["restore", "--layer", "global"]);
    assert_eq!(findings(&scene, "layers"), []);
    scene.set_mode(GLOBAL, 0o400);
    has(&scene, "layers", "warning", "read-only");
    scene.set_mode(GLOBAL, 0o600);
    fs::remove_file(scene.path(GLOBAL)).unwrap();
    fs::create_dir(scene.path(GLOBAL)).unwrap();
    has(&scene, "layers", "error", "is not read");
}

#[test]
fn a_damaged_a_newer_and_a_replaced_store_are_told() {
    let scene = sound();
    let whole = fs::read(scene.path(STORE)).unwrap();
    fs::write(scene.path(STORE), b"no database at all, whatever its name says").unwrap();
    has(&scene, "store", "error", "is damaged");
    scene.run(&["sync"]);
    assert!(findings(&scene, "store").iter().all(|(severity, _)| severity == "note"));
    has(&scene, "store", "note", "was put aside");
    // The counter of steps, a big-endian number at 60 (SQLite's file format).
    let mut newer = whole;
    newer[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    for side in ["-wal", "-shm"] {
        let _ = fs::remove_file(scene.path(&format!("{STORE}{side}")));
    }
    fs::write(scene.path(STORE), newer).unwrap();
    has(&scene, "store", "error", "schema 9999");
}

#[test]
fn git_in_the_middle_of_something_and_a_root_without_a_remote_are_told() {
    let scene = sound();
    scene.write("app/.git/MERGE_HEAD", "0000000000000000000000000000000000000000\n");
    has(&scene, "git", "note", "in the middle of a merge");
    scene.git("home/.harness", &["init", "-q"]);
    has(&scene, "travel", "note", "has no remote");
    scene.git("home/.harness", &["remote", "add", "origin", "file:///nowhere"]);
    assert_eq!(findings(&scene, "travel"), []);
    let without = sound().var("PATH", "/nowhere");
    has(&without, "git", "note", "git is not installed");
}

#[test]
fn a_repository_that_is_not_trusted_and_a_clone_without_the_driver_are_told() {
    let scene = sound();
    scene.write("app/.harness/app.md", "---\nid: r1\n---\n\nTheirs.\n");
    scene.run(&["untrust"]).ok();
    has(&scene, "trust", "warning", "are left out");
    scene.run(&["trust"]).ok();
    assert_eq!(findings(&scene, "trust"), []);
    scene.write("app/.gitattributes", "**/.harness/*.md merge=harness-layers\n");
    has(&scene, "driver", "warning", "git does not know in this clone");
    scene.run(&["git", "install"]).ok();
    assert_eq!(findings(&scene, "driver"), []);
}
