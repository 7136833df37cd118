//! Pi rewrites whole files from its own memory, in its own form: what it had read and changed
//! is taken, what its form cannot say or what it never saw stays.

use harness_layers::export::{Exported, single};
use harness_layers::note::{Kind, Scope};

use super::pi::{Item, read};
use super::scene::Scene;
use super::stage::{json, notes, owned, text};

const GLOBAL: &str = "home/.pi/agent/harness-state.md";
const PROJECT: &str = "home/.pi/agent/harness-state/app.md";

/// The file as pi writes what it has in memory.
fn export(items: &[Item]) -> String {
    fn exported(item: &Item) -> Exported<'_> {
        let Item { kind, id, importance, content, evidence, model, scope, project } = item;
        let is_scoped = scope == "project";
        Exported {
            id,
            kind: kind.parse::<Kind>().unwrap(),
            content,
            evidence,
            importance: *importance,
            active: true,
            model: Some(model),
            scope: is_scoped.then_some(Scope::Project),
            project: is_scoped.then_some(project.as_str()),
        }
    }
    single(&items.iter().map(exported).collect::<Vec<_>>()).unwrap()
}

fn layer(eol: &str) -> String {
    "<!-- ours: do not sort -->\n\n# Notes of the team\n\nProse that the team wrote.\n\n\
     ## Memory facts\n\n\
     - **[n1]** (importance 0.50) One.\n  - evidence: seen\n  - model: a/m\n\
     - **[n2]** (importance 0.60) Off.\n  - evidence: seen\n  - active: false\n\
     - **[n3]** (importance 0.70) First line.\n  Second line.\n\n  A paragraph.\n  - evidence: seen\n  - created: 2026-03-18\n\
     - **[n4]** (importance 0.40) Four.\n  - evidence: seen\n\n\
     ## Ours, no section of pi\n\nMore prose.\n\n\
     ## Skill descriptions\n\n\
     - **[n5]** (importance 0.50) Five.\n  - evidence: seen\n"
        .replace('\n', eol)
}

/// What pi has in memory after it read the file: it switched n2 off itself.
fn memory(text: &str) -> Vec<Item> {
    let mut items = read(&text.replace("\r\n", "\n"));
    items.retain(|item| item.id != "n2");
    items
}

/// What it says of n3 counts in one line, and the layer has three.
const THREE: &str = "First line.\nSecond line.\n\nA paragraph.";

fn everywhere(test: impl Fn(&Scene, &str, &str)) {
    for path in [GLOBAL, PROJECT] {
        for eol in ["\n", "\r\n"] {
            println!("with {path}, line end {eol:?}");
            let scene = Scene::new().file("home/.pi/agent/harness.json", "{}");
            scene.write(path, &layer(eol));
            scene.run(&["sync"]).ok();
            test(&scene, path, eol);
        }
    }
}

#[track_caller]
fn keeps_what_pi_cannot_say(scene: &Scene, path: &str) {
    let file = scene.read(path);
    for part in ["ours: do not sort", "# Notes of the team", "Prose that the team wrote.", "More prose."] {
        assert!(file.contains(part), "{part:?} is gone:\n{file}");
    }
    assert!(file.contains("created: 2026-03-18") && file.contains("active: false"), "{file}");
    let off = json(scene, &["show", "n2"]);
    assert_eq!(off["active"], false, "{file}");
    assert_eq!(json(scene, &["show", "n3"])["content"], THREE);
}

#[test]
fn a_save_of_pi_that_changes_nothing_changes_no_byte() {
    everywhere(|scene, path, eol| {
        let before = layer(eol);
        for _ in 0..2 {
            scene.write(path, &export(&memory(&before)));
            // Before a pass, too.
            assert_eq!(notes(scene).len(), 5);
            scene.run(&["sync"]).ok();
            assert_eq!(scene.read(path), before);
            assert_eq!(json(scene, &["archive"]), serde_json::json!([]));
            assert_eq!(json(scene, &["conflicts"]), serde_json::json!([]));
        }
    });
}

