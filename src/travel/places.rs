//! Which files of a work tree are layers.

use std::path::{Path, PathBuf};

/// Which files of a work tree are layers; all paths are below its top folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The global layer, if the root lies in the work tree.
    pub global: Option<PathBuf>,
    /// The folder of the projects' home layers, if the root lies in the work tree.
    pub projects: Option<PathBuf>,
    /// Layers elsewhere in it, which links lead to.
    pub others: Vec<PathBuf>,
}

impl Places {
    /// Whether a file is a layer.
    pub fn has(&self, file: &Path) -> bool {
        self.global.as_deref() == Some(file)
            || file.extension().is_some_and(|end| end == "md")
                && file.parent().is_some_and(|parent| self.projects.as_deref() == Some(parent))
            || self.others.iter().any(|other| other == file)
    }

    /// As git's attributes name them.
    pub(super) fn patterns(&self) -> Vec<String> {
        let all_projects = self.projects.iter().map(|folder| format!("/{}/*.md", literal(folder)));
        let single = self.global.iter().chain(&self.others).map(|file| format!("/{}", literal(file)));
        single.chain(all_projects).collect()
    }

    /// What may hold layers.
    pub(super) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.global.iter().chain(&self.projects).chain(&self.others).map(PathBuf::as_path)
    }
}

/// A path as part of a pattern that means just this path.
fn literal(path: &Path) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\');
    path.to_string_lossy().chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// A pattern as it stands in a file of attributes: quoted, as it may hold blanks.
pub(super) fn quoted(pattern: &str) -> String {
    format!("\"{}\"", pattern.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_the_folder_itself_is_a_layer() {
        let places = Places {
            global: Some("a b/harness-state.md".into()),
            projects: Some("a b/harness-state".into()),
            others: vec!["x[1].md".into()],
        };
        for (file, is_layer) in [
            ("a b/harness-state.md", true),
            ("a b/harness-state/app.md", true),
            ("a b/harness-state/deep/app.md", false),
            ("a b/harness-state/app.txt", false),
            ("a b/README.md", false),
            ("x[1].md", true),
            ("x1.md", false),
        ] {
            assert_eq!(places.has(Path::new(file)), is_layer, "{file}");
        }
        let lines: Vec<String> = places.patterns().iter().map(|pattern| quoted(pattern)).collect();
        assert_eq!(
            lines,
            [r#""/a b/harness-state.md""#, r#""/x\\[1\\].md""#, r#""/a b/harness-state/*.md""#]
        );
    }
}
