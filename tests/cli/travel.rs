//! `layers git sync`: one person's layers on two machines, by a remote that is a folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::scene::{HOME, Ran, Scene};

const ROOT: &str = "home/.harness";
const GLOBAL: &str = "home/.harness/harness-state.md";

fn note(id: &str, text: &str) -> String {
    format!("---\nid: {id}\n---\n\n{text}\n\n")
}

/// A machine whose root is a work tree without a remote.
fn machine() -> Scene {
    let scene = Scene::new();
    scene.write(GLOBAL, &note("n1", "Use 30 s."));
    scene.git(ROOT, &["init", "-q", "-b", "main"]);
    introduce(&scene);
    scene
}

fn introduce(scene: &Scene) {
    scene.git(ROOT, &["config", "user.name", "A"]);
    scene.git(ROOT, &["config", "user.email", "a@example.org"]);
}

/// Two machines in step: the first one's remote is an empty bare repository, the second is
/// a clone of it.
fn two_machines() -> (Scene, Scene) {
    let one = machine();
    one.git(".", &["init", "-q", "--bare", "-b", "main", "origin.git"]);
    one.git(ROOT, &["remote", "add", "origin", &url(&one)]);
    sync(&one).ends(0);
    let two = Scene::new();
    two.git(".", &["clone", "-q", &url(&one), ROOT]);
    introduce(&two);
    (one, two)
}

fn url(scene: &Scene) -> String {
    format!("file://{}", scene.path("origin.git").display())
}

fn sync(scene: &Scene) -> Ran {
    scene.run(&["git", "sync"])
}

fn log(scene: &Scene) -> String {
    scene.try_git(ROOT, &["log", "--format=%s"]).ok()
}

fn is_clean(scene: &Scene) {
    let left = scene.try_git(ROOT, &["status", "--porcelain", "--untracked-files=no"]).ok();
    assert_eq!(left, "", "something is left over");
    assert!(!scene.path(ROOT).join(".git/MERGE_HEAD").exists());
}

#[test]
fn notes_travel_both_ways() {
    let (one, two) = two_machines();
    one.run(&["add", "--layer", "global", "--id", "n2", "From one."]).ok();
    two.run(&["add", "--id", "n3", "From two."]).ok();
    sync(&one).ends(0).prints("committed harness-state.md");
    sync(&two).ends(0).prints("new: n2");
    sync(&one).ends(0).prints("app.md: 1 notes");
    for scene in [&one, &two] {
        let notes = scene.run(&["list", "--all-projects", "--json"]).ok();
        for id in ["n1", "n2", "n3"] {
            assert!(notes.contains(&format!("\"{id}\"")), "{id} is missing: {notes}");
        }
        is_clean(scene);
    }
    assert_eq!(one.read(GLOBAL), two.read(GLOBAL));
    let before = log(&one);
    sync(&one).ends(0);
    sync(&two).ends(0);
    assert_eq!(log(&one), before, "a sync with nothing to do makes no commit");
}

#[test]
fn only_layers_are_committed_and_what_is_staged_stays_staged() {
    let (one, _) = two_machines();
    one.write("home/.harness/secret.txt", "mine\n");
    one.write("home/.harness/harness.json", "{}\n");
    one.write("home/.harness/staged.txt", "staged\n");
    one.git(ROOT, &["add", "staged.txt"]);
    one.run(&["add", "--id", "n2", "New."]).ok();
    sync(&one).ends(0);
    let files = one.try_git(ROOT, &["ls-tree", "-r", "--name-only", "HEAD"]).ok();
    assert_eq!(files, "harness-state.md\nharness-state/app.md\n");
    let status = one.try_git(ROOT, &["status", "--porcelain"]).ok();
    assert!(status.contains("A  staged.txt") && status.contains("?? secret.txt"), "{status}");
}

#[test]
fn both_machines_edit_different_fields_of_one_note() {
    let (one, two) = two_machines();
    one.run(&["edit", "n1", "--set", "importance=0.9"]).ok();
    two.run(&["edit", "n1", "--set", "content=Use 31 s."]).ok();
    sync(&one).ends(0);
    sync(&two).ends(0);
    sync(&one).ends(0);
    let text = one.read(GLOBAL);
    assert!(text.contains("importance: 0.9") && text.contains("Use 31 s."), "{text}");
    assert_eq!(text, two.read(GLOBAL));
    is_clean(&one);
    is_clean(&two);
}

