//! What `git merge` leaves behind in a layer when it gives up: nothing of it is shown, nothing
//! is written into it, and what comes online meanwhile waits.

use serde_json::Value;

use super::stage::{Form, REPO, Stage, everywhere, in_repo};

const KEPT: &str = "n0";

/// Notes around the one that both sides change, far enough apart for git.
fn layer(stage: &Stage, first: &str, second: &str, more: &[(&str, &str)]) -> String {
    let notes = [&[("n1", first), (KEPT, "Stays."), ("n2", second)][..], more].concat();
    stage.text(&notes)
}

fn resolved(first: &'static str, more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [&[("n1", first), (KEPT, "Stays."), ("n2", SECOND)][..], more].concat()
}

const SECOND: &str = "Run migrations first!\n\nA Setext title\n=======";

/// Both branches have their version of the layer, and git cannot merge them.
fn merge(stage: &Stage, base: &str, ours: &str, theirs: &str, style: &str) {
    let commit = |text: &str, message: &str| {
        stage.write(text);
        stage.commit(message);
    };
    commit(base, "base");
    stage.sync().ok();
    stage.scene.git("app", &["checkout", "-q", "-b", "feature"]);
    commit(theirs, "theirs");
    stage.scene.git("app", &["checkout", "-q", "main"]);
    commit(ours, "ours");
    stage.sync().ok();
    let style = format!("merge.conflictStyle={style}");
    assert_ne!(stage.scene.try_git("app", &["-c", &style, "merge", "-q", "feature"]).code, 0);
    let marked = stage.read();
    assert!(marked.contains("<<<<<<< HEAD") && marked.contains(">>>>>>> feature"), "{marked}");
}

fn because(stage: &Stage) -> Vec<(String, String)> {
    let list = stage.json(&["list"]);
    let instead =
        |note: &Value| Some((note["id"].as_str()?.to_owned(), note["instead_because"].as_str()?.to_owned()));
    list.as_array().unwrap().iter().filter_map(instead).collect()
}

/// While the markers stand.
fn waits(stage: &Stage, last_good: &[(&str, &str)]) {
    let marked = stage.read();
    let reported = stage.sync().ends(1).out;
    assert!(reported.contains("in conflict: git's conflict markers stand in it"), "{reported}");
    stage.has(last_good);
    let said =
        stage.agent(&["add", "--model", "", "--layer", stage.layer(), "--id", "n3", "New."]).ends(0).err;
    assert!(said.contains("it counts, but the file does not have it yet"), "{said}");
    for _ in 0..2 {
        stage.sync().ends(1);
        stage.has(&[last_good, &[("n3", "New.")]].concat());
        assert!(because(stage).contains(&("n3".into(), "waiting".into())), "{:?}", because(stage));
        let block = stage.agent(&["render"]).ok();
        for (_, content) in [last_good, &[("n3", "New.")]].concat() {
            assert!(block.contains(content.lines().next().unwrap()), "{content:?}: {block}");
        }
        for marker in ["<<<<", ">>>>", "||||"] {
            assert!(!block.contains(marker), "{block}");
        }
        let exported = stage.json(&["export"]);
        assert_eq!(exported.as_array().unwrap().len(), last_good.len() + 1, "{exported}");
        assert!(!exported.to_string().contains("<<<<"), "{exported}");
        assert_eq!(stage.read(), marked, "not written while markers stand");
    }
    stage.scene.run(&["status"]).prints("in conflict").prints("n3");
    assert!(stage.archive().is_empty());
}

/// After a person removed the markers.
fn goes_on(stage: &Stage, text: &str, notes: &[(&str, &str)]) {
    stage.write(text);
    let all = [notes, &[("n3", "New.")]].concat();
    stage.has(&all);
    stage.sync().ok();
    stage.has(&all);
    assert_eq!(stage.read(), text, "the merge is not over");
    stage.scene.git("app", &["commit", "-qam", "merged"]);
    stage.sync().ok();
    stage.is_in_step(&all);
    assert!(stage.archive().is_empty());
    assert_eq!(stage.json(&["conflicts"]), serde_json::json!([]));
}

#[test]
fn a_conflict_inside_a_note_shows_its_last_good_text_until_it_is_resolved() {
    for style in ["merge", "diff3", "zdiff3"] {
        in_repo(&[], |stage| {
            let base = layer(stage, "Use pnpm.", "Run migrations first.\n\nA Setext title\n=======", &[]);
            let ours =
                layer(stage, "Use pnpm, never npm.", "Run migrations first.\n\nA Setext title\n=======", &[]);
            let theirs = layer(stage, "Use pnpm 9.", SECOND, &[]);
            merge(stage, &base, &ours, &theirs, style);
            assert_eq!(stage.read().contains("|||||||"), style != "merge");
            waits(stage, &resolved("Use pnpm, never npm.", &[]));
            goes_on(stage, &layer(stage, "Use pnpm 9.", SECOND, &[]), &resolved("Use pnpm 9.", &[]));
        });
    }
}

