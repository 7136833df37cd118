//! A JSON reader that knows where each value stands and builds no tree.
//!
//! serde_json gives no places for values, refuses depth beyond 128, `1e999` and lone
//! surrogate escapes (all of which pi's reader takes), so this one checks the whole
//! text once, without recursion, and then opens one level at a time.

use std::borrow::Cow;

/// The first place where a text stops being JSON.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Byte offset.
    pub(super) at: usize,
    /// What was expected there.
    pub(super) expected: &'static str,
}

/// A value inside a text that [`document`] has accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

/// What a [`Node`] holds, one level deep.
#[derive(Debug, PartialEq)]
pub(super) enum Shape<'a> {
    Null,
    Bool(bool),
    /// As a double, so `1e999` is infinite.
    Number(f64),
    Text(Cow<'a, str>),
    Array,
    Object,
}

/// Checks a whole text as `JSON.parse` does and gives its one value.
pub(super) fn document(text: &str) -> Result<Node<'_>, Fault> {
    let scan = Scan(text.as_bytes());
    let start = scan.blanks(0);
    let end = scan.value(start)?;
    let rest = scan.blanks(end);
    if rest < text.len() {
        return Err(Fault { at: rest, expected: "the end of the file" });
    }
    Ok(Node { text, start, end })
}

impl<'a> Node<'a> {
    /// Byte offset of the value.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// The value as it is spelled.
    pub(super) fn raw(&self) -> &'a str {
        &self.text[self.start..self.end]
    }

    /// What the value is.
    pub(super) fn shape(&self) -> Shape<'a> {
        let raw = self.raw();
        match raw.as_bytes().first() {
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::Array,
            Some(b'"') => Shape::Text(unescape(&raw[1..raw.len() - 1])),
            Some(b't') => Shape::Bool(true),
            Some(b'f') => Shape::Bool(false),
            Some(b'n') | None => Shape::Null,
            // Rust reads every JSON number, rounded as JavaScript rounds it.
            Some(_) => Shape::Number(raw.parse().unwrap_or(f64::NAN)),
        }
    }

    /// The members of an object in text order, duplicates and all; none of anything else.
    pub(super) fn members(&self) -> Vec<(Cow<'a, str>, Self)> {
        let mut members = Vec::new();
        let scan = Scan(self.text.as_bytes());
        if scan.0.get(self.start) != Some(&b'{') {
            return members;
        }
        let mut at = scan.blanks(self.start + 1);
        // The text is already checked, so a fault here can only mean the closing brace.
        while let Ok(key_end) = scan.string(at) {
            let start = scan.blanks(scan.blanks(key_end) + 1);
            let Ok(end) = scan.value(start) else { break };
            members.push((unescape(&self.text[at + 1..key_end - 1]), Self { text: self.text, start, end }));
            at = scan.blanks(scan.blanks(end) + 1);
        }
        members
    }

    /// The member of that name; of duplicates the last, as `JSON.parse` has it.
    pub(super) fn member(&self, key: &str) -> Option<Self> {
        self.members().into_iter().rev().find(|(name, _)| name == key).map(|(_, node)| node)
    }
}

/// The text of a string without its quotes. Half a surrogate pair reads as U+FFFD,
/// which is what pi writes to disk for it.
fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut units: Vec<u16> = Vec::new();
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => match chars.next() {
                Some('u') => {
                    let hex: String = chars.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&hex, 16).unwrap_or(0xfffd));
                    continue;
                }
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some(other) => other,
                None => break,
            },
            _ => c,
        };
        flush(&mut units, &mut out);
        out.push(plain);
    }
    flush(&mut units, &mut out);
    Cow::Owned(out)
}

fn flush(units: &mut Vec<u16>, out: &mut String) {
    out.extend(char::decode_utf16(units.drain(..)).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
}

/// Scanning by byte offsets; every method takes where to start and says where it ended.
struct Scan<'a>(&'a [u8]);

