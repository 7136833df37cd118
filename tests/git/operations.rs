//! Whatever git does that merges layers, with the driver installed.

use crate::scene::{Ran, Scene};

const LAYER: &str = "app/.harness/app.md";

/// A repository with the driver, and a layer of three notes.
struct Repo {
    scene: Scene,
}

fn layer(first: &str, middle: &str, last: &str) -> String {
    let block = |id: &str, text: &str| format!("---\nid: {id}\n{text}\n");
    [block("a", first), block("m", middle), block("z", last)].join("\n")
}

const OLD: &str = "importance: 0.50\n---\n\nAlpha.";
const MIDDLE: &str = "importance: 0.50\n---\n\nMiddle.";
const LAST: &str = "importance: 0.50\n---\n\nOmega.";
/// Two edits of one note on neighbouring lines: git alone gives up.
const RAISED: &str = "importance: 0.90\n---\n\nAlpha.";
const OWNED: &str = "importance: 0.50\nmodel: m/x\n---\n\nAlpha.";
const BOTH: &str = "importance: 0.90\nmodel: m/x\n---\n\nAlpha.";

impl Repo {
    fn new() -> Self {
        Self::configured(&[])
    }

    fn configured(settings: &[(&str, &str)]) -> Self {
        let scene = Scene::repo();
        scene.git("app", &["config", "user.name", "A"]);
        scene.git("app", &["config", "user.email", "a@example.org"]);
        for (key, value) in settings {
            scene.git("app", &["config", key, value]);
        }
        scene.run(&["git", "install", "-q"]).ok();
        let repo = Self { scene };
        repo.commit(&layer(OLD, MIDDLE, LAST), "base");
        repo
    }

    fn git(&self, args: &[&str]) -> Ran {
        self.scene.try_git("app", args)
    }

    fn commit(&self, text: &str, message: &str) {
        self.scene.write(LAYER, text);
        self.git(&["add", "-A"]).ok();
        self.git(&["commit", "-qm", message]).ok();
    }

    fn branch(&self, name: &str, text: &str) {
        self.git(&["checkout", "-q", "-b", name, "main"]).ok();
        self.commit(text, name);
        self.git(&["checkout", "-q", "main"]).ok();
    }

    /// `main` and `feature` with an edit each.
    fn diverged(ours: &str, theirs: &str) -> Self {
        let repo = Self::new();
        repo.branch("feature", theirs);
        repo.commit(ours, "ours");
        repo
    }

    #[track_caller]
    fn has(&self, text: &str) {
        assert_eq!(self.scene.read(LAYER), text);
    }
}

#[test]
fn merge() {
    let repo = Repo::diverged(&layer(RAISED, MIDDLE, LAST), &layer(OWNED, MIDDLE, LAST));
    repo.git(&["merge", "-q", "-m", "merged", "feature"]).ok();
    repo.has(&layer(BOTH, MIDDLE, LAST));
}

#[test]
fn merge_with_a_conflict_in_one_note() {
    let ours = layer(RAISED, "importance: 0.50\n---\n\nOurs.", LAST);
    let theirs = layer(OWNED, "importance: 0.50\n---\n\nTheirs.", LAST);
    let repo = Repo::diverged(&ours, &theirs);
    let ran = repo.git(&["merge", "feature"]).ends(1);
    assert!(ran.out.contains("CONFLICT (content): Merge conflict in .harness/app.md"), "{ran:?}");
    assert!(ran.err.contains(".harness/app.md: conflict: both sides changed m"), "{ran:?}");
    let conflict = "importance: 0.50\n---\n\n<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> feature";
    repo.has(&layer(BOTH, conflict, LAST));
    // The two others are read, and nothing is written meanwhile.
    let list = repo.scene.run(&["list", "--model", "m/x"]).ok();
    assert!(list.contains("Alpha.") && list.contains("Omega."), "{list}");
    let block = repo.scene.run(&["render", "--model", "m/x"]).out;
    assert!(!block.contains("<<<<<<<") && !block.contains("Theirs."), "{block}");
    repo.commit(&layer(BOTH, "importance: 0.50\n---\n\nBoth.", LAST), "resolved");
    repo.scene.run(&["check", ".harness/app.md"]).ok();
}

