//! Files saved from buffers that were loaded before the last online write: nothing that came
//! online since is lost, and what a person meant is done.

use super::scene::{HOME, Scene};
use super::stage::{Form, Stage, everywhere, notes, owned};

const GLOBAL: &str = "home/.harness/harness-state.md";

#[test]
fn a_stale_buffer_loses_nothing_that_came_online_since() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.agent_edits("n2", "beta two");
        stage.agent_adds("n3", "gamma");
        stage.save(&[("n1", "alpha!"), ("n2", "beta")]);
        // What counts is right before anybody syncs.
        stage.has(&[("n1", "alpha!"), ("n2", "beta two"), ("n3", "gamma")]);
        let said = stage.sync().ok();
        assert!(said.contains("stale save merged: n"), "{said}");
        assert!(said.contains("n2") && said.contains("n3"), "{said}");
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta two"), ("n3", "gamma")]);
        assert!(stage.archive().is_empty());
        // From the same buffer, once more: seen to be meant.
        stage.save(&[("n1", "alpha!!"), ("n2", "beta")]);
        stage.sync().ok();
        stage.is_in_step(&[("n1", "alpha!!"), ("n2", "beta")]);
        stage.scene.run(&["restore", "n3"]).ok();
        stage.is_in_step(&[("n1", "alpha!!"), ("n2", "beta"), ("n3", "gamma")]);
    });
}

#[test]
fn an_author_who_saw_the_online_change_deletes_what_he_takes_out() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.agent_adds("n3", "gamma");
        stage.agent_edits("n2", "beta two");
        stage.save(&[("n1", "alpha!"), ("n2", "beta two")]);
        let said = stage.sync().ok();
        assert!(said.contains("gone: n3") && !said.contains("stale"), "{said}");
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta two")]);
        assert_eq!(stage.archive(), ["n3"]);
        stage.scene.run(&["restore", "n3"]).ok();
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta two"), ("n3", "gamma")]);
    });
}

#[test]
fn an_earlier_version_byte_for_byte_is_meant_and_stays_so() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        let first = stage.read();
        stage.agent_edits("n2", "beta two");
        stage.agent_adds("n3", "gamma");
        for _ in 0..2 {
            stage.write(&first);
            stage.sync().ok();
            assert_eq!(stage.read(), first);
            stage.is_in_step(&[("n1", "alpha"), ("n2", "beta")]);
        }
        assert_eq!(stage.archive(), ["n3"]);
        let events = stage.json(&["history", "n2"]);
        assert!(events.to_string().contains("beta two"), "{events}");
        stage.scene.run(&["restore", "n3"]).ok();
        stage.is_in_step(&[("n1", "alpha"), ("n2", "beta"), ("n3", "gamma")]);
    });
}

#[test]
fn in_doubt_a_new_note_is_kept_and_a_second_save_without_it_deletes_it() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.agent_adds("n3", "gamma");
        stage.save(&[("n1", "alpha!"), ("n2", "beta")]);
        let said = stage.sync().ok();
        assert!(said.contains("stale save merged: n3"), "{said}");
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta"), ("n3", "gamma")]);
        stage.save(&[("n1", "alpha!"), ("n2", "beta")]);
        let said = stage.sync().ok();
        assert!(said.contains("gone: n3"), "{said}");
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta")]);
        stage.scene.run(&["restore", "n3"]).ok();
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta"), ("n3", "gamma")]);
    });
}

/// What an older buffer lacks for the first time is put back, whatever was put back before.
#[test]
fn a_buffer_older_than_the_last_stale_one_takes_only_what_it_lacks_again() {
    everywhere(&[("n1", "alpha")], |stage| {
        stage.agent_adds("n2", "beta");
        stage.agent_adds("n3", "gamma");
        stage.save(&[("n1", "alpha!"), ("n2", "beta")]);
        let said = stage.sync().ok();
        assert!(said.contains("stale save merged: n3"), "{said}");
        stage.save(&[("n1", "alpha?")]);
        let said = stage.sync().ok();
        assert!(said.contains("stale save merged: n2") && said.contains("gone: n3"), "{said}");
        stage.is_in_step(&[("n1", "alpha?"), ("n2", "beta")]);
    });
}

