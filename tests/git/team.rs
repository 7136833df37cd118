//! Three people, their clones, and one repository between them.

use crate::scene::Scene;

const PEOPLE: [&str; 3] = ["ann", "bob", "cyd"];

fn layer(person: &str) -> String {
    format!("{person}/.harness/shop.md")
}

/// A repository that everybody has cloned. `drivers` says who has installed the driver.
fn team(drivers: &[&str]) -> Scene {
    let scene = Scene::new();
    scene.git(".", &["init", "-q", "--bare", "-b", "main", "hub.git"]);
    let hub = format!("file://{}", scene.path("hub.git").display());
    let mut scene = scene;
    for (index, person) in PEOPLE.into_iter().enumerate() {
        scene.git(".", &["clone", "-q", &hub, person]);
        scene.git(person, &["config", "user.name", person]);
        scene.git(person, &["config", "user.email", "x@example.org"]);
        scene.git(person, &["config", "pull.rebase", if index == 0 { "true" } else { "false" }]);
        if drivers.contains(&person) {
            scene = scene.cwd(person);
            scene.run(&["git", "install", "-q"]).ok();
        }
        if index == 0 {
            scene.git(person, &["checkout", "-q", "-B", "main"]);
            scene.write(&layer(person), "---\nid: n0\n---\n\nThe shop.\n");
            scene.git(person, &["add", "-A"]);
            scene.git(person, &["commit", "-qm", "first"]);
            scene.git(person, &["push", "-q", "-u", "origin", "main"]);
        }
    }
    scene
}

fn commit(scene: &Scene, person: &str, change: impl Fn(String) -> String) {
    let path = layer(person);
    scene.write(&path, &change(scene.read(&path)));
    scene.git(person, &["commit", "-qam", person]);
}

fn exchange(scene: &Scene, person: &str) {
    scene.git(person, &["pull", "-q", "--no-edit"]);
    scene.git(person, &["push", "-q"]);
}

#[test]
fn everybody_appends_and_edits_and_nothing_is_lost() {
    let scene = team(&PEOPLE);
    for round in 0..4 {
        for person in PEOPLE {
            commit(&scene, person, |text| {
                let text = match person {
                    "ann" => text.replace("The shop", "The shop "),
                    "bob" if round == 0 => text.replace("id: n0\n", "id: n0\nimportance: 0.90\n"),
                    _ => text,
                };
                format!(
                    "{text}\n---\nid: {person}-{round}\nkind: memory\nimportance: 0.50\n---\n\n{person} {round}\n"
                )
            });
        }
        for person in PEOPLE {
            exchange(&scene, person);
        }
    }
    for person in PEOPLE {
        scene.git(person, &["pull", "-q", "--no-edit"]);
    }
    let text = scene.read(&layer("ann"));
    for person in PEOPLE {
        assert_eq!(scene.read(&layer(person)), text);
        for round in 0..4 {
            assert_eq!(text.matches(&format!("id: {person}-{round}\n")).count(), 1, "{text}");
            assert_eq!(text.matches(&format!("\n{person} {round}\n")).count(), 1, "{text}");
        }
    }
    assert_eq!(text.matches("importance: 0.90").count(), 1, "{text}");
    assert!(text.contains("The shop    ."), "{text}");
    let scene = scene.cwd("cyd");
    scene.run(&["check", ".harness/shop.md"]).ok();
}

/// One clone without the driver, where git merges by lines and the result is accepted as
/// "both": the blend is told with its remedy, and what is lost is nothing.
#[test]
fn a_clone_without_the_driver_says_so_and_its_blend_can_be_split() {
    let scene = team(&["ann", "bob"]);
    let add = |id: &'static str| {
        move |text: String| format!("{text}\n---\nid: {id}\nkind: memory\nimportance: 0.50\n---\n\n{id}\n")
    };
    commit(&scene, "ann", add("n1"));
    scene.git("ann", &["push", "-q"]);
    scene.git("cyd", &["pull", "-q", "--rebase"]);
    let scene = scene.cwd("cyd");
    scene.trust("cyd");
    scene.run(&["status"]).ends(0).says("names a merge driver that git does not know");
    scene.git("cyd", &["reset", "-q", "--hard", "HEAD~1"]);
    commit(&scene, "cyd", add("n2"));
    assert_ne!(scene.try_git("cyd", &["pull", "-q", "--no-edit"]).code, 0);
    let text = scene.read(&layer("cyd"));
    let both: String = text.split_inclusive('\n').filter(|line| !line.starts_with(['<', '=', '>'])).collect();
    scene.write(&layer("cyd"), &both);
    scene.git("cyd", &["commit", "-qam", "both"]);
    scene.run(&["check", ".harness/shop.md"]).ends(1).prints("blend");
    scene.run(&["fmt", ".harness/shop.md"]).ok();
    let list = scene.run(&["list", "--all"]).ok();
    assert!(["n0", "n1", "n2"].iter().all(|id| list.contains(id)), "{list}");
}
