//! Whether a text was drawn at random, or is a word, a name, a stand-in.

/// What stand-ins for credentials hold, in lower case. The last is `Aladdin:open`, the
/// example of RFC 7617.
const STAND_INS: [&str; 28] = [
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "dummy",
    "redacted",
    "masked",
    "xxxx",
    "****",
    "....",
    "____",
    "----",
    "replace",
    "sample",
    "abcdef",
    "123456",
    "qwerty",
    "foobar",
    "notreal",
    "not-real",
    "fake",
    "your",
    "secret",
    "passw",
    "<",
    "${",
    "qwxhzgrpbjpvcgvu",
];

/// Whether a text stands for a credential that somebody else has to fill in.
pub(super) fn is_stand_in(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    STAND_INS.iter().any(|word| lower.contains(word)) || distinct(text) < 5
}

/// Whether a text of a known alphabet was drawn at random: it has as many different
/// characters as that takes, and is no stand-in.
pub(super) fn is_random(text: &str) -> bool {
    distinct(text) >= (text.len() / 3).clamp(5, 8)
        && entropy(text) >= 2.5
        && !is_stand_in(text)
        && !is_ladder(text)
}

pub(super) fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// How many different bytes there are.
fn distinct(text: &str) -> usize {
    let mut seen = [0_u64; 4];
    text.bytes().for_each(|byte| seen[usize::from(byte) / 64] |= 1 << (byte % 64));
    seen.iter().map(|bits| bits.count_ones() as usize).sum()
}

/// Shannon's entropy of the bytes, in bits a byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    #[expect(clippy::cast_precision_loss, reason = "no credential is 2^53 long")]
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// Whether most of a text only counts up or down, as `0123456789` does.
fn is_ladder(text: &str) -> bool {
    let step = |pair: &[u8]| i16::from(pair[1]) - i16::from(pair[0]);
    let goes_on = |three: &&[u8]| step(three).abs() == 1 && step(three) == step(&three[1..]);
    text.as_bytes().windows(3).filter(goes_on).count() * 2 > text.len()
}

/// Whether a value that is called a token or a key looks like one: long, of letters and
/// digits in turn, and no name of something.
pub(super) fn is_key_like(text: &str) -> bool {
    text.len() >= 16 && is_random(text) && pieces(text).any(is_mixed)
}

/// Whether a value that is called a password looks like one that a person or a program
/// would choose: eight characters at least, with a digit, and no plain word with a number
/// behind it.
pub(super) fn is_password_like(text: &str) -> bool {
    if text.chars().count() < 8 || is_stand_in(text) || is_ladder(text) || !has_digit(text) {
        return false;
    }
    if is_tried(text) || !text.chars().any(char::is_alphabetic) {
        return false;
    }
    let is_upper_and_lower = text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase());
    let has_sign = text.bytes().any(|byte| b"!@#$%^&*+?~=|".contains(&byte));
    has_sign
        || pieces(text).any(|piece| turns(piece) >= 2 && piece.len() >= 6)
        || is_upper_and_lower && pieces(text).any(|piece| piece.len() >= 8 && turns(piece) >= 1)
}

/// Whether a password is one that manuals write and that images of databases begin with,
/// with a number or a sign behind it at most.
pub(super) fn is_tried(text: &str) -> bool {
    const TRIED: [&str; 18] = [
        "test", "demo", "admin", "user", "guest", "root", "postgres", "mysql", "mongo", "redis", "pass",
        "pw", "pwd", "token", "key", "hunter", "anoncvs", "letmein",
    ];
    let word = text.trim_end_matches(|c: char| !c.is_alphabetic());
    TRIED.iter().any(|tried| word.eq_ignore_ascii_case(tried))
}

/// The stretches of letters and digits.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty())
}

/// Whether a stretch is no word: digits and letters take turns, or upper and lower case do.
fn is_mixed(piece: &str) -> bool {
    let bytes = piece.as_bytes();
    let cases =
        bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    piece.len() >= 8
        && (turns(piece) >= 3 || turns(piece) >= 1 && cases * 6 > piece.len() || cases * 4 > piece.len())
}

/// How often a digit stands beside a letter.
fn turns(piece: &str) -> usize {
    let bytes = piece.as_bytes();
    bytes.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count()
}
