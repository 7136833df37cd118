//! `layers git`: what git has to do with layers.

use clap::{Args, Subcommand};

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::git_sync::{self, GitSyncArgs};

// The arguments of `git`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct GitArgs {
    #[command(subcommand)]
    command: GitCommand,
}

#[derive(Debug, Subcommand)]
enum GitCommand {
    /// Commit the layers of the root, take in what others did, push
    #[command(after_long_help = git_sync::EXAMPLES)]
    Sync(GitSyncArgs),
}

pub(crate) fn run(args: &GitArgs, cx: &mut Context) -> Result<Exit, Failure> {
    match &args.command {
        GitCommand::Sync(args) => git_sync::run(args, "false", cx),
    }
}