#[test]
fn conflicts_show_the_base_where_git_is_told_to() {
    let of = |text: &str| layer(OLD, &format!("importance: 0.50\n---\n\n{text}"), LAST);
    for style in ["diff3", "zdiff3"] {
        let repo = Repo::diverged(&of("Ours."), &of("Theirs."));
        let style = format!("merge.conflictStyle={style}");
        repo.git(&["-c", &style, "merge", "-q", "feature"]).ends(1);
        let base = repo.git(&["rev-parse", "--short", "main~1"]).ok();
        let base = base.trim_end();
        repo.has(&of(&format!(
            "<<<<<<< HEAD\nOurs.\n||||||| {base}\nMiddle.\n=======\nTheirs.\n>>>>>>> feature"
        )));
    }
}

#[test]
fn markers_are_as_long_as_the_attribute_says() {
    let of = |text: &str| layer(OLD, &format!("importance: 0.50\n---\n\n{text}"), LAST);
    let repo = Repo::diverged(&of("Ours."), &of("Theirs."));
    repo.scene.write("app/.git/info/attributes", "*.md conflict-marker-size=12\n");
    repo.git(&["merge", "-q", "feature"]).ends(1);
    repo.has(&of("<<<<<<<<<<<< HEAD\nOurs.\n============\nTheirs.\n>>>>>>>>>>>> feature"));
    repo.scene.run(&["status"]).prints("in conflict");
}

#[test]
fn both_sides_make_the_layer() {
    let repo = Repo::new();
    let new = "app/.harness/new.md";
    for (branch, id) in [("feature", "f"), ("main", "o")] {
        if branch != "main" {
            repo.git(&["checkout", "-q", "-b", branch]).ok();
        }
        repo.scene.write(new, &format!("---\nid: {id}\nkind: memory\n---\n\n{id}\n"));
        repo.git(&["add", "-A"]).ok();
        repo.git(&["commit", "-qm", branch]).ok();
        repo.git(&["checkout", "-q", "main"]).ok();
    }
    repo.git(&["merge", "-q", "-m", "merged", "feature"]).ok();
    let text = repo.scene.read(new);
    assert!(text.contains("id: f\n") && text.contains("id: o\n"), "{text}");
    repo.scene.run(&["check", ".harness/new.md"]).ok();
}

#[test]
fn a_renamed_layer_is_merged_in_its_new_place() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "feature"]).ok();
    repo.git(&["mv", ".harness/app.md", ".harness/shop.md"]).ok();
    repo.scene.write("app/.harness/shop.md", &layer(OWNED, MIDDLE, LAST));
    repo.git(&["commit", "-qam", "renamed"]).ok();
    repo.git(&["checkout", "-q", "main"]).ok();
    repo.commit(&layer(RAISED, MIDDLE, LAST), "ours");
    repo.git(&["merge", "-q", "-m", "merged", "feature"]).ok();
    assert_eq!(repo.scene.read("app/.harness/shop.md"), layer(BOTH, MIDDLE, LAST));
}