impl Scan<'_> {
    fn blanks(&self, at: usize) -> usize {
        let rest = self.0.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
    }

    fn byte(&self, at: usize, byte: u8, expected: &'static str) -> Result<usize, Fault> {
        if self.0.get(at) == Some(&byte) { Ok(at + 1) } else { Err(Fault { at, expected }) }
    }

    /// One value of any depth; open brackets are counted on the heap.
    fn value(&self, at: usize) -> Result<usize, Fault> {
        let mut at = at;
        let mut open: Vec<u8> = Vec::new();
        loop {
            at = self.blanks(at);
            match self.0.get(at) {
                Some(b'{') => {
                    open.push(b'{');
                    at = self.blanks(at + 1);
                    if self.0.get(at) != Some(&b'}') {
                        at = self.key(at)?;
                        continue;
                    }
                }
                Some(b'[') => {
                    open.push(b'[');
                    at = self.blanks(at + 1);
                    if self.0.get(at) != Some(&b']') {
                        continue;
                    }
                }
                _ => at = self.scalar(at)?,
            }
            // After a value: close what closes here, until something wants another value.
            loop {
                let Some(bracket) = open.last() else { return Ok(at) };
                at = self.blanks(at);
                match (bracket, self.0.get(at)) {
                    (b'{', Some(b'}')) | (b'[', Some(b']')) => {
                        open.pop();
                        at += 1;
                    }
                    (b'{', Some(b',')) => {
                        at = self.key(self.blanks(at + 1))?;
                        break;
                    }
                    (b'[', Some(b',')) => {
                        at += 1;
                        break;
                    }
                    (b'{', _) => return Err(Fault { at, expected: "`,` or `}`" }),
                    _ => return Err(Fault { at, expected: "`,` or `]`" }),
                }
            }
        }
    }

    fn key(&self, at: usize) -> Result<usize, Fault> {
        if self.0.get(at) != Some(&b'"') {
            return Err(Fault { at, expected: "a key in double quotes" });
        }
        self.byte(self.blanks(self.string(at)?), b':', "`:`")
    }

    fn scalar(&self, at: usize) -> Result<usize, Fault> {
        let rest = self.0.get(at..).unwrap_or_default();
        if let Some(word) = ["true", "false", "null"].iter().find(|word| rest.starts_with(word.as_bytes())) {
            return Ok(at + word.len());
        }
        match rest.first() {
            Some(b'"') => self.string(at),
            Some(b'-' | b'0'..=b'9') => self.number(at),
            _ => Err(Fault { at, expected: "a value" }),
        }
    }

    fn string(&self, at: usize) -> Result<usize, Fault> {
        let mut at = self.byte(at, b'"', "a string")?;
        loop {
            match self.0.get(at) {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at = self.escape(at)?,
                Some(0..=0x1f) => return Err(Fault { at, expected: "control characters only as escapes" }),
                Some(_) => at += 1,
                None => return Err(Fault { at, expected: "the closing `\"`" }),
            }
        }
    }

    fn escape(&self, at: usize) -> Result<usize, Fault> {
        match self.0.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u')
                if self.0.get(at + 2..at + 6).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) =>
            {
                Ok(at + 6)
            }
            _ => Err(Fault { at, expected: "an escape that JSON knows" }),
        }
    }

    fn number(&self, at: usize) -> Result<usize, Fault> {
        let mut at = at + usize::from(self.0.get(at) == Some(&b'-'));
        at = if self.0.get(at) == Some(&b'0') { at + 1 } else { self.digits(at)? };
        if self.0.get(at) == Some(&b'.') {
            at = self.digits(at + 1)?;
        }
        if matches!(self.0.get(at), Some(b'e' | b'E')) {
            at += 1 + usize::from(matches!(self.0.get(at + 1), Some(b'+' | b'-')));
            at = self.digits(at)?;
        }
        Ok(at)
    }

    fn digits(&self, at: usize) -> Result<usize, Fault> {
        let rest = self.0.get(at..).unwrap_or_default();
        match rest.iter().take_while(|byte| byte.is_ascii_digit()).count() {
            0 => Err(Fault { at, expected: "a digit" }),
            count => Ok(at + count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_and_refuses_what_serde_json_does() {
        let accepted =
            ["{}", "[]", " [1, -0.5e+3 ,\"a\\u00e9\"] ", "{\"a\":{\"b\":[{}]}}", "0", "\"\"", "null"];
        let refused = [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "+1",
            ".5",
            "1.",
            "1e",
            "-",
            "\"\t\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "tru",
            "[1}",
            "{\"a\" 1}",
            "1 2",
            "'a'",
            "\u{feff}1",
            "NaN",
            "\"a",
        ];
        for text in accepted {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
            assert!(document(text).is_ok(), "{text}");
        }
        for text in refused {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
            assert!(document(text).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_and_hostile_numbers_are_no_trouble() {
        let deep = format!("{{\"x\":{}{},\"a\":1e999}}", "[".repeat(100_000), "]".repeat(100_000));
        let node = document(&deep).map(|root| root.member("a").map(|node| node.shape()));
        assert_eq!(node, Ok(Some(Shape::Number(f64::INFINITY))));
    }

    #[test]
    fn the_last_of_duplicate_keys_wins_however_they_are_spelled() {
        let text = r#"{"a": 1, "\u0061" : 2 , "b": {"a": 3}}"#;
        let found = document(text).map(|root| root.member("a").map(|node| node.shape()));
        assert_eq!(found, Ok(Some(Shape::Number(2.0))));
    }

    #[test]
    fn half_a_surrogate_pair_reads_as_the_replacement_character() {
        for (raw, text) in [(r"\ud83d\ude80", "🚀"), (r"\ud83dx", "\u{fffd}x"), (r"\ude80", "\u{fffd}")] {
            assert_eq!(unescape(raw), text);
        }
    }
}
