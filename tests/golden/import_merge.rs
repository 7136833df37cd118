//! import_merge.json: a store and files in; a store, counts and what became of each note
//! out.
//!
//! With `prune`, pi takes out notes whose id still stands in a file, and notes of projects
//! that no file is about. Ours stay. The vectors mark most such cases with a tag; `spared`
//! finds the others by these two rules alone. They are asserted with a value of ours like
//! tagged ones; on another folder, where we have none, all else must be as theirs.

use harness_layers::document::Document;
use harness_layers::import::{Fate, Imported, Item, Layer, import};
use serde_json::{Value, json};

use crate::harness::{self, Case, Verdict, bytes, text};
use crate::item;

#[test]
fn imports() {
    let left_out = |case: &Case| {
        let spared = spared(case);
        (!spared.is_empty()).then(|| format!("prunes {spared:?}"))
    };
    harness::run_with("import_merge.json", outcome, left_out, agrees);
}

/// Untagged cases: what pi makes of it. Tagged ones: also what is told, or the refusal.
fn outcome(case: &Case) -> Value {
    let store: Vec<Item> = array(&case.input["store"]).iter().filter_map(item::read).collect();
    let mut documents = Vec::new();
    for layer in array(&case.input["layers"]) {
        // As `files::read_text` does, through which `layers import` reads.
        let Ok(text) = bytes(layer).map(String::from_utf8).transpose() else {
            return json!({ "error": "no UTF-8" });
        };
        documents.push(text.map(Document::parse));
    }
    let layers: Vec<Layer<'_>> = array(&case.input["layers"])
        .iter()
        .zip(&documents)
        .map(|(layer, document)| Layer { document: document.as_ref(), project: project(layer) })
        .collect();
    let is_pruning = case.input["prune"] == json!(true);
    let done = match import(&store, &layers, is_pruning, || "<gen>".to_owned()) {
        Ok(done) => done,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let items: Vec<_> = done.items().map(item::value).collect();
    let mut value = json!({
        "result": {
            "imported": done.imported,
            "created": done.created,
            "updated": done.updated,
            "pruned": done.pruned,
            "missingFile": done.is_missing,
        },
        "persisted": done.outcomes.iter().any(|outcome| outcome.fate != Fate::Unchanged),
        "items": items,
    });
    if !case.tags.is_empty() {
        value["told"] = told(&done);
    }
    value
}

/// What became of each note, as words.
fn told(done: &Imported<'_>) -> Value {
    let outcomes = done.outcomes.iter().map(|outcome| {
        let fate = match &outcome.fate {
            Fate::Unchanged => "unchanged".to_owned(),
            Fate::Created => "created".to_owned(),
            Fate::Pruned => "pruned".to_owned(),
            Fate::Updated(fields) => {
                format!("updated {}", fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
        };
        let kind = outcome.other_kind().map(|kind| format!(", a {kind} in the file")).unwrap_or_default();
        format!("{}: {fate}{kind}", outcome.item.id)
    });
    let passed_over =
        done.passed_over.iter().map(|(_, note)| format!("{}: passed over", note.id().unwrap_or_default()));
    outcomes.chain(passed_over).collect()
}

/// The slug of a layer; none if it is global.
fn project(layer: &Value) -> Option<&str> {
    let scope = &layer["defaultScope"];
    if scope["scope"] == json!("project") { scope["project"].as_str() } else { None }
}

/// The ids of stored notes that pi prunes although they stand in a file, or although no
/// file is about their project.
fn spared(case: &Case) -> Vec<String> {
    let layers: Vec<_> =
        array(&case.input["layers"]).iter().filter(|layer| layer["text"].is_string()).collect();
    let is_kept = |item: &Value| array(&case.expect["items"]).iter().any(|kept| kept["id"] == item["id"]);
    let stands = |mark: &str| layers.iter().any(|layer| text(&layer["text"]).contains(mark));
    let is_about = |slug: Option<&str>| {
        let mark = slug.map_or("scope: global".to_owned(), |slug| format!("scope: project ({slug})"));
        layers.iter().any(|layer| project(layer) == slug) || stands(&mark)
    };
    let pruned =
        array(&case.input["store"]).iter().filter(|item| item["active"] == json!(true) && !is_kept(item));
    let spared = pruned.filter(|item| {
        stands(&format!("**[{}]**", text(&item["id"]))) || !is_about(item["project"].as_str())
    });
    spared.map(|item| text(&item["id"])).collect()
}

/// Whether ours is theirs once the spared notes are taken out.
fn agrees(case: &Case, got: &Value) -> Verdict {
    let spared = spared(case);
    let mut theirs = got.clone();
    theirs["result"]["pruned"] = json!(got["result"]["pruned"].as_u64().unwrap_or(0) + spared.len() as u64);
    theirs["persisted"] = json!(true);
    theirs["items"] =
        array(&got["items"]).iter().filter(|item| !spared.contains(&text(&item["id"]))).cloned().collect();
    if harness::same(&theirs, &case.expect) {
        return Verdict::Agrees;
    }
    Verdict::Differs(format!("but for {spared:?} expected {}", case.expect))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
