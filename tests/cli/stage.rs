//! A layer that several write: the same events for the private layer and a repository's, in
//! both forms, with both line ends. A person saves whole files, an agent uses the commands.

use std::collections::BTreeMap;

use serde_json::Value;

use super::scene::{HOME, Ran, Scene};

/// The repository's layer of `app`.
pub(crate) const REPO: &str = "app/.harness/app.md";

/// How notes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Blocks,
    Bullets,
}

/// One layer in a world of its own.
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) path: &'static str,
    pub(crate) form: Form,
    pub(crate) eol: &'static str,
}

/// Each layer in each form, each form with either line end.
pub(crate) const VARIANTS: [(&str, Form, &str); 4] = [
    (HOME, Form::Blocks, "\n"),
    (HOME, Form::Bullets, "\r\n"),
    (REPO, Form::Blocks, "\r\n"),
    (REPO, Form::Bullets, "\n"),
];

/// Runs `test` for the private layer and the repository's, in both forms.
pub(crate) fn everywhere(notes: &[(&str, &str)], test: impl Fn(&Stage)) {
    for (path, form, eol) in VARIANTS {
        Stage::with(path, form, eol, notes).play(&test);
    }
}

/// Runs `test` for the repository's layer alone.
pub(crate) fn in_repo(notes: &[(&str, &str)], test: impl Fn(&Stage)) {
    for (form, eol) in [(Form::Blocks, "\n"), (Form::Blocks, "\r\n"), (Form::Bullets, "\n")] {
        Stage::with(REPO, form, eol, notes).play(&test);
    }
}

impl Stage {
    pub(crate) fn with(path: &'static str, form: Form, eol: &'static str, notes: &[(&str, &str)]) -> Self {
        let stage = Self { scene: Scene::repo(), path, form, eol };
        stage.save(notes);
        stage.sync().ok();
        stage
    }

    fn play(self, test: &impl Fn(&Self)) {
        // Shown only if the test fails.
        println!("with {} as {:?}, line end {:?}", self.path, self.form, self.eol);
        test(&self);
        self.scene.end();
    }

    pub(crate) fn is_repo(&self) -> bool {
        self.path == REPO
    }

