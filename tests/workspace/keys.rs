//! Which project: keys from configuration, git and folders.

use std::fs;
use std::os::unix::fs::symlink;

use harness_layers::workspace::{Env, KeyOrigin, LayerKind, LayerState, Notice, Workspace, WorkspaceError};

use crate::world::{World, repo_layer};

#[test]
fn keys_come_from_the_first_that_has_one() {
    let mut world = World::new();
    world.folder("w/plain");
    assert_eq!(world.key("w/plain"), "plain");
    world.repo("w/Repo");
    assert_eq!(world.key("w/Repo"), "repo");
    assert!(matches!(world.at("w/Repo").project.origin, KeyOrigin::WorkTree(_)));

    let prefix = world.path("w").to_str().unwrap().to_owned();
    world.projects.insert(prefix.clone(), "configured".to_owned());
    assert_eq!(world.key("w/Repo"), "configured");
    world.file("w/Repo/.harness/team.md", "");
    assert_eq!(world.key("w/Repo"), "team");

    let mut env = world.env("w/Repo");
    env.rlm_project_name = Some("rlm".to_owned());
    assert_eq!(world.with(&env).project.origin, KeyOrigin::Variable("RLM_PROJECT_NAME"));
    env.layers_project = Some("variable".to_owned());
    assert_eq!(world.with(&env).project.key, "variable");
    env.project_option = Some(String::new());
    assert_eq!(world.with(&env).project.key, "variable", "empty is unset");
    env.project_option = Some("flag".to_owned());
    assert_eq!(world.with(&env).project.origin, KeyOrigin::Flag);

    world.projects.insert(prefix, "No Key".to_owned());
    let error = Workspace::discover(&world.env("w/plain"), &world.projects).unwrap_err();
    assert!(error.to_string().contains("harness.json"), "{error}");
}

#[test]
fn a_given_key_that_is_none_is_refused_with_one_that_would_do() {
    let world = World::new();
    world.folder("w");
    for given in ["My-App", "a/b", "../x", "é", "a b"] {
        let env = Env { project_option: Some(given.to_owned()), ..world.env("w") };
        match Workspace::discover(&env, &world.projects).unwrap_err() {
            WorkspaceError::InvalidKey { nearest, origin, .. } => {
                assert_eq!(origin, KeyOrigin::Flag);
                assert!(harness_layers::slug::is_key(&nearest), "{given}: {nearest}");
            }
            other => panic!("{other}"),
        }
    }
    let env = Env { layers_project: Some("My-App".to_owned()), ..world.env("w") };
    let text = Workspace::discover(&env, &world.projects).unwrap_err().to_string();
    assert!(text.contains("$LAYERS_PROJECT") && text.contains("`my-app`"), "{text}");
}

#[test]
fn unrelated_folders_have_keys_of_their_own() {
    let world = World::new();
    let folders = ["w/test-project", "w/test/project", "w/a_b", "w/a-b", "w/a.b", "w/가나", "w/다라"];
    let keys: Vec<String> = folders
        .iter()
        .map(|folder| {
            world.repo(folder);
            world.key(folder)
        })
        .collect();
    for (at, key) in keys.iter().enumerate() {
        assert!(!keys[..at].contains(key), "{key} twice in {keys:?}");
    }
    assert_eq!(&keys[..5], ["test-project", "project", "a_b", "a-b", "a.b"]);
}

#[test]
fn every_spelling_of_a_directory_is_the_same_project() {
    let world = World::new();
    world.repo("w/app");
    world.folder("w/app/src/deep");
    world.file("w/app/.harness/app.md", "");
    world.file(&format!("home/.harness/harness-state/{}.md", world.slug("w/app")), "pi");
    symlink(world.path("w/app"), world.path("link")).unwrap();
    symlink(world.path("w/app/src"), world.path("inner")).unwrap();
    let expected = world.layers(&world.at("w/app"));
    assert_eq!(expected.len(), 4, "{expected:?}");
    for spelling in ["w/app/", "w/app/src/deep", "link", "link/src", "inner/deep", "w/app/src/.."] {
        assert_eq!(world.layers(&world.at(spelling)), expected, "{spelling}");
    }
}

