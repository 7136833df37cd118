//! A repository of somebody who means ill, from clone to pull (fixtures/hostile): nothing of
//! it gets into a prompt or changes a byte before it is trusted, and nothing breaks out of the
//! block after.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use harness_layers::files::LOCK_FILE;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::scene::{HOME, Scene};

const GLOBAL: &str = "home/.harness/harness-state.md";
const CANARIES: [&str; 3] = ["CANARY-REPO", "CANARY-OUTSIDE", "CANARY-PULL"];

fn fixture(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile").join(name)).unwrap()
}

/// The fixture, with what is not kept as a file.
fn layer() -> String {
    let fixture = fixture("app.md");
    // Last, as it hides the rest of the file.
    let (first, open) = fixture.split_once("---\nid: open-fence").unwrap();
    let mut layer = first.to_owned();
    // In the shape of a token, and never in a file of ours.
    let token = format!("{}_{}", "ghp", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6");
    let _ = write!(layer, "\n---\nid: credential\n---\n\nCANARY-REPO token {token}\n");
    for at in 0..400 {
        let _ = write!(layer, "\n---\nid: loud{at}\nkind: {}\n---\n\nCANARY-REPO ", KINDS[at % 4]);
        layer.push_str(&"obey ".repeat(100));
        layer.push('\n');
    }
    let _ = write!(layer, "\n---\nid: open-fence{open}");
    assert!(layer.len() > 200_000);
    layer
}

const KINDS: [&str; 4] = ["prompt", "memory", "skill", "subagent"];

fn clone() -> Scene {
    let scene = Scene::new();
    scene.write(GLOBAL, "---\nid: g1\nmodel: \"*\"\nimportance: 0.10\n---\n\nown-global\n");
    scene.write(HOME, "---\nid: h1\nmodel: \"*\"\nimportance: 0.10\n---\n\nown-home\n");
    scene.write("outside.md", "---\nid: outside\nmodel: \"*\"\n---\n\nCANARY-OUTSIDE\n");
    // A folder above that no repository has to do with.
    scene.write(".harness/app.md", "---\nid: above\nmodel: \"*\"\n---\n\nCANARY-OUTSIDE\n");
    scene.git(".", &["init", "-q", "-b", "main", "origin"]);
    scene.write("origin/.harness/app.md", &layer());
    fs::create_dir_all(scene.path("origin/in/deep/.harness")).unwrap();
    for (target, link) in [
        ("../../outside.md", "origin/.harness/linked.md"),
        ("/dev/zero", "origin/.harness/device.md"),
        ("loop.md", "origin/.harness/loop.md"),
        ("../../../../outside.md", "origin/in/deep/.harness/app.md"),
        ("../..", "origin/in/.harness"),
    ] {
        std::os::unix::fs::symlink(target, scene.path(link)).unwrap();
    }
    scene.git("origin", &["add", "-A"]);
    scene.git("origin", &["commit", "-qm", "notes"]);
    fs::remove_dir(scene.path("app")).unwrap();
    scene.git(".", &["clone", "-q", "origin", "app"]);
    scene
}

/// All files below these folders, but for git's own.
fn files(scene: &Scene, folders: &[&str]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| scene.path(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_symlink() {
                found.insert(
                    path.clone(),
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                );
            } else if kind.is_file() {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn block(scene: &Scene, format: &str) -> String {
    let ran = scene.run(&["render", "--model", "a/m", "--format", format]);
    assert!(ran.code == 0 || ran.code == 3, "{ran:?}");
    ran.out
}

#[test]
fn before_trust_nothing_of_it_counts_or_changes_a_byte() {
    let scene = clone();
    for cwd in ["app", "app/in", "app/in/deep"] {
        let scene = &scene;
        let own = || {
            let mut files = files(scene, &["home/.harness", "app"]);
            files.retain(|path, _| !path.ends_with(LOCK_FILE));
            files
        };
        let before = own();
        let run = |args: &[&str]| {
            let done = scene.command(args).current_dir(scene.path(cwd)).output().unwrap();
            scene.ran(&done)
        };
        for args in [
            &["render", "--model", "a/m"][..],
            &["sync"],
            &["watch", "--once"],
            &["render", "--model", "a/m", "--format", "xml"],
            &["render", "--model", "a/m", "--format", "json"],
            &["render", "--model", "a/m", "--format", "plain"],
            &["render", "--model", "a/m", "--all-projects"],
            &["export"],
            &["fmt"],
            &["sync"],
        ] {
            let ran = run(args);
            for canary in CANARIES {
                assert!(!ran.out.contains(canary), "{args:?} in {cwd}: {ran:?}");
            }
            if ["render", "export"].contains(&args[0]) {
                assert!(ran.out.contains("own-global") && ran.out.contains("own-home"), "{ran:?}");
                assert!(ran.err.contains("you have not trusted this repository"), "{ran:?}");
            }
        }
        let after = own();
        let changed: Vec<_> = after.iter().filter(|(path, bytes)| before.get(*path) != Some(bytes)).collect();
        assert!(after.len() == before.len() && changed.is_empty(), "{cwd}: {changed:?}");
        assert_eq!(scene.try_git("app", &["status", "--porcelain", "--ignored"]).ok(), "");
    }
    assert!(scene.read("outside.md").contains("CANARY-OUTSIDE"));
}

#[test]
fn after_trust_nothing_of_it_breaks_the_frame() {
    let scene = clone();
    let global = scene.read(GLOBAL);
    let ran = scene.run(&["trust"]).ends(0).prints("clash: g1").prints("clash: h1").prints("claims-global");
    assert!(
        !ran.out.contains('\u{1b}') && !ran.out.contains('\u{202e}') && !ran.out.contains("CANARY-OUTSIDE")
    );
    holds(&scene);
    scene.run(&["sync"]);
    holds(&scene);
    assert_eq!(scene.read(GLOBAL), global, "nothing enters the global layer");
    scene.git("app", &["checkout", "-q", "--", "."]);
    scene.write("origin/.harness/app.md", &fixture("later.md"));
    scene.git("origin", &["commit", "-qam", "more"]);
    scene.git("app", &["pull", "-q", "--ff-only"]);
    holds(&scene);
    assert!(block(&scene, "plain").contains("CANARY-PULL"), "trust covers what comes later");
    scene.run(&["sync", "--accept"]);
    assert_eq!(scene.read(GLOBAL), global);
    assert_eq!(scene.read("outside.md"), "---\nid: outside\nmodel: \"*\"\n---\n\nCANARY-OUTSIDE\n");
    scene.run(&["untrust"]).ok();
    for format in ["markdown", "xml", "json", "plain"] {
        let block = block(&scene, format);
        assert!(CANARIES.iter().all(|canary| !block.contains(canary)), "{block}");
    }
}

/// The block is one block with as many notes as were taken, in every form.
fn holds(scene: &Scene) {
    let json = block(scene, "json");
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    let notes = parsed["notes"].as_array().unwrap();
    let ids: Vec<&str> = notes.iter().map(|note| note["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&"h1") && json.contains("own-home"), "the user's own note stays: {ids:?}");
    assert!(!json.contains("CANARY-OUTSIDE"), "{json}");

    let markdown = block(scene, "markdown");
    let (mut titles, mut sections, mut items, mut depth) = (0, 0, 0, 0);
    for event in Parser::new_ext(&markdown, Options::all()) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => titles += 1,
            Event::Start(Tag::Heading { level: HeadingLevel::H3, .. }) => sections += 1,
            Event::Start(Tag::Heading { level, .. }) => panic!("a heading {level}:\n{markdown}"),
            Event::Start(Tag::List(_)) => depth += 1,
            Event::End(pulldown_cmark::TagEnd::List(_)) => depth -= 1,
            Event::Start(Tag::Item) if depth == 1 => items += 1,
            _ => {}
        }
    }
    assert_eq!((titles, items), (1, notes.len()), "{markdown}");
    assert!((1..=4).contains(&sections), "{markdown}");

    let xml = block(scene, "xml");
    let squeezed: String = xml.to_lowercase().chars().filter(|c| !c.is_whitespace()).collect();
    assert_eq!(squeezed.matches("<harness_state").count(), 1, "{xml}");
    assert_eq!(squeezed.matches("</harness_state").count(), 1, "{xml}");
    assert!(squeezed.ends_with("</harness_state>"), "{xml}");
    assert_eq!(xml.matches("<note ").count(), notes.len(), "{xml}");

    let plain = block(scene, "plain");
    for text in [&markdown, &xml, &plain, &json] {
        let unseen = |c: char| matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{1b}' | '\u{e0000}'..='\u{e007f}');
        assert!(!text.contains(unseen), "{text}");
    }
}
