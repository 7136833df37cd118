//! A layer that cannot be read is neither empty nor gone: its last good notes count, the
//! other layers go on, and once it is mended nothing has happened.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use super::scene::{HOME, Ran};
use super::stage::{Form, REPO, Stage, everywhere, owned};

const GLOBAL: &str = "home/.harness/harness-state.md";

/// Three layers in step; the one of the stage is the first to be read or the last.
fn three(stage: &Stage) {
    let other = if stage.is_repo() { HOME } else { REPO };
    stage.scene.write(GLOBAL, "---\nid: g1\n---\n\nglobal\n");
    stage.scene.write(other, "---\nid: o1\n---\n\nother\n");
    stage.sync().ok();
}

/// While the layer of the stage cannot be read.
fn goes_on(stage: &Stage, run: &dyn Fn(&[&str]) -> Ran) {
    let path = format!("@/{}", stage.path);
    let ended = run(&["sync"]).ends(4);
    assert!(
        ended.err.contains(&path) || ended.err.contains(stage.path.rsplit('/').next().unwrap()),
        "{ended:?}"
    );
    // A change elsewhere is taken all the same.
    stage.scene.write(GLOBAL, "---\nid: g1\n---\n\nglobal, edited\n");
    let ended = run(&["sync"]).ends(4);
    assert!(ended.out.contains("changed: g1"), "{ended:?}");
    let list = run(&["list", "--json"]).ends(4);
    let list: serde_json::Value = serde_json::from_str(&list.out).unwrap();
    let listed =
        list.as_array().unwrap().iter().map(|note| {
            (note["id"].as_str().unwrap().to_owned(), note["content"].as_str().unwrap().to_owned())
        });
    let expected = [("g1", "global, edited"), ("o1", "other"), ("n1", "alpha"), ("n2", "beta")];
    assert_eq!(listed.collect::<std::collections::BTreeMap<_, _>>(), owned(&expected));
    let block = run(&["render", "--model", "a/m"]);
    assert!(block.out.contains("[n1] alpha") && block.out.contains("[g1] global, edited"), "{block:?}");
    let status = run(&["status"]).ends(4);
    assert!(status.out.contains("unavailable"), "{status:?}");
    // Nothing can be added to it, and that is said.
    let add = run(&["add", "--layer", stage.layer(), "--id", "n9", "x"]);
    assert!(add.code >= 3, "{add:?}");
}

/// After it was mended, as it was.
fn nothing_has_happened(stage: &Stage) {
    assert_eq!(stage.sync().ok(), "");
    stage.is_in_step(&[("g1", "global, edited"), ("o1", "other"), ("n1", "alpha"), ("n2", "beta")]);
    assert!(stage.archive().is_empty());
    for id in ["n1", "n2"] {
        assert_eq!(stage.history(id), [], "of {id}");
    }
}

impl Stage {
    /// As [`Stage::is_in_step`] needs all notes in one file, and these are in three.
    fn plays_unreadable(&self, spoil: impl Fn(&Path)) {
        three(self);
        let path = self.scene.path(self.path);
        let kept = path.with_extension("kept");
        fs::rename(&path, &kept).unwrap();
        spoil(&path);
        goes_on(self, &|args| self.scene.run(args));
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        fs::rename(&kept, &path).unwrap();
        nothing_has_happened(self);
    }
}

#[test]
fn a_directory_in_place_of_the_file_is_no_deletion() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.plays_unreadable(|path| fs::create_dir_all(path.join("inside")).unwrap());
    });
}

#[test]
fn a_dangling_link_is_no_deletion() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.plays_unreadable(|path| symlink("not-there.txt", path).unwrap());
    });
}

#[test]
fn a_link_to_itself_is_no_deletion() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.plays_unreadable(|path| symlink(path.file_name().unwrap(), path).unwrap());
    });
}

#[test]
fn bytes_that_are_no_utf_8_are_no_deletion() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.plays_unreadable(|path| {
            fs::write(path, b"\xff\xfe-\0-\0-\0\n\0i\0d\0:\0 \0n\x001\0").unwrap();
        });
    });
}

/// The error comes from a switch of debug builds, as no disk here is broken.
#[test]
fn a_disk_that_cannot_be_read_is_no_deletion() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        three(stage);
        let run = |args: &[&str]| {
            let mut command = stage.scene.command(args);
            stage.scene.ran(&command.env("LAYERS_FAULT_READ", stage.path).output().unwrap())
        };
        // The stat alone would say that nothing is new.
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        fs::File::open(stage.scene.path(stage.path)).unwrap().set_modified(later).unwrap();
        goes_on(stage, &run);
        let said = run(&["sync"]).err;
        assert!(said.contains("Input/output error"), "{said}");
        nothing_has_happened(stage);
    });
}

/// Root may read everything; then `layers` runs as somebody else, and the scene is his.
#[test]
fn a_file_or_folder_without_permission_is_no_deletion() {
    const NOBODY: u32 = 65534;
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    for (path, form, is_folder) in [
        (HOME, Form::Blocks, false),
        (REPO, Form::Bullets, false),
        (HOME, Form::Bullets, true),
        (REPO, Form::Blocks, true),
    ] {
        let stage = Stage::with(path, form, "\n", &[("n1", "alpha"), ("n2", "beta")]);
        three(&stage);
        let run = |args: &[&str]| {
            let mut command = stage.scene.command(args);
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
            command.output().map(|done| stage.scene.ran(&done))
        };
        if is_root {
            give(&stage.scene.path("."), NOBODY);
        }
        if run(&["status"]).is_err() {
            println!("skipped: the binary is where only root may run it");
            return;
        }
        let target = stage.scene.path(stage.path);
        let target = if is_folder { target.parent().unwrap() } else { &target };
        let mode =
            |mode: &str| assert!(Command::new("chmod").arg(mode).arg(target).status().unwrap().success());
        mode("000");
        goes_on(&stage, &|args| run(args).unwrap());
        mode("755");
        if is_root {
            give(&stage.scene.path("."), 0);
        }
        nothing_has_happened(&stage);
    }
}

/// Everything below a folder to somebody.
pub(crate) fn give(folder: &Path, who: u32) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.is_symlink() {
            give(&entry, who);
        }
    }
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        std::os::unix::fs::lchown(&entry, Some(who), Some(who)).unwrap();
    }
    chown(folder, Some(who), Some(who)).unwrap();
}
