//! What it keeps up to date, what it runs, how it ends.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use super::scene::HOME;
use super::world::{Watch, Writes, eventually, is, layer, two_notes};

fn saying(text: &str) -> String {
    layer(&[("n1", text), ("n2", "Two.")])
}

#[test]
fn a_block_is_kept_up_to_date_and_written_only_if_it_changes() {
    let scene = two_notes();
    fs::create_dir(scene.path("out")).unwrap();
    let writes = Writes::of(&scene.path("out"));
    let args = ["--model", "anthropic/claude-opus-4-5", "--render", "@/out/block.json"];
    let watch = Watch::start(&scene, &args);
    eventually("the block", || scene.path("out/block.json").exists());
    let inode = || fs::metadata(scene.path("out/block.json")).unwrap().ino();
    let first = inode();
    // Text before the notes is no part of it.
    scene.write(HOME, &format!("A remark.\n\n{}", saying("Use 30 s.")));
    watch.until("the change", |event| is(event, "changed", "app.md"));
    assert_eq!(inode(), first);
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 31 s."));
    watch.until_after(mark, "the block again", |event| is(event, "rendered", "block.json"));
    assert!(scene.read("out/block.json").contains("Use 31 s."));
    assert_eq!(writes.count("block.json"), 2);
    let before = inode();
    scene.write(HOME, &format!("Another.\n\n{}", saying("Use 31 s.")));
    let mark = watch.mark();
    watch.until_after(mark, "the remark", |event| is(event, "changed", "app.md"));
    watch.end();
    assert_eq!(inode(), before);
    // The next watch begins with a look at it.
    let watch = Watch::start(&scene, &args);
    let events = watch.end();
    assert!(!events.iter().any(|event| event["event"] == "rendered"), "{events:#?}");
    assert_eq!(inode(), before);
}

#[test]
fn a_command_runs_after_a_change_with_ids_and_paths() {
    let scene = two_notes();
    let command = "echo words; echo \"$LAYERS_CHANGED|$LAYERS_PATHS\" >> @/ran";
    let watch = Watch::start(&scene, &["--exec", command]);
    let text = layer(&[("n1", "Use 31 s."), ("n2", "Two, too.")]);
    put(&scene, &text);
    eventually("the command", || scene.path("ran").exists() && scene.read("ran").ends_with('\n'));
    assert_eq!(scene.read("ran"), format!("n1 n2|{}\n", scene.path(HOME).display()));
    // The same again is no change.
    put(&scene, &text);
    watch.barrier(&scene);
    eventually("the barrier's", || scene.read("ran").lines().count() == 2);
    assert!(scene.read("ran").lines().nth(1).unwrap().starts_with("barrier"));
    let said = watch.stderr();
    let events = watch.end();
    assert!(events.iter().all(serde_json::Value::is_object), "an object a line: {events:#?}");
    assert!(said.contains("words"));
}

fn put(scene: &super::scene::Scene, text: &str) {
    super::world::put(&scene.path(HOME), text);
}

#[test]
fn a_command_that_fails_ends_nothing() {
    let scene = two_notes();
    let watch = Watch::start(&scene, &["--exec", "exit 3"]);
    scene.write(HOME, &saying("Use 31 s."));
    let told = watch.until("the error", |event| event["event"] == "error");
    assert!(told["message"].as_str().unwrap().contains('3'), "{told}");
    let mark = watch.mark();
    scene.write(HOME, &saying("Use 32 s."));
    watch.changed(mark, "n1");
    watch.end();
}

#[test]
fn once_waits_for_quiet_syncs_and_ends() {
    let scene = two_notes();
    scene.write(HOME, &saying("Use 31 s."));
    let watch = Watch::spawn(scene.command(&["watch", "--json", "--once"]));
    let events = watch.ended(0);
    assert!(events.iter().any(|event| super::world::is_change_of(event, "n1")), "{events:#?}");
    let watch = Watch::spawn(scene.command(&["watch", "--json", "--once"]));
    assert_eq!(watch.ended(0), Vec::<serde_json::Value>::new());
}

#[test]
fn signals_end_it_without_an_error() {
    let scene = two_notes();
    for signal in ["TERM", "INT"] {
        for is_at_once in [true, false] {
            let watch = Watch::start(&scene, &[]);
            if !is_at_once {
                watch.barrier(&scene);
            }
            watch.end_by(signal);
        }
    }
}

#[test]
fn for_people_a_line_a_change() {
    let scene = two_notes();
    let watch = Watch::spawn(scene.command(&["watch"]));
    eventually("what it watches", || watch.stderr().contains("watching 2 layers"));
    scene.write(HOME, &saying("Use 31 s."));
    watch.until("a line", |line| line.as_str().is_some_and(|line| line.ends_with("app.md: changed: n1")));
    watch.end();
}
