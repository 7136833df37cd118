//! All that the answer depends on, apart from the disk.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use super::error::WorkspaceError;

/// The world as one process sees it. Empty values count as unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env {
    /// `--root`.
    pub root_option: Option<PathBuf>,
    /// `--project`.
    pub project_option: Option<String>,
    /// `$LAYERS_ROOT`.
    pub layers_root: Option<PathBuf>,
    /// `$LAYERS_PROJECT`.
    pub layers_project: Option<String>,
    /// `$RLM_PROJECT_NAME`.
    pub rlm_project_name: Option<String>,
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// The working directory, absolute and as it was given: pi makes its slug from that.
    pub cwd: PathBuf,
}

impl Env {
    /// This process's environment. The options are left for the caller to fill in.
    pub fn from_process() -> Result<Self, WorkspaceError> {
        let cwd = env::current_dir().map_err(|source| WorkspaceError::NoWorkingDirectory { source })?;
        // What is not UTF-8 is no key; made lossy, it is refused with its name.
        let key = |value: OsString| value.to_string_lossy().into_owned();
        Ok(Self {
            root_option: None,
            project_option: None,
            layers_root: env::var_os("LAYERS_ROOT").map(PathBuf::from),
            layers_project: env::var_os("LAYERS_PROJECT").map(key),
            rlm_project_name: env::var_os("RLM_PROJECT_NAME").map(key),
            home: env::var_os("HOME").map(PathBuf::from),
            cwd,
        })
    }
}
