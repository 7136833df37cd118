//! The root and what lies in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use harness_layers::files::{Expected, Found, Wrote};
use harness_layers::workspace::{Env, LayerKind, LayerState, Root, RootOrigin, WorkspaceError, all_projects};

use crate::world::World;

#[test]
fn the_root_is_the_flag_the_variable_pi_or_the_default() {
    let world = World::new();
    world.folder("w");
    let mut env = world.env("w");
    let root = |env: &Env| Root::discover(env).unwrap();
    assert_eq!(root(&env).path, world.path("home/.harness"));
    assert_eq!(root(&env).origin, RootOrigin::Default);

    world.folder("home/.pi/agent");
    assert_eq!(root(&env).origin, RootOrigin::Default, "pi without harness files is no root");
    for sign in ["harness-state.md", "harness.json", "harness-state/x.md"] {
        let path = world.file(&format!("home/.pi/agent/{sign}"), "{}");
        assert_eq!(root(&env).origin, RootOrigin::Pi, "{sign}");
        assert!(root(&env).is_pi);
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(root(&env).origin, RootOrigin::Pi, "an empty harness-state folder is a sign");

    env.layers_root = Some(PathBuf::from("relative/"));
    assert_eq!(root(&env).path, world.path("w/relative"));
    env.root_option = Some(world.path("other/.pi/agent/"));
    assert_eq!((root(&env).origin, root(&env).is_pi), (RootOrigin::Flag, true));
    (env.root_option, env.layers_root) = (Some(PathBuf::new()), Some(PathBuf::new()));
    assert_eq!(root(&env).origin, RootOrigin::Pi, "empty is unset");
    env.home = None;
    fs::remove_dir_all(world.path("home")).unwrap();
    assert!(matches!(Root::discover(&env), Err(WorkspaceError::NoHome)));
}

#[test]
fn discovery_makes_nothing() {
    let world = World::new();
    world.folder("w");
    let workspace = world.at("w");
    assert_eq!(
        world.layers(&workspace),
        ["home/.harness/harness-state.md", "home/.harness/harness-state/w.md"]
    );
    assert!(workspace.layers.iter().all(|layer| layer.state == LayerState::Absent));
    assert_eq!(workspace.layers[0].read_text().unwrap(), Found::Absent);
    assert!(!world.path("home/.harness").exists());
    assert!(workspace.repo_layer().is_none(), "no work tree, no repo layer");
}

#[test]
fn the_users_own_layers_may_be_links_to_anywhere() {
    let world = World::new();
    world.folder("w");
    world.folder("home/.harness");
    let target = world.file("dotfiles/global.md", "global");
    symlink(&target, world.path("home/.harness/harness-state.md")).unwrap();
    let workspace = world.at("w");
    let layer = workspace.global_layer().unwrap();
    assert_eq!(layer.read_text().unwrap().content().as_deref(), Some("global"));
    assert_eq!(layer.replace(Expected::Bytes(b"global"), b"new").unwrap(), Wrote::Replaced);
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
}

#[test]
fn a_home_folder_under_git_does_not_turn_the_root_into_repo_layers() {
    let world = World::new();
    world.repo("home");
    world.file("home/.harness/harness-state.md", "global");
    world.folder("home/x");
    let workspace = world.at("home/x");
    assert_eq!(workspace.project.key, "home");
    assert!(workspace.layers.iter().all(|layer| layer.kind != LayerKind::Repo));
    assert!(workspace.repo_layer().is_none() && workspace.notices.is_empty(), "{:?}", workspace.notices);
}

#[test]
fn all_projects_are_listed_by_name() {
    let world = World::new();
    world.folder("w");
    let root = world.at("w").root;
    assert!(all_projects(&root).unwrap().is_empty());
    for name in ["b.md", "a.md", "notes.txt", ".#b.md"] {
        world.file(&format!("home/.harness/harness-state/{name}"), "");
    }
    let names: Vec<String> = all_projects(&root).unwrap().into_iter().map(|layer| layer.name).collect();
    assert_eq!(names, ["a", "b"]);
    fs::remove_dir_all(world.path("home/.harness/harness-state")).unwrap();
    world.file("home/.harness/harness-state", "a file in its place");
    assert!(all_projects(&root).is_err(), "unknown is not none");
}
