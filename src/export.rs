//! Notes as the exact text of pi-continual-harness's files (fixtures/golden/render_file.json).
//! Knows no document: what it writes is a whole file of our making, to be given away, not
//! an edit of a layer. Where pi's writer loses text or lets it escape, ours does not; see
//! docs/compatibility.md.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use crate::document::continuation;
use crate::note::{DEFAULT_IMPORTANCE, Kind, Scope, two_decimals};

/// The name of the global file.
pub const GLOBAL_FILE: &str = "harness-state.md";

/// The folder of the project files.
const PROJECT_FOLDER: &str = "harness-state";

/// A note as pi's files can say it.
#[derive(Clone, Copy, Debug)]
pub struct Exported<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its section.
    pub kind: Kind,
    /// Its text.
    pub content: &'a str,
    /// Why it exists.
    pub evidence: &'a str,
    /// Written with two decimals.
    pub importance: f64,
    /// Only active notes are written.
    pub active: bool,
    /// Its owner; none and empty are alike.
    pub model: Option<&'a str>,
    /// None counts as global.
    pub scope: Option<Scope>,
    /// Its project, if the scope is one; none and empty are alike.
    pub project: Option<&'a str>,
}

/// A file of a layered export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportFile {
    /// Relative to the folder of the global file, with `/`.
    pub name: String,
    /// All of its text.
    pub text: String,
    /// Whether a file of that name holds another text. pi replaces it without a look;
    /// whoever writes for us has to be told to.
    pub replaces: bool,
}

/// A note that pi's files cannot hold. Nothing of the export is made then: half of it
/// would pass for all of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// An id that would not read back: empty, with `]`, with a line break.
    #[error("the id {0:?} cannot stand in a bullet file")]
    Id(String),
    /// A model that would not read back: with a line break.
    #[error("the model {model:?} of note {id:?} cannot stand in a bullet file")]
    Model {
        /// The note.
        id: String,
        /// Its model.
        model: String,
    },
    /// A project that would not read back: with `)` or a line break.
    #[error("the project {project:?} of note {id:?} cannot stand in a bullet file")]
    Project {
        /// The note.
        id: String,
        /// Its project.
        project: String,
    },
    /// A project that would name a file elsewhere, or the same file as another project.
    #[error("the project {0:?} is no safe file name")]
    UnsafeProject(String),
}

/// All active notes in one file.
pub fn single(notes: &[Exported<'_>]) -> Result<String, ExportError> {
    file(notes)
}

/// All active notes by layer: the global file, then one file a project in first-seen
/// order, then the current project's file if it has no notes but exists. `existing` holds
/// the texts of the files that are there, by name.
pub fn layered(
    notes: &[Exported<'_>],
    current: Option<&str>,
    existing: &BTreeMap<String, String>,
) -> Result<Vec<ExportFile>, ExportError> {
    let mut global = Vec::new();
    let mut projects: Vec<(&str, Vec<Exported<'_>>)> = Vec::new();
    let mut places = HashMap::new();
    for note in notes.iter().filter(|note| note.active) {
        let project =
            note.project.filter(|project| note.scope == Some(Scope::Project) && !project.is_empty());
        match project {
            None => global.push(*note),
            Some(project) => {
                let place = *places.entry(project).or_insert_with(|| {
                    projects.push((project, Vec::new()));
                    projects.len() - 1
                });
                projects[place].1.push(*note);
            }
        }
    }
    let mut files = vec![(GLOBAL_FILE.to_owned(), file(&global)?)];
    for (project, notes) in &projects {
        files.push((project_file(project)?, file(notes)?));
    }
    if let Some(current) = current.filter(|current| !current.is_empty() && !places.contains_key(current)) {
        let name = project_file(current)?;
        if existing.contains_key(&name) {
            files.push((name, file(&[])?));
        }
    }
    let with_replaces = |(name, text): (String, String)| {
        let replaces = existing.get(&name).is_some_and(|old| *old != text);
        ExportFile { name, text, replaces }
    };
    Ok(files.into_iter().map(with_replaces).collect())
}

/// The file of a project; refuses what leaves the folder, means nothing, or would read
/// back as another project (the `unsafe` vectors of render_file.json).
fn project_file(project: &str) -> Result<String, ExportError> {
    let odd = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    if matches!(project, "." | "..") || project.trim() != project || project.contains(odd) {
        return Err(ExportError::UnsafeProject(project.to_owned()));
    }
    Ok(format!("{PROJECT_FOLDER}/{project}.md"))
}

fn file(notes: &[Exported<'_>]) -> Result<String, ExportError> {
    let mut out = String::from("# Continual Harness State\n\n");
    let start = out.len();
    for kind in Kind::ALL {
        let mut of_kind = notes.iter().filter(|note| note.active && note.kind == kind).peekable();
        if of_kind.peek().is_none() {
            continue;
        }
        if out.len() > start {
            out.push('\n');
        }
        out.push_str("## ");
        out.push_str(kind.section_title());
        out.push_str("\n\n");
        for note in of_kind {
            push_note(&mut out, note)?;
        }
    }
    if out.len() == start {
        out.push_str("_(no active items)_\n");
    }
    Ok(out)
}

fn push_note(out: &mut String, note: &Exported<'_>) -> Result<(), ExportError> {
    if note.id.is_empty() || note.id.contains(']') || breaks_line(note.id) {
        return Err(ExportError::Id(note.id.to_owned()));
    }
    // Clamped, because readers take a sign for part of the content (R10 of the same list).
    let importance =
        if note.importance.is_nan() { DEFAULT_IMPORTANCE } else { note.importance.clamp(0.0, 1.0) };
    // Writing to a String cannot fail.
    let _ = write!(out, "- **[{}]** (importance {}) ", note.id, two_decimals(importance.abs()));
    continuation::push(out, note.content, "  ");
    out.push_str("\n  - evidence: ");
    continuation::push(out, note.evidence, "    ");
    if let Some(model) = note.model.filter(|model| !model.is_empty()) {
        if breaks_line(model) {
            return Err(ExportError::Model { id: note.id.to_owned(), model: model.to_owned() });
        }
        out.push_str("\n  - model: ");
        out.push_str(model);
    }
    if note.scope == Some(Scope::Project) {
        let project = note.project.unwrap_or_default();
        if project.contains(')') || breaks_line(project) {
            return Err(ExportError::Project { id: note.id.to_owned(), project: project.to_owned() });
        }
        let _ = write!(out, "\n  - scope: project ({project})");
    }
    out.push('\n');
    Ok(())
}

/// Whether a text is more than one line to pi's reader or to ours.
fn breaks_line(text: &str) -> bool {
    text.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
}
