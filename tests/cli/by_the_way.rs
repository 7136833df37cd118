//! Commands that write look first, and say what they found: no note goes silently.

use super::stage::{Stage, everywhere};

fn add(stage: &Stage, id: &str) -> super::scene::Ran {
    stage.agent(&["add", "--model", "", "--layer", stage.layer(), "--id", id, "Another."]).ends(0)
}

#[test]
fn a_note_that_was_taken_out_is_named_by_the_next_command() {
    let commands: [&[&str]; 5] = [
        &["edit", "n1", "--importance", "0.9"],
        &["keep", "n1"],
        &["archive", "n1"],
        &["history"],
        &["rollback", "1"],
    ];
    everywhere(&[("n1", "alpha"), ("n2", "beta"), ("n3", "gamma")], |stage| {
        stage.save(&[("n1", "alpha"), ("n3", "gamma")]);
        add(stage, "n4").says("app.md: gone: n2 (`layers restore ID` brings a note back)");
        // Once, and what the person did and knows is not told.
        stage.save(&[("n1", "alpha!"), ("n3", "gamma"), ("n4", "Another."), ("n5", "new")]);
        let said = add(stage, "n6").err;
        assert!(!said.contains("warning"), "{said}");
    });
    for command in commands {
        everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
            stage.agent_adds("n3", "gamma");
            stage.save(&[("n1", "alpha"), ("n3", "gamma")]);
            let said = stage.agent(command).err;
            assert_eq!(said.matches("app.md: gone: n2").count(), 1, "{command:?}: {said}");
            // Data stays data.
            assert!(!stage.agent(&["history", "--json"]).ends(0).out.contains("warning"));
        });
    }
}

#[test]
fn a_stale_save_and_what_lost_are_named_by_the_next_command() {
    everywhere(&[("n1", "alpha"), ("n2", "beta")], |stage| {
        let buffer = stage.read();
        stage.agent_adds("n3", "gamma");
        stage.agent_edits("n2", "beta two");
        stage.write(&buffer.replace("alpha", "alpha!").replace("beta", "beta three"));
        let said = add(stage, "n4").err;
        assert!(said.contains("stale save merged: n3"), "{said}");
        assert!(said.contains("conflict: n2, content"), "{said}");
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta three"), ("n3", "gamma"), ("n4", "Another.")]);
    });
}

/// Nothing is made by looking, not even a folder, and what is found is found.
#[test]
fn to_look_makes_nothing() {
    let scene = super::scene::Scene::repo()
        .file("app/.harness/app.md", "A note.\n\n---\nkind: memory\n---\n\nalpha\n");
    let import = ["import", ".harness/app.md", "--dry-run"];
    let looks: [&[&str]; 8] = [
        &["sync", "--dry-run"],
        &["sync", "--check"],
        &["sync", "--check", "--json"],
        &["diff"],
        &["archive"],
        &["conflicts"],
        &import,
        &["status"],
    ];
    for look in looks {
        let code = scene.run(look).code;
        assert_eq!(code, i32::from(look[1..].contains(&"--check")), "{look:?}");
        let made: Vec<_> = std::fs::read_dir(scene.path("home")).unwrap().collect();
        assert!(made.is_empty(), "{look:?} made {made:?}");
    }
    let shown = scene.run(&["sync", "--dry-run"]).ok();
    assert!(shown.contains("+id: h_"), "{shown}");
    assert_eq!(scene.read("app/.harness/app.md"), "A note.\n\n---\nkind: memory\n---\n\nalpha\n");
}

#[test]
fn a_layer_that_cannot_be_read_is_named_by_the_next_command() {
    everywhere(&[("n1", "alpha")], |stage| {
        let path = stage.scene.path(stage.path);
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let ran = stage.scene.run(&["history"]).ends(4);
        assert!(ran.err.contains("app.md"), "{}", ran.err);
    });
}
