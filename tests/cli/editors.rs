//! Real editors, in the ways in which they save: over the file, by a rename, with a backup put
//! aside first. Each is skipped where it is not installed.

use std::fs;
use std::process::Command;

use super::scene::HOME;
use super::stage::{Form, REPO, Stage};

/// Whether a program is here; if not, that is said.
fn is_here(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", "command -v \"$1\"", "sh", program]).output();
    let is_here = found.is_ok_and(|found| found.status.success());
    if !is_here {
        println!("skipped: {program} is not installed");
    }
    is_here
}

/// Runs an editor on the layer, with `layers` at hand for what happens meanwhile.
fn edit(stage: &Stage, program: &str, args: &[&str]) {
    let layers = env!("CARGO_BIN_EXE_layers");
    let at = stage.scene.path("app");
    let mut command = Command::new(program);
    command.args(args).arg(stage.scene.path(stage.path)).current_dir(at).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", stage.scene.path("home"));
    command.env("LAYERS", layers).env("LAYERS_MODEL", "a/m").env("TERM", "dumb");
    // Vim asks whether to write over what was written meanwhile.
    let answer = stage.scene.path("answer");
    fs::write(&answer, "y\n").unwrap();
    command.stdin(fs::File::open(answer).unwrap());
    let done = command.output().unwrap();
    assert!(done.status.success(), "{program}: {done:?}");
}

/// In one form and place each.
fn on_both(test: impl Fn(&Stage)) {
    for (path, form, eol) in [(HOME, Form::Blocks, "\n"), (REPO, Form::Bullets, "\r\n")] {
        println!("with {path} as {form:?}, line end {eol:?}");
        test(&Stage::with(path, form, eol, &[("n1", "alpha"), ("n2", "beta")]));
    }
}

/// Vim in one of its ways to write.
fn vim(stage: &Stage, options: &str, commands: &[&str]) {
    let mut args = vec!["-es", "-N", "-u", "NONE", "-i", "NONE", "-c", options];
    for command in commands {
        args.extend(["-c", command]);
    }
    args.extend(["-c", "w!", "-c", "qa!"]);
    edit(stage, "vim", &args);
}

const WAYS_OF_VIM: [&str; 4] = [
    "set backupcopy=yes nobackup",
    "set backupcopy=no nowritebackup",
    "set backupcopy=no backup",
    "set backupcopy=yes writebackup noswapfile",
];

fn only_layers_are_read(stage: &Stage) {
    let list = stage.json(&["list", "--all"]);
    let paths: Vec<&str> =
        list.as_array().unwrap().iter().map(|note| note["path"].as_str().unwrap()).collect();
    assert!(paths.iter().all(|path| path.ends_with("/app.md")), "{paths:?}");
    let status = stage.json(&["status"]);
    assert_eq!(status["others"], serde_json::json!([]), "backup files are no layers");
}

#[test]
fn vim_saves_are_edits_in_whatever_way_it_writes() {
    if !is_here("vim") {
        return;
    }
    for options in WAYS_OF_VIM {
        on_both(|stage| {
            vim(stage, options, &["%s/alpha/alpha!/"]);
            stage.sync().ok();
            stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta")]);
            vim(stage, options, &["%s/alpha!/alpha!!/"]);
            stage.sync().ok();
            stage.is_in_step(&[("n1", "alpha!!"), ("n2", "beta")]);
            assert!(stage.history("n1").iter().all(|(op, _)| op == "update"), "{:?}", stage.history("n1"));
            assert!(stage.archive().is_empty());
            only_layers_are_read(stage);
        });
    }
}

#[test]
fn a_buffer_of_vim_that_was_loaded_before_the_agent_wrote_takes_nothing_away() {
    if !is_here("vim") {
        return;
    }
    for options in &WAYS_OF_VIM[..2] {
        on_both(|stage| {
            let add = format!("silent !$LAYERS add --model '' --layer {} --id n3 gamma", stage.layer());
            vim(stage, options, &[&add, "silent !$LAYERS edit n2 --content 'beta two'", "%s/alpha/alpha!/"]);
            let saved = stage.read();
            assert!(saved.contains("alpha!") && !saved.contains("gamma"), "the buffer was stale: {saved}");
            stage.has(&[("n1", "alpha!"), ("n2", "beta two"), ("n3", "gamma")]);
            let said = stage.sync().ok();
            assert!(said.contains("stale save merged"), "{said}");
            stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta two"), ("n3", "gamma")]);
        });
    }
}

#[test]
fn stream_editors_save_by_a_rename() {
    for (program, args) in
        [("sed", &["-i", "s/alpha/alpha!/"][..]), ("perl", &["-pi", "-e", "s/alpha/alpha!/"])]
    {
        if !is_here(program) {
            continue;
        }
        on_both(|stage| {
            stage.agent_adds("n3", "gamma");
            edit(stage, program, args);
            stage.sync().ok();
            stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta"), ("n3", "gamma")]);
            assert!(stage.archive().is_empty());
        });
    }
}

#[test]
fn emacs_saves_with_a_backup_are_edits() {
    if !is_here("emacs") {
        return;
    }
    let code = "(with-current-buffer (find-file-noselect (car command-line-args-left)) \
                (goto-char (point-min)) (while (search-forward \"alpha\" nil t) (replace-match \"alpha!\")) \
                (save-buffer) (kill-emacs 0))";
    for copying in ["nil", "t"] {
        let stage = Stage::with(REPO, Form::Blocks, "\n", &[("n1", "alpha"), ("n2", "beta")]);
        let set = format!("(setq backup-by-copying {copying} create-lockfiles t)");
        edit(&stage, "emacs", &["-Q", "--batch", "--eval", &set, "--eval", code]);
        stage.sync().ok();
        stage.is_in_step(&[("n1", "alpha!"), ("n2", "beta")]);
        only_layers_are_read(&stage);
    }
}
