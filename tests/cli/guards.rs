//! Files that lose so much at once that it is rather a mistake, and those that lose a little
//! each time: the first are held, of the second every loss is told and can be undone.

use std::fs;

use super::scene::Scene;
use super::stage::{Form, REPO, Stage, everywhere, json, notes, owned};

const SIX: [(&str, &str); 6] =
    [("n1", "one"), ("n2", "two"), ("n3", "three"), ("n4", "four"), ("n5", "five"), ("n6", "six")];

/// Nothing is archived, what waits waits, and it says so in every pass.
fn is_held(stage: &Stage, file: &str) {
    for _ in 0..2 {
        let said = stage.sync().ends(3).out;
        assert!(said.contains("held: ") && said.contains("layers sync --accept"), "{said}");
        stage.has(&SIX);
        assert_eq!(stage.read(), file);
        assert!(stage.archive().iter().all(|id| id == "n7"));
    }
    stage.scene.run(&["status"]).prints("held: ").prints("--accept");
    assert_eq!(stage.json(&["status"])["layers"].to_string().matches("\"held\":{").count(), 1);
}

#[test]
fn a_file_that_becomes_empty_is_held_and_takes_no_note_of_the_agent() {
    everywhere(&SIX, |stage| {
        for text in ["", "\n\n"] {
            stage.write(text);
            is_held(stage, text);
            stage.agent_adds("n7", "seven");
            assert_eq!(stage.read(), text, "what is held is not written");
            stage.has(&[&SIX[..], &[("n7", "seven")]].concat());
            stage.agent(&["archive", "n7"]).ok();
            stage.scene.run(&["restore", "--layer", stage.layer()]).ok();
            stage.is_in_step(&SIX);
        }
        stage.write("");
        stage.agent_adds("n7", "seven");
        assert_eq!(stage.read(), "");
        stage.scene.run(&["sync", "--accept"]).ok();
        stage.is_in_step(&[("n7", "seven")]);
        let gone: Vec<_> = SIX.iter().map(|(id, _)| *id).collect();
        assert_eq!(stage.archive(), gone);
    });
}

#[test]
fn a_file_that_loses_most_of_its_notes_is_held_until_somebody_says_so() {
    everywhere(&SIX, |stage| {
        stage.save(&SIX[..1]);
        is_held(stage, &stage.text(&SIX[..1]));
        stage.scene.run(&["sync", "--accept"]).ok();
        stage.is_in_step(&SIX[..1]);
        assert_eq!(stage.archive(), ["n2", "n3", "n4", "n5", "n6"]);
        stage.scene.run(&["restore", "n2", "n3", "n4", "n5", "n6"]).ok();
        stage.is_in_step(&SIX);
    });
}

/// An edit in the save that lost the others is no reason to take the loss, nor lost itself.
#[test]
fn what_else_a_held_save_says_counts() {
    everywhere(&SIX, |stage| {
        stage.save(&[("n1", "one, edited"), ("n9", "new")]);
        stage.sync().ends(3);
        let rest: Vec<_> = SIX[1..].to_vec();
        stage.has(&[&[("n1", "one, edited"), ("n9", "new")], &rest[..]].concat());
        stage.save(&[&[("n1", "one, edited"), ("n9", "new")], &rest[..]].concat());
        stage.sync().ok();
        stage.is_in_step(&[&[("n1", "one, edited"), ("n9", "new")], &rest[..]].concat());
    });
}

#[test]
fn a_file_that_disappears_is_held() {
    everywhere(&SIX, |stage| {
        fs::remove_file(stage.scene.path(stage.path)).unwrap();
        let said = stage.sync().ends(3).out;
        assert!(said.contains("held: the file with its 6 notes is gone"), "{said}");
        assert_eq!(stage.notes(), super::stage::owned(&SIX));
        stage.sync().ends(3);
        assert!(stage.archive().is_empty());
        stage.scene.run(&["restore", "--layer", stage.layer()]).ok();
        stage.is_in_step(&SIX);
        // The same, meant.
        fs::remove_file(stage.scene.path(stage.path)).unwrap();
        stage.sync().ends(3);
        stage.scene.run(&["sync", "--accept"]).ok();
        assert!(stage.notes().is_empty());
        assert_eq!(stage.archive().len(), 6);
        stage.scene.run(&["restore", "n1"]).ok();
        stage.is_in_step(&SIX[..1]);
    });
}

