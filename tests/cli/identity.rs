//! Whose a private layer is: projects of one name stay apart, places of one project stay
//! together.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use super::scene::Scene;

const LAYERS: &str = "home/.harness/harness-state";

/// Nine places whose names meet in one way or another.
const NINE: [&str; 9] =
    ["w/test-project", "w/test/project", "w/a_b", "w/a-b", "w/a.b", "w/가나", "w/다라", "x/app", "y/app"];

/// A repository with nothing in it.
fn init(scene: &Scene, folder: &str) {
    fs::create_dir_all(scene.path(folder)).unwrap();
    scene.git(folder, &["init", "-q", "-b", "main"]);
}

fn commit(scene: &Scene, folder: &str) {
    // Two repositories whose first commits say the same at the same second have one root.
    scene.write(&format!("{folder}/which"), folder);
    scene.git(folder, &["add", "which"]);
    scene.git(folder, &["commit", "-q", "-m", "first"]);
}

fn remote(scene: &Scene, folder: &str, url: &str) {
    scene.git(folder, &["remote", "add", "origin", url]);
}

/// Adds a private note; what was said.
fn add(scene: Scene, folder: &str, canary: &str) -> (Scene, String) {
    let scene = scene.cwd(folder);
    let ran = scene.run(&["add", "--any-model", canary]).ends(0);
    (scene, ran.err)
}

/// The block of a place, which must be one without a failure.
fn block(scene: Scene, folder: &str) -> (Scene, String) {
    let scene = scene.cwd(folder);
    let out = scene.run(&["render", "--model", "a/m"]).ok();
    (scene, out)
}

fn shows(scene: Scene, folder: &str, canaries: &[&str]) -> Scene {
    let (scene, out) = block(scene, folder);
    let shown: Vec<&str> = out.split_whitespace().filter(|word| word.starts_with("canary-")).collect();
    assert_eq!(shown, canaries, "{folder}:\n{out}");
    scene
}

fn nine_apart(mut scene: Scene) -> Scene {
    for (at, folder) in NINE.iter().enumerate() {
        init(&scene, folder);
        fs::create_dir_all(scene.path(&format!("{folder}/src"))).unwrap();
        symlink(scene.path(folder), scene.path(&format!("link{at}"))).unwrap();
        (scene, _) = add(scene, folder, &format!("canary-{at}"));
    }
    // Twice: as it is decided, and as it is remembered.
    for _ in 0..2 {
        for (at, folder) in NINE.iter().enumerate() {
            let canary = format!("canary-{at}");
            for spelling in
                [(*folder).to_owned(), format!("{folder}/"), format!("{folder}/src"), format!("link{at}")]
            {
                scene = shows(scene, &spelling, &[&canary]);
            }
        }
    }
    scene
}

/// Another repository in the place of an old one.
fn replace(scene: &Scene, folder: &str) {
    fs::remove_dir_all(scene.path(folder)).unwrap();
    init(scene, folder);
}

#[test]
fn nine_projects_have_nine_layers() {
    let scene = nine_apart(Scene::new());
    assert_eq!(fs::read_dir(scene.path(LAYERS)).unwrap().count(), 9);

    replace(&scene, "x/app");
    let scene = shows(scene, "x/app", &[]);
    let (scene, said) = add(scene, "x/app", "canary-new");
    assert!(said.contains("@/x/app, which has nothing to do with this one"), "{said}");
    let scene = shows(scene, "x/app", &["canary-new"]);
    shows(scene, "y/app", &["canary-8"]);
}

#[test]
fn nine_projects_have_nine_layers_in_a_root_of_pi() {
    let scene = nine_apart(Scene::new().file("home/.pi/agent/harness-state.md", ""));
    assert_eq!(fs::read_dir(scene.path("home/.pi/agent/harness-state")).unwrap().count(), 9);
    replace(&scene, "x/app");
    let scene = shows(scene, "x/app", &[]);
    let (scene, said) = add(scene, "x/app", "canary-new");
    assert!(said.contains("which has nothing to do with this one"), "{said}");
    shows(scene, "x/app", &["canary-new"]);
}

