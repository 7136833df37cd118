//! The blanks of pi-continual-harness (as its vectors show):
//! JavaScript's white space, which has U+FEFF and lacks U+0085, unlike Rust's.

/// Whether a character is a blank in the bullet grammar.
pub const fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{0B}' | '\u{0C}' | '\r' | ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{FEFF}'
    )
}

/// Without the blanks at both ends.
#[inline]
pub fn trim_blanks(text: &str) -> &str {
    trim_blanks_start(trim_blanks_end(text))
}

/// Without the blanks at the start.
#[inline]
pub fn trim_blanks_start(text: &str) -> &str {
    // Spaces and tabs are passed as bytes; most of the time nothing else is there.
    let lead = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &text[lead..];
    match rest.as_bytes().first() {
        Some(first) if first.is_ascii_graphic() => rest,
        _ => rest.trim_start_matches(is_blank),
    }
}

/// Without the blanks at the end.
#[inline]
pub fn trim_blanks_end(text: &str) -> &str {
    match text.as_bytes().last() {
        Some(last) if last.is_ascii_graphic() => text,
        _ => text.trim_end_matches(is_blank),
    }
}
