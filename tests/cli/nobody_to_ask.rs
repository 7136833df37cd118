//! Both sides changed a note and nobody is there to ask: the file wins, what lost is kept.

use std::fs;

use super::scene::Ran;
use super::stage::{Form, Stage, everywhere};

/// As in [`Stage::text`], with a second note of two lines and an importance.
fn layer(stage: &Stage, first: &str, second: &str, importance: &str) -> String {
    stage.joined(&[stage.note("n1", first), stage.fielded("n2", &[("importance", importance)], second)])
}

/// An online change that the file's author has not seen, next to one of his own in the same
/// place: the file is saved from what it was before.
fn both_sides(stage: &Stage) -> Ran {
    stage.write(&layer(stage, "Use port 8080.", "First.\nSecond.", "0.50"));
    stage.sync().ok();
    stage.agent_edits("n1", "Use port 7070.");
    stage.agent(&["edit", "n2", "--importance", "0.9"]).ok();
    stage.write(&layer(stage, "Use port 9090.", "Another first.\nSecond.", "0.50"));
    stage.sync()
}

#[test]
fn the_file_wins_and_what_lost_is_in_the_history_once() {
    everywhere(&[], |stage| {
        let folder = stage.scene.path(stage.path).parent().unwrap().to_owned();
        let names =
            || fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        let said = both_sides(stage).ends(0).out;
        assert!(said.contains("conflict: n1, content"), "{said}");
        assert!(!said.contains("conflict: n2"), "{said}");
        let files = names();
        for _ in 0..2 {
            assert_eq!(stage.sync().ok(), "");
        }
        stage.is_in_step(&[("n1", "Use port 9090."), ("n2", "Another first.\nSecond.")]);
        let importance = stage.json(&["show", "n2"])["importance"].clone();
        assert_eq!(importance, 0.9, "{}", stage.read());
        let block = stage.agent(&["render"]).ok();
        assert!(block.contains("9090") && !block.contains("7070") && !block.contains("8080"), "{block}");
        // Kept, once.
        let events = stage.json(&["history", "n1"]);
        let lost: Vec<_> = events.as_array().unwrap().iter().filter(|event| event["op"] == "lost").collect();
        assert_eq!(lost.len(), 1, "{events}");
        assert_eq!(lost[0]["before"].as_str().unwrap().trim(), "Use port 7070.");
        assert_eq!(stage.json(&["conflicts"]).as_array().unwrap().len(), 1);
        // No traces beside the layer or in it.
        assert_eq!(files, names());
        assert!(!stage.read().contains("<<<<") && !stage.read().contains(">>>>"));
        let number = lost[0]["conflict"].to_string();
        stage.scene.run(&["restore", "--conflict", &number]).ok();
        stage.is_in_step(&[("n1", "Use port 7070."), ("n2", "Another first.\nSecond.")]);
        assert_eq!(stage.json(&["conflicts"]), serde_json::json!([]));
    });
}

#[test]
fn what_lost_can_be_left_at_that() {
    let stage = Stage::with(super::stage::REPO, Form::Blocks, "\n", &[]);
    both_sides(&stage).ok();
    let number = stage.json(&["conflicts"])[0]["number"].to_string();
    stage.scene.run(&["conflicts", "--dismiss", &number]).ok();
    assert_eq!(stage.json(&["conflicts"]), serde_json::json!([]));
    stage.scene.run(&["conflicts", "--all"]).prints("7070");
    stage.is_in_step(&[("n1", "Use port 9090."), ("n2", "Another first.\nSecond.")]);
}
