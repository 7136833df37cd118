//! What every command starts from: options, streams, configuration, the layers in reach.

use std::path::Path;
use std::time::Duration;

use super::args::{Globals, LayerArg};
use super::failure::{Exit, Failure};
use super::output::Output;
use crate::config::{self, Config};
use crate::files;
use crate::identity::{Claims, Purpose};
use crate::note::LayerKind;
use crate::reach::Reach;
use crate::store::{StatePlace, Store};
use crate::sync::{Author, Heard, Session, SyncError};
use crate::trust::Trusts;
use crate::workspace::{Env, LayerRef, Root, Workspace, WorkspaceError};

/// The environment variable that names the model.
pub(crate) const MODEL_VARIABLE: &str = "LAYERS_MODEL";

/// What a new file of a pi root starts with: pi's own first line.
const PI_SEED: &str = "# Continual Harness State\n";

/// A command's surroundings.
pub(crate) struct Context {
    pub(crate) globals: Globals,
    pub(crate) out: Output,
    /// The worst that happened on the way; the command goes on.
    pub(crate) exit: Exit,
    /// What was wrong in the configuration, with path, line and column.
    pub(crate) config_warnings: Vec<String>,
    /// What the command is about to do; see [`Context::will_write`].
    pub(crate) purpose: Purpose,
    /// What was found in layers on the way to what the command is about.
    pub(crate) heard: Heard,
}

/// Where we are and what holds here.
pub(crate) struct Here {
    pub(crate) workspace: Workspace,
    pub(crate) config: Config,
}

impl Context {
    pub(crate) fn new(globals: Globals) -> Self {
        let out = Output::new(globals.color, globals.quiet, globals.verbose);
        Self {
            globals,
            out,
            exit: Exit::Done,
            config_warnings: Vec::new(),
            purpose: Purpose::Read,
            heard: Heard::default(),
        }
    }

    /// The model asked for, by option or environment; none if empty.
    pub(crate) fn model(&self) -> Option<String> {
        let given = self.globals.model.clone().or_else(model_of_environment);
        given.filter(|model| !model.is_empty())
    }

    /// Who changes notes with this command: the agent that the model names, else a person.
    pub(crate) fn author(&self) -> Author {
        Author::of(
            model_of_environment().filter(|model| !model.is_empty()).or_else(|| self.model()).as_deref(),
        )
    }

    /// To be said before anything is looked at by commands that write a new note: a private
    /// layer that is nobody's becomes this project's.
    pub(crate) fn will_write(&mut self, layer: LayerKind) {
        let purpose = if layer == LayerKind::Home { Purpose::WritePrivate } else { Purpose::Write };
        self.purpose = self.purpose.max(purpose);
    }

    /// Root, configuration, project and layers; what is odd about them is said on stderr.
    pub(crate) fn here(&mut self) -> Result<Here, Failure> {
        let here = self.find()?;
        for notice in &here.workspace.notices {
            if notice.is_loud() {
                self.out.warn(notice);
            } else {
                self.out.detail(notice);
            }
        }
        Ok(here)
    }

    /// As [`Self::here`], with nothing said about layers.
    pub(crate) fn find(&mut self) -> Result<Here, Failure> {
        self.find_at(None)
    }

    /// As [`Self::find`], for another folder than the working directory.
    pub(crate) fn find_at(&mut self, folder: Option<&Path>) -> Result<Here, Failure> {
        let mut env = self.env()?;
        self.out.set_cwd(&env.cwd);
        if let Some(folder) = folder {
            env.cwd.push(folder);
        }
        let root = Root::discover(&env)?;
        let config = self.config(&root);
        let workspace = self.discover(root, &env, &config)?;
        self.out.detail(format_args!("root {}", workspace.root.path.display()));
        self.out.detail(format_args!("project {} ({})", workspace.project.key, workspace.project.origin));
        Ok(Here { workspace, config })
    }

    /// What discovery depends on, with the options of this command.
    pub(crate) fn env(&self) -> Result<Env, Failure> {
        let mut env = Env::from_process()?;
        env.root_option.clone_from(&self.globals.root);
        env.project_option.clone_from(&self.globals.project);
        Ok(env)
    }

    /// The project and its layers below a root that is known already.
    pub(crate) fn discover(&mut self, root: Root, env: &Env, config: &Config) -> Result<Workspace, Failure> {
        let claims = Claims::new(state(), self.purpose);
        let workspace =
            Workspace::discover_in(root, env, &config.layers.projects, &claims, &Trusts::new(state()))?;
        self.tell_set_aside(claims.set_aside());
        if let Some(error) = claims.unclaimed() {
            self.out.detail(format_args!("the private layer stays nobody's: {error}"));
        }
        Ok(workspace)
    }

    /// The configuration; one that cannot be read counts as none, and that is said.
    pub(crate) fn config(&mut self, root: &Root) -> Config {
        let path = root.config_path();
        let bytes = match files::read_bytes(&path) {
            Ok(found) => found.content(),
            Err(error) => {
                let warning = format!("{error}; the defaults hold");
                self.out.warn(&warning);
                self.config_warnings.push(warning);
                self.raise(Exit::Broken);
                None
            }
        };
        let (config, warnings) = config::parse(bytes.as_deref());
        for warning in &warnings {
            let warning_here = format!("{}:{warning}", path.display());
            self.out.warn(&warning_here);
            self.config_warnings.push(warning_here);
            self.out.hint(&warning.help);
        }
        config
    }

    /// The layers in reach, read. Those that cannot be read are reported, and the command
    /// ends with an error although it does what it can.
    pub(crate) fn reach(&mut self) -> Result<(Reach, Config), Failure> {
        self.reach_by(Reach::read)
    }

