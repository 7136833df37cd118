//! What stops discovery, what is refused, and what is only said.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::key::KeyOrigin;
use super::trust::Distrust;
use crate::files::{Action, ReadError, WriteError};

/// Why there is no answer, or why a layer is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A key was given that cannot name a layer file.
    #[error(
        "{origin}: `{given}` is no project key (lower case letters, digits, `.`, `_`, `-`); use `{nearest}`"
    )]
    InvalidKey {
        /// Who gave it.
        origin: KeyOrigin,
        /// What was given.
        given: String,
        /// A key that would do.
        nearest: String,
    },
    /// The default root lies in the home folder, and there is none.
    #[error("$HOME is not set, so there is no default root; give --root or set $LAYERS_ROOT")]
    NoHome,
    /// Something else stands where the root should be.
    #[error("the root {path} is no folder; give --root or set $LAYERS_ROOT to one", path = path.display())]
    NoFolder {
        /// The root.
        path: PathBuf,
    },
    /// The working directory is gone or closed to us, so no project is known.
    #[error("the working directory cannot be found ({source}); change into a folder that exists")]
    NoWorkingDirectory {
        /// The system's answer.
        source: io::Error,
    },
    /// A folder that everything depends on cannot be looked at.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        action: Action,
        /// On which path.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A repo layer that may be neither read nor written.
    #[error("{path} is refused: {refusal}", path = path.display())]
    Refused {
        /// The layer.
        path: PathBuf,
        /// Why.
        refusal: Refusal,
    },
    /// A repo layer that nobody has allowed.
    #[error("{path} is not written: {why}", path = path.display())]
    Untrusted {
        /// The layer.
        path: PathBuf,
        /// Why it is not trusted.
        why: Distrust,
    },
    /// It is not known what a file holds.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store is there and cannot be read, so it is not known for whom the notes are.
    #[error("what counts of it is not known: {problem}")]
    Store {
        /// The store's error.
        problem: String,
    },
    /// A layer was not written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl WorkspaceError {
    /// Whether the layer may not be touched. Where only nobody can tell what is there, it is
    /// as unknown as any other that cannot be read.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { refusal, .. } if !matches!(refusal, Refusal::Unresolved { .. }))
    }
}

/// Why a repo layer is neither read nor written: a cloned repository must not reach
/// files that are not its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It leads out of the work tree.
    Outside {
        /// Where to.
        target: PathBuf,
    },
    /// It leads into git's own folder.
    GitFolder {
        /// Where to.
        target: PathBuf,
    },
    /// It leads into a repository inside the work tree: a submodule or a nested clone.
    OtherWorkTree {
        /// Where to.
        target: PathBuf,
    },
    /// It cannot be followed to its end.
    Unresolved {
        /// What happened.
        problem: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (target, place) = match self {
            Self::Outside { target } => (target, "outside its work tree"),
            Self::GitFolder { target } => (target, "in git's own folder"),
            Self::OtherWorkTree { target } => (target, "in another repository"),
            Self::Unresolved { problem } => {
                return write!(f, "where it leads is not known ({problem})");
            }
        };
        write!(f, "it is a link to {}, {place}; put the file itself there", target.display())
    }
}

/// Something that a person should know about the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Several repo layers in one folder, and nothing says which is the project's. None
    /// of them is read.
    Ambiguous {
        /// The `.harness` folder.
        folder: PathBuf,
        /// The keys that its files name.
        keys: Vec<String>,
    },
    /// The home layer stands under several names. All are read; the last is written.
    SeveralHomeLayers {
        /// The files, lowest precedence first.
        paths: Vec<PathBuf>,
    },
    /// A project that has nothing to do with this one has its name, so this one's private
    /// notes go by another.
    Isolated {
        /// The name.
        name: String,
        /// The name that this project has instead.
        instead: String,
        /// Where the other project is.
        holder: PathBuf,
        /// How to give this one a name of its own.
        renaming: Option<Renaming>,
    },
    /// Private notes are there under the name that an untrusted layer has, and nobody knows
    /// whose they are.
    Doubtful {
        /// The name.
        name: String,
        /// The name that this project has instead.
        instead: String,
    },
    /// Layers of other people that nobody has allowed. They count nowhere.
    Untrusted {
        /// The work tree.
        tree: PathBuf,
        /// The layers.
        paths: Vec<PathBuf>,
        /// Why they are not trusted.
        why: Distrust,
    },
    /// A Markdown file in a `.harness` folder whose name is no key, so it is no layer.
    Misnamed {
        /// The file.
        path: PathBuf,
        /// A key that would do as its name.
        nearest: String,
    },
    /// Git's own files lead nowhere, so the project's name may be another than usual.
    BrokenGit {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// It is not known what a `.harness` folder holds.
    Unlistable {
        /// The folder.
        folder: PathBuf,
        /// The reason, with the path.
        problem: String,
    },
}

