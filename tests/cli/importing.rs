//! `import`: notes out of other files by pi's rules, with all that they say.

use super::scene::{HOME, Scene};
use super::stage::{history, json};

const GLOBAL: &str = "home/.harness/harness-state.md";
const NOTE: &str = "---\nid: h_n1 # mine\ntitle: Ports\napproval: pending\nx-odd: 'a'\n---\n\nA fact.\n";
const BULLETS: &str = "# Continual Harness State\n\n## Memory facts\n\n";

#[test]
fn a_new_note_brings_all_that_it_says() {
    let scene = Scene::new().file("app/notes.md", NOTE);
    scene.run(&["import", "notes.md"]).ends(0).says("1 read: created 1, updated 0, pruned 0");
    assert_eq!(scene.read(GLOBAL), NOTE);
    // It waits for a person still.
    scene.run(&["render", "--model", "a/m"]).ends(0);
    assert_eq!(scene.run(&["render", "--model", "a/m"]).ok(), "");
}

#[test]
fn what_a_header_said_goes_along_and_what_one_would_say_does_not_come() {
    let scene = Scene::new()
        .file(
            "app/owned.md",
            "---\nlayer: global\nmodel: a/m\nimportance: 0.9\n---\n\n---\nid: h_a\n---\n\nA.\n",
        )
        .file("app/orphan.md", "---\nid: h_b\n---\n\nB.\n")
        .home("---\nlayer: project\nmodel: b/m\n---\n");
    scene.run(&["import", "owned.md"]).ok();
    assert_eq!(scene.read(GLOBAL), "---\nid: h_a\nmodel: a/m\nimportance: 0.90\n---\n\nA.\n");
    scene.run(&["import", "orphan.md", "--layer", "home"]).ok();
    scene.run(&["render", "--model", "c/m"]).ends(0).prints("[h_b] B.");
}

#[test]
fn a_note_that_moves_keeps_all_that_it_says() {
    let file = format!("{BULLETS}- **[h_n1]** (importance 0.70) Another.\n  - evidence: why\n");
    let scene = Scene::new().global(NOTE).file("app/old/harness-state/app.md", &file);
    scene.run(&["import", "old/harness-state/app.md"]).ends(0).says("updated 1");
    assert_eq!(scene.read(GLOBAL), "");
    let moved = scene.read(HOME);
    for kept in
        ["id: h_n1 # mine\n", "title: Ports\n", "approval: pending\n", "x-odd: 'a'\n", "\n\nAnother.\n"]
    {
        assert!(moved.contains(kept), "{kept:?} is not in\n{moved}");
    }
    // It is the same note: neither gone nor new.
    let events = history(&scene, "h_n1");
    let ops: Vec<&str> = events.iter().map(|(op, _)| op.as_str()).collect();
    assert_eq!(ops, ["move"]);
    let events = json(&scene, &["history", "h_n1"]);
    assert!(events[0]["path"].as_str().unwrap().ends_with("harness-state/app.md"), "{events}");
    assert!(events[0]["before"].as_str().unwrap().contains("A fact."), "{events}");
    assert!(events[0]["after"].as_str().unwrap().contains("Another."), "{events}");
    assert_eq!(json(&scene, &["archive", "--all"]), serde_json::json!([]));
}

#[test]
fn what_moves_beside_others_is_told_apart_from_them() {
    let file =
        format!("{BULLETS}- **[h_n1]** (importance 0.70) Moved.\n- **[h_new]** (importance 0.50) New.\n");
    let scene = Scene::new().global(&format!("{NOTE}\n---\nid: h_old\n---\n\nOld.\n"));
    scene.write("app/harness-state/app.md", &file);
    scene.write("app/harness-state.md", BULLETS);
    let files = ["import", "harness-state/app.md", "harness-state.md", "--prune"];
    scene.run(&files).ends(0).says("created 1, updated 1, pruned 1");
    let op = |id: &str| history(&scene, id).into_iter().map(|(op, _)| op).collect::<Vec<_>>();
    assert_eq!(
        (op("h_n1"), op("h_new"), op("h_old")),
        (vec!["move".to_owned()], vec!["create".to_owned()], vec!["delete".to_owned()],)
    );
    let archive = json(&scene, &["archive", "--all"]);
    assert_eq!((archive.as_array().unwrap().len(), &archive[0]["id"]), (1, &"h_old".into()));
    // One import is one batch.
    let events = json(&scene, &["history"]);
    let batches: std::collections::BTreeSet<_> =
        events.as_array().unwrap().iter().map(|event| event["batch"].to_string()).collect();
    assert_eq!(batches.len(), 1, "{events}");
}