    /// As [`Self::reach`], without the layers that are not trusted.
    pub(crate) fn trusted_reach(&mut self) -> Result<(Reach, Config), Failure> {
        self.reach_by(Reach::read_trusted)
    }

    fn reach_by(
        &mut self,
        read: fn(Workspace, Option<StatePlace>) -> Reach,
    ) -> Result<(Reach, Config), Failure> {
        let Here { workspace, config } = self.here()?;
        let mut reach = read(workspace, state());
        if !reach.workspace.project.is_claimed && reach.is_named_globally() {
            self.purpose = self.purpose.max(Purpose::Show);
            let workspace = self.discover(reach.workspace.root, &self.env()?, &config)?;
            reach = read(workspace, state());
        }
        for (layer, error) in &reach.unavailable {
            self.unavailable(layer, error);
        }
        for read in reach.layers.iter().filter(|read| read.exists) {
            let count = read.document.notes().len();
            self.out.detail(format_args!("read {} ({count} notes)", read.layer.path.display()));
        }
        Ok((reach, config))
    }

    /// Reports a layer that is there and cannot be used.
    pub(crate) fn unavailable(&mut self, layer: &LayerRef, error: &WorkspaceError) {
        let exit = exit_of(error);
        self.out.fail(&Failure::new(
            exit,
            format_args!("the {} layer is left out: {error}", layer.kind.as_str()),
        ));
        self.raise(exit);
    }

    /// Says that a damaged store was put out of the way.
    pub(crate) fn tell_set_aside(&mut self, path: Option<&Path>) {
        if let Some(path) = path {
            self.out.warn(format_args!("the store was damaged and is at {} now", path.display()));
            self.out.hint("it was begun anew from the layers; history up to now is in that file");
        }
    }

    pub(crate) fn raise(&mut self, exit: Exit) {
        self.exit = self.exit.max(exit);
    }
}

/// What a layer that cannot be used means for the exit code.
pub(crate) const fn exit_of(error: &WorkspaceError) -> Exit {
    match error {
        WorkspaceError::Untrusted { .. } => Exit::Refused,
        WorkspaceError::Refused { .. } if error.is_refusal() => Exit::Refused,
        WorkspaceError::Refused { .. }
        | WorkspaceError::InvalidKey { .. }
        | WorkspaceError::NoHome
        | WorkspaceError::NoFolder { .. }
        | WorkspaceError::NoWorkingDirectory { .. }
        | WorkspaceError::Io { .. }
        | WorkspaceError::Read(_)
        | WorkspaceError::Store { .. }
        | WorkspaceError::Write(_) => Exit::Broken,
    }
}

/// The model that the environment names.
pub(crate) fn model_of_environment() -> Option<String> {
    std::env::var(MODEL_VARIABLE).ok()
}

impl Here {
    /// As [`Self::target`], to be written: a repository's first layer is the user's own.
    pub(crate) fn target_to_write(&self, place: LayerArg, cx: &mut Context) -> Result<LayerRef, Failure> {
        super::repository::founded(self, self.target(place)?, cx)
    }

    /// The layer that a new note of this place goes to.
    pub(crate) fn target(&self, place: LayerArg) -> Result<LayerRef, Failure> {
        target(&self.workspace, place)
    }

    /// As [`Self::session`], for those who only look.
    pub(crate) fn look(&self, cx: &Context) -> Result<Session, Failure> {
        let patience = Duration::from_millis(self.config.layers.lock_timeout_ms);
        let place = StatePlace::from_process()?;
        Ok(Session::to_look(&self.workspace.root.path, &place, patience, cx.author())?)
    }

    /// The right to write below the root, for as long as it is held.
    pub(crate) fn session(&self, cx: &mut Context) -> Result<Session, Failure> {
        let mut session = session(&self.workspace.root, &self.config, cx.author())?;
        session.heard = cx.heard.clone();
        cx.tell_set_aside(session.store().set_aside());
        Ok(session)
    }
}

/// The layer that a new note of this place goes to.
pub(crate) fn target(workspace: &Workspace, place: LayerArg) -> Result<LayerRef, Failure> {
    let found = match place {
        LayerArg::Global => workspace.global_layer().cloned(),
        LayerArg::Home => workspace.home_layer().cloned(),
        LayerArg::Repo => workspace.repo_layer(),
    };
    found.ok_or_else(|| {
        Failure::refused("there is no repo layer here: this folder is in no git work tree")
            .help("run `git init`, or leave out `--layer repo` to keep the note private")
    })
}

/// The right to write below the root, for as long as it is held, with the store open.
pub(crate) fn session(root: &Root, config: &Config, author: Author) -> Result<Session, SyncError> {
    resume(root, config, author, None)
}

/// As [`session`], with the store of an earlier one.
pub(crate) fn resume(
    root: &Root,
    config: &Config,
    author: Author,
    kept: Option<Store>,
) -> Result<Session, SyncError> {
    let patience = Duration::from_millis(config.layers.lock_timeout_ms);
    Session::resume(&root.path, &StatePlace::from_process()?, patience, author, kept)
}

/// Where the store is, if anything says so.
pub(crate) fn state() -> Option<StatePlace> {
    StatePlace::from_process().ok()
}

/// What a layer file that does not exist yet starts with.
pub(crate) fn seed(workspace: &Workspace, layer: &LayerRef) -> &'static str {
    if is_pis(workspace, layer) { PI_SEED } else { "" }
}

/// Whether pi reads this layer too.
pub(crate) fn is_pis(workspace: &Workspace, layer: &LayerRef) -> bool {
    workspace.root.is_pi && layer.kind != LayerKind::Repo
}
