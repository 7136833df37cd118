//! The ways in which programs save a file.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::scene::{HOME, Scene};
use super::world::{Watch, folder, has, history, is, layer, notes, put, two_notes};

type Save<'a> = &'a dyn Fn(&Path, &str);

/// Eight saves, two in a row of each style if there are four: eight versions, no delete,
/// no new layers.
fn eight_saves(saves: &[Save<'_>]) {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    for at in 0..8 {
        let save = saves[at * saves.len() / 8];
        let text = layer(&[("n1", &format!("Use {} s.", 31 + at)), ("n2", "Two.")]);
        let mark = watch.mark();
        save(&scene.path(HOME), &text);
        watch.changed(mark, "n1");
        assert_eq!(scene.read(HOME), text);
    }
    watch.barrier(&scene);
    assert_versions(&scene, 8);
    let events = watch.end();
    assert!(!events.iter().any(|event| event["event"] == "held" || event["event"] == "error"), "{events:#?}");
}

#[track_caller]
fn assert_versions(scene: &Scene, count: usize) {
    let expected: Vec<(String, String)> = (0..count)
        .map(|at| ("update".to_owned(), format!("---\nid: n1\n---\n\nUse {} s.\n", 31 + at)))
        .collect();
    let mut held = history(scene, "n1");
    for (_, text) in &mut held {
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    assert_eq!(held, expected);
    let ids: Vec<String> = notes(scene).into_iter().map(|(id, _)| id).collect();
    let ids: Vec<&String> = ids.iter().filter(|id| !id.starts_with("barrier")).collect();
    assert_eq!(ids, ["g1", "n1", "n2"]);
    assert!(history(scene, "n2").is_empty());
}

fn beside(path: &Path, name: &str) -> std::path::PathBuf {
    path.with_file_name(name)
}

fn by_rename(path: &Path, text: &str) {
    put(path, text);
}

fn by_backup(path: &Path, text: &str) {
    fs::rename(path, beside(path, "app.md~")).unwrap();
    fs::write(path, text).unwrap();
}

fn in_pieces(path: &Path, text: &str) {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
    for piece in text.as_bytes().chunks(9) {
        file.write_all(piece).unwrap();
        file.flush().unwrap();
        thread::sleep(Duration::from_millis(10));
    }
}

fn with_noise(path: &Path, text: &str) {
    fs::write(beside(path, "4913"), "").unwrap();
    fs::remove_file(beside(path, "4913")).unwrap();
    fs::write(beside(path, ".app.md.swp"), "").unwrap();
    fs::remove_file(beside(path, ".app.md.swp")).unwrap();
    put(path, text);
}

fn truncated_first(path: &Path, text: &str) {
    fs::write(path, "").unwrap();
    thread::sleep(Duration::from_millis(700));
    fs::write(path, text).unwrap();
}

fn away_first(path: &Path, text: &str) {
    fs::remove_file(path).unwrap();
    thread::sleep(Duration::from_millis(700));
    fs::write(path, text).unwrap();
}

#[test]
fn by_hand() {
    eight_saves(&[&by_rename, &by_backup, &in_pieces, &with_noise]);
}

#[test]
fn with_a_pause_in_the_middle() {
    eight_saves(&[&truncated_first, &away_first]);
}

/// Runs an editor on a file; its own files stay in the world.
fn edit(program: &str, args: &[&str], path: &Path) {
    let done = Command::new(program)
        .args(args)
        .arg(path.file_name().unwrap())
        .current_dir(path.parent().unwrap())
        .env("HOME", path.parent().unwrap().parent().unwrap())
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(done.status.success(), "{program}: {done:?}");
}

/// The number in a text of ours.
fn seconds(text: &str) -> &str {
    text.split("Use ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap()
}

#[test]
fn by_vim() {
    if !has("vim") {
        return;
    }
    let with = |copy: &'static str| {
        move |path: &Path, text: &str| {
            let set = format!("set backupcopy={copy} backup writebackup swapfile");
            let change = format!("%s/Use [0-9]* s/Use {} s/", seconds(text));
            edit(
                "vim",
                &["-N", "-es", "-u", "NONE", "-i", "NONE", "-c", &set, "-c", &change, "-c", "wq"],
                path,
            );
        }
    };
    eight_saves(&[&with("yes"), &with("no")]);
}

#[test]
fn by_sed() {
    if !has("sed") {
        return;
    }
    eight_saves(&[&|path: &Path, text: &str| {
        edit("sed", &["-i", &format!("s/Use [0-9]* s/Use {} s/", seconds(text))], path);
    }]);
}

#[test]
fn by_emacs() {
    if !has("emacs") {
        return;
    }
    eight_saves(&[&|path: &Path, text: &str| {
        let change = format!(
            "(progn (find-file \"app.md\") (while (re-search-forward \"Use [0-9]* s\" nil t) \
             (replace-match \"Use {} s\")) (save-buffer))",
            seconds(text)
        );
        edit("emacs", &["--batch", "-Q", "--eval", &change], path);
    }]);
}

#[test]
fn an_edit_in_progress_is_neither_recorded_nor_held() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    let whole = layer(&[("n1", "Use 31 s."), ("n2", "Two.")]);
    // Each reads worse than the one before; the barrier waits until it was looked at.
    for half in ["---\nid: n1\n---\n\nUse 31 s.\n\n---\nid: n2\nkind: \"mem", ""] {
        let mark = watch.mark();
        scene.write(HOME, half);
        watch.barrier(&scene);
        scene.write(HOME, &whole.replace("31", if half.is_empty() { "32" } else { "31" }));
        watch.changed(mark, "n1");
    }
    watch.barrier(&scene);
    assert_versions(&scene, 2);
    let events = watch.end();
    let about: Vec<_> = events.iter().filter(|event| is(event, "changed", "app.md")).collect();
    assert_eq!(about.len(), 2, "{about:#?}");
    assert!(!events.iter().any(|event| event["event"] == "held" || event["event"] == "diagnostic"));
}

