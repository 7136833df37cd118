//! Reading and replacing over real folders, users and disks.
//!
//! Mode bits do not bind root, so tests about them run once more as `nobody` when the
//! suite runs as root: the test binary is copied to where that user can start it. The
//! full disk is a small tmpfs in a user namespace. Where the system allows neither, the
//! test says so and passes.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a failed test is to panic, a skipped one to say so"
)]

use std::env;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness_layers::files::{
    Action, ChangedTo, Expected, Found, NewFile, ReadError, WriteError, Wrote, create_folder, final_target,
    list_names, read_text, replace,
};
use tempfile::TempDir;

const NOBODY: u32 = 65_534;

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// No temporary file was left behind.
fn assert_tidy(folder: &Path, names: &[&str]) {
    let mut found: Vec<OsString> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, names, "in {}", folder.display());
}

fn we_are_root() -> bool {
    TempDir::new().unwrap().path().metadata().unwrap().uid() == 0
}

/// Runs the named test of this binary once more, in a prepared command.
fn this_test(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command
}

/// Whether the body of test `name` may run here and now, bound by mode bits. As root it
/// is run as another user instead, and that run is asserted.
fn bound_by_modes(name: &str) -> bool {
    if !we_are_root() {
        return true;
    }
    let stage = TempDir::new().unwrap();
    set_mode(stage.path(), 0o777);
    let program = stage.path().join("tests");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    set_mode(&program, 0o755);
    let run = this_test(&program, name)
        .env("TMPDIR", stage.path())
        .current_dir(stage.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    match run {
        Ok(run) => {
            let said = String::from_utf8_lossy(&run.stdout).into_owned();
            assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
            assert!(said.contains("1 passed"), "the test did not run: {said}");
        }
        Err(error) => eprintln!("{name}: skipped, cannot become another user: {error}"),
    }
    false
}

#[test]
fn content_and_absence_are_told_apart_from_the_unknown() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    assert_eq!(read_text(&path).unwrap(), Found::Absent);
    assert_eq!(read_text(&dir.path().join("no/such/a.md")).unwrap(), Found::Absent);
    fs::write(&path, "text").unwrap();
    assert_eq!(read_text(&path).unwrap().content().as_deref(), Some("text"));
    symlink("a.md", dir.path().join("link.md")).unwrap();
    assert_eq!(read_text(&dir.path().join("link.md")).unwrap().content().as_deref(), Some("text"));
}

#[test]
fn a_dangling_link_is_not_absent_wherever_it_is_on_the_way() {
    let dir = TempDir::new().unwrap();
    let link = dir.path().join("a.md");
    symlink("gone.md", &link).unwrap();
    assert!(matches!(read_text(&link), Err(ReadError::DanglingLink { link: l, .. }) if l == link));

    let chain = dir.path().join("chain.md");
    symlink("a.md", &chain).unwrap();
    assert!(matches!(read_text(&chain), Err(ReadError::DanglingLink { .. })));

    let folder = dir.path().join("unmounted");
    symlink("/no/such/disk", &folder).unwrap();
    for path in [folder.join("a.md"), folder.join("deeper/a.md")] {
        assert!(matches!(read_text(&path), Err(ReadError::DanglingLink { link, .. }) if link == folder));
    }
    assert!(matches!(list_names(&folder), Err(ReadError::DanglingLink { .. })));
}

#[test]
fn what_is_no_readable_file_is_unknown() {
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("folder.md");
    fs::create_dir(&folder).unwrap();
    let error = read_text(&folder).unwrap_err();
    assert!(error.to_string().contains("folder.md is a folder, not a file"), "{error}");

    let pipe = dir.path().join("pipe.md");
    if Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        assert!(matches!(read_text(&pipe), Err(ReadError::NotAFile { what: "a pipe", .. })));
    }

    let round = dir.path().join("round.md");
    symlink("round.md", &round).unwrap();
    assert!(matches!(read_text(&round), Err(ReadError::Io { .. })));

    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(read_text(&file.join("a.md")), Err(ReadError::Io { .. })));

    // Reading this process's memory from address 0 is an I/O error on Linux.
    if cfg!(target_os = "linux") {
        let error = read_text(Path::new("/proc/self/mem")).unwrap_err();
        assert!(matches!(&error, ReadError::Io { action: Action::Read, .. }), "{error}");
        assert!(error.to_string().starts_with("cannot read /proc/self/mem: "), "{error}");
    }
}

