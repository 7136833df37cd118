//! docs/merge.md says what happens; its examples are run, each in a world of its own.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::fs;
use std::process::Command;

#[test]
fn the_examples_of_the_page_do_what_it_says() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/merge.md")).unwrap();
    let mut wrong = Vec::new();
    let examples: Vec<&str> = page.split("```console\n").skip(1).collect();
    assert!(examples.len() >= 5, "the page has its examples");
    for example in examples {
        let example = example.split("```").next().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        fs::create_dir_all(dir.path().join("app")).unwrap();
        fs::create_dir_all(&home).unwrap();
        let layer = home.join(".harness/harness-state/app.md");
        let mut steps: Vec<(String, String)> = Vec::new();
        for line in example.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push((command.to_owned(), String::new())),
                None => steps.last_mut().unwrap().1.push_str(&format!("{line}\n")),
            }
        }
        for (command, expected) in steps {
            let bin = std::path::Path::new(env!("CARGO_BIN_EXE_layers")).parent().unwrap();
            let path = std::env::var("PATH").unwrap_or_default();
            let done = Command::new("sh")
                .args(["-c", &format!("({command}) 2>&1")])
                .current_dir(dir.path().join("app"))
                .env_clear()
                .env("PATH", format!("{}:{path}", bin.display()))
                .env("HOME", &home)
                .env("LAYER", &layer)
                .output()
                .unwrap();
            let said = String::from_utf8(done.stdout).unwrap().replace(layer.to_str().unwrap(), "layer.md");
            let said: String = said
                .lines()
                .filter(|line| !line.starts_with("warning: ") && !line.starts_with("help: "))
                .map(|line| format!("{line}\n"))
                .collect();
            if said != expected {
                wrong.push(format!("$ {command}\nsays\n{said}and the page\n{expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
