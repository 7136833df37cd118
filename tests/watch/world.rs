//! A sealed world with `layers watch` running in it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{EventKind, RecursiveMode, Watcher as _};
use serde_json::Value;

use super::scene::{HOME, Scene};

/// How long anything may take that is to happen; tests wait only as long as it does.
const DEADLINE: Duration = Duration::from_secs(20);

/// Waits until something is so.
#[track_caller]
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a program is here; says so if it is not.
pub(crate) fn has(program: &str) -> bool {
    let is_here = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).exists()));
    if !is_here {
        println!("skipped: there is no {program} here");
    }
    is_here
}

/// A layer with these notes.
pub(crate) fn layer(notes: &[(&str, &str)]) -> String {
    let notes: Vec<String> =
        notes.iter().map(|(id, text)| format!("---\nid: {id}\n---\n\n{text}\n")).collect();
    notes.join("\n")
}

/// A scene with a layer of two notes that the store knows.
pub(crate) fn two_notes() -> Scene {
    known(
        Scene::new()
            .global(&layer(&[("g1", "Everywhere.")]))
            .home(&layer(&[("n1", "Use 30 s."), ("n2", "Two.")])),
    )
}

/// The same scene, with its layers in the store.
pub(crate) fn known(scene: Scene) -> Scene {
    scene.run(&["sync"]).ok();
    scene
}

/// What `history` says of a note, newest last: what happened and what it said then.
pub(crate) fn history(scene: &Scene, id: &str) -> Vec<(String, String)> {
    let ran = scene.run(&["history", id, "--json"]);
    let Ok(Value::Array(all)) = serde_json::from_str(&ran.out) else { return Vec::new() };
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let mut all: Vec<(u64, String, String)> = all
        .iter()
        .map(|one| (one["change"].as_u64().unwrap(), text(one, "op"), text(one, "after")))
        .collect();
    all.sort();
    all.into_iter().map(|(_, op, after)| (op, after)).collect()
}

/// Ids and contents of all notes in reach.
pub(crate) fn notes(scene: &Scene) -> Vec<(String, String)> {
    let out = scene.run(&["list", "--json"]).ok();
    let Value::Array(all) = serde_json::from_str(&out).unwrap() else { panic!("{out}") };
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    all.iter().map(|one| (text(one, "id"), text(one, "content"))).collect()
}

/// `layers watch`, running.
pub(crate) struct Watch {
    child: Child,
    lines: Arc<Mutex<Vec<Value>>>,
    errors: Arc<Mutex<String>>,
    is_over: Arc<AtomicBool>,
}