#[test]
fn an_edit_a_deletion_and_a_note_of_pi_are_taken_and_the_rest_stays() {
    everywhere(|scene, path, eol| {
        let mut items = memory(&layer(eol));
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        // A hand adds a note while pi runs, and an agent another one; pi has neither.
        let by_hand = "- **[n9]** (importance 0.50) By hand.\n".replace('\n', eol);
        let now = scene.read(path);
        scene.write(path, &now.replace("- **[n4]**", &format!("{by_hand}- **[n4]**")));
        scene.run(&["sync"]).ok();
        let place = if path == GLOBAL { "global" } else { "home" };
        let add = ["add", "--layer", place, "--model", "", "--id", "n10", "By an agent."];
        scene.run_as("a/m", &add).ok();
        items.retain(|item| item.id != "n4");
        for item in &mut items {
            if item.id == "n1" {
                item.content = "One, by pi.".into();
                item.importance = 0.9;
            }
        }
        let project = if path == GLOBAL { ("", "") } else { ("project", "app") };
        items.push(Item {
            kind: "memory",
            id: "h_pi".into(),
            importance: 0.5,
            content: "Of pi.".into(),
            evidence: "told".into(),
            model: "a/m".into(),
            scope: project.0.into(),
            project: project.1.into(),
        });
        let expected = [
            ("n1", "One, by pi."),
            ("n2", "Off."),
            ("n3", THREE),
            ("n5", "Five."),
            ("n9", "By hand."),
            ("n10", "By an agent."),
            ("h_pi", "Of pi."),
        ];
        for round in 0..3 {
            scene.write(path, &export(&items));
            assert_eq!(notes(scene), owned(&expected), "before a pass, round {round}");
            let said = scene.run(&["sync"]).ok();
            assert_eq!(said.contains("gone: n4"), round == 0, "{said}");
            assert_eq!(notes(scene), owned(&expected), "{}", scene.read(path));
            assert_eq!(json(scene, &["show", "n1"])["importance"], 0.9);
            keeps_what_pi_cannot_say(scene, path);
            assert_eq!(scene.run(&["sync"]).ok(), "");
        }
        let archive = json(scene, &["archive"]);
        assert_eq!(
            archive.as_array().unwrap().iter().map(|one| text(&one["id"])).collect::<Vec<_>>(),
            ["n4"]
        );
        assert_eq!(json(scene, &["conflicts"]), serde_json::json!([]));
    });
}

/// Pi edits what it has of a note of several lines: its first line. The others are the layer's.
#[test]
fn an_edit_by_pi_of_a_long_note_is_taken() {
    everywhere(|scene, path, eol| {
        let mut items = memory(&layer(eol));
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        for item in &mut items {
            if item.id == "n3" {
                item.importance = 0.2;
            }
        }
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        assert_eq!(json(scene, &["show", "n3"])["importance"], 0.2);
        keeps_what_pi_cannot_say(scene, path);
        for item in &mut items {
            if item.id == "n3" {
                item.content = "Said anew by pi.".into();
            }
        }
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        let now = text(&json(scene, &["show", "n3"])["content"]);
        assert_eq!(now, THREE.replace("First line.", "Said anew by pi."));
        assert_eq!(json(scene, &["conflicts"]), serde_json::json!([]));
        assert_eq!(notes(scene).len(), 5);
    });
}

/// While pi had its memory, the agent changed the same layer.
#[test]
fn a_save_of_pi_reverts_no_online_change_that_it_did_not_see() {
    everywhere(|scene, path, eol| {
        let mut items = memory(&layer(eol));
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        scene.run_as("a/m", &["edit", "n5", "--content", "Five, by an agent."]).ok();
        scene.run_as("a/m", &["archive", "n4"]).ok();
        for item in &mut items {
            if item.id == "n1" {
                item.content = "One, by pi.".into();
            }
        }
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        let expected = [("n1", "One, by pi."), ("n2", "Off."), ("n3", THREE), ("n5", "Five, by an agent.")];
        assert_eq!(notes(scene), owned(&expected), "{}", scene.read(path));
        keeps_what_pi_cannot_say(scene, path);
    });
}

