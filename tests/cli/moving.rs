//! `move`: a note keeps its bytes and its meaning in another layer.

use super::scene::{HOME, Scene};
use super::stage::{REPO, json};

const NOTE: &str = "---\nid: n1   # mine\nx-odd: 'a'\n---\n\nA fact.\n";
const GLOBAL: &str = "home/.harness/harness-state.md";

#[test]
fn bytes_are_kept_where_the_form_is_the_same() {
    let scene = Scene::new().home(NOTE);
    scene.run(&["move", "n1", "global"]).ends(0).says("moved n1 from");
    assert_eq!((scene.read(GLOBAL), scene.read(HOME)), (NOTE.to_owned(), String::new()));
    scene.run(&["move", "n1", "project"]).ok();
    assert_eq!((scene.read(GLOBAL), scene.read(HOME)), (String::new(), NOTE.to_owned()));
    scene.run(&["move", "n1", "home"]).ends(0).says("is there already");
}

#[test]
fn the_place_decides_the_scope() {
    let scene = Scene::new().global("---\nid: n1\nscope: project\nproject: app\n---\n\nA fact.\n");
    scene.run(&["move", "n1", "home"]).ok();
    assert_eq!(scene.read(HOME), "---\nid: n1\n---\n\nA fact.\n");
}

#[test]
fn the_owner_stays_though_a_header_gave_it() {
    let scene = Scene::new().home("---\nlayer: project\nmodel: a/m\n---\n\n---\nid: n1\n---\n\nA fact.\n");
    scene.run(&["move", "n1", "global"]).ok();
    assert_eq!(scene.read(GLOBAL), "---\nid: n1\nmodel: a/m\n---\n\nA fact.\n");
    scene.run(&["render", "--model", "b/m"]).ends(0);
    assert_eq!(scene.run(&["render", "--model", "b/m"]).ok(), "");
}

#[test]
fn an_orphan_does_not_fall_to_the_header_of_its_new_layer() {
    let scene = Scene::new().home(NOTE).global("---\nlayer: global\nmodel: a/m\n---\n");
    scene.run(&["move", "n1", "global"]).ok();
    scene.run(&["render", "--model", "b/m"]).ends(0).prints("[n1]");
}

#[test]
fn other_projects_and_repositories_can_be_given_a_note() {
    let scene = Scene::repo().home(NOTE);
    scene.run(&["move", "n1", "repo"]).ok();
    assert_eq!(scene.read("app/.harness/app.md"), NOTE);
    scene.run(&["move", "n1", "--to-project", "shop"]).ok();
    assert_eq!(scene.read("home/.harness/harness-state/shop.md"), NOTE);
    scene.run(&["move", "n1", "global"]).ends(1).says("no note in reach");
    Scene::new().home(NOTE).run(&["move", "n1", "repo"]).ends(3).says("no git work tree");
    Scene::new().home(NOTE).run(&["move", "n1", "--to-project", "../x"]).ends(2);
    Scene::new().home(NOTE).run(&["move", "n1"]).ends(2);
}

#[test]
fn a_taken_id_stops_the_move() {
    let scene = Scene::new().home(NOTE).global("---\nid: n1\n---\n\nother\n");
    scene.run(&["move", "n1", "global"]).ends(3).says("the id n1 stands in this layer already");
    assert_eq!(scene.read(HOME), NOTE);
    assert_eq!(scene.read(GLOBAL), "---\nid: n1\n---\n\nother\n");
}

/// A person who had an old version of the note before his eyes moves it, while git is in the
/// middle of a merge: what came online goes along and waits, and the file is not written.
#[test]
fn what_came_online_goes_along_by_hand_and_waits_where_the_target_does() {
    let theirs = "---\nid: r1\n---\n\nours\n";
    for owner in ["", "model: local/llama\n"] {
        let old = format!("---\nid: n1\n{owner}---\n\nalpha\n");
        let scene = Scene::repo().file(REPO, theirs).home(&format!("{old}\n---\nid: n2\n---\n\nbeta\n"));
        scene.git("app", &["add", "-A"]);
        scene.git("app", &["commit", "-qm", "a"]);
        scene.run(&["sync"]).ok();
        scene.run(&["edit", "n1", "--importance", "0.90"]).ok();
        scene.write("app/.git/MERGE_HEAD", &scene.try_git("app", &["rev-parse", "HEAD"]).ok());
        let moved = format!("{theirs}\n---\nid: n1\n---\n\nalpha\n");
        scene.write(REPO, &moved);
        scene.write(HOME, "---\nid: n2\n---\n\nbeta, edited\n");
        let said = scene.run(&["sync"]).ok();
        assert!(said.contains("moved here: n1") && said.contains("waits"), "{said}");
        for is_over in [false, true] {
            if is_over {
                std::fs::remove_file(scene.path("app/.git/MERGE_HEAD")).unwrap();
                scene.run(&["sync"]).ok();
                assert!(scene.read(REPO).contains("id: n1\nimportance: 0.90\n"), "{}", scene.read(REPO));
            } else {
                assert_eq!(scene.read(REPO), moved);
            }
            let shown = json(&scene, &["show", "n1"]);
            assert_eq!((&shown["importance"], &shown["layer"]), (&0.9.into(), &"repo".into()));
            let is_seen = scene.run(&["render", "--model", "cloud/x"]).ok().contains("[n1]");
            assert_eq!(is_seen, owner.is_empty(), "over {is_over}: {}", scene.read(REPO));
        }
        let ops: Vec<_> = super::stage::history(&scene, "n1").into_iter().map(|(op, _)| op).collect();
        assert_eq!(ops, ["update", "move"]);
        scene.run(&["sync", "--check"]).ok();
    }
}
