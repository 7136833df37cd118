//! The process is killed, or the disk is full, at every point where something is made
//! durable: files are old or new and whole, nothing that was accepted is lost, and the next
//! pass completes. Through the binary; debug builds have the switch (`src/files/fault.rs`).

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![cfg(debug_assertions)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use harness_layers::document::Document;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let shm = std::path::Path::new("/dev/shm");
        let dir = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
        fs::create_dir_all(dir.path().join("app")).unwrap();
        Self { dir }
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home/.harness/harness-state/app.md")
    }

    fn global(&self) -> PathBuf {
        self.dir.path().join("home/.harness/harness-state.md")
    }

    fn run_with(&self, args: &[&str], fault: Option<(&str, usize)>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_layers"));
        command
            .args(args)
            .current_dir(self.dir.path().join("app"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path().join("home"));
        if let Some((name, point)) = fault {
            command.env(name, point.to_string());
        }
        command.output().unwrap()
    }

    fn ok(&self, args: &[&str]) -> String {
        let done = self.run_with(args, None);
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }
}

/// A state, a command, and what each text may be in afterwards.
struct Case {
    name: &'static str,
    prepare: fn(&Place),
    args: &'static [&'static str],
    /// Texts that were accepted before: they count or are in the archive, whatever happens.
    kept: &'static [&'static str],
}

fn two_notes(place: &Place) {
    place.ok(&["add", "--id", "n1", "alpha"]);
    place.ok(&["add", "--id", "n2", "beta"]);
}

fn edited_by_hand(place: &Place) {
    two_notes(place);
    let text = fs::read_to_string(place.home()).unwrap();
    fs::write(
        place.home(),
        text.replace("alpha", "alpha by hand") + "\n---\nkind: memory\n---\n\nwithout an id\n",
    )
    .unwrap();
}

fn stale(place: &Place) {
    place.ok(&["add", "--id", "n1", "alpha"]);
    let opened = fs::read_to_string(place.home()).unwrap();
    place.ok(&["add", "--id", "n2", "beta"]);
    fs::write(place.home(), opened.replace("alpha", "alpha by hand")).unwrap();
}

fn in_two_layers(place: &Place) {
    two_notes(place);
    place.ok(&["add", "--global", "--id", "g1", "gamma"]);
    for path in [place.home(), place.global()] {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text + "\n---\nkind: memory\n---\n\nby hand\n").unwrap();
    }
}

fn archived(place: &Place) {
    two_notes(place);
    place.ok(&["archive", "n2"]);
}

fn never_seen(place: &Place) {
    fs::create_dir_all(place.home().parent().unwrap()).unwrap();
    fs::write(place.home(), "---\nid: n1\n---\n\nalpha\n\n---\nkind: memory\n---\n\nbeta\n").unwrap();
}

const CASES: &[Case] = &[
    Case { name: "add to a new layer", prepare: |_| {}, args: &["add", "--id", "n9", "new"], kept: &[] },
    Case { name: "add", prepare: two_notes, args: &["add", "--id", "n9", "new"], kept: &["alpha", "beta"] },
    Case {
        name: "edit",
        prepare: two_notes,
        args: &["edit", "n1", "--importance", "0.9"],
        kept: &["alpha", "beta"],
    },
    Case { name: "archive", prepare: two_notes, args: &["archive", "n1"], kept: &["alpha", "beta"] },
    Case { name: "restore", prepare: archived, args: &["restore", "n2"], kept: &["alpha", "beta"] },
    Case { name: "move", prepare: two_notes, args: &["move", "n1", "global"], kept: &["alpha", "beta"] },
    Case { name: "first sync", prepare: never_seen, args: &["sync"], kept: &["alpha", "beta"] },
    Case {
        name: "sync of an edit",
        prepare: edited_by_hand,
        args: &["sync"],
        kept: &["alpha by hand", "beta", "without an id"],
    },
    Case { name: "sync of a stale save", prepare: stale, args: &["sync"], kept: &["alpha by hand", "beta"] },
    Case {
        name: "sync of two layers",
        prepare: in_two_layers,
        args: &["sync"],
        kept: &["alpha", "beta", "gamma", "by hand"],
    },
];

