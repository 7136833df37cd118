//! What can be typed: the options of every command, and one entry a command.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use super::commands::{
    add::AddArgs, archive::ArchiveArgs, check::CheckArgs, claim::ClaimArgs, completions::CompletionsArgs,
    conflicts::ConflictsArgs, diff::DiffArgs, doctor::DoctorArgs, edit::EditArgs, export::ExportArgs,
    fmt::FmtArgs, git::GitArgs, history::HistoryArgs, import::ImportArgs, init::InitArgs, keep::KeepArgs,
    list::ListArgs, man::ManArgs, relocate::MoveArgs, render::RenderArgs, restore::RestoreArgs,
    review::ReviewArgs, rollback::RollbackArgs, show::ShowArgs, status::StatusArgs, sync::SyncArgs,
    trust::TrustArgs, trust::UntrustArgs, watch::WatchArgs,
};
use super::complete;
use super::output::Color;
use crate::document::Form;
use crate::note::{Kind, LayerKind};
use crate::render::Format;

/// Notes that coding agents learn, in markdown files that people, git and agents can all edit
///
/// A note is a fact, a rule, a skill or a role. Notes live in layers: one global file, one
/// private file a project, and `.harness/<key>.md` in a repository. `layers render` prints
/// the block that goes into a system prompt.
#[derive(Debug, Parser)]
#[command(
    name = "layers",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    infer_subcommands = false,
    disable_help_subcommand = false,
    after_long_help = EXAMPLES
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  layers add 'Run the tests with -j1: they share a port'   note something for this project
  layers list                                              see what is noted
  layers render --model anthropic/claude-opus-4-5          print the block for a prompt

Exit codes: 0 done, 1 findings or nothing found, 2 usage, 3 refused, 4 reading or writing failed.";

// Options that every command has.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Folder of the home layers
    ///
    /// Default: $LAYERS_ROOT, else ~/.pi/agent if it holds harness files, else ~/.harness.
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) root: Option<PathBuf>,
    /// Key of the project
    ///
    /// Default: $LAYERS_PROJECT, else $RLM_PROJECT_NAME, else found from the working directory.
    #[arg(long, global = true, value_name = "KEY", add = ArgValueCompleter::new(complete::projects))]
    pub(crate) project: Option<String>,
    /// Model as provider/id [default: $LAYERS_MODEL]
    ///
    /// For `add` and `edit` it is the owner of the note.
    #[arg(long, global = true, value_name = "MODEL", add = ArgValueCompleter::new(complete::models))]
    pub(crate) model: Option<String>,
    /// Print JSON (see docs/json.md)
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(crate) color: Color,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// What to do. Options of a command are built only when it is asked for, since `render`
/// runs before every turn.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Make the root and its layers
    #[command(after_long_help = super::commands::init::EXAMPLES)]
    Init(InitArgs),
    /// Show which root, project and layers are in use
    #[command(after_long_help = super::commands::status::EXAMPLES)]
    Status(StatusArgs),
    /// List the notes in reach
    #[command(after_long_help = super::commands::list::EXAMPLES)]
    List(ListArgs),
    /// Show one note with all its fields
    #[command(after_long_help = super::commands::show::EXAMPLES)]
    Show(ShowArgs),
    /// Add a note
    #[command(after_long_help = super::commands::add::EXAMPLES)]
    Add(AddArgs),
    /// Change fields or the text of a note
    #[command(after_long_help = super::commands::edit::EXAMPLES)]
    Edit(EditArgs),
    /// Raise the importance of notes by 0.1
    #[command(after_long_help = super::commands::keep::KEEP_EXAMPLES)]
    Keep(KeepArgs),
    /// Lower the importance of notes by 0.1 (does not remove them)
    #[command(after_long_help = super::commands::keep::DROP_EXAMPLES)]
    Drop(KeepArgs),
    /// Move a note into another layer
    #[command(after_long_help = super::commands::relocate::EXAMPLES)]
    Move(MoveArgs),
    /// Put notes away, or list those that are in no file any more
    #[command(after_long_help = super::commands::archive::EXAMPLES)]
    Archive(ArchiveArgs),
    /// Bring back an archived note, a value that lost, or a file that was emptied
    #[command(after_long_help = super::commands::restore::EXAMPLES)]
    Restore(RestoreArgs),
    /// Bring the files and what is known of them together
    #[command(after_long_help = super::commands::sync::EXAMPLES)]
    Sync(SyncArgs),
    /// Keep files and store together while they change
    #[command(after_long_help = super::commands::watch::EXAMPLES)]
    Watch(WatchArgs),
    /// List what lost when two sides changed the same thing
    #[command(after_long_help = super::commands::conflicts::EXAMPLES)]
    Conflicts(ConflictsArgs),
    /// Show what happened to a note, or in the layers in reach
    #[command(after_long_help = super::commands::history::EXAMPLES)]
    History(HistoryArgs),
    /// Show the difference between two versions of a layer
    #[command(after_long_help = super::commands::diff::EXAMPLES)]
    Diff(DiffArgs),
    /// Undo a change of the history, or all changes of a batch
    #[command(after_long_help = super::commands::rollback::EXAMPLES)]
    Rollback(RollbackArgs),
    /// Print the block for a system prompt
    #[command(after_long_help = super::commands::render::EXAMPLES)]
    Render(RenderArgs),
    /// Take notes out of other files in, by pi-continual-harness's rules
    #[command(after_long_help = super::commands::import::EXAMPLES)]
    Import(ImportArgs),
    /// Write the notes as files of pi-continual-harness
    #[command(after_long_help = super::commands::export::EXAMPLES)]
    Export(ExportArgs),
    /// Report what is wrong in layers, with line and remedy
    #[command(after_long_help = super::commands::check::EXAMPLES)]
    Check(CheckArgs),
    /// Look for what is wrong around the layers, with remedies
    #[command(after_long_help = super::commands::doctor::EXAMPLES)]
    Doctor(DoctorArgs),
    /// Say that this place is one project with another of its name
    #[command(after_long_help = super::commands::claim::EXAMPLES)]
    Claim(ClaimArgs),
    /// Allow the notes of a repository, which come from other people
    #[command(after_long_help = super::commands::trust::EXAMPLES)]
    Trust(TrustArgs),
    /// Take back that a repository is trusted
    #[command(after_long_help = super::commands::trust::UNTRUST_EXAMPLES)]
    Untrust(UntrustArgs),
    /// Look at what changed in a trusted repository, and accept it
    #[command(after_long_help = super::commands::review::EXAMPLES)]
    Review(ReviewArgs),
    /// Put layers into canonical shape, or into the other form
    #[command(after_long_help = super::commands::fmt::EXAMPLES)]
    Fmt(FmtArgs),
    /// Layers in git: merged by note and field, and between machines
    #[command(after_long_help = super::commands::git::EXAMPLES)]
    Git(GitArgs),
    /// Print a completion script for a shell
    #[command(after_long_help = super::commands::completions::EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page
    #[command(after_long_help = super::commands::man::EXAMPLES)]
    Man(ManArgs),
}

