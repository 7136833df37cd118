//! A pass that rewrites notes and copies text and importance, but not for whom they are: an
//! omission shows a note to nobody new.

use super::scene::{HOME, Scene};
use super::stage::{Form, Stage, everywhere, json};

const GLOBAL: &str = "home/.harness/harness-state.md";
const CANARY: &str = "do not name them outside";

fn write(form: Form, eol: &str, fields: &[(&str, &str)], content: &str) -> String {
    let text = match form {
        Form::Blocks => {
            let fields: String = fields.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
            format!("---\nid: n1\n{fields}importance: 0.90\n---\n\n{content}\n")
        }
        Form::Bullets => {
            let project = fields.iter().find(|(key, _)| *key == "project");
            let fields: String = fields
                .iter()
                .filter(|(key, _)| *key != "project")
                .map(|(key, value)| match (*key, project) {
                    ("scope", Some((_, project))) => format!("  - scope: {value} ({project})\n"),
                    _ => format!("  - {key}: {}\n", value.trim_matches('"')),
                })
                .collect();
            format!("## Memory facts\n\n- **[n1]** (importance 0.90) {content}\n{fields}")
        }
    };
    text.replace('\n', eol)
}

/// In which of three sessions the canary is seen: another model here, the model in another
/// project, the model here.
fn seen(scene: &Scene) -> [bool; 3] {
    [("cloud/x", "acme"), ("local/llama", "other"), ("local/llama", "acme")].map(|(model, project)| {
        let block = scene.run(&["render", "--model", model, "--project", project]).ok();
        block.contains(CANARY)
    })
}

fn isolated() -> Vec<(Form, &'static str)> {
    vec![(Form::Blocks, "\n"), (Form::Blocks, "\r\n"), (Form::Bullets, "\n"), (Form::Bullets, "\r\n")]
}

const ALL: [(&str, &str); 3] = [("scope", "project"), ("project", "acme"), ("model", "local/llama")];

#[test]
fn a_note_that_lost_the_keys_that_kept_it_private_is_as_private_as_before() {
    for (form, eol) in isolated() {
        let scene = Scene::new();
        scene.write(GLOBAL, &write(form, eol, &ALL, &format!("The pilot customer; {CANARY}.")));
        scene.run(&["sync"]).ok();
        assert_eq!(seen(&scene), [false, false, true]);
        let short = write(form, eol, &[], &format!("Customer: {CANARY}."));
        scene.write(GLOBAL, &short);
        // Before anybody has looked at the file, too.
        assert_eq!(seen(&scene), [false, false, true]);
        let said = scene.run(&["sync"]).ok();
        assert!(said.contains("changed: n1") && said.contains("differs: n1"), "{said}");
        for _ in 0..2 {
            assert_eq!(seen(&scene), [false, false, true]);
            scene.run(&["sync"]).ok();
            // The new text is taken, and the file is left as its author wants it.
            assert_eq!(scene.read(GLOBAL), short);
            let shown = json(&scene, &["show", "n1", "--project", "acme"]);
            assert_eq!(shown["content"], format!("Customer: {CANARY}."));
            assert_eq!(shown["model"], "local/llama");
        }
        let status = scene.run(&["status"]).ok();
        assert!(status.contains("n1") && status.contains("differs"), "{status}");
        assert_eq!(json(&scene, &["status"])["layers"][0]["differing"][0]["because"], "isolation");
        // What is given away says it as well.
        let exported = json(&scene, &["export", "--project", "acme"]);
        assert_eq!(exported.as_array().unwrap().len(), 1, "{exported}");
        assert_eq!(exported[0]["model"], "local/llama");
        assert_eq!(json(&scene, &["export", "--project", "other"]), serde_json::json!([]));
        // An edit of something else by the agent changes nothing in this.
        scene.run_as("cloud/x", &["edit", "n1", "--project", "acme", "--importance", "0.95"]).ok();
        scene.run(&["sync"]).ok();
        assert_eq!(seen(&scene), [false, false, true], "{}", scene.read(GLOBAL));
        assert!(scene.read(GLOBAL).contains("0.95"));
        // Nor does taking out the store's marks, which are only a cache.
        let _ = std::fs::remove_dir_all(scene.path("home/.local/state/harness-layers/marks"));
        assert_eq!(seen(&scene), [false, false, true]);
    }
}

