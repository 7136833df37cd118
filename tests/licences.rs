//! Every crate in the lock file has a licence that `deny.toml` allows and comes from a
//! registry, not from a repository or a folder: what `cargo deny check licenses sources` says, without cargo-deny. Asks
//! `cargo metadata` offline, so it needs nothing that the build has not fetched.

#![expect(clippy::unwrap_used, reason = "a failed test is to panic")]

use std::process::Command;

use serde_json::Value;

#[test]
fn every_dependency_is_from_a_registry_under_a_licence_that_is_allowed() {
    let root = env!("CARGO_MANIFEST_DIR");
    let allowed = allow_list(&std::fs::read_to_string(format!("{root}/deny.toml")).unwrap());
    let mut faults = Vec::new();
    for package in packages(root) {
        let [name, version] =
            ["name", "version"].map(|key| package[key].as_str().unwrap_or_default().to_owned());
        // The crate itself has no source; a path elsewhere has none either, but a folder of its own.
        let is_own =
            package["manifest_path"].as_str().is_some_and(|path| path == format!("{root}/Cargo.toml"));
        if !is_own && !package["source"].as_str().is_some_and(|source| source.starts_with("registry+")) {
            faults.push(format!("{name} {version} is not from a registry: {}", package["source"]));
        }
        let licence = package["license"].as_str().unwrap_or_default();
        if !is_satisfied(licence, &allowed) {
            faults.push(format!("{name} {version}: {licence:?} is not allowed by deny.toml"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn expressions_are_read_as_spdx_has_them() {
    let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    for (expression, expected) in [
        ("MIT", true),
        ("MIT OR GPL-3.0-only", true),
        ("MIT/Apache-2.0", true),
        ("MIT AND GPL-3.0-only", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(GPL-3.0-only OR Apache-2.0) AND Unicode-3.0", false),
        ("GPL-3.0-only OR MIT AND Apache-2.0", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", true),
        ("Apache-2.0 WITH other-exception", false),
        ("", false),
        ("MIT OR", false),
        ("(MIT", false),
    ] {
        assert_eq!(is_satisfied(expression, &allowed), expected, "{expression:?}");
    }
}

fn packages(root: &str) -> Vec<Value> {
    // Without a filter, metadata wants crates of every platform, which a build does not fetch.
    let host = Command::new("rustc").args(["--print", "host-tuple"]).output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--offline",
            "--filter-platform",
            host.trim(),
        ])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The quoted lines of `allow = [ ... ]`.
fn allow_list(deny: &str) -> Vec<String> {
    let lines = deny.lines().skip_while(|line| *line != "allow = [").skip(1).take_while(|line| *line != "]");
    let allowed: Vec<_> =
        lines.map(|line| line.trim().trim_end_matches(',').trim_matches('"').to_owned()).collect();
    assert!(!allowed.is_empty(), "deny.toml has no list `allow`");
    allowed
}

/// Whether a choice of allowed licences satisfies an SPDX expression: `AND` binds
/// stronger than `OR`, and the old spelling `A/B` means `A OR B`. What does not parse is
/// not satisfied.
fn is_satisfied(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any(&mut rest, allowed) == Some(true) && rest.is_empty()
}

fn any(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut found = all(words, allowed)?;
    while let Some((&"OR", rest)) = words.split_first() {
        *words = rest;
        found |= all(words, allowed)?;
    }
    Some(found)
}

fn all(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut found = one(words, allowed)?;
    while let Some((&"AND", rest)) = words.split_first() {
        *words = rest;
        found &= one(words, allowed)?;
    }
    Some(found)
}

fn one(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let (&first, rest) = words.split_first()?;
    *words = rest;
    if first == "(" {
        let inside = any(words, allowed)?;
        let (&close, rest) = words.split_first()?;
        *words = rest;
        return (close == ")").then_some(inside);
    }
    let is_name = !matches!(first, ")" | "OR" | "AND" | "WITH");
    let licence = match words {
        ["WITH", exception, rest @ ..] => {
            *words = rest;
            format!("{first} WITH {exception}")
        }
        _ => first.to_owned(),
    };
    is_name.then(|| allowed.contains(&licence))
}
