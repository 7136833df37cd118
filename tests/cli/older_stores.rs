//! Stores as earlier schemas left them, one a file in `fixtures/stores`, named by its schema:
//! the dump of a real one. All that they remember is still known, and the layers stay as
//! they are.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::scene::{HOME, Scene};
use super::stage::{history, json, notes, owned};

/// What the file of these stores held last.
const LAST: &str = "---\nid: n1\nkind: memory\n---\n\nUse port 9090.\n\n\
    ---\nid: n2\nkind: memory\nimportance: 0.80\n---\n\nThe tests need a database.\n";

/// The scene with the store of a dump, as if it had always been here.
fn remembering(dump: &str) -> Scene {
    let scene = Scene::new().home(LAST);
    let state = scene.path("home/.local/state/harness-layers");
    fs::create_dir_all(&state).unwrap();
    let sql = rusqlite::Connection::open(state.join("store.db")).unwrap();
    sql.pragma_update(None, "journal_mode", "WAL").unwrap();
    // A dump has its tables by name, not in the order in which they need each other.
    sql.pragma_update(None, "foreign_keys", false).unwrap();
    sql.execute_batch(dump).unwrap();
    let (root, path) = (scene.path("home/.harness"), scene.path(HOME));
    let places = (root.as_os_str().as_bytes(), path.as_os_str().as_bytes());
    assert_eq!(sql.execute("UPDATE layer SET root = ?, path = ?", places).unwrap(), 1);
    scene
}

#[test]
fn what_an_older_store_remembers_is_known() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stores");
    let mut schemas: Vec<u32> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        schemas.push(path.file_stem().unwrap().to_str().unwrap().parse().unwrap());
        let scene = remembering(&fs::read_to_string(&path).unwrap());
        let standing = owned(&[("n1", "Use port 9090."), ("n2", "The tests need a database.")]);
        assert_eq!(notes(&scene), standing, "{path:?}");
        assert_eq!(scene.run(&["sync"]).ok(), "");
        assert_eq!(scene.read(HOME), LAST);
        let ops: Vec<String> = history(&scene, "n1").into_iter().map(|(op, _)| op).collect();
        assert_eq!(ops, ["create", "update", "update", "lost"]);
        let versions = json(&scene, &["history", "--versions"]);
        assert_eq!(versions.as_array().unwrap().len(), 8);
        scene.run(&["diff", "5..6"]).prints("-Use port 8080.").prints("+Use port 7070.").ok();
        scene.run(&["restore", "n3"]).ok();
        scene.run(&["restore", "--conflict", "1"]).ok();
        let expected =
            [("n1", "Use port 7070."), ("n2", "The tests need a database."), ("n3", "Gone by hand.")];
        assert_eq!(notes(&scene), owned(&expected));
        scene.run(&["rollback", "4"]).ok();
        assert_eq!(json(&scene, &["show", "n2"])["importance"], 0.5);
        assert_eq!(scene.run(&["sync"]).ok(), "");
    }
    // One for each schema that there was, from the first.
    schemas.sort_unstable();
    assert!(!schemas.is_empty() && schemas.iter().copied().eq(1..=u32::try_from(schemas.len()).unwrap()));
}
