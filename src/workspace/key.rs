//! The project's key, and who gave it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::env::Env;
use super::error::{Notice, WorkspaceError};
use super::git::WorkTree;
use super::owner::Site;
use super::repo::LayerFolder;
use crate::slug::{is_key, key_slug, pi_slug};

/// Whose notes are in reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The key, of lower case letters, digits, `.`, `_` and `-`: no two projects below a
    /// root have the same, as far as the one who was asked knows.
    pub key: String,
    /// What the key was made from and repo layers are called: another project may have the
    /// same, and then the key is this with some digits behind it.
    pub label: String,
    /// Who gave it.
    pub origin: KeyOrigin,
    /// pi's names for the same project, that of the working directory first. Empty if the
    /// key was given by hand and is not the directory's own.
    pub pi_names: Vec<String>,
    /// Whether no other project will be told that the key is its own.
    pub is_claimed: bool,
    /// Whether the key was chosen by people whom nobody has trusted.
    pub is_doubtful: bool,
    /// Names that it would have by itself, and that are another project's.
    pub foreign_names: Vec<String>,
    /// Names that the home layer had before it was said that another project is this one.
    pub former_names: Vec<String>,
    /// Where it is.
    pub site: Site,
    /// The work tree around the working directory.
    pub work_tree: Option<WorkTree>,
    /// Why nobody can tell which private notes are this project's.
    pub doubt: Option<String>,
}

impl Project {
    /// Whether a note of all projects' layer that names `project` means this one: by its
    /// key or by pi's slug.
    pub fn is_named(&self, project: &str) -> bool {
        let is_known = self.doubt.is_none() && (self.is_claimed || !self.is_doubtful);
        is_known && (self.key == project || self.pi_names.iter().any(|name| name == project))
    }
}

/// Who gave a project its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOrigin {
    /// `--project`.
    Flag,
    /// An environment variable.
    Variable(&'static str),
    /// The name of a repo layer.
    RepoLayer(PathBuf),
    /// A `projects` entry of the configuration, by its path prefix.
    Config(String),
    /// The name of the repository's folder.
    WorkTree(PathBuf),
    /// The name of the working directory.
    Directory(PathBuf),
}

impl KeyOrigin {
    /// Whether it was given for this command or session only: then it is meant, whoever
    /// else has it.
    pub const fn is_by_hand(&self) -> bool {
        matches!(self, Self::Flag | Self::Variable(_))
    }
}

impl fmt::Display for KeyOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("--project"),
            Self::Variable(name) => write!(f, "${name}"),
            Self::RepoLayer(path) => write!(f, "{}", path.display()),
            Self::Config(prefix) => write!(f, "harness.json, `projects`, \"{prefix}\""),
            Self::WorkTree(path) => write!(f, "the repository {}", path.display()),
            Self::Directory(path) => write!(f, "the folder {}", path.display()),
        }
    }
}

/// The spellings of where we are.
pub(crate) struct Places<'a> {
    /// Without links.
    pub(crate) cwd: &'a Path,
    pub(crate) cwd_as_given: &'a Path,
    pub(crate) work_tree: Option<&'a WorkTree>,
}

impl Places<'_> {
    /// The names under which pi may keep this project's notes, the working directory's
    /// first, the one that the whole project shares last.
    pub(crate) fn pi_names(&self) -> PiNames {
        let mut names = PiNames::default();
        let roots = self.work_tree.into_iter().flat_map(|tree| [&*tree.root, &*tree.main]);
        for place in [self.cwd_as_given, self.cwd].into_iter().chain(roots) {
            // pi's paths are JavaScript strings, in which what is no text is U+FFFD.
            let name = pi_slug(Some(&place.to_string_lossy()));
            let list = if keeps_every_folder(place) { &mut names.usable } else { &mut names.doubtful };
            list.retain(|known| *known != name);
            list.push(name);
        }
        names
    }
}

