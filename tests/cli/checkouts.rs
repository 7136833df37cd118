//! Git puts files there and takes them away: what it put is taken as it is, nothing is
//! written into it by the way, and notes come back under their ids.

use super::scene::Scene;
use super::stage::{Form, REPO, Stage, in_repo, owned};

const A: [(&str, &str); 2] = [("n1", "old"), ("n2", "two")];
const B: [(&str, &str); 3] = [("n1", "new"), ("n2", "two"), ("n3", "three")];

/// Two commits, tags A and B, in step with B; the agent edits n1 and adds n3 in between.
fn two_commits(stage: &Stage) {
    stage.commit("A");
    stage.scene.git("app", &["tag", "A"]);
    stage.sync().ok();
    stage.agent_edits("n1", "new");
    stage.agent_adds("n3", "three");
    stage.commit("B");
    stage.scene.git("app", &["tag", "B"]);
    stage.sync().ok();
}

fn head(stage: &Stage) -> String {
    stage.scene.try_git("app", &["rev-parse", "HEAD"]).ok()
}

fn porcelain(stage: &Stage) -> String {
    stage.scene.try_git("app", &["status", "--porcelain"]).ok()
}

/// What git put there counts, and neither file nor repository change by our looking.
#[track_caller]
fn stands(stage: &Stage, tag: &str, notes: &[(&str, &str)]) {
    let at = stage.scene.try_git("app", &["rev-parse", tag]).ok();
    stage.has(notes);
    for _ in 0..3 {
        let said = stage.sync().ok();
        assert!(!said.contains("conflict") && !said.contains("stale"), "{said}");
        stage.has(notes);
    }
    let block = stage.agent(&["render"]).ok();
    assert_eq!(block.contains("three"), notes.iter().any(|(_, content)| *content == "three"), "{block}");
    assert_eq!(head(stage), at);
    assert_eq!(porcelain(stage), "");
    assert_eq!(stage.json(&["conflicts"]), serde_json::json!([]));
}

#[test]
fn a_hard_reset_stands() {
    in_repo(&A, |stage| {
        two_commits(stage);
        stage.scene.git("app", &["reset", "-q", "--hard", "A"]);
        stands(stage, "A", &A);
        // What it took away is no loss that anybody has to be told of.
        assert!(stage.archive().is_empty(), "{:?}", stage.archive());
        stage.scene.git("app", &["checkout", "-q", "B"]);
        stands(stage, "B", &B);
        stage.scene.git("app", &["checkout", "-q", "A"]);
        stage.scene.git("app", &["checkout", "-q", "B"]);
        stands(stage, "B", &B);
        assert!(stage.archive().is_empty());
    });
}

#[test]
fn a_deletion_does_not_block_what_a_checkout_brings_back() {
    in_repo(&A, |stage| {
        two_commits(stage);
        stage.save(&[("n1", "new")]);
        stage.sync().ok();
        assert_eq!(stage.archive(), ["n2", "n3"]);
        stage.scene.git("app", &["checkout", "-q", "--", "."]);
        stands(stage, "B", &B);
        assert!(stage.archive().is_empty());
        stage.agent(&["archive", "n3"]).ok();
        assert_eq!(stage.archive(), ["n3"]);
        stage.scene.git("app", &["reset", "-q", "--hard"]);
        stands(stage, "B", &B);
        assert!(stage.archive().is_empty());
    });
}

#[test]
fn a_stashed_note_is_away_and_back() {
    in_repo(&A, |stage| {
        two_commits(stage);
        stage.agent_adds("n4", "four");
        let with_four = stage.read();
        stage.scene.git("app", &["stash", "-q"]);
        stands(stage, "B", &B);
        stage.scene.git("app", &["stash", "pop", "-q"]);
        let all = [&B[..], &[("n4", "four")]].concat();
        stage.has(&all);
        let said = stage.sync().ok();
        assert!(said.contains("back: n4"), "{said}");
        stage.is_in_step(&all);
        assert_eq!(stage.read(), with_four);
        assert_eq!(porcelain(stage), " M .harness/app.md\n");
        assert!(stage.archive().is_empty(), "{:?}", stage.archive());
    });
}

/// Not even an id is put into a file as git has it.
#[test]
fn what_git_put_there_gets_no_ids() {
    for eol in ["\n", "\r\n"] {
        let scene = Scene::repo();
        let text = "---\nkind: memory\n---\n\nwithout an id\n".replace('\n', eol);
        scene.write(REPO, "---\nid: n1\n---\n\none\n");
        scene.git("app", &["add", "-A"]);
        scene.git("app", &["commit", "-qm", "first"]);
        scene.run(&["sync"]).ok();
        scene.git("app", &["checkout", "-q", "-b", "other"]);
        scene.write(REPO, &text);
        scene.git("app", &["commit", "-qam", "second"]);
        scene.run(&["sync"]).ok();
        assert_eq!(scene.read(REPO), text);
        assert_eq!(scene.try_git("app", &["status", "--porcelain"]).ok(), "");
        // An edit of a person makes it a file like any other.
        scene.write(REPO, &text.replace("without an id", "without an id, edited"));
        scene.run(&["sync"]).ok().contains("from now on").then_some(()).unwrap();
        assert!(scene.read(REPO).contains("id: h_"));
    }
}

