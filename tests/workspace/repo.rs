//! Repo layers: which are in reach, and which are refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use harness_layers::files::{Expected, Found, Wrote};
use harness_layers::workspace::{
    Distrust, Env, KeyOrigin, LayerKind, LayerState, Notice, Refusal, Trust, Workspace, WorkspaceError,
};

use crate::world::{World, repo_layer};

#[test]
fn nested_layers_of_one_key_are_in_reach_inner_over_outer() {
    let world = World::new();
    world.repo("w/mono");
    world.file("w/.harness/outside.md", "CANARY");
    world.file("w/mono/.harness/mono.md", "");
    world.file("w/mono/a/.harness/mono.md", "");
    world.file("w/mono/a/b/.harness/README.md", "");
    world.file("w/mono/a/pkg/.harness/pkg.md", "");
    let workspace = world.at("w/mono/a/b");
    assert_eq!(
        world.layers(&workspace),
        [
            "home/.harness/harness-state.md",
            "w/mono/.harness/mono.md",
            "w/mono/a/.harness/mono.md",
            "home/.harness/harness-state/mono.md",
        ]
    );
    assert_eq!(workspace.layers.iter().map(|layer| layer.precedence).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(workspace.repo_layer().unwrap().path, world.path("w/mono/a/.harness/mono.md"));
    assert!(workspace.notices.is_empty(), "{:?}", workspace.notices);

    let package = world.at("w/mono/a/pkg");
    assert_eq!(package.project.key, "pkg");
    assert_eq!(repo_layer(&package).path, world.path("w/mono/a/pkg/.harness/pkg.md"));
    assert_eq!(
        package.others,
        [world.path("w/mono/.harness/mono.md"), world.path("w/mono/a/.harness/mono.md")]
    );

    let env = Env { project_option: Some("mono".to_owned()), ..world.env("w/mono/a/pkg") };
    assert_eq!(world.with(&env).layers.iter().filter(|layer| layer.kind == LayerKind::Repo).count(), 2);
}

#[test]
fn of_several_layers_in_a_folder_the_one_of_the_known_key_counts() {
    let mut world = World::new();
    world.repo("w/app");
    world.file("w/app/.harness/one.md", "");
    world.file("w/app/.harness/two.md", "");
    let workspace = world.at("w/app");
    assert_eq!(workspace.project.key, "app");
    assert!(workspace.layers.iter().all(|layer| layer.kind != LayerKind::Repo), "nothing is guessed");
    let [notice @ Notice::Ambiguous { keys, .. }] = workspace.notices.as_slice() else {
        panic!("{:?}", workspace.notices)
    };
    assert_eq!(keys, &["one", "two"]);
    assert!(notice.is_clash() && notice.to_string().contains("(one, two)"), "{notice}");

    world.projects.insert(world.path("w/app").to_str().unwrap().to_owned(), "two".to_owned());
    let workspace = world.at("w/app");
    assert_eq!(workspace.project.origin, KeyOrigin::RepoLayer(world.path("w/app/.harness/two.md")));
    assert!(workspace.notices.is_empty());
    assert_eq!(workspace.others, [world.path("w/app/.harness/one.md")]);
}

#[test]
fn a_layer_whose_name_is_no_key_is_named() {
    let world = World::new();
    world.repo("w/app");
    world.file("w/app/.harness/My App.md", "");
    world.file("w/app/.harness/.app.md.swp", "");
    let workspace = world.at("w/app");
    assert!(matches!(workspace.notices.as_slice(), [Notice::Misnamed { .. }]), "{:?}", workspace.notices);
    assert_eq!(workspace.repo_layer().unwrap().path, world.path("w/app/.harness/app.md"));
}

#[test]
fn a_repo_layer_that_leads_out_is_refused_unread_and_unwritten() {
    let world = World::new();
    let outside = world.file("outside/acme.md", "CANARY");
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o640)).unwrap();
    let cases: [(&str, &str, &str); 3] = [
        ("w/file", ".harness/acme.md", "../../../outside/acme.md"),
        ("w/folder", ".harness", "../../outside"),
        ("w/dangling", ".harness/acme.md", "../../../outside/none.md"),
    ];
    for (repo, link, target) in cases {
        world.repo(repo);
        let link = world.path(repo).join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        let workspace = world.at(repo);
        let layer = repo_layer(&workspace);
        assert!(
            matches!(&layer.state, LayerState::Refused(Refusal::Outside { .. })),
            "{repo}: {:?}",
            layer.state
        );
        assert!(matches!(layer.read_text(), Err(WorkspaceError::Refused { .. })));
        for expected in [Expected::Absent, Expected::Bytes(b"CANARY")] {
            let error = layer.replace(expected, b"x").unwrap_err();
            assert!(error.to_string().contains("outside its work tree"), "{error}");
        }
        assert_eq!(workspace.repo_layer().as_ref(), Some(layer), "no other place is chosen for it");
        assert!(workspace.others.is_empty(), "a folder outside is not even listed");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "CANARY");
    assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(!world.path("outside/none.md").exists());
}

