//! Runs random histories of layers that agents, people, a refiner, pi and git change at
//! once, and checks after each step that nothing is lost:
//! `cargo run --release --example simulate -- --schedules 100000`; `--seed S` replays one
//! and shortens it if it fails, or says where to begin. Crashes kill real processes with
//! `--layers target/debug/layers`, which must be a debug build; without, they are played.

#![expect(clippy::print_stdout, reason = "a program")]

#[path = "../tests/simulate/simulation/mod.rs"]
mod simulation;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use simulation::{Means, Schedule};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1).cloned()
    };
    let number = |name: &str| value(name)?.parse::<u64>().ok();
    let means = Means { layers: value("--layers").and_then(|path| std::fs::canonicalize(path).ok()) };
    let seeds = match (number("--seed"), number("--schedules")) {
        (Some(seed), None) => seed..seed + 1,
        (seed, count) => {
            let first = seed.unwrap_or(0);
            first..first + count.unwrap_or(1000)
        }
    };
    let Some((seed, law)) = first_failure(seeds.clone(), &means) else {
        println!("{} schedules, no law broken", seeds.end - seeds.start);
        return ExitCode::SUCCESS;
    };
    let schedule = Schedule::random(seed);
    println!("seed {seed}: {law}");
    let shrunk = schedule.shrunk(&means);
    println!("shortest: {shrunk:#?}");
    match shrunk.run(&means) {
        Err(law) => println!("{law}"),
        Ok(()) => println!("not this time: it depends on who comes first"),
    }
    ExitCode::FAILURE
}

/// The first seed found, by any thread, that breaks a law.
fn first_failure(seeds: std::ops::Range<u64>, means: &Means) -> Option<(u64, String)> {
    let next = AtomicU64::new(seeds.start);
    let failed: Mutex<Option<(u64, String)>> = Mutex::new(None);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end || failed.lock().is_ok_and(|failed| failed.is_some()) {
                        break;
                    }
                    if let Err(law) = Schedule::random(seed).run(means)
                        && let Ok(mut failed) = failed.lock()
                    {
                        failed.get_or_insert((seed, law));
                    }
                }
            });
        }
    });
    failed.into_inner().ok().flatten()
}
