//! The block as one JSON object.
//!
//! `{ "block": 1, "about", "notes": [{ "id", "kind", "scope"?, "project"?, "title"?,
//! "importance", "content" }], "omitted" }`; `block` is the version of this schema, `scope`
//! and `project` are there when all projects are shown. Texts are sanitised as in every
//! form; JSON's own escapes do the rest.

use std::borrow::Cow;

use serde::Serialize;

use super::{ABOUT, Label, Section, by_kind, clean, omitted, text};
use crate::note::{Kind, Scope};

/// Raised when a reader of the old schema would misread the new one.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Block<'a> {
    #[serde(rename = "block")]
    schema: u32,
    about: String,
    notes: Vec<Note<'a>>,
    omitted: usize,
}

#[derive(Serialize)]
struct Note<'a> {
    id: Cow<'a, str>,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    importance: f64,
    content: Cow<'a, str>,
}

pub(super) fn block(sections: &[Section<'_>]) -> String {
    let mut notes = Vec::new();
    for section in sections {
        let (scope, project) = match section.label {
            None => (None, None),
            Some(Label::Global) => (Some(Scope::Global), None),
            Some(Label::Project(key)) => (Some(Scope::Project), Some(key)),
        };
        notes.extend(by_kind(section).flat_map(|(_, notes)| notes).map(|note| Note {
            id: clean(note.id),
            kind: note.kind,
            scope,
            project: project.map(clean),
            title: note.title.map(clean),
            importance: note.importance,
            content: text(note.content),
        }));
    }
    let block = Block { schema: SCHEMA, about: ABOUT.join(" "), notes, omitted: omitted(sections) };
    // Plain data with string keys: there is nothing that could fail.
    serde_json::to_string_pretty(&block).unwrap_or_default()
}