impl Watch {
    /// Watching, after its first look at everything.
    #[track_caller]
    pub(crate) fn start(scene: &Scene, args: &[&str]) -> Self {
        let watch = Self::spawn(scene.command(&[&["watch", "--json"], args].concat()));
        watch.until("watching", |event| event["event"] == "watching");
        watch
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let errors = Arc::new(Mutex::new(String::new()));
        let is_over = Arc::new(AtomicBool::new(false));
        let (out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (to, over) = (Arc::clone(&lines), Arc::clone(&is_over));
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or(Value::String(line));
                to.lock().unwrap().push(value);
            }
            over.store(true, Ordering::SeqCst);
        });
        let to = Arc::clone(&errors);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = err.read(&mut buffer) {
                to.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        Self { child, lines, errors, is_over }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said so far.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.lines.lock().unwrap().clone()
    }

    /// How much it said so far.
    pub(crate) fn mark(&self) -> usize {
        self.lines.lock().unwrap().len()
    }

    pub(crate) fn stderr(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        self.until_after(0, what, is_it)
    }

    /// Waits for an event after a mark.
    #[track_caller]
    pub(crate) fn until_after(&self, mark: usize, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let events = self.events();
            if let Some(event) = events.iter().skip(mark).find(|event| is_it(event)) {
                return event.clone();
            }
            assert!(
                start.elapsed() < DEADLINE,
                "never: {what}\nsaid: {events:#?}\nstderr: {}",
                self.stderr()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until a change of a note was taken in, after a mark.
    #[track_caller]
    pub(crate) fn changed(&self, mark: usize, id: &str) -> Value {
        self.until_after(mark, &format!("a change of {id}"), |event| is_change_of(event, id))
    }

    /// Waits until everything that was done before has been looked at: a note comes to the
    /// global layer, and is taken in after it.
    #[track_caller]
    pub(crate) fn barrier(&self, scene: &Scene) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let id = format!("barrier{}", COUNT.fetch_add(1, Ordering::SeqCst));
        // What was touched just now is to be quiet before this is.
        thread::sleep(Duration::from_millis(50));
        let mark = self.mark();
        let path = scene.path("home/.harness/harness-state.md");
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        scene.write("home/.harness/harness-state.md", &format!("{before}\n{}", layer(&[(&id, "Here.")])));
        // All notes of a layer that is new itself are none.
        self.until_after(mark, "the barrier", |event| is(event, "changed", "harness-state.md"));
    }

    pub(crate) fn signal(&self, signal: &str) {
        signal_to(self.pid(), signal);
    }

    /// Asks it to end; it does, without an error.
    #[track_caller]
    pub(crate) fn end(self) -> Vec<Value> {
        self.end_by("TERM")
    }

    #[track_caller]
    pub(crate) fn end_by(self, signal: &str) -> Vec<Value> {
        self.signal(signal);
        self.ended(0)
    }

    /// It ends by itself.
    #[track_caller]
    pub(crate) fn ended(mut self, code: i32) -> Vec<Value> {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < DEADLINE, "it does not end");
            thread::sleep(Duration::from_millis(10));
        };
        eventually("end of output", || self.is_over.load(Ordering::SeqCst));
        assert_eq!(status.code(), Some(code), "{status}; said: {:#?}\n{}", self.events(), self.stderr());
        self.events()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn signal_to(pid: u32, signal: &str) {
    let done = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status().unwrap();
    assert!(done.success());
}

/// Whether it says that something happened to a note.
pub(crate) fn is_change_of(event: &Value, id: &str) -> bool {
    event["event"] == "changed"
        && event["notes"].as_array().is_some_and(|notes| notes.iter().any(|note| note["id"] == id))
}

/// Whether it is an event of a kind about a path that ends so.
pub(crate) fn is(event: &Value, kind: &str, path: &str) -> bool {
    event["event"] == kind && event["path"].as_str().is_some_and(|it| it.ends_with(path))
}

/// Counts how often files of a folder are written, by events of its own.
pub(crate) struct Writes {
    folder: PathBuf,
    seen: Arc<Mutex<Vec<PathBuf>>>,
    _watcher: notify::RecommendedWatcher,
}

impl Writes {
    pub(crate) fn of(folder: &Path) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&seen);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let event = event.unwrap();
            let is_write = matches!(
                event.kind,
                EventKind::Access(AccessKind::Close(AccessMode::Write))
                    | EventKind::Modify(ModifyKind::Name(RenameMode::To))
            );
            if is_write {
                to.lock().unwrap().extend(event.paths);
            }
        })
        .unwrap();
        watcher.watch(folder, RecursiveMode::NonRecursive).unwrap();
        Self { folder: folder.to_owned(), seen, _watcher: watcher }
    }

    /// The writes of a file so far.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> usize {
        // Events come in order: after this one, all that were before are there.
        let sign = tempfile::Builder::new().prefix(".sign").tempfile_in(&self.folder).unwrap();
        let sign = sign.into_temp_path();
        std::fs::write(&sign, "x").unwrap();
        eventually("the events of a folder", || self.seen.lock().unwrap().iter().any(|it| **it == *sign));
        let path = self.folder.join(name);
        self.seen.lock().unwrap().iter().filter(|it| **it == path).count()
    }
}

/// The folder of the projects' private layers.
pub(crate) fn folder(scene: &Scene) -> PathBuf {
    scene.path(HOME).parent().unwrap().to_owned()
}

/// Puts a text in the place of a file, by rename.
pub(crate) fn put(path: &Path, text: &str) {
    let temporary = path.with_extension("md.tmp");
    std::fs::write(&temporary, text).unwrap();
    std::fs::rename(temporary, path).unwrap();
}