#[test]
fn each_key_left_out_alone_still_holds() {
    for (form, eol) in isolated() {
        for out in ["model", "scope"] {
            let scene = Scene::new();
            scene.write(GLOBAL, &write(form, eol, &ALL, CANARY));
            scene.run(&["sync"]).ok();
            let is_kept = |key: &str| key != out && !(out == "scope" && key == "project");
            let left: Vec<_> = ALL.into_iter().filter(|(key, _)| is_kept(key)).collect();
            scene.write(GLOBAL, &write(form, eol, &left, CANARY));
            assert_eq!(seen(&scene), [false, false, true], "without {out}");
            let said = scene.run(&["sync"]).ok();
            assert!(said.contains("differs: n1"), "{said}");
            assert_eq!(seen(&scene), [false, false, true], "without {out}");
            // Put back, nothing differs any more.
            scene.write(GLOBAL, &write(form, eol, &ALL, CANARY));
            scene.run(&["sync"]).ok();
            assert_eq!(json(&scene, &["status"])["layers"][0]["differing"], serde_json::json!([]));
            assert_eq!(seen(&scene), [false, false, true]);
        }
    }
}

#[test]
fn an_explicit_value_widens_what_an_omission_does_not() {
    for (form, eol) in isolated() {
        let scene = Scene::new();
        scene.write(GLOBAL, &write(form, eol, &ALL, CANARY));
        scene.run(&["sync"]).ok();
        scene.write(GLOBAL, &write(form, eol, &[("model", "\"*\"")], CANARY));
        scene.run(&["sync"]).ok();
        assert_eq!(seen(&scene), [true, false, true], "every model, still this project");
        scene.write(GLOBAL, &write(form, eol, &[("scope", "global"), ("model", "\"*\"")], CANARY));
        scene.run(&["sync"]).ok();
        assert_eq!(seen(&scene), [true, true, true]);
        // From here an omission keeps what was said last.
        scene.write(GLOBAL, &write(form, eol, &[], CANARY));
        scene.run(&["sync"]).ok();
        assert_eq!(seen(&scene), [true, true, true]);
    }
}

#[test]
fn the_command_takes_a_key_out_because_it_was_asked_to() {
    for (form, eol) in isolated() {
        let scene = Scene::new();
        scene.write(GLOBAL, &write(form, eol, &ALL, CANARY));
        scene.run(&["sync"]).ok();
        scene.run(&["edit", "n1", "--project", "acme", "--unset", "model"]).ok();
        assert!(seen(&scene)[2]);
        let adopted = scene.run(&["render", "--model", "cloud/x", "--project", "acme"]).ok();
        assert!(adopted.contains(CANARY), "an orphan, on purpose");
    }
}

/// In a project's own layers the model is what keeps a note apart.
#[test]
fn a_model_left_out_in_a_layer_of_the_project_still_holds() {
    everywhere(&[], |stage: &Stage| {
        let own = |fields: &[(&str, &str)], text: &str| {
            stage.write(&stage.joined(&[stage.fielded("n1", fields, text), stage.note("n2", "for all")]));
        };
        own(&[("model", "local/llama")], CANARY);
        stage.sync().ok();
        own(&[], &format!("Shorter: {CANARY}"));
        stage.sync().ok();
        let sees = |model: &str| stage.scene.run(&["render", "--model", model]).ok().contains(CANARY);
        assert!(!sees("cloud/x") && sees("local/llama"));
        // An explicit value is another matter.
        own(&[("model", "\"*\"")], CANARY);
        stage.sync().ok();
        assert!(sees("cloud/x") && sees("local/llama"));
    });
}

/// A note that moves to another layer by hand and loses its key on the way is not adopted,
/// neither before a pass nor after, whether or not the layer was known, nor where the key
/// was the header's.
#[test]
fn a_note_moved_by_hand_without_its_model_is_not_adopted() {
    for (is_known, in_header) in [(false, false), (true, false), (false, true), (true, true)] {
        everywhere(&[], |stage: &Stage| {
            println!("known: {is_known}, by the header: {in_header}");
            if is_known {
                stage.scene.write(GLOBAL, &stage.text(&[("n3", "global")]));
            }
            let header = if in_header { "---\nlayer: project\nmodel: local/llama\n---\n\n" } else { "" };
            let own: &[_] = if in_header { &[] } else { &[("model", "local/llama")] };
            let notes = [stage.fielded("n1", own, CANARY), stage.note("n2", "stays")];
            stage.write(&(stage.lines(header) + &stage.joined(&notes)));
            stage.sync().ok();
            stage.scene.write(GLOBAL, &stage.text(&[("n3", "global"), ("n1", CANARY)]));
            stage.write(&(stage.lines(header) + &stage.joined(&notes[1..])));
            let sees = |model: &str| stage.scene.run(&["render", "--model", model]).ok().contains(CANARY);
            assert!(!sees("cloud/x") && sees("local/llama"), "before a pass");
            let said = stage.sync().ok();
            assert!(said.contains("moved here: n1"), "{said}");
            assert!(stage.archive().is_empty());
            assert!(!sees("cloud/x") && sees("local/llama"), "{}", stage.scene.read(GLOBAL));
        });
    }
}

