//! `layers list`: the notes in reach.

use anstyle::Style;
use clap::Args;

use super::super::args::{LayerArg, kind_parser};
use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::json;
use super::super::output::{FAINT, WARNING, one_line};
use super::super::table::{Table, head_of};
use crate::audit::Audit;
use crate::document::State;
use crate::effective::Judged;
use crate::note::{Kind, Scope, two_decimals};
use crate::reach::ReadLayer;
use crate::select::Standing;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers list                          what counts here
  layers list --all                    also what is inactive, shadowed or of other models
  layers list --kind skill --json      the skills, as data";

// The arguments of `list`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only notes of this kind
    #[arg(long, value_parser = kind_parser())]
    kind: Option<Kind>,
    /// Only notes of this layer
    #[arg(long, value_enum)]
    layer: Option<LayerArg>,
    /// Also notes that are inactive, shadowed, rejected, or of other models or projects
    #[arg(long, short)]
    all: bool,
    /// Notes of all projects below the root
    #[arg(long)]
    all_projects: bool,
}

pub(crate) fn run(args: &ListArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (reach, config) = cx.reach()?;
    let model = cx.model();
    if !args.all_projects {
        let judged = reach.judge(model.as_deref(), config.layers.orphans);
        let layers: Vec<&ReadLayer> = reach.layers.iter().collect();
        return print(args, cx, &judged, &layers);
    }
    let audit = Audit::read(reach, super::super::context::state())?;
    for (layer, error) in &audit.unavailable {
        cx.unavailable(layer, error);
    }
    let groups = audit.groups(model.as_deref(), config.layers.orphans);
    let judged: Vec<Judged<'_>> = groups.into_iter().flat_map(|group| group.judged).collect();
    print(args, cx, &judged, &audit.layers())
}

fn print(
    args: &ListArgs,
    cx: &mut Context,
    judged: &[Judged<'_>],
    layers: &[&ReadLayer],
) -> Result<Exit, Failure> {
    let is_wanted = |one: &&Judged<'_>| {
        args.kind.is_none_or(|kind| one.note.kind() == kind)
            && args.layer.is_none_or(|layer| layers[one.layer].layer.kind == layer.kind())
    };
    let wanted: Vec<&Judged<'_>> = judged.iter().filter(is_wanted).collect();
    let (shown, hidden): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|one| args.all || counts(one));
    if cx.globals.json {
        let mut lines = json::LineCounter::default();
        let notes: Vec<json::NoteJson> =
            shown.iter().map(|one| json::note(one, layers, &mut lines)).collect();
        cx.out.json(&notes)?;
        return Ok(Exit::Done);
    }
    let mut table =
        Table::ending_in_text(&["id", "kind", "importance", "model", "project", "layer", "state", "text"]);
    for one in &shown {
        let note = one.note;
        let (scope, project) = json::scope_of(note, layers[one.layer]);
        let project = match scope {
            Scope::Global => "*".to_owned(),
            Scope::Project => project.unwrap_or_else(|| "?".to_owned()),
        };
        let (style, state) = state_of(one);
        let text = note.title().map_or_else(|| head_of(&note.content(), 60), |title| head_of(&title, 60));
        let model = note.model().filter(|model| !model.is_empty());
        let cells = vec![
            one_line(&one.id),
            note.kind().to_string(),
            two_decimals(note.importance()),
            model.map_or_else(|| "-".to_owned(), |model| one_line(&model)),
            one_line(&project),
            layers[one.layer].layer.kind.as_str().to_owned(),
            state.to_owned(),
            text,
        ];
        table.styled(style, cells);
    }
    table.print(&mut cx.out, "")?;
    if shown.is_empty() && hidden.is_empty() && cx.exit == Exit::Done {
        cx.out.say("no notes here yet; `layers add TEXT` makes one");
    } else if !hidden.is_empty() {
        cx.out.say(format_args!("{} more with --all ({})", hidden.len(), why(&hidden)));
    }
    Ok(Exit::Done)
}

/// Whether a note is listed without being asked for: it counts, or waits for somebody.
fn counts(one: &Judged<'_>) -> bool {
    match json::shown_standing(one) {
        Standing::Eligible
        | Standing::NoModel
        | Standing::Pending
        | Standing::Orphan
        | Standing::Untrusted
        | Standing::Unreviewed
        | Standing::Unparsed
        | Standing::Conflicted
        | Standing::Empty => true,
        Standing::Inactive
        | Standing::Rejected
        | Standing::OtherModel
        | Standing::OtherProject
        | Standing::Replaced
        | Standing::Shadowed
        | Standing::Copy => false,
    }
}

fn state_of(one: &Judged<'_>) -> (Style, &'static str) {
    if one.standing == Standing::Replaced {
        return (FAINT, word(one.standing));
    }
    match one.note.state() {
        State::Unparsed => return (WARNING, "unparsed"),
        State::Conflicted => return (WARNING, "in conflict"),
        State::Good => {}
    }
    match json::shown_standing(one) {
        Standing::Eligible | Standing::NoModel => (Style::new(), "ok"),
        other => (FAINT, word(other)),
    }
}

/// A standing in one short cell.
pub(crate) const fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Eligible => "ok",
        Standing::NoModel => "no model",
        Standing::Inactive => "inactive",
        Standing::Pending => "pending",
        Standing::Rejected => "rejected",
        Standing::OtherModel => "other model",
        Standing::Orphan => "orphan",
        Standing::OtherProject => "other project",
        Standing::Untrusted => "untrusted",
        Standing::Unreviewed => "to review",
        Standing::Unparsed => "unparsed",
        Standing::Conflicted => "in conflict",
        Standing::Replaced => "replaced",
        Standing::Shadowed => "shadowed",
        Standing::Empty => "empty",
        Standing::Copy => "copy",
    }
}

/// Counts of the standings, most first.
pub(crate) fn why(judged: &[&Judged<'_>]) -> String {
    let mut counts: Vec<(usize, &'static str)> = Vec::new();
    for one in judged {
        let word = word(json::shown_standing(one));
        match counts.iter_mut().find(|(_, known)| *known == word) {
            Some((count, _)) => *count += 1,
            None => counts.push((1, word)),
        }
    }
    counts.sort_by_key(|(count, word)| (std::cmp::Reverse(*count), *word));
    let parts: Vec<String> = counts.into_iter().map(|(count, word)| format!("{count} {word}")).collect();
    parts.join(", ")
}