/// More than half, and five at least: how many there were, how many are left, whether that
/// is held. An empty file always is.
#[test]
fn the_guard_begins_where_it_says() {
    let edges = [
        (1, 0, true),
        (4, 1, false),
        (5, 1, false),
        (5, 0, true),
        (6, 1, true),
        (8, 4, false),
        (8, 3, true),
        (9, 5, false),
        (9, 4, true),
        (10, 5, false),
        (10, 4, true),
        (40, 20, false),
        (40, 19, true),
    ];
    for (path, form, eol) in super::stage::VARIANTS.into_iter().step_by(3) {
        let all: Vec<(String, String)> = (0..40).map(|at| (id(at), format!("The rule {at}."))).collect();
        let all: Vec<(&str, &str)> = all.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        for (before, left, is_held) in edges {
            let stage = Stage::with(path, form, eol, &all[..before]);
            if left == 0 {
                stage.write("");
            } else {
                stage.save(&all[..left]);
            }
            let said = stage.sync().ends(if is_held { 3 } else { 0 }).out;
            let gone = if is_held { 0 } else { before - left };
            assert_eq!(said.contains("held: "), is_held, "{before} to {left}: {said}");
            assert_eq!(stage.archive().len(), gone, "{before} to {left}");
            for (id, _) in &all[left..before] {
                assert_eq!(said.contains(id), !is_held, "{before} to {left}: each is named: {said}");
            }
            assert_eq!(stage.notes().len(), before - gone);
            // New notes do not make up for those that are gone.
            let news: Vec<_> = all[..left].iter().chain(&all[before.max(30)..]).copied().collect();
            if left > 0 && before < 30 && is_held {
                stage.save(&news);
                assert!(stage.sync().ends(3).out.contains("held: "));
            }
        }
    }
}

#[test]
fn a_held_layer_is_not_put_back_while_git_is_in_the_middle_of_something() {
    super::stage::in_repo(&SIX, |stage| {
        stage.commit("six");
        stage.write("");
        stage.sync().ends(3);
        stage.scene.write("app/.git/MERGE_HEAD", &stage.scene.try_git("app", &["rev-parse", "HEAD"]).ok());
        stage.scene.run(&["restore", "--layer", "repo"]).ends(3).says("git is in the middle of a merge");
        assert_eq!(stage.read(), "");
        fs::remove_file(stage.scene.path("app/.git/MERGE_HEAD")).unwrap();
        stage.scene.run(&["restore", "--layer", "repo"]).ok();
        stage.is_in_step(&SIX);
    });
}

/// A file that pi reads too, by a name that nobody writes, goes: that is no less a loss.
#[test]
fn a_further_file_of_the_private_layer_that_disappears_is_held() {
    let scene = Scene::repo().home("---\nid: o1\n---\n\nown\n");
    let status = json(&scene, &["status"]);
    let name = status["project"]["pi_names"][0].as_str().unwrap();
    let path = format!("home/.harness/harness-state/{name}.md");
    let bullets =
        "## Memory facts\n\n- **[n1]** (importance 0.50) alpha\n- **[n2]** (importance 0.50) beta\n";
    scene.write(&path, bullets);
    scene.run(&["sync"]).ok();
    std::fs::remove_file(scene.path(&path)).unwrap();
    let all = owned(&[("o1", "own"), ("n1", "alpha"), ("n2", "beta")]);
    assert_eq!(notes(&scene), all);
    for _ in 0..2 {
        let said = scene.run(&["sync"]).ends(3);
        assert!(said.out.contains("held: the file with its 2 notes is gone"), "{said:?}");
        assert_eq!(notes(&scene), all);
        assert_eq!(json(&scene, &["archive", "--all"]), serde_json::json!([]));
    }
    scene.run(&["restore", "--layer", "home"]).ok();
    assert_eq!(scene.read(&path), bullets);
    assert_eq!(scene.run(&["sync"]).ok(), "");
    // Meant, after all.
    std::fs::remove_file(scene.path(&path)).unwrap();
    scene.run(&["sync", "--accept"]).ok();
    assert_eq!(notes(&scene), owned(&[("o1", "own")]));
    assert_eq!(scene.run(&["sync"]).ok(), "");
    scene.run(&["restore", "n1", "n2"]).ok();
    assert_eq!(notes(&scene), all);
}

fn id(number: usize) -> String {
    format!("n{number:02}")
}

