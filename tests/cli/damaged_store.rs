//! The store is not the truth: whatever becomes of its file, the layers stay as they are, and
//! history begins anew at worst.

use std::fs;
use std::path::PathBuf;

use super::scene::Scene;
use super::stage::json;

const THREE: &str = "---\nid: n1\n---\n\nalpha\n\n---\nid: n2\n---\n\nbeta\n\n---\nid: n3\n---\n\ngamma\n";

/// Three notes that were synced, and a life before.
fn lived() -> Scene {
    let scene = Scene::new().home(THREE);
    scene.run(&["sync"]).ok();
    for round in 0..30 {
        scene.run(&["edit", "n1", "--content", &format!("alpha {round} {}", "x".repeat(200))]).ok();
    }
    scene.run(&["edit", "n1", "--content", "alpha"]).ok();
    scene
}

fn store(scene: &Scene) -> PathBuf {
    scene.path("home/.local/state/harness-layers/store.db")
}

fn beside(scene: &Scene) -> Vec<String> {
    let folder = store(scene).parent().unwrap().to_owned();
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// However the file is damaged, at most one command fails, and none loses a note.
#[test]
fn damage_anywhere_is_set_aside_once_it_is_met() {
    for damage in ["cut at a third", "cut to a page", "cut in the header", "middle", "all but the header"] {
        let scene = lived();
        let path = store(&scene);
        let mut bytes = fs::read(&path).unwrap();
        let (len, page) = (bytes.len(), 4096);
        assert!(len > 8 * page, "{len}");
        match damage {
            "cut at a third" => bytes.truncate(len / 3),
            "cut to a page" => bytes.truncate(page),
            "cut in the header" => bytes.truncate(50),
            "middle" => bytes[len / 3..len * 2 / 3].fill(0xA5),
            _ => bytes[page..].fill(0xA5),
        }
        fs::write(&path, bytes).unwrap();
        let mut said = String::new();
        let mut failed = 0;
        for (id, content) in [("n4", "delta"), ("n5", "epsilon"), ("n6", "zeta")] {
            let ran = scene.run(&["add", "--id", id, content]);
            said += &ran.err;
            if ran.code != 0 {
                assert_eq!(ran.code, 4, "{damage}: {ran:?}");
                assert!(ran.err.contains("damaged") && ran.err.contains("help: "), "{damage}: {ran:?}");
                failed += 1;
                // What was not done can be done again, and what was done is told.
                let again = scene.run(&["add", "--id", id, content]);
                assert!(
                    again.code == 0 || again.err.contains("taken") || again.err.contains("already"),
                    "{again:?}"
                );
                said += &again.err;
            }
        }
        assert!(failed <= 1, "{damage}: {said}");
        assert_eq!(said.matches("was damaged and is at").count(), 1, "{damage}: {said}");
        let names = beside(&scene);
        assert_eq!(names.iter().filter(|name| name.starts_with("store.db.corrupt-")).count(), 1, "{names:?}");
        assert!(!names.iter().any(|name| name.ends_with(".suspect")), "{names:?}");
        let ids: Vec<_> =
            json(&scene, &["list"]).as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
        assert_eq!(ids.len(), 6, "{damage}: {ids:?}");
        assert_eq!(scene.run(&["sync"]).ok(), "");
    }
}

#[test]
fn a_log_that_is_no_log_does_no_harm() {
    let scene = lived();
    fs::write(format!("{}-wal", store(&scene).display()), vec![0x5A; 9000]).unwrap();
    scene.run(&["add", "--id", "n4", "delta"]).ok();
    assert_eq!(json(&scene, &["list"]).as_array().unwrap().len(), 4);
    assert!(json(&scene, &["history", "n1"]).as_array().unwrap().len() > 20);
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    for version in [0, 1, 7] {
        let scene = Scene::new().home(THREE).var("LAYERS_STATE", "@/places.db");
        let other = scene.path("places.db");
        let sql = rusqlite::Connection::open(&other).unwrap();
        sql.execute_batch("CREATE TABLE note (url TEXT); INSERT INTO note VALUES ('a')").unwrap();
        sql.pragma_update(None, "user_version", version).unwrap();
        drop(sql);
        let before = scene.read(super::scene::HOME);
        for command in [&["add", "delta"][..], &["sync"], &["history"]] {
            let said = scene.run(command).ends(4).err;
            assert!(said.contains("@/places.db is a database of something else"), "{version}: {said}");
            assert!(said.contains("help: set $LAYERS_STATE") && !said.contains("CREATE TABLE"), "{said}");
        }
        assert_eq!(scene.read(super::scene::HOME), before);
        let sql = rusqlite::Connection::open(&other).unwrap();
        let tables: i64 = sql.query_row("SELECT count(*) FROM sqlite_master", (), |row| row.get(0)).unwrap();
        assert_eq!(tables, 1);
    }
}

#[test]
fn a_store_that_is_deleted_takes_only_history_along() {
    let scene = lived();
    let before = scene.read(super::scene::HOME);
    fs::remove_dir_all(store(&scene).parent().unwrap()).unwrap();
    assert_eq!(json(&scene, &["list"]).as_array().unwrap().len(), 3);
    scene.run(&["sync"]).ok();
    assert_eq!(scene.read(super::scene::HOME), before);
    assert_eq!(scene.run(&["sync"]).ok(), "");
    assert_eq!(json(&scene, &["archive", "--all"]), serde_json::json!([]));
    assert_eq!(json(&scene, &["list"]).as_array().unwrap().len(), 3);
    // It knows again from now on.
    scene.run(&["edit", "n2", "--content", "beta two"]).ok();
    assert_eq!(super::stage::history(&scene, "n2").len(), 1);
}

#[test]
fn nobody_else_reads_the_store() {
    let scene = lived();
    let state = "home/.local/state/harness-layers";
    assert_eq!(scene.mode(state), 0o700);
    for name in beside(&scene) {
        let path = format!("{state}/{name}");
        assert_eq!(scene.mode(&path) & 0o077, 0, "{name}");
    }
}
