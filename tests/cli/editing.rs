//! `add`, `edit`, `keep`, `drop`: what they change and what they leave alone.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use super::scene::{HOME, Scene};

/// S03: one changed value, one changed line.
const TEAM: &str = "---
layer: project
x-team: {owner: \"core\"}   # do not sort
---

Prose the team wrote.

---
importance: 0.70    # reviewed in March
id: n1
created: 2026-03-18
tags: [api, team]   # keep this order
x-ticket: OPS-12
---

Use 30 s.  
Two trailing spaces above are a line break.
";

#[test]
fn an_edit_touches_one_line() {
    let scene = Scene::new().home(TEAM);
    let ran = scene.run(&["edit", "n1", "--importance", "0.8"]).ends(0);
    assert_eq!(
        (&*ran.out, &*ran.err),
        ("", "changed n1, @/home/.harness/harness-state/app.md:8 (importance)\n")
    );
    assert_eq!(scene.read(HOME), TEAM.replace("0.70", "0.80"));
}

#[test]
fn an_edit_to_what_is_so_already_writes_nothing() {
    let scene = Scene::new().home(TEAM);
    let before = fs::metadata(scene.path(HOME)).unwrap();
    scene.run(&["edit", "n1", "--set", "importance=0.7"]).ends(0).says("nothing was written");
    let after = fs::metadata(scene.path(HOME)).unwrap();
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    assert_eq!(scene.read(HOME), TEAM);
}

#[test]
fn keep_and_drop_move_the_importance_and_undo_each_other() {
    let scene = Scene::new().home(TEAM);
    assert_eq!(scene.run(&["keep", "n1"]).ends(0).err, "n1: 0.70 -> 0.80\n");
    assert_eq!(scene.read(HOME), TEAM.replace("0.70", "0.80"));
    assert_eq!(scene.run(&["drop", "n1"]).ends(0).err, "n1: 0.80 -> 0.70\n");
    assert_eq!(scene.read(HOME), TEAM);
    for _ in 0..4 {
        scene.run(&["keep", "n1", "-q"]).ok();
    }
    assert!(scene.read(HOME).contains("importance: 1.00    # reviewed in March\n"));
}

#[test]
fn one_unknown_id_stops_all_of_keep() {
    let scene = Scene::new().home(TEAM);
    scene.run(&["keep", "n1", "n2"]).ends(1).says("did you mean n1?");
    assert_eq!(scene.read(HOME), TEAM);
}

#[test]
fn add_touches_nothing_but_its_own_lines() {
    let scene = Scene::new().home(TEAM);
    let ran = scene
        .run(&["add", "--id", "n2", "--importance", "0.9", "--evidence", "seen twice", "A fact."])
        .ends(0);
    assert_eq!(ran.out, "n2\n");
    let added = "\n---\nid: n2\nkind: memory\nimportance: 0.90\nevidence: seen twice\n---\n\nA fact.\n";
    assert_eq!(scene.read(HOME), format!("{TEAM}{added}"));
}

#[test]
fn a_new_note_is_private_and_needs_no_init() {
    let scene = Scene::new();
    let id = scene.run(&["add", "A fact."]).ok();
    assert!(id.starts_with("h_"), "{id}");
    assert_eq!(scene.mode(HOME), 0o600);
    assert_eq!(scene.mode("home/.harness"), 0o700);
    assert_eq!(scene.read(HOME), format!("---\nid: {}\nkind: memory\n---\n\nA fact.\n", id.trim()));
}

#[test]
fn text_comes_from_standard_input_or_a_file() {
    let scene = Scene::new().file("app/note.txt", "from a file\n\n");
    scene.run_with(&["add", "--id", "a", "-"], "two\nlines\n").ok();
    scene.run(&["add", "--id", "b", "--file", "note.txt"]).ok();
    scene.run(&["show", "a"]).ends(0).prints("\n\ntwo\nlines\n");
    scene.run(&["show", "b"]).ends(0).prints("\n\nfrom a file\n");
}

#[test]
fn what_makes_no_note_is_a_usage_error() {
    let scene = Scene::new();
    scene.run(&["add", "  "]).ends(2).says("the text is empty");
    scene.run(&["add"]).ends(2).says("there is no text").says("help: give it as an argument");
    scene.run(&["add", "x", "--importance", "1.5"]).ends(2).says("a number from 0 to 1");
    scene.run(&["add", "x", "--importance", "-0.5"]).ends(2).says("a number from 0 to 1");
    scene.run(&["add", "x", "--kind", "memroy"]).ends(2).says("memory");
    scene.run(&["add", "x", "--id", "a b"]).ends(2);
    assert!(!scene.path("home/.harness").exists());
}

#[test]
fn an_id_that_is_taken_is_refused() {
    let scene = Scene::new().home(TEAM);
    scene.run(&["add", "--id", "n1", "other"]).ends(3).says("has the id n1");
    assert_eq!(scene.read(HOME), TEAM);
}

#[test]
fn the_owner_is_the_model_in_use_unless_it_is_everybody() {
    let scene = Scene::new().var("LAYERS_MODEL", "a/m");
    scene.run(&["add", "--id", "mine", "x"]).ok();
    scene.run(&["add", "--id", "all", "--any-model", "x"]).ok();
    scene
        .run(&["add", "--id", "theirs", "--model", "b/m", "x"])
        .ends(0)
        .says("not shown to the model in use");
    let text = scene.read(HOME);
    assert!(text.contains("id: mine\nkind: memory\nmodel: a/m\n"), "{text}");
    assert!(text.contains("id: all\nkind: memory\nmodel: \"*\"\n"), "{text}");
    let block = scene.run(&["render"]).ok();
    assert!(block.contains("- [mine] x\n- [all] x\n") && !block.contains("theirs"), "{block}");
}

#[test]
fn a_root_of_pi_gets_bullets_that_pi_reads() {
    let scene = Scene::new().file("home/.pi/agent/harness.json", "{}");
    scene.run(&["add", "--id", "h_1", "A fact."]).ok();
    scene.run(&["add", "--id", "h_2", "--global", "--kind", "skill", "A skill."]).ok();
    let slug = harness_layers::slug::pi_slug(scene.path("app").to_str());
    assert_eq!(
        scene.read(&format!("home/.pi/agent/harness-state/{slug}.md")),
        format!(
            "# Continual Harness State\n\n## Memory facts\n\n- **[h_1]** (importance 0.50) A fact.\n  - evidence: \n  - scope: project ({slug})\n"
        )
    );
    assert_eq!(
        scene.read("home/.pi/agent/harness-state.md"),
        "# Continual Harness State\n\n## Skill descriptions\n\n- **[h_2]** (importance 0.50) A skill.\n  - evidence: \n"
    );
}

#[test]
fn an_edit_gives_a_note_without_an_id_one() {
    let scene = Scene::new().home("---\nkind: memory\n---\n\nA fact.\n");
    let list = scene.run(&["list", "--json"]).ok();
    let start = list.find("new-").unwrap();
    let id = &list[start..start + 12];
    scene.run(&["edit", id, "--title", "T"]).ends(0).says(&format!("{id} is h_"));
    let text = scene.read(HOME);
    assert!(text.contains("\nid: h_") && text.contains("\ntitle: T\n"), "{text}");
}

#[test]
fn scope_is_decided_by_the_place() {
    let scene = Scene::new().home(TEAM);
    scene.run(&["edit", "n1", "--set", "scope=global"]).ends(3).says("layers move ID global");
    scene.run(&["edit", "n1", "--set", "project=other"]).ends(3);
    assert_eq!(scene.read(HOME), TEAM);
}

#[test]
fn fields_are_set_and_taken_out() {
    let scene = Scene::new().home(TEAM);
    scene
        .run(&["edit", "n1", "--content", "Use 60 s.", "--set", "x-ticket=OPS-13", "--unset", "created"])
        .ok();
    let text = scene.read(HOME);
    assert!(
        text.contains("x-ticket: OPS-13\n")
            && !text.contains("created")
            && text.ends_with("---\n\nUse 60 s.\n")
    );
    scene.run(&["edit", "n1", "--set", "title=a", "--title", "b"]).ends(2).says("`title` is given twice");
    scene.run(&["edit", "n1", "--set", "title"]).ends(2).says("write KEY=VALUE");
    scene.run(&["edit", "n1", "--set", "importance=7"]).ends(2).says("must be a number from 0 to 1");
    scene.run(&["edit", "n1", "--unset", "id"]).ends(3);
    scene.run(&["edit", "n1"]).ends(2).says("there is nothing to change");
    assert_eq!(scene.read(HOME), text);
}

/// S11 (a): links stay, the final target gets the note, its mode stays.
#[test]
fn links_to_links_stay_and_so_does_the_mode() {
    let scene = Scene::new().file("dotfiles/global.md", "---\nid: n1\n---\n\nx\n");
    scene.set_mode("dotfiles/global.md", 0o640);
    fs::create_dir_all(scene.path("middle")).unwrap();
    fs::create_dir_all(scene.path("home/.harness")).unwrap();
    symlink("../dotfiles/global.md", scene.path("middle/global.md")).unwrap();
    symlink(scene.path("middle/global.md"), scene.path("home/.harness/harness-state.md")).unwrap();
    scene.set_mode("middle", 0o555);
    scene.run(&["add", "--global", "--id", "n2", "y"]).ok();
    scene.set_mode("middle", 0o755);
    assert!(scene.read("dotfiles/global.md").ends_with("id: n2\nkind: memory\n---\n\ny\n"));
    assert_eq!(scene.mode("dotfiles/global.md"), 0o640);
    assert_eq!(
        fs::read_link(scene.path("middle/global.md")).unwrap().to_str(),
        Some("../dotfiles/global.md")
    );
    assert!(fs::symlink_metadata(scene.path("home/.harness/harness-state.md")).unwrap().is_symlink());
    let beside: Vec<_> = fs::read_dir(scene.path("dotfiles")).unwrap().collect();
    assert_eq!(beside.len(), 1, "no temporary file stays");
}

#[test]
fn a_read_only_layer_is_refused() {
    let scene = Scene::new().home(TEAM);
    scene.set_mode(HOME, 0o444);
    scene.run(&["keep", "n1"]).ends(3).says("read-only for this user (mode 0444)");
    assert_eq!(scene.read(HOME), TEAM);
}
