//! `layers watch` with real processes: ways of saving, open editors, limits, signals.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "in a test a panic is the report")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long to wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(20);

struct World {
    dir: tempfile::TempDir,
}

struct Watch {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("app")).unwrap();
        let world = Self { dir };
        world.layers(&["add", "--id", "n1", "text 0"]);
        world
    }

    fn layer(&self) -> PathBuf {
        self.dir.path().join("home/.harness/harness-state/app.md")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.dir.path().join("app"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path().join("home"))
            .stdin(Stdio::null());
        command
    }

    fn layers(&self, args: &[&str]) -> String {
        let done = self.command(env!("CARGO_BIN_EXE_layers")).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn watch(&self, args: &[&str]) -> Watch {
        let mut command = self.command(env!("CARGO_BIN_EXE_layers"));
        command.args(["watch", "--json"]).args(args);
        Watch::start(command)
    }

    fn text(&self, text: &str) -> String {
        format!("---\nid: n1\nkind: memory\n---\n\n{text}\n")
    }

    /// How many versions of a note the journal has, and whether it was ever deleted.
    fn history(&self) -> (usize, bool) {
        let events: serde_json::Value =
            serde_json::from_str(&self.layers(&["history", "n1", "--json"])).unwrap();
        let events = events.as_array().unwrap();
        (events.len(), events.iter().any(|event| event["op"] == "delete"))
    }
}

impl Watch {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (out, heard) = (child.stdout.take().unwrap(), Arc::clone(&lines));
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                heard.lock().unwrap().push(line);
            }
        });
        let watch = Self { child, lines };
        watch.wait("watching", |lines| lines.iter().any(|line| line.contains("\"watching\"")));
        watch
    }

    fn wait(&self, what: &str, is_so: impl Fn(&[String]) -> bool) {
        let start = Instant::now();
        while !is_so(&self.lines.lock().unwrap()) {
            assert!(start.elapsed() < PATIENCE, "no {what}: {:#?}", self.lines.lock().unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn changes(&self) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| line.contains("\"changed\"")).count()
    }

    /// Waits for the next change after so many.
    fn next(&self, before: usize, what: &str) {
        let is_change = |line: &&String| line.contains("\"changed\"");
        self.wait(what, |lines| lines.iter().filter(is_change).count() > before);
    }

    fn end(mut self, signal: &str) {
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_way_of_saving_is_one_new_version_and_no_deletion() {
    let world = World::new();
    let watch = world.watch(&[]);
    let path = world.layer();
    let beside = |name: &str| path.with_file_name(name);
    let ways: [(&str, &dyn Fn(&str)); 5] = [
        ("in place", &|text| fs::write(&path, text).unwrap()),
        ("by rename", &|text| {
            fs::write(beside("app.md.tmp"), text).unwrap();
            fs::rename(beside("app.md.tmp"), &path).unwrap();
        }),
        ("with a backup", &|text| {
            fs::rename(&path, beside("app.md~")).unwrap();
            fs::write(&path, text).unwrap();
        }),
        ("as vim does", &|text| {
            fs::write(beside("4913"), "").unwrap();
            fs::remove_file(beside("4913")).unwrap();
            fs::write(beside("app.md.tmp"), text).unwrap();
            fs::rename(beside("app.md.tmp"), &path).unwrap();
        }),
        ("cut, then written", &|text| {
            fs::write(&path, "").unwrap();
            std::thread::sleep(Duration::from_millis(30));
            fs::write(&path, text).unwrap();
        }),
    ];
    let mut saves = 0;
    for (name, save) in ways {
        for _ in 0..2 {
            saves += 1;
            let before = watch.changes();
            let text = world.text(&format!("text {saves}"));
            save(&text);
            watch.next(before, name);
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "{name}: our side wrote");
        }
    }
    // The same bytes again are nothing.
    let before = watch.changes();
    fs::write(&path, world.text(&format!("text {saves}"))).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(watch.changes(), before);
    assert_eq!(world.history(), (saves + 1, false));
    watch.end("-TERM");
}

#[test]
fn under_an_open_editor_nothing_is_written() {
    let world = World::new();
    let watch = world.watch(&[]);
    let swap = world.layer().with_file_name(".app.md.swp");
    // vim's own mark, with the process id of one that lives.
    let mut bytes = b"b0VIM 9.1\0\0\0".to_vec();
    bytes.resize(24, 0);
    bytes.extend(std::process::id().to_le_bytes());
    fs::write(&swap, bytes).unwrap();
    let text = world.text("text 1") + "\n---\nkind: memory\n---\n\nwithout an id\n";
    fs::write(world.layer(), &text).unwrap();
    watch.next(0, "reading under an open editor");
    assert!(world.layers(&["list", "--json"]).contains("text 1"));
    assert_eq!(fs::read_to_string(world.layer()).unwrap(), text);
    fs::remove_file(&swap).unwrap();
    watch.wait("an id once it closes", |_| fs::read_to_string(world.layer()).unwrap().contains("id: h_"));
    watch.end("-INT");
}

#[test]
fn links_and_folders_that_come_and_go_are_followed() {
    let world = World::new();
    // A layer that leads elsewhere.
    let kept = world.dir.path().join("dotfiles");
    fs::create_dir_all(&kept).unwrap();
    fs::rename(world.layer(), kept.join("notes.md")).unwrap();
    symlink(kept.join("notes.md"), world.layer()).unwrap();
    let watch = world.watch(&[]);
    fs::write(kept.join("notes.md"), world.text("text 1")).unwrap();
    watch.next(0, "a change of the link's target");
    // A folder that is taken away and made again.
    let folder = world.layer().parent().unwrap().to_owned();
    fs::rename(&folder, folder.with_file_name("aside")).unwrap();
    watch.wait("held", |lines| lines.iter().any(|line| line.contains("\"held\"")));
    let before = watch.changes();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("app.md"), world.text("text 2")).unwrap();
    watch.next(before, "a change in the new folder");
    assert!(world.layers(&["list", "--json"]).contains("text 2"));
    // A layer that is new.
    let before = watch.changes();
    fs::write(folder.join("other.md"), world.text("of another project")).unwrap();
    watch.next(before, "a new layer");
    watch.end("-TERM");
}