#[test]
fn two_appended_notes_in_conflict_are_both_there_in_the_end() {
    for style in ["merge", "diff3"] {
        in_repo(&[], |stage| {
            let with = |more: &[(&'static str, &'static str)]| layer(stage, "Use pnpm.", SECOND, more);
            merge(stage, &with(&[]), &with(&[("n8", "ours")]), &with(&[("n9", "theirs")]), style);
            // Of the note that only the other side has, no half is shown.
            waits(stage, &resolved("Use pnpm.", &[("n8", "ours")]));
            let both = [("n8", "ours"), ("n9", "theirs")];
            goes_on(stage, &with(&both), &resolved("Use pnpm.", &both));
        });
    }
}

#[test]
fn an_edit_of_the_agent_in_the_note_in_conflict_waits_too() {
    in_repo(&[], |stage| {
        let of = |first: &str| layer(stage, first, SECOND, &[]);
        merge(stage, &of("Use pnpm."), &of("Use pnpm, never npm."), &of("Use pnpm 9."), "merge");
        let marked = stage.read();
        stage.agent_edits(KEPT, "Stays, edited.");
        stage.agent(&["edit", "n1", "--importance", "0.9"]).ok();
        stage.agent(&["archive", "n2"]).ok();
        assert_eq!(stage.read(), marked);
        stage.sync().ends(1);
        let counts = [("n1", "Use pnpm, never npm."), (KEPT, "Stays, edited.")];
        stage.has(&counts);
        assert_eq!(stage.json(&["export"]).as_array().unwrap().len(), 2);
        stage.write(&of("Use pnpm 9."));
        stage.scene.git("app", &["commit", "-qam", "merged"]);
        stage.sync().ok();
        stage.is_in_step(&[("n1", "Use pnpm 9."), (KEPT, "Stays, edited.")]);
        assert_eq!(stage.json(&["show", "n1"])["importance"], 0.9);
        assert_eq!(stage.archive(), ["n2"]);
    });
}

/// Markers that came without git's knowing, by a stash, a patch or another tool, in any layer.
#[test]
fn markers_without_a_merge_are_resolved_in_one_pass() {
    everywhere(&[("n1", "Use pnpm."), ("n2", "Run migrations first.")], |stage| {
        let inside = "<<<<<<< HEAD\nUse pnpm, never npm.\n=======\nUse pnpm 9.\n>>>>>>> feature";
        let good = stage.text(&[("n1", "MARKED"), ("n2", "Run migrations first!")]);
        let marked = match stage.form {
            Form::Blocks => good.replace("MARKED", &stage.lines(inside)),
            Form::Bullets => {
                let line = |text: &str| good.lines().nth(2).unwrap().replace("MARKED", text);
                let lines: Vec<String> = inside
                    .lines()
                    .map(|one| if one.starts_with("Use") { line(one) } else { one.to_owned() })
                    .collect();
                good.replace(&line("MARKED"), &lines.join(stage.eol))
            }
        };
        stage.write(&marked);
        waits(stage, &[("n1", "Use pnpm."), ("n2", "Run migrations first!")]);
        stage.save(&[("n1", "Use pnpm 9."), ("n2", "Run migrations first!")]);
        stage.sync().ok();
        stage.is_in_step(&[("n1", "Use pnpm 9."), ("n2", "Run migrations first!"), ("n3", "New.")]);
    });
}

#[test]
fn markers_in_a_fence_that_stood_there_before_are_text() {
    let quoted = "So it looks:\n\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> feature\n```";
    everywhere(&[("n1", quoted), ("n2", "Run migrations first.")], |stage| {
        stage.is_in_step(&[("n1", quoted), ("n2", "Run migrations first.")]);
        stage.agent_adds("n3", "New.");
        stage.agent_edits("n2", "Run migrations first!");
        stage.is_in_step(&[("n1", quoted), ("n2", "Run migrations first!"), ("n3", "New.")]);
        let block = stage.agent(&["render"]).ok();
        assert!(block.contains("So it looks:"), "{block}");
    });
    for eol in ["\n", "\r\n"] {
        let stage = Stage::with(REPO, Form::Blocks, eol, &[]);
        let of = |second: &str| stage.text(&[("n1", quoted), (KEPT, "Stays."), ("n2", second)]);
        merge(&stage, &of("Run."), &of("Run now."), &of("Run later."), "merge");
        stage.sync().ends(1);
        stage.has(&[("n1", quoted), (KEPT, "Stays."), ("n2", "Run now.")]);
        assert!(!because(&stage).iter().any(|(id, _)| id == "n1"), "{:?}", because(&stage));
        stage.write(&of("Run later."));
        stage.scene.git("app", &["commit", "-qam", "merged"]);
        stage.sync().ok();
        stage.is_in_step(&[("n1", quoted), (KEPT, "Stays."), ("n2", "Run later.")]);
    }
}
