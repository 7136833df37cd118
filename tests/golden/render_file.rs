use std::collections::BTreeMap;

use harness_layers::export::{Exported, layered, single};
use harness_layers::note::{Kind, Scope};
use serde_json::{Value, json};

use crate::harness::{Case, run, text};

/// Untagged cases: pi's files. Tagged ones: ours, with the files that an export would
/// replace, or the refusal.
#[test]
fn files() {
    run("render_file.json", |case| {
        let items: Vec<Item> =
            case.input["items"].as_array().expect("items").iter().filter_map(Item::new).collect();
        let notes: Vec<_> = items.iter().map(Item::exported).collect();
        match text(&case.input["mode"]).as_str() {
            "single" => match single(&notes) {
                Ok(text) => json!({ "text": text }),
                Err(error) => json!({ "error": error.to_string() }),
            },
            "layers" => layers(case, &notes),
            mode => panic!("unknown mode {mode}"),
        }
    });
}

fn layers(case: &Case, notes: &[Exported<'_>]) -> Value {
    let existing: BTreeMap<String, String> = case.input["existingFiles"]
        .as_object()
        .expect("files")
        .iter()
        .map(|(name, content)| (name.clone(), text(content)))
        .collect();
    let files = match layered(notes, case.input["currentSlug"].as_str(), &existing) {
        Ok(files) => files,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let written: Vec<_> = files.iter().map(|file| file.name.clone()).collect();
    let replaces: Vec<_> = files.iter().filter(|file| file.replaces).map(|file| file.name.clone()).collect();
    let mut after = existing;
    after.extend(files.into_iter().map(|file| (file.name, file.text)));
    if case.tags.is_empty() {
        return json!({ "written": written, "files": after });
    }
    json!({ "written": written, "files": after, "replaces": replaces })
}

struct Item {
    id: String,
    kind: Kind,
    content: String,
    evidence: String,
    importance: f64,
    active: bool,
    model: String,
    scope: Option<Scope>,
    project: Option<String>,
}

impl Item {
    /// None for a kind that our types cannot hold.
    fn new(item: &Value) -> Option<Self> {
        Some(Self {
            id: text(&item["id"]),
            kind: text(&item["kind"]).parse().ok()?,
            content: text(&item["content"]),
            evidence: text(&item["evidence"]),
            importance: item["importance"].as_f64().expect("a number"),
            active: item["active"].as_bool().expect("a truth"),
            model: text(&item["ownerModel"]),
            scope: item["scope"].as_str().map(|scope| scope.parse().expect("a scope")),
            project: item["project"].as_str().map(str::to_owned),
        })
    }

    fn exported(&self) -> Exported<'_> {
        Exported {
            id: &self.id,
            kind: self.kind,
            content: &self.content,
            evidence: &self.evidence,
            importance: self.importance,
            active: self.active,
            model: Some(&self.model),
            scope: self.scope,
            project: self.project.as_deref(),
        }
    }
}
