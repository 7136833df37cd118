//! The `layers` command.

fn main() {}