#[test]
fn rebase_cherry_pick_revert_and_stash() {
    let (ours, theirs) = (layer(RAISED, MIDDLE, LAST), layer(OWNED, MIDDLE, LAST));
    let repo = Repo::diverged(&ours, &theirs);
    repo.git(&["checkout", "-q", "feature"]).ok();
    repo.git(&["rebase", "-q", "main"]).ok();
    repo.has(&layer(BOTH, MIDDLE, LAST));

    let repo = Repo::diverged(&ours, &theirs);
    repo.git(&["cherry-pick", "feature"]).ok();
    repo.has(&layer(BOTH, MIDDLE, LAST));
    repo.git(&["revert", "--no-edit", "HEAD~1"]).ok();
    repo.has(&theirs);

    let repo = Repo::new();
    repo.scene.write(LAYER, &theirs);
    repo.git(&["stash", "-q"]).ok();
    repo.commit(&ours, "ours");
    repo.git(&["stash", "pop", "-q"]).ok();
    repo.has(&layer(BOTH, MIDDLE, LAST));

    let repo =
        Repo::diverged(&layer(RAISED, MIDDLE, LAST), &layer("importance: 0.70\n---\n\nAlpha.", MIDDLE, LAST));
    repo.git(&["checkout", "-q", "feature"]).ok();
    assert_ne!(repo.git(&["rebase", "-q", "main"]).code, 0);
    let text = repo.scene.read(LAYER);
    assert!(text.contains("<<<<<<< HEAD\nimportance: 0.90\n=======\nimportance: 0.70\n>>>>>>> "), "{text}");
    assert!(text.contains("(feature)"), "the label is git's: {text}");
    repo.git(&["rebase", "--abort"]).ok();
}

#[test]
fn octopus() {
    let repo = Repo::new();
    repo.branch("one", &layer(OLD, "importance: 0.90\n---\n\nMiddle.", LAST));
    repo.branch("two", &layer(OLD, "importance: 0.50\nmodel: m/x\n---\n\nMiddle.", LAST));
    repo.branch("three", &layer(OLD, MIDDLE, "importance: 0.50\n---\n\nThe end."));
    let merged = repo.git(&["merge", "-q", "-m", "all", "one", "two", "three"]);
    // Git's octopus merges single files without drivers, and gives up on neighbouring lines:
    // then nothing may have changed.
    if merged.code == 0 {
        repo.has(&layer(
            OLD,
            "importance: 0.90\nmodel: m/x\n---\n\nMiddle.",
            "importance: 0.50\n---\n\nThe end.",
        ));
    } else {
        repo.git(&["merge", "--abort"]);
        repo.git(&["reset", "-q", "--hard"]).ok();
        repo.has(&layer(OLD, MIDDLE, LAST));
        for branch in ["one", "two", "three"] {
            repo.git(&["merge", "-q", "-m", branch, branch]).ok();
        }
        repo.has(&layer(
            OLD,
            "importance: 0.90\nmodel: m/x\n---\n\nMiddle.",
            "importance: 0.50\n---\n\nThe end.",
        ));
    }
}

#[test]
fn branches_that_crossed() {
    // Two common ancestors, whose merge has a conflict: git's virtual ancestor holds markers.
    let of = |text: &str, last: &str| layer(OLD, &format!("importance: 0.50\n---\n\n{text}"), last);
    let repo = Repo::diverged(&of("Ours.", LAST), &of("Theirs.", LAST));
    repo.git(&["branch", "old-main"]).ok();
    repo.git(&["merge", "-q", "feature"]).ends(1);
    repo.commit(&of("Both.", LAST), "main has both");
    repo.git(&["checkout", "-q", "feature"]).ok();
    repo.git(&["merge", "-q", "old-main"]).ends(1);
    repo.commit(&of("Both.", "importance: 0.50\n---\n\nThe end."), "feature has both");
    repo.git(&["checkout", "-q", "main"]).ok();
    repo.git(&["merge", "-q", "-m", "crossed", "feature"]).ok();
    repo.has(&of("Both.", "importance: 0.50\n---\n\nThe end."));
}

