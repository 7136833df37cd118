//! docs/compatibility.md names every tagged case that is asserted with a value of ours.

use crate::harness::fixtures;

const FILES: [&str; 6] =
    ["slug.json", "config.json", "inject.json", "render_file.json", "parse.json", "import_merge.json"];

#[test]
fn every_tagged_case_is_explained() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/compatibility.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let ours = std::fs::read_to_string(fixtures().join("ours.json")).expect("our values");
    let ours: serde_json::Value = serde_json::from_str(&ours).expect("json");
    let missing: Vec<_> = FILES
        .iter()
        .flat_map(|file| ours[file].as_object().into_iter().flatten())
        .map(|(name, _)| name)
        // Untagged, and explained as a whole.
        .filter(|name| !name.starts_with("generated ") && !name.contains("without folding"))
        .filter(|name| !page.contains(&format!("*{name}*")))
        .collect();
    assert!(missing.is_empty(), "docs/compatibility.md does not name {missing:?}");
}
