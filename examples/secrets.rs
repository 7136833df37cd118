//! Counts what looks like a credential in the text files below folders, by kind, and never
//! prints one: `cargo run --release --example secrets -- DIR...`, with `--places` also where.
//! docs/secrets.md has what it said of some large collections.

#![expect(clippy::print_stdout, reason = "a program")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use harness_layers::secret::find;
use harness_layers::text::locate;

/// Larger files are no notes.
const MOST: u64 = 8 * 1024 * 1024;

#[derive(Default)]
struct Counts {
    files: usize,
    bytes: usize,
    /// How many are in each kind, and in how many files.
    kinds: BTreeMap<&'static str, (usize, usize)>,
    time: Duration,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, folders): (Vec<_>, Vec<_>) = arguments.iter().partition(|one| one.starts_with("--"));
    let has_places = flags.iter().any(|flag| *flag == "--places");
    if folders.is_empty() || flags.len() > usize::from(has_places) {
        println!("usage: secrets [--places] DIR...");
        return ExitCode::from(2);
    }
    let mut counts = Counts::default();
    let mut todo: Vec<PathBuf> = folders.into_iter().map(PathBuf::from).collect();
    while let Some(path) = todo.pop() {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.is_dir() {
            let Ok(entries) = fs::read_dir(&path) else { continue };
            todo.extend(entries.filter_map(Result::ok).map(|entry| entry.path()));
        } else if found.is_file() && found.len() <= MOST {
            let Ok(bytes) = fs::read(&path) else { continue };
            // What is no text has no notes.
            if let Ok(text) = String::from_utf8(bytes) {
                counts.take(&path, &text, has_places);
            }
        }
    }
    counts.print();
    ExitCode::SUCCESS
}

impl Counts {
    fn take(&mut self, path: &Path, text: &str, has_places: bool) {
        let start = Instant::now();
        let found = find(text);
        self.time += start.elapsed();
        self.files += 1;
        self.bytes += text.len();
        let mut here: BTreeMap<&'static str, usize> = BTreeMap::new();
        for secret in &found {
            *here.entry(secret.kind).or_default() += 1;
            if has_places {
                let place = locate(text, secret.span.start);
                println!("{}:{}:{}: {}", path.display(), place.line, place.column, secret.kind);
            }
        }
        for (kind, count) in here {
            let known = self.kinds.entry(kind).or_default();
            *known = (known.0 + count, known.1 + 1);
        }
    }

    fn print(&self) {
        let total: usize = self.kinds.values().map(|(count, _)| count).sum();
        for (kind, (count, files)) in &self.kinds {
            println!("{count:>7} in {files:>6} files  {kind}");
        }
        #[expect(clippy::cast_precision_loss, reason = "no folder has 2^53 bytes")]
        let megabytes = self.bytes as f64 / 1e6;
        println!(
            "{total} in {} files of {megabytes:.1} MB, {:.0} MB/s",
            self.files,
            megabytes / self.time.as_secs_f64()
        );
    }
}