/// What has to hold whatever happened.
fn check(place: &Place, case: &Case, when: &str) {
    for path in [place.home(), place.global()] {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let document = Document::parse(text.as_str());
        let broken: Vec<_> = document.notes().filter(|note| note.content().is_empty()).collect();
        assert!(broken.is_empty(), "{}, {when}: half a file\n{text}", case.name);
    }
    place.ok(&["sync"]);
    let check = place.run_with(&["sync", "--check"], None);
    let told = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.status.success(), "{}, {when}: a second pass has something to do: {told}", case.name);
    let all = place.ok(&["list", "--all", "--json"]) + &place.ok(&["archive", "--all", "--json"]);
    for text in case.kept {
        assert!(all.contains(text), "{}, {when}: {text:?} is lost", case.name);
    }
    // No leftovers that a listing could take for a layer.
    for folder in [place.home(), place.global()] {
        for entry in fs::read_dir(folder.parent().unwrap()).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_layer = std::path::Path::new(&name).extension().is_some_and(|it| it == "md");
            assert!(!is_layer || ["app.md", "harness-state.md"].contains(&&*name), "{name}");
        }
    }
}

/// Runs a case with a fault at the first point, the second and so on, until a run meets none.
fn at_every_point(fault: &str, ends: impl Fn(&Output) -> bool) {
    for case in CASES {
        let mut point = 1;
        loop {
            let place = Place::new();
            (case.prepare)(&place);
            let done = place.run_with(case.args, Some((fault, point)));
            let is_over = ends(&done);
            let when = format!("{fault} at point {point}");
            if case.args[0] == "add" && done.status.success() {
                assert!(
                    place.ok(&["list", "--json"]).contains("\"n9\""),
                    "{when}: an acknowledged note is gone"
                );
            }
            check(&place, case, &when);
            if is_over {
                assert!(point > 3, "{}: only {point} points", case.name);
                break;
            }
            point += 1;
            assert!(point < 200, "{}: no end", case.name);
        }
    }
}

#[test]
fn killed_anywhere_nothing_is_lost() {
    // A process that was killed has no exit code.
    at_every_point("LAYERS_FAULT_KILL", |done| done.status.code().is_some());
}

#[test]
fn a_full_disk_anywhere_loses_nothing_and_is_told() {
    at_every_point("LAYERS_FAULT_FULL", |done| {
        let code = done.status.code().unwrap();
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(matches!(code, 0 | 3 | 4), "ended with {code}: {told}");
        assert!(code == 0 || told.contains('/'), "no path is named: {told}");
        code == 0
    });
}

#[test]
fn a_damaged_store_is_set_aside_and_begun_anew() {
    for damage in ["garbage", "cut"] {
        let place = Place::new();
        two_notes(&place);
        let store = place.dir.path().join("home/.local/state/harness-layers/store.db");
        let bytes = fs::read(&store).unwrap();
        let damaged = if damage == "cut" {
            bytes[..bytes.len() / 3].to_vec()
        } else {
            b"no database at all\n".repeat(500)
        };
        fs::write(&store, damaged).unwrap();
        for side in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{side}", store.display()));
        }
        let done = place.run_with(&["add", "--id", "n3", "gamma"], None);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{damage}: {told}");
        assert!(told.contains("damaged"), "{damage}: {told}");
        let names: Vec<String> = fs::read_dir(store.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(names.iter().any(|name| name.starts_with("store.db.corrupt-")), "{names:?}");
        let list = place.ok(&["list", "--json"]);
        assert!(["alpha", "beta", "gamma"].iter().all(|text| list.contains(text)));
    }
}

#[test]
fn a_store_of_a_later_version_is_refused() {
    let place = Place::new();
    two_notes(&place);
    let store = place.dir.path().join("home/.local/state/harness-layers/store.db");
    let sql = rusqlite::Connection::open(&store).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    drop(sql);
    let before = fs::read(place.home()).unwrap();
    let done = place.run_with(&["add", "--id", "n3", "gamma"], None);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(4), "{told}");
    assert!(told.contains("schema 99") && told.contains("upgrade"), "{told}");
    assert_eq!(fs::read(place.home()).unwrap(), before);
}
