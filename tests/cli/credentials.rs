//! A credential comes in by no door of the tool, and goes out by none: what a person typed
//! stays in that file and nowhere else. Every value is made up at run time.

use std::fs;
use std::path::{Path, PathBuf};

use super::scene::{Ran, Scene};
use super::stage::{REPO, Stage, everywhere};

/// A text with a credential: what it is called, the text, and what nobody may see of it.
struct Canary {
    kind: &'static str,
    text: String,
    parts: Vec<String>,
}

/// Letters and digits that look drawn, another row for each number.
fn drawn(number: usize, length: usize) -> String {
    let mut state = number * 7919 + 1;
    let mut next = |of: &[u8]| {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        char::from(of[(state >> 16) % of.len()])
    };
    (0..length).map(|at| next(if at % 3 == 2 { b"7193850264" } else { b"kQzWvTbnRjHfXmLpGsYdCw" })).collect()
}

/// The shapes of the case: a token, the id of a key, a key, a URL, a sentence.
fn canaries() -> Vec<Canary> {
    let [token, id, one, two, url, spoken] = [36, 16, 64, 64, 14, 12].map(|length| drawn(length, length));
    let id = id.to_uppercase();
    vec![
        Canary {
            kind: "GitHub token",
            text: ["The token is gh", "p_", &token, " for now."].concat(),
            parts: vec![token],
        },
        Canary { kind: "AWS access key id", text: ["Use AK", "IA", &id, "."].concat(), parts: vec![id] },
        Canary {
            kind: "private key",
            text: format!(
                "Key of the box:\n-----BEGIN {0}-----\n{one}\n{two}\n-----END {0}-----",
                "PRIVATE KEY"
            ),
            parts: vec![one, two],
        },
        Canary {
            kind: "password in a URL",
            text: format!("The database is postgres://app:{url}@db.internal/app"),
            parts: vec![url],
        },
        Canary {
            kind: "password",
            text: format!("Password for the test box: CANARY-{spoken}"),
            parts: vec![spoken],
        },
    ]
}

impl Canary {
    fn is_in(&self, text: &[u8]) -> bool {
        self.parts.iter().any(|part| (0..part.len() - 7).any(|at| has(text, &part.as_bytes()[at..at + 8])))
    }

    /// A run that shows nothing of it.
    #[track_caller]
    fn is_kept_from(&self, ran: Ran) -> Ran {
        assert!(!self.is_in(ran.out.as_bytes()), "{} on stdout:\n{}", self.kind, ran.out);
        assert!(!self.is_in(ran.err.as_bytes()), "{} on stderr:\n{}", self.kind, ran.err);
        ran
    }

    /// The files that hold it, below the whole world.
    fn places(&self, scene: &Scene) -> Vec<String> {
        let mut files = Vec::new();
        collect(&scene.path(""), &mut files);
        let holds = |path: &PathBuf| self.is_in(&fs::read(path).unwrap());
        let name = |path: PathBuf| path.strip_prefix(scene.path("")).unwrap().display().to_string();
        let mut places: Vec<String> = files.into_iter().filter(holds).map(name).collect();
        places.sort();
        places
    }
}

/// An agent runs `layers`; what it says is taken as it is, `@` too.
fn agent(scene: &Scene, args: &[&str]) -> Ran {
    scene.ran(&scene.command(&[]).args(args).env("LAYERS_MODEL", "a/m").output().unwrap())
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { collect(&entry, files) } else { files.push(entry) }
    }
}

#[test]
fn an_agent_cannot_add_one() {
    everywhere(&[("n1", "Use port 8080.")], |stage| {
        for canary in canaries() {
            let before = stage.read();
            let doors: [&[&str]; 8] = [
                &["add", "--layer", stage.layer(), &canary.text],
                &["add", "--layer", stage.layer(), "Harmless.", "--evidence", &canary.text],
                &["add", "--layer", stage.layer(), "Harmless.", "--title", &canary.text, "--json"],
                &["add", "--layer", stage.layer(), "Harmless.", "--tag", &canary.text],
                &["edit", "n1", "--content", &canary.text, "-v"],
                &["edit", "n1", "--set", &format!("x-hint={}", canary.text)],
                &["edit", "n1", "--set", &format!("evidence={}", canary.text)],
                &["edit", "n1", "--title", &canary.text],
            ];
            for door in doors {
                let ran = canary.is_kept_from(agent(&stage.scene, door));
                assert!(ran.code == 2 || ran.code == 3, "{door:?} {ran:?}");
                // What a field cannot hold at all is refused for that.
                let is_unwritable = ran.err.contains("cannot say") || canary.kind == "private key";
                assert!(ran.err.contains(canary.kind) || is_unwritable, "{door:?} {ran:?}");
            }
            let input = stage.scene.run_with(&["add", "--layer", stage.layer(), "-"], &canary.text);
            canary.is_kept_from(input.ends(3).says(canary.kind));
            assert_eq!(stage.read(), before);
            assert_eq!(canary.places(&stage.scene), [""; 0]);
        }
        stage.is_in_step(&[("n1", "Use port 8080.")]);
    });
}

