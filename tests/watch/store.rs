//! The store is open as long as the watch runs, and may be handled all the same.

use std::fs;
use std::thread;
use std::time::Duration;

use super::scene::HOME;
use super::world::{Watch, eventually, history, is, layer, two_notes};

fn saying(text: &str) -> String {
    layer(&[("n1", text), ("n2", "Two.")])
}

/// All that is known is in the store's file, as soon as the watch rests.
fn resting(log: &std::path::Path) {
    eventually("an empty log", || fs::metadata(log).is_ok_and(|it| it.len() == 0));
}

#[test]
fn it_may_be_copied_and_put_back_and_taken_away() {
    let scene = two_notes();
    let (file, log) = (
        scene.path("home/.local/state/harness-layers/store.db"),
        scene.path("home/.local/state/harness-layers/store.db-wal"),
    );
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    scene.write(HOME, &saying("Use 31 s."));
    watch.changed(0, "n1");
    resting(&log);
    fs::copy(&file, scene.path("backup")).unwrap();
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 32 s."));
    watch.changed(mark, "n1");
    resting(&log);
    // Put back over the file, by its bytes.
    fs::copy(scene.path("backup"), &file).unwrap();
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 33 s."));
    watch.changed(mark, "n1");
    assert_eq!(history(&scene, "n1").len(), 2, "32 was in the other store");
    // Taken away: begun anew from the layers.
    resting(&log);
    fs::remove_file(&file).unwrap();
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 34 s."));
    watch.until_after(mark, "the layer anew", |event| is(event, "changed", "app.md"));
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 35 s."));
    watch.changed(mark, "n1");
    assert_eq!(history(&scene, "n1").len(), 1);
    // Damaged: set aside, and said.
    resting(&log);
    fs::write(&file, "This is no database.".repeat(1000)).unwrap();
    scene.write(HOME, &saying("Use 36 s."));
    eventually("a word of it", || watch.stderr().contains("the store was damaged"));
    let mark = watch.mark();
    thread::sleep(Duration::from_millis(300));
    scene.write(HOME, &saying("Use 37 s."));
    watch.until_after(mark, "the layer", |event| is(event, "changed", "app.md"));
    watch.end();
}

#[test]
fn other_processes_write_it_meanwhile() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &[]);
    for at in 0..5 {
        let mark = watch.mark();
        scene.run(&["edit", "n2", "--content", &format!("Agent's {at}.")]).ok();
        let text = scene.read(HOME);
        scene.write(HOME, &text.replace(&format!("Use 3{at} s."), &format!("Use 3{} s.", at + 1)));
        watch.changed(mark, "n1");
    }
    assert_eq!((history(&scene, "n1").len(), history(&scene, "n2").len()), (5, 5));
    watch.end();
}