/// What the store knows is what a file reads worse than, also for a watch that begins.
#[test]
fn the_first_look_at_half_a_file_is_patient() {
    let whole = layer(&[("n1", "Use 31 s."), ("n2", "Two.")]);
    for half in ["---\nid: n1\n---\n\nUse 31 s.\n\n---\nid: n2\nkind: \"mem", "", "gone"] {
        let scene = two_notes();
        if half == "gone" {
            fs::remove_file(scene.path(HOME)).unwrap();
        } else {
            scene.write(HOME, half);
        }
        // So is that at one which nobody knows yet.
        let fresh = folder(&scene).join("fresh.md");
        fs::write(&fresh, "---\nid: f1\nkind: \"mem").unwrap();
        let watch = Watch::start(&scene, &[]);
        watch.barrier(&scene);
        scene.write(HOME, &whole);
        fs::write(&fresh, layer(&[("f1", "Fresh.")])).unwrap();
        watch.changed(0, "n1");
        watch.until("the new one", |event| is(event, "changed", "fresh.md"));
        assert_versions(&scene, 1);
        let events = watch.end();
        let bad = |event: &serde_json::Value| event["event"] == "held" || event["event"] == "diagnostic";
        assert!(!events.iter().any(bad), "{half:?}: {events:#?}");
    }
}

#[test]
fn what_stays_empty_is_held_in_the_end() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    scene.write(HOME, "");
    watch.until("held", |event| is(event, "held", "app.md"));
    scene.write(HOME, &layer(&[("n1", "Use 31 s."), ("n2", "Two.")]));
    watch.changed(0, "n1");
    watch.barrier(&scene);
    assert_versions(&scene, 1);
    watch.end();
}

#[test]
fn a_burst_of_other_files_hides_nothing() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    for at in 0..10_000 {
        fs::write(folder(&scene).join(format!("scratch{at}.txt")), "x").unwrap();
        if at == 5_000 {
            put(&scene.path(HOME), &layer(&[("n1", "Use 31 s."), ("n2", "Two.")]));
        }
    }
    watch.changed(0, "n1");
    watch.barrier(&scene);
    assert_versions(&scene, 1);
    watch.end();
}
