//! What holds for a layer as a whole: byte order mark, line ends, a last line end, the
//! revision that its header names. Each is one of two things, so that two changes of it are
//! always alike, and none of it makes lines or notes differ.

use crate::document::Document;
use crate::merge::revision_of;

use super::{Merged, Versions};

const BOM: char = '\u{FEFF}';

/// How the merged layer is wrapped.
pub(super) struct Envelope {
    has_bom: bool,
    /// `None` where a version mixes line ends: then they stay as they are.
    has_crlf: Option<bool>,
    is_ended: bool,
}

impl Envelope {
    pub(super) fn of(versions: Versions<'_>) -> Self {
        let Versions { base, ours, theirs } = versions;
        let texts = [base, ours, theirs];
        let is_pure = texts.iter().all(|text| ends(text).0 == 0 || ends(text).1 == 0);
        Self {
            has_bom: settle(texts, |text| text.starts_with(BOM), false),
            has_crlf: is_pure.then(|| settle(texts, |text| ends(text).0 > 0, false)),
            is_ended: settle(texts, |text| text.ends_with('\n'), true),
        }
    }

    /// A version without its own: no byte order mark, LF, a last line end.
    pub(super) fn open(&self, text: &str) -> String {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let mut text = if self.has_crlf.is_some() { text.replace("\r\n", "\n") } else { text.to_owned() };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(if text.contains("\r\n") { "\r\n" } else { "\n" });
        }
        text
    }

    /// The merged layer as it is to be written.
    pub(super) fn close(&self, merged: Merged) -> Merged {
        let Merged { mut text, disagreements } = merged;
        if disagreements.is_empty() {
            text = renamed(text);
            if !self.is_ended {
                let kept =
                    text.strip_suffix('\n').map_or(&*text, |text| text.strip_suffix('\r').unwrap_or(text));
                text.truncate(kept.len());
            }
        }
        if self.has_crlf == Some(true) {
            text = text.replace('\n', "\r\n");
        }
        if self.has_bom {
            text.insert(0, BOM);
        }
        Merged { text, disagreements }
    }
}

/// How many lines end in CR LF, and how many in LF alone.
fn ends(text: &str) -> (usize, usize) {
    let crlf = text.matches("\r\n").count();
    (crlf, text.matches('\n').count() - crlf)
}

/// What one side changed, or both have. An empty version has no say.
fn settle([base, ours, theirs]: [&str; 3], is: impl Fn(&str) -> bool, default: bool) -> bool {
    let say = |text: &str| (!text.is_empty()).then(|| is(text));
    match (say(base), say(ours), say(theirs)) {
        (_, Some(ours), Some(theirs)) if ours == theirs => ours,
        (Some(base), Some(ours), Some(theirs)) => {
            if base == ours {
                theirs
            } else {
                ours
            }
        }
        (_, Some(only), None) | (_, None, Some(only)) => only,
        _ => default,
    }
}

/// The versions with one revision in their headers: every write changes it, and it is of no
/// meaning but for the very bytes that it names.
pub(super) fn of_one_revision([base, ours, theirs]: [Document; 3]) -> [Document; 3] {
    let named = [&ours, &base, &theirs].into_iter().find_map(|side| side.header_field("revision"));
    let Some(revision) = named.map(str::to_owned) else { return [base, ours, theirs] };
    [base, ours, theirs].map(|side| side.with_revision(&revision).unwrap_or(side))
}

/// A layer whose header names its own revision, if it names any.
fn renamed(text: String) -> String {
    if !text.contains("revision") {
        return text;
    }
    let document = Document::parse(text);
    let named =
        document.header_field("revision").and_then(|_| document.with_revision(&revision_of(&document)));
    named.as_ref().unwrap_or(&document).source().to_owned()
}
