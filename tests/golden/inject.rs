use harness_layers::config::{Injection, Orphans, parse};
use harness_layers::note::Kind;
use harness_layers::render::{Format, Shown, render};
use harness_layers::select::{Candidate, Fields, estimate, select, standing};
use serde_json::{Value, json};

use crate::harness::{run, text};

#[test]
fn blocks() {
    run("inject.json", |case| match text(&case.input["op"]).as_str() {
        "inject" => inject(&case.input),
        "estimate" => {
            let per_token = case.input["charsPerToken"].as_f64().expect("a number");
            json!({ "tokens": estimate(&text(&case.input["text"]), per_token) })
        }
        op => panic!("unknown op {op}"),
    });
}

fn inject(input: &Value) -> Value {
    let injection = injection(input.get("injection"));
    let items: Vec<Item> = input["items"].as_array().expect("items").iter().map(Item::new).collect();
    let candidates: Vec<_> = items.iter().map(|item| item.candidate(input["ownerKey"].as_str())).collect();
    let selection = select(&candidates, &injection, 0.5);
    let section = selection.section(&candidates, None);
    json!({
        "block": render(std::slice::from_ref(&section), Format::Markdown),
        "omitted": selection.omitted,
        "selected": section.notes.iter().map(|note| note.id).collect::<Vec<_>>(),
        "normalized": injection.to_json(),
    })
}

fn injection(raw: Option<&Value>) -> Injection {
    let file = raw.map(|raw| json!({ "injection": raw }).to_string());
    parse(file.as_deref().map(str::as_bytes)).0.injection
}

struct Item {
    id: String,
    kind: Kind,
    content: String,
    importance: f64,
    active: bool,
    model: String,
}

impl Item {
    fn new(item: &Value) -> Self {
        Self {
            id: text(&item["id"]),
            kind: text(&item["kind"]).parse().expect("a kind"),
            content: text(&item["content"]),
            importance: item["importance"].as_f64().expect("a number"),
            active: item["active"].as_bool().expect("a truth"),
            model: text(&item["ownerModel"]),
        }
    }

    fn candidate(&self, asked: Option<&str>) -> Candidate<'_> {
        let fields = Fields { model: Some(&self.model), active: self.active, approval: None };
        Candidate {
            shown: Shown {
                id: &self.id,
                kind: self.kind,
                title: None,
                content: &self.content,
                importance: self.importance,
            },
            // pi adopts orphans before it selects; the selection itself leaves them out.
            standing: standing(&fields, asked, Orphans::None),
            is_of_repo: false,
        }
    }
}
