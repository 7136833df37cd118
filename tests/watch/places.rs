//! Links, folders and layers that come, go and come back.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::scene::{HOME, Scene};
use super::world::{Watch, eventually, folder, history, is, known, layer, notes, put, two_notes};

const DOTS: &str = "dots/app.md";

fn saying(text: &str) -> String {
    layer(&[("n1", text), ("n2", "Two.")])
}

#[test]
fn a_layer_that_is_a_link_is_watched_at_its_target() {
    let scene = Scene::new().file(DOTS, &saying("Use 30 s."));
    fs::create_dir_all(folder(&scene)).unwrap();
    symlink(scene.path(DOTS), scene.path(HOME)).unwrap();
    let scene = known(scene);
    let watch = Watch::start(&scene, &[]);
    put(&scene.path(DOTS), &saying("Use 31 s."));
    watch.changed(0, "n1");
    let mark = watch.mark();
    scene.write(DOTS, &saying("Use 32 s."));
    watch.changed(mark, "n1");
    assert!(scene.path(HOME).is_symlink());
    watch.end();
}

#[test]
fn a_link_may_lead_elsewhere_from_one_moment_to_the_next() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    for (target, first, second) in
        [("one/app.md", "Use 31 s.", "Use 32 s."), ("two/x.md", "Use 33 s.", "Use 34 s.")]
    {
        // First the file becomes a link, then the link another.
        scene.write(target, &saying(first));
        let mark = watch.mark();
        symlink(scene.path(target), scene.path("link")).unwrap();
        fs::rename(scene.path("link"), scene.path(HOME)).unwrap();
        watch.changed(mark, "n1");
        watch.barrier(&scene);
        let mark = watch.mark();
        scene.write(target, &saying(second));
        watch.changed(mark, "n1");
    }
    assert!(scene.path(HOME).is_symlink());
    assert_eq!(history(&scene, "n1").len(), 4);
    watch.end();
}

#[test]
fn a_root_that_is_a_link_may_lead_elsewhere() {
    let scene = Scene::new().file("one/harness-state/app.md", &saying("Use 30 s."));
    symlink(scene.path("one"), scene.path("home/.harness")).unwrap();
    let scene = known(scene);
    let watch = Watch::start(&scene, &[]);
    scene.write("one/harness-state/app.md", &saying("Use 31 s."));
    watch.changed(0, "n1");
    scene.write("two/harness-state/app.md", &saying("Use 32 s."));
    symlink(scene.path("two"), scene.path("link")).unwrap();
    let mark = watch.mark();
    fs::rename(scene.path("link"), scene.path("home/.harness")).unwrap();
    watch.until_after(mark, "the layer of the other root", |event| is(event, "changed", "app.md"));
    let mark = watch.mark();
    scene.write("two/harness-state/app.md", &saying("Use 33 s."));
    watch.changed(mark, "n1");
    watch.end();
}

#[test]
fn a_link_in_the_middle_of_the_way_may_lead_elsewhere() {
    let scene = two_notes().file("one/app.md", &saying("Use 31 s.")).file("two/app.md", &saying("Use 33 s."));
    fs::create_dir_all(scene.path("links")).unwrap();
    symlink("../one", scene.path("links/now")).unwrap();
    fs::remove_file(scene.path(HOME)).unwrap();
    symlink(scene.path("links/now/app.md"), scene.path(HOME)).unwrap();
    let watch = Watch::start(&scene, &[]);
    watch.changed(0, "n1");
    let mark = watch.mark();
    scene.write("one/app.md", &saying("Use 32 s."));
    watch.changed(mark, "n1");
    let mark = watch.mark();
    symlink("../two", scene.path("links/new")).unwrap();
    fs::rename(scene.path("links/new"), scene.path("links/now")).unwrap();
    watch.changed(mark, "n1");
    let mark = watch.mark();
    put(&scene.path("two/app.md"), &saying("Use 34 s."));
    watch.changed(mark, "n1");
    assert_eq!(history(&scene, "n1").len(), 4);
    watch.end();
}

