//! One layer on two machines, each with a home, a store and a checkout of its own: stores
//! that are behind, deletions that travel, notes that come back under an old id.

use std::fs;

use super::scene::{HOME, Scene};
use super::stage::{Form, Stage, VARIANTS};

const STATE: &str = "home/.local/state/harness-layers";

/// A layer on two machines. The repository's travels by git, the private one by a copy.
struct Machines {
    one: Stage,
    two: Stage,
}

/// Runs `test` for both layers, in both forms.
fn on_two(notes: &[(&str, &str)], test: impl Fn(&Machines)) {
    for (path, form, eol) in VARIANTS {
        println!("with {path} as {form:?}, line end {eol:?}");
        test(&Machines::new(path, form, eol, notes));
    }
}

impl Machines {
    fn new(path: &'static str, form: Form, eol: &'static str, notes: &[(&str, &str)]) -> Self {
        let one = Stage::with(path, form, eol, notes);
        one.scene.git(".", &["init", "-q", "--bare", "-b", "main", "origin.git"]);
        one.scene.git("app", &["remote", "add", "origin", "../origin.git"]);
        one.scene.write("app/readme.txt", "an app\n");
        one.commit("first");
        one.scene.git("app", &["push", "-q", "-u", "origin", "main"]);
        let two = Stage { scene: Scene::new(), path, form, eol };
        let origin = one.scene.path("origin.git");
        two.scene.git(".", &["clone", "-q", origin.to_str().unwrap(), "app"]);
        let machines = Self { one, two };
        if path == HOME {
            machines.two.write(&machines.one.read());
        } else {
            machines.two.scene.trust("app");
        }
        machines
    }
}

/// What one machine has gets to the other.
fn send(from: &Stage, to: &Stage) {
    if !from.is_repo() {
        to.write(&from.read());
        return;
    }
    from.commit("more");
    from.scene.git("app", &["push", "-q"]);
    to.scene.git("app", &["pull", "-q", "--ff-only"]);
}

/// The lines that a work tree has beyond HEAD, and those it lacks.
fn diff(stage: &Stage) -> (Vec<String>, Vec<String>) {
    let diff = stage.scene.try_git("app", &["diff", "-U0", "HEAD"]).ok();
    let of = |sign: char, head: &str| {
        diff.lines()
            .filter(|line| line.starts_with(sign) && !line.starts_with(head))
            .map(|line| line[1..].trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    (of('+', "+++"), of('-', "---"))
}

const THREE: [(&str, &str); 3] = [("n1", "one"), ("n2", "two"), ("n3", "three")];
const SIX: [(&str, &str); 6] =
    [("n1", "one"), ("n2", "two"), ("n3", "three"), ("n4", "four"), ("n5", "five"), ("n6", "six")];

fn with_seventh(notes: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [notes, &[("n7", "seven")]].concat()
}

fn only_the_seventh_is_new(stage: &Stage) {
    let (added, removed) = diff(stage);
    assert!(removed.is_empty(), "{removed:?}");
    let text = added.join("\n");
    assert!(text.contains("n7") && text.contains("seven"), "{text}");
    assert!(SIX.iter().all(|(id, content)| !text.contains(id) && !text.contains(content)), "{text}");
}

#[test]
fn a_store_that_is_behind_takes_the_pulled_notes_before_it_writes() {
    on_two(&THREE, |machines| {
        let Machines { one, two } = machines;
        two.sync().ok();
        one.save(&SIX);
        send(one, two);
        let pulled = two.read();
        two.agent_adds("n7", "seven");
        for line in pulled.lines() {
            assert!(two.read().contains(line), "{line:?} is as it was pulled");
        }
        if two.is_repo() {
            only_the_seventh_is_new(two);
        }
        two.is_in_step(&with_seventh(&SIX));
    });
}

#[test]
fn a_fresh_clone_with_an_empty_store_starts_from_the_file() {
    on_two(&SIX, |machines| {
        let two = &machines.two;
        assert!(two.is_repo() || !two.scene.path(STATE).exists(), "nothing but trust is known");
        two.agent_adds("n7", "seven");
        if two.is_repo() {
            only_the_seventh_is_new(two);
        }
        two.is_in_step(&with_seventh(&SIX));
        assert!(two.archive().is_empty());
    });
}

#[test]
fn what_a_pulled_file_lacks_is_gone_and_the_rest_stays() {
    on_two(&THREE, |machines| {
        let Machines { one, two } = machines;
        two.sync().ok();
        let five: Vec<_> = SIX.into_iter().filter(|(id, _)| *id != "n2").collect();
        one.save(&five);
        send(one, two);
        two.agent_adds("n7", "seven");
        if two.is_repo() {
            only_the_seventh_is_new(two);
        }
        two.is_in_step(&with_seventh(&five));
        two.scene.run(&["restore", "n2"]).ok();
        two.is_in_step(&[&with_seventh(&five)[..], &[("n2", "two")]].concat());
    });
}

#[test]
fn a_deletion_travels_and_what_is_written_anew_lives() {
    on_two(&[("n1", "one"), ("n2", "two")], |machines| {
        let Machines { one, two } = machines;
        two.sync().ok();
        copy(&two.scene, STATE, "backup");
        // Taken out on the first machine.
        one.save(&[("n1", "one")]);
        let said = one.sync().ok();
        assert!(said.contains("gone: n2"), "{said}");
        one.is_in_step(&[("n1", "one")]);
        one.scene.run(&["archive"]).prints("n2");
        // The second machine hears of it, and adds.
        send(one, two);
        two.sync().ok();
        two.is_in_step(&[("n1", "one")]);
        two.agent_adds("n3", "three");
        two.is_in_step(&[("n1", "one"), ("n3", "three")]);
        assert!(!two.read().contains("n2"));
        // And back, with a store that is made anew from the files.
        send(two, one);
        one.sync().ok();
        one.is_in_step(&[("n1", "one"), ("n3", "three")]);
        fs::remove_dir_all(one.scene.path(STATE)).unwrap();
        if one.is_repo() {
            one.scene.trust("app");
        }
        one.sync().ok();
        one.is_in_step(&[("n1", "one"), ("n3", "three")]);
        // A store from a backup knows n2 and not that it is gone.
        fs::remove_dir_all(two.scene.path(STATE)).unwrap();
        copy(&two.scene, "backup", STATE);
        two.sync().ok();
        two.is_in_step(&[("n1", "one"), ("n3", "three")]);
        assert!(!two.read().contains("n2"));
        two.scene.run(&["restore", "n2"]).ok();
        two.is_in_step(&[("n1", "one"), ("n2", "two"), ("n3", "three")]);
        two.save(&[("n1", "one"), ("n3", "three")]);
        two.sync().ok();
        // A person writes another n2: a line in a file beats whatever a store remembers.
        let anew = [("n1", "one"), ("n3", "three"), ("n2", "two, anew")];
        if two.is_repo() {
            two.scene.git("app", &["checkout", "-q", "--", "."]);
        }
        one.save(&anew);
        one.sync().ok();
        one.is_in_step(&anew);
        send(one, two);
        two.sync().ok();
        two.is_in_step(&anew);
        two.agent_edits("n2", "two, anew and edited");
        two.is_in_step(&[("n1", "one"), ("n3", "three"), ("n2", "two, anew and edited")]);
        assert_eq!(two.read().matches("n2").count(), 1);
    });
}

fn copy(scene: &Scene, from: &str, to: &str) {
    let (from, to) = (scene.path(from), scene.path(to));
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(status.success());
}
