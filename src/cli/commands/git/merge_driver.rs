//! `layers git merge-driver`: three versions of a layer in, one out, for git.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::super::super::context::Context;
use super::super::super::failure::{Exit, Failure};
use crate::files::{Expected, Found, NewFile, read_text, replace};
use crate::git::conflict_style_has_base;
use crate::merge::{Disagreement, Marks, Versions, merge};

pub(crate) const EXAMPLES: &str = "\
`layers git install` writes the line into git's configuration that runs this; by hand:
  layers git merge-driver base.md ours.md theirs.md    the result replaces ours.md

Exit codes: 0 merged, 1 merged with conflicts that are marked in the file, 129 not merged and
the file as it was (git takes 1 to 128 for conflicts).";

/// Git's own default; shorter markers are not told from text.
const LEAST_MARKER: u16 = 7;

/// A marker is a line for people.
const LONGEST_MARKER: u16 = 1000;

// The arguments of `git merge-driver`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct MergeDriverArgs {
    /// The version that both sides started from (git's %O)
    #[arg(value_name = "BASE", value_hint = ValueHint::FilePath)]
    base: PathBuf,
    /// Our version; the result replaces it (git's %A)
    #[arg(value_name = "OURS", value_hint = ValueHint::FilePath)]
    ours: PathBuf,
    /// Their version (git's %B)
    #[arg(value_name = "THEIRS", value_hint = ValueHint::FilePath)]
    theirs: PathBuf,
    /// How many characters a conflict marker has, 7 at least (git's %L)
    #[arg(short = 'L', value_name = "SIZE", default_value_t = LEAST_MARKER)]
    size: u16,
    /// Name of the layer, for messages (git's %P)
    #[arg(short = 'P', value_name = "PATH", allow_hyphen_values = true)]
    path: Option<PathBuf>,
    /// Label of the base (git's %S, since 2.44)
    #[arg(short = 'S', value_name = "LABEL", allow_hyphen_values = true)]
    base_label: Option<String>,
    /// Label of our side (git's %X, since 2.44)
    #[arg(short = 'X', value_name = "LABEL", allow_hyphen_values = true)]
    our_label: Option<String>,
    /// Label of their side (git's %Y, since 2.44)
    #[arg(short = 'Y', value_name = "LABEL", allow_hyphen_values = true)]
    their_label: Option<String>,
}

pub(crate) fn run(args: &MergeDriverArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let [base, ours, theirs] = [read(&args.base)?, read(&args.ours)?, read(&args.theirs)?];
    let versions = Versions { base: &base, ours: &ours, theirs: &theirs };
    let name = args.path.as_deref().unwrap_or(&args.ours);
    let mut marks = args.marks();
    let mut merged = merge(versions, &marks).map_err(|marked| {
        let place = format!("{}:{}:{}", name.display(), marked.location.line, marked.location.column);
        Failure::new(Exit::Unmerged, format_args!("{place}: {marked}; nothing is merged"))
            .help("resolve them on that side and commit, then merge again")
    })?;
    if !merged.disagreements.is_empty() && conflict_style_has_base() {
        marks.base = Some(label(args.base_label.as_ref(), "base"));
        merged = merge(versions, &marks).unwrap_or(merged);
    }
    replace(&args.ours, Expected::Bytes(ours.as_bytes()), merged.text.as_bytes(), NewFile::Umask)?;
    for disagreement in &merged.disagreements {
        let what = match disagreement {
            Disagreement::Note(id) => format!("both sides changed {id}"),
            Disagreement::Prose => "both sides changed the same lines between the notes".to_owned(),
            Disagreement::Text => "merged as text, as it cannot be read as notes (`layers check`)".to_owned(),
        };
        cx.out.say(format_args!("{}: conflict: {what}", name.display()));
    }
    Ok(if merged.disagreements.is_empty() { Exit::Done } else { Exit::Findings })
}

impl MergeDriverArgs {
    fn marks(&self) -> Marks {
        Marks {
            size: self.size.clamp(LEAST_MARKER, LONGEST_MARKER).into(),
            ours: label(self.our_label.as_ref(), "ours"),
            base: None,
            theirs: label(self.their_label.as_ref(), "theirs"),
        }
    }
}

/// A label as git gives it. Before 2.44 it leaves the placeholder as it is.
fn label(given: Option<&String>, default: &str) -> String {
    match given.map(String::as_str) {
        None | Some("%S" | "%X" | "%Y") => default.to_owned(),
        Some(label) => label.lines().next().unwrap_or_default().to_owned(),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    match read_text(path)? {
        Found::Content(text) => Ok(text),
        Found::Absent => {
            Err(Failure::new(Exit::Unmerged, format_args!("there is no file {}", path.display())))
        }
    }
}
