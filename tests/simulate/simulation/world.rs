//! The files, the store, and the turn of a step.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use harness_layers::document::{Change, Document, Form, NewNote, Place};
use harness_layers::note::Kind;
use harness_layers::store::{StatePlace, Store};
use harness_layers::sync::{Author, Peeker, Session, place_of};
use harness_layers::trust::Trusts;
use harness_layers::workspace::{AtTheirWord, Env, LayerRef, Root, WorkTree, Workspace};

use super::git::Repository;
use super::oracle::Oracle;
use super::people::Buffer;
use super::schedule::{Means, Schedule, Step};

/// How long a writer waits for the others.
const PATIENCE: Duration = Duration::from_secs(30);

/// A working directory and the layers in reach of it.
pub(super) struct Site {
    pub(super) cwd: PathBuf,
    /// Numbers of [`World::layers`], lowest precedence first.
    pub(super) layers: Vec<usize>,
}

pub(super) struct World {
    pub(super) dir: PathBuf,
    pub(super) root: PathBuf,
    pub(super) place: StatePlace,
    /// The global layer, a project's home layer, and a repo layer for each work tree.
    pub(super) layers: Vec<LayerRef>,
    pub(super) sites: Vec<Site>,
    pub(super) form: Form,
    pub(super) means: Means,
    pub(super) repository: Option<Repository>,
    pub(super) oracle: Oracle,
    /// What a person opened.
    pub(super) buffers: BTreeMap<usize, Buffer>,
    /// pi's memory.
    pub(super) pi: BTreeMap<usize, Document>,
    pub(super) peeker: Peeker,
    session: Option<Session>,
    words: usize,
    _scratch: tempfile::TempDir,
}

/// A file as it is, with the time of its last change.
pub(super) type Stamped = (String, Option<SystemTime>);

impl World {
    pub(super) fn new(schedule: &Schedule, means: &Means) -> Self {
        // Every write is flushed to the disk; in memory that takes no time.
        let shm = Path::new("/dev/shm");
        let scratch = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
        let dir = fs::canonicalize(scratch.path()).unwrap();
        let root = dir.join("root");
        fs::create_dir_all(root.join("harness-state")).unwrap();
        let place = begun_store(&dir.join("state"));
        let form = if schedule.bullets { Form::Bullet } else { Form::FrontMatter };
        let mut world = Self {
            peeker: Peeker::new(&root, Some(place.clone())),
            dir,
            root,
            place,
            layers: Vec::new(),
            sites: Vec::new(),
            form,
            means: means.clone(),
            repository: None,
            oracle: Oracle::default(),
            buffers: BTreeMap::new(),
            pi: BTreeMap::new(),
            session: None,
            words: 0,
            _scratch: scratch,
        };
        if schedule.in_git {
            let text = world.first_text(2, schedule.notes);
            let repository = Repository::begin(&world.dir, &text);
            world.discover(&repository.trees);
            world.repository = Some(repository);
        } else {
            let cwd = world.dir.join("app");
            fs::create_dir(&cwd).unwrap();
            world.discover(&[cwd]);
        }
        for layer in 0..2 {
            let text = world.first_text(layer, schedule.notes);
            fs::write(&world.layers[layer].path, text).unwrap();
        }
        world.oracle.begin(&world.layers);
        world.settle(Step::Accepts).unwrap();
        world
    }

    fn discover(&mut self, folders: &[PathBuf]) {
        let trusts = Trusts::new(Some(self.place.clone()));
        for cwd in folders {
            if let Some(tree) = WorkTree::around(&cwd.join("x")) {
                trusts.grant(&tree, false, |_, _| Ok(())).unwrap();
            }
            let env = Env { root_option: Some(self.root.clone()), cwd: cwd.clone(), ..Env::default() };
            let mut numbers = Vec::new();
            let root = Root::discover(&env).unwrap();
            let found = Workspace::discover_in(root, &env, &BTreeMap::new(), &AtTheirWord, &trusts);
            let found = found.unwrap().layers;
            // The home layer has the number 1 everywhere, the repo layers those behind it.
            let (home, shared) = found.split_last().unwrap();
            for layer in [&shared[0], home].into_iter().chain(&shared[1..]) {
                if self.layers.iter().all(|known| known.path != layer.path) {
                    self.layers.push(layer.clone());
                }
            }
            for layer in &found {
                numbers.push(self.layers.iter().position(|known| known.path == layer.path).unwrap());
            }
            self.sites.push(Site { cwd: cwd.clone(), layers: numbers });
        }
    }

    fn first_text(&mut self, layer: usize, notes: usize) -> String {
        let mut document = Document::parse("<!-- kept by hand -->\n");
        for note in 0..notes {
            let word = self.word();
            let note = NewNote::new(format!("s{layer}{note}"), Kind::Memory, word);
            let insert = Change::Insert { note, form: Some(self.form), place: Place::End };
            document = document.apply(&[insert]).unwrap();
        }
        document.source().to_owned()
    }