#[test]
fn a_real_disagreement_touches_nothing_and_is_told() {
    let (one, two) = two_machines();
    one.run(&["edit", "n1", "--set", "content=Use 31 s."]).ok();
    two.run(&["edit", "n1", "--set", "content=Use 32 s."]).ok();
    two.run(&["add", "--layer", "global", "--id", "n2", "Elsewhere."]).ok();
    sync(&one).ends(0);
    let told = sync(&two).ends(1).says("changed differently here and there: n1").says("settle");
    assert!(told.err.contains("merge origin/main"), "{}", told.err);
    assert!(two.read(GLOBAL).contains("Use 32 s.") && !two.read(GLOBAL).contains("<<<<"));
    is_clean(&two);
    let json: Value = serde_json::from_str(&two.run(&["git", "sync", "--json"]).ends(1).out).unwrap();
    assert_eq!(json["merged"], "clash");
    assert_eq!(json["clashes"][0]["notes"][0], "n1");
    // As the message says: merged by hand, then in step.
    let two = two.cwd(ROOT);
    two.run(&["git", "install"]).ok();
    two.try_git(ROOT, &["fetch", "-q"]).ok();
    assert_ne!(two.try_git(ROOT, &["merge", "-q", "origin/main"]).code, 0);
    sync(&two).ends(3).says("in the middle of a merge");
    two.write(GLOBAL, &(note("n1", "Use 33 s.") + &note("n2", "Elsewhere.")));
    two.git(ROOT, &["commit", "-q", "-a", "-m", "settled"]);
    sync(&two).ends(0);
    sync(&one).ends(0);
    assert!(one.read(GLOBAL).contains("Use 33 s."));
}

#[test]
fn a_lost_race_is_run_again() {
    let (one, two) = two_machines();
    one.run(&["add", "--id", "n2", "From one."]).ok();
    // At the moment of the first push somebody else has pushed.
    let hook = "#!/bin/sh\nrm .git/hooks/pre-push\nunset GIT_DIR\ncd \"$OTHER\" && HOME=\"$OTHER_HOME\" \"$LAYERS\" git sync --quiet >&2\n";
    one.write("home/.harness/.git/hooks/pre-push", hook);
    let path = one.path("home/.harness/.git/hooks/pre-push");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    two.run(&["add", "--layer", "global", "--id", "n3", "From two."]).ok();
    let done = one
        .command(&["git", "sync"])
        .env("OTHER", two.path("app"))
        .env("OTHER_HOME", two.path("home"))
        .env("LAYERS", env!("CARGO_BIN_EXE_layers"))
        .output()
        .unwrap();
    one.ran(&done).ends(0);
    assert!(!path.exists(), "the hook ran");
    sync(&two).ends(0);
    for scene in [&one, &two] {
        assert!(scene.read(GLOBAL).contains("From two.") && scene.read(HOME).contains("From one."));
        is_clean(scene);
    }
}

#[test]
fn without_a_way_to_the_remote_it_commits_and_that_is_no_error() {
    let (one, _) = two_machines();
    // Nothing listens there.
    one.git(ROOT, &["remote", "set-url", "origin", "http://127.0.0.1:9/notes.git"]);
    one.run(&["add", "--id", "n2", "Offline."]).ok();
    sync(&one).ends(0).says("cannot be reached");
    assert!(log(&one).starts_with("Notes: app\n"));
    one.git(ROOT, &["remote", "set-url", "origin", &url(&one)]);
    sync(&one).ends(0);
    let there = one.try_git("origin.git", &["log", "--format=%s", "main"]).ok();
    assert!(there.starts_with("Notes: app\n"), "{there}");
    // A remote that is there and says no is one.
    one.git(ROOT, &["remote", "set-url", "origin", "file:///nowhere/at/all.git"]);
    sync(&one).ends(4).says("git fetch");
}

#[test]
fn a_root_without_a_remote_is_committed() {
    let one = machine();
    sync(&one).ends(0).says("there is no remote");
    assert_eq!(log(&one), "Notes: harness-state\n");
}

#[test]
fn a_file_that_was_emptied_by_mistake_does_not_travel() {
    let (one, two) = two_machines();
    one.run(&["sync"]).ok();
    one.write(GLOBAL, "");
    sync(&one).ends(1).says("is not committed");
    fs::remove_file(one.path(GLOBAL)).unwrap();
    sync(&one).ends(1).says("is not committed");
    sync(&two).ends(0);
    assert!(two.read(GLOBAL).contains("Use 30 s."));
    // What is meant does.
    one.run(&["sync", "--accept"]).ok();
    sync(&one).ends(0);
    sync(&two);
    assert!(!two.path(GLOBAL).exists());
}

