//! Seeded pairs of branches over a layer of fifty notes, merged by stock git, by git's union
//! driver and by ours: `cargo run --release --example tournament -- --pairs 10000`; with
//! `--seed S` from that seed on.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that is a test")]

#[path = "../tests/tournament/arena.rs"]
mod arena;
#[path = "../tests/tournament/play.rs"]
mod play;

use std::process::ExitCode;

use arena::Form;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)?.parse::<u64>().ok()
    };
    let first = number("--seed").unwrap_or(0);
    let seeds = first..first + number("--pairs").unwrap_or(1000);
    let mut is_sound = true;
    for form in [Form::Blocks, Form::Bullets] {
        let scores = play::play(form, seeds.clone());
        println!("{} pairs, {form:?}\n{scores}", seeds.end - seeds.start);
        is_sound &= scores.ours.wrong == 0 && scores.ours.needless == 0;
        if let Some(fault) = scores.first_fault {
            println!("{fault}");
        }
    }
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