#[test]
fn allowed_it_is_written_into_a_private_layer_alone() {
    for canary in canaries() {
        let scene = Scene::repo();
        let add = |layer: &str| {
            agent(&scene, &["add", "--allow-secret", "--layer", layer, "--id", "n1", &canary.text])
        };
        canary.is_kept_from(add("repo").ends(3).says("a repository's layer is for everybody"));
        assert_eq!(canary.places(&scene), [""; 0]);
        canary.is_kept_from(add("home").ends(0));
        assert_eq!(canary.places(&scene), ["home/.harness/harness-state/app.md"]);
        canary.is_kept_from(scene.run(&["move", "n1", "repo"]).ends(3).says(canary.kind));
        canary.is_kept_from(scene.run(&["keep", "n1"]).ends(0));
        canary.is_kept_from(scene.run(&["move", "n1", "global"]).ends(0));
        assert_eq!(canary.places(&scene), ["home/.harness/harness-state.md"]);
        scene.end();
    }
}

#[test]
fn one_that_is_imported_is_refused_before_anything_is_written() {
    for canary in canaries() {
        let text = canary.text.replace('\n', "\n  ");
        let file = format!("## Memory facts\n\n- **[n1]** Fine.\n- **[n2]** {text}\n");
        let scene = Scene::repo().file("app/notes.md", &file);
        canary.is_kept_from(scene.run(&["import", "notes.md"]).ends(3).says(canary.kind));
        canary.is_kept_from(scene.run(&["import", "notes.md", "--dry-run"]));
        assert_eq!(canary.places(&scene), ["app/notes.md"]);
        canary.is_kept_from(scene.run(&["import", "notes.md", "--allow-secret"]).ends(0));
        canary.is_kept_from(scene.run(&["import", "notes.md", "--layer", "repo", "--allow-secret"]).ends(3));
        scene.end();
    }
}

/// Everything that prints.
const READERS: [&[&str]; 17] = [
    &["render", "--model", "a/m"],
    &["render", "--model", "a/m", "--format", "xml"],
    &["render", "--model", "a/m", "--format", "json"],
    &["render", "--model", "a/m", "--format", "plain"],
    &["render", "--model", "a/m", "--explain"],
    &["render", "--model", "a/m", "--all-projects", "-v"],
    &["check"],
    &["check", "--json"],
    &["list", "--all"],
    &["list", "--all", "--json"],
    &["show", "n2"],
    &["show", "n2", "--json"],
    &["show", "n2", "--raw"],
    &["history", "n2"],
    &["history", "--json"],
    &["status", "-v"],
    &["conflicts", "--json", "--all"],
];

#[test]
fn one_that_a_person_types_stays_in_that_file_alone() {
    everywhere(&[("n1", "Use port 8080.")], |stage| {
        for canary in canaries() {
            let file = stage.text(&[("n1", "Use port 8080."), ("n2", &canary.text)]);
            stage.write(&file);
            canary.is_kept_from(stage.scene.run(&["sync", "--dry-run"]));
            canary.is_kept_from(stage.sync().ends(0));
            for reader in READERS {
                canary.is_kept_from(stage.scene.run(reader));
            }
            let block = stage.scene.run(&["render", "--model", "a/m"]).ends(0);
            let line = 1 + file[..file.find("n2").unwrap()].matches('\n').count();
            assert!(block.out.contains(&format!("[masked: {}]", canary.kind)), "{block:?}");
            assert!(block.err.contains(&format!("n2 holds a credential ({})", canary.kind)), "{block:?}");
            assert_eq!(block.err.matches("warning").count(), 1, "{block:?}");
            let name = stage.path.trim_start_matches("app/");
            assert!(block.err.contains(name), "{block:?}");
            let check = stage.json(&["check"]);
            let found = check.as_array().unwrap().iter().find(|one| one["code"] == "credential").unwrap();
            assert_eq!(found["severity"], if stage.is_repo() { "error" } else { "warning" });
            assert!(found["message"].as_str().unwrap().contains(canary.kind));
            assert!(found["line"].as_u64().unwrap() >= line as u64, "{found} from line {line}");
            assert_eq!(found["help"].as_str().unwrap().contains("history"), stage.is_repo());
            assert_eq!(stage.read(), file, "it is the person's");
            assert_eq!(canary.places(&stage.scene), [stage.path]);
            assert_eq!(stage.scene.run(&["sync", "--check"]).ends(0).out, "", "nothing is left to do");

            // Others go on around it.
            canary.is_kept_from(stage.agent(&["edit", "n1", "--content", "Use port 9090."]).ends(0));
            canary.is_kept_from(stage.agent(&["keep", "n2"]).ends(0));
            canary.is_kept_from(stage.scene.run(&["fmt", "--diff"]));
            assert!(canary.is_in(stage.read().as_bytes()));
            let last = stage.json(&["history", "n2"]);
            let last = last.as_array().unwrap().last().unwrap()["change"].to_string();
            canary.is_kept_from(stage.scene.run(&["rollback", &last]).ends(0));
            assert_eq!(stage.read(), file.replace("8080", "9090"), "undone to the byte");

            // What is put away is put away without it.
            canary.is_kept_from(stage.agent(&["archive", "n2"]).ends(0));
            assert_eq!(canary.places(&stage.scene), [""; 0]);
            canary.is_kept_from(stage.scene.run(&["archive", "--json"]).prints("[masked: "));
            canary.is_kept_from(stage.scene.run(&["restore", "n2"]).ends(0).says("no credential is kept"));
            assert!(stage.read().contains("[masked: "), "{}", stage.read());
            stage.agent(&["archive", "n2"]).ok();
            stage.save(&[("n1", "Use port 8080.")]);
            stage.sync().ok();
        }
    });
}