#[test]
fn a_link_that_arrives_after_discovery_is_refused_too() {
    let world = World::new();
    let outside = world.file("outside.md", "CANARY");
    world.repo("w/acme");
    let path = world.file("w/acme/.harness/acme.md", "ours");
    let workspace = world.at("w/acme");
    let layer = repo_layer(&workspace);
    assert_eq!(layer.read_text().unwrap().content().as_deref(), Some("ours"));
    fs::remove_file(&path).unwrap();
    symlink(&outside, &path).unwrap();
    assert!(matches!(layer.read_text(), Err(WorkspaceError::Refused { .. })));
    assert!(layer.replace(Expected::Bytes(b"CANARY"), b"x").is_err());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "CANARY");
}

#[test]
fn a_repo_layer_may_link_inside_its_work_tree_but_not_into_git_or_a_nested_repository() {
    let world = World::new();
    world.repo("w/acme");
    world.file("w/acme/docs/notes.md", "notes");
    world.repo("w/acme/vendor/lib");
    world.file("w/acme/vendor/lib/notes.md", "theirs");
    world.folder("w/acme/.harness");
    let link = world.path("w/acme/.harness/acme.md");
    let state = |target: &str| {
        let _ = fs::remove_file(&link);
        symlink(target, &link).unwrap();
        repo_layer(&world.at("w/acme")).state.clone()
    };
    assert_eq!(state("../docs/notes.md"), LayerState::Present);
    let workspace = world.at("w/acme");
    assert_eq!(repo_layer(&workspace).replace(Expected::Bytes(b"notes"), b"more").unwrap(), Wrote::Replaced);
    assert_eq!(fs::read_to_string(world.path("w/acme/docs/notes.md")).unwrap(), "more");

    assert!(matches!(state("../.git/config"), LayerState::Refused(Refusal::GitFolder { .. })));
    assert!(matches!(state("../vendor/lib/notes.md"), LayerState::Refused(Refusal::OtherWorkTree { .. })));
    assert!(matches!(state("acme.md"), LayerState::Refused(Refusal::Unresolved { .. })));
    assert_eq!(state("../docs/new.md"), LayerState::Present, "dangling, but inside: reading tells");
}

#[test]
fn new_layers_are_private_at_home_and_as_the_umask_says_in_a_repository() {
    let world = World::new();
    world.repo("w/app");
    let by_umask = world.file("by_umask", "");
    let workspace = world.at("w/app");
    let repo = workspace.repo_layer().unwrap();
    assert_eq!(repo.replace(Expected::Absent, b"x").unwrap(), Wrote::Created);
    let home = workspace.home_layer().unwrap();
    assert_eq!(home.replace(Expected::Absent, b"x").unwrap(), Wrote::Created);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&repo.path), mode(&by_umask));
    assert_eq!((mode(&home.path), mode(home.path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn without_a_work_tree_there_are_no_repo_layers() {
    let world = World::new();
    world.file("w/plain/.harness/other.md", "CANARY");
    let workspace = world.at("w/plain");
    assert_eq!(workspace.project.key, "plain");
    assert!(workspace.layers.iter().all(|layer| layer.kind != LayerKind::Repo));
}

#[test]
fn a_layer_is_found_however_its_path_is_spelled() {
    let world = World::new();
    world.repo("w/app");
    let path = world.file("w/app/.harness/app.md", "");
    let workspace = world.at("w/app");
    for spelling in [path.clone(), world.path("w/app/./.harness/../.harness/app.md")] {
        assert_eq!(workspace.layer_at(&spelling).map(|layer| &layer.path), Some(&path));
    }
    assert!(workspace.layer_at(&world.path("w/none.md")).is_none());
}

/// Whoever keeps no store has trusted nothing: layers are there to be looked at.
#[test]
fn without_anybody_who_knows_a_repo_layer_is_read_and_not_written() {
    let world = World::new();
    world.repo("w/app");
    world.file("w/app/.harness/app.md", "---\nid: n1\n---\n\nx\n");
    let workspace = Workspace::discover(&world.env("w/app"), &world.projects).unwrap();
    let layer = &workspace.layers[1];
    assert_eq!(layer.trust, Trust::Untrusted(Distrust::Never));
    assert!(matches!(layer.read_text(), Ok(Found::Content(_))));
    let refused = layer.replace(Expected::Bytes(b"---\nid: n1\n---\n\nx\n"), b"y").unwrap_err();
    assert!(matches!(refused, WorkspaceError::Untrusted { .. }), "{refused}");
    assert!(workspace.notices.iter().any(Notice::is_loud), "{:?}", workspace.notices);
}
