//! It does not hear itself, and it does not miss others for it.

use std::fs;

use super::scene::{HOME, Scene};
use super::world::{Watch, Writes, eventually, folder, history, is, layer, two_notes};

#[test]
fn an_outside_save_is_taken_in_and_the_file_is_left_alone() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    let writes = Writes::of(&folder(&scene));
    let text = layer(&[("n1", "Use 31 s."), ("n2", "Two.")]);
    scene.write(HOME, &text);
    watch.changed(0, "n1");
    watch.barrier(&scene);
    assert_eq!(writes.count("app.md"), 1, "the save itself");
    // The same bytes once more are no news.
    let mark = watch.mark();
    scene.write(HOME, &text);
    watch.barrier(&scene);
    assert_eq!(writes.count("app.md"), 2, "the two saves");
    assert!(!watch.events().iter().skip(mark).any(|event| is(event, "changed", "app.md")));
    assert_eq!(history(&scene, "n1").len(), 1);
    assert_eq!(scene.read(HOME), text);
    watch.end();
    scene.end();
}

#[test]
fn an_edit_of_an_agent_is_one_write_and_a_save_right_after_it_is_seen() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    let writes = Writes::of(&folder(&scene));
    scene.run(&["edit", "n2", "--content", "Agent's."]).ok();
    watch.barrier(&scene);
    assert_eq!(writes.count("app.md"), 1);
    let mark = watch.mark();
    scene.run(&["edit", "n2", "--content", "Agent's second."]).ok();
    let human = scene.read(HOME).replace("Use 30 s.", "Use 31 s.");
    scene.write(HOME, &human);
    watch.changed(mark, "n1");
    watch.barrier(&scene);
    assert_eq!(writes.count("app.md"), 3, "the agent's two and the human's");
    assert_eq!(scene.read(HOME), human);
    assert_eq!(history(&scene, "n1").len(), 1);
    watch.end();
    scene.end();
}

#[test]
fn an_id_is_one_write() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    let writes = Writes::of(&folder(&scene));
    let text = format!("{}\n---\nkind: memory\n---\n\nWithout an id.\n", scene.read(HOME));
    scene.write(HOME, &text);
    eventually("an id", || scene.read(HOME).matches("id: ").count() == 3);
    watch.barrier(&scene);
    assert_eq!(writes.count("app.md"), 2, "the save and the id");
    let named: Vec<_> = watch.events().into_iter().filter(|event| is(event, "changed", "app.md")).collect();
    assert_eq!(named.len(), 1, "{named:#?}");
    watch.end();
    scene.end();
}

#[test]
fn the_first_look_writes_nothing_that_is_in_step() {
    let scene = two_notes();
    let before = fs::metadata(scene.path(HOME)).unwrap().modified().unwrap();
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    let events = watch.end();
    assert!(!events.iter().any(|event| is(event, "changed", "app.md")), "{events:#?}");
    assert_eq!(fs::metadata(scene.path(HOME)).unwrap().modified().unwrap(), before);
    let _: Scene = scene;
}
