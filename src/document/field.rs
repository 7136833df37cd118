//! The fields of a note, by the names of the format.

use std::fmt;

/// A field of a note: a key of its metadata, or its content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The identity: `[A-Za-z0-9._:-]{1,128}` where `layers` writes it.
    Id,
    /// `prompt`, `memory`, `skill` or `subagent`; in the bullet form, the section.
    Kind,
    /// A short name for people.
    Title,
    /// `global` or `project`.
    Scope,
    /// The project key that goes with `scope: project`.
    Project,
    /// The model that owns the note, `provider/id`; `*` is any.
    Model,
    /// Fitness in [0, 1].
    Importance,
    /// Whether the note is in use at all.
    Active,
    /// Why the note exists, one reason a line.
    Evidence,
    /// `pending`, `approved` or `rejected`.
    Approval,
    /// Free text about how far the note is trusted.
    Trust,
    /// Where the note came from.
    Source,
    /// When it was made; text, never interpreted.
    Created,
    /// When it was last changed; text, never interpreted.
    Updated,
    /// A counter; text, never interpreted.
    Version,
    /// Words to find it by.
    Tags,
    /// Whether deletion by others is to be undone.
    Protected,
    /// What the note says.
    Content,
    /// Any other key of a metadata block, kept as it is.
    Other(Box<str>),
}

/// Every field that has a name of its own in files, in canonical order.
const NAMED: [(Field, &str); 17] = [
    (Field::Id, "id"),
    (Field::Kind, "kind"),
    (Field::Title, "title"),
    (Field::Scope, "scope"),
    (Field::Project, "project"),
    (Field::Model, "model"),
    (Field::Importance, "importance"),
    (Field::Active, "active"),
    (Field::Evidence, "evidence"),
    (Field::Approval, "approval"),
    (Field::Trust, "trust"),
    (Field::Source, "source"),
    (Field::Created, "created"),
    (Field::Updated, "updated"),
    (Field::Version, "version"),
    (Field::Tags, "tags"),
    (Field::Protected, "protected"),
];

impl Field {
    /// The field that a key of a metadata block names; keys are case-sensitive.
    pub fn from_key(key: &str) -> Self {
        Self::known(key).unwrap_or_else(|| Self::Other(key.into()))
    }

    /// The named field of a key, if the format knows it.
    pub fn known(key: &str) -> Option<Self> {
        // A match is compiled to comparisons of whole words; this runs for every key.
        Some(match key {
            "id" => Self::Id,
            "kind" => Self::Kind,
            "title" => Self::Title,
            "scope" => Self::Scope,
            "project" => Self::Project,
            "model" => Self::Model,
            "importance" => Self::Importance,
            "active" => Self::Active,
            "evidence" => Self::Evidence,
            "approval" => Self::Approval,
            "trust" => Self::Trust,
            "source" => Self::Source,
            "created" => Self::Created,
            "updated" => Self::Updated,
            "version" => Self::Version,
            "tags" => Self::Tags,
            "protected" => Self::Protected,
            _ => return None,
        })
    }

    /// The field that a sub-bullet of the bullet form names, in any case. The id
    /// and the kind of a bullet stand elsewhere and are no sub-bullets.
    pub(super) fn of_sub_bullet(name: &str) -> Option<Self> {
        let known = Self::known(name).or_else(|| {
            let has_capitals = name.bytes().any(|byte| byte.is_ascii_uppercase());
            has_capitals.then(|| Self::known(&name.to_ascii_lowercase())).flatten()
        });
        known.filter(|field| !matches!(field, Self::Id | Self::Kind))
    }

    /// All named fields in canonical order, without the content.
    pub fn named() -> impl Iterator<Item = Self> {
        NAMED.iter().map(|(field, _)| field.clone())
    }

    /// The key in files.
    pub fn key(&self) -> &str {
        match self {
            Self::Content => "content",
            Self::Other(key) => key,
            named => NAMED.iter().find(|(field, _)| field == named).map_or("", |(_, name)| name),
        }
    }

    /// Whether its absence means "unchanged" (01-format, 02-merge: isolation keys).
    pub const fn is_isolation(&self) -> bool {
        matches!(self, Self::Scope | Self::Project | Self::Model)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.key())
    }
}

/// How a value is spelled in the file, so that an edit can keep the spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As it stands, to the end of the line or a comment.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes.
    Double,
    /// `[a, b]`
    FlowList,
    /// A `- item` line for each, under the key.
    BlockList,
    /// Several lines: block scalars, folded plain text, nested maps.
    Lines,
}

/// One field as it stands in a file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) field: Field,
    /// All of it: the key's line and every further line of the value, with line
    /// ends. Empty if the layout is not known well enough to edit it.
    pub(super) span: Span,
    /// The value as spelled, quotes included.
    pub(super) value: Span,
    /// What the value says, where that is not the slice under `value`. A list is
    /// its items, a line each.
    pub(super) text: Option<Box<str>>,
    pub(super) style: Style,
}

impl Entry {
    pub(super) fn text<'a>(&'a self, source: &'a str) -> &'a str {
        self.text.as_deref().unwrap_or_else(|| self.value.of(source))
    }
}

use crate::text::Span;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_field_is_known_by_its_key() {
        for (field, key) in NAMED {
            assert_eq!(Field::known(key), Some(field));
        }
    }
}
