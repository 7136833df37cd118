//! `move`: a note keeps its bytes and its meaning in another layer.

use super::scene::{HOME, Scene};

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
    scene.run(&["move", "n1", "global"]).ends(3).says("has the id n1");
    assert_eq!(scene.read(HOME), NOTE);
    assert_eq!(scene.read(GLOBAL), "---\nid: n1\n---\n\nother\n");
}
