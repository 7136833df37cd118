//! Values that tell by what stands before them: `password: …`, `API_KEY=…`,
//! `Authorization: Bearer …`, "Password for the test box: …".

use super::Secret;
use super::mask::OPEN;
use super::random::{is_key_like, is_password_like};

/// What a name says its value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Password,
    Token,
    ApiKey,
    Secret,
    /// Of an address that lets in whoever has it.
    Signature,
    /// A name and a password, or anything else.
    Credential,
}

impl Named {
    const fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Token => "token",
            Self::ApiKey => "API key",
            Self::Secret => "secret",
            Self::Signature => "signature in a URL",
            Self::Credential => "credential",
        }
    }

    fn fits(self, value: &str) -> bool {
        match self {
            Self::Password => is_password_like(value),
            Self::Token | Self::ApiKey | Self::Secret | Self::Signature | Self::Credential => {
                is_key_like(value)
            }
        }
    }
}

/// Names by their last word, in lower case.
const LAST: [(&str, Named); 22] = [
    ("password", Named::Password),
    ("passwd", Named::Password),
    ("passphrase", Named::Password),
    ("passcode", Named::Password),
    ("passwort", Named::Password),
    ("kennwort", Named::Password),
    ("pwd", Named::Password),
    ("pass", Named::Password),
    ("pw", Named::Password),
    ("secret", Named::Secret),
    ("secrets", Named::Secret),
    ("token", Named::Token),
    ("tokens", Named::Token),
    ("authtoken", Named::Token),
    ("apitoken", Named::Token),
    ("pat", Named::Token),
    ("jwt", Named::Token),
    ("apikey", Named::ApiKey),
    ("credential", Named::Credential),
    ("credentials", Named::Credential),
    ("sig", Named::Signature),
    ("bearer", Named::Token),
];

/// What stands before `key` where it is one to be kept.
const BEFORE_KEY: [&str; 24] = [
    "api",
    "access",
    "secret",
    "private",
    "encryption",
    "signing",
    "auth",
    "account",
    "master",
    "shared",
    "service",
    "session",
    "deploy",
    "hmac",
    "jwt",
    "admin",
    "app",
    "application",
    "license",
    "storage",
    "webhook",
    "client",
    "server",
    "integration",
];

/// What stands before `pass` where it is no pass of a renderer or a compiler.
const BEFORE_PASS: [&str; 12] =
    ["db", "user", "admin", "root", "smtp", "mail", "mysql", "pg", "redis", "sudo", "ftp", "database"];

/// What stands before `token` where it lets nobody in: places in lists, ids of requests.
const NO_TOKEN: [&str; 26] = [
    "key",
    "update",
    "next",
    "page",
    "continuation",
    "pagination",
    "change",
    "lock",
    "purchase",
    "client",
    "request",
    "idempotency",
    "cancel",
    "cancellation",
    "sync",
    "export",
    "import",
    "resume",
    "sequence",
    "start",
    "starting",
    "action",
    "product",
    "placeholder",
    "ordering",
    "upload",
];

/// How many words at the end of a name are looked at.
const NAME_PARTS: usize = 3;

/// What a name is the name of: `DB_PASSWORD`, `apiKey`, `client secret`.
fn named(name: &str) -> Option<Named> {
    let words = words(name);
    let mut words = words.iter().rev().map(String::as_str);
    let last = words.next()?;
    // `API_KEY_2`, `token1`.
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let last = if last.is_empty() { words.next()? } else { last };
    let before = words.next();
    if last == "pass" && !before.is_none_or(|before| BEFORE_PASS.contains(&before)) {
        return None;
    }
    if matches!(last, "token" | "tokens") && before.is_some_and(|before| NO_TOKEN.contains(&before)) {
        return None;
    }
    if let Some((_, named)) = LAST.iter().find(|(word, _)| *word == last) {
        return Some(*named);
    }
    let before = before?;
    (matches!(last, "key" | "keys") && BEFORE_KEY.contains(&before)).then_some(match before {
        "api" | "app" | "application" | "integration" => Named::ApiKey,
        _ => Named::Secret,
    })
}

