//! `layers man`: the manual pages.

use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _, ValueHint};
use clap_mangen::Man;

use super::super::args::Cli;
use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use crate::files::{self, Expected, Found, NewFile};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers man | man -l -                          read it now
  layers man --out ~/.local/share/man/man1       a page for each command";

// The arguments of `man`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.out else {
        let page = page(&command)?;
        cx.out.data(&page)?;
        return Ok(Exit::Done);
    };
    let count = write_all(folder, "layers", &command)?;
    cx.out.say(format_args!("wrote {count} pages to {}", folder.display()));
    Ok(Exit::Done)
}

/// The page of a command and those of the commands below it; how many.
fn write_all(folder: &Path, name: &str, command: &Command) -> Result<usize, Failure> {
    write(folder, name, command)?;
    let mut count = 1;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        count += write_all(folder, &format!("{name}-{}", sub.get_name()), sub)?;
    }
    Ok(count)
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write(folder: &Path, name: &str, command: &Command) -> Result<(), Failure> {
    let path = folder.join(format!("{name}.1"));
    let page = page(command)?;
    let held = files::read_bytes(&path)?;
    let expected = match &held {
        Found::Content(held) => Expected::Bytes(held),
        Found::Absent => Expected::Absent,
    };
    files::replace(&path, expected, page.as_bytes(), NewFile::Umask)?;
    Ok(())
}