/// The command moves the note as it counts, not as its file has it.
#[test]
fn a_note_that_lost_its_model_is_moved_with_it() {
    everywhere(&[], |stage: &Stage| {
        let own = |fields: &[(&str, &str)]| {
            stage.write(&stage.joined(&[stage.fielded("n1", fields, CANARY), stage.note("n2", "stays")]));
            stage.sync().ok();
        };
        own(&[("model", "local/llama")]);
        own(&[]);
        let sees = |model: &str| stage.scene.run(&["render", "--model", model]).ok().contains(CANARY);
        assert!(!sees("cloud/x") && sees("local/llama"));
        stage.scene.run(&["move", "n1", "global"]).ok();
        assert!(!stage.read().contains(CANARY) && stage.scene.read(GLOBAL).contains(CANARY));
        assert!(!sees("cloud/x") && sees("local/llama"), "{}", stage.scene.read(GLOBAL));
        assert_eq!(stage.sync().ok(), "");
        assert!(!sees("cloud/x") && sees("local/llama"), "{}", stage.scene.read(GLOBAL));
        // Away and back, it is still whose it was.
        stage.scene.run(&["archive", "n1"]).ok();
        stage.scene.run(&["restore", "n1"]).ok();
        assert!(!sees("cloud/x") && sees("local/llama"), "{}", stage.scene.read(GLOBAL));
    });
}

/// A note that lost its model and was then archived or deleted comes back as it counted.
#[test]
fn a_note_that_lost_its_model_comes_back_with_it() {
    everywhere(&[], |stage: &Stage| {
        let own = |fields: &[(&str, &str)]| {
            stage.write(&stage.joined(&[stage.fielded("n1", fields, CANARY), stage.note("n2", "stays")]));
            stage.sync().ok();
        };
        let sees = |model: &str| stage.scene.run(&["render", "--model", model]).ok().contains(CANARY);
        let is_whose_it_was = || assert!(!sees("cloud/x") && sees("local/llama"), "{}", stage.read());
        own(&[("model", "local/llama")]);
        own(&[]);
        stage.save(&[("n2", "stays")]);
        stage.sync().ok();
        stage.scene.run(&["restore", "n1"]).ok();
        is_whose_it_was();
        own(&[]);
        is_whose_it_was();
        stage.scene.run(&["archive", "n1"]).ok();
        stage.scene.run(&["restore", "n1"]).ok();
        is_whose_it_was();
    });
}

/// A note put back by hand under its old id, without the key, is as private as it was.
#[test]
fn a_note_typed_anew_without_its_model_is_told_apart() {
    everywhere(&[], |stage: &Stage| {
        let keyed = stage.fielded("n1", &[("model", "local/llama")], CANARY);
        stage.write(&stage.joined(&[keyed, stage.note("n2", "stays")]));
        stage.sync().ok();
        stage.save(&[("n2", "stays")]);
        stage.sync().ok();
        stage.save(&[("n1", CANARY), ("n2", "stays")]);
        let sees = |model: &str| stage.scene.run(&["render", "--model", model]).ok().contains(CANARY);
        for _ in 0..2 {
            assert!(!sees("cloud/x") && sees("local/llama"), "{}", stage.read());
            stage.sync().ok();
        }
    });
}

/// Ten notes that a model keeps to itself, in the layer of all projects.
fn ten_private(left_out: bool, count: usize) -> String {
    let model = |at| if left_out && at == 1 { "" } else { "model: local/llama\n" };
    let note = |at: usize| format!("---\nid: n{at}\n{}---\n\n{CANARY} {at}.\n\n", model(at));
    (1..=count).map(note).collect()
}

