//! The fields of a note, by the names of the format.

use std::fmt;

use crate::text::Span;

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

    /// The field's place in [`NAMED`], which is in the order of declaration.
    #[inline]
    const fn code(&self) -> usize {
        match self {
            Self::Id => 0,
            Self::Kind => 1,
            Self::Title => 2,
            Self::Scope => 3,
            Self::Project => 4,
            Self::Model => 5,
            Self::Importance => 6,
            Self::Active => 7,
            Self::Evidence => 8,
            Self::Approval => 9,
            Self::Trust => 10,
            Self::Source => 11,
            Self::Created => 12,
            Self::Updated => 13,
            Self::Version => 14,
            Self::Tags => 15,
            Self::Protected => 16,
            Self::Content | Self::Other(_) => usize::MAX,
        }
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

    /// Whether its absence means "unchanged" (docs/format.md: scope, project, model).
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
    /// In quotes of either kind (`true`: double), with nothing inside that means more
    /// than it shows.
    Tame(bool),
    /// `[a, b]`
    FlowList,
    /// A `- item` line for each, under the key.
    BlockList,
    /// Several lines: block scalars, folded plain text, nested maps.
    Lines,
}

/// A [`Span`] in half the room: there are several for each note, and the time of a render
/// goes to touching memory. Layers are below 4 GiB, see `parse`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    start: u32,
    end: u32,
}

impl Extent {
    pub(super) const fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl From<Span> for Extent {
    fn from(span: Span) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: narrow(span.start), end: narrow(span.end) }
    }
}

/// One field as it stands in a file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// What only few entries need.
    more: Option<Box<More>>,
    span: Extent,
    value: Extent,
    /// The field's place in [`NAMED`]; behind its end for other keys.
    code: u8,
    style: Style,
}

#[derive(Clone, Debug, Default)]
struct More {
    /// The key, if it is none of ours.
    key: Box<str>,
    /// What the value says, where that is not what stands there.
    text: Option<Box<str>>,
}

impl Entry {
    /// A field whose value says what stands there, quotes aside.
    pub(super) fn new(field: &Field, span: Span, value: Span, style: Style) -> Self {
        let mut more = None;
        let code = match field {
            Field::Other(key) => {
                more = Some(Box::new(More { key: key.clone(), text: None }));
                NAMED.len()
            }
            named => named.code(),
        };
        let code = u8::try_from(code).unwrap_or(u8::MAX);
        Self { more, span: span.into(), value: value.into(), code, style }
    }

    pub(super) fn field(&self) -> Field {
        match NAMED.get(usize::from(self.code)) {
            Some((field, _)) => field.clone(),
            None => Field::Other(self.key().into()),
        }
    }

    #[inline]
    pub(super) fn is(&self, field: &Field) -> bool {
        match field {
            Field::Other(key) => usize::from(self.code) == NAMED.len() && *self.key() == **key,
            named => usize::from(self.code) == named.code(),
        }
    }

    /// Whether both are of one field.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.code == other.code && self.key() == other.key()
    }

    pub(super) fn key(&self) -> &str {
        match (NAMED.get(usize::from(self.code)), &self.more) {
            (Some((_, key)), _) => key,
            (None, Some(more)) => &more.key,
            (None, None) => "",
        }
    }

    /// All of it: the key's line and every further line of the value, with line ends.
    /// Empty if the layout is not known well enough to edit it.
    #[inline]
    pub(super) const fn span(&self) -> Span {
        self.span.span()
    }

    /// The value as spelled, quotes included.
    #[inline]
    pub(super) const fn value(&self) -> Span {
        self.value.span()
    }

    pub(super) const fn style(&self) -> Style {
        self.style
    }

    /// What the value says. A list is its items, a line each.
    #[inline]
    pub(super) fn text<'a>(&'a self, source: &'a str) -> &'a str {
        if let Some(text) = self.more.as_ref().and_then(|more| more.text.as_deref()) {
            return text;
        }
        let value = self.value();
        match self.style {
            Style::Tame(_) => &source[value.start + 1..value.end - 1],
            _ => value.of(source),
        }
    }

    /// Gives it a text of its own if it says another than stands there.
    pub(super) fn set_text(&mut self, source: &str, text: &str) {
        if self.text(source) != text {
            self.more.get_or_insert_default().text = Some(text.into());
        }
    }

    /// Takes more lines in; the value reaches to `value_end`.
    pub(super) fn extend(&mut self, end: usize, value_end: usize) {
        let (span, value) = (self.span(), self.value());
        self.span = Span::new(span.start, end).into();
        self.value = Span::new(value.start, value_end).into();
    }

    pub(super) fn set_style(&mut self, style: Style) {
        self.style = style;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_field_is_known_by_its_key() {
        for (field, key) in NAMED {
            assert_eq!(Field::known(key), Some(field.clone()));
            assert_eq!(NAMED[field.code()].0, field);
        }
    }
}
