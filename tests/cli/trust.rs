//! What other people put into a repository counts only once the user has trusted it, and
//! only as far; until then nothing there is written either.

use std::fs;
use std::path::Path;

use super::scene::{HOME, Ran, Scene};
use super::stage::{REPO, json, text};

const STATE: &str = "home/.local/state/harness-layers";
const NOTE: &str = "---\nid: n1\nmodel: \"*\"\n---\n\ncanary-repo\n";
const NAMELESS: &str = "---\nkind: memory\nmodel: \"*\"\n---\n\ncanary-nameless\n";

/// A clone of somebody's repository, with a note of the user's own.
fn clone(layer: &str) -> Scene {
    let scene = Scene::new().global("---\nid: g1\nmodel: \"*\"\n---\n\ncanary-own\n");
    scene.git(".", &["init", "-q", "-b", "main", "origin"]);
    push(&scene, layer);
    fs::remove_dir(scene.path("app")).unwrap();
    scene.git(".", &["clone", "-q", "origin", "app"]);
    scene
}

/// The others commit their layer.
fn push(scene: &Scene, layer: &str) {
    scene.write("origin/.harness/app.md", layer);
    scene.git("origin", &["add", "-A"]);
    scene.git("origin", &["commit", "-qm", "notes"]);
}

fn pull(scene: &Scene, layer: &str) {
    push(scene, layer);
    scene.git("app", &["pull", "-q", "--ff-only"]);
}

fn render(scene: &Scene) -> Ran {
    scene.run(&["render", "--model", "a/m"]).ends(0)
}

#[track_caller]
fn shows(scene: &Scene, canaries: &[&str]) {
    let block = render(scene).out;
    let all = ["canary-own", "canary-repo", "canary-nameless", "canary-new"];
    let shown: Vec<&str> = all.into_iter().filter(|canary| block.contains(canary)).collect();
    assert_eq!(shown, canaries, "{block}");
}

fn is_clean(scene: &Scene, folder: &str) -> bool {
    scene.try_git(folder, &["status", "--porcelain", "--ignored"]).ok().is_empty()
}

#[test]
fn before_trust_nothing_counts_and_nothing_is_written() {
    let scene = clone(&format!("{NOTE}\n{NAMELESS}"));
    let before = fs::metadata(scene.path(REPO)).unwrap().modified().unwrap();
    render(&scene)
        .says("the layer of @/app is left out: you have not trusted this repository; `layers trust`");
    shows(&scene, &["canary-own"]);
    for args in [
        &["sync"][..],
        &["sync", "--accept"],
        &["watch", "--once"],
        &["fmt"],
        &["history"],
        &["list"],
        &["status"],
        &["check"],
        &["archive"],
    ] {
        scene.run(args).ends(0).says("`layers trust`");
    }
    for args in [
        &["add", "--layer", "repo", "x"][..],
        &["edit", "n1", "--content", "x"],
        &["keep", "n1"],
        &["move", "n1", "global"],
        &["move", "g1", "repo"],
        &["archive", "n1"],
        &["fmt", "@/app/.harness/app.md"],
    ] {
        scene.run(args).ends(3).says("is not written: you have not trusted this repository");
    }
    let outside = scene.path("home");
    let ran = scene.command(&["fmt", "@/app/.harness/app.md"]).current_dir(outside).output().unwrap();
    assert_eq!(ran.status.code(), Some(3), "also from elsewhere");
    scene.run(&["add", "--model", "a/m", "canary-new"]).ends(0).says("added to the home layer");
    shows(&scene, &["canary-own", "canary-new"]);
    assert!(is_clean(&scene, "app"));
    assert_eq!(fs::metadata(scene.path(REPO)).unwrap().modified().unwrap(), before);
    assert!(scene.read("home/.harness/harness-state.md").contains("g1"), "it did not move away");
    scene.run(&["history", "n1"]).ends(1);
}