#[test]
fn an_edit_in_the_way_is_committed_first_and_other_files_stop_it() {
    let (one, two) = two_machines();
    one.write("home/.harness/todo.txt", "theirs\n");
    one.git(ROOT, &["add", "todo.txt"]);
    one.git(ROOT, &["commit", "-q", "-m", "todo"]);
    sync(&one).ends(0);
    two.write("home/.harness/todo.txt", "mine\n");
    sync(&two).ends(3).says("todo.txt");
    assert_eq!(two.read("home/.harness/todo.txt"), "mine\n");
    is_clean(&two);
    fs::remove_file(two.path("home/.harness/todo.txt")).unwrap();
    sync(&two).ends(0);
    assert_eq!(two.read("home/.harness/todo.txt"), "theirs\n");
}

#[test]
fn no_branch_and_no_work_tree_are_refused_with_a_remedy() {
    let (one, _) = two_machines();
    one.git(ROOT, &["checkout", "-q", "--detach"]);
    sync(&one).ends(3).says("no branch is checked out").says("git switch");
    let none = Scene::new().global(&note("n1", "x"));
    sync(&none).ends(3).says("is no git work tree").says("gitFolder");
    // A work tree around the root holds more than layers; it is not taken unasked.
    none.git("home", &["init", "-q"]);
    sync(&none).ends(3).says("is no git work tree");
}

#[test]
fn another_folder_can_hold_the_layers_by_links() {
    let one = Scene::new();
    one.write("home/dotfiles/agent.md", &note("n1", "Linked."));
    one.write("home/dotfiles/other.txt", "not ours\n");
    one.git("home/dotfiles", &["init", "-q", "-b", "main"]);
    one.git("home/dotfiles", &["config", "user.name", "A"]);
    one.git("home/dotfiles", &["config", "user.email", "a@example.org"]);
    fs::create_dir_all(one.path(ROOT)).unwrap();
    std::os::unix::fs::symlink("../dotfiles/agent.md", one.path(GLOBAL)).unwrap();
    one.write("home/.harness/harness.json", r#"{"layers": {"gitFolder": "~/dotfiles"}}"#);
    one.run(&["add", "--layer", "global", "--id", "n2", "More."]).ok();
    sync(&one).ends(0).prints("committed agent.md");
    let files = one.try_git("home/dotfiles", &["ls-tree", "-r", "--name-only", "HEAD"]).ok();
    assert_eq!(files, "agent.md\n");
}

#[test]
fn two_histories_are_joined_only_when_asked() {
    let (one, _) = two_machines();
    let other = machine();
    other.write(GLOBAL, &(note("n1", "Use 30 s.") + &note("n9", "Only here.")));
    other.git(ROOT, &["remote", "add", "origin", &url(&one)]);
    sync(&other).ends(3).says("no commit in common").says("--join");
    other.run(&["git", "sync", "--join"]).ends(0);
    sync(&one).ends(0);
    let text = one.read(GLOBAL);
    assert_eq!(text.matches("id: n1").count(), 1, "{text}");
    assert!(text.contains("Only here."), "{text}");
}

#[test]
fn a_dry_run_changes_nothing() {
    let (one, _) = two_machines();
    one.write(HOME, &note("n2", "By hand."));
    let before = log(&one);
    one.run(&["git", "sync", "--dry-run"]).ends(0).prints("would commit harness-state/app.md");
    assert_eq!(log(&one), before);
    assert_eq!(one.read(HOME), note("n2", "By hand."));
}

#[test]
fn a_layer_with_a_credential_stays_at_home_unless_it_is_meant() {
    let (one, two) = two_machines();
    let token = ["gh", "p_x8Kd02LmQz71vBn4Tc9Wy5Rj3Hs6Fg0PaUe2"].concat();
    one.write(HOME, &note("n2", &format!("The token is {token}.")));
    one.run(&["add", "--layer", "global", "--id", "n3", "No secret."]).ok();
    let said = sync(&one).ends(1).says("app.md is not committed").says("GitHub token");
    assert!(!said.err.contains(&token) && !said.out.contains(&token));
    sync(&two).ends(0);
    assert!(two.read(GLOBAL).contains("No secret.") && !two.path(HOME).exists());
    one.run(&["git", "sync", "--allow-secret"]).ends(0);
    sync(&two);
    assert!(two.read(HOME).contains(&token));
}
