//! The `layers` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    harness_layers::cli::run(std::env::args_os())
}