/// What gives a project another key for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renaming {
    /// Another name for its repo layer.
    RepoLayer(PathBuf),
    /// An entry of the configuration.
    Entry {
        /// The configuration.
        config: PathBuf,
        /// The project's folder.
        folder: PathBuf,
        /// A key that would do.
        key: String,
    },
}

impl fmt::Display for Renaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepoLayer(path) => write!(f, "rename {}", path.display()),
            Self::Entry { config, folder, key } => {
                let folder = folder.to_string_lossy();
                write!(
                    f,
                    "put \"projects\": {{{folder:?}: {key:?}}} under \"layers\" in {}",
                    config.display()
                )
            }
        }
    }
}

impl Notice {
    /// Whether a person is to hear of it with every command: a clash, or an isolation.
    pub const fn is_loud(&self) -> bool {
        self.is_clash()
            || matches!(self, Self::Isolated { .. } | Self::Doubtful { .. } | Self::Untrusted { .. })
    }

    /// Whether two files clash, so that a person has to decide between them.
    pub const fn is_clash(&self) -> bool {
        matches!(self, Self::Ambiguous { .. } | Self::SeveralHomeLayers { .. })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ambiguous { folder, keys } => write!(
                f,
                "{} holds layers of several projects ({}) and nothing says which is this one's, so none is read; \
                 choose with --project or $LAYERS_PROJECT",
                folder.display(),
                keys.join(", ")
            ),
            Self::SeveralHomeLayers { paths } => {
                f.write_str("this project's private layer has several files: ")?;
                for (at, path) in paths.iter().enumerate() {
                    write!(f, "{}{}", if at == 0 { "" } else { ", " }, path.display())?;
                }
                f.write_str("; all are read, the last is written; move the notes into one of them")
            }
            Self::Isolated { name, instead, holder, renaming } => {
                write!(
                    f,
                    "{name} is the project at {}, which has nothing to do with this one, so the private notes \
                     here go by {instead}; if the two are one project, `layers claim {name}` says so",
                    holder.display()
                )?;
                renaming
                    .as_ref()
                    .map_or(Ok(()), |renaming| write!(f, "; to give this one a key of its own, {renaming}"))
            }
            Self::Doubtful { name, instead } => write!(
                f,
                "there are private notes of a project {name}, and that this is it says only a layer that you have \
                 not trusted, so they are left out and those of this place go by {instead}; if they are this \
                 project's, `layers claim {name}` says so"
            ),
            Self::Untrusted { tree, paths, why } => {
                let one = paths.len() == 1;
                write!(
                    f,
                    "the layer{} of {} {} left out: {why}; `layers trust` shows what {} and allows it",
                    if one { "" } else { "s" },
                    tree.display(),
                    if one { "is" } else { "are" },
                    if one { "it says" } else { "they say" },
                )
            }
            Self::Misnamed { path, nearest } => {
                let name = path.with_file_name(format!("{nearest}.md"));
                write!(
                    f,
                    "{} is not read, as its name is no project key; if it is a layer, rename it, for example to {}",
                    path.display(),
                    name.display()
                )
            }
            Self::BrokenGit { path, problem } => write!(
                f,
                "{}: {problem}; the project's key may be another than usual (`git status` there tells more, \
                 --project sets a key)",
                path.display()
            ),
            Self::Unlistable { folder, problem } => {
                write!(f, "it is not known which layers are in {}: {problem}", folder.display())
            }
        }
    }
}