#[test]
fn linked_worktrees_share_a_key_and_have_layers_of_their_own() {
    let world = World::new();
    world.repo("w/r");
    world.git("w/r", &["worktree", "add", "-q", "../r-feat", "-b", "feat"]);
    world.folder("w/r-feat/sub");
    let workspace = world.at("w/r-feat/sub");
    assert_eq!(workspace.project.key, "r");
    let tree = workspace.project.work_tree.as_ref().unwrap();
    assert_eq!((&tree.root, &tree.main), (&world.path("w/r-feat"), &world.path("w/r")));
    assert!(tree.is_linked());
    assert_eq!(tree.common_dir, world.at("w/r").project.work_tree.unwrap().common_dir);

    world.file("w/r/.harness/r.md", "main");
    world.file("w/r-feat/.harness/r.md", "feat");
    assert_eq!(repo_layer(&world.at("w/r")).path, world.path("w/r/.harness/r.md"));
    assert_eq!(repo_layer(&world.at("w/r-feat/sub")).path, world.path("w/r-feat/.harness/r.md"));
    let home = |cwd: &str| world.at(cwd).home_layer().unwrap().path.clone();
    assert_eq!(home("w/r"), home("w/r-feat"));
}

#[test]
fn a_linked_worktree_has_the_configured_key_of_its_repository() {
    let mut world = World::new();
    world.repo("w/r");
    world.git("w/r", &["worktree", "add", "-q", "../../elsewhere", "-b", "feat"]);
    symlink(world.path("w"), world.path("work")).unwrap();
    world.projects.insert(world.path("work/r").to_str().unwrap().to_owned(), "client".to_owned());
    assert_eq!(world.key("w/r"), "client", "a prefix may be spelled through a link");
    assert_eq!(world.key("elsewhere"), "client");
}

#[test]
fn worktrees_of_bare_repositories_have_its_name() {
    let world = World::new();
    world.repo("seed");
    world.folder("w");
    world.git("w", &["clone", "-q", "--bare", "../seed", "tool.git"]);
    world.git("w/tool.git", &["worktree", "add", "-q", "../one"]);
    world.git("w/tool.git", &["worktree", "add", "-q", "inside"]);
    assert_eq!(world.key("w/one"), "tool");
    assert_eq!(world.key("w/tool.git/inside"), "tool");
    world.file("w/tool.git/inside/.harness/tool.md", "x");
    let workspace = world.at("w/tool.git/inside");
    assert_eq!(repo_layer(&workspace).state, LayerState::Present);

    world.folder("w/hub");
    world.git("w/hub", &["clone", "-q", "--bare", "../../seed", ".bare"]);
    world.file("w/hub/.git", "gitdir: ./.bare\n");
    world.git("w/hub", &["worktree", "add", "-q", "topic"]);
    assert_eq!(world.key("w/hub/topic"), "hub");
    assert_eq!(world.key("w/hub"), "hub");
}

#[test]
fn a_submodule_is_its_own_project() {
    let world = World::new();
    world.repo("lib");
    world.repo("w/app");
    world.file("w/app/.harness/app.md", "");
    world.git(
        "w/app",
        &["-c", "protocol.file.allow=always", "submodule", "-q", "add", "../../lib", "vendor/mylib"],
    );
    let workspace = world.at("w/app/vendor/mylib");
    assert_eq!(workspace.project.key, "mylib");
    assert_eq!(workspace.project.work_tree.as_ref().unwrap().root, world.path("w/app/vendor/mylib"));
    assert!(
        workspace.layers.iter().all(|layer| layer.kind != LayerKind::Repo),
        "the outer .harness is not ours"
    );
    assert!(workspace.others.is_empty());

    world.git("w/app/vendor/mylib", &["worktree", "add", "-q", "../../../mylib-topic", "-b", "topic"]);
    assert_eq!(world.key("w/mylib-topic"), "mylib");
}

#[test]
fn a_worktree_without_its_repository_keeps_the_name_and_says_so() {
    // As in a container into which only the work tree was mounted.
    let world = World::new();
    world.file("w/r-feat/.git", "gitdir: /no/such/r/.git/worktrees/r-feat\n");
    let workspace = world.at("w/r-feat");
    assert_eq!(workspace.project.key, "r");
    assert!(matches!(workspace.notices.as_slice(), [Notice::BrokenGit { .. }]), "{:?}", workspace.notices);

    world.file("w/odd/.git", "nonsense");
    let workspace = world.at("w/odd");
    assert_eq!(workspace.project.key, "odd");
    assert!(!workspace.notices.is_empty());
}

#[test]
fn an_empty_git_folder_is_no_repository() {
    let world = World::new();
    world.repo("w/app");
    world.folder("w/app/inner/.git");
    assert_eq!(world.key("w/app/inner"), "app");
}

#[test]
fn a_folder_with_a_hidden_name_is_a_project_like_any() {
    let world = World::new();
    world.repo("w/.dotfiles");
    let layer = world.at("w/.dotfiles").repo_layer().unwrap();
    fs::create_dir(world.path("w/.dotfiles/.harness")).unwrap();
    fs::write(&layer.path, "").unwrap();
    let again = world.at("w/.dotfiles");
    assert!(again.layers.iter().any(|known| known.path == layer.path), "{:?}", again.notices);
}
