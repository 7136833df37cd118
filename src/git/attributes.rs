//! `.gitattributes`: the lines that say which files our driver merges.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::{Expected, Found, NewFile, read_bytes, replace};

use super::driver::NAME;
use super::{InstallError, Step};

/// The lines of a `.gitattributes` file that name our driver. All others stay as they are,
/// byte for byte, and taking ours out leaves what was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    path: PathBuf,
    lines: Vec<String>,
}

/// Which files of a work tree are layers: those of the repository itself and, where the root
/// of the home layers is in it, these too.
pub fn patterns(work_tree: &Path, root: &Path) -> Vec<String> {
    let mut patterns = vec!["**/.harness/*.md".to_owned()];
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    if let Ok(inner) = root.strip_prefix(work_tree)
        && let Some(inner) = inner.to_str()
        && !inner.contains(|c: char| c.is_whitespace() || "*?[]\\\"!#".contains(c))
    {
        let folder = if inner.is_empty() { String::new() } else { format!("/{inner}") };
        patterns.push(format!("{folder}/harness-state.md"));
        patterns.push(format!("{folder}/harness-state/*.md"));
    }
    patterns
}

impl Attributes {
    /// Of a work tree, for these patterns.
    pub fn new(work_tree: &Path, patterns: &[String]) -> Self {
        let lines = patterns.iter().map(|pattern| format!("{pattern} merge={NAME}")).collect();
        Self { path: work_tree.join(".gitattributes"), lines }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file names our driver for anything.
    pub fn name_the_driver(&self) -> bool {
        let attribute = format!("merge={NAME}");
        let found = read_bytes(&self.path).ok().and_then(Found::content).unwrap_or_default();
        let text = String::from_utf8_lossy(&found);
        let mut lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        lines.any(|line| line.split_whitespace().skip(1).any(|word| word == attribute))
    }

    /// Puts in the lines that are not there.
    pub fn install(&self) -> Result<Step, InstallError> {
        let held = self.held()?;
        let text = held.as_deref().unwrap_or_default();
        let present: Vec<&[u8]> = lines(text).map(bare).collect();
        let missing = self.lines.iter().filter(|line| !present.contains(&line.as_bytes()));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(Step::Nothing);
        }
        let eol = if text.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
        let block = missing.join(eol);
        // A last line end that is not there is not there afterwards either.
        let block =
            if text.is_empty() || text.ends_with(b"\n") { block + eol } else { format!("{eol}{block}") };
        self.write(held.as_deref(), &[text, block.as_bytes()].concat())?;
        Ok(Step::Set)
    }

    /// Takes the lines out, and the file if nothing else is in it.
    pub fn remove(&self) -> Result<Step, InstallError> {
        let Some(held) = self.held()? else { return Ok(Step::Nothing) };
        let is_ours = |line: &[u8]| self.lines.iter().any(|ours| ours.as_bytes() == bare(line));
        let mut kept: Vec<u8> = lines(&held).filter(|line| !is_ours(line)).flatten().copied().collect();
        if kept.len() == held.len() {
            return Ok(Step::Nothing);
        }
        if lines(&held).last().is_some_and(is_ours) && !held.ends_with(b"\n") {
            // The line above was the last one, without an end.
            let end = kept.strip_suffix(b"\n").map_or(kept.len(), |line| bare(line).len());
            kept.truncate(end);
        }
        if kept.is_empty() {
            let io = |source| InstallError::Io { path: self.path.clone(), source };
            fs::remove_file(&self.path).map_err(io)?;
        } else {
            self.write(Some(&held), &kept)?;
        }
        Ok(Step::Removed)
    }

    fn held(&self) -> Result<Option<Vec<u8>>, InstallError> {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.is_symlink()) {
            return Err(InstallError::Link { path: self.path.clone() });
        }
        Ok(read_bytes(&self.path)?.content())
    }

    fn write(&self, held: Option<&[u8]>, text: &[u8]) -> Result<(), InstallError> {
        let expected = held.map_or(Expected::Absent, Expected::Bytes);
        replace(&self.path, expected, text, NewFile::Umask)?;
        Ok(())
    }
}

/// Lines with their line ends.
fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// A line without its line end and blanks at its end.
fn bare(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}