/// The last words of a name, in lower case: cut at what is no letter or digit, and where a
/// capital follows a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_alphanumeric() {
            if !before.is_alphanumeric() || before.is_lowercase() && c.is_uppercase() || words.is_empty() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    if words.len() > NAME_PARTS {
        words.drain(..words.len() - NAME_PARTS);
    }
    words
}

/// Reads what the name before the sign at `at` is given.
pub(super) fn at_sign(text: &str, at: usize, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    let is_around =
        |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'*' | b'\\' | b'_' | b']' | b')' | b'?');
    let end = bytes[..at].iter().rposition(|byte| !is_around(byte)).map_or(0, |last| last + 1);
    if !may_end(&bytes[..end]) {
        return;
    }
    let before = &text[..end];
    if !may_be_named(&bytes[..end]) {
        return;
    }
    let start = before
        .bytes()
        .rposition(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b'.')))
        .map_or(0, |at| at + 1);
    let mut start = start.max(before.len().saturating_sub(40));
    // Behind a `\n` of two characters.
    if start > 0 && bytes[start - 1] == b'\\' && matches!(bytes[start..], [b'n' | b'r' | b't', ..]) {
        start += 1;
    }
    while !before.is_char_boundary(start) {
        start += 1;
    }
    let Some(named) = named(&before[start..]) else { return };
    // `Service::ApiKey` is a type; a signature is public but in a URL, where it lets in.
    let sign = before[..start].bytes().last();
    if before[..start].ends_with("::") || named == Named::Signature && !matches!(sign, Some(b'&' | b'?')) {
        return;
    }
    let signs = text[at..].bytes().take_while(|byte| matches!(byte, b':' | b'=' | b'>')).count();
    value(text, at + signs, named, found);
}

/// Whether a name may end so: all that there are end with one of these, or with a number.
fn may_end(before: &[u8]) -> bool {
    let number = before.iter().rev().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    let [.., first, second] = before[..before.len() - number] else { return false };
    let (first, second) = (first.to_ascii_lowercase(), second.to_ascii_lowercase());
    // `api_key_2`
    let (first, second) = if number > 0 && second == b'_' { (b'e', b'y') } else { (first, second) };
    matches!(
        (first, second),
        (b'r' | b'w', b'd')
            | (b's' | b'd', b'e')
            | (b'r' | b'e' | b'a' | b'w', b't')
            | (b'p', b'w')
            | (b'e', b'y' | b'n' | b'r')
            | (b's' | b't' | b'y' | b'n' | b'l', b's')
            | (b'a', b'l')
            | (b'i', b'g')
    )
}

