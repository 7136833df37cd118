//! What is read from the layers of `fixtures/documents`: odd ones, of the kinds that
//! people, editors, git and refiners leave behind. Each is a file whose name tells what
//! is odd; what is read from it is a snapshot of the same name, to be reviewed as text.
//! A new case is a new file.

#![expect(clippy::unwrap_used, reason = "a failed test is to panic")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use harness_layers::document::{Document, Field, Note, SegmentKind};

#[test]
fn every_document_reads_as_reviewed() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path("snapshots/documents");
    settings.set_omit_expression(true);
    settings.bind(|| {
        for path in documents() {
            let text = fs::read_to_string(&path).unwrap();
            insta::assert_snapshot!(stem(&path), told(&Document::parse(text)));
        }
    });
}

#[test]
fn no_byte_of_a_document_is_lost_and_the_full_path_reads_the_same() {
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        let layer = Document::parse(text.as_str());
        let joined: String = layer.segments().iter().map(|segment| segment.span.of(&text)).collect();
        assert_eq!(joined, text, "{}", path.display());
        assert_eq!(told(&layer), told(&Document::parse_in_full(text.as_str())), "{}", path.display());
    }
}

#[test]
fn every_snapshot_has_its_document() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/documents");
    let names: Vec<String> = documents().iter().map(|path| stem(path)).collect();
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.strip_suffix(".snap").unwrap_or_else(|| panic!("{name} waits for review"));
        assert!(names.iter().any(|known| known == stem), "{name} has no document");
    }
}

fn documents() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// All that is read from a layer, for people. Texts are escaped, so that line ends show.
fn told(layer: &Document) -> String {
    let source = layer.source();
    let mut out = String::new();
    if let Some(span) = layer.header_span() {
        let _ = write!(out, "header {}..{}", span.start, span.end);
        for key in ["layer", "project", "revision", "model", "importance"] {
            if let Some(text) = layer.header_field(key) {
                let _ = write!(out, " {key}={text:?}");
            }
        }
        out.push('\n');
    }
    for note in layer.notes() {
        push_note(&mut out, note);
    }
    let is_prose = |kind| kind == SegmentKind::Prose;
    let prose: usize = layer.segments().iter().filter(|it| is_prose(it.kind)).map(|it| it.span.len()).sum();
    let _ = writeln!(out, "prose: {prose} of {} bytes", source.len());
    for diagnostic in layer.diagnostics() {
        let place = diagnostic.location(source);
        let severity = format!("{:?}", diagnostic.severity()).to_lowercase();
        let (code, problem) = (diagnostic.problem.code(), &diagnostic.problem);
        let _ = writeln!(out, "{}:{} {severity} {code} {problem}", place.line, place.column);
    }
    out
}

fn push_note(out: &mut String, note: Note<'_>) {
    let place = note.location();
    let id = note.id().unwrap_or("(no id)");
    let (form, state, kind) = (note.form(), note.state(), note.kind());
    let _ = writeln!(out, "{}:{} {id}: {kind}, {form:?}, {state:?}", place.line, place.column);
    for field in note.fields().into_iter().filter(|field| *field != Field::Id) {
        let _ = writeln!(out, "  {field} = {:?}", note.get(&field).as_deref().unwrap_or_default());
    }
    // What the fields mean where it is not what they say.
    if note.written_importance() != Some(note.importance()) {
        let _ = writeln!(out, "  importance in effect: {}", note.importance());
    }
    if note.model() != note.get(&Field::Model) {
        let _ = writeln!(out, "  model in effect: {:?}", note.model());
    }
    if let Some(scope) = note.scope() {
        let _ =
            writeln!(out, "  scope in effect: {scope} {:?}", note.project().as_deref().unwrap_or_default());
    }
    for line in note.content().split('\n') {
        let _ = writeln!(out, "  | {}", line.escape_debug());
    }
}