#[test]
fn text_that_is_not_utf8_is_reported_with_its_place_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    let bytes = b"one\nzw\xc3\xb6 \xff\n";
    fs::write(&path, bytes).unwrap();
    match read_text(&path).unwrap_err() {
        ReadError::NotUtf8 { offset, line, column, .. } => assert_eq!((offset, line, column), (9, 2, 5)),
        other => panic!("{other}"),
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn permission_denied_is_unknown() {
    if !bound_by_modes("permission_denied_is_unknown") {
        return;
    }
    let dir = TempDir::new().unwrap();
    let locked = dir.path().join("locked.md");
    fs::write(&locked, "secret").unwrap();
    set_mode(&locked, 0o000);
    let error = read_text(&locked).unwrap_err();
    assert!(error.to_string().contains("locked.md: Permission denied"), "{error}");

    // Neither a folder that cannot be entered nor one that cannot be listed proves absence.
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    for mode in [0o000, 0o300] {
        set_mode(&folder, mode);
        let result = read_text(&folder.join("a.md"));
        set_mode(&folder, 0o700);
        assert!(matches!(result, Err(ReadError::Io { .. })), "{mode:o}: {result:?}");
    }
}

#[test]
fn a_new_file_is_private_or_as_the_umask_says() {
    let dir = TempDir::new().unwrap();
    let private = dir.path().join("root/harness-state/a.md");
    assert_eq!(replace(&private, Expected::Absent, b"a", NewFile::Private).unwrap(), Wrote::Created);
    assert_eq!(mode_of(&private), 0o600);
    assert_eq!(mode_of(private.parent().unwrap()), 0o700);
    assert_eq!(mode_of(&dir.path().join("root")), 0o700);
    assert_tidy(private.parent().unwrap(), &["a.md"]);

    let by_umask = dir.path().join("by_umask");
    fs::write(&by_umask, "").unwrap();
    let shared = dir.path().join("repo/.harness/a.md");
    assert_eq!(replace(&shared, Expected::Absent, b"a", NewFile::Umask).unwrap(), Wrote::Created);
    assert_eq!(mode_of(&shared), mode_of(&by_umask));
}

#[test]
fn a_file_is_replaced_with_its_mode_and_not_at_all_if_it_is_equal() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    fs::write(&path, "old").unwrap();
    for mode in [0o640, 0o664, 0o600, 0o755] {
        set_mode(&path, mode);
        let old = fs::read(&path).unwrap();
        let new = format!("mode {mode:o}");
        let wrote = replace(&path, Expected::Bytes(&old), new.as_bytes(), NewFile::Private).unwrap();
        assert_eq!(wrote, Wrote::Replaced);
        assert_eq!(mode_of(&path), mode);
        assert_eq!(fs::read_to_string(&path).unwrap(), new);
    }
    let before = fs::metadata(&path).unwrap();
    let same = fs::read(&path).unwrap();
    assert_eq!(replace(&path, Expected::Bytes(&same), &same, NewFile::Private).unwrap(), Wrote::Nothing);
    let after = fs::metadata(&path).unwrap();
    assert_eq!((before.ino(), before.ctime_nsec()), (after.ino(), after.ctime_nsec()));
    assert_tidy(dir.path(), &["a.md"]);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_replaced() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    let to = |expected: Expected<'_>| match replace(&path, expected, b"new", NewFile::Private) {
        Err(WriteError::Changed { to, path: named }) => {
            assert_eq!(named, path);
            to
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(to(Expected::Bytes(b"old")), ChangedTo::Absent);
    fs::write(&path, "newer").unwrap();
    assert_eq!(to(Expected::Bytes(b"old")), ChangedTo::OtherBytes);
    assert_eq!(to(Expected::Absent), ChangedTo::Present);
    assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
    assert_tidy(dir.path(), &["a.md"]);
}

#[test]
fn what_cannot_be_read_is_not_overwritten() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    fs::create_dir(&path).unwrap();
    for expected in [Expected::Absent, Expected::Bytes(b"")] {
        let error = replace(&path, expected, b"x", NewFile::Private).unwrap_err();
        assert!(matches!(&error, WriteError::Unreadable(ReadError::NotAFile { .. })), "{error}");
    }
}

