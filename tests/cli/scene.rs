//! A sealed world for one run of the binary after another: a home folder, a project
//! folder, a cleared environment.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The world. Paths are relative to it; `@` in arguments and expectations stands for it.
pub(crate) struct Scene {
    dir: TempDir,
    at: PathBuf,
    cwd: String,
    vars: Vec<(&'static str, String)>,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Scene {
    /// With `home` and a project folder `app`, in no repository.
    pub(crate) fn new() -> Self {
        // Every write is flushed to the disk; in memory that takes no time.
        let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        let at = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(at.join("home")).unwrap();
        fs::create_dir_all(at.join("app")).unwrap();
        Self { dir, at, cwd: "app".into(), vars: Vec::new() }
    }

    /// With `app` as a repository that is trusted.
    pub(crate) fn repo() -> Self {
        let scene = Self::strangers();
        scene.trust("app");
        scene
    }

    /// As [`Self::repo`], as it is after a clone: nobody has trusted it.
    pub(crate) fn strangers() -> Self {
        let scene = Self::new();
        scene.git("app", &["init", "-q", "-b", "main"]);
        scene
    }

    /// Trusts the repository around a folder.
    pub(crate) fn trust(&self, folder: &str) {
        self.run(&["trust", "-q", self.path(folder).to_str().unwrap()]).ok();
    }

    pub(crate) fn git(&self, folder: &str, args: &[&str]) {
        let run = self.try_git(folder, args);
        assert_eq!(run.code, 0, "git {args:?}: {}", run.err);
    }

    /// As [`Self::git`], for what may fail, or what is printed.
    pub(crate) fn try_git(&self, folder: &str, args: &[&str]) -> Ran {
        let done = Command::new("git")
            .args(args)
            .current_dir(self.path(folder))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")])
            .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
            .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
            .env("GIT_EDITOR", "true")
            .output()
            .unwrap();
        self.ran(&done)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.at.join(path)
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// The global layer.
    pub(crate) fn global(self, text: &str) -> Self {
        self.file("home/.harness/harness-state.md", text)
    }

    /// The private layer of `app`.
    pub(crate) fn home(self, text: &str) -> Self {
        self.file(HOME, text)
    }

    pub(crate) fn cwd(mut self, cwd: &str) -> Self {
        self.cwd = cwd.into();
        self
    }

    pub(crate) fn var(mut self, name: &'static str, value: &str) -> Self {
        self.vars.push((name, value.into()));
        self
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_layers"));
        command
            .args(args.iter().map(|arg| arg.replace('@', self.at.to_str().unwrap())))
            .current_dir(self.path(&self.cwd))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .envs(self.vars.iter().map(|(name, value)| (name, value.replace('@', self.at.to_str().unwrap()))))
            .stdin(Stdio::null());
        command
    }

    /// Runs `layers` with these arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let done = self.command(args).output().unwrap();
        self.ran(&done)
    }

    /// As [`Self::run`], by an agent of this model.
    pub(crate) fn run_as(&self, model: &str, args: &[&str]) -> Ran {
        let done = self.command(args).env("LAYERS_MODEL", model).output().unwrap();
        self.ran(&done)
    }

    /// As [`Self::run`], with something on standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        self.ran(&done)
    }

    pub(crate) fn ran(&self, done: &std::process::Output) -> Ran {
        let text =
            |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().replace(self.at.to_str().unwrap(), "@");
        Ran { code: done.status.code().unwrap(), out: text(&done.stdout), err: text(&done.stderr) }
    }

    /// Keeps the folder alive until here.
    pub(crate) fn end(self) {
        self.dir.close().unwrap();
    }
}

/// The private layer of `app`.
pub(crate) const HOME: &str = "home/.harness/harness-state/app.md";

impl Ran {
    /// Ended with 0; the output.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        self.ends(0).out
    }

    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Self {
        assert!(self.err.contains(part), "{part:?} is not in stderr:\n{}", self.err);
        self
    }

    #[track_caller]
    pub(crate) fn prints(self, part: &str) -> Self {
        assert!(self.out.contains(part), "{part:?} is not in stdout:\n{}", self.out);
        self
    }

    /// Standard output and error as one text, for snapshots.
    pub(crate) fn all(&self) -> String {
        format!("{}--- stderr, exit {}\n{}", self.out, self.code, self.err)
    }
}