#[test]
fn isolation_is_told_with_the_ways_out() {
    let scene = Scene::new();
    init(&scene, "x/app");
    init(&scene, "y/app");
    let (scene, said) = add(scene, "x/app", "canary-x");
    assert!(!said.contains("warning"), "{said}");
    let (scene, said) = add(scene, "y/app", "canary-y");
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
    let [warning] = warnings.as_slice() else { panic!("{said}") };
    let names = names(&scene);
    let instead = names.iter().find(|name| *name != "app").unwrap();
    assert_eq!(
        *warning,
        format!(
            "warning: app is the project at @/x/app, which has nothing to do with this one, so the private notes \
             here go by {instead}; if the two are one project, `layers claim app` says so; to give this one a key \
             of its own, put \"projects\": {{\"@/y/app\": \"y-app\"}} under \"layers\" in \
             @/home/.harness/harness.json"
        )
    );
    assert!(instead.strip_prefix("app-").is_some_and(|digits| digits.len() == 4), "{instead}");
    // It is no failure, and the key stays.
    let status = scene.run(&["status"]).ends(0).says("warning: app is the project at @/x/app");
    assert!(status.out.contains(&format!("project    {instead} (from")), "{}", status.out);
    assert!(
        status.out.contains("not read, as it is another project's: @/home/.harness/harness-state/app.md")
    );

    let config = r#"{"layers": {"projects": {"@/y/app": "y-app"}}}"#;
    scene.write(
        "home/.harness/harness.json",
        &config.replace('@', scene.path("").to_str().unwrap().trim_end_matches('/')),
    );
    let said = scene.run(&["status"]).ends(0);
    assert!(said.err.is_empty() && said.out.contains("project    y-app"), "{said:?}");
}

/// The names of the private layers.
fn names(scene: &Scene) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(scene.path(LAYERS))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().trim_end_matches(".md").to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn copies_of_a_template_are_two_projects() {
    let template = "---\nlayer: project\nproject: starter\n---\n\n---\nid: n1\nmodel: \"*\"\nscope: project\n\
                    project: starter\n---\n\ncanary-shared\n";
    let scene = Scene::new();
    for (folder, url) in [("A", "https://example.org/a"), ("B", "https://example.org/b")] {
        init(&scene, folder);
        scene.write(&format!("{folder}/.harness/starter.md"), template);
        commit(&scene, folder);
        remote(&scene, folder, url);
    }
    let (scene, _) = add(scene, "A", "canary-a");
    let scene = shows(scene, "A", &["canary-a"]);
    let scene = shows(scene, "B", &[]);
    // Trust in one copy is none in the other.
    scene.trust("A");
    let scene = shows(scene, "A", &["canary-shared", "canary-a"]);
    let scene = shows(scene, "B", &[]);
    scene.trust("B");
    let scene = shows(scene, "B", &["canary-shared"]);
    scene.run(&["render", "--model", "a/m"]).ends(0).says("rename @/B/.harness/starter.md");
    assert_eq!(scene.run(&["check"]).ends(0).out, "", "the label is right in the layer of that name");
    let (scene, _) = add(scene, "B", "canary-b");
    let scene = shows(scene, "B", &["canary-shared", "canary-b"]);
    // A shared note still goes to the layer that is there.
    scene.run(&["add", "--layer", "repo", "--any-model", "--id", "n2", "more"]).ok();
    assert!(scene.read("B/.harness/starter.md").contains("n2"));
    scene.run(&["edit", "n2", "--set", "scope=project", "--set", "project=starter"]).ok();
    let scene = shows(scene, "A", &["canary-shared", "canary-a"]);
    assert_eq!(scene.read("A/.harness/starter.md"), template, "nothing committed is changed unasked");
}

