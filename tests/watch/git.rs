//! Git may do what it likes while layers are watched; it finds only what it put there.

use std::process::Command;

use super::scene::Scene;
use super::world::{Watch, eventually, is, known, layer, notes};

const REPO: &str = "app/.harness/app.md";

fn git(scene: &Scene, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(args)
        .current_dir(scene.path("app"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", scene.path("home"))
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

fn contents(scene: &Scene) -> Vec<(String, String)> {
    notes(scene).into_iter().filter(|(id, _)| !id.starts_with("barrier")).collect()
}

fn pairs(notes: &[(&str, &str)]) -> Vec<(String, String)> {
    notes.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn git_finds_what_it_put_there() {
    let first = [("n1", "old"), ("n2", "Two.")];
    let second = [("n1", "new"), ("n2", "Two."), ("n3", "Three.")];
    let third = [("n1", "new"), ("n2", "Two."), ("n3", "Three."), ("n4", "Four.")];
    let scene = known(Scene::repo().file(REPO, &layer(&first)));
    scene.git("app", &["add", "."]);
    scene.git("app", &["commit", "-qm", "A"]);
    scene.git("app", &["tag", "A"]);
    scene.write(REPO, &layer(&second));
    let scene = known(scene);
    scene.git("app", &["commit", "-qam", "B"]);
    scene.git("app", &["branch", "B"]);
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);

    let is_clean = |at: &str, expected: &[(&str, &str)]| {
        watch.barrier(&scene);
        assert_eq!(git(&scene, &["status", "--porcelain"]), "", "{at}");
        assert_eq!(git(&scene, &["rev-parse", "HEAD"]), git(&scene, &["rev-parse", at]));
        assert_eq!(scene.read(REPO), layer(expected), "{at}");
        assert_eq!(contents(&scene), pairs(expected), "{at}");
    };
    scene.git("app", &["reset", "-q", "--hard", "A"]);
    is_clean("A", &first);
    scene.git("app", &["checkout", "-q", "B"]);
    is_clean("B", &second);
    scene.git("app", &["checkout", "-q", "A"]);
    scene.git("app", &["checkout", "-q", "B"]);
    is_clean("B", &second);
    for _ in 0..2 {
        scene.git("app", &["checkout", "-q", "A"]);
        is_clean("A", &first);
        scene.git("app", &["checkout", "-q", "B"]);
        is_clean("B", &second);
    }

    let mark = watch.mark();
    scene.write(REPO, &layer(&third));
    watch.changed(mark, "n4");
    scene.git("app", &["stash", "-q"]);
    is_clean("B", &second);
    scene.git("app", &["stash", "pop", "-q"]);
    watch.barrier(&scene);
    assert_eq!(git(&scene, &["status", "--porcelain"]), " M .harness/app.md\n");
    assert_eq!(scene.read(REPO), layer(&third));
    assert_eq!(contents(&scene), pairs(&third));
    let events = watch.end();
    assert!(
        !events.iter().any(|event| ["conflict", "held", "error"].iter().any(|it| event["event"] == *it)),
        "{events:#?}"
    );
}

/// Trust may be given and taken back while it runs.
#[test]
fn what_nobody_trusts_is_not_touched() {
    let scene = Scene::strangers().global("---\nid: g1\n---\n\nEverywhere.\n");
    let nameless = |text: &str| format!("---\nkind: memory\n---\n\n{text}\n");
    scene.write(REPO, &nameless("One."));
    let watch = Watch::start(&scene, &[]);
    assert!(watch.stderr().contains("you have not trusted this repository"), "{}", watch.stderr());
    scene.write(REPO, &nameless("Two."));
    watch.barrier(&scene);
    assert_eq!(scene.read(REPO), nameless("Two."));
    scene.trust("app");
    scene.write(REPO, &nameless("Three."));
    watch.until("it is taken in", |event| is(event, "changed", ".harness/app.md"));
    eventually("it gets its id", || scene.read(REPO).contains("id: h_"));
    scene.run(&["untrust"]).ok();
    scene.write(REPO, &nameless("Four."));
    watch.barrier(&scene);
    assert_eq!(scene.read(REPO), nameless("Four."));
    watch.end();
}
