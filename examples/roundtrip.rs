//! Edits and un-edits every Markdown file below a folder, in memory, and fails on the
//! first byte that differs: `cargo run --release --example roundtrip -- DIR`.
//!
//! For each `*.md`: the segments must add up to the file; one field of each note found
//! is changed and changed back; a note of each form is inserted and removed again.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use harness_layers::document::{Change, Document, Field, Form, NewNote, Place, State};
use harness_layers::note::Kind;

#[derive(Default)]
struct Count {
    files: usize,
    not_utf8: usize,
    bytes: usize,
    notes: usize,
    edits: usize,
    refused: usize,
}

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1) else {
        eprintln!("usage: roundtrip DIR");
        return ExitCode::from(2);
    };
    let mut count = Count::default();
    let mut paths = vec![PathBuf::from(dir)];
    while let Some(path) = paths.pop() {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            paths.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
            && let Err(fault) = check(&path, &mut count)
        {
            eprintln!("{}: {fault}", path.display());
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{} files ({} more are not UTF-8), {} bytes, {} notes, {} edits undone, {} refused",
        count.files, count.not_utf8, count.bytes, count.notes, count.edits, count.refused
    );
    ExitCode::SUCCESS
}

fn check(path: &Path, count: &mut Count) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let Ok(text) = String::from_utf8(bytes) else {
        count.not_utf8 += 1;
        return Ok(());
    };
    count.files += 1;
    count.bytes += text.len();
    let layer = Document::parse(text.as_str());
    let joined: String = layer.segments().iter().map(|segment| segment.span.of(&text)).collect();
    same("the segments", &text, &joined)?;
    for note in layer.notes() {
        count.notes += 1;
        let there = note.entry_text(&Field::Importance).map(str::to_owned);
        // What is no importance can be replaced, but nobody can set it.
        let is_number = |text: &str| text.parse().is_ok_and(|number| (0.0..=1.0).contains(&number));
        if there.as_deref().is_some_and(|text| !is_number(text)) {
            continue;
        }
        let change =
            Change::Set { note: note.index(), field: Field::Importance, text: other(note.importance()) };
        let Ok(edited) = layer.apply(&[change]) else {
            if note.state() == State::Good {
                count.refused += 1;
            }
            continue;
        };
        let back = match there {
            Some(text) => Change::Set { note: note.index(), field: Field::Importance, text },
            None => Change::Unset { note: note.index(), field: Field::Importance },
        };
        let undone =
            edited.apply(&[back]).map_err(|error| format!("un-edit of note {}: {error}", note.index()))?;
        same(&format!("note {} edited and un-edited", note.index()), &text, undone.source())?;
        count.edits += 1;
    }
    for form in [Form::Bullet, Form::FrontMatter] {
        let new = NewNote::new("h_roundtrip_00000", Kind::Memory, "Remember this.\n\n- and this");
        let is_new_section = form == Form::Bullet && !layer.has_section(Kind::Memory);
        let insert = Change::Insert { note: new, form: Some(form), place: Place::End };
        let Ok(edited) = layer.apply(&[insert]) else {
            count.refused += 1;
            continue;
        };
        let note = edited.note("h_roundtrip_00000").ok_or("the inserted note is not there")?.index();
        let removed = edited
            .apply(&[Change::Remove { note, with_section: is_new_section }])
            .map_err(|error| format!("removing the new {form:?}: {error}"))?;
        same(&format!("a {form:?} inserted and removed"), &text, removed.source())?;
        count.edits += 1;
    }
    Ok(())
}

/// An importance that is not the one given.
fn other(importance: f64) -> String {
    if (importance - 0.25).abs() < f64::EPSILON { "0.75".into() } else { "0.25".into() }
}

fn same(what: &str, before: &str, after: &str) -> Result<(), String> {
    if before == after {
        return Ok(());
    }
    let at = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let line = before[..before.floor_char_boundary(at)].matches('\n').count() + 1;
    let show = |text: &str| {
        let (from, to) = (
            text.floor_char_boundary(at.saturating_sub(40)),
            text.ceil_char_boundary((at + 40).min(text.len())),
        );
        format!("{:?}", &text[from..to])
    };
    Err(format!("{what}: byte {at}, line {line}\n  before {}\n  after  {}", show(before), show(after)))
}