#[test]
fn without_events_files_are_polled() {
    let world = World::new();
    let watch = world.watch(&["--poll"]);
    for (before, text) in ["text 1", "text 2"].into_iter().enumerate() {
        fs::write(world.layer(), world.text(text)).unwrap();
        watch.next(before, "a polled change");
    }
    watch.end("-TERM");
}

#[test]
fn when_the_system_gives_no_more_watches_files_are_polled() {
    let world = World::new();
    let limited = "echo 0 > /proc/sys/user/max_inotify_watches && exec \"$@\"";
    let trial = world.command("unshare").args(["-Ur", "sh", "-c", limited, "sh", "true"]).output();
    if !trial.is_ok_and(|trial| trial.status.success()) {
        eprintln!("not tried: no user namespaces here");
        return;
    }
    let mut command = world.command("unshare");
    command.args(["-Ur", "sh", "-c", limited, "sh", env!("CARGO_BIN_EXE_layers"), "watch", "--json"]);
    let watch = Watch::start(command);
    watch.wait("the limit's name", |lines| {
        lines.iter().any(|line| line.contains("\"polling\"") && line.contains("max_user_watches"))
    });
    fs::write(world.layer(), world.text("text 1")).unwrap();
    watch.next(0, "a polled change");
}

#[test]
fn large_repositories_cost_no_watches() {
    let world = World::new();
    let app = world.dir.path().join("app");
    for number in 0..300 {
        fs::create_dir_all(app.join(format!("node_modules/m{number}/lib"))).unwrap();
    }
    Command::new("git").args(["init", "-q"]).current_dir(&app).status().unwrap();
    fs::create_dir_all(app.join(".harness")).unwrap();
    fs::write(app.join(".harness/app.md"), world.text("shared")).unwrap();
    let watch = world.watch(&[]);
    let fds = fs::read_dir(format!("/proc/{}/fdinfo", watch.child.id()));
    if let Ok(fds) = fds {
        let texts = fds.filter_map(|fd| fs::read_to_string(fd.ok()?.path()).ok());
        let watches: usize =
            texts.map(|text| text.lines().filter(|line| line.starts_with("inotify")).count()).sum();
        assert!((1..=10).contains(&watches), "{watches} watches");
    }
    fs::write(app.join(".harness/app.md"), world.text("shared, edited")).unwrap();
    watch.next(0, "an edit of the repository's layer");
    watch.end("-TERM");
}

#[test]
fn a_layer_in_trouble_does_not_stop_the_others() {
    let world = World::new();
    fs::create_dir_all(world.layer().with_file_name("broken.md")).unwrap();
    let watch = world.watch(&[]);
    watch.wait("the trouble", |lines| {
        lines.iter().any(|line| line.contains("\"error\"") && line.contains("broken.md"))
    });
    fs::write(world.layer(), world.text("text 1")).unwrap();
    watch.next(0, "a change of another layer");
    watch.end("-TERM");
}

#[test]
fn the_block_is_kept_and_a_command_run() {
    let world = World::new();
    let watch =
        world.watch(&["--render", "block.md", "--model", "a/m", "--exec", "echo $LAYERS_CHANGED >> ran"]);
    let app = world.dir.path().join("app");
    watch.wait("the block", |_| app.join("block.md").exists());
    fs::write(world.layer(), world.text("text 1")).unwrap();
    watch.wait("the command", |_| fs::read_to_string(app.join("ran")).is_ok_and(|ran| ran == "n1\n"));
    let block = fs::read_to_string(app.join("block.md")).unwrap();
    assert!(block.contains("- [n1] text 1"), "{block}");
    watch.end("-TERM");
    fs::write(world.layer(), world.text("text 2")).unwrap();
    let done = world.layers(&["watch", "--once", "--json"]);
    assert!(done.contains("\"changed\""), "{done}");
}
