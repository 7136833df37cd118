//! Hosting sites merge with stock git alone. Notes that `layers add` puts into a committed
//! layer go where another branch seldom adds.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const NOTES: usize = 50;
const PAIRS: usize = 100;
/// How many of the pairs have to merge.
const ENOUGH: usize = 95;

#[test]
fn branches_that_add_a_note_each_merge_with_stock_git() {
    let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let at = fs::canonicalize(folder.path()).unwrap();
    fs::create_dir_all(at.join("home")).unwrap();
    run(&at, "git", &["init", "-q", "-b", "main", "app"]);
    let app = at.join("app");
    let add = |id: &str| {
        let text = format!("What {id} says.\n\nIn two paragraphs.");
        run(&app, env!("CARGO_BIN_EXE_layers"), &["add", "-q", "--layer", "repo", "--id", id, &text]);
    };
    let layer = app.join(".harness/app.md");
    for number in 0..NOTES {
        add(&format!("h_base{number}"));
    }
    run(&app, "git", &["add", "-A"]);
    run(&app, "git", &["commit", "-qm", "base"]);
    let base = fs::read_to_string(&layer).unwrap();
    let branch = |id: &str| {
        add(id);
        let text = fs::read_to_string(&layer).unwrap();
        run(&app, "git", &["checkout", "-q", "--", "."]);
        assert!(text.len() > base.len());
        text
    };
    let mut clean = 0;
    for pair in 0..PAIRS {
        let [ours, theirs] = ["a", "b"].map(|side| format!("h_{side}{pair}"));
        for (name, text) in [("base", base.clone()), ("ours", branch(&ours)), ("theirs", branch(&theirs))] {
            fs::write(at.join(name), text).unwrap();
        }
        let merged =
            command(&at, "git", &["merge-file", "-p", "-q", "ours", "base", "theirs"]).output().unwrap();
        if merged.status.success() {
            let text = String::from_utf8(merged.stdout).unwrap();
            let document = harness_layers::document::Document::parse(text);
            assert_eq!(document.notes().len(), NOTES + 2, "{}", document.source());
            assert!(document.note(&ours).is_some() && document.note(&theirs).is_some());
            clean += 1;
        }
    }
    println!("{clean} of {PAIRS} pairs merge with stock git");
    assert!(clean >= ENOUGH, "{clean} of {PAIRS}");
}

fn command(folder: &Path, program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.parent().unwrap().join("home"))
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
        .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.org")]);
    command
}

fn run(folder: &Path, program: &str, args: &[&str]) {
    let done = command(folder, program, args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}