#[test]
fn before_trust_it_can_be_looked_at() {
    let scene = clone(NOTE);
    scene.run(&["list"]).prints("untrusted");
    scene.run(&["show", "n1"]).prints("canary-repo");
    scene.run(&["status"]).prints("untrusted");
    let status = json(&scene, &["status"]);
    assert_eq!(status["layers"][1]["state"], "untrusted");
    assert_eq!(status["layers"][1]["problem"], "you have not trusted this repository");
    scene.run(&["render", "--model", "a/m", "--explain"]).prints("untrusted layer (`layers trust`)");
}

#[test]
fn trust_shows_what_it_allows() {
    let layer = format!(
        "{NOTE}\n---\nid: g1\nscope: global\nimportance: 1.0\n---\n\ntheft\n\n---\nid: n2\n---\n\nhid\u{200b}den\n"
    );
    let scene = clone(&layer);
    let shown = scene.run(&["trust", "--dry-run"]).says("nothing was allowed").ok();
    insta::assert_snapshot!(shown, @r"
    .harness/app.md: 3 notes
      id  kind    importance  model  tokens  text
      n1  memory  0.50        *      5       canary-repo
      g1  memory  1.00        -      3       theft
      n2  memory  0.50        -      4       hid�den
      clash: g1 is also the id of a note of your own in @/home/.harness/harness-state.md
      claims-global: line 10: a note of a repository cannot be global: it counts in this project only
      unwanted-character: line 20: an invisible character, U+200B
    12 tokens in all; a block gives them 750 at most while your own notes want the rest (layers.repoShare)
    ");
    shows(&scene, &["canary-own"]);
    let ran = scene.run(&["trust", "--json"]).ends(0);
    let shown: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&shown["trusted"], &shown["limit"]), (&true.into(), &750.0.into()));
    assert_eq!(shown["layers"][0]["notes"][1]["clashes"][0], "@/home/.harness/harness-state.md");
}

#[test]
fn after_trust_it_counts_and_is_written_and_untrust_takes_it_back() {
    let scene = clone(&(NOTE.to_owned() + "\n" + NAMELESS));
    scene.run(&["trust"]).ends(0).says("@/app is trusted");
    shows(&scene, &["canary-own", "canary-repo", "canary-nameless"]);
    assert!(is_clean(&scene, "app"), "trust itself writes nothing there");
    scene.run(&["add", "--layer", "repo", "--any-model", "canary-new"]).ok();
    scene.run(&["trust", "--list"]).prints("@/app");
    pull_anew(&scene);
    scene.run(&["untrust"]).ends(0).says("@/app is not trusted any more");
    shows(&scene, &["canary-own"]);
    scene.run(&["edit", "n1", "--content", "x"]).ends(3);
    scene.run(&["untrust"]).ends(0).says("it was not trusted");
    assert_eq!(scene.run(&["trust", "--list"]).ok(), "");
}

fn pull_anew(scene: &Scene) {
    scene.git("app", &["checkout", "-q", "--", "."]);
    shows(scene, &["canary-own", "canary-repo", "canary-nameless"]);
}

/// Trust is for the repository that was meant, not for whatever is at its path.
#[test]
fn another_repository_in_its_place_is_not_trusted() {
    let scene = clone(NOTE);
    scene.trust("app");
    fs::rename(scene.path("app"), scene.path("moved")).unwrap();
    let scene = scene.cwd("moved");
    shows(&scene, &["canary-own", "canary-repo"]);
    scene.git(".", &["clone", "-q", "origin", "app"]);
    let scene = scene.cwd("app");
    render(&scene).says("it was another repository that you trusted at this path");
    shows(&scene, &["canary-own"]);
    let copied =
        std::process::Command::new("cp").args(["-a", "moved", "copy"]).current_dir(scene.path("")).status();
    assert!(copied.unwrap().success());
    let scene = scene.cwd("copy");
    shows(&scene, &["canary-own"]);
}

