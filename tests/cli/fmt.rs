//! `fmt`: on request, with a way to look first.

use super::scene::{HOME, Scene};

const UNTIDY: &str = "---\nimportance: 0.5\nid: n1\n---\nA fact.\n\n\n\n---\nid: n2\n---\n\nAnother.\n";

#[test]
fn check_and_diff_write_nothing() {
    let scene = Scene::new().home(UNTIDY);
    scene.run(&["fmt", "--check"]).ends(1).says("would format");
    insta::assert_snapshot!(scene.run(&["fmt", "--diff"]).ok(), @r"
    --- @/home/.harness/harness-state/app.md
    +++ @/home/.harness/harness-state/app.md
    @@ -1,10 +1,9 @@
     ---
    -importance: 0.5
     id: n1
    +importance: 0.50
     ---
    +
     A fact.
    -
    -
     
     ---
     id: n2
    ");
    assert_eq!(scene.read(HOME), UNTIDY);
}

#[test]
fn formatting_twice_changes_nothing_more() {
    let scene = Scene::new().home(UNTIDY);
    scene.run(&["fmt"]).ends(0).says("formatted");
    let text = scene.read(HOME);
    assert!(text.contains("importance: 0.50"), "{text}");
    scene.run(&["fmt"]).ends(0).says("nothing to format");
    scene.run(&["fmt", "--check"]).ok();
    assert_eq!(scene.read(HOME), text);
}

#[test]
fn conversions_go_both_ways() {
    let scene = Scene::new().home("---\nid: n1\n---\n\nA fact.\n");
    scene.run(&["fmt", "--to", "bullets"]).ok();
    assert!(scene.read(HOME).contains("- **[n1]** (importance 0.50) A fact.\n"));
    scene.run(&["fmt", "--to", "front-matter", "@/home/.harness/harness-state/app.md"]).ok();
    scene.run(&["show", "n1"]).ends(0).prints("A fact.");
}

/// What a note has from the layer's header it keeps: above all, for whom it is.
#[test]
fn a_conversion_changes_no_audience_and_no_importance() {
    let header = "---\nlayer: project\nmodel: a/m\nimportance: 0.7\n---\n\n";
    let blocks =
        "---\nid: n1\n---\n\nFrom the header.\n\n---\nid: n2\nmodel:\nimportance: 0.2\n---\n\nNobody's.\n";
    let bullets = "## Memory facts\n\n- **[n1]** From the header.\n- **[n2]** (importance 0.20) Nobody's.\n  - model:\n";
    let told = |scene: &Scene| {
        let notes: serde_json::Value = serde_json::from_str(&scene.run(&["list", "--json"]).ok()).unwrap();
        let tell = |note: &serde_json::Value| {
            let importance = note["importance"].as_f64().unwrap();
            format!("{} {importance} {}", note["id"], note["model"].as_str().unwrap_or_default())
        };
        notes.as_array().unwrap().iter().map(tell).collect::<Vec<_>>()
    };
    for text in [blocks, bullets] {
        for eol in ["\n", "\r\n"] {
            let scene = Scene::new().home(&format!("{header}{text}").replace('\n', eol));
            let before = told(&scene);
            for form in ["bullets", "front-matter", "bullets"] {
                scene.run(&["fmt", "--to", form]).ok();
                assert_eq!(told(&scene), before, "{form}:\n{}", scene.read(HOME));
            }
        }
    }
}

/// A fence that a list item closes would take the rest of the layer along as a body.
#[test]
fn a_bullet_that_leaves_something_open_stays_one() {
    let scene = Scene::new().home(
        "## Memory facts\n\n- **[n1]** (importance 0.50) ~~~ is no fence here\n- **[n2]** (importance 0.50) Another.\n",
    );
    scene.run(&["fmt", "--to", "front-matter"]).ends(0).says("n1: it opens a code fence");
    let text = scene.read(HOME);
    assert!(text.contains("- **[n1]** (importance 0.50) ~~~ is no fence here\n"), "{text}");
    assert!(text.contains("\nid: n2\n"), "{text}");
}