/// Whether a name ends with the last word of one, whatever stands before it.
fn may_be_named(before: &[u8]) -> bool {
    let number = before.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count();
    let before = &before[..before.len() - number];
    let ends = |word: &str| {
        before.len() >= word.len()
            && before[before.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
    };
    ends("key") || ends("keys") || LAST.iter().any(|(word, _)| ends(word))
}

/// The words that a sentence about a credential begins with, in lower case.
const SPOKEN: [(&str, Named); 12] = [
    ("password", Named::Password),
    ("passphrase", Named::Password),
    ("passcode", Named::Password),
    ("passwort", Named::Password),
    ("kennwort", Named::Password),
    ("token", Named::Token),
    ("secret", Named::Secret),
    ("credentials", Named::Credential),
    ("api key", Named::ApiKey),
    ("access key", Named::Secret),
    ("bearer", Named::Token),
    ("basic", Named::Credential),
];

/// Whether a sentence about a credential may begin with these bytes.
pub(super) fn may_begin(word: &[u8]) -> bool {
    let [a, b, c, d, ..] = *word else { return false };
    let lower = [a | 0x20, b | 0x20, c | 0x20, d | 0x20];
    matches!(&lower, b"pass" | b"kenn" | b"toke" | b"secr" | b"cred" | b"api " | b"acce" | b"bear" | b"basi")
}

/// Reads a sentence that may begin at `at`: "password for the test box: …", "the token is
/// …", "password `…`", "Bearer …".
pub(super) fn at_word(text: &str, at: usize, found: &mut Vec<Secret>) {
    let rest = &text[at..];
    let is_at = |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let Some((word, named)) = SPOKEN.into_iter().find(|(word, _)| is_at(word)) else { return };
    if is_name_of_masked(&text[..at]) {
        return;
    }
    let behind = at + word.len();
    if named == Named::Token && follows_no_token(&text[..at]) {
        return;
    }
    let rest = &text[behind..];
    if !rest.starts_with(' ') {
        return;
    }
    // At once, as in a header or on a command line.
    value(text, behind, named, found);
    let clause = clause(rest);
    // A sign right behind the word is read where the sign is.
    if let Some(sign) = clause.find([':', '=']).filter(|sign| !clause[..*sign].trim().is_empty()) {
        value(text, behind + sign + 1, named, found);
    }
    for word in [" is ", " are ", " was ", " ist "] {
        if let Some(is) = clause.find(word) {
            value(text, behind + is + word.len(), named, found);
        }
    }
}

/// Whether the word before `token` makes a place in a list or the id of a request of it.
fn follows_no_token(before: &str) -> bool {
    let before = before.trim_end_matches(['-', ' ']);
    let start = before.bytes().rposition(|byte| !byte.is_ascii_alphabetic()).map_or(0, |last| last + 1);
    NO_TOKEN.iter().any(|word| before.as_bytes()[start..].eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a text ends within what stands in the place of a credential.
fn is_name_of_masked(before: &str) -> bool {
    before.rfind(OPEN).is_some_and(|open| !before[open..].contains([']', '\n']))
}

/// What may still be about the word: up to the end of its sentence or line, 80 bytes at most.
fn clause(rest: &str) -> &str {
    let end = rest.find(['\n', ';', '|']).unwrap_or(rest.len());
    let end = rest[..end].find(". ").unwrap_or(end);
    let mut end = end.min(80);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    &rest[..end]
}

/// Reads the value at `from`, behind a sign or a word.
fn value(text: &str, from: usize, named: Named, found: &mut Vec<Secret>) {
    let mut at = from;
    let rest = text[at..].trim_start_matches([' ', '\t', '*', '\\', '=', '>', '_']);
    at = text.len() - rest.len();
    // A value on the next line: after a sign at the end of its line.
    let is_sign = from > 0 && matches!(text.as_bytes()[from - 1], b':' | b'=');
    if is_sign && rest.starts_with(['\n', '\r']) {
        let below = rest.trim_start_matches(['\n', '\r', ' ', '\t', '`', '>', '-', '|']);
        at = text.len() - below.len();
    }
    let rest = &text[at..];
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'));
    let (value, start) = if let Some(quote) = quote {
        let inner = rest.trim_start_matches(quote);
        let end = inner.find([quote, '\n', '\\']).unwrap_or(inner.len());
        (&inner[..end], text.len() - inner.len())
    } else {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '|' | '\\');
        let end = rest.find(is_end).unwrap_or(rest.len());
        let value = rest[..end].trim_end_matches(['.', ')', ']', '}', '>', ':', '?']);
        if is_code(value) {
            return;
        }
        (value, at)
    };
    // A scheme before the value (`Authorization: token …`, `Bearer …`) is read by itself.
    if value.len() > 512 || value.contains(char::is_whitespace) || is_reference(value) {
        return;
    }
    if named.fits(value) {
        found.push(Secret::named(named.kind(), start, start + value.len()));
    }
}

/// Whether an unquoted value is rather an expression of a program.
fn is_code(value: &str) -> bool {
    let is_call = value.find(['(', '[', '{', '<']).is_some_and(|at| {
        at == 0 || value[..at].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:!&".contains(&byte))
    });
    is_call || value.contains("::") || value.contains("->") || value.starts_with(['&', '!', '@'])
}

/// Whether a value names a place where the credential is: a variable, a path, a URL.
fn is_reference(value: &str) -> bool {
    let is_path = value.starts_with(['/', '~']) && value[1..].contains('/')
        || value.starts_with("./")
        || value.starts_with("../");
    value.starts_with('$') && !value[1..].contains(|c: char| !(c.is_alphanumeric() || "_{}().:-".contains(c)))
        || value.starts_with(['%', '<'])
        || value.starts_with("arn:")
        || value.contains("://")
        || value.contains("${")
        || value.contains("{{")
        || value.contains("$(")
        || is_path
}
