//! What `layers git install` sets, and that `--remove` leaves everything as it was.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::scene::Scene;

const LINE: &str = "**/.harness/*.md merge=harness-layers\n";
const ATTRIBUTES: &str = "app/.gitattributes";

fn driver(scene: &Scene, folder: &str) -> String {
    scene.try_git(folder, &["config", "--get", "merge.harness-layers.driver"]).out
}

fn merges(scene: &Scene, path: &str) -> String {
    scene.try_git("app", &["check-attr", "merge", "--", path]).ok().trim_end().to_owned()
}

#[test]
fn installing_is_idempotent_and_undone_exactly() {
    for held in
        [None, Some("*.png binary\n"), Some("*.png binary"), Some("*.png binary\r\n* text\r\n"), Some("\n\n")]
    {
        let scene = Scene::repo();
        if let Some(text) = held {
            scene.write(ATTRIBUTES, text);
        }
        let config = scene.read("app/.git/config");
        scene.run(&["git", "install"]).ends(0).says("commit .gitattributes");
        let installed = (scene.read(ATTRIBUTES), scene.read("app/.git/config"));
        assert!(installed.0.starts_with(held.unwrap_or_default()), "{installed:?}");
        assert_eq!(merges(&scene, ".harness/app.md"), ".harness/app.md: merge: harness-layers");
        assert_eq!(merges(&scene, "web/.harness/web.md"), "web/.harness/web.md: merge: harness-layers");
        assert_eq!(merges(&scene, "docs/app.md"), "docs/app.md: merge: unspecified");
        assert!(driver(&scene, "app").contains(" git merge-driver %O %A %B -L %L -P %P "));
        scene.run(&["git", "install"]).ends(0).says("there already: the merge driver");
        assert_eq!((scene.read(ATTRIBUTES), scene.read("app/.git/config")), installed);
        scene.run(&["git", "install", "--remove"]).ends(0).says("removed the merge driver");
        assert_eq!(scene.read("app/.git/config"), config);
        match held {
            Some(text) => assert_eq!(scene.read(ATTRIBUTES), text),
            None => assert!(!scene.path(ATTRIBUTES).exists()),
        }
        scene.run(&["git", "install", "--remove"]).ends(0).says("not there: the merge driver");
    }
}

#[test]
fn a_line_of_a_persons_stays_where_it_is() {
    let scene = Scene::repo();
    scene.write(ATTRIBUTES, &format!("{LINE}*.png binary\n"));
    scene.run(&["git", "install"]).ends(0);
    assert_eq!(scene.read(ATTRIBUTES), format!("{LINE}*.png binary\n"));
}

#[test]
fn a_linked_work_tree_and_a_subfolder_install_for_the_repository() {
    let scene = Scene::repo().file("app/sub/x", "x\n");
    scene.git("app", &["add", "."]);
    scene.git("app", &["commit", "-qm", "one"]);
    scene.git("app", &["worktree", "add", "-q", "../feat"]);
    let scene = scene.cwd("feat/sub");
    scene.run(&["git", "install"]).ends(0);
    assert_eq!(scene.read("feat/.gitattributes"), LINE);
    assert!(!driver(&scene, "app").is_empty());
}

#[test]
fn a_root_that_is_a_work_tree_has_its_home_layers_merged_too() {
    let scene = Scene::new().global("---\nid: g\n---\n\nG.\n");
    scene.git("home/.harness", &["init", "-q"]);
    let scene = scene.cwd("home/.harness");
    scene.run(&["git", "install"]).ends(0);
    let text = scene.read("home/.harness/.gitattributes");
    assert_eq!(
        text,
        "**/.harness/*.md merge=harness-layers\n/harness-state.md merge=harness-layers\n\
         /harness-state/*.md merge=harness-layers\n"
    );
    scene.run(&["git", "install", "--remove"]).ends(0);
    assert!(!scene.path("home/.harness/.gitattributes").exists());
}

#[test]
fn the_users_configuration_takes_the_driver_alone() {
    let scene = Scene::repo().file("home/.gitconfig", "[user]\n\tname = A\n");
    scene.run(&["git", "install", "--global"]).ends(0);
    assert!(scene.read("home/.gitconfig").contains("[merge \"harness-layers\"]"));
    assert!(!scene.path(ATTRIBUTES).exists() && driver(&scene, "app").is_empty());
    let scene = scene.cwd(".");
    scene.run(&["git", "install", "--global"]).ends(0).says("there already");
    scene.run(&["git", "install", "--global", "--remove"]).ends(0);
    assert_eq!(scene.read("home/.gitconfig"), "[user]\n\tname = A\n");
}

#[test]
fn where_there_is_no_work_tree_it_is_refused() {
    let scene = Scene::new();
    scene.run(&["git", "install"]).ends(3).says("there is no git work tree here");
    scene.git(".", &["init", "-q", "--bare", "bare.git"]);
    let scene = scene.cwd("bare.git");
    scene.run(&["git", "install"]).ends(3).says("bare repository");
}

#[test]
fn without_git_it_is_said_so() {
    let scene = Scene::repo();
    let done = scene.command(&["git", "install"]).env("PATH", "/nowhere").output().unwrap();
    scene.ran(&done).ends(4).says("there is no `git` on the PATH");
    assert!(!scene.path(ATTRIBUTES).exists());
}

#[test]
fn a_link_in_the_place_of_attributes_is_not_followed() {
    let scene = Scene::repo().file("other", "x\n");
    std::os::unix::fs::symlink(scene.path("other"), scene.path(ATTRIBUTES)).unwrap();
    scene.run(&["git", "install"]).ends(3).says("is a link");
    assert_eq!(scene.read("other"), "x\n");
}