#[test]
fn links_stay_and_the_file_that_they_lead_to_is_written_in_its_own_folder() {
    // The middle folder is read-only, which only binds an ordinary user.
    if !bound_by_modes("links_stay_and_the_file_that_they_lead_to_is_written_in_its_own_folder") {
        return;
    }
    let dir = TempDir::new().unwrap();
    let [root, middle, dotfiles] = ["root", "middle", "dotfiles"].map(|name| {
        let folder = dir.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    });
    let target = dotfiles.join("global.md");
    fs::write(&target, "old").unwrap();
    set_mode(&target, 0o640);
    symlink("../dotfiles/global.md", middle.join("link.md")).unwrap();
    symlink("../middle/link.md", root.join("harness-state.md")).unwrap();
    set_mode(&root, 0o500);
    set_mode(&middle, 0o500);

    let wrote = replace(&root.join("harness-state.md"), Expected::Bytes(b"old"), b"new", NewFile::Private);
    set_mode(&root, 0o700);
    set_mode(&middle, 0o700);
    assert_eq!(wrote.unwrap(), Wrote::Replaced);
    assert_eq!(fs::read_link(root.join("harness-state.md")).unwrap(), Path::new("../middle/link.md"));
    assert_eq!(fs::read_link(middle.join("link.md")).unwrap(), Path::new("../dotfiles/global.md"));
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    assert_eq!(mode_of(&target), 0o640);
    assert!(!fs::symlink_metadata(&target).unwrap().is_symlink());
    for (folder, name) in [(&root, "harness-state.md"), (&middle, "link.md"), (&dotfiles, "global.md")] {
        assert_tidy(folder, &[name]);
    }
}

#[test]
fn a_dangling_link_gets_its_target_but_no_folder() {
    let dir = TempDir::new().unwrap();
    let link = dir.path().join("a.md");
    symlink("b.md", &link).unwrap();
    symlink("c.md", dir.path().join("b.md")).unwrap();
    assert_eq!(final_target(&link).unwrap(), fs::canonicalize(dir.path()).unwrap().join("c.md"));
    assert_eq!(replace(&link, Expected::Absent, b"x", NewFile::Private).unwrap(), Wrote::Created);
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("b.md"));
    assert_eq!(fs::read_to_string(dir.path().join("c.md")).unwrap(), "x");

    // As below an empty mount point.
    let lost = dir.path().join("lost.md");
    symlink("disk/global.md", &lost).unwrap();
    let error = replace(&lost, Expected::Absent, b"x", NewFile::Private).unwrap_err();
    assert!(matches!(&error, WriteError::Io { action: Action::CreateTemporary, .. }), "{error}");
    assert!(!dir.path().join("disk").exists());
}