    /// The word for the layer on the command line.
    pub(crate) fn layer(&self) -> &'static str {
        if self.is_repo() { "repo" } else { "home" }
    }

    /// A note as it stands in the file.
    pub(crate) fn note(&self, id: &str, content: &str) -> String {
        self.fielded(id, &[], content)
    }

    /// A note with fields.
    pub(crate) fn fielded(&self, id: &str, fields: &[(&str, &str)], content: &str) -> String {
        match self.form {
            Form::Blocks => {
                let fields: String = fields.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
                self.lines(&format!("---\nid: {id}\n{fields}---\n\n{content}\n"))
            }
            Form::Bullets => {
                let (head, rest): (Vec<_>, Vec<_>) = fields.iter().partition(|(key, _)| *key == "importance");
                let importance = head.first().map_or("0.50", |(_, value)| value);
                let content = content.replace('\n', "\n  ");
                let rest: String = rest
                    .iter()
                    .map(|(key, value)| format!("  - {key}: {}\n", value.trim_matches('"')))
                    .collect();
                self.lines(&format!("- **[{id}]** (importance {importance}) {content}\n{rest}"))
            }
        }
    }

    /// A text with the line end of the layer.
    pub(crate) fn lines(&self, text: &str) -> String {
        text.replace('\n', self.eol)
    }

    /// A layer of notes that are written already.
    pub(crate) fn joined(&self, notes: &[String]) -> String {
        match self.form {
            Form::Blocks => notes.join(self.eol),
            Form::Bullets => self.lines("## Memory facts\n\n") + &notes.concat(),
        }
    }

    /// A layer of these notes.
    pub(crate) fn text(&self, notes: &[(&str, &str)]) -> String {
        let notes: Vec<String> = notes.iter().map(|(id, content)| self.note(id, content)).collect();
        self.joined(&notes)
    }

    /// A person saves the file.
    pub(crate) fn save(&self, notes: &[(&str, &str)]) {
        self.write(&self.text(notes));
    }

    pub(crate) fn write(&self, text: &str) {
        self.scene.write(self.path, text);
    }

    pub(crate) fn read(&self) -> String {
        self.scene.read(self.path)
    }

    pub(crate) fn sync(&self) -> Ran {
        self.scene.run(&["sync"])
    }

    /// An agent runs `layers`.
    pub(crate) fn agent(&self, args: &[&str]) -> Ran {
        self.scene.run_as("a/m", args)
    }

    /// A note that names no model, as a person writes it.
    pub(crate) fn agent_adds(&self, id: &str, content: &str) {
        self.agent(&["add", "--model", "", "--layer", self.layer(), "--id", id, content]).ok();
    }

    pub(crate) fn agent_edits(&self, id: &str, content: &str) {
        self.agent(&["edit", id, "--content", content]).ok();
    }

    /// What counts: ids and contents.
    pub(crate) fn notes(&self) -> BTreeMap<String, String> {
        notes(&self.scene)
    }

    #[track_caller]
    pub(crate) fn has(&self, expected: &[(&str, &str)]) {
        assert_eq!(self.notes(), owned(expected), "the file:\n{}", self.read());
    }

    /// What counts is what the file says, and nothing is left to do.
    #[track_caller]
    pub(crate) fn is_in_step(&self, expected: &[(&str, &str)]) {
        self.has(expected);
        let before = self.read();
        self.scene.run(&["sync", "--check"]).ok();
        let done = self.sync().ok();
        assert_eq!(done, "", "a pass more finds nothing");
        assert_eq!(self.read(), before);
        let list = self.json(&["list", "--all"]);
        let instead: Vec<_> =
            list.as_array().unwrap().iter().filter(|note| note.get("instead_because").is_some()).collect();
        assert!(instead.is_empty(), "all stands in the files: {instead:?}");
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        json(&self.scene, args)
    }

    /// What happened to a note: operation and who.
    pub(crate) fn history(&self, id: &str) -> Vec<(String, String)> {
        history(&self.scene, id)
    }

    /// The ids in the archive, sorted.
    pub(crate) fn archive(&self) -> Vec<String> {
        let rows = self.json(&["archive"]);
        let mut ids: Vec<String> = rows.as_array().unwrap().iter().map(|row| text(&row["id"])).collect();
        ids.sort();
        ids
    }

    /// Everything committed.
    pub(crate) fn commit(&self, message: &str) {
        self.scene.git("app", &["add", "-A"]);
        self.scene.git("app", &["commit", "-qm", message]);
    }
}

/// Ids and contents, to compare with.
pub(crate) fn owned(notes: &[(&str, &str)]) -> BTreeMap<String, String> {
    notes.iter().map(|(id, content)| ((*id).to_owned(), (*content).to_owned())).collect()
}

/// What counts in a scene: ids and contents.
#[track_caller]
pub(crate) fn notes(scene: &Scene) -> BTreeMap<String, String> {
    let list = json(scene, &["list", "--all"]);
    let is_shown = |note: &&Value| note["standing"] != "replaced" && note["standing"] != "conflicted";
    let notes = list.as_array().unwrap().iter().filter(is_shown);
    let all: Vec<_> = notes.map(|note| (text(&note["id"]), text(&note["content"]))).collect();
    let distinct: BTreeMap<_, _> = all.iter().cloned().collect();
    assert_eq!(distinct.len(), all.len(), "an id is listed twice: {all:?}");
    distinct
}

/// A command's data, whatever its exit code.
#[track_caller]
pub(crate) fn json(scene: &Scene, args: &[&str]) -> Value {
    let ran = scene.run(&[args, &["--json"]].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

pub(crate) fn history(scene: &Scene, id: &str) -> Vec<(String, String)> {
    let events = json(scene, &["history", id]);
    let of = |event: &Value| (text(&event["op"]), event["who"].as_str().unwrap_or_default().to_owned());
    events.as_array().map(|events| events.iter().map(of).collect()).unwrap_or_default()
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
