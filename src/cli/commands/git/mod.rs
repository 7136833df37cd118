//! `layers git`: what layers need of git, and git of layers.

pub(crate) mod install;
pub(crate) mod merge_driver;
pub(crate) mod sync;

use clap::{Args, Subcommand};

use super::super::context::Context;
use super::super::failure::{Exit, Failure};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers git install             merge layers by note and field in this repository
  layers git install --remove    as it was before
  layers git sync                your own layers, to and from your other machines

docs/git.md tells how a team sets it up.";

// The arguments of `git`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct GitArgs {
    #[command(subcommand)]
    command: GitCommand,
}

#[derive(Debug, Subcommand)]
enum GitCommand {
    /// Have git merge layers by note and field
    #[command(after_long_help = install::EXAMPLES)]
    Install(install::InstallArgs),
    /// Commit the layers of the root, take in what others did, push
    #[command(after_long_help = sync::EXAMPLES)]
    Sync(sync::GitSyncArgs),
    /// Merge three versions of a layer (git runs this)
    #[command(after_long_help = merge_driver::EXAMPLES)]
    MergeDriver(merge_driver::MergeDriverArgs),
}

pub(crate) fn run(args: &GitArgs, cx: &mut Context) -> Result<Exit, Failure> {
    match &args.command {
        GitCommand::Install(args) => install::run(args, cx),
        GitCommand::Sync(args) => sync::run(args, cx),
        GitCommand::MergeDriver(args) => merge_driver::run(args, cx),
    }
}
