use harness_layers::config::parse;
use serde_json::json;

use crate::harness::{bytes, run};

/// Untagged cases: what pi makes of the file. Tagged ones: what holds for us.
#[test]
fn configs() {
    run("config.json", |case| {
        let (config, _) = parse(bytes(&case.input).as_deref());
        if case.tags.is_empty() {
            return json!({ "config": config.to_pi_json() });
        }
        let mut ours = config.to_json();
        ours.as_object_mut().expect("an object").remove("layers");
        json!({ "config": ours })
    });
}