#[test]
fn linked_work_trees_share_trust_and_whoever_only_claims_to_be_one_does_not() {
    let scene = clone(NOTE);
    scene.git("app", &["worktree", "add", "-q", "../feat"]);
    let scene = scene.cwd("feat");
    shows(&scene, &["canary-own"]);
    scene.trust("app");
    shows(&scene, &["canary-own", "canary-repo"]);
    for gitdir in ["../app/.git", "../app/.git/worktrees/feat"] {
        scene.write("evil/.harness/app.md", &NOTE.replace("repo", "new"));
        scene.write("evil/.git", &format!("gitdir: {gitdir}\n"));
        let evil =
            scene.command(&["render", "--model", "a/m"]).current_dir(scene.path("evil")).output().unwrap();
        let ran = scene.ran(&evil).ends(0).says("is left out");
        assert!(!ran.out.contains("canary-new"), "{gitdir}: {ran:?}");
    }
    fs::remove_file(scene.path("evil/.git")).unwrap();
    std::os::unix::fs::symlink("../app/.git", scene.path("evil/.git")).unwrap();
    let scene = scene.cwd("evil");
    assert!(!render(&scene).out.contains("canary-new"));
}

#[test]
fn a_submodule_is_not_trusted_with_the_repository_around_it() {
    let scene = clone(NOTE);
    scene.trust("app");
    scene.git(".", &["init", "-q", "-b", "main", "part"]);
    scene.write("part/.harness/part.md", &NOTE.replace("repo", "new"));
    scene.git("part", &["add", "-A"]);
    scene.git("part", &["commit", "-qm", "part"]);
    scene.git("app", &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../part", "part"]);
    let scene = scene.cwd("app/part");
    shows(&scene, &["canary-own"]);
    scene.trust("app/part");
    shows(&scene, &["canary-own", "canary-new"]);
    let scene = scene.cwd("app");
    shows(&scene, &["canary-own", "canary-repo"]);
}

#[test]
fn without_the_store_that_knew_it_nothing_is_trusted() {
    let scene = clone(NOTE);
    scene.trust("app");
    let db = scene.path(STATE).join("store.db");
    // Written over in place: it is the same file.
    fs::write(&db, "no database at all, and long enough to look like one to somebody").unwrap();
    let ran = scene.run(&["render", "--model", "a/m"]).ends(4);
    assert_eq!(ran.out, "");
    ran.says("it is not known whether you trusted this repository");
    scene.run(&["sync"]).ends(0).says("the store was damaged");
    shows(&scene, &["canary-own"]);
    scene.trust("app");
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        let _ = fs::remove_file(scene.path(STATE).join(file));
    }
    render(&scene).says("the store that knew that you trusted this repository is gone");
    shows(&scene, &["canary-own"]);
    assert!(is_clean(&scene, "app"));
}

/// What a repository could bring along to be trusted by itself.
#[test]
fn nothing_in_the_repository_makes_it_trusted() {
    let scene = clone(NOTE);
    scene.trust("app");
    let mirror = fs::read_to_string(scene.path(STATE).join("trust.json")).unwrap();
    scene.run(&["untrust"]).ok();
    for place in ["app/.harness/trust.json", "app/trust.json", "app/.git/trust.json"] {
        scene.write(place, &mirror);
    }
    shows(&scene, &["canary-own"]);
    assert!(!mirror.contains("canary"), "{mirror}");
}

/// The block is rendered before every turn: known trust opens no database.
#[test]
fn known_trust_is_told_without_the_store() {
    let scene = clone(NOTE).home("---\nid: h1\nmodel: \"*\"\n---\n\ncanary-new\n");
    scene.trust("app");
    scene.run(&["sync"]).ok();
    shows(&scene, &["canary-own", "canary-repo", "canary-new"]);
    let state = scene.path(STATE);
    // A header is left, and nothing that SQLite could read.
    let mut file = fs::OpenOptions::new().write(true).open(state.join("store.db")).unwrap();
    file.set_len(100).unwrap();
    std::io::Write::flush(&mut file).unwrap();
    for side in ["store.db-wal", "store.db-shm"] {
        let _ = fs::remove_file(state.join(side));
    }
    shows(&scene, &["canary-own", "canary-repo", "canary-new"]);
}

