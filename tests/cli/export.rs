//! `export`: pi's files, never over somebody else's text.

use super::scene::Scene;

const NOTES: &str = "---\nid: h_1\nimportance: 0.8\nmodel: a/m\n---\n\nA fact.\n\n---\nid: h_2\nactive: false\n---\n\nOff.\n\n---\nid: h_3\napproval: pending\n---\n\nWaits.\n";

fn slug(scene: &Scene) -> String {
    harness_layers::slug::pi_slug(scene.path("app").to_str())
}

#[test]
fn a_single_file_on_stdout() {
    let scene = Scene::new().home(NOTES);
    let ran = scene.run(&["export"]).ends(0).says("1 pending or rejected note(s) left out");
    let slug = slug(&scene);
    assert_eq!(
        ran.out,
        format!(
            "# Continual Harness State\n\n## Memory facts\n\n- **[h_1]** (importance 0.80) A fact.\n  - evidence: \n  - model: a/m\n  - scope: project ({slug})\n"
        )
    );
    let json: serde_json::Value = serde_json::from_str(&scene.run(&["export", "--json"]).ok()).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 1);
}

#[test]
fn other_text_is_replaced_only_by_force() {
    let scene = Scene::new().home(NOTES).file("app/out.md", "mine\n");
    scene.run(&["export", "out.md"]).ends(3).says("--force replaces it");
    assert_eq!(scene.read("app/out.md"), "mine\n");
    scene.run(&["export", "out.md", "--force"]).ends(0).says("replaced out.md");
    scene.run(&["export", "out.md"]).ends(0).says("unchanged out.md");
}

#[test]
fn layers_in_use_are_not_exported_over() {
    let scene = Scene::new().home(NOTES).global("");
    scene.run(&["export", "@/home/.harness/harness-state.md", "--force"]).ends(3).says("is a layer in use");
    scene.run(&["export", "--layered", "@/home/.harness", "--force"]).ends(3);
    assert_eq!(scene.read("home/.harness/harness-state.md"), "");
}

#[test]
fn a_file_for_each_layer() {
    let scene = Scene::new().home(NOTES);
    scene.run(&["export", "--layered", "out"]).ok();
    assert_eq!(scene.read("app/out/harness-state.md"), "# Continual Harness State\n\n_(no active items)_\n");
    assert!(scene.read(&format!("app/out/harness-state/{}.md", slug(&scene))).contains("h_1"));
}