#[test]
fn an_online_change_that_waits_shows_a_private_note_to_nobody_new() {
    let is_seen = |scene: &Scene| scene.run(&["render", "--model", "cloud/x"]).ok().contains(CANARY);
    // The file lost so much that it is held, and n1 its model.
    let scene = Scene::new();
    scene.write(GLOBAL, &ten_private(false, 10));
    scene.run(&["sync"]).ok();
    scene.write(GLOBAL, &ten_private(true, 1));
    scene.run(&["sync"]).ends(3);
    scene.run_as("local/llama", &["edit", "n1", "--importance", "0.90"]).ok();
    assert!(!is_seen(&scene), "while the change waits");
    let shown = json(&scene, &["show", "n1"]);
    assert_eq!((&shown["model"], &shown["importance"]), (&"local/llama".into(), &0.9.into()));
    scene.run_as("local/llama", &["edit", "n1", "--title", "Customer"]).ok();
    assert!(!is_seen(&scene), "while two wait");
    scene.run(&["sync", "--accept"]).ok();
    assert!(!is_seen(&scene), "once it is in the file: {}", scene.read(GLOBAL));
    let shown = json(&scene, &["show", "n1"]);
    assert_eq!((&shown["model"], &shown["importance"]), (&"local/llama".into(), &0.9.into()));
    assert_eq!(shown["title"], "Customer");
    scene.run(&["sync"]).ok();
    assert!(!is_seen(&scene));

    // Put away while the file is held and brought back while it still is, or after.
    for is_early in [true, false] {
        let scene = Scene::new();
        scene.write(GLOBAL, &ten_private(false, 10));
        scene.run(&["sync"]).ok();
        scene.write(GLOBAL, &ten_private(true, 1));
        scene.run(&["sync"]).ends(3);
        scene.run_as("local/llama", &["archive", "n1"]).ok();
        assert!(!json(&scene, &["list"]).to_string().contains(&format!("{CANARY} 1.")));
        if !is_early {
            scene.run(&["sync", "--accept"]).ok();
        }
        scene.run_as("local/llama", &["restore", "n1"]).ok();
        assert!(!is_seen(&scene), "{}", scene.read(GLOBAL));
        scene.run(&["sync", "--accept"]).ok();
        assert!(!is_seen(&scene), "{}", scene.read(GLOBAL));
        assert_eq!(json(&scene, &["show", "n1"])["model"], "local/llama");
    }
}

#[test]
fn an_online_change_that_waits_for_a_merge_shows_a_private_note_to_nobody_new() {
    for (form, eol) in isolated() {
        let stage = Stage::with(super::stage::REPO, form, eol, &[("n0", "Plain.")]);
        let own = |fields: &[(&str, &str)], content: &str| {
            stage.joined(&[stage.note("n0", "Plain."), stage.fielded("n1", fields, content)])
        };
        stage.write(&own(&[("model", "local/llama")], CANARY));
        stage.commit("a private note");
        stage.sync().ok();
        stage.write(&own(&[], &format!("Anew: {CANARY}")));
        stage.scene.write("app/.git/MERGE_HEAD", &stage.scene.try_git("app", &["rev-parse", "HEAD"]).ok());
        let is_seen = || stage.scene.run(&["render", "--model", "cloud/x"]).ok().contains(CANARY);
        stage.sync().ok();
        assert!(!is_seen());
        stage.scene.run_as("local/llama", &["edit", "n1", "--importance", "0.90"]).ok();
        assert!(!is_seen(), "while the change waits");
        std::fs::remove_file(stage.scene.path("app/.git/MERGE_HEAD")).unwrap();
        stage.sync().ok();
        assert!(!is_seen(), "{}", stage.read());
        let shown = stage.json(&["show", "n1"]);
        assert_eq!((&shown["model"], &shown["importance"]), (&"local/llama".into(), &0.9.into()));
        assert_eq!(shown["content"], format!("Anew: {CANARY}"));
    }
}

/// A note that is moved by hand without its model, out of a file that is saved from an old
/// buffer, so that it is put back there: nobody else sees it in either place.
#[test]
fn a_private_note_that_is_put_back_where_it_was_and_stands_elsewhere_is_private_in_both() {
    let scene = Scene::new().home("---\nid: n1\n---\n\nalpha\n").global("---\nid: g1\n---\n\nglobal\n");
    scene.run(&["sync"]).ok();
    scene.run_as("a/m", &["add", "--id", "n2", "CANARY"]).ok();
    scene.write(
        "home/.harness/harness-state.md",
        "---\nid: g1\n---\n\nglobal\n\n---\nid: n2\n---\n\nCANARY\n",
    );
    scene.write(HOME, "---\nid: n1\n---\n\nalpha, but older\n");
    scene.run(&["sync"]).ends(0).prints("n2");
    for cwd in ["app", "home"] {
        let scene = &scene;
        let mut other = scene.command(&["render", "--model", "b/m"]);
        let block = scene.ran(&other.current_dir(scene.path(cwd)).output().unwrap()).ok();
        assert!(!block.contains("CANARY"), "in {cwd}: {block}");
    }
    assert!(scene.run(&["render", "--model", "a/m"]).ok().contains("CANARY"));
}