#[test]
fn a_layer_that_the_user_makes_is_trusted_and_one_that_is_there_is_not() {
    let scene = Scene::strangers();
    scene.run(&["init", "--repo"]).ends(0).says("it is trusted from now on");
    scene.run(&["add", "--layer", "repo", "--any-model", "canary-repo"]).ok();
    assert!(render(&scene).out.contains("canary-repo"));
    scene.end();
    let scene = Scene::strangers();
    scene.run(&["add", "--layer", "repo", "--any-model", "canary-repo"]).ends(0).says("trusted from now on");
    assert!(render(&scene).out.contains("canary-repo"));
    scene.end();
    let scene = clone(NOTE);
    scene.run(&["init", "--repo"]).ends(0).says("there already");
    shows(&scene, &["canary-own"]);
    // One somewhere else in the repository is somebody's too.
    scene.git("app", &["mv", ".harness", "deep"]);
    scene.write("app/deep/.harness/app.md", NOTE);
    fs::remove_file(scene.path("app/deep/app.md")).unwrap();
    scene.run(&["init", "--repo"]).ends(3);
    scene.run(&["add", "--layer", "repo", "x"]).ends(3);
    assert!(!scene.path(REPO).exists());
    let scene = scene.cwd("app/deep");
    shows(&scene, &["canary-own"]);
    scene.run(&["trust", "--dry-run"]).prints(".harness/app.md: 1 note");
}

/// S24: an id of the user's own notes.
#[test]
fn an_untrusted_note_takes_the_place_of_nobody_elses() {
    let theft = "---\nid: g1\nmodel: \"*\"\nimportance: 1.0\nscope: global\n---\n\ncanary-repo\n\n\
                 ---\nid: h1\nmodel: \"*\"\n---\n\ncanary-repo\n";
    let scene = clone(theft).home("---\nid: h1\nmodel: \"*\"\n---\n\ncanary-new\n");
    let global = scene.read("home/.harness/harness-state.md");
    for _ in 0..2 {
        scene.run(&["sync"]).ok();
        shows(&scene, &["canary-own", "canary-new"]);
    }
    scene.run(&["trust"]).prints("clash");
    scene.run(&["sync"]).ok();
    assert_eq!(scene.read("home/.harness/harness-state.md"), global, "nothing enters the global layer");
    assert!(scene.read(HOME).contains("canary-new"));
    let block = render(&scene).out;
    assert!(block.contains("[h1] canary-new") && block.contains("[g1] canary-repo"), "{block}");
    scene.run(&["check"]).prints("[shadowed]");
    // Elsewhere the user's own note is what it was.
    let other = scene.cwd("home");
    assert!(render(&other).out.contains("[g1] canary-own"));
}

/// A note that leaves the user's own layer has not moved into what others wrote.
#[test]
fn a_pulled_note_is_not_where_an_own_note_went() {
    let scene = clone(NOTE);
    scene.trust("app");
    scene.run(&["sync"]).ok();
    scene.write("home/.harness/harness-state.md", "");
    scene.write("home/.harness/harness-state.md", "---\nid: g2\n---\n\nanother\n");
    pull(&scene, &format!("{NOTE}\n---\nid: g1\n---\n\ncanary-new\n"));
    let said = scene.run(&["sync"]).ok();
    assert!(said.contains("gone: g1") && !said.contains("moved"), "{said}");
    scene.run(&["restore", "g1"]).ok();
    assert!(scene.read("home/.harness/harness-state.md").contains("canary-own"));
}