#[test]
fn clones_of_one_remote_share_private_notes_and_nothing_else() {
    let scene = Scene::new();
    init(&scene, "seed");
    scene.write("seed/.harness/tool.md", "---\nid: n1\nmodel: \"*\"\n---\n\ncanary-old\n");
    scene.git("seed", &["add", "-A"]);
    scene.git("seed", &["commit", "-q", "-m", "first"]);
    for folder in ["C1", "C2"] {
        scene.git("", &["clone", "-q", "seed", folder]);
        scene.trust(folder);
    }
    scene.trust("seed");
    scene.git("C2", &["checkout", "-q", "-b", "other"]);
    let (scene, _) = add(scene, "C1", "canary-mine");
    let scene = scene.cwd("C1");
    scene.run(&["edit", "n1", "--content", "canary-new"]).ok();
    let old = scene.read("C2/.harness/tool.md");
    for _ in 0..2 {
        scene.run(&["sync"]).ok();
    }
    let mut scene = shows(scene, "C1", &["canary-new", "canary-mine"]);
    for _ in 0..2 {
        scene = scene.cwd("C2");
        assert_eq!(scene.run(&["sync"]).ends(0).err.matches("warning").count(), 0);
        scene = shows(scene, "C2", &["canary-old", "canary-mine"]);
        scene = shows(scene, "C1", &["canary-new", "canary-mine"]);
    }
    assert_eq!(scene.read("C2/.harness/tool.md"), old);
    // The clone they came from is nobody's clone.
    shows(scene, "seed", &["canary-old"]);
}

#[test]
fn a_remote_is_one_however_it_is_spelled() {
    let urls = ["https://me:secret@Example.org/o/r.git", "git@example.org:o/r", "ssh://git@example.org/o/r/"];
    let mut scene = Scene::new();
    for (at, url) in urls.iter().enumerate() {
        init(&scene, &format!("{at}/r"));
        remote(&scene, &format!("{at}/r"), url);
    }
    (scene, _) = add(scene, "0/r", "canary-r");
    for at in 0..urls.len() {
        scene = shows(scene, &format!("{at}/r"), &["canary-r"]);
    }
    let database = fs::read(scene.path("home/.local/state/harness-layers/store.db")).unwrap();
    let wal = fs::read(scene.path("home/.local/state/harness-layers/store.db-wal")).unwrap_or_default();
    let has_secret = |bytes: &[u8]| bytes.windows(6).any(|window| window == b"secret");
    assert!(!has_secret(&database) && !has_secret(&wal));
}

#[test]
fn worktrees_are_one_project() {
    let scene = Scene::new();
    init(&scene, "w/r");
    commit(&scene, "w/r");
    scene.git("w/r", &["worktree", "add", "-q", "../r-feat", "-b", "feat"]);
    let (scene, _) = add(scene, "w/r-feat", "canary-r");
    let scene = shows(scene, "w/r", &["canary-r"]);
    let (scene, said) = add(scene, "w/r", "canary-s");
    assert!(!said.contains("warning"), "{said}");
    shows(scene, "w/r-feat", &["canary-r", "canary-s"]);
}

#[test]
fn a_repository_that_moved_keeps_its_notes() {
    let scene = Scene::new();
    init(&scene, "w/r");
    // The first commit comes after the note, and is seen all the same.
    let (scene, _) = add(scene, "w/r", "canary-r");
    let scene = shows(scene, "w/r", &["canary-r"]);
    commit(&scene, "w/r");
    let scene = shows(scene, "w/r", &["canary-r"]);
    fs::create_dir(scene.path("v")).unwrap();
    fs::rename(scene.path("w/r"), scene.path("v/r")).unwrap();
    let scene = shows(scene, "v/r", &["canary-r"]);
    // It is known there now: a new one in the old place is another.
    init(&scene, "w/r");
    let scene = shows(scene, "w/r", &[]);
    shows(scene, "v/r", &["canary-r"]);
}

#[test]
fn a_copy_does_not_inherit() {
    let scene = Scene::new();
    init(&scene, "w/r");
    commit(&scene, "w/r");
    let (scene, _) = add(scene, "w/r", "canary-r");
    fs::create_dir(scene.path("copy")).unwrap();
    let done =
        std::process::Command::new("cp").args(["-r", "w/r", "copy/r"]).current_dir(scene.path("")).status();
    assert!(done.unwrap().success());
    let scene = shows(scene, "copy/r", &[]);
    let scene = shows(scene, "w/r", &["canary-r"]);
    // The original goes: it may have been moved, but the copy was there before.
    let (scene, _) = add(scene, "copy/r", "canary-copy");
    fs::remove_dir_all(scene.path("w/r")).unwrap();
    shows(scene, "copy/r", &["canary-copy"]);
}

