//! `layers` killed in the middle, and several writers at once.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;

use harness_layers::document::{Change, NewNote, Place};
use harness_layers::note::Kind;
use harness_layers::sync::{PassOptions, change_layer};
use harness_layers::workspace::LayerRef;

use super::oracle::MODELS;
use super::people::save_as;
use super::world::World;

impl World {
    /// A command is killed at the n-th point where it makes something durable, if it gets so
    /// far. It never said that it was done, so nothing of what it did has to stay.
    pub(super) fn crashes(&mut self, layer: usize, command: usize, point: usize) -> Result<(), String> {
        let layer = self.layer(layer);
        let word = self.word();
        self.let_others();
        self.oracle.written_to(layer, &word);
        let id = format!("k{}", self.number());
        let mut child = match command {
            0 => self.command(layer, &["add", "--id", &id, "--layer", layer_word(layer), &word]),
            1 => match self.oracle.ids_in(layer).first() {
                Some(id) => {
                    let id = id.clone();
                    // Of several notes with one id it means the innermost.
                    for other in 0..self.layers.len() {
                        if self.oracle.ids_in(other).contains(&id) {
                            self.oracle.written_to(other, &word);
                        }
                    }
                    self.command(layer, &["edit", &id, "--content", &word])
                }
                None => self.command(layer, &["sync"]),
            },
            // What a pass has to do is there already if somebody saved.
            _ => {
                let text = self.edited(&self.read(layer), point * 4 + 2).0;
                self.save(layer, &text, 0);
                self.command(layer, &["sync"])
            }
        };
        let Some(child) = &mut child else { return self.writes_and_forgets() };
        child.env("LAYERS_FAULT_KILL", point.to_string());
        let _ = child.status().unwrap();
        Ok(())
    }

    /// A crash without a process to kill: after the files are written, before that is noted.
    fn writes_and_forgets(&mut self) -> Result<(), String> {
        let layers = self.layers.clone();
        for site in 0..self.sites.len() {
            let layers: Vec<LayerRef> =
                self.sites[site].layers.iter().map(|layer| layers[*layer].clone()).collect();
            let options = PassOptions { dry_run: true, ..PassOptions::default() };
            let reports = self.session(None).pass(&layers, &options).map_err(|error| error.to_string())?;
            for report in reports.into_iter().filter(|report| report.wrote) {
                if let Some(after) = report.after {
                    fs::write(&report.layer.path, after.source()).unwrap();
                }
            }
        }
        Ok(())
    }

    /// An agent adds a note, a person saves an edit, and passes run, all at the same time.
    pub(super) fn together(
        &mut self,
        layer: usize,
        edit: usize,
        way: usize,
        processes: bool,
    ) -> Result<(), String> {
        let layer = self.layer(layer);
        let (word, other) = (self.word(), self.word());
        let id = format!("t{}", self.number());
        let text = self.edited(&self.read(layer), edit).0;
        self.let_others();
        for text in [&word, &other, &text] {
            self.oracle.written_to(layer, text);
        }
        let children: Vec<Child> = [
            self.command(layer, &["sync"]),
            self.command(layer, &["add", "--layer", layer_word(layer), &other]),
        ]
        .into_iter()
        .flatten()
        .filter(|_| processes)
        .map(|mut command| command.spawn().unwrap())
        .collect();
        let (world, target) = (&*self, &self.layers[layer]);
        let reach: Vec<LayerRef> = world.sites[world.site_of(layer)]
            .layers
            .iter()
            .map(|layer| world.layers[*layer].clone())
            .collect();
        let (root, place, form) = (&self.root, &self.place, self.form);
        let open = |model: Option<&str>| super::world::open(root, place, model);
        let (agent, pass) = thread::scope(|scope| {
            let agent = scope.spawn(|| {
                let note = NewNote::new(id.clone(), Kind::Memory, word.clone());
                change_layer(&open(Some(MODELS[0])), target, "", |_| {
                    Ok(vec![Change::Insert { note: note.clone(), form: Some(form), place: Place::End }])
                })
                .map(|_| ())
                .map_err(|error| error.to_string())
            });
            let pass = scope.spawn(|| {
                let done = open(None).pass(&reach, &PassOptions::default());
                done.map(|_| ()).map_err(|error| error.to_string())
            });
            // Where git took the folder away, nobody saves.
            let _ = save_as(&target.path, &text, way);
            (agent.join().unwrap(), pass.join().unwrap())
        });
        let mut trouble = pass.err();
        for child in children {
            let done = child.wait_with_output().unwrap();
            // Findings and refusals are answers.
            if !matches!(done.status.code(), Some(0 | 1 | 3)) {
                trouble = Some(String::from_utf8_lossy(&done.stderr).into_owned());
            }
        }
        // The person may have saved over it, and then it was put back once already.
        self.oracle.missed.insert(word.clone());
        if agent.is_ok() {
            self.accept_online(layer, word, &id, true);
        }
        trouble.map_or(Ok(()), Err)
    }

    /// A run of the binary where a layer is in reach.
    fn command(&self, layer: usize, args: &[&str]) -> Option<Command> {
        let mut command = Command::new(self.means.layers.as_ref()?);
        command
            .args(args)
            .current_dir(&self.sites[self.site_of(layer)].cwd)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.dir)
            .env("LAYERS_ROOT", &self.root)
            .env("LAYERS_STATE", self.place.folder())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        Some(command)
    }
}

/// What the command line calls the layer with this index.
fn layer_word(layer: usize) -> &'static str {
    ["global", "home", "repo", "repo"][layer]
}
