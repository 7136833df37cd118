//! Runs golden vectors: one file of cases, one function from a case to a value.
//!
//! Without `GOLDEN_DIR` the cases of `fixtures/golden/` are asserted: untagged ones with
//! their own `expect`, tagged ones with ours from `ours.json` (file, then case name). With
//! it, the same checks run on that folder's files, and tagged cases are
//! listed, not asserted. All failures are shown together.

use std::collections::HashSet;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::Value;

/// One vector.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) expect: Value,
    pub(crate) tags: Vec<String>,
}

fn elsewhere() -> Option<PathBuf> {
    env::var_os("GOLDEN_DIR").map(PathBuf::from)
}

pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden")
}

fn read(path: &std::path::Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cases of a file such as `slug.json`; none if another folder has no such file.
pub(crate) fn load(file: &str) -> Vec<Case> {
    let path = elsewhere().unwrap_or_else(fixtures).join(file);
    if elsewhere().is_some() && !path.exists() {
        tell(&format!("{file}: not in GOLDEN_DIR"));
        return Vec::new();
    }
    let cases = read(&path);
    cases
        .as_array()
        .unwrap_or_else(|| panic!("{file} is no array"))
        .iter()
        .map(|case| Case {
            name: text(&case["name"]),
            input: case["input"].clone(),
            expect: case["expect"].clone(),
            tags: case["tags"].as_array().into_iter().flatten().map(text).collect(),
        })
        .collect()
}

/// What a check other than equality says.
pub(crate) enum Verdict {
    Agrees,
    Differs(String),
}

/// Checks every case of a file; panics once, with all that failed.
pub(crate) fn run(file: &str, got: impl Fn(&Case) -> Value) {
    run_with(file, got, |_| None, |_, _| Verdict::Agrees);
}

/// As [`run`], where untagged cases may lose something: `left_out` says what. Such a case
/// has a value of ours, like a tagged one; on another folder `agrees` decides.
pub(crate) fn run_with(
    file: &str,
    got: impl Fn(&Case) -> Value,
    left_out: impl Fn(&Case) -> Option<String>,
    agrees: impl Fn(&Case, &Value) -> Verdict,
) {
    let cases = load(file);
    let ours =
        if elsewhere().is_none() { read(&fixtures().join("ours.json"))[file].clone() } else { Value::Null };
    let mut report = String::new();
    let mut failed = 0;
    for case in &cases {
        let got = got(case);
        let tagged = !case.tags.is_empty();
        let lost = left_out(case).filter(|_| !tagged && !same(&got, &case.expect));
        if let (Some(lost), true) = (&lost, elsewhere().is_some()) {
            tell(&format!("{file}: `{}` {lost}", case.name));
            if let Verdict::Differs(how) = agrees(case, &got) {
                failed += 1;
                let _ = writeln!(report, "\n{file}: `{}`: {how}\n  got {got}", case.name);
            }
            continue;
        }
        let tagged = tagged || lost.is_some();
        if tagged && elsewhere().is_some() {
            let verdict = if same(&got, &case.expect) {
                "as theirs".to_owned()
            } else {
                format!("differs\n  theirs {}\n  ours   {got}", case.expect)
            };
            tell(&format!("{file}: tagged {:?} `{}`: {verdict}", case.tags, case.name));
            continue;
        }
        let expected = if tagged { &ours[case.name.as_str()] } else { &case.expect };
        if !same(&got, expected) {
            failed += 1;
            let _ = writeln!(
                report,
                "\n{file}: `{}` {:?}\n  expected {expected}\n  got      {got}",
                case.name, case.tags
            );
        }
    }
    // A value of ours for a case that is gone would look like coverage.
    let names: HashSet<_> = cases
        .iter()
        .filter(|case| !case.tags.is_empty() || left_out(case).is_some())
        .map(|case| case.name.as_str())
        .collect();
    for name in ours.as_object().into_iter().flatten().map(|(name, _)| name) {
        if !names.contains(name.as_str()) {
            failed += 1;
            let _ = writeln!(report, "\nours.json: {file}: `{name}` is no tagged case");
        }
    }
    assert!(failed == 0, "{failed} of {} cases of {file} failed\n{report}", cases.len());
}

/// Equal with all numbers as doubles (as the vectors are meant) and keys in any order.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// Writes to stderr itself: what the print macros write is swallowed when a test passes.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A text of the input; the vectors are trusted to have it.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// The bytes of a `text` or `hex` input; none for a missing file.
pub(crate) fn bytes(input: &Value) -> Option<Vec<u8>> {
    if let Some(hex) = input["hex"].as_str() {
        let digits: Vec<char> = hex.chars().collect();
        let byte =
            |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).expect("hex digits");
        return Some(digits.chunks(2).map(byte).collect());
    }
    input["text"].as_str().map(|text| text.as_bytes().to_vec())
}