/// A refiner drops three untouched notes a round, adds one, rewords two, orders all anew.
#[test]
fn slow_erosion_is_told_note_by_note_and_all_of_it_comes_back() {
    for (path, form, eol) in [
        (super::scene::HOME, Form::Blocks, "\n"),
        (REPO, Form::Blocks, "\r\n"),
        (REPO, Form::Bullets, "\n"),
        (super::scene::HOME, Form::Bullets, "\n"),
    ] {
        let stage = Stage::with(path, form, eol, &[]);
        let content = |number: usize| format!("The rule {number}.\nIts second line, with  two blanks.");
        let mut notes: Vec<(String, String)> = (0..40).map(|number| (id(number), content(number))).collect();
        let mut texts: Vec<String> = Vec::new();
        let write = |notes: &[(String, String)]| {
            let written: Vec<String> = notes
                .iter()
                .map(|(id, text)| stage.fielded(id, &[("importance", "0.70"), ("x-ticket", id)], text))
                .collect();
            stage.write(&stage.joined(&written));
        };
        write(&notes);
        stage.sync().ok();
        for (id, text) in &notes {
            texts.push(stage.fielded(id, &[("importance", "0.70"), ("x-ticket", id)], text));
        }
        for round in 0..10 {
            let dropped: Vec<usize> = (0..3).map(|at| round * 3 + at).collect();
            notes.retain(|(known, _)| !dropped.iter().any(|number| id(*number) == *known));
            notes.push((id(40 + round), format!("Added in round {round}.")));
            for at in [1, 2] {
                // Never one that will be dropped, and is to be as it was.
                let known = notes.iter_mut().find(|(known, _)| *known == id(36 + at)).unwrap();
                known.1 = format!("Reworded in round {round}.");
            }
            notes.reverse();
            write(&notes);
            let said = stage.sync().ok();
            let gone = said.lines().find(|line| line.contains("gone: ")).unwrap_or_else(|| panic!("{said}"));
            for number in dropped {
                assert!(gone.contains(&id(number)), "{gone}");
            }
            let archive = stage.json(&["status"])["archive"].clone();
            assert_eq!(
                (&archive["count"], &archive["fewer"]),
                (&serde_json::json!(3 * round + 3), &serde_json::json!(2 * round + 3))
            );
            let fewer = format!("{} fewer than at their most in the last 7 days", 2 * round + 3);
            assert!(stage.scene.run(&["status"]).ok().contains(&fewer));
            // Only the order: no versions of notes, nothing said of notes.
            let changes = stage.json(&["history", "--limit", "1000"]).as_array().unwrap().len();
            notes.rotate_left(5);
            write(&notes);
            assert_eq!(stage.sync().ok(), "");
            assert_eq!(stage.json(&["history", "--limit", "1000"]).as_array().unwrap().len(), changes);
        }
        let lost: Vec<String> = (0..30).map(id).collect();
        assert_eq!(stage.archive(), lost);
        let status = stage.scene.run(&["status"]).ok();
        assert!(status.contains("30 notes in the archive") && status.contains(&id(29)), "{status}");
        let ids: Vec<&str> = lost.iter().map(String::as_str).collect();
        stage.scene.run(&[&["restore"], &ids[..]].concat()).ok();
        let file = stage.read();
        for text in &texts[..30] {
            assert!(file.contains(text.as_str()), "{text}\nis not byte for byte in\n{file}");
        }
        assert!(stage.archive().is_empty());
        assert_eq!(stage.notes().len(), 50);
        assert!(!stage.scene.run(&["status"]).ok().contains("fewer than"));
        assert_eq!(stage.sync().ok(), "");
    }
}

#[test]
fn protected_notes_are_put_back() {
    everywhere(&[], |stage| {
        let keep = stage.fielded("n2", &[("protected", "true")], "Never drop this.");
        let all = stage.joined(&[stage.note("n1", "one"), keep.clone(), stage.note("n3", "three")]);
        stage.write(&all);
        stage.sync().ok();
        for _ in 0..2 {
            stage.save(&[("n1", "one"), ("n3", "three, edited")]);
            let said = stage.sync().ok();
            assert!(said.contains("protected, put back: n2"), "{said}");
            stage.is_in_step(&[("n1", "one"), ("n2", "Never drop this."), ("n3", "three, edited")]);
            assert!(stage.read().contains(&keep), "{}", stage.read());
            assert!(stage.archive().is_empty());
            // An agent is told to take the mark away first, too.
            stage.agent(&["archive", "n2"]).ends(3).says("n2 is protected").says("--set protected=");
        }
        // Whoever takes the mark away first may take the note away.
        stage.save(&[("n1", "one"), ("n2", "Never drop this."), ("n3", "three, edited")]);
        stage.sync().ok();
        stage.save(&[("n1", "one"), ("n3", "three, edited")]);
        stage.sync().ok();
        stage.is_in_step(&[("n1", "one"), ("n3", "three, edited")]);
    });
}

/// Also one that nothing but what it says can name.
#[test]
fn a_note_without_an_id_counts_while_its_file_is_held() {
    everywhere(&SIX, |stage| {
        let by_hand = match stage.form {
            Form::Blocks => "\n---\nkind: memory\n---\n\nby hand\n",
            Form::Bullets => "- by hand\n",
        };
        let before = stage.read() + &stage.lines(by_hand);
        stage.write(&before);
        // A command that names no notes takes the file for what it says.
        stage.agent_edits("n1", "one, edited");
        stage.write("");
        for _ in 0..2 {
            assert!(stage.sync().ends(3).out.contains("6 of its 6 notes"));
            assert!(stage.agent(&["render"]).ok().contains("by hand"));
        }
        assert!(stage.archive().is_empty());
        stage.scene.run(&["restore", "--layer", stage.layer()]).ok();
        stage.sync().ok();
        assert_eq!(stage.agent(&["render"]).ok().matches("by hand").count(), 1);
        assert!(stage.archive().is_empty());
    });
}