#[derive(Default)]
pub(crate) struct PiNames {
    pub(crate) usable: Vec<String>,
    /// Names of other directories too; see [`keeps_every_folder`].
    pub(crate) doubtful: Vec<String>,
}

/// Whether pi's slug has something of each folder's name. It keeps ASCII letters and
/// digits only, so `/w/가나` and every other such folder below `/w` have the slug of `/w`
/// itself: a name for all of them is the name of none.
fn keeps_every_folder(place: &Path) -> bool {
    let mut names = place.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.as_encoded_bytes()),
        _ => None,
    });
    place.file_name().is_some() && names.all(|name| name.iter().any(u8::is_ascii_alphanumeric))
}

/// A key, its giver, and whether the directory would have it anyway.
pub(crate) struct FoundKey {
    pub(crate) key: String,
    pub(crate) origin: KeyOrigin,
    pub(crate) is_own: bool,
    /// Whether only a repo layer's name says so.
    pub(crate) is_only_layers: bool,
}

pub(crate) fn find(
    env: &Env,
    projects: &BTreeMap<String, String>,
    folders: &[LayerFolder],
    places: &Places<'_>,
    notices: &mut Vec<Notice>,
) -> Result<FoundKey, WorkspaceError> {
    let given = [
        (KeyOrigin::Flag, &env.project_option),
        (KeyOrigin::Variable("LAYERS_PROJECT"), &env.layers_project),
        (KeyOrigin::Variable("RLM_PROJECT_NAME"), &env.rlm_project_name),
    ];
    let given = given.into_iter().find_map(|(origin, key)| {
        let key = key.as_deref().filter(|key| !key.is_empty())?;
        Some((origin, key))
    });
    let Some((origin, key)) = given else {
        let (key, origin) = own_key(env, projects, folders, places, notices)?;
        let is_only_layers = matches!(origin, KeyOrigin::RepoLayer(_))
            && !key_without_layers(env, projects, places).is_ok_and(|(own, _)| own == key);
        return Ok(FoundKey { key, origin, is_own: true, is_only_layers });
    };
    let key = checked(key, &origin)?;
    // What is unclear about the directory's own key does not matter now.
    let own = own_key(env, projects, folders, places, &mut Vec::new());
    let is_own = own.is_ok_and(|(own, _)| own == key);
    Ok(FoundKey { key, origin, is_own, is_only_layers: false })
}

/// The key that a directory has by itself.
fn own_key(
    env: &Env,
    projects: &BTreeMap<String, String>,
    folders: &[LayerFolder],
    places: &Places<'_>,
    notices: &mut Vec<Notice>,
) -> Result<(String, KeyOrigin), WorkspaceError> {
    let Some(nearest) = folders.iter().rfind(|folder| !folder.keys.is_empty()) else {
        return key_without_layers(env, projects, places);
    };
    if let [key] = nearest.keys.as_slice() {
        return Ok((key.clone(), KeyOrigin::RepoLayer(nearest.layer(key))));
    }
    let (key, origin) = key_without_layers(env, projects, places)?;
    if nearest.keys.contains(&key) {
        let origin = KeyOrigin::RepoLayer(nearest.layer(&key));
        return Ok((key, origin));
    }
    notices.push(Notice::Ambiguous { folder: nearest.path.clone(), keys: nearest.keys.clone() });
    Ok((key, origin))
}

fn key_without_layers(
    env: &Env,
    projects: &BTreeMap<String, String>,
    places: &Places<'_>,
) -> Result<(String, KeyOrigin), WorkspaceError> {
    if let Some((prefix, key)) = configured(env.home.as_deref(), projects, places) {
        let origin = KeyOrigin::Config(prefix.to_owned());
        return Ok((checked(key, &origin)?, origin));
    }
    if let Some(tree) = places.work_tree
        && let Some(name) = tree.name()
    {
        return Ok((key_slug(&name), KeyOrigin::WorkTree(tree.main.clone())));
    }
    // The file system's root has no name.
    let name = name_of(places.cwd).unwrap_or_else(|| "/".to_owned());
    Ok((key_slug(&name), KeyOrigin::Directory(places.cwd.to_owned())))
}

