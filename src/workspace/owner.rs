//! Whose a private layer is. A key is a label, not an identity: two unrelated repositories
//! may have one. What is asked is known here; who answers, and from what evidence, is not.

use std::path::{Path, PathBuf};

use super::error::{Notice, Renaming};
use super::git::WorkTree;
use super::key::{FoundKey, KeyOrigin, Project, name_of};
use super::root::Root;
use crate::slug::key_slug;

/// Where a project is, to be told from another of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The folder that people know it by: the repository's, or the working directory where
    /// there is none.
    pub folder: PathBuf,
    /// The folder that all work trees of the repository share.
    pub common_dir: Option<PathBuf>,
}

impl Site {
    pub(crate) fn of(cwd: &Path, work_tree: Option<&WorkTree>) -> Self {
        match work_tree {
            Some(tree) => Self { folder: tree.main.clone(), common_dir: Some(tree.common_dir.clone()) },
            None => Self { folder: cwd.to_owned(), common_dir: None },
        }
    }
}

/// The names below a root that a project would have by itself.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The root.
    pub root: &'a Root,
    /// Where the project is.
    pub site: &'a Site,
    /// Its key; none if somebody gave it by hand for this one command, which is a
    /// declaration and no question.
    pub key: Option<&'a str>,
    /// Whether the configuration declares the key: then those who have it share it.
    pub is_declared: bool,
    /// Whether the key was chosen by people whom nobody has trusted: then it gives them nothing
    /// that is there already.
    pub is_doubtful: bool,
    /// The names that pi has for it, the one that the whole project shares last.
    pub pi_names: &'a [String],
}

/// The answer, each name in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// For the key, if it was asked for.
    pub key: Option<Owned>,
    /// For pi's names.
    pub pi_names: Vec<Owned>,
}

/// The name that is a project's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// The name asked for, or the one that stands for it as it is another project's.
    pub name: String,
    /// Whether nobody else will be told that it is theirs.
    pub is_claimed: bool,
    /// Where that other project is.
    pub holder: Option<PathBuf>,
    /// Names that stood for it before the two were declared the same.
    pub also: Vec<String>,
}

impl Owned {
    /// A name that is nobody else's.
    pub fn as_it_is(name: &str) -> Self {
        Self { name: name.to_owned(), is_claimed: true, holder: None, also: Vec::new() }
    }
}

/// Who knows whose a name is.
pub trait Owners {
    /// Which names are a project's own. An error, in words, leaves its private layers
    /// unread: on doubt, isolate.
    fn own(&self, question: &Question<'_>) -> Result<Answer, String>;
}

/// Takes every name at its word: for callers that keep no store.
#[derive(Clone, Copy, Debug)]
pub struct AtTheirWord;

impl Owners for AtTheirWord {
    fn own(&self, question: &Question<'_>) -> Result<Answer, String> {
        Ok(Answer::at_their_word(question))
    }
}

impl Answer {
    /// Every name as it is.
    pub fn at_their_word(question: &Question<'_>) -> Self {
        Self {
            key: question.key.map(Owned::as_it_is),
            pi_names: question.pi_names.iter().map(|name| Owned::as_it_is(name)).collect(),
        }
    }
}

/// The project by the names that are its own, and what a person should know about them.
pub(crate) fn own(
    root: &Root,
    found: FoundKey,
    pi_names: &[String],
    site: Site,
    work_tree: Option<WorkTree>,
    is_trusted: bool,
    owners: &dyn Owners,
) -> (Project, Option<Notice>) {
    let is_doubtful = !is_trusted && found.is_only_layers;
    let question = Question {
        root,
        site: &site,
        key: (!found.origin.is_by_hand()).then_some(&found.key),
        is_declared: matches!(found.origin, KeyOrigin::Config(_)),
        is_doubtful,
        pi_names,
    };
    let (answer, doubt) = match owners.own(&question) {
        Ok(answer) => (answer, None),
        // A key that was given by hand is no question; pi's names are left out.
        Err(problem) => (Answer { key: None, pi_names: Vec::new() }, question.key.map(|_| problem)),
    };
    let key = answer.key.unwrap_or_else(|| Owned::as_it_is(&found.key));
    let mut owned = vec![(found.key.as_str(), &key)];
    owned.extend(pi_names.iter().map(String::as_str).zip(&answer.pi_names));
    let foreign = owned.iter().filter(|(_, owned)| owned.holder.is_some());
    let foreign_names = foreign.map(|(name, _)| (*name).to_owned()).collect();
    // The key stands for all; of pi's names the one that is written matters.
    let shared = if root.is_pi { owned.last() } else { None };
    let notice = owned.first().into_iter().chain(shared).find_map(|(name, owned)| {
        Some(Notice::Isolated {
            name: (*name).to_owned(),
            instead: owned.name.clone(),
            holder: owned.holder.clone()?,
            renaming: (*name == found.key).then(|| renaming(root, &found, &site)),
        })
    });
    let doubtful = || (is_doubtful && key.holder.is_none() && key.name != found.key).then_some(());
    let notice = notice.or_else(|| {
        doubtful().map(|()| Notice::Doubtful { name: found.key.clone(), instead: key.name.clone() })
    });
    let former_names = owned.iter().flat_map(|(_, owned)| owned.also.clone()).collect();
    let project = Project {
        is_claimed: key.is_claimed,
        is_doubtful,
        key: key.name,
        label: found.key,
        origin: found.origin,
        pi_names: answer.pi_names.into_iter().map(|owned| owned.name).collect(),
        foreign_names,
        former_names,
        site,
        work_tree,
        doubt,
    };
    (project, notice)
}

fn renaming(root: &Root, found: &FoundKey, site: &Site) -> Renaming {
    if let KeyOrigin::RepoLayer(path) = &found.origin {
        return Renaming::RepoLayer(path.clone());
    }
    let above = site.folder.parent().and_then(name_of).unwrap_or_else(|| "my".to_owned());
    let key = key_slug(&format!("{above}-{}", found.key));
    Renaming::Entry { config: root.config_path(), folder: site.folder.clone(), key }
}
