//! How soon an edit of a file is in the store while `layers watch` runs, and how much memory
//! it takes to wait for one. The time that a file must be quiet is left out; beside it
//! stands what nobody can do without in the same run: writing the bytes, fsync, stat.
//! Prints; asserts nothing, for clocks are no judges. `cargo bench --bench watch -- quick`
//! takes 20 edits instead of 100.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use harness_layers::store::{LayerId, StatePlace, Store, VersionId};
use harness_layers::sync::place_of;

const LAYERS: usize = 200;
/// `layers.settleMs`, where nothing is configured.
const SETTLE: Duration = Duration::from_millis(200);

/// How long an idle watch is looked at.
const WATCHED: Duration = Duration::from_secs(8);

fn main() {
    let edits = if std::env::args().any(|it| it == "quick") { 20 } else { 100 };
    println!(
        "From a save to the store, {LAYERS} layers watched, {edits} edits, less the {SETTLE:?} of quiet.\n"
    );
    for notes in [25, 500] {
        let world = World::new(notes);
        let mut watch = world.watch();
        let idle = Idle::of(watch.0.id());
        let before = cpu(watch.0.id());
        let (mut floors, mut times) = (Vec::new(), Vec::new());
        for at in 0..edits {
            let path = &world.paths[at % LAYERS];
            let text = fs::read_to_string(path).unwrap().replacen("port", &format!("port {at},"), 1);
            floors.push(world.floor(&text));
            times.push(world.edit(path, &text));
        }
        let used = since(before, watch.0.id()).map(|used| used / u32::try_from(edits).unwrap());
        for percent in [50, 99] {
            let (time, floor) = (quantile(&mut times, percent), quantile(&mut floors, percent));
            println!(
                "{notes:>4} notes a layer: p{percent} {}, write+fsync+stat {}: {:.1} times it",
                shown(time),
                shown(floor),
                time.as_secs_f64() / floor.as_secs_f64()
            );
        }
        println!("     processor time {} an edit", used.map_or_else(|| "unknown".into(), shown));
        println!("     idle: {idle}; memory after the edits {}", memory(watch.0.id()));
        watch.0.kill().unwrap();
        // A watch that finds nothing new: all of it was in the store when it began.
        let watch = world.watch();
        thread::sleep(SETTLE * 10);
        println!("     all {} notes known from before: {}", notes * LAYERS, Idle::of(watch.0.id()));
    }
}

struct World {
    dir: tempfile::TempDir,
    place: StatePlace,
    paths: Vec<PathBuf>,
}

/// Ends with its owner.
struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl World {
    fn new(notes: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("root/harness-state");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(dir.path().join("cwd")).unwrap();
        let paths: Vec<PathBuf> = (0..LAYERS).map(|at| folder.join(format!("p{at}.md"))).collect();
        for (at, path) in paths.iter().enumerate() {
            let text: String = (0..notes).map(|note| note_of(at, note)).collect();
            fs::write(path, text).unwrap();
            // A file this young would be read again.
            let old = std::time::SystemTime::now() - Duration::from_mins(1);
            File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        }
        Self { place: StatePlace::in_folder(&dir.path().join("state")), dir, paths }
    }

    /// A watch that has taken in all layers.
    fn watch(&self) -> Watch {
        let child = Command::new(env!("CARGO_BIN_EXE_layers"))
            .args(["watch", "--json", "--root"])
            .arg(self.dir.path().join("root"))
            .current_dir(self.dir.path().join("cwd"))
            .env_clear()
            .env("HOME", self.dir.path())
            .env("LAYERS_STATE", self.place.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map(Watch)
            .unwrap();
        loop {
            thread::sleep(Duration::from_millis(100));
            let is_known = |store: &Store| self.paths.iter().all(|path| self.newest(store, path).is_some());
            if Store::open_existing(&self.place).ok().flatten().is_some_and(|store| is_known(&store)) {
                thread::sleep(SETTLE * 2);
                return child;
            }
        }
    }

    fn newest(&self, store: &Store, path: &Path) -> Option<(LayerId, VersionId)> {
        let root = fs::canonicalize(self.dir.path().join("root")).unwrap();
        let tx = store.read();
        let layer = tx.layer(&root, &place_of(path)).unwrap()?.id;
        Some((layer, tx.newest_version(layer).unwrap()?.id))
    }

    /// How long it takes from before a save until the store has it.
    fn edit(&self, path: &Path, text: &str) -> Duration {
        let store = Store::open_existing(&self.place).unwrap().unwrap();
        let (layer, before) = self.newest(&store, path).unwrap();
        let start = Instant::now();
        fs::write(path, text).unwrap();
        while store.read().newest_version(layer).unwrap().unwrap().id == before {
            thread::sleep(Duration::from_micros(200));
        }
        start.elapsed().saturating_sub(SETTLE)
    }

    fn floor(&self, text: &str) -> Duration {
        let path = self.dir.path().join("floor");
        let start = Instant::now();
        let mut file = File::create(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.sync_all().unwrap();
        fs::metadata(&path).unwrap();
        start.elapsed()
    }
}

fn note_of(layer: usize, note: usize) -> String {
    format!(
        "---\nid: p{layer}n{note}\nkind: memory\nimportance: 0.5\nmodel: anthropic/claude-opus-4-5\n---\n\n\
         The tests of part {note} share a port; run them one after the other.\n\n"
    )
}

fn quantile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn shown(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// What it costs to wait.
struct Idle {
    memory: String,
    used: Option<Duration>,
}

impl Idle {
    /// Once it rests.
    fn of(pid: u32) -> Self {
        thread::sleep(WATCHED / 4);
        let before = cpu(pid);
        thread::sleep(WATCHED);
        Self { memory: memory(pid), used: since(before, pid) }
    }
}

impl std::fmt::Display for Idle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let used = self.used.map_or_else(|| "unknown".into(), shown);
        write!(f, "memory {}, processor time {used} in {WATCHED:?}", self.memory)
    }
}

/// Processor time of all threads of a process, in user and system mode, as the scheduler counts
/// it.
fn cpu(pid: u32) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let of = |thread: PathBuf| -> Option<u64> {
        let stat = fs::read_to_string(thread.join("schedstat")).ok()?;
        stat.split(' ').next()?.parse().ok()
    };
    Some(Duration::from_nanos(threads.filter_map(|thread| of(thread.ok()?.path())).sum()))
}

fn since(before: Option<Duration>, pid: u32) -> Option<Duration> {
    Some(cpu(pid)?.saturating_sub(before?))
}

/// What `/proc` says of a process's memory.
fn memory(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: Option<f64> = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.map_or_else(|| "unknown".into(), |it| format!("{:.1} MB", it / 1024.0))
}