#[test]
fn versions_and_diffs_have_its_name() {
    let canary = canaries().remove(0);
    let stage = Stage::with(REPO, super::stage::Form::Blocks, "\n", &[("n1", "Use port 8080.")]);
    stage.save(&[("n1", "Use port 8080."), ("n2", &canary.text)]);
    stage.sync().ok();
    stage.save(&[("n1", "Use port 8081."), ("n2", &canary.text)]);
    stage.sync().ok();
    assert_eq!(stage.history("n2").len(), 1, "what did not change is not told");
    let versions = stage.json(&["history", "--versions"]);
    let mut numbers: Vec<i64> =
        versions.as_array().unwrap().iter().map(|version| version["version"].as_i64().unwrap()).collect();
    numbers.sort_unstable();
    let range = format!("{}..{}", numbers[0], numbers[numbers.len() - 1]);
    canary.is_kept_from(stage.scene.run(&["diff", &range]).prints("[masked: GitHub token #"));
    let file = format!("{}", numbers[numbers.len() - 1]);
    assert_eq!(canary.is_kept_from(stage.scene.run(&["diff", &file])).out, "", "the file is that version");
    stage.scene.end();
}

#[test]
fn two_sides_change_a_note_that_holds_one() {
    everywhere(&[("n1", "Use port 8080.")], |stage| {
        let canary = canaries().remove(0);
        let content = |port: &str| format!("Use port {port}.\n\n{}\n\nAsk Kim.", canary.text);
        stage.save(&[("n1", &content("8080"))]);
        stage.sync().ok();
        // The agent changes a line of the text, the person another one in an old buffer.
        let old = stage.read();
        let said = content("8080").replace("Ask Kim.", "Ask Lee.");
        stage.agent(&["edit", "n1", "--content", &said]).ok();
        stage.write(&old.replace("8080", "9090"));
        canary.is_kept_from(stage.sync());
        let notes = stage.notes();
        assert!(notes["n1"].contains("9090") && notes["n1"].contains("Ask Lee."), "{notes:?}");
        assert!(canary.is_in(stage.read().as_bytes()), "{}", stage.read());
        assert_eq!(canary.places(&stage.scene), [stage.path]);
    });
}

#[test]
fn a_note_that_cannot_be_read_any_more_keeps_it_back_too() {
    let canary = canaries().remove(0);
    let stage = Stage::with(REPO, super::stage::Form::Blocks, "\n", &[("n1", "Use port 8080.")]);
    stage.save(&[("n1", &canary.text)]);
    stage.sync().ok();
    stage.write(&stage.read().replace("id: n1\n", "id: n1\ntags: [a\n"));
    canary.is_kept_from(stage.sync());
    for reader in READERS {
        let reader: Vec<&str> = reader.iter().map(|word| if *word == "n2" { "n1" } else { word }).collect();
        canary.is_kept_from(stage.scene.run(&reader));
    }
    assert_eq!(canary.places(&stage.scene), [REPO]);
    let again = [stage.sync().out, stage.sync().out];
    assert_eq!(again[0], again[1], "a pass more finds nothing");
    stage.scene.end();
}

#[test]
fn whoever_asks_for_it_sees_it() {
    let canary = canaries().remove(0);
    let scene = Scene::repo().home(&format!("---\nid: n1\n---\n\n{}\n", canary.text));
    for words in [
        &["show", "n1", "--reveal"][..],
        &["show", "n1", "--reveal", "--raw"],
        &["show", "n1", "--reveal", "--json"],
    ] {
        assert!(canary.is_in(scene.run(words).ok().as_bytes()), "{words:?}");
    }
    scene.end();
}

#[test]
fn what_is_typed_in_a_wrong_place_is_not_repeated() {
    let canary = canaries().remove(0);
    let scene = Scene::repo();
    for words in
        [&["add", "x", "--importance", &canary.text][..], &["show", &canary.text], &["list", &canary.text]]
    {
        canary.is_kept_from(scene.run(words));
    }
    scene.end();
}
