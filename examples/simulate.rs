//! Runs random histories of layers that agents, people, a refiner and pi change at once, and
//! checks after each step that nothing is lost: `cargo run --release --example simulate --
//! --schedules 100000`; `--seed S` replays one and shortens it if it fails.

#![expect(clippy::print_stdout, reason = "a program")]

#[path = "../tests/simulate/world.rs"]
mod world;

use std::process::ExitCode;

use world::Schedule;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)?.parse::<u64>().ok()
    };
    let seeds = match (number("--seed"), number("--schedules")) {
        (Some(seed), None) => seed..seed + 1,
        (seed, count) => {
            let first = seed.unwrap_or(0);
            first..first + count.unwrap_or(1000)
        }
    };
    for seed in seeds.clone() {
        let schedule = Schedule::random(seed);
        if let Err(law) = schedule.run() {
            println!("seed {seed}: {law}");
            let shrunk = schedule.shrunk();
            println!("shortest: {shrunk:#?}");
            if let Err(law) = shrunk.run() {
                println!("{law}");
            }
            return ExitCode::FAILURE;
        }
    }
    println!("{} schedules, no law broken", seeds.end - seeds.start);
    ExitCode::SUCCESS
}
