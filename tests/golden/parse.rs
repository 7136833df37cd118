//! parse.json: what pi-continual-harness reads in a text, we read; where its reading
//! leaves out text that stands in the file, ours keeps it.
//!
//! The vectors mark most such cases with a tag. Some untagged ones leave text out, too
//! (indented lines under a bullet, list items of other kinds, fences): `leftovers` finds
//! them by the rules of the format alone. They are asserted with a value of ours like
//! tagged ones; on another folder, where we have none, every note of theirs must be among
//! ours, with more text at most, unless it stands in code, HTML or a quote.

use harness_layers::document::{Document, Field};
use harness_layers::text::{is_blank, trim_blanks, trim_blanks_end};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Map, Value, json};

use crate::harness::{self, Case, Verdict, text};

#[test]
fn parse() {
    harness::run_with(
        "parse.json",
        |case| items(&case.input),
        |case| {
            let left_out = leftovers(&text(&case.input["text"]));
            (!left_out.is_empty()).then(|| format!("leaves out the text of lines {left_out:?}"))
        },
        agrees,
    );
}

/// The notes of a text in the shape of the vectors.
fn items(input: &Value) -> Value {
    let document = Document::parse(text(&input["text"]));
    let items = document.notes().map(|note| {
        let mut item = Map::new();
        if let Some(id) = note.entry_text(&Field::Id) {
            item.insert("id".into(), json!(id));
        }
        item.insert("kind".into(), json!(note.kind().as_str()));
        item.insert("importance".into(), json!(note.written_importance().unwrap_or(0.5)));
        item.insert("content".into(), json!(note.content()));
        item.insert("evidence".into(), json!(note.evidence()));
        if let Some(model) = note.entry_text(&Field::Model) {
            item.insert("ownerModel".into(), json!(model));
        }
        if let Some(scope) = note.scope() {
            item.insert("scope".into(), json!(scope.as_str()));
        }
        if let Some(project) = note.project() {
            item.insert("project".into(), json!(project));
        }
        Value::Object(item)
    });
    json!({ "items": items.collect::<Vec<_>>() })
}

/// The lines below a section heading that pi's rules pass over though they hold text
/// (indented lines that are no field, and items without content), each with its
/// number. Prose right below a heading or in column 0 is nobody's and does not count,
/// fences and list items do: they change what the lines around them are.
fn leftovers(text: &str) -> Vec<usize> {
    let mut left = Vec::new();
    let mut is_open = false;
    for (number, line) in text.split('\n').enumerate() {
        let line = trim_blanks_end(line);
        let bare = trim_blanks(line);
        let is_fence = bare.starts_with("```") || bare.starts_with("~~~");
        if line.starts_with('#') {
            is_open = false;
        } else if let Some(rest) = line.strip_prefix('-').filter(|rest| rest.starts_with(is_blank)) {
            is_open = true;
            // An id with nothing behind it.
            let rest = trim_blanks(rest);
            let is_empty =
                rest.strip_prefix("**[").and_then(|rest| rest.split_once("]**")).is_some_and(|(_, rest)| {
                    let rest = trim_blanks(rest);
                    rest.is_empty() || rest.starts_with("(importance") && rest.ends_with(')')
                });
            if is_empty {
                left.push(number);
            }
        } else if is_fence || is_other_item(line) || is_open && line.starts_with(is_blank) && !is_field(bare)
        {
            left.push(number);
        }
    }
    left
}

fn is_other_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks: &[char] = if rest.len() < line.len() { &['.', ')'] } else { &['*', '+'] };
    rest.strip_prefix(marks).is_some_and(|rest| rest.starts_with(is_blank))
}

fn is_field(bare: &str) -> bool {
    let Some(rest) = bare.strip_prefix('-').filter(|rest| rest.starts_with(is_blank)) else { return false };
    let rest = trim_blanks(rest).to_ascii_lowercase();
    if let Some(scope) = rest.strip_prefix("scope:") {
        let word = trim_blanks(scope);
        return ["global", "project"].iter().any(|known| {
            word.strip_prefix(known).is_some_and(|rest| {
                !rest.as_bytes().first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            })
        });
    }
    ["evidence:", "model:"].iter().any(|name| rest.starts_with(name))
}

/// Whether our reading keeps all of theirs: each of their items, in order, with the same
/// id, kind and importance and at least their text.
fn agrees(case: &Case, got: &Value) -> Verdict {
    let source = text(&case.input["text"]);
    // A heading inside a fence gives no kind.
    let keys: &[&str] =
        if has_hidden_heading(&source) { &["id", "importance"] } else { &["id", "importance", "kind"] };
    let mut ours = got["items"].as_array().into_iter().flatten().peekable();
    for theirs in case.expect["items"].as_array().into_iter().flatten() {
        let found = ours.clone().position(|ours| {
            let starts = text(&ours["content"]).starts_with(&text(&theirs["content"]));
            starts
                && keys.iter().all(|key| {
                    ours.get(*key).is_some() == theirs.get(*key).is_some()
                        && harness::same(&ours[*key], &theirs[*key])
                })
        });
        match found {
            Some(at) => {
                ours.by_ref().nth(at);
            }
            None if is_hidden(&source, &text(&theirs["content"])) => {}
            None => return Verdict::Differs(format!("lacks {theirs}")),
        }
    }
    Verdict::Agrees
}

/// Whether every line that ends with this content stands in code, HTML or a quote.
fn is_hidden(source: &str, content: &str) -> bool {
    let mut lines =
        hidden_lines(source).filter(|(_, line)| trim_blanks_end(line).ends_with(content)).peekable();
    lines.peek().is_some() && lines.all(|(is_hidden, _)| is_hidden)
}

fn has_hidden_heading(source: &str) -> bool {
    hidden_lines(source).any(|(is_hidden, line)| is_hidden && line.starts_with("## "))
}

/// The lines, and whether Markdown reads them as code, HTML or a quote.
fn hidden_lines(source: &str) -> impl Iterator<Item = (bool, &str)> {
    let opaque: Vec<_> = Parser::new_ext(source, Options::empty())
        .into_offset_iter()
        .filter(|(event, _)| {
            matches!(event, Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::BlockQuote(_)))
        })
        .map(|(_, range)| range)
        .collect();
    let mut at = 0;
    source.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (opaque.iter().any(|range| range.contains(&start)), line)
    })
}
