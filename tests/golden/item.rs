//! The notes of the vectors as ours, and back.

use harness_layers::import::Item;
use serde_json::{Value, json};

use crate::harness::text;

/// None for a kind that our types cannot hold.
pub(crate) fn read(item: &Value) -> Option<Item> {
    Some(Item {
        id: text(&item["id"]),
        kind: text(&item["kind"]).parse().ok()?,
        content: text(&item["content"]),
        evidence: text(&item["evidence"]),
        importance: item["importance"].as_f64().expect("a number"),
        active: item["active"].as_bool().expect("a truth"),
        owner: text(&item["ownerModel"]),
        scope: item["scope"].as_str().map(|scope| scope.parse().expect("a scope")),
        project: item["project"].as_str().map(str::to_owned),
    })
}

/// An item in the shape of the vectors, which leave out what is not set.
pub(crate) fn value(item: &Item) -> Value {
    let mut value = json!({
        "id": item.id,
        "kind": item.kind.as_str(),
        "content": item.content,
        "evidence": item.evidence,
        "importance": item.importance,
        "active": item.active,
        "ownerModel": item.owner,
    });
    if let Some(scope) = item.scope {
        value["scope"] = json!(scope.as_str());
    }
    if let Some(project) = &item.project {
        value["project"] = json!(project);
    }
    value
}
