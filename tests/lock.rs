//! The lock between real processes: this test binary starts itself as the other one.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failed test is to panic, a skipped one to say so"
)]

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use harness_layers::files::{Expected, LOCK_FILE, Lock, LockError, NewFile, read_text, replace};
use tempfile::TempDir;

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

const HELPER_ROOT: &str = "HL_TEST_LOCK_ROOT";
const HELPER_ROUNDS: &str = "HL_TEST_LOCK_ROUNDS";

/// The other process of the lock tests; does nothing when the suite runs it.
#[test]
fn helper_process_with_a_lock() {
    let Some(root) = env::var_os(HELPER_ROOT).map(PathBuf::from) else { return };
    let rounds: Option<u32> = env::var(HELPER_ROUNDS).ok().map(|rounds| rounds.parse().unwrap());
    let counter = root.join("counter");
    for _ in 0..rounds.unwrap_or(0) {
        let _lock = Lock::acquire(&root, Duration::from_secs(30)).unwrap();
        let old = read_text(&counter).unwrap().content().unwrap();
        let new = (old.parse::<u32>().unwrap() + 1).to_string();
        replace(&counter, Expected::Bytes(old.as_bytes()), new.as_bytes(), NewFile::Private).unwrap();
    }
    if rounds.is_none() {
        let _lock = Lock::acquire(&root, Duration::from_secs(5)).unwrap();
        println!("\nheld");
        std::thread::sleep(Duration::from_mins(1));
    }
}

fn helper(root: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "helper_process_with_a_lock", "--nocapture"]);
    command.env(HELPER_ROOT, root).stdout(Stdio::piped());
    command
}

fn holder(root: &Path) -> Child {
    let mut child = helper(root).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "held"), "the helper took no lock");
    child
}

#[test]
fn a_held_lock_is_waited_for_and_then_named() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("new/root");
    let mut child = holder(&root);
    assert_eq!(mode_of(&root), 0o700);
    assert_eq!(mode_of(&root.join(LOCK_FILE)), 0o600);

    let patience = Duration::from_millis(80);
    let start = Instant::now();
    match Lock::acquire(&root, patience) {
        Err(error @ LockError::Held { .. }) => {
            let text = error.to_string();
            assert!(start.elapsed() >= patience, "{:?}", start.elapsed());
            assert!(text.contains(".layers.lock is held by process"), "{text}");
            assert!(text.contains(&child.id().to_string()), "{text}");
        }
        other => panic!("{other:?}"),
    }

    // SIGKILL leaves no time for a clean-up; the kernel does it.
    child.kill().unwrap();
    let lock = Lock::acquire(&root, Duration::from_secs(10)).unwrap();
    child.wait().unwrap();
    assert!(matches!(Lock::acquire(&root, Duration::ZERO), Err(LockError::Held { .. })));
    drop(lock);
    let lock = Lock::acquire(&root, Duration::ZERO).unwrap();
    assert_eq!(lock.path(), root.join(LOCK_FILE));
}

#[test]
fn two_processes_with_one_lock_lose_no_update() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("counter"), "0").unwrap();
    let children: Vec<Child> =
        (0..2).map(|_| helper(dir.path()).env(HELPER_ROUNDS, "40").spawn().unwrap()).collect();
    for child in children {
        let run = child.wait_with_output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    }
    assert_eq!(fs::read_to_string(dir.path().join("counter")).unwrap(), "80");
}