/// A note that cannot be read in between says nothing else than before.
#[test]
fn a_stale_save_after_a_broken_one_takes_no_online_edit_away() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.agent_edits("n2", "beta two");
        let broken = stage.fielded("n2", &[("approval", "maybe")], "bet");
        stage.write(&stage.joined(&[stage.note("n1", "alpha"), broken]));
        stage.sync();
        stage.save(&[("n1", "alpha!"), ("n2", "beta")]);
        let said = stage.sync().ok();
        assert!(said.contains("stale save merged: n2"), "{said}");
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta two")]);
    });
}

#[test]
fn a_refiner_that_writes_back_what_it_read_minutes_ago_takes_nothing_away() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        stage.agent_adds("n5", "meanwhile");
        let path = stage.scene.path(stage.path);
        let draft = path.with_extension("tmp");
        std::fs::write(&draft, stage.text(&[("n1", "alpha, refined"), ("n2", "beta")])).unwrap();
        std::fs::rename(&draft, &path).unwrap();
        let said = stage.sync().ok();
        assert!(said.contains("stale save merged: n5"), "{said}");
        stage.is_in_step(&[("n1", "alpha, refined"), ("n2", "beta"), ("n5", "meanwhile")]);
    });
}

#[test]
fn a_revision_that_names_these_very_bytes_is_the_base() {
    for form in [Form::Blocks, Form::Bullets] {
        let stage = Stage::with(HOME, form, "\n", &[]);
        let header = |text: &str| format!("---\nlayer: project\nrevision: 0\n---\n\n{text}");
        let save = |revision: &str, notes: &[(&str, &str)]| {
            let text = header(&stage.text(notes));
            stage.write(&text.replace("revision: 0", &format!("revision: {revision}")));
        };
        let revision = || {
            let text = stage.read();
            let (_, rest) = text.split_once("revision: ").unwrap();
            rest.lines().next().unwrap().to_owned()
        };
        save("0", &[("n1", "alpha"), ("n2", "beta")]);
        stage.sync().ok();
        stage.agent_edits("n2", "beta one");
        let seen = revision();
        stage.agent_adds("n3", "gamma");
        assert_ne!(revision(), seen, "each write renews it");
        // What the buffer was loaded from is known now, and n3 is not among it.
        save(&seen, &[("n1", "alpha!"), ("n2", "beta one")]);
        stage.sync().ok();
        stage.has(&[("n1", "alpha!"), ("n2", "beta one"), ("n3", "gamma")]);
        // Its author saw n3: it is gone at once, with no second save.
        let now = revision();
        save(&now, &[("n1", "alpha!!"), ("n2", "beta one")]);
        let said = stage.sync().ok();
        assert!(said.contains("gone: n3"), "{said}");
        stage.is_in_step(&[("n1", "alpha!!"), ("n2", "beta one")]);
    }
}

