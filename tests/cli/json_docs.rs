//! What docs/json.md says of `sync` and of history is what comes out, key for key.

use std::collections::BTreeSet;

use serde_json::Value;

use super::scene::{HOME, Scene};
use super::stage::json;

const DOCS: &str = include_str!("../../docs/json.md");

/// The words in backticks of a text.
fn words(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The keys of a command's row in the table of a section.
fn row(section: &str, command: &str) -> BTreeSet<String> {
    let start = format!("| `{command}` |");
    let table = DOCS.split("## ").find(|it| it.starts_with(section)).unwrap();
    let row = table.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row {start}"));
    words(row.strip_prefix(&start).unwrap())
}

/// All keys of objects anywhere in it.
fn keys(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                into.insert(key.clone());
                keys(value, into);
            }
        }
        Value::Array(all) => all.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

/// A life with all that there is to tell: a conflict, a stale save, a deletion, a move.
fn eventful() -> Scene {
    let scene = Scene::repo().home("---\nid: n1\n---\n\nalpha\n\n---\nid: n2\n---\n\nbeta\n");
    scene.run(&["sync"]).ok();
    let buffer = scene.read(HOME);
    scene.run(&["edit", "n1", "--content", "alpha two"]).ok();
    scene.run(&["add", "--id", "n3", "gamma"]).ok();
    scene.write(HOME, &buffer.replace("alpha", "alpha three").replace("beta", "beta two"));
    scene
}

#[test]
fn sync_prints_what_is_documented() {
    let mut found = BTreeSet::new();
    let mut take = |value: &Value| keys(value, &mut found);
    let scene = eventful();
    take(&json(&scene, &["sync", "--dry-run"]));
    let said = json(&scene, &["sync"]);
    let home = said["layers"].as_array().unwrap().iter().find(|layer| layer["layer"] == "home").unwrap();
    assert_eq!((&home["stale"], &home["wrote"], &home["news"]), (&true.into(), &true.into(), &true.into()));
    assert_eq!(home["carried"], serde_json::json!(["n3"]));
    assert_eq!(home["lost"][0]["kept"], "alpha three");
    take(&said);
    scene.write(HOME, "---\nkind: memory\n---\n\nnew\n\n---\nid: n1\nprotected: true\n---\n\nalpha\n");
    take(&json(&scene, &["sync"]));
    std::fs::remove_file(scene.path(HOME)).unwrap();
    take(&json(&scene, &["sync"]));
    std::fs::create_dir(scene.path(HOME)).unwrap();
    take(&json(&scene, &["sync"]));
    let start = DOCS.find("`sync` prints an object").unwrap();
    let table = &DOCS[start..start + DOCS[start..].find("`watch --json`").unwrap()];
    let mut known = words(table);
    for word in ["sync", "status"] {
        known.remove(word);
    }
    let values = ["created", "updated", "gone", "moved", "returned"];
    let unknown: Vec<_> = found.difference(&known).collect();
    assert!(unknown.is_empty(), "not documented: {unknown:?}");
    let never: Vec<_> =
        known.difference(&found).filter(|word| !values[..].contains(&word.as_str())).collect();
    assert!(never.is_empty(), "documented, and never there: {never:?}");
}

#[test]
fn history_prints_what_is_documented() {
    let scene = eventful();
    scene.run(&["sync"]).ok();
    scene.run(&["archive", "n2"]).ok();
    let change = json(&scene, &["history", "n2"]).as_array().unwrap().last().unwrap()["change"].to_string();
    let in_section = |section: &str, command: &str, printed: &Value, values: &[&str]| {
        let mut found = BTreeSet::new();
        keys(printed, &mut found);
        let mut known = row(section, command);
        known.retain(|word| !values.contains(&word.as_str()));
        assert_eq!(found, known, "{command}: {printed}");
    };
    let is =
        |command: &str, printed: &Value, values: &[&str]| in_section("History", command, printed, values);
    let origins = ["offline", "online", "carried-over", "git", "export"];
    is("history --versions", &json(&scene, &["history", "--versions"]), &origins);
    is("diff", &json(&scene, &["diff", "1"]), &[]);
    is("conflicts", &json(&scene, &["conflicts"]), &[]);
    is("archive", &json(&scene, &["archive"]), &["deleted", "archived", "git"]);
    let rolled = json(&scene, &["rollback", &change]);
    in_section("Writing", "rollback", &rolled, &[]);
    in_section("Writing", "restore", &json(&scene, &["restore", "n2"]), &[]);
    let ops = ["create", "update", "delete", "move", "restore", "lost"];
    let mut events = json(&scene, &["history"]);
    events.as_array_mut().unwrap().extend(json(&scene, &["history", "n1"]).as_array().unwrap().clone());
    is("history", &events, &ops);
    assert_eq!(json(&scene, &["archive", "n3"]), serde_json::json!(["n3"]));
}
