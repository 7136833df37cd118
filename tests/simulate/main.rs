//! Ten thousand small histories of layers that everybody changes at once. The laws are in
//! `simulation/oracle.rs`; `cargo run --release --example simulate` runs more of them, and
//! replays and shortens one that fails.

mod simulation;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use simulation::{Means, Schedule};

/// How many schedules a run of the tests takes.
const SCHEDULES: u64 = 10_000;

#[test]
fn nothing_is_lost_whoever_writes() {
    let layers = PathBuf::from(env!("CARGO_BIN_EXE_layers"));
    let means = Means { layers: Some(layers) };
    let next = AtomicU64::new(0);
    let failed: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= SCHEDULES || failed.lock().is_ok_and(|failed| failed.len() >= 3) {
                        break;
                    }
                    if let Err(law) = Schedule::random(seed).run(&means)
                        && let Ok(mut failed) = failed.lock()
                    {
                        failed.push((seed, law));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no thread panicked");
    let told: Vec<String> = failed.iter().map(|(seed, law)| format!("--seed {seed}: {law}")).collect();
    assert!(told.is_empty(), "{}", told.join("\n\n"));
}