/// A branch without the layer: absent there, neither deleted nor held.
#[test]
fn a_branch_without_the_layer_has_none() {
    for form in [Form::Blocks, Form::Bullets] {
        let stage = Stage::with(REPO, form, "\n", &[]);
        std::fs::remove_file(stage.scene.path(REPO)).unwrap();
        stage.scene.write("app/readme.txt", "an app\n");
        stage.commit("empty");
        stage.scene.git("app", &["branch", "bare"]);
        stage.save(&B);
        stage.commit("notes");
        stage.sync().ok();
        let private = "home/.harness/harness-state/app.md";
        stage.scene.write(private, "---\nid: p1\n---\n\nprivate\n");
        for _ in 0..2 {
            stage.scene.git("app", &["checkout", "-q", "bare"]);
            let said = stage.sync().ok();
            assert!(!said.contains("held"), "{said}");
            assert_eq!(stage.notes(), owned(&[("p1", "private")]));
            assert!(!stage.scene.path(REPO).exists());
            assert!(stage.archive().is_empty());
            stage.scene.git("app", &["checkout", "-q", "main"]);
            stage.sync().ok();
            stage.is_in_step(&[&B[..], &[("p1", "private")]].concat());
            assert_eq!(porcelain(&stage), "");
        }
    }
}

/// A time in a checkout is "now", on old text; an old time on new text tells no more.
#[test]
fn times_of_files_decide_nothing() {
    in_repo(&A, |stage| {
        two_commits(stage);
        stage.scene.git("app", &["reset", "-q", "--hard", "A"]);
        let touch = |when: &str| {
            let path = stage.scene.path(REPO);
            let status = std::process::Command::new("touch").args(["-d", when]).arg(path).status().unwrap();
            assert!(status.success());
        };
        touch("2001-01-01");
        stands(stage, "A", &A);
        stage.save(&[("n1", "old, edited"), ("n2", "two")]);
        touch("2001-01-01");
        stage.sync().ok();
        stage.has(&[("n1", "old, edited"), ("n2", "two")]);
        touch("2037-01-01");
        stage.sync().ok();
        stage.has(&[("n1", "old, edited"), ("n2", "two")]);
        stage.save(&[("n1", "old, edit 2"), ("n2", "two")]);
        touch("2037-01-01");
        stage.sync().ok();
        stage.has(&[("n1", "old, edit 2"), ("n2", "two")]);
    });
}

/// While a rebase or a merge of the work tree goes on, nothing is written into its layers;
/// what the agent does waits, counts, and is written when it is over.
#[test]
fn nothing_is_written_while_git_is_in_the_middle_of_something() {
    let begin: [(&str, &[&str], &[&str]); 3] = [
        ("merge", &["merge", "-q", "--no-edit", "side"], &["commit", "-qam", "merged"]),
        ("rebase", &["rebase", "-q", "side"], &["rebase", "--continue"]),
        ("cherry-pick", &["cherry-pick", "side"], &["cherry-pick", "--continue"]),
    ];
    for (what, begin, end) in begin {
        in_repo(&A, |stage| {
            println!("in a {what}");
            // The layer is in no conflict, another file is.
            stage.scene.write("app/code.txt", "base\n");
            stage.commit("base");
            stage.scene.git("app", &["checkout", "-q", "-b", "side"]);
            stage.scene.write("app/code.txt", "side\n");
            stage.commit("side");
            stage.scene.git("app", &["checkout", "-q", "main"]);
            stage.scene.write("app/code.txt", "main\n");
            stage.commit("main");
            stage.sync().ok();
            assert_ne!(stage.scene.try_git("app", begin).code, 0);
            let before = stage.read();
            let status = porcelain(stage);
            let said =
                stage.agent(&["add", "--model", "", "--layer", "repo", "--id", "n3", "three"]).ends(0).err;
            assert!(said.contains(&format!("git is in the middle of a {what}")), "{said}");
            stage.agent_edits("n1", "edited");
            stage.sync().ok();
            let counts = [("n1", "edited"), ("n2", "two"), ("n3", "three")];
            stage.has(&counts);
            let list = stage.json(&["list"]);
            let waiting: Vec<&str> = list
                .as_array()
                .unwrap()
                .iter()
                .filter(|note| note["instead_because"] == "waiting")
                .map(|note| note["id"].as_str().unwrap())
                .collect();
            assert_eq!(waiting, ["n1", "n3"]);
            // A person edits the layer meanwhile; that is taken, and nothing is written.
            let edited = before.replace("two", "two, edited");
            stage.write(&edited);
            stage.sync().ok();
            let counts = [("n1", "edited"), ("n2", "two, edited"), ("n3", "three")];
            stage.has(&counts);
            assert_eq!(stage.read(), edited);
            stage.write(&before);
            stage.sync().ok();
            assert_eq!(stage.read(), before);
            assert_eq!(porcelain(stage), status);
            stage.scene.write("app/code.txt", "both\n");
            stage.scene.git("app", &["add", "code.txt"]);
            stage.scene.git("app", end);
            stage.sync().ok();
            stage.is_in_step(&[("n1", "edited"), ("n2", "two"), ("n3", "three")]);
            assert_eq!(porcelain(stage), " M .harness/app.md\n");
        });
    }
}
