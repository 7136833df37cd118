//! What holds for every input whatever. [`fuzz`] takes the bytes of a layer and panics
//! where a law is broken, as fuzzers want it. The edits that it tries depend on nothing
//! but its own constants, so that an input that fails can be made smaller.

use harness_layers::document::{Change, Document, Field, Form, NewNote, Note, Place, State};
use harness_layers::note::Kind;
use harness_layers::text::locate;

const NEW_ID: &str = "h_new_00000";

/// Texts that are awkward in one form or the other.
const CONTENTS: [&str; 6] = [
    "Use port 8080.",
    "one\n\n- two\n  - model: x/y\n\nthree",
    "```sh\n---\nid: n9\n---\n```\nlast",
    "---\nkey: v\n---\n\n## Memory facts\n\n- **[h_9]** x",
    "<div>\n<!-- open\n```",
    "    code\n\\---\n\u{e9}\u{2028}end  ",
];

const VALUES: [(Field, &[&str]); 9] = [
    (Field::Importance, &["0.25", "0.80", "1"]),
    (Field::Active, &["false", "true"]),
    (Field::Approval, &["pending"]),
    (Field::Scope, &["global", "project"]),
    (Field::Project, &["shop"]),
    (Field::Model, &["*", "a/b", "it's: \"x\" # y"]),
    (Field::Evidence, &["why", "one\ntwo: three", "- model: x"]),
    (Field::Title, &["a: b", "- x", "null", "  "]),
    (Field::Content, &CONTENTS),
];

/// Every law about a layer of these bytes.
#[allow(dead_code, reason = "the test asks `check`, the example asks this")]
pub(crate) fn fuzz(data: &[u8]) {
    if let Err(fault) = check(&String::from_utf8_lossy(data)) {
        panic!("{fault}");
    }
}

/// The first law that does not hold, and how.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let layer = Document::parse(text);
    concatenation(&layer, text)?;
    same("fast and full path", &told(&layer), &told(&Document::parse_in_full(text)))?;
    for note in layer.notes().take(8) {
        for (field, values) in &VALUES {
            for value in *values {
                edit(&layer, note, field, value)?;
            }
        }
        present(&layer, note)?;
    }
    insertion(&layer)
}

fn concatenation(layer: &Document, text: &str) -> Result<(), String> {
    let mut end = 0;
    for segment in layer.segments() {
        if segment.span.start != end || segment.span.is_empty() {
            return Err(format!("segments: {segment:?} does not follow on {end}"));
        }
        end = segment.span.end;
    }
    let joined: String = layer.segments().iter().map(|segment| segment.span.of(text)).collect();
    same("segments", text, &joined)?;
    for diagnostic in layer.diagnostics() {
        let _ = (diagnostic.span.of(text), locate(text, diagnostic.span.end), diagnostic.source_line(text));
    }
    Ok(())
}

/// An edit is made, reads back and touches no other note, or is refused.
fn edit(layer: &Document, note: Note<'_>, field: &Field, value: &str) -> Result<(), String> {
    let Ok(edited) = layer.set(note.index(), field.clone(), value) else { return Ok(()) };
    let what = format!("note {}, {field} = {value:?}", note.index());
    concatenation(&edited, edited.source()).map_err(|fault| format!("{what}: {fault}"))?;
    if edited.notes().len() != layer.notes().len() {
        return Err(format!("edit: {what}: {} notes became {}", layer.notes().len(), edited.notes().len()));
    }
    for (before, after) in
        layer.notes().zip(edited.notes()).filter(|(before, _)| before.index() != note.index())
    {
        same(&format!("edit: {what}: another note"), &said(before), &said(after))?;
    }
    let again = edited
        .set(note.index(), field.clone(), value)
        .map_err(|error| format!("edit again: {what}: {error}"))?;
    same(&format!("edit again: {what}"), edited.source(), again.source())?;
    let is_new = !note.has(field) && *field != Field::Content && note.form() == Form::FrontMatter;
    if is_new && edited.source() != layer.source() {
        let back = edited
            .unset(note.index(), field.clone())
            .map_err(|error| format!("edit back: {what}: {error}"))?;
        same(&format!("edit back: {what}"), layer.source(), back.source())?;
    }
    Ok(())
}

/// Setting what is already so is no edit.
fn present(layer: &Document, note: Note<'_>) -> Result<(), String> {
    if note.state() != State::Good {
        return Ok(());
    }
    for field in note.fields().into_iter().chain([Field::Content]) {
        let Some(text) = note.get(&field) else { continue };
        if let Ok(same_layer) = layer.set(note.index(), field.clone(), &*text) {
            same(
                &format!("present value: note {}, {field}", note.index()),
                layer.source(),
                same_layer.source(),
            )?;
        }
    }
    Ok(())
}

/// What is inserted and removed again leaves no trace.
fn insertion(layer: &Document) -> Result<(), String> {
    for (number, content) in CONTENTS.iter().enumerate() {
        for form in [Form::Bullet, Form::FrontMatter] {
            let kind = Kind::ALL[number % 4];
            let new =
                NewNote::new(NEW_ID, kind, *content).with(Field::Model, "a/b").with(Field::Evidence, "why");
            let with_section = form == Form::Bullet && !layer.has_section(kind);
            for place in [Place::End, Place::ByHash] {
                let what = format!("insertion: {form:?}, content {number}, {place:?}");
                let insert = Change::Insert { note: new.clone(), form: Some(form), place };
                let Ok(edited) = layer.apply(&[insert]) else { continue };
                concatenation(&edited, edited.source()).map_err(|fault| format!("{what}: {fault}"))?;
                let note = edited.note(NEW_ID).ok_or_else(|| format!("{what}: is not there"))?;
                let remove = Change::Remove { note: note.index(), with_section };
                let removed = edited.apply(&[remove]).map_err(|error| format!("removal: {what}: {error}"))?;
                same(&what, layer.source(), removed.source())?;
            }
        }
    }
    Ok(())
}

fn said(note: Note<'_>) -> String {
    let fields: Vec<_> = note.fields().into_iter().map(|field| (note.get(&field), field)).collect();
    format!("{:?} {:?} {:?} {:?} {fields:?}", note.form(), note.state(), note.kind(), note.content())
}

fn told(layer: &Document) -> String {
    let segments = layer.segments().iter().map(|segment| format!("{segment:?}\n"));
    let notes = layer.notes().map(|note| said(note) + "\n");
    let diagnostics = layer.diagnostics().iter().map(|diagnostic| format!("{diagnostic:?}\n"));
    let conflicts = layer.conflicts().iter().map(|span| format!("{span:?}\n"));
    segments.chain(notes).chain(diagnostics).chain(conflicts).collect()
}

fn same(law: &str, expected: &str, got: &str) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let differs = expected.lines().zip(got.lines()).find(|(one, other)| one != other);
    Err(format!("{law}\n  expected {expected:?}\n  got      {got:?}\n  first line that differs: {differs:?}"))
}
