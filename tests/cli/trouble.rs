//! Layers in trouble: conflicts, copies, links that lead out, text that is none.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use harness_layers::files::Lock;

use super::scene::{HOME, Scene};

/// Real output of `git merge`.
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

/// One id, two bodies.
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

/// A repository's layer must not lead out of its work tree.
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

#[test]
fn a_root_that_is_no_folder_is_named_once() {
    let scene = Scene::new().file("app/notes.txt", "mine\n");
    for args in [&["list"][..], &["add", "x"], &["render", "--model", "a/m"], &["status"], &["check"]] {
        let ran = scene.run(&[args, &["--root", "notes.txt"]].concat()).ends(2);
        assert!(
            ran.err.contains("@/app/notes.txt is no folder") && ran.err.lines().count() == 1,
            "{}",
            ran.err
        );
    }
    let scene = scene.var("LAYERS_ROOT", "/dev/null");
    scene.run(&["list"]).ends(2).says("set $LAYERS_ROOT");
    assert_eq!(scene.read("app/notes.txt"), "mine\n");
}

#[test]
fn a_working_directory_that_is_gone_is_said() {
    let scene = Scene::new();
    let script =
        format!("mkdir gone && cd gone && rmdir ../gone && exec {} list", env!("CARGO_BIN_EXE_layers"));
    let run = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(scene.path("app"))
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(4), "{err}");
    assert!(err.contains("change into a folder that exists"), "{err}");
}

/// A layer that is left out is not an empty one.
#[test]
fn a_folder_in_place_of_a_layer_is_not_no_notes() {
    let scene = Scene::new().file("home/.harness/harness-state/app.md/x", "");
    let ran = scene.run(&["list"]).ends(4).says("is a folder, not a file");
    assert!(!ran.err.contains("no notes here yet"), "{}", ran.err);
}

/// Killed at any moment, a writer leaves a whole layer, and what was acknowledged stays.
#[test]
fn killed_writers_leave_whole_layers() {
    let scene = Scene::new();
    let mut acknowledged = Vec::new();
    for round in 0..4 {
        let mut children: Vec<_> = (0..20)
            .map(|at| {
                let id = format!("k{round}-{at}");
                let mut command = scene.command(&["add", "-q", "--id", &id, "A note."]);
                command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                (id, command.spawn().unwrap())
            })
            .collect();
        std::thread::sleep(Duration::from_millis(5 + 10 * round));
        for (_, child) in children.iter_mut().step_by(2) {
            child.kill().unwrap();
        }
        for (id, mut child) in children {
            if child.wait().unwrap().success() {
                acknowledged.push(id);
            }
        }
        scene.run(&["check"]).ok();
    }
    let list = scene.run(&["list", "--json"]).ok();
    for id in &acknowledged {
        assert!(list.contains(&format!("\"{id}\"")), "{id} is lost");
    }
    assert!(!acknowledged.is_empty());
    scene.run(&["add", "--id", "after", "x"]).ok();
}

/// What killed processes left goes; what may be somebody's work, or is nobody's of ours, stays.
#[test]
fn temporary_files_of_killed_processes_are_swept() {
    const FOLDER: &str = "home/.harness/harness-state";
    let old = std::time::SystemTime::now() - Duration::from_hours(2);
    let ours = [".hl-abc123.tmp", ".hl-Zz9Zz9.tmp"];
    let others = [".hl-abc12.tmp", ".hl-abc-23.tmp", ".hl-abc123.tmp~", "x.hl-abc123.tmp", ".xl-abc123.tmp"];
    let scene = Scene::new().home("---\nid: n1\n---\n\nOne.\n");
    let make = |path: &str, is_old: bool| {
        scene.write(path, "half a lay");
        if is_old {
            fs::File::options().write(true).open(scene.path(path)).unwrap().set_modified(old).unwrap();
        }
    };
    for name in ours.iter().chain(&others) {
        make(&format!("{FOLDER}/{name}"), true);
    }
    make(&format!("{FOLDER}/.hl-young1.tmp"), false);
    make("home/.hl-abc123.tmp", true);
    symlink(scene.path("home/.hl-abc123.tmp"), scene.path(&format!("{FOLDER}/.hl-link00.tmp"))).unwrap();
    scene.run(&["sync", "--dry-run"]).ok();
    assert!(scene.path(&format!("{FOLDER}/{}", ours[0])).exists(), "a dry run writes nothing");
    scene.run(&["sync"]).ok();
    let mut left: Vec<String> = fs::read_dir(scene.path(FOLDER))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let mut expected: Vec<&str> = others.to_vec();
    expected.extend([".hl-young1.tmp", ".hl-link00.tmp", "app.md"]);
    expected.sort_unstable();
    assert_eq!(left, expected);
    assert!(scene.path("home/.hl-abc123.tmp").exists(), "no folder of layers");
}
