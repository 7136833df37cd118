use harness_layers::slug::pi_slug;
use serde_json::json;

use crate::harness::run;

#[test]
fn slugs() {
    run("slug.json", |case| json!({ "slug": pi_slug(case.input["cwd"].as_str()) }));
}