#[test]
fn hard_links_are_refused() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    fs::write(&path, "old").unwrap();
    fs::hard_link(&path, dir.path().join("b.md")).unwrap();
    let error = replace(&path, Expected::Bytes(b"old"), b"new", NewFile::Private).unwrap_err();
    assert!(matches!(error, WriteError::HardLinked { links: 2, .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_tidy(dir.path(), &["a.md", "b.md"]);
}

#[test]
fn a_read_only_file_is_refused_even_if_a_rename_would_do() {
    // For root too: the mode says what the owner wants.
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o444);
    let error = replace(&path, Expected::Bytes(b"old"), b"new", NewFile::Private).unwrap_err();
    assert!(error.to_string().contains("a.md is read-only for this user (mode 0444)"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_tidy(dir.path(), &["a.md"]);
}

#[test]
fn a_read_only_folder_is_an_error_with_path_and_action() {
    if !bound_by_modes("a_read_only_folder_is_an_error_with_path_and_action") {
        return;
    }
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    fs::write(&path, "old").unwrap();
    set_mode(dir.path(), 0o500);
    let error = replace(&path, Expected::Bytes(b"old"), b"new", NewFile::Private).unwrap_err();
    let fresh = replace(&dir.path().join("x/b.md"), Expected::Absent, b"new", NewFile::Private).unwrap_err();
    set_mode(dir.path(), 0o700);
    assert!(matches!(&error, WriteError::Io { action: Action::CreateTemporary, .. }), "{error}");
    assert!(error.to_string().contains("create a temporary file for") && error.path() == path, "{error}");
    assert!(matches!(&fresh, WriteError::Io { action: Action::CreateFolder, .. }), "{fresh}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_tidy(dir.path(), &["a.md"]);
}

#[test]
fn root_keeps_the_owner_and_others_do_not_take_what_is_not_theirs() {
    if !we_are_root() {
        eprintln!("skipped: only root can give files away");
        return;
    }
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.md");
    fs::write(&path, "old").unwrap();
    if let Err(error) = chown(&path, Some(12_345), Some(54_321)) {
        eprintln!("skipped: cannot give files away: {error}");
        return;
    }
    set_mode(&path, 0o640);
    replace(&path, Expected::Bytes(b"old"), b"new", NewFile::Private).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), mode_of(&path)), (12_345, 54_321, 0o640));
}

#[test]
fn a_full_disk_leaves_the_old_file_whole_and_nothing_else() {
    const DISK: &str = "HL_TEST_SMALL_DISK";
    let name = "a_full_disk_leaves_the_old_file_whole_and_nothing_else";
    if let Some(disk) = env::var_os(DISK) {
        let disk = PathBuf::from(disk);
        let path = disk.join("a.md");
        fs::write(&path, "old").unwrap();
        let error =
            replace(&path, Expected::Bytes(b"old"), &vec![b'x'; 200_000], NewFile::Private).unwrap_err();
        assert!(
            matches!(&error, WriteError::Io { action: Action::WriteTemporary | Action::SyncTemporary, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("a.md"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_tidy(&disk, &["a.md"]);
        assert!(
            replace(&disk.join("b.md"), Expected::Absent, &vec![b'x'; 200_000], NewFile::Private).is_err()
        );
        assert_tidy(&disk, &["a.md"]);
        return;
    }
    let disk = TempDir::new().unwrap();
    let mount = "mount -t tmpfs -o size=64k none \"$0\" || exit 77; exec \"$@\"";
    let program = env::current_exe().unwrap();
    let run = Command::new("unshare")
        .args(["-Urm", "sh", "-c", mount])
        .arg(disk.path())
        .arg(&program)
        .args(["--exact", name, "--nocapture"])
        .env(DISK, disk.path())
        .output();
    match run {
        Ok(run) if run.status.success() => {
            assert!(String::from_utf8_lossy(&run.stdout).contains("1 passed"));
        }
        // 77: no mount; 1 without a test report: no namespace.
        Ok(run) if !String::from_utf8_lossy(&run.stdout).contains("running 1 test") => {
            eprintln!("skipped, no small disk here: {}", String::from_utf8_lossy(&run.stderr));
        }
        Ok(run) => panic!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr)),
        Err(error) => eprintln!("skipped, no `unshare`: {error}"),
    }
}

#[test]
fn names_are_listed_sorted() {
    let dir = TempDir::new().unwrap();
    for name in ["b.md", "a.md", ".c.md"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    assert_eq!(list_names(dir.path()).unwrap().content().unwrap(), [".c.md", "a.md", "b.md"]);
    assert_eq!(list_names(&dir.path().join("none")).unwrap(), Found::Absent);
}

#[test]
fn folders_that_exist_keep_their_mode() {
    let dir = TempDir::new().unwrap();
    set_mode(dir.path(), 0o755);
    create_folder(&dir.path().join("a/b"), NewFile::Private).unwrap();
    create_folder(&dir.path().join("a/b"), NewFile::Private).unwrap();
    assert_eq!(mode_of(dir.path()), 0o755);
    assert_eq!(mode_of(&dir.path().join("a/b")), 0o700);
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(create_folder(&dir.path().join("file/c"), NewFile::Private).is_err());
}