#[test]
fn two_machines_that_counted_to_the_same_number_have_no_common_base() {
    for revision in ["41", "\"41\""] {
        let layer = |notes: &str| format!("---\nlayer: global\nrevision: {revision}\n---\n\n{notes}");
        let note = |id: &str, text: &str| format!("---\nid: {id}\n---\n\n{text}\n\n");
        let (one, two) = (Scene::new(), Scene::new());
        for (scene, id) in [(&one, "m1"), (&two, "m2")] {
            scene.write(GLOBAL, &layer(&note("n1", "shared")));
            scene.run(&["sync"]).ok();
            scene.run_as("a/m", &["add", "--global", "--any-model", "--id", id, "of this machine"]).ok();
            // A hand that counts for itself, on both.
            let text = scene.read(GLOBAL);
            let line = text.lines().find(|line| line.starts_with("revision")).unwrap().to_owned();
            scene.write(GLOBAL, &text.replace(&line, &format!("revision: {revision}")));
            scene.run(&["sync"]).ok();
        }
        two.write(GLOBAL, &one.read(GLOBAL).replace("shared", "shared, edited"));
        two.run(&["sync"]).ok();
        let expected = [("n1", "shared, edited"), ("m1", "of this machine"), ("m2", "of this machine")];
        assert_eq!(notes(&two), owned(&expected), "{}", two.read(GLOBAL));
        assert_eq!(super::stage::json(&two, &["archive"]), serde_json::json!([]));
    }
}

/// A note that came online above an end that is open goes along above the end of the save.
#[test]
fn a_stale_save_with_an_open_end_takes_nothing_away() {
    for form in ["front-matter", "bullets"] {
        let scene = Scene::new().home("<!-- kept by hand --");
        scene.run(&["sync"]).ok();
        scene.run(&["add", "--form", form, "--id", "n1", "Meanwhile."]).ok();
        scene.write(HOME, "Prose.\n\n<!-- kept by hand --");
        scene.run(&["sync"]).ends(0).prints("stale save merged: n1");
        let text = scene.read(HOME);
        assert!(text.contains("Meanwhile.") && text.contains("Prose."), "{form}: {text}");
        assert!(text.ends_with("<!-- kept by hand --"), "{form}: {text}");
    }
}

/// What came online while the file was away was put back by nobody when it is written for
/// the first time, so a buffer that is older takes nothing away.
#[test]
fn a_note_that_waited_is_new_when_it_is_written() {
    everywhere(&[("n1", "alpha")], |stage| {
        stage.agent_adds("n0", "zero");
        std::fs::remove_file(stage.scene.path(stage.path)).unwrap();
        stage.sync().ends(3);
        stage.agent(&["add", "--layer", stage.layer(), "--id", "n2", "--any-model", "beta"]).ends(0);
        stage.save(&[("n3", "gamma")]);
        stage.sync();
        assert!(stage.read().contains("beta"), "{}", stage.read());
        stage.write(&stage.lines("Prose.\n"));
        let said = stage.sync().out;
        assert!(said.contains("stale save merged: n2") && said.contains("gone: n3, n0"), "{said}");
        assert!(stage.read().contains("beta"), "{}", stage.read());
    });
}

/// An online edit of a text that somebody wrote on is still there to be put back.
#[test]
fn a_line_that_came_online_stands_though_its_text_went_on() {
    everywhere(&[("n0", "zero"), ("n1", "alpha")], |stage| {
        stage.agent_edits("n1", "alpha two");
        stage.save(&[("n0", "zero"), ("n1", "alpha two\nmore")]);
        stage.sync().ok();
        // Of a buffer that was loaded before all that.
        stage.save(&[("n0", "zero!"), ("n1", "alpha"), ("n3", "gamma")]);
        let said = stage.sync().ok();
        assert!(said.contains("stale save merged: n1"), "{said}");
        stage.has(&[("n0", "zero!"), ("n1", "alpha two"), ("n3", "gamma")]);
    });
}

/// A save that wrote in a note that cannot be read is no save that only took notes out.
#[test]
fn an_edit_of_what_cannot_be_read_is_an_edit() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        let broken = |text: &str| stage.fielded("n2", &[("approval", "maybe")], text);
        stage.write(&stage.joined(&[stage.note("n1", "alpha"), broken("beta")]));
        stage.sync();
        stage.agent_adds("n3", "gamma");
        stage.write(&stage.joined(&[stage.note("n1", "alpha"), broken("beta!")]));
        let said = stage.sync().out;
        assert!(said.contains("stale save merged: n3"), "{said}");
    });
}
