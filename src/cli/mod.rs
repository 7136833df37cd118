//! The command line: arguments in, data to stdout, talk to stderr, an exit code. Everything
//! it knows comes from the library below; nothing below prints.

mod args;
mod commands;
mod complete;
mod context;
mod diff;
mod failure;
mod json;
mod lookup;
mod output;
mod repository;
mod stored;
mod table;
mod text;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use args::{Cli, Command};
use context::Context;
use failure::{Exit, Failure};
use output::Color;

/// Runs the command that the arguments name, and says how it ended.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    // Looked at first and cheaply: a shell that wants completions sets it.
    if std::env::var_os(complete::VARIABLE).is_some() {
        clap_complete::CompleteEnv::with_factory(Cli::command).var(complete::VARIABLE).complete();
    }
    let args: Vec<OsString> = args.into_iter().collect();
    if is_merge_driver(&args) {
        // Nothing but 0 and 1 may come out of it by accident, not a panic's 101 either.
        let exit = std::panic::catch_unwind(|| run_command(&args)).unwrap_or(Exit::Unmerged);
        return exit.of_merge_driver().into();
    }
    run_command(&args).into()
}

/// Whether git asks for a merge, also where the rest makes no sense.
fn is_merge_driver(args: &[OsString]) -> bool {
    let mut words = args.iter().skip(1).filter(|arg| !arg.as_encoded_bytes().starts_with(b"-"));
    words.any(|word| word == "git") && words.next().is_some_and(|word| word == "merge-driver")
}

fn run_command(args: &[OsString]) -> Exit {
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    let mut context = Context::new(cli.globals);
    let done = dispatch(cli.command, &mut context).and_then(|exit| {
        context.out.flush()?;
        Ok(exit)
    });
    commands::sync::tell_heard(&mut context);
    match done {
        Ok(exit) => exit.max(context.exit),
        Err(failure) => {
            context.out.fail(&failure);
            failure.exit
        }
    }
}

fn parse(args: &[OsString]) -> Result<Cli, Exit> {
    let matches = Cli::command().color(color_of(args).clap()).try_get_matches_from(args);
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    cli.map_err(|error| {
        // Help and version come this way too. A closed pipe is no error.
        let _ = error.print();
        let _ = std::io::stdout().flush();
        if error.use_stderr() { Exit::Usage } else { Exit::Done }
    })
}

/// `--color` counts for what clap itself prints too, so it is looked for before clap does.
fn color_of(args: &[OsString]) -> Color {
    let mut args = args.iter().filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        let word = match arg.strip_prefix("--color") {
            Some("") => args.next(),
            Some(rest) => rest.strip_prefix('='),
            None => continue,
        };
        return match word {
            Some("always") => Color::Always,
            Some("never") => Color::Never,
            _ => Color::Auto,
        };
    }
    Color::Auto
}

fn dispatch(command: Command, cx: &mut Context) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => commands::init::run(&args, cx),
        Command::Status(args) => commands::status::run(&args, cx),
        Command::List(args) => commands::list::run(&args, cx),
        Command::Show(args) => commands::show::run(&args, cx),
        Command::Add(args) => commands::add::run(&args, cx),
        Command::Edit(args) => commands::edit::run(&args, cx),
        Command::Keep(args) => commands::keep::run(&args, commands::keep::Bump::Keep, cx),
        Command::Drop(args) => commands::keep::run(&args, commands::keep::Bump::Drop, cx),
        Command::Move(args) => commands::relocate::run(&args, cx),
        Command::Archive(args) => commands::archive::run(&args, cx),
        Command::Restore(args) => commands::restore::run(&args, cx),
        Command::Sync(args) => commands::sync::run(&args, cx),
        Command::Import(args) => commands::import::run(&args, cx),
        Command::Watch(args) => commands::watch::run(&args, cx),
        Command::Conflicts(args) => commands::conflicts::run(&args, cx),
        Command::History(args) => commands::history::run(&args, cx),
        Command::Diff(args) => commands::diff::run(&args, cx),
        Command::Rollback(args) => commands::rollback::run(&args, cx),
        Command::Render(args) => commands::render::run(&args, cx),
        Command::Export(args) => commands::export::run(&args, cx),
        Command::Check(args) => commands::check::run(&args, cx),
        Command::Doctor(args) => commands::doctor::run(&args, cx),
        Command::Claim(args) => commands::claim::run(&args, cx),
        Command::Trust(args) => commands::trust::run(&args, cx),
        Command::Untrust(args) => commands::trust::untrust(&args, cx),
        Command::Review(args) => commands::review::run(&args, cx),
        Command::Fmt(args) => commands::fmt::run(&args, cx),
        Command::Git(args) => commands::git::run(&args, cx),
        Command::Completions(args) => commands::completions::run(&args, cx),
        Command::Man(args) => commands::man::run(&args, cx),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cli_is_sound() {
        let mut command = Cli::command();
        command.build();
        command.debug_assert();
    }
}
