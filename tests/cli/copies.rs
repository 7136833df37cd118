//! People copy a note to make a similar one, and its id comes along: no text is lost, the note
//! that says what it said before keeps the id, and nothing multiplies.

use std::collections::BTreeSet;

use super::scene::{HOME, Scene};
use super::stage::{REPO, Stage, everywhere, notes};

const REDIS: &str = "Use Redis.";
const MEMCACHED: &str = "Use Memcached for tests.";

/// The file is written once, in one line; then both are notes of their own.
fn both_live(stage: &Stage, owner: &str, other: &str) -> String {
    let before = stage.read();
    let said = stage.sync().ok();
    assert!(said.contains("n1 is h_") && said.contains("from now on"), "{said}");
    let after = stage.read();
    let changed = after.lines().filter(|line| !before.lines().any(|old| old == *line)).count();
    assert_eq!(changed, 1, "one line changes:\n{after}");
    assert_eq!(before.lines().count(), after.lines().count());
    let all = stage.notes();
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all["n1"], owner);
    let (fresh, text) = all.iter().find(|(id, _)| *id != "n1").unwrap();
    assert_eq!(text, other);
    stage.is_in_step(&[("n1", owner), (fresh, other)]);
    assert!(stage.archive().is_empty());
    fresh.clone()
}

#[test]
fn the_one_that_says_what_it_said_before_keeps_the_id_wherever_it_stands() {
    for is_before in [false, true] {
        everywhere(&[("n1", REDIS)], |stage| {
            let (old, copy) = (stage.note("n1", REDIS), stage.note("n1", MEMCACHED));
            let notes = if is_before { [copy, old] } else { [old, copy] };
            stage.write(&stage.joined(&notes));
            let fresh = both_live(stage, REDIS, MEMCACHED);
            // Either is edited for itself from now on.
            stage.write(&stage.read().replace(REDIS, "Use Redis 8."));
            stage.sync().ok();
            stage.is_in_step(&[("n1", "Use Redis 8."), (&fresh, MEMCACHED)]);
            stage.write(&stage.read().replace(MEMCACHED, "Use Memcached."));
            stage.sync().ok();
            stage.is_in_step(&[("n1", "Use Redis 8."), (&fresh, "Use Memcached.")]);
        });
    }
}

#[test]
fn of_two_that_both_changed_the_first_keeps_the_id() {
    everywhere(&[("n1", REDIS)], |stage| {
        stage.write(&stage.joined(&[stage.note("n1", "Use Valkey."), stage.note("n1", MEMCACHED)]));
        both_live(stage, "Use Valkey.", MEMCACHED);
    });
}

#[test]
fn an_unseen_online_edit_goes_to_the_note_that_keeps_the_id() {
    everywhere(&[("n1", REDIS)], |stage| {
        stage.agent(&["edit", "n1", "--importance", "0.9"]).ok();
        stage.write(&stage.joined(&[stage.note("n1", MEMCACHED), stage.note("n1", REDIS)]));
        stage.sync().ok();
        let all = stage.notes();
        let texts: BTreeSet<&str> = all.values().map(String::as_str).collect();
        assert_eq!(texts, BTreeSet::from([REDIS, MEMCACHED]), "{}", stage.read());
        assert_eq!(all["n1"], REDIS);
        assert_eq!(stage.json(&["show", "n1"])["importance"], 0.9, "{}", stage.read());
        assert_eq!(stage.sync().ok(), "");
    });
}

#[test]
fn two_equal_copies_are_one_note_and_stay_two_in_the_file() {
    everywhere(&[("n1", REDIS)], |stage| {
        let twice = stage.joined(&[stage.note("n1", REDIS), stage.note("n1", REDIS)]);
        stage.write(&twice);
        for _ in 0..3 {
            stage.sync().ok();
            assert_eq!(stage.read(), twice);
        }
        let list = stage.json(&["list"]);
        assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
        let found = stage.scene.run(&["check"]);
        assert!(found.out.contains("n1"), "{found:?}");
        // Once they differ they are two.
        stage.write(&twice.replacen(REDIS, MEMCACHED, 1));
        both_live(stage, REDIS, MEMCACHED);
    });
}

#[test]
fn a_copy_in_another_layer_of_the_project_is_a_note_of_its_own_and_neither_is_lost() {
    everywhere(&[("n1", REDIS)], |stage| {
        let other = if stage.is_repo() { HOME } else { REPO };
        for place in [other, "home/.harness/harness-state.md"] {
            let before = stage.read();
            stage.scene.write(place, &stage.text(&[("n1", MEMCACHED)]));
            let said = stage.sync().ok();
            assert!(!said.contains("moved here"), "{said}");
            assert_eq!(stage.sync().ok(), "");
            assert_eq!(stage.read(), before);
            assert_eq!(stage.scene.read(place), stage.text(&[("n1", MEMCACHED)]));
            let list = stage.json(&["list", "--all"]).to_string();
            assert!(list.contains(REDIS) && list.contains(MEMCACHED), "{list}");
            std::fs::remove_file(stage.scene.path(place)).unwrap();
            stage.scene.run(&["sync", "--accept"]).ok();
            stage.has(&[("n1", REDIS)]);
        }
    });
}

#[test]
fn one_id_in_two_projects_is_two_notes() {
    for form in ["---\nid: n1\n---\n\nTEXT\n", "## Memory facts\n\n- **[n1]** (importance 0.50) TEXT\n"] {
        let scene = Scene::repo().file("home/.harness/harness-state/app.md", &form.replace("TEXT", REDIS));
        scene.run(&["sync"]).ok();
        scene.git(".", &["init", "-q", "-b", "main", "other"]);
        let scene = scene.file("home/.harness/harness-state/other.md", &form.replace("TEXT", MEMCACHED));
        let scene = scene.cwd("other");
        scene.run(&["sync"]).ok();
        assert_eq!(notes(&scene).into_values().collect::<Vec<_>>(), [MEMCACHED]);
        scene.run_as("a/m", &["edit", "n1", "--content", "Use neither."]).ok();
        // Gone from one, it is not gone from the other, nor moved.
        scene.run(&["archive", "n1"]).ok();
        let scene = scene.cwd("app");
        assert_eq!(scene.run(&["sync"]).ok(), "");
        assert_eq!(notes(&scene).into_values().collect::<Vec<_>>(), [REDIS]);
        assert_eq!(super::stage::json(&scene, &["archive"]), serde_json::json!([]));
    }
}
