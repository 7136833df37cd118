//! What no prompt should carry: control characters, and characters that cannot be seen
//! or that turn the reading order around (docs/block.md "What a note may do to a prompt").

use std::borrow::Cow;

/// Why a character is left out of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unwanted {
    /// A control character other than newline and tab, or a character that XML forbids.
    Control,
    /// Turns the direction of what follows (the "Trojan source" characters).
    Bidi,
    /// Takes no room, so people do not see what models read.
    Invisible,
}

/// A character that [`sanitize`] leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its byte offset in the text as it was given.
    pub offset: usize,
    /// The character.
    pub character: char,
    /// Why it goes.
    pub why: Unwanted,
}

/// A text as it may stand in a block: line ends are LF (CR LF, a lone CR, U+2028 and
/// U+2029 become one), unwanted characters are gone. Doing it twice changes nothing.
///
/// ```
/// use harness_layers::render::sanitize;
/// assert_eq!(sanitize("one\r\ntwo\u{202e}\x07"), "one\ntwo");
/// assert_eq!(sanitize("\u{1f469}\u{200d}\u{1f467}"), "\u{1f469}\u{200d}\u{1f467}");
/// ```
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(is_suspect) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut steps = Steps::new(text);
    while let Some((_, step)) = steps.next() {
        match step {
            Step::Keep(c) => out.push(c),
            Step::Newline => out.push('\n'),
            Step::Drop(..) => {}
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// The characters that [`sanitize`] leaves out, in order, for reports.
pub fn dropped(text: &str) -> Vec<Dropped> {
    if !text.bytes().any(is_suspect) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut steps = Steps::new(text);
    while let Some((offset, step)) = steps.next() {
        if let Step::Drop(character, why) = step {
            found.push(Dropped { offset, character, why });
        }
    }
    found
}

/// Whether a byte can be part of anything but plain ASCII text.
fn is_suspect(byte: u8) -> bool {
    byte >= 0x7f || (byte < 0x20 && byte != b'\n' && byte != b'\t')
}

enum Step {
    Keep(char),
    Newline,
    Drop(char, Unwanted),
}

struct Steps<'t> {
    chars: std::iter::Peekable<std::str::CharIndices<'t>>,
    /// The last character kept: joiners are judged by their neighbours.
    kept: char,
}

impl<'t> Steps<'t> {
    fn new(text: &'t str) -> Self {
        Self { chars: text.char_indices().peekable(), kept: '\n' }
    }

    fn next(&mut self) -> Option<(usize, Step)> {
        let (offset, c) = self.chars.next()?;
        let next = self.chars.peek().map_or('\n', |&(_, next)| next);
        let step = match c {
            '\r' => {
                if next == '\n' {
                    self.chars.next();
                }
                Step::Newline
            }
            '\u{2028}' | '\u{2029}' => Step::Newline,
            _ => unwanted(c, self.kept, next).map_or(Step::Keep(c), |why| Step::Drop(c, why)),
        };
        match step {
            Step::Keep(kept) => self.kept = kept,
            Step::Newline => self.kept = '\n',
            Step::Drop(..) => {}
        }
        Some((offset, step))
    }
}

fn unwanted(c: char, before: char, after: char) -> Option<Unwanted> {
    let why = match c {
        '\n' | '\t' => return None,
        // Zero width joiner and non-joiner: part of emoji and of words in scripts that join.
        '\u{200c}' | '\u{200d}'
            if (is_emoji(before) && is_emoji(after)) || (is_joining(before) && is_joining(after)) =>
        {
            return None;
        }
        // One variation selector belongs to its character; a run of them can carry a message.
        _ if is_variation_selector(c) && before != '\n' && !is_variation_selector(before) => return None,
        _ if is_variation_selector(c) => Unwanted::Invisible,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            Unwanted::Bidi
        }
        '\u{ad}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => Unwanted::Invisible,
        // U+FFFE, U+FFFF: no characters, and not allowed in XML.
        '\u{fffe}' | '\u{ffff}' => Unwanted::Control,
        _ if c.is_control() => Unwanted::Control,
        _ => return None,
    };
    Some(why)
}

fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// What may stand on either side of a joiner in an emoji sequence, roughly: pictographs,
/// signs, arrows, skin tones, and the selector that makes a sign an emoji.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}'
        | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{fe0f}')
}

/// Scripts in which a joiner or non-joiner changes how a word is spelled: Arabic and its
/// kin, those of India and South East Asia, Mongolian.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{109f}' | '\u{1780}'..='\u{180d}' | '\u{1810}'..='\u{18af}'
        | '\u{a840}'..='\u{a87f}' | '\u{a8e0}'..='\u{a8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed_also_beyond_ascii() {
        for text in [
            "",
            "one\n\ttwo",
            "設定 🚀 naïve é",
            "👨\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
        ] {
            assert!(matches!(sanitize(text), Cow::Borrowed(same) if same == text), "{text:?}");
            assert_eq!(dropped(text), []);
        }
    }

    #[test]
    fn every_line_end_becomes_lf() {
        assert_eq!(sanitize("a\rb\r\nc\u{2028}d\u{2029}e\r"), "a\nb\nc\nd\ne\n");
    }

    #[test]
    fn a_tag_split_by_invisible_characters_is_whole_again_before_it_is_escaped() {
        assert_eq!(sanitize("</harness\u{200b}_st\u{200d}ate\u{ad}>"), "</harness_state>");
    }

    #[test]
    fn what_goes_is_named_with_its_place() {
        let expected = [
            (1, '\u{202e}', Unwanted::Bidi),
            (5, '\u{e0041}', Unwanted::Invisible),
            (9, '\u{1b}', Unwanted::Control),
        ];
        let found = dropped("a\u{202e}b\u{e0041}\u{1b}");
        assert_eq!(
            found.iter().map(|one| (one.offset, one.character, one.why)).collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn hidden_runs_of_selectors_and_lone_joiners_go() {
        assert_eq!(
            sanitize("a\u{fe01}\u{fe02}\u{e0100}b\u{200d}c🚀\u{200d}\u{200d}🚀"),
            "a\u{fe01}bc🚀\u{200d}🚀"
        );
    }
}
