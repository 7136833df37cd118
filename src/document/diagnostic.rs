//! What is wrong or odd in a layer, and where; wording and remedy for people.

use std::fmt;

use crate::note::DEFAULT_IMPORTANCE;
use crate::text::{Location, Span, locate};

/// How much a [`Problem`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing has to be done.
    Note,
    /// Read in a way that its author may not have meant.
    Warning,
    /// A note that cannot be used as it stands.
    Error,
}

impl Severity {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What can be wrong in a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A metadata block has no closing `---`.
    UnclosedBlock,
    /// The YAML library refuses the block; its own words.
    InvalidYaml(String),
    /// A key stands twice in one block.
    DuplicateKey(String),
    /// A block with two ids: what git makes of two notes appended on two branches.
    Blend(Vec<String>),
    /// A block above the size that is given to the YAML library.
    BlockTooLarge(usize),
    /// Brackets nested deeper than is given to the YAML library.
    BlockTooDeep(usize),
    /// A word that is no kind.
    UnknownKind(String),
    /// A word that is no scope.
    UnknownScope(String),
    /// A word that is no approval.
    UnknownApproval(String),
    /// A list or map where one value is wanted.
    NotAScalar(String),
    /// An importance outside [0, 1].
    ImportanceOutOfRange(String),
    /// An importance that is no number.
    ImportanceNotANumber(String),
    /// `active` or `protected` that is neither true nor false.
    NotAFlag(String, String),
    /// An id that `layers` would not give.
    OddId(String),
    /// No blank line above a block, so that Markdown reads a heading.
    NoBlankLineAbove,
    /// Git's conflict markers.
    ConflictMarkers,
    /// An id that an earlier note has; the line of that note.
    DuplicateId(String, usize),
    /// A note equal to an earlier one with the same id; the line of that note.
    EqualCopy(String, usize),
    /// A note that says nothing.
    NoContent,
    /// A bullet with an id where no section gives it a kind.
    BulletOutsideSection(String),
    /// A list item that is no note: `*`, `+` or a number.
    ForeignBullet,
    /// `(importance` in a bullet that does not read as one.
    MalformedImportance,
    /// Text under a bullet that would have to be indented to belong to it.
    UnindentedLine,
    /// A sub-bullet `scope:` that is ignored, since it names no scope.
    ScopeIgnored(String),
    /// A code fence or comment that is never closed and hides notes.
    Swallowed(Vec<String>),
    /// Lines that end in CR alone: the whole text is one line.
    ClassicMacLines,
    /// Text that looks like the note of this id but is not read as one.
    IdInText(String),
}

