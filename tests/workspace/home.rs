//! Home layers under our name and pi's.

use harness_layers::workspace::{Answer, Env, LayerState, Notice, Owned, Owners, Question, Root, Workspace};
use std::fs;
use std::os::unix::fs::symlink;

use crate::world::{Everywhere, World};

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
    assert_eq!(workspace.others, std::slice::from_ref(&pi_file));
    assert_eq!(workspace.home_layer().unwrap().path, world.path("home/.pi/agent/harness-state/other.md"));

    let env = Env { project_option: Some("app".to_owned()), ..world.env("w/app") };
    assert_eq!(world.with(&env).home_layer().unwrap().path, pi_file, "its own key, spelled out");
}

#[test]
fn a_slug_that_lost_a_whole_name_is_nobodys() {
    // pi gives both folders the slug of the folder above.
    let world = World::new();
    let shared = world.file(&format!("home/.pi/agent/harness-state/{}.md", world.slug("w/가나")), "CANARY");
    let homes = ["w/가나", "w/다라"].map(|folder| {
        world.repo(folder);
        let workspace = world.at(folder);
        assert_eq!(workspace.others, std::slice::from_ref(&shared));
        workspace.home_layer().unwrap().path.clone()
    });
    assert_ne!(homes[0], homes[1]);

    world.repo("v/app");
    world.folder("v/app/다라");
    let own = world.file(&format!("home/.pi/agent/harness-state/{}.md", world.slug("v/app")), "");
    let inner = world.at("v/app/다라");
    assert_eq!((inner.home_layer().map(|layer| &layer.path), inner.others.len()), (Some(&own), 0));
    assert!(!homes.contains(&shared), "{homes:?}");
}

/// Says the same whatever it is asked.
struct Says(Result<Owned, String>);

impl Owners for Says {
    fn own(&self, question: &Question<'_>) -> Result<Answer, String> {
        Ok(Answer { key: question.key.map(|_| self.0.clone()).transpose()?, pi_names: Vec::new() })
    }
}

fn asking(world: &World, env: &Env, owners: &Says) -> Workspace {
    Workspace::discover_in(Root::discover(env).unwrap(), env, &world.projects, owners, &Everywhere).unwrap()
}

#[test]
fn the_layer_of_another_project_of_the_name_is_out_of_reach() {
    let world = World::new();
    world.repo("w/app");
    world.file("w/app/.harness/app.md", "");
    let theirs = world.file("home/.harness/harness-state/app.md", "CANARY");
    let own = Owned { holder: Some("/x/app".into()), ..Owned::as_it_is("app-1a2b") };
    let workspace = asking(&world, &world.env("w/app"), &Says(Ok(own)));
    let (home, repo) = ("home/.harness/harness-state/app-1a2b.md", "w/app/.harness/app.md");
    assert_eq!(world.layers(&workspace), ["home/.harness/harness-state.md", repo, home]);
    assert_eq!(workspace.others, [theirs]);
    let project = &workspace.project;
    assert_eq!((&*project.key, &*project.label), ("app-1a2b", "app"));
    assert!(project.is_named("app-1a2b") && !project.is_named("app"));
    assert!(matches!(workspace.notices.as_slice(), [notice @ Notice::Isolated { .. }] if notice.is_loud()));
    assert_eq!(workspace.repo_layer().unwrap().path, world.path(repo));
}

#[test]
fn a_layer_that_nobody_knows_whose_is_not_read() {
    let world = World::new();
    world.repo("w/app");
    world.file("home/.harness/harness-state/app.md", "CANARY");
    let nobody = Says(Err("the store is away".to_owned()));
    let workspace = asking(&world, &world.env("w/app"), &nobody);
    let home = workspace.home_layer().unwrap();
    assert!(matches!(home.state, LayerState::Unknown(_)), "{:?}", home.state);
    assert!(home.read_text().unwrap_err().to_string().contains("the store is away"));
    assert!(!workspace.project.is_named("app"));
    // What is given by hand is no question.
    let env = Env { project_option: Some("app".to_owned()), ..world.env("w/app") };
    assert_eq!(asking(&world, &env, &nobody).home_layer().unwrap().state, LayerState::Present);
}
