//! The driver as git runs it: files in, one file and an exit code out.

use crate::scene::{Ran, Scene};

const BASE: &str = "---\nid: n1\n---\n\nUse pnpm.\n";
const OURS: &str = "---\nid: n1\n---\n\nUse pnpm, never npm.\n";
const THEIRS: &str = "---\nid: n1\n---\n\nUse pnpm 9.\n";

fn scene(base: &str, ours: &str, theirs: &str) -> Scene {
    Scene::new().file("app/O", base).file("app/A", ours).file("app/B", theirs)
}

fn drive(scene: &Scene, more: &[&str]) -> Ran {
    scene.run(&[&["git", "merge-driver", "O", "A", "B"], more].concat())
}

#[test]
fn a_clean_merge_is_written_over_our_version() {
    let theirs = "---\nid: n1\nimportance: 0.90\n---\n\nUse pnpm.\n";
    let scene = scene(BASE, OURS, theirs);
    let ran = drive(&scene, &["-L", "7", "-P", ".harness/app.md"]).ends(0);
    assert_eq!(ran.all(), "--- stderr, exit 0\n");
    assert_eq!(scene.read("app/A"), OURS.replace("---\n\n", "importance: 0.90\n---\n\n"));
    assert_eq!((scene.read("app/O"), scene.read("app/B")), (BASE.into(), theirs.into()));
}

#[test]
fn a_conflict_is_marked_with_size_and_labels_and_exits_1() {
    let scene = scene(BASE, OURS, THEIRS);
    let labels = ["-S", "1234567", "-X", "HEAD", "-Y", "feature: one"];
    let ran = drive(&scene, &[&["-L", "9", "-P", ".harness/app.md"][..], &labels].concat()).ends(1);
    assert_eq!(ran.err, ".harness/app.md: conflict: both sides changed n1\n");
    let conflict = "<<<<<<<<< HEAD\nUse pnpm, never npm.\n=========\nUse pnpm 9.\n>>>>>>>>> feature: one";
    assert_eq!(scene.read("app/A"), BASE.replace("Use pnpm.", conflict));
}

#[test]
fn placeholders_that_an_older_git_does_not_know_are_no_labels() {
    let scene = scene(BASE, OURS, THEIRS);
    drive(&scene, &["-L", "7", "-P", "x.md", "-S", "%S", "-X", "%X", "-Y", "%Y"]).ends(1);
    let text = scene.read("app/A");
    assert!(text.contains("<<<<<<< ours\n") && text.contains(">>>>>>> theirs\n"), "{text}");
}

/// Git takes 1 to 128 for "conflicts, marked in the file".
#[test]
fn whatever_goes_wrong_exits_129_and_leaves_our_version_alone() {
    let cases: [(&[u8], &[&str], &str); 8] = [
        (THEIRS.as_bytes(), &["O", "A"], "required"),
        (THEIRS.as_bytes(), &["O", "A", "B", "C"], "unexpected"),
        (THEIRS.as_bytes(), &["O", "A", "B", "-L", "x"], "invalid"),
        (THEIRS.as_bytes(), &["O", "A", "B", "--bad"], "unexpected"),
        (THEIRS.as_bytes(), &["O", "A", "none"], "there is no file none"),
        (THEIRS.as_bytes(), &[".", "A", "B"], "is a folder"),
        (b"---\nid: n1\n---\n\n\xff\n", &["O", "A", "B"], "UTF-8"),
        (
            b"---\nid: n1\n---\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c\n",
            &["O", "A", "B", "-P", ".harness/app.md"],
            ".harness/app.md:5:1: their side holds git's conflict markers",
        ),
    ];
    for (theirs, args, says) in cases {
        let scene = scene(BASE, OURS, "");
        std::fs::write(scene.path("app/B"), theirs).unwrap();
        scene.run(&[&["git", "merge-driver"], args].concat()).ends(129).says(says);
        assert_eq!(scene.read("app/A"), OURS, "{args:?}");
    }
    // Where the arguments do not even get to the driver.
    let scene = scene(BASE, OURS, THEIRS);
    scene.run(&["git", "--bad", "merge-driver", "O", "A", "B"]).ends(129);
    scene.set_mode("app", 0o555);
    let ran = drive(&scene, &[]);
    scene.set_mode("app", 0o755);
    // Root writes anywhere.
    assert!([1, 129].contains(&ran.code), "{ran:?}");
    assert_eq!(ran.code == 129, scene.read("app/A") == OURS);
}

#[test]
fn no_root_no_store_and_no_configuration_is_touched() {
    let scene = scene(BASE, OURS, BASE).file("home/.harness/harness.json", "{ broken");
    drive(&scene, &[]).ends(0);
    assert!(!scene.path("home/.local").exists());
    let ran = scene.run(&["git", "merge-driver", "O", "A", "B", "--root", "@/nowhere"]).ends(0);
    assert_eq!(ran.err, "");
}
