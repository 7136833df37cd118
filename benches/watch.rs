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

fn main() {
    let edits = if std::env::args().any(|it| it == "quick") { 20 } else { 100 };
    println!(
        "From a save to the store, {LAYERS} layers watched, {edits} edits, less the {SETTLE:?} of quiet.\n"
    );
    for notes in [25, 500] {
        let world = World::new(notes);
        let mut watch = world.watch();
        let idle = memory(watch.0.id());
        let (mut floors, mut times) = (Vec::new(), Vec::new());
        for at in 0..edits {
            let path = &world.paths[at % LAYERS];
            let text = fs::read_to_string(path).unwrap().replacen("port", &format!("port {at},"), 1);
            floors.push(world.floor(&text));
            times.push(world.edit(path, &text));
        }
        println!(
            "{notes:>4} notes a layer: p50 {}  p99 {}   write+fsync+stat: p50 {}  p99 {}   memory: idle {idle}, after the edits {}",
            shown(quantile(&mut times, 50)),
            shown(quantile(&mut times, 99)),
            shown(quantile(&mut floors, 50)),
            shown(quantile(&mut floors, 99)),
            memory(watch.0.id()),
        );
        watch.0.kill().unwrap();
        // A watch that finds nothing new: all of it was in the store when it began.
        let watch = world.watch();
        thread::sleep(SETTLE * 10);
        println!("     all {} notes known from before: idle {}", notes * LAYERS, memory(watch.0.id()));
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

/// What `/proc` says of a process's memory.
fn memory(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: Option<f64> = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.map_or_else(|| "unknown".into(), |it| format!("{:.1} MB", it / 1024.0))
}
