//! Eight agents write one layer at once, one call a note, while others read and sync it: no
//! note is lost, and no reader ever sees a layer that is empty, short or unparsable.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use harness_layers::document::Document;
use serde_json::Value;

use super::scene::{HOME, Scene};
use super::stage::{REPO, json};

const WRITERS: usize = 8;
const NOTES: usize = 50;

/// A reader of the file itself and of what counts, until it is told to stop.
fn read_until(scene: &Scene, path: &str, is_over: &AtomicBool) {
    let mut last = (0, 0);
    while !is_over.load(Ordering::Relaxed) {
        // Whole at any moment: as many notes as were there, each with all of its text.
        for _ in 0..20 {
            let text = scene.read(path);
            let document = Document::parse(text.as_str());
            assert!(document.diagnostics().is_empty(), "{:?} in\n{text}", document.diagnostics());
            let count = document.notes().len();
            assert!(count >= last.0, "{count} notes after {} in\n{text}", last.0);
            for note in document.notes() {
                let id = note.id().unwrap();
                assert_eq!(note.content().trim_end(), content(id), "of {id}");
            }
            last.0 = count;
        }
        let listed: Value = serde_json::from_str(&scene.run(&["list", "--json"]).ok()).unwrap();
        let count = listed.as_array().unwrap().len();
        assert!(count >= last.1, "{count} notes listed after {}", last.1);
        last.1 = count;
    }
}

fn content(id: &str) -> String {
    format!("The note {id}, with a text of its own: été, naïve, 端口.")
}

/// What goes on beside the writers and the reader.
#[derive(Clone, Copy, Debug)]
enum Beside {
    Nothing,
    Sync,
    Watch,
}

fn watch(scene: &Scene) -> Child {
    let mut child = scene.command(&["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.find(|line| line.as_ref().unwrap().contains("watching")).unwrap().unwrap();
    // Read on, so that it never waits for this end.
    thread::spawn(move || lines.count());
    child
}

fn play(path: &str, form: &str, beside: Beside) {
    println!("{path} as {form}, beside {beside:?}");
    let scene = &Scene::repo();
    let layer = if path == REPO { "repo" } else { "home" };
    let add = |id: &str| {
        let args = ["add", "-q", "--layer", layer, "--form", form, "--id", id, &content(id)];
        // Eight at once on a slow machine wait for more than the five seconds of the default.
        let ran = scene.run(&args);
        assert!(ran.code == 0 || ran.err.contains("lock"), "{ran:?}");
        ran.code == 0
    };
    scene.write("home/.harness/harness.json", "{\"layers\": {\"lockTimeoutMs\": 60000}}");
    assert!(add("first"));
    let is_over = &AtomicBool::new(false);
    let mut watching = matches!(beside, Beside::Watch).then(|| watch(scene));
    thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(scene, path, is_over));
        let syncer = scope.spawn(|| {
            while matches!(beside, Beside::Sync) && !is_over.load(Ordering::Relaxed) {
                scene.run(&["sync"]).ok();
            }
        });
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || (0..NOTES).all(|at| add(&format!("w{writer}-{at}")))))
            .collect();
        let are_done: Vec<bool> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(are_done.iter().all(|is_done| *is_done));
        reader.join().unwrap();
        syncer.join().unwrap();
    });
    if let Some(watching) = &mut watching {
        watching.kill().unwrap();
        watching.wait().unwrap();
    }
    let mut ids: Vec<String> = (0..WRITERS)
        .flat_map(|writer| (0..NOTES).map(move |at| format!("w{writer}-{at}")))
        .chain(["first".to_owned()])
        .collect();
    ids.sort();
    let listed = json(scene, &["list", "--all"]);
    let mut found: Vec<String> =
        listed.as_array().unwrap().iter().map(|note| note["id"].as_str().unwrap().to_owned()).collect();
    found.sort();
    assert_eq!(found, ids);
    scene.run(&["sync", "--check"]).ok();
    scene.run(&["check"]).ok();
    // Each is known once, as what it is.
    let events = json(scene, &["history", "--limit", "1000"]);
    let mut created: Vec<String> =
        events.as_array().unwrap().iter().map(|it| format!("{} {}", it["op"], it["id"])).collect();
    created.sort();
    let mut expected: Vec<String> = ids.iter().map(|id| format!("\"create\" \"{id}\"")).collect();
    expected.sort();
    assert_eq!(created, expected);
}

#[test]
fn eight_writers_and_a_reader() {
    play(HOME, "bullets", Beside::Nothing);
}

#[test]
fn eight_writers_and_syncs() {
    play(REPO, "front-matter", Beside::Sync);
}

#[test]
fn eight_writers_and_a_watch() {
    play(HOME, "front-matter", Beside::Watch);
}
