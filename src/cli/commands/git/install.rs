//! `layers git install`: the merge driver, `.gitattributes`, and the hook.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::super::super::context::Context;
use super::super::super::failure::{Exit, Failure};
use crate::git::{Attributes, Driver, Hook, InstallError, Program, Scope, Step, patterns};
use crate::workspace::{Root, WorkTree};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers git install                 the driver for this repository, and .gitattributes
  layers git install --global        the driver for all your repositories, once
  layers git install --pre-commit    and check layers before each commit
  layers git install --remove        take all of it out again

.gitattributes is to be committed: it names the driver for everybody. The driver itself is in
each person's configuration, which git does not share: everybody runs this once. Who has not
merges as git does without it; `layers status` says so.";

// The arguments of `git install`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Take out what was installed
    #[arg(long)]
    remove: bool,
    /// Into your own git configuration, for all repositories; no file of a repository is touched
    #[arg(long)]
    global: bool,
    /// Check the layers of each commit, too
    #[arg(long, conflicts_with = "global", conflicts_with = "remove")]
    pre_commit: bool,
}

#[derive(Serialize)]
struct StepJson {
    what: &'static str,
    path: Option<String>,
    step: Step,
}

pub(crate) fn run(args: &InstallArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let env = cx.env()?;
    cx.out.set_cwd(&env.cwd);
    let program = Program::of_this_process(std::env::var_os("PATH").as_deref())
        .map_err(|error| Failure::new(Exit::Broken, format_args!("which program this is: {error}")))?;
    let mut steps = Vec::new();
    if args.global {
        let driver = Driver::new(&env.cwd, Scope::User);
        let step = if args.remove { driver.remove() } else { driver.install(&program) };
        steps.push(("the merge driver in your git configuration", None, step.map_err(InstallError::from)?));
        return tell(cx, args, &steps);
    }
    let tree = WorkTree::around(&env.cwd.join(".git")).filter(|tree| tree.git_dir.is_dir()).ok_or_else(|| {
        Failure::refused("there is no git work tree here")
            .help("run it where the repository is checked out (a bare repository has no .gitattributes to edit)")
            .help("`layers git install --global` needs no repository")
    })?;
    let root = Root::discover(&env)?;
    let driver = Driver::new(&tree.root, Scope::Repository);
    let attributes = Attributes::new(&tree.root, &patterns(&tree.root, &root.path));
    let file = Some(attributes.path().to_owned());
    if args.remove {
        let hook = Hook::of(&tree.root)?;
        steps.push(("the merge driver", None, driver.remove().map_err(InstallError::from)?));
        steps.push(("the lines that name it", file, attributes.remove()?));
        steps.push(("the pre-commit hook", Some(hook.path().to_owned()), hook.remove()?));
        return tell(cx, args, &steps);
    }
    steps.push(("the merge driver", None, driver.install(&program).map_err(InstallError::from)?));
    steps.push(("the lines that name it", file, attributes.install()?));
    let mut refused = None;
    if args.pre_commit {
        let hook = Hook::of(&tree.root)?;
        match hook.install(&program) {
            Ok(step) => steps.push(("the pre-commit hook", Some(hook.path().to_owned()), step)),
            Err(error) => refused = Some(not_hooked(error, &program)),
        }
    }
    let exit = tell(cx, args, &steps)?;
    refused.map_or(Ok(exit), Err)
}

/// What the user can do about a hook that we did not write.
fn not_hooked(error: InstallError, program: &Program) -> Failure {
    let is_foreign = matches!(error, InstallError::ForeignHook { .. } | InstallError::SharedHooks { .. });
    let failure = Failure::from(error);
    if !is_foreign {
        return failure;
    }
    let lines: String = program.hook_lines().lines().map(|line| format!("\n  {line}")).collect();
    failure
        .help(format_args!("the rest is installed; to check layers, put these lines into that hook:{lines}"))
}

fn tell(
    cx: &mut Context,
    args: &InstallArgs,
    steps: &[(&'static str, Option<PathBuf>, Step)],
) -> Result<Exit, Failure> {
    if cx.globals.json {
        let rows: Vec<StepJson> = steps
            .iter()
            .map(|(what, path, step)| StepJson {
                what,
                path: path.as_ref().map(|path| path.display().to_string()),
                step: *step,
            })
            .collect();
        cx.out.json(&rows)?;
        return Ok(Exit::Done);
    }
    for (what, path, step) in steps {
        let done = match step {
            Step::Set => "set",
            Step::Removed => "removed",
            Step::Nothing if args.remove => "not there:",
            Step::Nothing => "there already:",
        };
        let place = path.as_ref().map(|path| format!(", {}", cx.out.path(path))).unwrap_or_default();
        cx.out.say(format_args!("{done} {what}{place}"));
    }
    let is_new = steps.iter().any(|(_, path, step)| path.is_some() && *step == Step::Set);
    if !args.remove && !args.global && is_new {
        cx.out.hint(
            "commit .gitattributes; everybody who merges runs `layers git install` once in their clone",
        );
    }
    Ok(Exit::Done)
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Self {
        let exit = match &error {
            InstallError::Link { .. }
            | InstallError::ForeignHook { .. }
            | InstallError::SharedHooks { .. } => Exit::Refused,
            InstallError::Git(_) | InstallError::Io { .. } => Exit::Broken,
            InstallError::Read(_) | InstallError::Write(_) => {
                return match error {
                    InstallError::Read(error) => error.into(),
                    InstallError::Write(error) => error.into(),
                    _ => Self::new(Exit::Broken, error),
                };
            }
        };
        Self::new(exit, error)
    }
}
