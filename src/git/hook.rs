//! The pre-commit hook that checks layers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::files::{Expected, NewFile, read_bytes, replace};

use super::driver::Program;
use super::{Git, InstallError, Step};

/// Tells our hook from others.
const SIGN: &str = "# Made by `layers git install --pre-commit`.";

/// The place of the hook.
#[derive(Clone, Debug)]
pub struct Hook {
    path: PathBuf,
    shared: Option<PathBuf>,
}

impl Hook {
    /// Of the repository that a work tree belongs to.
    pub fn of(work_tree: &Path) -> Result<Self, InstallError> {
        let git = Git::in_folder(work_tree);
        let shared = git.look_up(["config", "--type=path", "--get", "core.hooksPath"])?;
        let path = git.ask(["rev-parse", "--git-path", "hooks/pre-commit"])?;
        Ok(Self { path: work_tree.join(path), shared: shared.map(|folder| work_tree.join(folder)) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the hook, unless somebody else's is there.
    pub fn install(&self, program: &Program) -> Result<Step, InstallError> {
        let held = read_bytes(&self.path)?.content();
        if held.as_deref().is_some_and(|held| !is_ours(held)) {
            return Err(InstallError::ForeignHook { path: self.path.clone() });
        }
        if let (Some(folder), None) = (&self.shared, &held) {
            return Err(InstallError::SharedHooks { folder: folder.clone() });
        }
        let text = format!("#!/bin/sh\n{SIGN}\n{}", lines(program));
        if held.as_deref() == Some(text.as_bytes()) {
            return Ok(Step::Nothing);
        }
        let io = |source| InstallError::Io { path: self.path.clone(), source };
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(io)?;
        }
        let expected = held.as_deref().map_or(Expected::Absent, Expected::Bytes);
        replace(&self.path, expected, text.as_bytes(), NewFile::Umask)?;
        let mode = fs::metadata(&self.path).map_err(io)?.permissions().mode();
        // Whoever may read it may run it.
        let mode = mode | (mode & 0o444) >> 2;
        fs::set_permissions(&self.path, fs::Permissions::from_mode(mode)).map_err(io)?;
        Ok(Step::Set)
    }

    /// Takes our hook away.
    pub fn remove(&self) -> Result<Step, InstallError> {
        if !read_bytes(&self.path)?.content().as_deref().is_some_and(is_ours) {
            return Ok(Step::Nothing);
        }
        fs::remove_file(&self.path).map_err(|source| InstallError::Io { path: self.path.clone(), source })?;
        Ok(Step::Removed)
    }
}

fn is_ours(held: &[u8]) -> bool {
    String::from_utf8_lossy(held).lines().nth(1) == Some(SIGN)
}

/// What the hook does, for a hook of one's own too.
pub(super) fn lines(program: &Program) -> String {
    let program = program.quoted();
    format!(
        "# Layers that are about to be committed are checked; `git commit --no-verify` skips it.\n\
         command -v {program} >/dev/null 2>&1 || exit 0\n\
         git diff --cached --name-only --diff-filter=ACMR -z -- ':(glob)**/.harness/*.md' \\\n  \
         | xargs -0 -r {program} check\n"
    )
}

impl Program {
    /// The lines that check layers before a commit, for a hook of one's own.
    pub fn hook_lines(&self) -> String {
        lines(self)
    }
}
