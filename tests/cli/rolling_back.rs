//! `rollback`: exactly, or with a reason why not.

use super::stage::everywhere;

#[test]
fn a_change_is_undone_exactly_or_not_at_all() {
    everywhere(&[("n1", "one\ntwo\nthree"), ("n2", "beta")], |stage| {
        let before = stage.read();
        stage.agent_edits("n1", "ONE\ntwo\nthree");
        let number = |at: usize| stage.json(&["history", "n1"])[at]["change"].to_string();
        let first = number(0);
        stage.scene.run(&["rollback", &first]).ok();
        assert_eq!(stage.read(), before, "to the byte");
        // Undone already.
        stage.scene.run(&["rollback", &first]).ends(3).says("has changed since").says("--force");
        assert_eq!(stage.read(), before);
    });
}

#[test]
fn what_later_changes_stand_on_is_undone_as_far_as_it_can_be_and_that_is_said() {
    everywhere(&[("n2", "beta")], |stage| {
        stage.agent_adds("n1", "one\ntwo\nthree");
        stage.agent_edits("n1", "ONE\ntwo\nthree");
        stage.agent_edits("n1", "ONE\ntwo\nTHREE");
        let number = |at: usize| stage.json(&["history", "n1"])[at]["change"].to_string();
        let file = stage.read();
        stage.scene.run(&["rollback", &number(1)]).ends(3).says("n1 has changed since change");
        assert_eq!(stage.read(), file);
        stage.scene.run(&["rollback", &number(1), "--force"]).ok();
        stage.is_in_step(&[("n1", "one\ntwo\nTHREE"), ("n2", "beta")]);
        // It was made by the first change, and is not what that made any more.
        let file = stage.read();
        let ran = stage.scene.run(&["rollback", &number(0), "--force"]).ends(3);
        assert!(ran.err.contains("can be undone any more; nothing was written"), "{}", ran.err);
        assert_eq!(stage.read(), file);
    });
}

#[test]
fn a_batch_is_undone_in_all_layers_or_in_none() {
    everywhere(&[("n1", "alpha")], |stage| {
        stage.agent(&["add", "--model", "", "--global", "--id", "g1", "global"]).ok();
        stage.agent(&["archive", "n1", "g1"]).ok();
        let events = stage.json(&["history"]);
        let last = events.as_array().unwrap().last().unwrap()["batch"].as_str().unwrap().to_owned();
        stage.scene.run(&["history"]).prints(&last).ok();
        // One of the two stands again already.
        stage.scene.run(&["restore", "g1"]).ok();
        let file = stage.read();
        stage.scene.run(&["rollback", &last]).ends(3).says("g1 has changed since");
        assert_eq!(stage.read(), file);
        stage.agent(&["archive", "g1"]).ok();
        stage.scene.run(&["rollback", &last]).ok();
        stage.is_in_step(&[("n1", "alpha"), ("g1", "global")]);
        assert!(stage.archive().is_empty());
        stage.scene.run(&["rollback", "nothing"]).ends(1).says("there is no change or batch `nothing`");
    });
}
