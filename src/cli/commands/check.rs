//! `layers check`: what is wrong in layers, with line and remedy.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Serialize;

use super::super::context::{Context, exit_of};
use super::super::failure::{Exit, Failure, Snippet};
use super::super::output::{HELP, STRONG, excerpt, severity_style};
use crate::check::{Finding, Place, examine};
use crate::config::Orphans;
use crate::document::{Document, Severity};
use crate::files::{self, Found};
use crate::note::LayerKind;
use crate::reach::Reach;
use crate::text::{Span, locate};
use crate::workspace::LayerRef;

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers check                        all layers in reach
  layers check .harness/*.md --quiet  for a commit hook: the exit code alone
  layers check --json                 findings as data

Exits with 1 if there is a warning or an error.";

// The arguments of `check`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Files to check [default: all layers in reach]
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    paths: Vec<PathBuf>,
}

/// A file and what was found in it.
struct Checked<'a> {
    path: PathBuf,
    document: &'a Document,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    path: String,
    line: usize,
    column: usize,
    severity: Severity,
    code: &'a str,
    message: &'a str,
    help: &'a str,
}

pub(crate) fn run(args: &CheckArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let (reach, config) = if args.paths.is_empty() {
        cx.reach()?
    } else {
        let here = cx.here()?;
        (Reach::read(here.workspace, super::super::context::state()), here.config)
    };
    let mut documents: Vec<(PathBuf, Option<&LayerRef>, Document)> = Vec::new();
    for path in &args.paths {
        match files::read_text(path) {
            Ok(Found::Content(text)) => {
                documents.push((path.clone(), reach.workspace.layer_at(path), Document::parse(text)));
            }
            Ok(Found::Absent) => {
                cx.out.fail(&Failure::new(Exit::Broken, format_args!("there is no file {}", path.display())));
                cx.raise(Exit::Broken);
            }
            Err(error) => {
                let error = error.into();
                cx.raise(exit_of(&error));
                cx.out.fail(&error.into());
            }
        }
    }
    let mut checked: Vec<Checked<'_>> = Vec::new();
    for (path, layer, document) in &documents {
        checked.push(Checked { path: path.clone(), document, findings: findings(document, *layer, &reach) });
    }
    if args.paths.is_empty() {
        checked = in_reach(&reach, config.layers.orphans);
    }
    report(cx, &checked)
}

/// How many errors and warnings there are in the layers in reach.
pub(crate) fn count(reach: &Reach, orphans: Orphans) -> (usize, usize) {
    let checked = in_reach(reach, orphans);
    let of = |severity| {
        checked.iter().flat_map(|file| &file.findings).filter(|one| one.severity == severity).count()
    };
    (of(Severity::Error), of(Severity::Warning))
}

fn in_reach(reach: &Reach, orphans: Orphans) -> Vec<Checked<'_>> {
    let mut checked = Vec::new();
    for read in reach.layers.iter().filter(|read| read.exists) {
        let document = &read.document;
        let findings = findings(document, Some(&read.layer), reach);
        checked.push(Checked { path: read.layer.path.clone(), document, findings });
    }
    shadowed(reach, orphans, &mut checked);
    checked
}

fn findings(document: &Document, layer: Option<&LayerRef>, reach: &Reach) -> Vec<Finding> {
    let project = &reach.workspace.project;
    let mut names: Vec<&str> = Vec::new();
    if let Some(name) = layer.and_then(|layer| layer.project.as_deref()) {
        names.extend([name, &*project.key]);
        names.extend(project.pi_names.iter().map(String::as_str));
    }
    examine(document, &Place { kind: layer.map(|layer| layer.kind), project: &names })
}

/// Global notes that a repository's layer takes the place of: nobody but the repository's
/// authors decided that.
fn shadowed(reach: &Reach, orphans: Orphans, checked: &mut [Checked<'_>]) {
    for judged in reach.judge(None, orphans) {
        let Some(holder) = judged.shadowed_by.filter(|_| judged.is_in_file) else { continue };
        let (own, holder) = (&reach.layers[judged.layer], &reach.layers[holder]);
        if (own.layer.kind, holder.layer.kind) != (LayerKind::Global, LayerKind::Repo) {
            continue;
        }
        let span = judged.note.span();
        let line_end = own.document.source()[span.start..].find('\n').map_or(span.end, |at| span.start + at);
        let finding = Finding {
            severity: Severity::Note,
            code: "shadowed",
            message: format!(
                "{} is shadowed here by the repository's {}",
                judged.id,
                holder.layer.path.display()
            ),
            help: "if that is not meant, give one of the two another id".to_owned(),
            span: Span::new(span.start, line_end),
        };
        if let Some(file) = checked.iter_mut().find(|file| file.path == own.layer.path) {
            file.findings.push(finding);
            file.findings.sort_by_key(|finding| finding.span);
        }
    }
}

fn report(cx: &mut Context, checked: &[Checked<'_>]) -> Result<Exit, Failure> {
    let count = |severity| {
        checked.iter().flat_map(|file| &file.findings).filter(|one| one.severity == severity).count()
    };
    let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    let exit = if errors + warnings > 0 { Exit::Findings } else { Exit::Done };
    if cx.globals.json {
        let all = checked
            .iter()
            .flat_map(|file| file.findings.iter().map(|one| json(&file.path, file.document, one)));
        cx.out.json(&all.collect::<Vec<_>>())?;
        return Ok(exit);
    }
    if cx.globals.quiet {
        return Ok(exit);
    }
    for file in checked {
        for finding in &file.findings {
            print(cx, file, finding)?;
        }
    }
    let files = checked.len();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    cx.out.say(format_args!(
        "{}, {}, {} in {}",
        plural(errors, "error"),
        plural(warnings, "warning"),
        plural(notes, "note"),
        plural(files, "file")
    ));
    Ok(exit)
}

fn print(cx: &mut Context, file: &Checked<'_>, finding: &Finding) -> Result<(), Failure> {
    let place = Snippet::of(&file.path, file.document.source(), finding.span.start, finding.span.end);
    let word = finding.severity.as_str();
    let style = severity_style(finding.severity);
    let path = cx.out.path(&file.path).to_string();
    cx.out.line(format_args!(
        "{STRONG}{path}:{}:{}{STRONG:#}: {style}{word}{style:#}: {} [{}]{}\n{HELP}help{HELP:#}: {}",
        place.line,
        place.column,
        finding.message,
        finding.code,
        excerpt(&place, style),
        finding.help
    ))
}

fn json<'a>(path: &Path, document: &Document, finding: &'a Finding) -> FindingJson<'a> {
    let place = locate(document.source(), finding.span.start);
    FindingJson {
        path: path.display().to_string(),
        line: place.line,
        column: place.column,
        severity: finding.severity,
        code: finding.code,
        message: &finding.message,
        help: &finding.help,
    }
}