    /// A word that is nowhere yet.
    pub(super) fn word(&mut self) -> String {
        self.words += 1;
        format!("w{:03}x", self.words)
    }

    /// A number for an id that is nowhere yet.
    pub(super) const fn number(&self) -> usize {
        self.words
    }

    /// The layer that a step means.
    pub(super) fn layer(&self, number: usize) -> usize {
        number % self.layers.len()
    }

    /// A site that has a layer in reach.
    pub(super) fn site_of(&self, layer: usize) -> usize {
        self.sites.iter().position(|site| site.layers.contains(&layer)).unwrap()
    }

    pub(super) fn read(&self, layer: usize) -> String {
        fs::read_to_string(&self.layers[layer].path).unwrap_or_default()
    }

    pub(super) fn stamped(&self) -> Vec<Stamped> {
        let modified = |layer: &LayerRef| fs::metadata(&layer.path).and_then(|it| it.modified()).ok();
        self.layers.iter().enumerate().map(|(at, layer)| (self.read(at), modified(layer))).collect()
    }

    /// The right to write, for an agent or a pass; kept open from step to step, as opening a
    /// store takes longer than a step.
    pub(super) fn session(&mut self, model: Option<&str>) -> &Session {
        let open = || open(&self.root, &self.place, model);
        let mut session = self.session.take().unwrap_or_else(open);
        session.author = Author::of(model);
        self.session.insert(session)
    }

    /// Others write now.
    pub(super) fn let_others(&mut self) {
        self.session = None;
    }

    /// A step, a pass after it, and all laws.
    pub(super) fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::AgentAdds { layer, private } => self.agent_adds(layer, private),
            Step::AgentRewords { layer, note } => self.agent_rewords(layer, note),
            Step::AgentWeighs { layer, note } => self.agent_weighs(layer, note),
            Step::AgentArchives { layer, note } => self.agent_archives(layer, note),
            Step::Opens { layer } => self.opens(layer),
            Step::Saves { layer, edit, way } => self.saves(layer, edit, way),
            Step::Edits { layer, edit, way } => self.edits(layer, edit, way),
            Step::Moves { from, by, note } => self.moves(from, by, note),
            Step::Refines { layer, seed } => self.refines(layer, seed),
            Step::Exports { layer, reads } => self.exports(layer, reads),
            Step::Deletes { layer } => self.deletes(layer),
            Step::Truncates { layer, at } => self.truncates(layer, at),
            Step::Crashes { layer, command, point } => self.crashes(layer, command, point)?,
            Step::Together { layer, edit, way, processes } => {
                self.together(layer, edit, way, processes)?;
            }
            Step::Git { tree, act } => self.git(tree, act),
            Step::Syncs | Step::Accepts => {}
        }
        // Looking changes nothing.
        if matches!(step, Step::Opens { .. }) { Ok(()) } else { self.settle(step) }
    }

    /// Files and versions, for who has to find out what went wrong.
    pub(super) fn told(&mut self) -> String {
        let mut all = String::new();
        for (at, layer) in self.layers.iter().enumerate() {
            let _ = write!(all, "--- {}\n{}", layer.path.display(), self.read(at));
        }
        let layers = self.layers.clone();
        let session = self.session(None);
        let store = session.store().read();
        for layer in &layers {
            let Some(row) = store.layer(session.root(), &place_of(&layer.path)).unwrap() else { continue };
            for version in store.versions(row.id).unwrap() {
                let text = store.text(version.hash).unwrap();
                let (path, id) = (layer.path.display(), version.id.0);
                let _ = write!(all, "=== {path} version {id}, {}\n{text}", version.origin);
            }
            if let Some(view) = row.view {
                let _ = writeln!(all, "=== {} view {view}", layer.path.display());
            }
        }
        all
    }
}

/// The right to write, once the others let go of it.
pub(super) fn open(root: &Path, place: &StatePlace, model: Option<&str>) -> Session {
    Session::open(root, place, PATIENCE, Author::of(model)).unwrap()
}

/// A store as a first command leaves it. Made once and copied: its tables take longer to
/// make than all else that happens in a world.
fn begun_store(folder: &Path) -> StatePlace {
    static BEGUN: OnceLock<Vec<u8>> = OnceLock::new();
    let begun = BEGUN.get_or_init(|| {
        let scratch = tempfile::tempdir().unwrap();
        let place = StatePlace::in_folder(scratch.path());
        drop(Store::open(&place, 0).unwrap());
        fs::read(place.file()).unwrap()
    });
    let place = StatePlace::in_folder(folder);
    fs::create_dir(folder).unwrap();
    fs::write(place.file(), begun).unwrap();
    place
}
