//! Help that teaches, and suggestions for slips.

use super::scene::Scene;

const COMMANDS: [&str; 16] = [
    "init",
    "status",
    "list",
    "show",
    "add",
    "edit",
    "keep",
    "drop",
    "move",
    "render",
    "export",
    "check",
    "claim",
    "fmt",
    "completions",
    "man",
];

#[test]
fn every_command_teaches_by_example() {
    let scene = Scene::new();
    let overview = scene.run(&["-h"]).ok();
    for command in COMMANDS {
        let long = scene.run(&[command, "--help"]).ok();
        assert!(
            long.contains("Examples:\n  ") && long.contains(&format!("layers {command}")),
            "{command}:\n{long}"
        );
        for option in ["--root", "--project", "--model", "--json", "--color", "--quiet", "--verbose"] {
            assert!(long.contains(option), "{command} {option}");
        }
        let short = scene.run(&[command, "-h"]).ok();
        assert!(!short.contains("Examples:") && short.lines().count() < 45, "{short}");
        let about = short.lines().next().unwrap_or_default();
        assert!(overview.contains(&format!("{command} ")) && overview.contains(about), "{short}");
    }
    scene.run(&["--help"]).ends(0).prints("Exit codes:");
}

#[test]
fn slips_are_answered_with_the_right_word() {
    let scene = Scene::new();
    scene.run(&["lst"]).ends(2).says("'list'");
    scene.run(&["list", "--knd", "x"]).ends(2).says("'--kind'");
    scene.run(&[]).ends(2).says("Usage: layers");
    scene.run(&["--version"]).ends(0).prints("layers 0.");
}

#[test]
fn colour_is_for_terminals_or_on_request() {
    let scene = Scene::new().home("---\nid: n1\nkind: memroy\n---\n\nx\n");
    assert!(!scene.run(&["check"]).ends(1).out.contains('\u{1b}'));
    assert!(scene.run(&["check", "--color", "always"]).ends(1).out.contains('\u{1b}'));
    assert!(scene.run(&["--color=always", "--help"]).ok().contains('\u{1b}'));
}
