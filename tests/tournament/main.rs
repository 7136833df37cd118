//! Pairs of branches over a layer of fifty notes, merged by stock git, by git's union driver
//! and by ours. `cargo run --release --example tournament -- --pairs 10000` plays more.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed test is to panic, and shows the table"
)]

mod arena;
mod placement;
mod play;

use arena::Form;
use play::{Score, play};

const PAIRS: u64 = 120;

#[test]
fn our_driver_loses_nothing_and_gives_up_only_where_the_branches_disagree() {
    for form in [Form::Blocks, Form::Bullets] {
        let scores = play(form, 0..PAIRS);
        println!("{form:?}\n{scores}");
        let Score { wrong, needless, .. } = scores.ours;
        assert_eq!((wrong, needless), (0, 0), "{}", scores.first_fault.unwrap_or_default());
        // The branches are no easy ones.
        assert!(scores.ours.conflict > 0 && scores.ours.clean > 0);
        assert!(scores.stock.needless > scores.ours.needless && scores.union.wrong > scores.ours.wrong);
    }
}