#[test]
fn a_note_that_moves_between_two_saves_is_one_that_moves() {
    let global = "home/.harness/harness-state.md";
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    // In either order, the second one before the first has been quiet for long enough.
    scene.write(global, &format!("{}\n{}", scene.read(global), layer(&[("n1", "Use 30 s.")])));
    thread::sleep(Duration::from_millis(60));
    scene.write(HOME, &layer(&[("n2", "Two.")]));
    watch.changed(0, "n1");
    let mark = watch.mark();
    scene.write(HOME, &layer(&[("n2", "Two."), ("g1", "Everywhere.")]));
    thread::sleep(Duration::from_millis(60));
    scene.write(global, &scene.read(global).replace(&layer(&[("g1", "Everywhere.")]), ""));
    watch.changed(mark, "g1");
    watch.barrier(&scene);
    for id in ["n1", "g1"] {
        let ops: Vec<String> = history(&scene, id).into_iter().map(|(op, _)| op).collect();
        assert_eq!(ops, ["move"], "{id}");
    }
    watch.end();
}

/// As somebody whom modes bind: root without its capabilities.
#[test]
fn a_layer_that_may_not_be_read_is_told_once_and_deletes_nothing() {
    let mut probe = Command::new("unshare");
    let bound = ["-Ur", "setpriv", "--bounding-set=-all"];
    let scene = two_notes();
    fs::set_permissions(scene.path(HOME), fs::Permissions::from_mode(0o000)).unwrap();
    let is_bound = probe.args(bound).arg("cat").arg(scene.path(HOME)).output();
    if !is_bound.is_ok_and(|done| String::from_utf8_lossy(&done.stderr).contains("Permission denied")) {
        println!("skipped: modes do not bind anybody here");
        return;
    }
    fs::set_permissions(scene.path(HOME), fs::Permissions::from_mode(0o600)).unwrap();
    let layers = scene.command(&["watch", "--json"]);
    let mut command = Command::new("unshare");
    command.args(bound).arg(layers.get_program()).args(layers.get_args());
    command.current_dir(layers.get_current_dir().unwrap()).env_clear();
    command.envs(layers.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let watch = Watch::spawn(command);
    watch.until("watching", |event| event["event"] == "watching");
    watch.barrier(&scene);
    fs::set_permissions(scene.path(HOME), fs::Permissions::from_mode(0o000)).unwrap();
    let told = watch.until("the error", |event| is(event, "error", "app.md"));
    assert!(told["message"].as_str().unwrap().contains("ermission denied"), "{told}");
    watch.barrier(&scene);
    fs::set_permissions(scene.path(HOME), fs::Permissions::from_mode(0o600)).unwrap();
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 31 s."));
    watch.changed(mark, "n1");
    let events = watch.end();
    assert_eq!(events.iter().filter(|event| is(event, "error", "app.md")).count(), 1, "{events:#?}");
    assert!(!events.iter().any(|event| event["event"] == "held"), "{events:#?}");
    assert!(history(&scene, "n2").is_empty());
}

#[test]
fn folders_that_do_not_exist_yet() {
    let scene = Scene::new();
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    scene.write(HOME, &saying("Use 30 s."));
    watch.until("the new layer", |event| is(event, "changed", "app.md"));
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 31 s."));
    watch.changed(mark, "n1");
    watch.end();
}

#[test]
fn a_folder_that_is_taken_away_and_made_again() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    for round in 1..=3 {
        watch.barrier(&scene);
        fs::remove_dir_all(folder(&scene)).unwrap();
        if round == 2 {
            let mark = watch.mark();
            watch.until_after(mark, "held", |event| is(event, "held", "app.md"));
        }
        let mark = watch.mark();
        scene.write(HOME, &saying(&format!("Use {round}1 s.")));
        watch.changed(mark, "n1");
        let mark = watch.mark();
        scene.write(HOME, &saying(&format!("Use {round}2 s.")));
        watch.changed(mark, "n1");
    }
    assert!(history(&scene, "n1").iter().all(|(op, _)| op == "update"));
    watch.end();
}

