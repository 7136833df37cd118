use std::collections::BTreeMap;

use harness_layers::export::{Exported, layered, single};
use harness_layers::import::Item;
use serde_json::{Value, json};

use crate::harness::{Case, run, text};
use crate::item;

/// Untagged cases: pi's files. Tagged ones: ours, with the files that an export would
/// replace, or the refusal.
#[test]
fn files() {
    run("render_file.json", |case| {
        let items: Vec<Item> =
            case.input["items"].as_array().expect("items").iter().filter_map(item::read).collect();
        let notes: Vec<_> = items.iter().map(exported).collect();
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

fn exported(item: &Item) -> Exported<'_> {
    Exported {
        id: &item.id,
        kind: item.kind,
        content: &item.content,
        evidence: &item.evidence,
        importance: item.importance,
        active: item.active,
        model: Some(&item.owner),
        scope: item.scope,
        project: item.project.as_deref(),
    }
}
