//! What `layers check` finds beyond the document's own diagnostics: credentials, characters
//! that no prompt carries, and claims that a layer's place does not allow. Pure.

use crate::document::{Document, Problem, Severity};
use crate::note::{LayerKind, Scope};
use crate::render::{Unwanted, dropped};
use crate::secret;
use crate::text::Span;

/// Something that a person should know about a layer, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// A stable name for it.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where.
    pub span: Span,
}

/// Where a layer stands, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// The layer's kind; none for a file given by hand that is no layer in reach.
    pub kind: Option<LayerKind>,
    /// The names of its project: its key first, then others that mean the same.
    pub project: &'a [&'a str],
}

/// Everything wrong or odd in a layer, in the order of the file.
pub fn examine(document: &Document, place: &Place<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = document
        .diagnostics()
        .iter()
        .map(|found| Finding {
            severity: found.severity(),
            code: found.problem.code(),
            message: found.problem.to_string(),
            help: found.problem.help(),
            span: found.span,
        })
        .collect();
    unwanted(document, &mut findings);
    credentials(document, place, &mut findings);
    claims(document, place, &mut findings);
    header(document, place, &mut findings);
    open_end(document, &mut findings);
    findings.sort_by_key(|finding| finding.span);
    findings
}

/// Characters that no prompt carries, one finding a note.
fn unwanted(document: &Document, findings: &mut Vec<Finding>) {
    for note in document.notes() {
        let span = note.span();
        let found = dropped(span.of(document.source()));
        let Some(first) = found.first() else { continue };
        let what = match first.why {
            Unwanted::Control => "a control character",
            Unwanted::Bidi => "a character that turns the reading order around",
            Unwanted::Invisible => "an invisible character",
        };
        let more = match found.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more like it in this note"),
        };
        let start = span.start + first.offset;
        findings.push(Finding {
            severity: Severity::Warning,
            code: "unwanted-character",
            message: format!("{what}, U+{:04X}{more}", u32::from(first.character)),
            help: "remove it; blocks leave it out, so a model never sees it".to_owned(),
            span: Span::new(start, start + first.character.len_utf8()),
        });
    }
}

/// Credentials, anywhere in the file. Their kind is told and their place, never their value.
fn credentials(document: &Document, place: &Place<'_>, findings: &mut Vec<Finding>) {
    let is_shared = place.kind == Some(LayerKind::Repo);
    for secret in secret::find(document.source()) {
        let (severity, help) = if is_shared {
            (
                Severity::Error,
                "revoke it and have a new one made, then write where it is (a variable, a password manager) instead; \
                 what was committed stays in git's history, so removing it here is not enough",
            )
        } else {
            (
                Severity::Warning,
                "write where it is (a variable, a password manager) instead; blocks have its name in its place, \
                 but whoever reads this file has it",
            )
        };
        findings.push(Finding {
            severity,
            code: "credential",
            message: format!("this looks like a credential ({})", secret.kind),
            help: help.to_owned(),
            span: secret.span,
        });
    }
}

/// Scopes that a note claims and its place does not give it.
fn claims(document: &Document, place: &Place<'_>, findings: &mut Vec<Finding>) {
    let Some(kind) = place.kind else { return };
    for note in document.notes() {
        let project = note.project();
        let (code, message, help) = match (kind, note.scope()) {
            (LayerKind::Global, Some(Scope::Project)) if project.is_none() => (
                "project-unnamed",
                "`scope: project` without a project: the note counts nowhere".to_owned(),
                "name the project (`project: KEY`, in a bullet `scope: project (KEY)`), or move the note with \
                 `layers move ID project`",
            ),
            (LayerKind::Repo, Some(Scope::Global)) => (
                "claims-global",
                "a note of a repository cannot be global: it counts in this project only".to_owned(),
                "remove `scope: global`, or move the note with `layers move ID global`",
            ),
            (LayerKind::Repo | LayerKind::Home, Some(Scope::Project)) => match project {
                Some(project) if !place.project.contains(&&*project) => (
                    "claims-other-project",
                    format!(
                        "the note names the project {project}, but stands in a layer of {}: it counts nowhere",
                        place.project.first().unwrap_or(&"another")
                    ),
                    "remove `scope` and `project`, or move the note into that project's layer with \
                     `layers move ID --to-project KEY`",
                ),
                _ => continue,
            },
            _ => continue,
        };
        let help = help.to_owned();
        findings.push(Finding {
            severity: Severity::Warning,
            code,
            message,
            help,
            span: claim_span(document, note.span()),
        });
    }
}

/// The line of a note that has its scope, else its first line.
fn claim_span(document: &Document, note: Span) -> Span {
    let source = document.source();
    let mut first = None;
    for line in crate::text::Lines::within(source, note) {
        let text = line.text(source);
        let lead = text.len() - text.trim_start_matches([' ', '\t', '-']).len();
        let here = Span::new(line.start + lead, line.text_end);
        first.get_or_insert(here);
        if text[lead..].get(..6).is_some_and(|key| key.eq_ignore_ascii_case("scope:")) {
            return here;
        }
    }
    first.unwrap_or(note)
}

fn header(document: &Document, place: &Place<'_>, findings: &mut Vec<Finding>) {
    let Some(span) = document.header_span() else { return };
    let mut warn = |code, key: &str, message, help: String| {
        let span = key_line(document, span, key);
        findings.push(Finding { severity: Severity::Warning, code, message, help, span });
    };
    if let (Some(project), Some(key)) = (document.header_field("project"), place.project.first())
        && !project.is_empty()
        && !place.project.contains(&project)
    {
        warn(
            "header-project",
            "project",
            format!("the header says project {project}, the file is the layer of {key}"),
            format!("write `project: {key}` or rename the file; the file's name counts"),
        );
    }
    let expected = match place.kind {
        None => return,
        Some(LayerKind::Global) => "global",
        Some(LayerKind::Repo | LayerKind::Home) => "project",
    };
    if let Some(layer) =
        document.header_field("layer").filter(|layer| !layer.is_empty() && *layer != expected)
    {
        let message =
            format!("the header says `layer: {layer}`, but by its place this is a {expected} layer");
        warn("header-layer", "layer", message, format!("write `layer: {expected}`; the file's place counts"));
    }
}

/// Something that is opened and not closed: it takes what a person or git puts below it.
fn open_end(document: &Document, findings: &mut Vec<Finding>) {
    let swallows = |problem: &Problem| matches!(problem, Problem::Swallowed(_));
    if document.diagnostics().iter().any(|found| swallows(&found.problem)) {
        return; // told already, by what it took
    }
    let Some(open) = document.open_end() else { return };
    let source = document.source();
    let end = source[open.end..].find('\n').map_or(source.len(), |newline| open.end + newline);
    findings.push(Finding {
        severity: Severity::Warning,
        code: "open-end",
        message: "a code fence, comment or element is opened here and not closed".to_owned(),
        help: "close it: what is written below it becomes part of it, notes too".to_owned(),
        span: Span::new(open.end, end),
    });
}

fn key_line(document: &Document, header: Span, key: &str) -> Span {
    let source = document.source();
    let mut lines = crate::text::Lines::within(source, header);
    let found = lines.find(|line| {
        line.text(source).strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
    });
    found.map_or(header, |line| Span::new(line.start, line.text_end))
}