#[test]
fn repo_notes_take_half_of_a_block_that_the_users_own_notes_want() {
    let many = |prefix: &str, word: &str, importance: &str| -> String {
        (0..40)
            .map(|at| {
                format!(
                    "---\nid: {prefix}{at}\nmodel: \"*\"\nimportance: {importance}\n---\n\n{}\n\n",
                    format!("{word} ").repeat(40)
                )
            })
            .collect()
    };
    let scene = clone(&many("r", "loud", "1.0"));
    scene.write("home/.harness/harness-state.md", &many("g", "own", "0.1"));
    scene.trust("app");
    let block = render(&scene).out;
    let count = |prefix: &str| block.matches(&format!("- [{prefix}")).count();
    assert_eq!((count("r"), count("g")), (5, 5), "{block}");
    scene.run(&["render", "--model", "a/m", "--explain"]).prints("over the repo share (layers.repoShare)");
    scene.write("home/.harness/harness.json", r#"{"layers": {"repoShare": 1.0}}"#);
    assert_eq!(render(&scene).out.matches("- [r").count(), 10);
    scene.write("home/.harness/harness-state.md", "---\nid: g1\nmodel: \"*\"\n---\n\ncanary-own\n");
    scene.write("home/.harness/harness.json", r#"{"layers": {"repoShare": 0.0}}"#);
    let block = render(&scene).out;
    assert_eq!((block.matches("- [r").count(), block.matches("- [g").count()), (9, 1), "the rest is free");
}

#[test]
fn status_counts_what_a_pull_brought() {
    let scene = clone(NOTE);
    scene.trust("app");
    scene.run(&["sync"]).ok();
    assert_eq!(json(&scene, &["status"])["unseen"]["new"], 0);
    let changed = NOTE.replace("canary-repo", "canary-repo, changed");
    pull(&scene, &format!("{changed}\n---\nid: n2\nmodel: \"*\"\n---\n\ncanary-new\n"));
    shows(&scene, &["canary-own", "canary-repo", "canary-new"]);
    scene.run(&["status"]).prints("not seen yet: 1 new, 1 changed");
    scene.run(&["review"]).prints("n2").prints("+canary-new").prints("-canary-repo");
    scene.run(&["review", "--all"]).ok();
    assert_eq!(json(&scene, &["status"])["unseen"]["changed"], 0);
    // What the user does himself is seen.
    scene.run(&["edit", "n2", "--content", "mine"]).ok();
    scene.run(&["add", "--layer", "repo", "mine too"]).ok();
    assert_eq!(json(&scene, &["review"]).as_array().unwrap().len(), 0);
}

#[test]
fn a_pinned_repository_counts_as_it_was_until_changes_are_accepted() {
    let scene = clone(&(NOTE.to_owned() + "\n" + NAMELESS));
    scene.run(&["trust", "--pin"]).ends(0).says("as it is now");
    shows(&scene, &["canary-own", "canary-repo", "canary-nameless"]);
    // It gets its id, and is the same note.
    scene.run(&["sync"]).ok();
    shows(&scene, &["canary-own", "canary-repo", "canary-nameless"]);
    scene.git("app", &["checkout", "-q", "--", "."]);
    let changed = NOTE.replace("canary-repo", "canary-evil");
    pull(&scene, &format!("{changed}\n{NAMELESS}\n---\nid: n2\nmodel: \"*\"\n---\n\ncanary-new\n"));
    for _ in 0..2 {
        shows(&scene, &["canary-own", "canary-repo", "canary-nameless"]);
        assert!(!render(&scene).out.contains("canary-evil"));
        scene.run(&["sync"]).ok();
    }
    scene.run(&["status"]).prints("wait: 1 new, 1 changed");
    scene.run(&["render", "--model", "a/m", "--explain"]).prints("waits for you (`layers review`)");
    // It is not carried into the user's own layers unseen.
    for id in ["n1", "n2"] {
        scene.run(&["move", id, "global"]).ends(3).says("not what you have accepted");
    }
    // An agent that raises it does not accept it.
    scene.run(&["keep", "n2"]).ok();
    shows(&scene, &["canary-own", "canary-repo", "canary-nameless"]);
    let waiting = json(&scene, &["review"]);
    let ids: Vec<String> = waiting.as_array().unwrap().iter().map(|one| text(&one["id"])).collect();
    assert_eq!(ids, ["n1", "n2"]);
    scene
        .run(&["review", "--accept", "n2", "--reject", "n1"])
        .ends(0)
        .says("n2: accepted")
        .says("n1: kept out");
    shows(&scene, &["canary-own", "canary-repo", "canary-nameless", "canary-new"]);
    scene.run(&["review"]).ends(0).says("nothing waits");
    scene.run(&["review", "--accept", "n9"]).ends(1).says("no note `n9` waits");
    scene.run(&["review", "--accept", "n1"]).ok();
    assert!(render(&scene).out.contains("canary-evil"));
    // Trusted as a whole, nothing waits.
    scene.run(&["trust"]).ok();
    scene.git("app", &["checkout", "-q", "--", "."]);
    pull(&scene, &format!("{NOTE}\n---\nid: n3\nmodel: \"*\"\n---\n\nand n3\n"));
    assert!(render(&scene).out.contains("and n3"));
    scene.run(&["review", "--reject", "n3"]).ends(3).says("--pin");
}

/// The last good version of a file that breaks is no way around the pin.
#[test]
fn a_pinned_note_that_breaks_counts_as_it_was_accepted() {
    let scene = clone(NOTE);
    scene.run(&["trust", "--pin"]).ok();
    scene.run(&["sync"]).ok();
    pull(&scene, &NOTE.replace("canary-repo", "canary-evil"));
    scene.run(&["sync"]).ok();
    pull(&scene, "---\nid: n1\nmodel: \"*\"\nkind: [\n---\n\ncanary-evil\n");
    for _ in 0..2 {
        shows(&scene, &["canary-own", "canary-repo"]);
        assert!(!render(&scene).out.contains("canary-evil"));
        scene.run(&["sync"]);
    }
}

#[test]
fn review_needs_trust_and_a_repository() {
    let scene = clone(NOTE);
    scene.run(&["review"]).ends(3).says("@/app is not trusted");
    let scene = scene.cwd("home");
    scene.run(&["trust"]).ends(1).says("no git work tree");
    assert!(!Path::new(&scene.path("home/.git")).exists());
}

/// S11: a layer that leads out of its repository, in a clone and after a pull.
#[test]
fn a_link_out_of_the_work_tree_is_neither_read_nor_written_whatever_is_trusted() {
    let outside = "---\nkind: memory\nmodel: \"*\"\n---\n\ncanary-new\n";
    type Put = fn(&Scene);
    let file: Put = |scene| link(scene, "../../outside.md", "origin/.harness/app.md");
    let folder: Put = |scene| link(scene, "../outside", "origin/.harness");
    let between: Put = |scene| {
        link(scene, "../outside", "origin/inner");
        link(scene, "../inner/app.md", "origin/.harness/app.md");
    };
    let device: Put = |scene| link(scene, "/dev/zero", "origin/.harness/app.md");
    for (name, put) in [("file", file), ("folder", folder), ("between", between), ("device", device)] {
        for after_trust in [false, true] {
            println!("{name}, after trust: {after_trust}");
            let scene = clone(NOTE).file("outside.md", outside).file("outside/app.md", outside);
            scene.set_mode("outside.md", 0o640);
            if after_trust {
                scene.trust("app");
                scene.run(&["sync"]).ok();
            }
            fs::remove_dir_all(scene.path("origin/.harness")).unwrap();
            put(&scene);
            scene.git("origin", &["add", "-A"]);
            scene.git("origin", &["commit", "-qm", "a link"]);
            scene.git("app", &["pull", "-q", "--ff-only"]);
            for _ in 0..2 {
                for args in [&["render", "--model", "a/m"][..], &["sync"], &["watch", "--once"], &["list"]] {
                    let ran = scene.run(args);
                    assert!(!ran.out.contains("canary-new") && !ran.out.contains("canary-repo"), "{ran:?}");
                    let told =
                        ran.err.contains("outside its work tree") || ran.err.contains("`layers trust`");
                    assert!(told, "{args:?}: {ran:?}");
                }
                let ran = scene.run(&["add", "--layer", "repo", "x"]).ends(3);
                assert!(ran.err.contains("is refused") || ran.err.contains("is not written"), "{ran:?}");
                scene.run(&["trust", "--yes"]).ok();
            }
            assert_eq!(
                (scene.read("outside.md"), scene.read("outside/app.md")),
                (outside.into(), outside.into())
            );
            assert_eq!(scene.mode("outside.md"), 0o640);
            assert!(is_clean(&scene, "app"));
            scene.end();
        }
    }
}

fn link(scene: &Scene, target: &str, path: &str) {
    fs::create_dir_all(scene.path(path).parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, scene.path(path)).unwrap();
}

/// What no layer is costs neither memory nor patience.
#[test]
fn a_file_that_is_no_layer_is_told_of_and_not_read() {
    let scene = clone(NOTE);
    scene.trust("app");
    let huge = fs::File::create(scene.path(REPO)).unwrap();
    huge.set_len(200 << 20).unwrap();
    let ran = scene.run(&["render", "--model", "a/m"]).ends(4).says("larger than 16 MiB");
    assert!(ran.out.contains("canary-own"));
    scene.run(&["trust", "--dry-run"]).prints("larger than 16 MiB");
    fs::remove_file(scene.path(REPO)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(scene.path(REPO)).status().unwrap().success());
    scene.run(&["render", "--model", "a/m"]).ends(4).says("is a pipe");
    scene.run(&["add", "--layer", "repo", "x"]).ends(4).says("is a pipe");
    scene.run(&["untrust"]).ok();
    shows(&scene, &["canary-own"]);
}

/// The key that a stranger's layer has is a claim: it gets them no private notes.
#[test]
fn an_untrusted_layer_does_not_claim_private_notes_that_nobody_has() {
    let named = "---\nid: g2\nmodel: \"*\"\nscope: project\nproject: work\n---\n\ncanary-new\n";
    let scene = clone(NOTE)
        .file("home/.harness/harness-state/work.md", "---\nid: w1\nmodel: \"*\"\n---\n\ncanary-nameless\n");
    scene.write("home/.harness/harness-state.md", named);
    scene.git("app", &["mv", ".harness/app.md", ".harness/work.md"]);
    render(&scene).says("`layers claim work` says so");
    shows(&scene, &[]);
    scene.run(&["sync"]).ok();
    shows(&scene, &[]);
    scene.trust("app");
    shows(&scene, &["canary-repo", "canary-nameless", "canary-new"]);
}

/// A terminal in front of `layers` with these answers; what it showed.
fn at_a_terminal(scene: &Scene, args: &str, answers: &str) -> Option<String> {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let script = ["/usr/bin/script", "/bin/script"].into_iter().find(|path| Path::new(path).exists());
    let Some(script) = script else {
        println!("skipped: there is no script(1) here");
        return None;
    };
    let mut child = Command::new(script)
        .args(["-qec", &format!("{} --color never {args}", env!("CARGO_BIN_EXE_layers")), "/dev/null"])
        .current_dir(scene.path("app"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", scene.path("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    Some(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
}

#[test]
fn on_a_terminal_trust_asks_and_review_walks() {
    let scene = clone(NOTE);
    let Some(shown) = at_a_terminal(&scene, "trust --pin", "n\n") else { return };
    assert!(shown.contains("Allow these notes") && shown.contains("nothing was allowed"), "{shown}");
    shows(&scene, &["canary-own"]);
    at_a_terminal(&scene, "trust --pin", "y\n");
    shows(&scene, &["canary-own", "canary-repo"]);
    let note = |id: &str| format!("\n---\nid: {id}\nmodel: \"*\"\n---\n\ncanary-{id}\n");
    pull(&scene, &(NOTE.to_owned() + &note("new") + &note("n3") + &note("nameless")));
    let shown = at_a_terminal(&scene, "review", "y\nn\ns\n").unwrap();
    assert!(shown.contains("+canary-n3"), "{shown}");
    shows(&scene, &["canary-own", "canary-repo", "canary-new"]);
    let waiting = json(&scene, &["review"]);
    let open: Vec<_> =
        waiting.as_array().unwrap().iter().map(|one| (text(&one["id"]), one["rejected"] == true)).collect();
    assert_eq!(open, [("n3".to_owned(), true), ("nameless".to_owned(), false)]);
}