#[test]
fn subtree_and_subtree_shift() {
    let repo = Repo::diverged(&layer(RAISED, MIDDLE, LAST), &layer(OWNED, MIDDLE, LAST));
    repo.git(&["merge", "-q", "-s", "subtree", "-m", "merged", "feature"]).ok();
    repo.has(&layer(BOTH, MIDDLE, LAST));
    // A repository in a folder of another one.
    let scene = &repo.scene;
    scene.git(".", &["init", "-q", "-b", "main", "big"]);
    scene.write("big/readme", "big\n");
    scene.git("big", &["add", "."]);
    scene.git("big", &["commit", "-qm", "big"]);
    let app = scene.path("app");
    let app = app.to_str().unwrap();
    scene.git("app", &["checkout", "-q", "-b", "vendored", "main~1"]);
    scene.git("big", &["fetch", "-q", app, "vendored"]);
    scene.git(
        "big",
        &["merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "FETCH_HEAD"],
    );
    scene.git("big", &["read-tree", "--prefix=vendor/", "-u", "FETCH_HEAD"]);
    scene.git("big", &["commit", "-qm", "vendored"]);
    scene.write(
        "big/vendor/.harness/app.md",
        &layer("importance: 0.90\nmodel: m/q\n---\n\nAlpha.", MIDDLE, LAST),
    );
    scene.git("big", &["commit", "-qam", "changed in the big one"]);
    let program = env!("CARGO_BIN_EXE_layers");
    let done = std::process::Command::new(program)
        .args(["git", "install", "-q"])
        .current_dir(scene.path("big"))
        .env("HOME", scene.path("home"))
        .output()
        .unwrap();
    scene.ran(&done).ends(0);
    scene.git("app", &["checkout", "-q", "vendored"]);
    repo.commit(
        &layer("importance: 0.90\nmodel: m/q\n---\n\nAlpha!", MIDDLE, LAST).replace("model: m/q\n", ""),
        "more",
    );
    scene.git("big", &["fetch", "-q", app, "vendored"]);
    scene.git("big", &["merge", "-q", "-X", "subtree=vendor", "-m", "again", "FETCH_HEAD"]);
    let text = scene.read("big/vendor/.harness/app.md");
    assert!(text.contains("model: m/q") && text.contains("Alpha!"), "{text}");
}

#[test]
fn a_linked_work_tree_merges_with_the_same_driver() {
    let repo = Repo::diverged(&layer(RAISED, MIDDLE, LAST), &layer(OWNED, MIDDLE, LAST));
    repo.git(&["worktree", "add", "-q", "../tree", "-b", "third", "main"]).ok();
    repo.scene.try_git("tree", &["merge", "-q", "-m", "merged", "feature"]).ok();
    assert_eq!(repo.scene.read("tree/.harness/app.md"), layer(BOTH, MIDDLE, LAST));
    repo.has(&layer(RAISED, MIDDLE, LAST));
}

#[test]
fn line_ends_of_windows() {
    // Converted by git on the way in and out.
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let repo = Repo::configured(&[("core.autocrlf", "true")]);
    repo.branch("feature", &crlf(&layer(OWNED, MIDDLE, LAST)));
    repo.commit(&crlf(&layer(RAISED, MIDDLE, LAST)), "ours");
    repo.git(&["merge", "-q", "-m", "merged", "feature"]).ok();
    repo.has(&crlf(&layer(BOTH, MIDDLE, LAST)));
    assert_eq!(repo.git(&["status", "--porcelain"]).ok(), "");
    assert_eq!(repo.git(&["show", "HEAD:.harness/app.md"]).ok(), layer(BOTH, MIDDLE, LAST));
    // Committed as they are, by one side.
    let repo = Repo::configured(&[("core.autocrlf", "false")]);
    repo.branch("feature", &crlf(&layer(OWNED, MIDDLE, LAST)));
    repo.commit(&layer(RAISED, MIDDLE, LAST), "ours");
    repo.git(&["merge", "-q", "-m", "merged", "feature"]).ok();
    repo.has(&crlf(&layer(BOTH, MIDDLE, LAST)));
}

/// A driver that fails leaves the merge undone, not half done.
#[test]
fn a_side_that_git_cannot_merge_stops_the_merge() {
    let marked = "importance: 0.50\n---\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> c";
    let repo = Repo::diverged(&layer(RAISED, MIDDLE, LAST), &layer(OLD, marked, LAST));
    let ran = repo.git(&["merge", "-q", "feature"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("their side holds git's conflict markers"), "{ran:?}");
    repo.has(&layer(RAISED, MIDDLE, LAST));
}