/// Pi read the layer, then the agent changed it, and only then pi saved for the first time.
#[test]
fn the_first_save_of_pi_reverts_nothing_either() {
    everywhere(|scene, path, eol| {
        let mut items = memory(&layer(eol));
        scene.run_as("a/m", &["edit", "n5", "--content", "Five, by an agent."]).ok();
        scene.run_as("a/m", &["edit", "n3", "--content", "First, by an agent.\nSecond."]).ok();
        items.iter_mut().find(|item| item.id == "n1").unwrap().content = "One, by pi.".into();
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        let expected = [
            ("n1", "One, by pi."),
            ("n2", "Off."),
            ("n3", "First, by an agent.\nSecond."),
            ("n4", "Four."),
            ("n5", "Five, by an agent."),
        ];
        assert_eq!(notes(scene), owned(&expected), "{}", scene.read(path));
    });
}

/// Both changed one text: the file wins, as ever.
#[test]
fn where_pi_and_an_agent_changed_the_same_text_pi_wins_and_the_other_is_kept() {
    everywhere(|scene, path, eol| {
        let mut items = memory(&layer(eol));
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        scene.run_as("a/m", &["edit", "n1", "--content", "One, by an agent."]).ok();
        items.iter_mut().find(|item| item.id == "n1").unwrap().content = "One, by pi.".into();
        scene.write(path, &export(&items));
        scene.run(&["sync"]).ok();
        assert_eq!(notes(scene)["n1"], "One, by pi.", "{}", scene.read(path));
        let conflicts = json(scene, &["conflicts"]);
        assert_eq!(conflicts[0]["lost"], "One, by an agent.", "{conflicts}");
        assert_eq!(scene.run(&["sync"]).ok(), "");
        keeps_what_pi_cannot_say(scene, path);
    });
}

/// Pi switches all off, or loses its memory: an empty export is no reason to lose a layer.
#[test]
fn an_empty_export_is_held_or_changes_nothing() {
    everywhere(|scene, path, eol| {
        scene.write(path, &export(&[]));
        scene.run(&["sync"]);
        assert_eq!(notes(scene).len(), 5, "{}", scene.read(path));
        assert_eq!(json(scene, &["archive"]), serde_json::json!([]));
        scene.write(path, &layer(eol));
        scene.run(&["sync"]).ok();
        assert_eq!(scene.read(path), layer(eol));
        assert_eq!(scene.run(&["sync"]).ok(), "");
    });
}

/// Notes as front matter are nothing to pi; its save must not be their end.
#[test]
fn notes_that_pi_cannot_read_outlive_its_saves() {
    for path in [GLOBAL, PROJECT] {
        let block = "---\nid: b1\ntags: [a, b] # ours\n---\n\nA block.\n\n";
        let scene = Scene::new().file("home/.pi/agent/harness.json", "{}");
        let before =
            format!("{block}## Memory facts\n\n- **[n1]** (importance 0.50) One.\n  - evidence: seen\n");
        scene.write(path, &before);
        scene.run(&["sync"]).ok();
        let mut items = read(&before);
        items.retain(|item| item.id == "n1");
        for content in ["One.", "One, by pi.", "One, by pi again."] {
            items[0].content = content.into();
            scene.write(path, &export(&items));
            scene.run(&["sync"]).ok();
            assert_eq!(notes(&scene), owned(&[("b1", "A block."), ("n1", content)]));
            assert!(scene.read(path).starts_with(block), "{}", scene.read(path));
        }
    }
}