impl Problem {
    /// How much it matters.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::UnclosedBlock
            | Self::InvalidYaml(_)
            | Self::DuplicateKey(_)
            | Self::Blend(_)
            | Self::BlockTooLarge(_)
            | Self::BlockTooDeep(_)
            | Self::UnknownKind(_)
            | Self::UnknownScope(_)
            | Self::UnknownApproval(_)
            | Self::NotAScalar(_)
            | Self::ConflictMarkers
            | Self::Swallowed(_)
            | Self::ClassicMacLines => Severity::Error,
            Self::ImportanceOutOfRange(_)
            | Self::ImportanceNotANumber(_)
            | Self::NotAFlag(..)
            | Self::NoBlankLineAbove
            | Self::DuplicateId(..)
            | Self::EqualCopy(..)
            | Self::NoContent
            | Self::BulletOutsideSection(_)
            | Self::ForeignBullet
            | Self::MalformedImportance
            | Self::UnindentedLine
            | Self::ScopeIgnored(_)
            | Self::IdInText(_)
            | Self::OddId(_) => Severity::Warning,
        }
    }

    /// A stable name, for `--json` and for searching.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnclosedBlock => "unclosed-block",
            Self::InvalidYaml(_) => "invalid-yaml",
            Self::DuplicateKey(_) => "duplicate-key",
            Self::Blend(_) => "blend",
            Self::BlockTooLarge(_) => "block-too-large",
            Self::BlockTooDeep(_) => "block-too-deep",
            Self::UnknownKind(_) => "unknown-kind",
            Self::UnknownScope(_) => "unknown-scope",
            Self::UnknownApproval(_) => "unknown-approval",
            Self::NotAScalar(_) => "not-a-scalar",
            Self::ImportanceOutOfRange(_) => "importance-range",
            Self::ImportanceNotANumber(_) => "importance-number",
            Self::NotAFlag(..) => "not-a-flag",
            Self::OddId(_) => "odd-id",
            Self::NoBlankLineAbove => "no-blank-line",
            Self::ConflictMarkers => "conflict-markers",
            Self::DuplicateId(..) => "duplicate-id",
            Self::EqualCopy(..) => "equal-copy",
            Self::NoContent => "no-content",
            Self::BulletOutsideSection(_) => "bullet-outside-section",
            Self::ForeignBullet => "foreign-bullet",
            Self::MalformedImportance => "malformed-importance",
            Self::UnindentedLine => "unindented-line",
            Self::ScopeIgnored(_) => "scope-ignored",
            Self::Swallowed(_) => "swallowed",
            Self::ClassicMacLines => "classic-mac-lines",
            Self::IdInText(_) => "id-in-text",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::UnclosedBlock => "add a line `---` below the last key of the block".into(),
            Self::InvalidYaml(message) if message.contains("alphabetic or numeric") || message.contains("alias") || message.contains("anchor") => {
                "put the value in quotes, as in `model: \"*\"`".into()
            }
            Self::InvalidYaml(_) => {
                "put values with `: `, ` #`, brackets or quotes in them between quotes; the note is left as it is until then".into()
            }
            Self::DuplicateKey(key) => format!("keep one `{key}:` line"),
            Self::Blend(_) => "two notes were merged into one block: `layers fmt` splits them, or give each its own block".into(),
            Self::BlockTooLarge(limit) => format!("keep metadata below {limit} bytes; move the text below the closing `---`"),
            Self::BlockTooDeep(limit) => format!("nest at most {limit} brackets"),
            Self::UnknownKind(_) => "use prompt, memory, skill or subagent".into(),
            Self::UnknownScope(_) => "use `scope: global`, or `scope: project` with `project: KEY`".into(),
            Self::UnknownApproval(_) => "use pending, approved or rejected".into(),
            Self::NotAScalar(key) => format!("give `{key}` one value"),
            Self::ImportanceOutOfRange(_) => "use a number from 0 to 1; it is read as the nearer end".into(),
            Self::ImportanceNotANumber(_) => format!("use a number from 0 to 1; it is read as {DEFAULT_IMPORTANCE}"),
            Self::NotAFlag(key, _) => format!("use `{key}: true` or `{key}: false`"),
            Self::OddId(_) => "ids that work everywhere are made of letters, digits and `._:-`, 128 at most".into(),
            Self::NoBlankLineAbove => "put an empty line above the `---`".into(),
            Self::ConflictMarkers => "resolve the conflict and remove the marker lines; until then the layer is not written".into(),
            Self::DuplicateId(..) => "give one of them another id, or remove its id to get a fresh one".into(),
            Self::EqualCopy(..) => "remove one of the two; they count as one note".into(),
            Self::NoContent => "write what the note says, or remove it".into(),
            Self::BulletOutsideSection(_) => {
                "put it under `## Supplemental prompt notes`, `## Memory facts`, `## Skill descriptions` or `## Sub-agent specs`".into()
            }
            Self::ForeignBullet => "start a note with `- ` in the first column; indent text that belongs to the note above by two spaces".into(),
            Self::MalformedImportance => "write `(importance 0.50)`, digits and a dot only".into(),
            Self::UnindentedLine => "indent it by two spaces to make it part of the note above, or put an empty line above it".into(),
            Self::ScopeIgnored(_) => "write `scope: global` or `scope: project (key)`".into(),
            Self::Swallowed(_) => "close the code fence or comment".into(),
            Self::ClassicMacLines => "save the file with LF line ends".into(),
            Self::IdInText(_) => "if it is meant as a note, mend the lines around it; if it is an example, put it in a closed code fence".into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnclosedBlock => f.write_str("the metadata block is not closed"),
            Self::InvalidYaml(message) => write!(f, "the metadata does not parse: {message}"),
            Self::DuplicateKey(key) => write!(f, "`{key}` stands twice in this block"),
            Self::Blend(ids) => write!(f, "one block carries the ids {}", ids.join(" and ")),
            Self::BlockTooLarge(limit) => write!(f, "the metadata block is larger than {limit} bytes"),
            Self::BlockTooDeep(limit) => write!(f, "more than {limit} brackets are open at once"),
            Self::UnknownKind(word) => write!(f, "`{word}` is no kind"),
            Self::UnknownScope(word) => write!(f, "`{word}` is no scope"),
            Self::UnknownApproval(word) => write!(f, "`{word}` is no approval"),
            Self::NotAScalar(key) => write!(f, "`{key}` is a list or map"),
            Self::ImportanceOutOfRange(text) => write!(f, "importance {text} is outside 0 to 1"),
            Self::ImportanceNotANumber(text) => write!(f, "importance `{text}` is no number"),
            Self::NotAFlag(key, text) => write!(f, "`{key}: {text}` is neither true nor false"),
            Self::OddId(id) => write!(f, "the id `{id}` holds unusual characters"),
            Self::NoBlankLineAbove => f.write_str("Markdown reads this `---` as the underline of a heading"),
            Self::ConflictMarkers => f.write_str("git's conflict markers"),
            Self::DuplicateId(id, line) => {
                write!(f, "the id {id} is already used by the note in line {line}")
            }
            Self::EqualCopy(id, line) => write!(f, "the same note, {id}, stands in line {line}"),
            Self::NoContent => f.write_str("the note says nothing"),
            Self::BulletOutsideSection(id) => {
                write!(f, "{id} is not read as a note: no section above gives it a kind")
            }
            Self::ForeignBullet => f.write_str("this list item is not read as a note"),
            Self::MalformedImportance => {
                f.write_str("this importance is not read: it stays part of the text")
            }
            Self::UnindentedLine => f.write_str("this line is not part of the note above"),
            Self::ScopeIgnored(text) => write!(f, "`scope: {text}` is ignored"),
            Self::Swallowed(ids) => {
                write!(f, "not closed before the end of the file, it hides {}", ids.join(", "))
            }
            Self::ClassicMacLines => {
                f.write_str("lines end in CR alone, so the file is read as a single line")
            }
            Self::IdInText(id) => write!(f, "{id} stands here as text, not as a note"),
        }
    }
}

/// A [`Problem`] and its place. The path comes at the edge, from who knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub problem: Problem,
    /// Where.
    pub span: Span,
}

impl Diagnostic {
    /// How much it matters.
    pub const fn severity(&self) -> Severity {
        self.problem.severity()
    }

    /// Line and column of its first byte.
    pub fn location(&self, source: &str) -> Location {
        locate(source, self.span.start)
    }

    /// The source line it starts in, without its line end.
    pub fn source_line<'a>(&self, source: &'a str) -> &'a str {
        let start = self.span.start.min(source.len());
        let from = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let to = source[start..].find('\n').map_or(source.len(), |newline| start + newline);
        source[from..to].trim_end_matches('\r')
    }
}