#[test]
fn a_folder_that_another_one_takes_the_place_of() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    scene.write("home/.harness/new/app.md", &saying("Use 31 s."));
    fs::rename(folder(&scene), scene.path("home/.harness/old")).unwrap();
    fs::rename(scene.path("home/.harness/new"), folder(&scene)).unwrap();
    watch.changed(0, "n1");
    watch.barrier(&scene);
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 32 s."));
    watch.changed(mark, "n1");
    watch.end();
}

#[test]
fn a_layer_that_is_renamed_away_is_held_and_fine_once_it_is_back() {
    let other = "home/.harness/harness-state/other.md";
    let scene = known(two_notes().file(other, &layer(&[("o1", "Other.")])));
    // That of the current project, and that of another.
    for (path, id) in [(HOME, "n1"), (other, "o1")] {
        let watch = Watch::start(&scene, &[]);
        watch.barrier(&scene);
        let away = scene.path(path).with_extension("away");
        fs::rename(scene.path(path), &away).unwrap();
        let name = path.rsplit('/').next().unwrap();
        watch.until("held", |event| is(event, "held", name));
        let mark = watch.mark();
        fs::rename(&away, scene.path(path)).unwrap();
        let back = watch.until_after(mark, "back", |event| is(event, "changed", name));
        assert_eq!(back["held"], serde_json::Value::Null);
        let mark = watch.mark();
        scene.write(path, &scene.read(path).replacen("\n---\n\n", "\n---\n\nAgain: ", 1));
        watch.changed(mark, id);
        assert!(history(&scene, id).iter().all(|(op, _)| op == "update"), "{:?}", history(&scene, id));
        watch.end();
    }
}

#[test]
fn new_layers_of_other_projects() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    for name in ["shop.md", ".dotfiles.md"] {
        let mark = watch.mark();
        fs::write(folder(&scene).join(name), "---\nkind: memory\n---\n\nWithout an id.\n").unwrap();
        watch.until_after(mark, "the layer", |event| is(event, "changed", name));
        eventually("an id", || fs::read_to_string(folder(&scene).join(name)).unwrap().contains("id: "));
    }
    watch.end();
}

#[test]
fn a_new_layer_in_a_repository() {
    let scene = Scene::repo();
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    scene.write("app/.harness/app.md", &saying("Use 30 s."));
    watch.until("the layer", |event| is(event, "changed", ".harness/app.md"));
    let mark = watch.mark();
    put(&scene.path("app/.harness/app.md"), &saying("Use 31 s."));
    watch.changed(mark, "n1");
    watch.end();
}

#[test]
fn trouble_with_one_layer_is_told_once_and_stops_no_other() {
    let scene = known(two_notes().file("home/.harness/harness-state/bad.md", &layer(&[("b1", "Bad.")])));
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    let bad = folder(&scene).join("bad.md");
    fs::rename(&bad, scene.path("kept")).unwrap();
    fs::create_dir(&bad).unwrap();
    watch.until("the error", |event| is(event, "error", "bad.md"));
    for at in 0..3 {
        let mark = watch.mark();
        scene.write(HOME, &saying(&format!("Use 3{at}1 s.")));
        watch.changed(mark, "n1");
        // A new layer leads to a look at all of them.
        fs::write(folder(&scene).join(format!("new{at}.md")), layer(&[("x", "X.")])).unwrap();
        watch.until("the new one", |event| is(event, "changed", &format!("new{at}.md")));
    }
    let is_error = |event: &serde_json::Value| is(event, "error", "bad.md");
    assert_eq!(watch.events().iter().filter(|event| is_error(event)).count(), 1, "{:#?}", watch.events());
    assert!(history(&scene, "b1").is_empty());
    // Once it is right again, and wrong again, that is news.
    fs::remove_dir(&bad).unwrap();
    fs::rename(scene.path("kept"), &bad).unwrap();
    watch.barrier(&scene);
    fs::rename(&bad, scene.path("kept")).unwrap();
    fs::create_dir(&bad).unwrap();
    eventually("the error again", || watch.events().iter().filter(|event| is_error(event)).count() == 2);
    assert_eq!(notes(&scene).iter().filter(|(id, _)| id == "n1").count(), 1);
    watch.end();
}
