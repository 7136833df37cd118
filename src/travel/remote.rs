//! The other end: fetching from it and pushing to it.

use std::io::IsTerminal as _;
use std::process::Command;

use super::{Remote, TravelError, Trip};
use crate::git::{Git, GitError, finished};

/// What came of asking the remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// We know what it has.
    Done,
    /// It could not be reached; what git said.
    Offline(String),
    /// There is none.
    NoRemote,
}

/// What came of pushing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The remote has our commits.
    Done,
    /// It had them.
    Nothing,
    /// Somebody else was faster; fetch and merge again.
    Overtaken,
    /// It could not be reached; what git said.
    Offline(String),
}

/// What git, ssh and curl say when there is no way to the other machine, in lower case.
const NO_WAY: [&str; 12] = [
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "no route to host",
    "connection refused",
    "connection timed out",
    "connection reset",
    "operation timed out",
    "failed to connect",
    "couldn't connect",
    "operation too slow",
];

/// What git says of a push that came too late: of the remote branch being ahead of what we
/// know, and of two pushes at one moment.
const TOO_LATE: [&str; 5] =
    ["(fetch first)", "(non-fast-forward)", "cannot lock ref", "failed to update ref", "incorrect old value"];

impl Remote {
    /// What the branch follows; else the only remote there is.
    pub(super) fn of(git: &Git, branch: &str) -> Result<Option<Self>, TravelError> {
        let get = |key: &str| git.ask(["config", "--get", key]).ok().filter(|value| !value.is_empty());
        let followed = get(&format!("branch.{branch}.remote")).zip(get(&format!("branch.{branch}.merge")));
        if let Some((name, merge)) = followed.filter(|(name, _)| name != ".") {
            let there = merge.strip_prefix("refs/heads/").unwrap_or(&merge).to_owned();
            let tracking = git
                .ask(["for-each-ref", "--format=%(upstream)", &format!("refs/heads/{branch}")])
                .ok()
                .filter(|tracking| !tracking.is_empty());
            let tracking = tracking.unwrap_or_else(|| format!("refs/remotes/{name}/{there}"));
            return Ok(Some(Self { name, branch: there, tracking, is_upstream: true }));
        }
        let remotes = git.ask(["remote"])?;
        let remotes: Vec<&str> = remotes.lines().collect();
        let name = match remotes[..] {
            [] => return Ok(None),
            [only] => only.to_owned(),
            _ => {
                let default = get("remote.pushDefault").filter(|name| remotes.contains(&name.as_str()));
                let Some(name) = default else {
                    let top = git.ask(["rev-parse", "--show-toplevel"])?.into();
                    return Err(TravelError::WhichRemote { top, branch: branch.to_owned() });
                };
                name
            }
        };
        let tracking = format!("refs/remotes/{name}/{branch}");
        Ok(Some(Self { name, branch: branch.to_owned(), tracking, is_upstream: false }))
    }
}

impl Trip {
    /// Asks the remote what it has.
    pub fn fetch(&self) -> Result<Fetched, TravelError> {
        let Some(remote) = &self.remote else { return Ok(Fetched::NoRemote) };
        let what = format!("+refs/heads/{}:{}", remote.branch, remote.tracking);
        let flags = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"];
        match finished(self.far(flags).args([&remote.name, &what])) {
            Ok(_) => Ok(Fetched::Done),
            Err(error) if is_offline(&error) => Ok(Fetched::Offline(error.message())),
            // Nobody pushed yet, or the branch was taken away there.
            Err(error) if says(&error, &["couldn't find remote ref"]) => {
                if self.commit_of(&remote.tracking).is_some() {
                    self.git.run(["update-ref", "-d", &remote.tracking])?;
                }
                Ok(Fetched::Done)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the remote branch, as far as known, lacks commits of ours.
    pub fn is_ahead(&self) -> bool {
        let Some(remote) = &self.remote else { return false };
        match (self.commit_of("HEAD"), self.commit_of(&remote.tracking)) {
            (Some(ours), Some(theirs)) => !self.is_ancestor(&ours, &theirs),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Gives the remote our commits; never by force.
    pub fn push(&self) -> Result<Pushed, TravelError> {
        let Some(remote) = self.remote.as_ref().filter(|_| self.is_ahead()) else {
            return Ok(Pushed::Nothing);
        };
        let what = format!("refs/heads/{}:refs/heads/{}", self.branch, remote.branch);
        let mut push = self.far(["push", "--quiet", "--no-follow-tags", "--recurse-submodules=no"]);
        if !remote.is_upstream {
            push.arg("--set-upstream");
        }
        push.args([&remote.name, &what]);
        match finished(&mut push) {
            Ok(_) => Ok(Pushed::Done),
            Err(error) if is_offline(&error) => Ok(Pushed::Offline(error.message())),
            Err(error) if says(&error, &TOO_LATE) => Ok(Pushed::Overtaken),
            Err(error) => Err(error.into()),
        }
    }

    /// git on the way to another machine: without a terminal it asks nobody, and it gives
    /// up on a dead line.
    fn far<const N: usize>(&self, args: [&str; N]) -> Command {
        let git = self.git.clone().with("http.lowSpeedLimit=1").with("http.lowSpeedTime=30");
        let mut command = git.command(args);
        if std::io::stdin().is_terminal() {
            return command;
        }
        command.env("GIT_TERMINAL_PROMPT", "0");
        let has_own_ssh = ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|name| std::env::var_os(name).is_some())
            || self.git.ask(["config", "--get", "core.sshCommand"]).is_ok();
        if !has_own_ssh {
            command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=15");
        }
        command
    }
}

fn is_offline(error: &GitError) -> bool {
    says(error, &NO_WAY)
}

fn says(error: &GitError, phrases: &[&str]) -> bool {
    let message = error.message().to_lowercase();
    phrases.iter().any(|phrase| message.contains(phrase))
}
