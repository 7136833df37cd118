//! Root, project and layers over real folders and real git repositories.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use harness_layers::files::{Expected, Found, Wrote};
use harness_layers::slug::pi_slug;
use harness_layers::workspace::{
    Env, KeyOrigin, LayerKind, LayerState, Notice, Refusal, Root, RootOrigin, Workspace, WorkspaceError,
    all_projects,
};
use tempfile::TempDir;

/// A sealed world: a home folder, a place for repositories, nothing else.
struct World {
    _dir: TempDir,
    at: PathBuf,
    projects: BTreeMap<String, String>,
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let at = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(at.join("home")).unwrap();
        Self { _dir: dir, at, projects: BTreeMap::new() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.at.join(path)
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn folder(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn git(&self, folder: &str, args: &[&str]) {
        let run = Command::new("git")
            .args(args)
            .current_dir(self.path(folder))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
            .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
            .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
            .output()
            .unwrap();
        assert!(run.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&run.stderr));
    }

    /// A repository with one commit.
    fn repo(&self, path: &str) -> PathBuf {
        let folder = self.folder(path);
        self.git(path, &["init", "-q", "-b", "main"]);
        self.git(path, &["add", "-A"]);
        self.git(path, &["commit", "-q", "--allow-empty", "-m", "first"]);
        folder
    }

    fn env(&self, cwd: &str) -> Env {
        Env { home: Some(self.path("home")), cwd: self.path(cwd), ..Env::default() }
    }

    fn at(&self, cwd: &str) -> Workspace {
        self.with(&self.env(cwd))
    }

    fn with(&self, env: &Env) -> Workspace {
        Workspace::discover(env, &self.projects).unwrap()
    }

    fn key(&self, cwd: &str) -> String {
        self.at(cwd).project.key
    }

    /// The layers in reach as paths of this world.
    fn layers(&self, workspace: &Workspace) -> Vec<String> {
        let paths = workspace.layers.iter().map(|layer| &layer.path);
        paths.map(|path| path.strip_prefix(&self.at).unwrap().to_str().unwrap().to_owned()).collect()
    }

    fn slug(&self, path: &str) -> String {
        pi_slug(self.path(path).to_str())
    }
}

fn repo_layer(workspace: &Workspace) -> &harness_layers::workspace::LayerRef {
    workspace.layers.iter().find(|layer| layer.kind == LayerKind::Repo).expect("a repo layer")
}

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
fn pis_name_is_one_more_name_of_the_home_layer() {
    let world = World::new();
    world.repo("w/app");
    let slug = world.slug("w/app");
    let key_file = "home/.harness/harness-state/app.md";
    let pi_file = format!("home/.harness/harness-state/{slug}.md");
    let home = |workspace: &Workspace| {
        let mut layers = world.layers(workspace);
        layers.remove(0);
        layers
    };
    assert_eq!(home(&world.at("w/app")), [key_file], "written by its key");
    world.file(&pi_file, "");
    assert_eq!(home(&world.at("w/app")), [&pi_file, key_file], "pi's is read, ours is written");
    assert!(world.at("w/app").notices.is_empty());
    assert!(world.at("w/app").project.is_named(&slug));
    world.file(key_file, "");
    let workspace = world.at("w/app");
    let [notice @ Notice::SeveralHomeLayers { paths }] = workspace.notices.as_slice() else {
        panic!("{:?}", workspace.notices)
    };
    assert!(notice.is_clash() && paths.len() == 2, "{notice}");

    // One file under both names is one layer.
    fs::remove_file(world.path(key_file)).unwrap();
    symlink(world.path(&pi_file), world.path(key_file)).unwrap();
    assert_eq!(home(&world.at("w/app")), [key_file]);
    assert!(world.at("w/app").notices.is_empty());
}

#[test]
fn in_a_pi_root_pis_name_is_written() {
    let world = World::new();
    world.repo("w/app");
    world.folder("w/app/sub");
    world.git("w/app", &["worktree", "add", "-q", "../app-feat", "-b", "feat"]);
    world.folder("home/.pi/agent/harness-state");
    let shared = world.path(&format!("home/.pi/agent/harness-state/{}.md", world.slug("w/app")));
    let written = |cwd: &str| world.at(cwd).home_layer().unwrap().path.clone();
    for cwd in ["w/app", "w/app/sub", "w/app-feat"] {
        assert_eq!(written(cwd), shared, "{cwd}: all of a project see what one of them writes");
    }
    let of_sub = world.file(&format!("home/.pi/agent/harness-state/{}.md", world.slug("w/app/sub")), "");
    assert_eq!(written("w/app/sub"), of_sub, "pi reads only this one there");
    assert_eq!(written("w/app"), shared);

    let by_key = world.file("home/.pi/agent/harness-state/app.md", "");
    let workspace = world.at("w/app");
    assert!(workspace.layers.iter().any(|layer| layer.path == by_key), "read all the same");
    assert_eq!(workspace.home_layer().unwrap().path, shared);
}

#[test]
fn pis_file_of_a_directory_is_not_in_reach_of_another_key() {
    let world = World::new();
    world.repo("w/app");
    let pi_file = world.file(&format!("home/.pi/agent/harness-state/{}.md", world.slug("w/app")), "CANARY");
    let env = Env { project_option: Some("other".to_owned()), ..world.env("w/app") };
    let workspace = world.with(&env);
    assert!(workspace.layers.iter().all(|layer| layer.path != pi_file));
    assert_eq!(workspace.others, [pi_file.clone()]);
    assert_eq!(workspace.home_layer().unwrap().path, world.path("home/.pi/agent/harness-state/other.md"));

    let env = Env { project_option: Some("app".to_owned()), ..world.env("w/app") };
    assert_eq!(world.with(&env).home_layer().unwrap().path, pi_file, "its own key, spelled out");
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
fn without_a_work_tree_there_are_no_repo_layers() {
    let world = World::new();
    world.file("w/plain/.harness/other.md", "CANARY");
    let workspace = world.at("w/plain");
    assert_eq!(workspace.project.key, "plain");
    assert!(workspace.layers.iter().all(|layer| layer.kind != LayerKind::Repo));
}

#[test]
fn all_projects_are_listed_by_name() {
    let world = World::new();
    world.folder("w");
    let root = world.at("w").root;
    assert!(all_projects(&root).unwrap().is_empty());
    for name in ["b.md", "a.md", "notes.txt", ".hidden.md"] {
        world.file(&format!("home/.harness/harness-state/{name}"), "");
    }
    let names: Vec<String> = all_projects(&root).unwrap().into_iter().map(|layer| layer.name).collect();
    assert_eq!(names, ["a", "b"]);
    fs::remove_dir_all(world.path("home/.harness/harness-state")).unwrap();
    world.file("home/.harness/harness-state", "a file in its place");
    assert!(all_projects(&root).is_err(), "unknown is not none");
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