#[test]
fn importing_twice_is_importing_once() {
    let file = format!("{BULLETS}- typed\n- typed\n- **[n7]** named\n");
    let scene = Scene::new().file("app/notes.md", &file);
    scene.run(&["import", "notes.md"]).ends(0).says("3 read: created 3, updated 0");
    let once = scene.read(GLOBAL);
    scene.run(&["import", "notes.md", "--prune"]).ends(0).says("3 read: created 0, updated 0, pruned 0");
    assert_eq!(scene.read(GLOBAL), once);
}

#[test]
fn an_export_that_is_imported_changes_nothing() {
    let note = "---\nid: h_a\nimportance: 0.625\nevidence:\n  - one\n  - two\n---\n\nA.\n\n- b\n";
    let scene = Scene::new().global(note).home(NOTE.replace("approval: pending\n", "").as_str());
    scene.run(&["export", "notes.md"]).ok();
    scene.run(&["import", "notes.md", "--prune"]).ends(0).says("2 read: created 0, updated 0, pruned 0");
    assert_eq!(scene.read(GLOBAL), note);
}

#[test]
fn a_project_is_known_by_the_name_that_a_file_has_for_it() {
    let file = format!("{BULLETS}- **[h_a]** (importance 0.50) A.\n  - evidence: \n");
    let scene = Scene::new().file("app/harness-state/app.md", &file);
    scene.run(&["import", "harness-state/app.md"]).ends(0).says("created 1");
    scene.run(&["import", "harness-state/app.md"]).ends(0).says("updated 0");
    scene.run(&["list", "--json"]).ends(0).prints("h_a");
    assert!(scene.read(HOME).contains("A."));
}

#[test]
fn only_layers_that_the_files_are_about_are_pruned() {
    let scene = Scene::new()
        .global("---\nid: h_old\n---\n\nOld.\n")
        .home("---\nid: h_home\n---\n\nHome.\n")
        .file("app/notes.md", &format!("{BULLETS}- **[h_new]** New.\n"));
    scene.run(&["import", "notes.md", "--prune"]).ends(0).says("created 1, updated 0, pruned 1");
    assert!(!scene.read(GLOBAL).contains("h_old"));
    assert_eq!(scene.read(HOME), "---\nid: h_home\n---\n\nHome.\n");
    scene.run(&["restore", "h_old"]).ok();
    assert!(scene.read(GLOBAL).contains("Old."));
}

#[test]
fn a_file_that_is_no_text_or_in_conflict_changes_nothing() {
    let kept = "---\nid: h_a\n---\n\nA.\n";
    let scene = Scene::new().global(kept);
    scene.write("app/utf16.md", "#\0 \0H\0");
    scene.run(&["import", "utf16.md", "--prune"]).ends(4).says("a NUL stands in line 1");
    let conflict = "---\nid: h_b\n---\n\n<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs\n";
    scene.write("app/conflict.md", conflict);
    scene.run(&["import", "conflict.md", "--prune"]).ends(3).says("conflict.md:5").says("conflict markers");
    assert_eq!(scene.read(GLOBAL), kept);
}

#[test]
fn what_a_file_says_and_is_not_done_is_told() {
    let scene = Scene::new()
        .global("---\nid: h_a\n---\n\nA.\n\n---\nid: h_b\n---\n\nB.\n")
        .file("app/notes.md", "## Skills\n\n- **[h_a]** A.\n- **[h_b]** (importance 0.50)\n");
    let ran = scene.run(&["import", "notes.md", "--prune"]).ends(0);
    let ran = ran.says("h_a stays a memory note, though a file has it as skill");
    ran.says("notes.md:4: a note is passed over: it says nothing")
        .says("1 read: created 0, updated 0, pruned 0");
    assert_eq!(scene.read(GLOBAL), "---\nid: h_a\n---\n\nA.\n\n---\nid: h_b\n---\n\nB.\n");
}

#[test]
fn a_dry_run_shows_and_writes_nothing() {
    let scene = Scene::new()
        .global("---\nid: h_a\n---\n\nA.\n")
        .file("app/notes.md", &format!("{BULLETS}- **[h_a]** Changed.\n- **[h_b]** New.\n"));
    let ran = scene.run(&["import", "notes.md", "--dry-run"]).ends(0);
    ran.prints("-A.").prints("+Changed.").prints("+New.").says("would have created 1, updated 1");
    assert_eq!(scene.read(GLOBAL), "---\nid: h_a\n---\n\nA.\n");
}