#[test]
fn the_hook_checks_the_layers_of_a_commit() {
    let scene = Scene::repo();
    scene.run(&["git", "install", "--pre-commit"]).ends(0).says("set the pre-commit hook");
    let hook = scene.path("app/.git/hooks/pre-commit");
    assert_eq!(fs::metadata(&hook).unwrap().permissions().mode() & 0o111, 0o111);
    scene.run(&["git", "install", "--pre-commit"]).ends(0).says("there already: the pre-commit hook");
    scene.write("app/.harness/my app.md", "x");
    scene.write("app/.harness/app.md", "---\nid: a\nkind: [\n---\n\nx\n");
    scene.git("app", &["add", "."]);
    let refused = scene.try_git("app", &["commit", "-qm", "broken"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.all().contains(".harness/app.md:4:"), "{refused:?}");
    scene.write("app/.harness/app.md", "---\nid: a\n---\n\nx\n");
    scene.git("app", &["add", "."]);
    scene.git("app", &["commit", "-qm", "good"]);
    scene.write("app/x", "no layer");
    scene.git("app", &["add", "."]);
    scene.git("app", &["commit", "-qm", "nothing to check"]);
    scene.run(&["git", "install", "--remove"]).ends(0).says("removed the pre-commit hook");
    assert!(!hook.exists());
}

#[test]
fn a_hook_of_somebody_elses_stays_and_the_lines_to_add_are_told() {
    let scene = Scene::repo().file("app/.git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
    let ran = scene.run(&["git", "install", "--pre-commit"]).ends(3).says("not made by `layers`");
    assert!(ran.err.contains("set the merge driver") && ran.err.contains("git diff --cached"), "{}", ran.err);
    assert_eq!(scene.read("app/.git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n");
    scene.run(&["git", "install", "--remove"]).ends(0).says("not there: the pre-commit hook");
    assert_eq!(scene.read("app/.git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n");
    let scene = Scene::repo();
    scene.git("app", &["config", "core.hooksPath", "../hooks"]);
    scene.run(&["git", "install", "--pre-commit"]).ends(3).says("core.hooksPath");
    assert!(!scene.path("hooks").exists());
}

#[test]
fn status_says_when_a_clone_lacks_the_driver() {
    let scene = Scene::repo();
    let quiet = |scene: &Scene| {
        let err = scene.run(&["status"]).ends(0).err;
        assert!(!err.contains("merge"), "{err}");
    };
    quiet(&scene);
    scene.write(ATTRIBUTES, &format!("# merge=harness-layers\n{LINE}"));
    scene
        .run(&["status"])
        .ends(0)
        .says("names a merge driver that git does not know")
        .says("layers git install");
    scene.run(&["status", "--json"]).prints("\"merge_driver\": [\n    \".gitattributes names");
    scene.run(&["git", "install"]).ends(0);
    quiet(&scene);
    scene.git(
        "app",
        &["config", "merge.harness-layers.driver", "command -v '/no such/layers' >/dev/null 2>&1 || x"],
    );
    scene.run(&["status"]).ends(0).says("/no such/layers, which is not there");
    scene.git("app", &["config", "merge.harness-layers.driver", "my-own %O %A %B"]);
    quiet(&scene);
}

/// A path with blanks, quotes and percent signs; and a binary that is gone again.
#[test]
fn the_program_may_be_anywhere_and_may_go() {
    let scene = Scene::repo();
    let odd = scene.path("bin/it's 100%O here");
    fs::create_dir_all(&odd).unwrap();
    let program = odd.join("layers");
    // By another process: a file that any of ours has open for writing cannot be run.
    let copy = || {
        let done = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_layers")).arg(&program).status();
        assert!(done.unwrap().success());
    };
    copy();
    let install = |path: &str| {
        let done = std::process::Command::new(&program)
            .args(["git", "install"])
            .current_dir(scene.path("app"))
            .env("HOME", scene.path("home"))
            .env("PATH", path)
            .output()
            .unwrap();
        scene.ran(&done).ends(0);
    };
    let path = std::env::var("PATH").unwrap();
    install(&path);
    let layer = "app/.harness/app.md";
    let of =
        |first: &str, second: &str| format!("---\nid: a\n---\n\n{first}\n\n---\nid: b\n---\n\n{second}\n");
    scene.write(layer, &of("one", "two"));
    let commit = |text: &str| {
        scene.write(layer, text);
        scene.git("app", &["add", "."]);
        scene.git("app", &["commit", "-qm", "x"]);
    };
    commit(&of("one", "two"));
    scene.git("app", &["checkout", "-qb", "feature"]);
    // On neighbouring lines, so that only the driver merges it.
    commit(&of("one", "two").replace("id: a\n", "id: a\nimportance: 0.90\n"));
    scene.git("app", &["checkout", "-q", "main"]);
    commit(&of("one", "two").replace("id: a\n", "id: a\nmodel: m/x\n"));
    scene.git("app", &["merge", "-q", "-m", "merged", "feature"]);
    let text = scene.read(layer);
    assert!(text.contains("importance: 0.90") && text.contains("model: m/x"), "{text}");
    // Gone: git's own merge, with its markers, and nothing of either side lost.
    scene.git("app", &["reset", "-q", "--hard", "HEAD~1"]);
    fs::remove_file(&program).unwrap();
    assert_eq!(scene.try_git("app", &["merge", "-q", "feature"]).code, 1);
    let text = scene.read(layer);
    assert!(
        text.contains("<<<<<<< ours") && text.contains("importance: 0.90") && text.contains("model: m/x"),
        "{text}"
    );
    scene.git("app", &["merge", "--abort"]);
    // On the PATH, its name alone is written down.
    copy();
    install(&format!("{}:{path}", odd.display()));
    assert!(driver(&scene, "app").starts_with("command -v layers >"), "{}", driver(&scene, "app"));
}