/// A kind of note.
pub(crate) fn kind_parser() -> impl clap::builder::TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::as_str)).try_map(|word| word.parse::<Kind>())
}

/// A form of the block.
pub(crate) fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::as_str)).try_map(|word| word.parse::<Format>())
}

/// A number from 0 to 1.
pub(crate) fn importance(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("an importance is a number from 0 to 1".to_owned()),
    }
}

/// A layer by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayerArg {
    /// Every project's, private
    Global,
    /// In the repository, shared
    Repo,
    /// This project's, private
    #[value(alias = "project")]
    Home,
}

impl LayerArg {
    pub(crate) const fn kind(self) -> LayerKind {
        match self {
            Self::Global => LayerKind::Global,
            Self::Repo => LayerKind::Repo,
            Self::Home => LayerKind::Home,
        }
    }
}

/// How a note is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormArg {
    /// A metadata block and the text after it
    FrontMatter,
    /// A list item, as pi-continual-harness has it
    #[value(alias = "bullet")]
    Bullets,
}

impl FormArg {
    pub(crate) const fn form(self) -> Form {
        match self {
            Self::FrontMatter => Form::FrontMatter,
            Self::Bullets => Form::Bullet,
        }
    }
}

// Fields that `add` and `edit` give by name (a doc comment would replace the command's own
// help).
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FieldArgs {
    /// What the note is for
    #[arg(long, value_parser = kind_parser())]
    pub(crate) kind: Option<Kind>,
    /// A short name for people
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) title: Option<String>,
    /// How much it matters, from 0 to 1
    #[arg(long, value_name = "NUMBER", value_parser = importance, allow_negative_numbers = true)]
    pub(crate) importance: Option<f64>,
    /// Why the note exists; may be given several times
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) evidence: Vec<String>,
    /// A word to find it by; may be given several times
    #[arg(long, value_name = "WORD")]
    pub(crate) tag: Vec<String>,
    /// For every model
    #[arg(long, conflicts_with = "model")]
    pub(crate) any_model: bool,
    /// Take the text from a file
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}
