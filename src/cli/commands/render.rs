//! `layers render`: the block for one model and one project.

use std::borrow::Cow;

use clap::Args;
use serde::Serialize;

use super::super::args::format_parser;
use super::super::context::{Context, MODEL_VARIABLE};
use super::super::failure::{Exit, Failure};
use super::super::output::{FAINT, Output};
use super::super::table::{Table, head_of};
use crate::audit::Audit;
use crate::config::{Config, Injection};
use crate::effective::Judged;
use crate::note::{Kind, LayerKind, two_decimals};
use crate::reach::{Reach, ReadLayer};
use crate::render::{Format, Label, Section, Shown, render};
use crate::select::{Contender, Outcome, Selection, Standing, cost, select_by};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers render --model anthropic/claude-opus-4-5     the block, for the current project
  LAYERS_MODEL=openai/gpt-5 layers render --explain   why each note is in the block, or not
  layers render --model M --format xml                as one <harness_state> element";

// The arguments of `render`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct RenderArgs {
    /// The form of the block
    #[arg(long, value_parser = format_parser(), default_value = "markdown")]
    format: Format,
    /// Show every candidate and what became of it, instead of the block
    #[arg(long)]
    explain: bool,
    /// Show the notes of all projects, each section marked (for auditing)
    #[arg(long)]
    all_projects: bool,
}

/// The notes of one section and what became of them.
struct Part<'a> {
    project: Option<String>,
    is_labelled: bool,
    judged: Vec<Judged<'a>>,
    /// For each layer, whether it is a repository's.
    of_repo: Vec<bool>,
}

/// A note with its texts, which a block borrows.
struct Texts<'a> {
    judged: &'a Judged<'a>,
    content: Cow<'a, str>,
    title: Option<Cow<'a, str>>,
}

pub(crate) fn run(args: &RenderArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (reach, config) = if args.explain { cx.reach()? } else { cx.trusted_reach()? };
    let model = cx.model();
    if model.is_none() {
        cx.out.warn("no model is asked for, so nothing is rendered");
        cx.out.hint(format_args!("give --model PROVIDER/ID or set ${MODEL_VARIABLE}"));
    }
    let model = model.as_deref();
    if !args.all_projects {
        let judged = reach.judge(model, config.layers.orphans);
        let layers: Vec<&ReadLayer> = reach.layers.iter().collect();
        let part = Part { project: None, is_labelled: false, judged, of_repo: of_repo(&layers) };
        let done = print(args, cx, &config, &layers, std::slice::from_ref(&part));
        // The process is about to end: taking large layers apart first would cost it a
        // tenth of its time.
        drop(layers);
        std::mem::forget(part);
        std::mem::forget(reach);
        return done;
    }
    let audit = Audit::read(reach, super::super::context::state())?;
    for (layer, error) in &audit.unavailable {
        cx.unavailable(layer, error);
    }
    let groups = audit.groups(model, config.layers.orphans);
    let parts: Vec<Part<'_>> = groups
        .into_iter()
        .map(|group| Part {
            project: group.project,
            is_labelled: true,
            judged: group.judged,
            of_repo: of_repo(&audit.layers()),
        })
        .collect();
    print(args, cx, &config, &audit.layers(), &parts)
}

fn print(
    args: &RenderArgs,
    cx: &mut Context,
    config: &Config,
    layers: &[&ReadLayer],
    parts: &[Part<'_>],
) -> Result<Exit, Failure> {
    let injection = &config.injection;
    let selections: Vec<Selection> = parts.iter().map(|part| part.select(config)).collect();
    if args.explain {
        let explained: Vec<Explained<'_>> = parts
            .iter()
            .zip(&selections)
            .map(|(part, selection)| Explained::of(part, selection, layers, injection))
            .collect();
        return explain(cx, &explained, parts);
    }
    let format = if cx.globals.json { Format::Json } else { args.format };
    let block = block(parts, &selections, format);
    if !block.is_empty() {
        cx.out.data(&block)?;
        cx.out.data("\n")?;
    }
    Ok(Exit::Done)
}

fn block(parts: &[Part<'_>], selections: &[Selection], format: Format) -> String {
    let taken: Vec<Vec<Texts<'_>>> =
        parts.iter().zip(selections).map(|(part, selection)| part.texts(selection)).collect();
    let sections: Vec<Section<'_>> = parts
        .iter()
        .zip(&taken)
        .zip(selections)
        .map(|((part, texts), selection)| Section {
            label: part.label(),
            notes: texts.iter().map(Texts::shown).collect(),
            omitted: selection.omitted,
        })
        .collect();
    render(&sections, format)
}

/// The block of the layers in reach, as `layers render` prints it.
pub(crate) fn block_of(reach: &Reach, config: &Config, model: Option<&str>, format: Format) -> String {
    let judged = reach.judge(model, config.layers.orphans);
    let layers: Vec<&ReadLayer> = reach.layers.iter().collect();
    let part = Part { project: None, is_labelled: false, judged, of_repo: of_repo(&layers) };
    let selection = part.select(config);
    let mut block = block(std::slice::from_ref(&part), &[selection], format);
    if !block.is_empty() {
        block.push('\n');
    }
    block
}

fn of_repo(layers: &[&ReadLayer]) -> Vec<bool> {
    layers.iter().map(|read| read.layer.kind == LayerKind::Repo).collect()
}

impl Part<'_> {
    /// Ranks all notes; looks up the texts of those that are priced.
    fn select(&self, config: &Config) -> Selection {
        let injection = &config.injection;
        let contenders: Vec<Contender> = self
            .judged
            .iter()
            .map(|one| Contender {
                kind: one.note.kind(),
                // A number that nothing looks at need not be read.
                importance: if one.standing == Standing::Eligible { one.note.importance() } else { 0.0 },
                standing: one.standing,
                is_of_repo: self.of_repo[one.layer],
            })
            .collect();
        select_by(&contenders, injection, config.layers.repo_share, |index| {
            let texts = Texts::of(&self.judged[index]);
            cost(&texts.shown(), injection)
        })
    }

    fn texts(&self, selection: &Selection) -> Vec<Texts<'_>> {
        let taken = selection.taken.iter().flat_map(|(_, indexes)| indexes);
        taken.map(|index| Texts::of(&self.judged[*index])).collect()
    }

    fn label(&self) -> Option<Label<'_>> {
        self.is_labelled.then(|| self.project.as_deref().map_or(Label::Global, Label::Project))
    }
}

