//! A fuzzer that needs nothing but `cargo test`: layers of `fixtures/` are mutated and
//! held to the laws of the document model. A few seconds; `FUZZ_SECONDS=600 FUZZ_SEED=7
//! cargo test --release --test fuzz` searches on. `examples/fuzz.rs` is the same for AFL.
//!
//! What breaks a law is made smaller and printed; put it into `fixtures/fuzz/` under a
//! name that tells the fault, and it is tried in every run from then on.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test that tells what it did")]

mod laws;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn inputs_that_once_failed_hold() {
    let mut faults = Vec::new();
    for (name, data) in layers("fixtures/fuzz") {
        if let Some(fault) = fault(&data) {
            faults.push(format!("{name}: {fault}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn mutated_layers_hold() {
    // By default a number of inputs, so that every machine tries the same ones.
    let (seconds, most) = match env_number("FUZZ_SECONDS") {
        Some(seconds) => (seconds, u64::MAX),
        None => (300, 1500),
    };
    let seed = env_number("FUZZ_SEED").unwrap_or(1);
    let mut corpus: Vec<Vec<u8>> = ["fixtures/documents", "fixtures/sample/harness-state", "fixtures/fuzz"]
        .into_iter()
        .flat_map(layers)
        .map(|layer| layer.1)
        .collect();
    corpus.retain(|data| data.len() < 4096);
    let lines = lines_of(&corpus);
    let mut chance = Chance(seed);
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut runs = 0_u64;
    let mut faults: Vec<String> = Vec::new();
    while Instant::now() < until && runs < most && faults.len() < 12 {
        let data = mutated(&corpus, &lines, &mut chance);
        runs += 1;
        let Some(found) = fault(&data) else { continue };
        let law = law_of(&found);
        if faults.iter().any(|known| law_of(known) == law) {
            continue;
        }
        let small = smaller(data, &law);
        let text = String::from_utf8_lossy(&small).into_owned();
        faults.push(format!("{}\n  input: {text:?}", fault(&small).unwrap_or(found)));
    }
    eprintln!("{runs} inputs, seed {seed}");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// The law that an input breaks, or its panic.
fn fault(data: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(data).into_owned();
    match catch_unwind(AssertUnwindSafe(|| laws::check(&text))) {
        Ok(result) => result.err(),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("");
            Some(format!("panic: {message}"))
        }
    }
}

/// What two faults of one kind share: their first line, numbers aside.
fn law_of(fault: &str) -> String {
    let first = fault.lines().next().unwrap_or(fault);
    first.chars().filter(|c| !c.is_ascii_digit()).take(120).collect()
}

/// The input without whatever is not needed to break the same law.
fn smaller(mut data: Vec<u8>, law: &str) -> Vec<u8> {
    let until = Instant::now() + Duration::from_secs(20);
    let mut size = data.len().div_ceil(2);
    while size > 0 && Instant::now() < until {
        let mut at = 0;
        let mut is_smaller = false;
        while at < data.len() {
            let mut less = data.clone();
            less.drain(at..(at + size).min(data.len()));
            if fault(&less).is_some_and(|found| law_of(&found) == law) {
                data = less;
                is_smaller = true;
            } else {
                at += size;
            }
        }
        if !is_smaller || size > 1 {
            size /= 2;
        }
    }
    data
}

fn mutated(corpus: &[Vec<u8>], lines: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    const BYTES: &[u8] = b"-#>*+`~<&\\:\"'[]{}|() \t\r\n\x00\x0B\x0C\xC2\xA0\xE2\x80\xA8\xFF";
    const INDENTS: [&str; 7] = ["  ", "    ", "\t", "> ", "- ", "\\", " "];
    let mut data = chance.pick(corpus).clone();
    // Often only a part: short inputs are tried faster and fail more legibly.
    if chance.below(2) == 0 && data.len() > 200 {
        let at = chance.below(data.len() - 150);
        data = data[at..at + 50 + chance.below(100)].to_vec();
    }
    for _ in 0..=chance.below(6) {
        let at = line_start(&data, chance.below(data.len() + 1));
        let line_end =
            data[at..].iter().position(|byte| *byte == b'\n').map_or(data.len(), |end| at + end + 1);
        match chance.below(9) {
            0..=2 => drop(data.splice(at..at, chance.pick(lines).clone())),
            3 => drop(data.splice(at..line_end, chance.pick(lines).clone())),
            4 => drop(data.drain(at..line_end)),
            5 => drop(data.splice(at..at, chance.pick(&INDENTS).bytes())),
            6 if line_end > at => drop(data.splice(line_end - 1..line_end - 1, *b"\r")),
            7 if !data.is_empty() => {
                let at = chance.below(data.len());
                data[at] = *chance.pick(BYTES);
            }
            _ => data.truncate(chance.below(data.len() + 1)),
        }
    }
    data
}

fn line_start(data: &[u8], at: usize) -> usize {
    data[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

fn lines_of(corpus: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut lines: Vec<_> = corpus
        .iter()
        .flat_map(|data| data.split_inclusive(|byte| *byte == b'\n'))
        .map(<[u8]>::to_vec)
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

fn layers(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths
        .iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect()
}

fn env_number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// SplitMix64: a few lines, and the same numbers everywhere.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap_or(0) % limit.max(1)
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
