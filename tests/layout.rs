//! The floors of the crate (see `src/lib.rs`): which module may use which, what the pure
//! ones must not touch, and words that have no place in a file of this repository.

#![expect(clippy::unwrap_used, reason = "a failed test is to panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// What each module may use of this crate, bottom first. Modules stand below those that
/// use them; siblings of a floor meet only where this table says so.
const MAY_USE: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("note", &[]),
    ("slug", &[]),
    ("secret", &["text"]),
    ("document", &["text", "note"]),
    ("config", &["note", "slug"]),
    ("render", &["note", "secret"]),
    ("select", &["config", "note", "render"]),
    ("export", &["note", "document"]),
    ("effective", &["config", "document", "note", "select"]),
    ("merge", &["note", "document", "effective", "text"]),
    ("import", &["document", "note", "text"]),
    ("reconcile", &["document", "effective", "export", "merge", "note"]),
    ("check", &["text", "note", "document", "render", "secret"]),
    ("files", &[]),
    ("mint", &["note"]),
    ("store", &["files", "secret"]),
    ("review", &["document", "effective", "note", "reconcile", "store"]),
    ("workspace", &["files", "note", "slug"]),
    ("git", &["files", "workspace"]),
    ("identity", &["files", "git", "mint", "slug", "store", "workspace"]),
    ("trust", &["files", "identity", "mint", "store", "workspace"]),
    (
        "sync",
        &[
            "document",
            "effective",
            "files",
            "git",
            "merge",
            "mint",
            "note",
            "reconcile",
            "review",
            "secret",
            "store",
            "workspace",
        ],
    ),
    ("travel", &["document", "git", "workspace"]),
    ("watch", &["files"]),
    ("reach", &["config", "document", "effective", "reconcile", "store", "sync", "workspace"]),
    ("audit", &["config", "effective", "note", "reach", "select", "store", "sync", "workspace"]),
    ("doctor", &["document", "files", "git", "store", "watch", "workspace"]),
    ("cli", &ALL_BELOW_CLI),
];

const ALL_BELOW_CLI: [&str; 28] = [
    "text",
    "note",
    "slug",
    "secret",
    "document",
    "config",
    "render",
    "select",
    "export",
    "effective",
    "merge",
    "import",
    "reconcile",
    "check",
    "files",
    "mint",
    "store",
    "review",
    "workspace",
    "git",
    "identity",
    "trust",
    "sync",
    "travel",
    "watch",
    "reach",
    "audit",
    "doctor",
];

/// Modules that only compute: the same input gives the same output, on any machine.
const PURE: &[&str] = &[
    "text",
    "note",
    "slug",
    "secret",
    "document",
    "config",
    "render",
    "select",
    "export",
    "effective",
    "merge",
    "import",
    "reconcile",
    "check",
];

/// What a pure module has no business with.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "SystemTime",
    "Instant::now",
    "getrandom",
    "println!",
    "eprintln!",
    "print!",
];

