//! The store is not the truth: whatever becomes of its file, the layers stay as they are, and
//! history begins anew at worst.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
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

/// Runs `layers` as somebody who is not root, to whom the scene belongs from then on.
fn as_nobody(scene: &Scene, args: &[&str]) -> std::io::Result<super::scene::Ran> {
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65534;
    let mut command = scene.command(args);
    let own = fs::metadata("/proc/self").unwrap();
    if std::os::unix::fs::MetadataExt::uid(&own) == 0 {
        super::unavailable::give(&scene.path("."), NOBODY);
        command.uid(NOBODY).gid(NOBODY);
    }
    command.output().map(|done| scene.ran(&done))
}

#[test]
fn a_store_that_may_only_be_read_is_read() {
    for has_log in [false, true] {
        let scene = lived();
        // What counts of n1 is known to the store alone.
        scene.write(super::scene::HOME, &THREE.replace("id: n1", "id: n1\nmodel: local/llama"));
        scene.run(&["sync"]).ok();
        scene.write(super::scene::HOME, THREE);
        scene.run(&["sync"]).ok();
        // Somebody who has it open keeps the log from being taken in.
        let open = has_log.then(|| rusqlite::Connection::open(store(&scene)).unwrap());
        if let Some(open) = &open {
            let _: i64 = open.query_row("SELECT count(*) FROM layer", (), |row| row.get(0)).unwrap();
            scene.run(&["edit", "n2", "--content", "beta two"]).ok();
        }
        let folder = store(&scene).parent().unwrap().to_owned();
        if as_nobody(&scene, &["status"]).is_err() {
            println!("skipped: the binary is where only root may run it");
            return;
        }
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_file() {
                fs::set_permissions(&entry, fs::Permissions::from_mode(0o400)).unwrap();
            }
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
        let run = |args: &[&str]| as_nobody(&scene, args).unwrap();
        let list = run(&["list", "--json"]).ok();
        assert_eq!(list.matches("\"id\": \"n").count(), 3, "{list}");
        let block = run(&["render", "--model", "cloud/x"]).ok();
        assert!(block.contains("[n2]") && !block.contains("[n1]"), "{block}");
        // To write needs more, and says so.
        let before = scene.read(super::scene::HOME);
        let said = run(&["add", "delta"]).ends(4).err;
        assert!(said.contains("store.db") && said.contains("help: make room or rights there"), "{said}");
        assert_eq!(scene.read(super::scene::HOME), before);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

/// A real disk that is really full under the store, and not under the layers.
#[test]
fn a_full_disk_under_the_store_loses_no_note() {
    let scene = Scene::new().file("state/x", "");
    let exe = env!("CARGO_BIN_EXE_layers");
    let script = format!(
        "mount -t tmpfs -o size=300k none state 2>/dev/null || exit 77; export HOME=$PWD/home LAYERS_STATE=$PWD/state; \
         cd app; for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do \
         head -c 6000 /dev/urandom | base64 | {exe} add -q --id n$n - >/dev/null 2>>err && echo n$n >> added; done; \
         {exe} list --json > listed 2>>err; echo $? > code; rm -f ../state/marks/*; {exe} list --json > again 2>>err; cat err >&2"
    );
    let run = std::process::Command::new("unshare")
        .args(["-Urm", "sh", "-c", &script])
        .current_dir(scene.path(""))
        .output();
    // Where namespaces are not for users, there is no disk to fill.
    let Ok(run) = run else { return };
    let err = String::from_utf8_lossy(&run.stderr).into_owned();
    if run.status.code() == Some(77) || err.contains("unshare") {
        return;
    }
    assert!(err.contains("is full") && err.contains("help: make room"), "{err}");
    let added = scene.read("app/added");
    assert!((1..30).contains(&added.lines().count()), "{added}");
    for listed in ["app/listed", "app/again"] {
        let listed = scene.read(listed);
        for id in added.lines() {
            assert!(listed.contains(&format!("\"{id}\"")), "{id} is lost: {err}");
        }
    }
    // With room again all is known again, whatever could not be written down.
    scene.run(&["sync"]).ok();
    let all = json(&scene, &["list"]);
    assert!(all.as_array().unwrap().len() >= added.lines().count());
    assert_eq!(scene.run(&["sync"]).ok(), "");
}

/// What is in no file and never was needs no store to say so.
#[test]
fn layers_that_never_were_are_known_not_to_be() {
    let scene = Scene::repo().home(THREE);
    scene.run(&["sync"]).ok();
    // Whose the private layer is stands beside the store, too, once somebody has asked.
    scene.run(&["render", "--model", "a/m"]).ok();
    let path = store(&scene);
    let aside = path.with_extension("aside");
    fs::rename(&path, &aside).unwrap();
    // Opening this would be told.
    fs::create_dir(&path).unwrap();
    let block = scene.run(&["render", "--model", "a/m"]).ok();
    assert!(block.contains("[n1] alpha"), "{block}");
    fs::remove_dir(&path).unwrap();
    fs::rename(&aside, &path).unwrap();
    // The file comes, and counts; it goes, and is missed.
    let global = "home/.harness/harness-state.md";
    scene.write(global, "---\nid: g1\n---\n\nglobal\n");
    assert!(scene.run(&["render", "--model", "a/m"]).ok().contains("[g1] global"));
    scene.run(&["sync"]).ok();
    fs::remove_file(scene.path(global)).unwrap();
    assert!(scene.run(&["render", "--model", "a/m"]).ok().contains("[g1] global"));
    scene.run(&["sync"]).ends(3);
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