fn checked(key: &str, origin: &KeyOrigin) -> Result<String, WorkspaceError> {
    if is_key(key) {
        return Ok(key.to_owned());
    }
    Err(WorkspaceError::InvalidKey { origin: origin.clone(), given: key.to_owned(), nearest: key_slug(key) })
}

/// The entry with the longest prefix of where we are. A linked work tree has the entries
/// of the main one too, so that a repository has one key.
fn configured<'a>(
    home: Option<&Path>,
    projects: &'a BTreeMap<String, String>,
    places: &Places<'_>,
) -> Option<(&'a str, &'a str)> {
    if projects.is_empty() {
        return None;
    }
    let in_main = places.work_tree.filter(|tree| tree.is_linked()).and_then(|tree| {
        let rest = places.cwd.strip_prefix(&tree.root).ok()?;
        Some(tree.main.join(rest))
    });
    let prefixes: Vec<(PathBuf, &str, &str)> = projects
        .iter()
        .map(|(prefix, key)| (expanded(prefix, home), prefix.as_str(), key.as_str()))
        .collect();
    for place in [Some(places.cwd), Some(places.cwd_as_given), in_main.as_deref()].into_iter().flatten() {
        if let Some(entry) = longest(&prefixes, place) {
            return Some(entry);
        }
    }
    // Only if no prefix fits as it is spelled: following all of them costs a look at each.
    let followed: Vec<_> = prefixes
        .into_iter()
        .filter_map(|(path, prefix, key)| Some((fs::canonicalize(path).ok()?, prefix, key)))
        .collect();
    longest(&followed, places.cwd).or_else(|| longest(&followed, in_main.as_deref()?))
}

fn longest<'a>(prefixes: &[(PathBuf, &'a str, &'a str)], place: &Path) -> Option<(&'a str, &'a str)> {
    prefixes
        .iter()
        // Whole components: `/w/app` is no prefix of `/w/app2`. A relative one fits nothing.
        .filter(|(path, ..)| path.is_absolute() && place.starts_with(path))
        .max_by_key(|(path, ..)| path.components().count())
        .map(|&(_, prefix, key)| (prefix, key))
}

fn expanded(prefix: &str, home: Option<&Path>) -> PathBuf {
    match (prefix.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(prefix),
    }
}

/// The last component of a path as text. Bytes that are no text are escaped rather than
/// replaced, so that two such names stay two.
pub(crate) fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?;
    Some(match name.to_str() {
        Some(name) => name.to_owned(),
        None => name.as_encoded_bytes().escape_ascii().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_at(place: &str, entries: &[(&str, &str)]) -> Option<String> {
        let projects = entries.iter().map(|&(prefix, key)| (prefix.to_owned(), key.to_owned())).collect();
        let place = Path::new(place);
        let places = Places { cwd: place, cwd_as_given: place, work_tree: None };
        configured(Some(Path::new("/home/me")), &projects, &places).map(|(_, key)| key.to_owned())
    }

    #[test]
    fn the_longest_prefix_of_whole_components_wins() {
        let entries = [("/w", "all"), ("/w/app/", "app"), ("~/x", "mine"), ("w", "relative")];
        for (place, key) in [
            ("/w/app", Some("app")),
            ("/w/app/src", Some("app")),
            ("/w/app2", Some("all")),
            ("/home/me/x/y", Some("mine")),
            ("/home/me", None),
        ] {
            assert_eq!(key_at(place, &entries).as_deref(), key, "{place}");
        }
    }

    #[test]
    fn names_that_are_no_text_stay_apart() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = |bytes| name_of(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        assert_ne!(name(b"/w/a\xff"), name(b"/w/a\xfe"));
        assert_eq!(name(b"/"), None);
    }
}
