//! import_merge.json: a store and files in, a store and counts out. A note whose id still
//! stands in a file is not pruned here, whether or not it says anything; where pi prunes it,
//! the case has a value of ours.

use std::cell::Cell;

use harness_layers::document::Document;
use harness_layers::import::{Imported, Item, Layer, import};
use harness_layers::note::Scope;
use serde_json::{Map, Value, json};

use crate::harness::{self, Case, Verdict, bytes, text};

#[test]
fn import_merge() {
    harness::run_with("import_merge.json", imported, spared, |_, _| Verdict::Agrees);
}

/// The lines with ids that pi prunes although they stand in a file.
fn spared(case: &Case) -> Option<Vec<usize>> {
    let texts: Vec<String> = case.input["layers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|layer| layer["text"].as_str().map(str::to_owned))
        .collect();
    let kept =
        |id: &str| case.expect["items"].as_array().into_iter().flatten().any(|item| item["id"] == json!(id));
    let store = case.input["store"].as_array().into_iter().flatten();
    let gone: Vec<String> = store.map(|item| format!("**[{}]**", text(&item["id"]))).collect();
    let lines = texts.iter().flat_map(|text| text.lines().enumerate());
    let spared = lines.filter(|(_, line)| {
        gone.iter().any(|id| line.contains(id.as_str()) && !kept(id.trim_matches(['*', '[', ']'])))
    });
    let spared: Vec<usize> = spared.map(|(number, _)| number + 1).collect();
    (case.input["prune"] == json!(true) && !spared.is_empty()).then_some(spared)
}

fn imported(case: &Case) -> Value {
    let array = |key: &str| case.input[key].as_array().cloned().unwrap_or_default();
    let store: Vec<Item> = array("store").iter().map(item).collect();
    // Bytes that are no text are replaced by pi; `layers import` refuses the file.
    let documents: Vec<Option<Document>> = array("layers")
        .iter()
        .map(|layer| bytes(layer).map(|bytes| Document::parse(String::from_utf8_lossy(&bytes).into_owned())))
        .collect();
    let layers = array("layers");
    let projects: Vec<Option<String>> = layers.iter().map(default_project).collect();
    let layers: Vec<Layer<'_>> = documents
        .iter()
        .zip(&projects)
        .map(|(document, project)| Layer { document: document.as_ref(), project: project.as_deref() })
        .collect();
    let minted = Cell::new(0);
    let mint = || {
        minted.set(minted.get() + 1);
        format!("<gen>{}", minted.get())
    };
    let done = import(&store, &layers, case.input["prune"] == json!(true), mint);
    json!({
        "result": {
            "imported": done.imported,
            "created": done.created,
            "updated": done.updated,
            "pruned": done.pruned,
            "missingFile": done.is_missing,
        },
        "persisted": is_persisted(&done),
        "items": done.items.iter().map(value).collect::<Vec<_>>(),
    })
}

const fn is_persisted(done: &Imported) -> bool {
    done.created + done.updated + done.pruned > 0
}

fn default_project(layer: &Value) -> Option<String> {
    let scope = &layer["defaultScope"];
    (scope["scope"] == json!("project")).then(|| scope["project"].as_str().unwrap_or("").to_owned())
}

fn item(value: &Value) -> Item {
    let field = |key: &str| value[key].as_str().unwrap_or("").to_owned();
    Item {
        id: text(&value["id"]),
        kind: text(&value["kind"]).parse().expect("a kind"),
        content: field("content"),
        evidence: field("evidence"),
        importance: value["importance"].as_f64().expect("a number"),
        active: value["active"] != json!(false),
        owner: field("ownerModel"),
        scope: value["scope"].as_str().map(|scope| scope.parse::<Scope>().expect("a scope")),
        project: value["project"].as_str().map(str::to_owned),
    }
}

fn value(item: &Item) -> Value {
    let mut out = Map::new();
    let id = if item.id.starts_with("<gen>") { "<gen>" } else { &item.id };
    out.insert("id".into(), json!(id));
    out.insert("kind".into(), json!(item.kind.as_str()));
    out.insert("content".into(), json!(item.content));
    out.insert("evidence".into(), json!(item.evidence));
    out.insert("importance".into(), json!(item.importance));
    out.insert("active".into(), json!(item.active));
    out.insert("ownerModel".into(), json!(item.owner));
    if let Some(scope) = item.scope {
        out.insert("scope".into(), json!(scope.as_str()));
    }
    if let Some(project) = &item.project {
        out.insert("project".into(), json!(project));
    }
    Value::Object(out)
}
