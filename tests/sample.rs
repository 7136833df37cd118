//! The sample root, which the README's first command renders, reads without a complaint
//! and gives each audience its own block.

#![expect(clippy::unwrap_used, reason = "a failed test is to panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use harness_layers::config::{self, Config};
use harness_layers::document::{Document, Form};
use harness_layers::reach::Reach;
use harness_layers::render::{Format, Shown, render};
use harness_layers::select::{Candidate, Standing, select};
use harness_layers::workspace::{Env, Root, Workspace, all_projects};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sample")
}

fn config() -> Config {
    let bytes = std::fs::read(root().join("harness.json")).unwrap();
    let (config, warnings) = config::parse(Some(&bytes));
    assert!(warnings.is_empty(), "{warnings:?}");
    config
}

fn reach(project: &str) -> Reach {
    let env = Env {
        root_option: Some(root()),
        project_option: Some(project.into()),
        cwd: std::env::temp_dir(),
        ..Env::default()
    };
    Reach::read(Workspace::discover(&env, &BTreeMap::new()).unwrap(), None)
}

fn block(project: &str, model: &str, format: Format) -> String {
    let (reach, config) = (reach(project), config());
    let judged = reach.judge(Some(model), config.layers.orphans);
    let contents: Vec<_> = judged.iter().map(|one| (one.note.title(), one.note.content())).collect();
    let candidates: Vec<_> = judged
        .iter()
        .zip(&contents)
        .map(|(one, (title, content))| Candidate {
            shown: Shown {
                id: &one.id,
                kind: one.note.kind(),
                title: title.as_deref(),
                content,
                importance: one.note.importance(),
            },
            standing: one.standing,
            is_of_repo: false,
        })
        .collect();
    let selection = select(&candidates, &config.injection, config.layers.repo_share);
    render(&[selection.section(&candidates, None)], format)
}

#[test]
fn the_block_of_the_web_shop_is_as_reviewed() {
    insta::assert_snapshot!(block("web-shop", "anthropic/claude-opus-4-5", Format::Markdown));
}

#[test]
fn each_project_and_model_sees_its_own_notes() {
    for (project, model, seen, hidden) in [
        ("web-shop", "anthropic/claude-opus-4-5", "idempotency key", "8 kB"),
        ("web-shop", "anthropic/claude-opus-4-5", "`shop_stage`", "motor"),
        ("web-shop", "anthropic/claude-opus-4-5", "axe finds", "Skip the type check"),
        ("web-shop", "openai/gpt-5.2-codex", "apps/storefront", "idempotency key"),
        ("pump-firmware", "anthropic/claude-opus-4-5", "configASSERT", "shop_stage"),
        ("pump-firmware", "anthropic/claude-opus-4-5", "motor connected", "brown-out"),
        ("pump-firmware", "openai/gpt-5.2-codex", "`.map` files", "motor connected"),
        ("docs-site", "openai/gpt-5.2-codex", "make links", "sentence case"),
        ("docs-site", "anthropic/claude-opus-4-5", "sentence case", "idempotency"),
    ] {
        let block = block(project, model, Format::Plain);
        assert!(block.contains(seen), "{project}, {model}: no {seen:?} in\n{block}");
        assert!(!block.contains(hidden), "{project}, {model}: {hidden:?} in\n{block}");
    }
}

#[test]
fn the_sample_has_both_forms_and_one_note_of_every_standing_a_person_meets_first() {
    let reach = reach("web-shop");
    let judged = reach.judge(Some("anthropic/claude-opus-4-5"), config().layers.orphans);
    for standing in [Standing::Eligible, Standing::OtherModel, Standing::Inactive, Standing::Pending] {
        assert!(judged.iter().any(|one| one.standing == standing), "no note is {standing:?}");
    }
    for form in [Form::Bullet, Form::FrontMatter] {
        assert!(judged.iter().any(|one| one.note.form() == form), "no note is {form:?}");
    }
}

#[test]
fn no_sample_layer_is_odd() {
    let env = Env { root_option: Some(root()), cwd: root(), ..Env::default() };
    let root = Root::discover(&env).unwrap();
    let projects = all_projects(&root).unwrap();
    assert_eq!(projects.len(), 3);
    let paths = projects.iter().map(|project| project.path.clone());
    for path in paths.chain([root.global_path()]) {
        let layer = Document::parse(std::fs::read_to_string(&path).unwrap());
        assert!(layer.diagnostics().is_empty(), "{}: {:?}", path.display(), layer.diagnostics());
    }
}
