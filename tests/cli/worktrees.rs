//! Two work trees of one repository are two files with two lines of versions: what one
//! branch lacks is neither deleted nor moved in the other.

use super::scene::Ran;
use super::stage::{Form, REPO, Stage, json, notes, owned};

const FEAT: &str = "app-feat/.harness/app.md";

/// A second work tree, on a branch of its own.
fn two_trees(form: Form, eol: &'static str) -> Stage {
    let stage = Stage::with(REPO, form, eol, &[("n0", "zero"), ("n1", "old")]);
    stage.commit("first");
    stage.sync().ok();
    stage.scene.git("app", &["worktree", "add", "-q", "-b", "feat", "../app-feat"]);
    stage
}

impl Stage {
    /// Runs `layers` in another work tree.
    fn at(&self, folder: &str, args: &[&str]) -> Ran {
        let mut command = self.scene.command(args);
        command.current_dir(self.scene.path(folder));
        self.scene.ran(&command.output().unwrap())
    }
}

fn each(test: impl Fn(&Stage)) {
    for (form, eol) in [(Form::Blocks, "\n"), (Form::Blocks, "\r\n"), (Form::Bullets, "\n")] {
        println!("as {form:?}, line end {eol:?}");
        test(&two_trees(form, eol));
    }
}

fn block(stage: &Stage, folder: &str) -> String {
    stage.at(folder, &["render", "--model", "a/m"]).ok()
}

#[test]
fn two_work_trees_leave_each_others_files_alone() {
    each(|stage| {
        // A private note, which is in no work tree, is seen in both.
        stage.agent(&["add", "--model", "", "--id", "p1", "private"]).ok();
        let feat = stage.text(&[("n0", "zero"), ("n1", "new"), ("n2", "beta")]);
        stage.scene.write(FEAT, &feat);
        let main = stage.read();
        for _ in 0..5 {
            for folder in ["app", "app-feat"] {
                let said = stage.at(folder, &["sync"]).ok();
                assert!(
                    !said.contains("gone") && !said.contains("moved") && !said.contains("stale"),
                    "{said}"
                );
                assert_eq!((stage.read(), stage.scene.read(FEAT)), (main.clone(), feat.clone()));
            }
        }
        let (here, there) = (block(stage, "app"), block(stage, "app-feat"));
        assert!(here.contains("[n1] old") && !here.contains("[n2]"), "{here}");
        assert!(there.contains("[n1] new") && there.contains("[n2] beta"), "{there}");
        assert!(here.contains("private") && there.contains("private"));
        // The agent adds in one; the branch is merged.
        stage.agent_adds("n3", "gamma");
        assert_eq!(stage.scene.read(FEAT), feat);
        stage.at("app-feat", &["sync"]).ok();
        assert_eq!(stage.scene.read(FEAT), feat);
        stage.commit("n3");
        stage.scene.git("app-feat", &["commit", "-qam", "n2"]);
        let merged = stage.scene.try_git("app", &["merge", "-q", "--no-edit", "feat"]);
        if merged.code != 0 {
            // Notes that both branches put at one place; a person takes both.
            let all = [("n0", "zero"), ("n1", "new"), ("n2", "beta"), ("n3", "gamma")];
            stage.save(&all);
            stage.scene.git("app", &["commit", "-qam", "merged"]);
        }
        let said = stage.sync().ok();
        assert!(!said.contains("gone") && !said.contains("conflict"), "{said}");
        let all = [("n0", "zero"), ("n1", "new"), ("n2", "beta"), ("n3", "gamma"), ("p1", "private")];
        stage.is_in_step(&all);
        assert_eq!(stage.scene.try_git("app", &["status", "--porcelain"]).ok(), "");
        assert!(stage.archive().is_empty());
        // History goes on under the old id.
        assert!(stage.history("n1").iter().any(|(op, _)| op == "update"), "{:?}", stage.history("n1"));
        assert!(stage.history("n3").iter().any(|(op, who)| op == "create" && who == "agent:a/m"));
    });
}

#[test]
fn a_note_of_a_work_tree_that_was_removed_can_be_brought_back() {
    each(|stage| {
        stage.scene.git("app", &["worktree", "add", "-q", "-b", "third", "../third"]);
        let add = ["add", "--layer", "repo", "--model", "", "--id", "n5", "learned there"];
        stage.at("third", &add).ok();
        let text = stage.scene.read("third/.harness/app.md");
        stage.scene.git("app", &["worktree", "remove", "--force", "../third"]);
        let before = (stage.read(), stage.scene.read(FEAT));
        for folder in ["app", "app-feat"] {
            assert_eq!(stage.at(folder, &["sync"]).ok(), "");
        }
        assert_eq!((stage.read(), stage.scene.read(FEAT)), before);
        let history = json(&stage.scene, &["history", "n5"]).to_string();
        assert!(history.contains("learned there"), "{history}");
        stage.scene.run(&["restore", "n5"]).ok();
        stage.is_in_step(&[("n0", "zero"), ("n1", "old"), ("n5", "learned there")]);
        assert_eq!(stage.read(), text, "its own bytes, in the same place");
    });
}

/// A work tree that is there still has its notes itself.
#[test]
fn notes_of_a_work_tree_that_exists_are_not_taken_from_it() {
    each(|stage| {
        stage.at("app-feat", &["add", "--layer", "repo", "--model", "", "--id", "n5", "there"]).ok();
        let there = stage.scene.read(FEAT);
        stage.scene.run(&["restore", "n5"]).ends(1);
        assert_eq!(stage.scene.read(FEAT), there);
        assert_eq!(notes(&stage.scene), owned(&[("n0", "zero"), ("n1", "old")]));
    });
}