#[test]
fn a_folder_keeps_its_notes_when_it_becomes_a_repository() {
    let (scene, _) = add(Scene::new(), "app", "canary-app");
    scene.git("app", &["init", "-q"]);
    let scene = shows(scene, "app", &["canary-app"]);
    // Not so one that was put there.
    replace(&scene, "app");
    shows(scene, "app", &[]);
}

#[test]
fn folders_of_one_name_are_two_projects() {
    let scene = Scene::new();
    for folder in ["x/app", "y/app"] {
        fs::create_dir_all(scene.path(folder)).unwrap();
    }
    let (scene, _) = add(scene, "x/app", "canary-x");
    let (scene, _) = add(scene, "y/app", "canary-y");
    let scene = shows(scene, "x/app", &["canary-x"]);
    shows(scene, "y/app", &["canary-y"]);
}

/// Of several that want one name at the same time one gets it.
#[test]
fn those_that_come_at_once_stay_apart() {
    let mut scene = Scene::new();
    let folders: Vec<String> = (0..6).map(|at| format!("{at}/app")).collect();
    let mut children = Vec::new();
    for (at, folder) in folders.iter().enumerate() {
        init(&scene, folder);
        scene = scene.cwd(folder);
        children.push(
            scene
                .command(&["add", "--any-model", &format!("canary-{at}")])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        );
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(names(&scene).len(), folders.len(), "{:?}", names(&scene));
    for (at, folder) in folders.iter().enumerate() {
        scene = shows(scene, folder, &[&format!("canary-{at}")]);
    }
}

#[test]
fn claim_makes_two_places_one_project() {
    let scene = Scene::new();
    init(&scene, "x/app");
    init(&scene, "y/app");
    let scene = scene.cwd("x/app");
    assert_eq!(scene.run(&["claim"]).ends(0).err, "app is this project's now\n");
    let (scene, _) = add(scene, "x/app", "canary-x");
    let (scene, _) = add(scene, "y/app", "canary-y");
    let scene = scene.cwd("y/app");
    scene.run(&["claim", "shop"]).ends(2).says("this project is called app, not shop");
    let said = scene.run(&["claim"]).ends(0).err;
    assert_eq!(said, "app is one project now, here and at @/x/app\n");
    assert_eq!(scene.run(&["claim"]).ends(0).says("app is this project's already").out, "");
    // What was noted in the meantime stays in reach, until it is moved.
    let (scene, out) = block(scene, "y/app");
    assert!(out.contains("canary-x") && out.contains("canary-y"), "{out}");
    scene.run(&["status"]).ends(1).says("this project's private layer has several files");
    let scene = shows(scene, "x/app", &["canary-x"]);
    let (scene, _) = add(scene, "y/app", "canary-z");
    let scene = shows(scene, "x/app", &["canary-x", "canary-z"]);

    let list = scene.run(&["claim", "--list"]).ok();
    assert!(list.contains("@/x/app, @/y/app"), "{list}");
    let json: serde_json::Value =
        serde_json::from_str(&scene.run(&["claim", "--list", "--json"]).ok()).unwrap();
    assert_eq!(json[0]["name"], "app");
    assert_eq!(json[1]["instead_of"], "app");
    let said = scene.run(&["claim", "app", "--json"]).ok();
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["changed"]), (&"app".into(), &false.into()));
}

