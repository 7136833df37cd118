//! Under an open editor nothing is written.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Command};

use super::scene::{HOME, Scene};
use super::world::{Watch, eventually, folder, notes, two_notes};

/// A process that lives as long as it is to.
struct Alive(Child);

impl Alive {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn end(mut self) -> u32 {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        self.0.id()
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn this_host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| "unknown".into());
    name.trim().to_owned()
}

/// The first block of a swap file, as vim writes it.
fn swap_of(pid: u32, host: &str) -> Vec<u8> {
    let mut bytes = b"b0VIM 9.0".to_vec();
    bytes.resize(24, 0);
    bytes.extend(pid.to_le_bytes());
    bytes.resize(68, 0);
    bytes.extend(host.as_bytes());
    bytes.resize(4096, 0);
    bytes
}

/// What Emacs's lock leads to.
fn owner(pid: u32, host: &str) -> String {
    format!("me@{host}.{pid}:1700000000")
}

fn with_new_note(scene: &Scene) -> String {
    format!("{}\n---\nkind: memory\n---\n\nWithout an id.\n", scene.read(HOME))
}

/// What is saved is read, ids are not written, until the sign goes.
fn nothing_is_written_while(scene: &Scene, watch: &Watch, close: impl FnOnce()) {
    let text = with_new_note(scene).replace("Use 30 s.", "Use 31 s.");
    scene.write(HOME, &text);
    watch.changed(0, "n1");
    watch.barrier(scene);
    assert_eq!(scene.read(HOME), text);
    assert!(notes(scene).iter().any(|(_, content)| content == "Use 31 s."));
    close();
    eventually("the id", || scene.read(HOME).matches("id: ").count() == 3);
}

#[test]
fn vim() {
    let (scene, alive) = (two_notes(), Alive::new());
    let swap = folder(&scene).join(".app.md.swp");
    fs::write(&swap, swap_of(alive.0.id(), &this_host())).unwrap();
    let watch = Watch::start(&scene, &[]);
    nothing_is_written_while(&scene, &watch, || fs::remove_file(&swap).unwrap());
    // That of a process that is gone is a crash's.
    let gone = alive.end();
    fs::write(&swap, swap_of(gone, &this_host())).unwrap();
    scene.write(HOME, &with_new_note(&scene));
    eventually("the next id", || scene.read(HOME).matches("id: ").count() == 4);
    watch.end();
}

#[test]
fn a_later_session_of_vim() {
    for ending in ["swo", "swa", "svz", "saa"] {
        let (scene, alive) = (two_notes(), Alive::new());
        let swap = folder(&scene).join(format!(".app.md.{ending}"));
        fs::write(&swap, swap_of(alive.0.id(), &this_host())).unwrap();
        let watch = Watch::start(&scene, &[]);
        nothing_is_written_while(&scene, &watch, || fs::remove_file(&swap).unwrap());
        watch.end();
    }
}

/// Of a process on another host nobody here can tell whether it is gone.
#[test]
fn an_editor_on_another_host() {
    let (scene, gone) = (two_notes(), Alive::new().end());
    let lock = folder(&scene).join(".#app.md");
    symlink(owner(gone, "elsewhere.example"), &lock).unwrap();
    let watch = Watch::start(&scene, &[]);
    nothing_is_written_while(&scene, &watch, || fs::remove_file(&lock).unwrap());
    watch.end();
    let swap = folder(&scene).join(".app.md.swp");
    fs::write(&swap, swap_of(gone, "elsewhere.example")).unwrap();
    let text = with_new_note(&scene);
    scene.write(HOME, &text);
    let watch = Watch::start(&scene, &[]);
    watch.barrier(&scene);
    assert_eq!(scene.read(HOME), text);
    fs::remove_file(&swap).unwrap();
    eventually("the next id", || scene.read(HOME).matches("id: ").count() == 4);
    watch.end();
}

#[test]
fn an_editor_that_stays_open_is_not_waited_for_for_ever() {
    let (scene, alive) = (two_notes(), Alive::new());
    scene.write("home/.harness/harness.json", r#"{ "layers": { "holdSeconds": 1 } }"#);
    fs::write(folder(&scene).join(".app.md.swp"), swap_of(alive.0.id(), &this_host())).unwrap();
    let watch = Watch::start(&scene, &[]);
    let text = with_new_note(&scene).replace("Use 30 s.", "Use 31 s.");
    scene.write(HOME, &text);
    watch.changed(0, "n1");
    // The swap file stays, and vim is told by the new time of the file.
    eventually("the id", || scene.read(HOME).matches("id: ").count() == 3);
    watch.end();
    drop(alive);
}

#[test]
fn vim_that_crashes() {
    let (scene, alive) = (two_notes(), Alive::new());
    fs::write(folder(&scene).join(".app.md.swp"), swap_of(alive.0.id(), &this_host())).unwrap();
    let watch = Watch::start(&scene, &[]);
    // No event tells of it.
    nothing_is_written_while(&scene, &watch, || {
        alive.end();
    });
    watch.end();
}

#[test]
fn emacs() {
    let (scene, alive) = (two_notes(), Alive::new());
    let lock = folder(&scene).join(".#app.md");
    symlink(owner(alive.0.id(), &this_host()), &lock).unwrap();
    let watch = Watch::start(&scene, &[]);
    nothing_is_written_while(&scene, &watch, || fs::remove_file(&lock).unwrap());
    symlink(owner(alive.end(), &this_host()), &lock).unwrap();
    scene.write(HOME, &with_new_note(&scene));
    eventually("the next id", || scene.read(HOME).matches("id: ").count() == 4);
    watch.end();
}

#[test]
fn an_online_edit_waits_and_is_merged_when_the_editor_closes() {
    let (scene, alive) = (two_notes(), Alive::new());
    let swap = folder(&scene).join(".app.md.swp");
    fs::write(&swap, swap_of(alive.0.id(), &this_host())).unwrap();
    let watch = Watch::start(&scene, &[]);
    let before = scene.read(HOME);
    scene.run(&["edit", "n2", "--content", "Agent's."]).ok();
    // Of a save that does not know of it, too.
    scene.write(HOME, &before.replace("Use 30 s.", "Use 31 s."));
    watch.changed(0, "n1");
    fs::remove_file(&swap).unwrap();
    eventually("both", || {
        let text = scene.read(HOME);
        text.contains("Agent's.") && text.contains("Use 31 s.")
    });
    watch.end();
}

#[test]
fn once_does_not_wait_for_an_editor() {
    let (scene, alive) = (two_notes(), Alive::new());
    fs::write(folder(&scene).join(".app.md.swp"), swap_of(alive.0.id(), &this_host())).unwrap();
    let text = with_new_note(&scene);
    scene.write(HOME, &text);
    let watch = Watch::spawn(scene.command(&["watch", "--json", "--once"]));
    watch.ended(0);
    assert_eq!(scene.read(HOME), text);
    drop(alive);
}
