//! parse.json: what pi-continual-harness reads in a text, we read.

use harness_layers::document::{Document, Field};
use serde_json::{Map, Value, json};

/// The notes of a text in the shape of the vectors.
pub(crate) fn items(input: &Value) -> Value {
    let document = Document::parse(input["text"].as_str().expect("a text"));
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