#[test]
fn every_module_is_in_the_table_and_uses_only_what_it_may() {
    let known = |name: &str| MAY_USE.iter().any(|(module, _)| *module == name);
    let mut faults = Vec::new();
    for (module, path) in modules() {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            faults.push(format!("{module} is not in the table of tests/layout.rs"));
            continue;
        };
        for (number, line) in code(&path) {
            if line.ends_with("crate::{") {
                faults.push(format!("{}:{number}: name each module on a line of its own", path.display()));
            }
            for used in crate_paths(&line).into_iter().filter(|used| known(used)) {
                if used != module && !allowed.contains(&used.as_str()) {
                    faults.push(format!("{}:{number}: {module} may not use {used}", path.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_is_in_order_and_says_no_more_than_is_so() {
    let mut faults = Vec::new();
    for (place, (module, allowed)) in MAY_USE.iter().enumerate() {
        let below = |name: &&str| MAY_USE[..place].iter().any(|(lower, _)| lower == name);
        // What is above must not be used; `cli` may use all and need not.
        faults.extend(
            allowed.iter().filter(|used| !below(used)).map(|used| format!("{used} is not below {module}")),
        );
        let lines: Vec<String> = modules()
            .iter()
            .filter(|(name, _)| name == module)
            .flat_map(|(_, path)| code(path))
            .map(|line| line.1)
            .collect();
        let used: Vec<String> = lines.iter().flat_map(|line| crate_paths(line)).collect();
        if *module != "cli" {
            let idle = allowed.iter().filter(|allowed| !used.iter().any(|used| used == *allowed));
            faults.extend(idle.map(|idle| format!("{module} does not use {idle}: take it out of the table")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pure_modules_touch_no_disk_no_clock_and_no_terminal() {
    let mut faults = Vec::new();
    for (_, path) in modules().into_iter().filter(|(module, _)| PURE.contains(&module.as_str())) {
        for (number, line) in code(&path) {
            for word in IMPURE.iter().filter(|word| has_word(&line, word)) {
                faults.push(format!("{}:{number}: {word}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The crate's documentation has a row `` | [`name`] | its one job | `` for every module,
/// the pure ones above the line that says where IO begins.
#[test]
fn the_crate_documentation_lists_every_module_on_its_floor() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let docs = lib.lines().filter_map(|line| line.strip_prefix("//! |")).collect::<Vec<_>>().join("\n");
    let (above, below) = docs.split_once("*below: IO*").expect("a row that says where IO begins");
    let rows = |table: &str| -> Vec<String> {
        let names = table.lines().filter_map(|line| line.trim().strip_prefix("[`")?.split_once("`]"));
        let mut names: Vec<_> = names.map(|(name, _)| name.to_owned()).collect();
        names.sort();
        names
    };
    let mut pure: Vec<String> = PURE.iter().map(|&name| name.to_owned()).collect();
    pure.sort();
    assert_eq!(rows(above), pure, "the pure modules");
    let mut declared: Vec<String> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .filter(|name| !PURE.contains(name))
        .map(str::to_owned)
        .collect();
    declared.sort();
    assert_eq!(rows(below), declared, "the modules with IO");
}

/// Paths of one machine mean nothing on another; numbers of an issue list and the ways of
/// making the code mean nothing to who reads it.
#[test]
fn no_file_names_a_machine_or_how_it_was_made() {
    // Put together here, so that this file does not name them.
    let words: Vec<String> = [["/wo", "rk/"], ["/fa", "rm/"], ["issue ", "#"], ["helper", " session"]]
        .map(|word| word.concat())
        .to_vec();
    let mut faults = Vec::new();
    for path in files(root()) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for word in words.iter().filter(|word| names(&line, word)) {
                faults.push(format!("{}:{}: {word:?}", path.display(), number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A merge that was committed half done; examples of conflicts stand in code and in fences.
#[test]
fn no_page_holds_an_unresolved_merge() {
    let pages = files(root()).into_iter().filter(|path| !path.starts_with(root().join("fixtures")));
    let pages = pages.filter(|path| path.extension().is_some_and(|it| it == "md" || it == "toml"));
    let mut faults = Vec::new();
    for path in pages {
        let mut is_fenced = false;
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            is_fenced ^= line.trim_start().starts_with("```");
            if !is_fenced && ["<<<<<<<", ">>>>>>>"].iter().any(|mark| line.starts_with(mark)) {
                faults.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether a line holds a word; an absolute path only where it starts one.
fn names(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !word.starts_with('/') || before.is_none_or(|c| !(c.is_alphanumeric() || "._-~/$}>".contains(c)))
    })
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every source file below `src/` with the module of `src/lib.rs` it belongs to.
fn modules() -> Vec<(String, PathBuf)> {
    let src = root().join("src");
    let sources = files(src.clone()).into_iter().filter(|path| path.extension().is_some_and(|it| it == "rs"));
    let named = sources.filter_map(|path| {
        let first = path.strip_prefix(&src).ok()?.components().next()?;
        let module = Path::new(first.as_os_str()).file_stem()?.to_str()?.to_owned();
        (!matches!(module.as_str(), "lib" | "main")).then_some((module, path))
    });
    named.collect()
}

/// The lines of code of a file with their numbers: without comments, up to its tests.
fn code(path: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]").enumerate();
    lines
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(index, line)| (index + 1, line.split(" // ").next().unwrap_or(line).to_owned()))
        .collect()
}

/// The modules of this crate that a line names: `crate::name`, `crate::{name, other}`.
fn crate_paths(line: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = |text: &str| text.chars().take_while(|c| is_name(*c)).collect::<String>();
    let behind = line.match_indices("crate::").map(|(at, found)| &line[at + found.len()..]);
    behind
        .flat_map(|rest| match rest.strip_prefix('{') {
            None => vec![name(rest)],
            Some(group) => group.split(", ").map(name).collect(),
        })
        .collect()
}

/// Whether a line holds a word that is no part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && !line[at + word.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// All files below a folder but those that git or cargo made.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let is_made = entry.file_name().is_some_and(|name| name == "target" || name == ".git");
            if is_made || entry.is_symlink() {
                continue;
            }
            if entry.is_dir() { folders.push(entry) } else { found.push(entry) }
        }
    }
    found.sort();
    found
}