#[test]
fn keys_that_are_declared_are_shared() {
    let scene = Scene::new();
    init(&scene, "x/app");
    init(&scene, "y/app");
    init(&scene, "y/client");
    let (scene, _) = add(scene, "x/app", "canary-x");
    let scene = scene.cwd("y/app");
    let ran = scene.run(&["render", "--model", "a/m", "--project", "app"]).ends(0);
    assert!(ran.out.contains("canary-x") && ran.err.is_empty(), "{ran:?}");

    let at = scene.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let config = r#"{"layers": {"projects": {"@/x/app": "client", "@/y/app": "client"}}}"#;
    scene.write("home/.harness/harness.json", &config.replace('@', &at));
    let (scene, said) = add(scene, "x/app", "canary-c");
    assert!(!said.contains("warning"), "{said}");
    let scene = shows(scene, "y/app", &["canary-c"]);
    // A folder that only happens to be called so is no part of it.
    shows(scene, "y/client", &[]);
}

#[test]
fn global_notes_of_a_project_do_not_reach_another_of_its_name() {
    let scene = Scene::new()
        .global("---\nid: n1\nmodel: \"*\"\nscope: project\nproject: app\n---\n\ncanary-global\n");
    init(&scene, "x/app");
    init(&scene, "y/app");
    let scene = shows(scene, "x/app", &["canary-global"]);
    let scene = shows(scene, "y/app", &[]);
    shows(scene, "x/app", &["canary-global"]);
}

/// What is remembered of a place costs no database and no git.
#[test]
fn a_known_place_needs_neither_store_nor_git() {
    let scene = Scene::new().global("");
    let mut canaries = BTreeMap::new();
    for folder in ["x/app", "y/app"] {
        init(&scene, folder);
        commit(&scene, folder);
    }
    let mut scene = scene;
    for folder in ["x/app", "y/app"] {
        let canary = format!("canary-{}", &folder[..1]);
        (scene, _) = add(scene, folder, &canary);
        canaries.insert(folder, canary);
    }
    for (folder, canary) in &canaries {
        scene = shows(scene, folder, &[canary]);
        scene.run(&["sync"]).ok();
    }
    // Nobody could read this store, and there is no git.
    let store = scene.path("home/.local/state/harness-layers/store.db");
    fs::write(&store, "no database").unwrap();
    for (folder, canary) in &canaries {
        scene = scene.cwd(folder);
        let ran = scene.command(&["render", "--model", "a/m"]).env("PATH", "").output().unwrap();
        let out = String::from_utf8(ran.stdout).unwrap();
        assert!(ran.status.success() && out.contains(canary.as_str()), "{out}");
        assert_eq!(out.matches("canary-").count(), 1, "{out}");
    }
    // Where nothing is remembered, nobody can tell whose the notes are.
    fs::remove_dir_all(scene.path("home/.local/state/harness-layers/claims")).unwrap();
    let scene = scene.cwd("y/app");
    let ran = scene.run(&["render", "--model", "a/m"]).ends(4).says("the home layer is left out");
    assert!(!ran.out.contains("canary"), "{}", ran.out);
}

#[test]
fn looking_at_nothing_makes_nothing() {
    let scene = Scene::strangers();
    for args in [&["render", "--model", "a/m"][..], &["status"], &["list"]] {
        scene.run(args).ok();
    }
    assert!(!scene.path("home/.local").exists());
}

/// A state folder that cannot be written stops nobody from reading.
#[test]
fn a_layer_that_cannot_be_claimed_is_read() {
    let scene = Scene::repo()
        .home("---\nid: n1\nmodel: \"*\"\n---\n\ncanary-1\n")
        .var("LAYERS_STATE", "/proc/layers");
    let ran = scene.run(&["render", "--model", "a/m", "-v"]).ends(0).says("the private layer stays nobody's");
    assert!(ran.out.contains("canary-1"), "{ran:?}");
}

/// Without a store nobody is told apart by claims; what stood for a name still tells.
#[test]
fn a_lost_store_does_not_bring_two_projects_together() {
    let scene = Scene::new();
    init(&scene, "x/app");
    init(&scene, "y/app");
    let (scene, _) = add(scene, "x/app", "canary-x");
    let (scene, _) = add(scene, "y/app", "canary-y");
    fs::remove_dir_all(scene.path("home/.local/state")).unwrap();
    let scene = shows(scene, "y/app", &["canary-y"]);
    let scene = shows(scene, "x/app", &["canary-x"]);
    shows(scene, "y/app", &["canary-y"]);
}
