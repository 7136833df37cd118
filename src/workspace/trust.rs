//! Whether the user has allowed what stands in a repository's layers. What is asked is known
//! here; who answers, and from what evidence, is not.

use std::fmt;

use super::git::WorkTree;
use super::owner::AtTheirWord;

/// Whether the user stands for what a layer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It is the user's own.
    Own,
    /// Other people's, and the user has allowed it.
    Granted(Grant),
    /// Other people's: it counts nowhere, and nothing is written there.
    Untrusted(Distrust),
}

/// What the user has allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its number in the store.
    pub id: i64,
    /// Whether it covers only what the user has seen of each note.
    pub is_pinned: bool,
}

impl Trust {
    /// Whether the layer counts and may be written.
    pub const fn is_trusted(&self) -> bool {
        !matches!(self, Self::Untrusted(_))
    }

    /// What was allowed, of other people's layers.
    pub const fn grant(&self) -> Option<Grant> {
        match self {
            Self::Granted(grant) => Some(*grant),
            Self::Own | Self::Untrusted(_) => None,
        }
    }
}

/// Why a repository is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// Nobody has said that it is.
    Never,
    /// Another repository was trusted at its path.
    Replaced,
    /// It was trusted, and the store that kept this is gone.
    Lost,
    /// It cannot be found out, and why.
    Unknown(String),
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("you have not trusted this repository"),
            Self::Replaced => f.write_str("it was another repository that you trusted at this path"),
            Self::Lost => f.write_str("the store that knew that you trusted this repository is gone"),
            Self::Unknown(problem) => {
                write!(f, "it is not known whether you trusted this repository: {problem}")
            }
        }
    }
}

/// Who knows which repositories the user has trusted.
pub trait Trusting {
    /// Whether the layers of a work tree count. On doubt they do not.
    fn trust(&self, tree: &WorkTree) -> Trust;
}

/// Without a store nobody has trusted anything.
impl Trusting for AtTheirWord {
    fn trust(&self, _tree: &WorkTree) -> Trust {
        Trust::Untrusted(Distrust::Never)
    }
}
