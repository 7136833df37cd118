//! `layers completions`: scripts for shells.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::super::args::Cli;
use super::super::context::Context;
use super::super::failure::{Exit, Failure};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers completions bash > ~/.local/share/bash-completion/completions/layers
  layers completions fish > ~/.config/fish/completions/layers.fish
  source <(COMPLETE=zsh layers)     completes ids, models and projects too, as they are now

The last form asks `layers` itself at every TAB; it works for bash, zsh, fish, elvish and
powershell.";

// The arguments of `completions`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "layers", &mut script);
    cx.out.data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