impl<'a> Texts<'a> {
    fn of(judged: &'a Judged<'_>) -> Self {
        Self { judged, content: judged.note.content(), title: judged.note.title() }
    }

    fn shown(&self) -> Shown<'_> {
        Shown {
            id: &self.judged.id,
            kind: self.judged.note.kind(),
            title: self.title.as_deref(),
            content: &self.content,
            importance: self.judged.note.importance(),
        }
    }
}

/// A section, candidate by candidate.
#[derive(Serialize)]
struct Explained<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    candidates: Vec<Row<'a>>,
    taken: usize,
    not_shown: usize,
    out: usize,
    budget: Option<f64>,
    spent: f64,
}

/// A candidate and what became of it.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    kind: Kind,
    importance: f64,
    outcome: &'static str,
    reason: Option<&'static str>,
    /// From 1, among the notes of its kind that compete.
    rank: Option<usize>,
    cost: f64,
    layer: LayerKind,
    path: String,
    #[serde(skip)]
    head: String,
}

impl<'a> Explained<'a> {
    fn of(part: &'a Part<'_>, selection: &Selection, layers: &[&ReadLayer], injection: &Injection) -> Self {
        let rows = part.judged.iter().zip(&selection.verdicts).map(|(judged, verdict)| {
            let texts = Texts::of(judged);
            let shown = texts.shown();
            let (outcome, reason) = match verdict.outcome {
                Outcome::Taken => ("taken", None),
                Outcome::OverKindCap => ("over-kind-cap", Some("over the kind cap (injection.maxPerKind)")),
                Outcome::OverBudget => ("over-budget", Some("over the budget (injection.maxTokens)")),
                Outcome::OverRepoShare => ("over-repo-share", Some("over the repo share (layers.repoShare)")),
                Outcome::Out(standing) => ("out", standing.reason()),
            };
            Row {
                id: &judged.id,
                kind: shown.kind,
                importance: shown.importance,
                outcome,
                reason,
                rank: verdict.rank.map(|rank| rank + 1),
                cost: verdict.cost.unwrap_or_else(|| cost(&shown, injection)),
                layer: layers[judged.layer].layer.kind,
                path: layers[judged.layer].layer.path.display().to_string(),
                head: head_of(shown.content, 40),
            }
        });
        let rows: Vec<Row<'a>> = rows.collect();
        let taken = rows.iter().filter(|row| row.outcome == "taken").count();
        Self {
            project: part.project.as_deref(),
            out: rows.len() - taken - selection.omitted,
            candidates: rows,
            taken,
            not_shown: selection.omitted,
            budget: selection.budget,
            spent: selection.spent,
        }
    }
}

fn explain(cx: &mut Context, sections: &[Explained<'_>], parts: &[Part<'_>]) -> Result<Exit, Failure> {
    if cx.globals.json {
        // One object without --all-projects, so that the ordinary case is plain.
        match sections {
            [only] if parts.iter().all(|part| !part.is_labelled) => cx.out.json(only)?,
            all => cx.out.json(&all)?,
        }
        return Ok(Exit::Done);
    }
    for (at, (section, part)) in sections.iter().zip(parts).enumerate() {
        if part.is_labelled {
            let gap = if at == 0 { "" } else { "\n" };
            let title =
                section.project.map_or_else(|| "all projects".to_owned(), |key| format!("project {key}"));
            cx.out.line(format_args!("{gap}{title}"))?;
        }
        table(&mut cx.out, section)?;
    }
    Ok(Exit::Done)
}

fn table(out: &mut Output, section: &Explained<'_>) -> Result<(), Failure> {
    let mut table =
        Table::ending_in_text(&["kind", "rank", "cost", "importance", "outcome", "id", "layer", "text"]);
    let mut order: Vec<&Row<'_>> = section.candidates.iter().collect();
    // Ranked ones of a kind first, in their rank; the others in layer order.
    order.sort_by_key(|row| (row.kind, row.rank.unwrap_or(usize::MAX)));
    for row in order {
        let style = if row.outcome == "taken" { anstyle::Style::new() } else { FAINT };
        let cells = vec![
            row.kind.to_string(),
            row.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string()),
            row.cost.to_string(),
            two_decimals(row.importance),
            row.reason.unwrap_or(row.outcome).to_owned(),
            super::super::output::one_line(row.id),
            row.layer.as_str().to_owned(),
            row.head.clone(),
        ];
        table.styled(style, cells);
    }
    table.print(out, "")?;
    let count = |outcome: &str| section.candidates.iter().filter(|row| row.outcome == outcome).count();
    let budget =
        section.budget.map_or_else(String::new, |budget| format!("; {} of {budget} tokens", section.spent));
    let share = match count("over-repo-share") {
        0 => String::new(),
        count => format!(", {count} over the repo share"),
    };
    out.line(format_args!(
        "{} taken, {} item(s) not shown ({} over the kind cap, {} over the budget{share}), {} out{budget}",
        section.taken,
        section.not_shown,
        count("over-kind-cap"),
        count("over-budget"),
        section.out,
    ))
}
