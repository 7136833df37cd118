//! `layers doctor`: what is wrong around the layers, and how to put it right.

use std::fs;

use clap::Args;

use super::super::context::{Context, Here, state};
use super::super::failure::{Exit, Failure};
use super::super::output::{HELP, STRONG, severity_style};
use super::check;
use crate::doctor::{self, Ailment, Examined};
use crate::document::Severity;
use crate::note::LayerKind;
use crate::reach::Reach;
use crate::reconcile::Held;
use crate::workspace::{Trust, WorkspaceError};

pub(crate) const EXAMPLES: &str = "\
Examples:
  layers doctor            look at root, configuration, layers, store, watch, git
  layers doctor --json     the same as data
  layers check             what is wrong inside the layers, line by line

Every finding comes with what to do about it. Exits with 1 if there is a warning, with 4 if
there is an error.";

// The arguments of `doctor`. (a doc comment would replace the command's own help)
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {}

pub(crate) fn run(_args: &DoctorArgs, cx: &mut Context) -> Result<Exit, Failure> {
    let was_quiet = cx.out.set_quiet(true);
    let Here { workspace, config } = cx.find()?;
    let mut all = vec![doctor::root(&workspace.root), configuration(cx, &workspace.root)];
    let notices = workspace.notices.iter().filter(|notice| notice.is_loud()).map(|notice| Ailment {
        severity: Severity::Warning,
        message: notice.to_string(),
        help: "`layers status` shows which project and layers are in use".to_owned(),
    });
    let project = Examined::of("project", workspace.project.key.clone(), notices.collect());
    let folder = workspace.root.path.clone();
    let reach = Reach::read(workspace, state());
    all.push(project);
    all.push(layers(&reach, config.layers.orphans));
    all.extend(trust(&reach));
    all.extend(state().map(|place| doctor::store(&place)));
    all.push(doctor::watching(&folder));
    let cwd = cx.env()?.cwd;
    all.push(doctor::around(&cwd));
    all.extend(doctor::driver(&cwd, std::env::var_os("PATH").as_deref()));
    all.extend(doctor::home(&folder));
    cx.out.set_quiet(was_quiet);
    report(&all, cx)
}

fn configuration(cx: &mut Context, root: &crate::workspace::Root) -> Examined {
    let path = root.config_path();
    let summary = if path.exists() { path.display().to_string() } else { "the defaults".to_owned() };
    let warnings = std::mem::take(&mut cx.config_warnings).into_iter().map(|warning| Ailment {
        severity: Severity::Warning,
        message: warning,
        help: "docs/config.md has every key with its values".to_owned(),
    });
    Examined::of("config", summary, warnings.collect())
}

/// The layers in reach: whether their notes get to an agent, and changes into the files.
fn layers(reach: &Reach, orphans: crate::config::Orphans) -> Examined {
    let mut findings = Vec::new();
    let mut find = |severity, message: String, help: &str| {
        findings.push(Ailment { severity, message, help: help.to_owned() });
    };
    for (layer, error) in &reach.unavailable {
        // Told with the store.
        if matches!(error, WorkspaceError::Store { .. }) {
            continue;
        }
        let help = "its last good notes stay in use; see who may read the file, or where its link leads";
        find(Severity::Error, format!("the {} layer is not read: {error}", layer.kind.as_str()), help);
    }
    for read in &reach.layers {
        let path = read.layer.path.display();
        if !read.document.conflicts().is_empty() {
            let help = "settle what stands between the markers; until then the layer is not written";
            find(Severity::Error, format!("{path} holds git's conflict markers"), help);
        }
        if let Some(Held { gone, of, .. }) = read.view.held {
            let help = "`layers sync --accept` takes it as it is, `layers restore --layer` undoes it";
            find(Severity::Error, format!("{path} is held: {gone} of its {of} notes are gone at once"), help);
        }
        if fs::metadata(&read.layer.path).is_ok_and(|found| found.permissions().readonly()) {
            find(
                Severity::Warning,
                format!("{path} is read-only, so nothing can be written into it"),
                "`chmod u+w` it, if that is not meant",
            );
        }
    }
    let (errors, warnings) = check::count(reach, orphans);
    if errors + warnings > 0 {
        let severity = if errors > 0 { Severity::Error } else { Severity::Warning };
        let message = format!("{errors} errors and {warnings} warnings in the layers");
        find(severity, message, "`layers check` shows each with its line and remedy");
    }
    let notes: usize = reach.layers.iter().map(|read| read.document.notes().len()).sum();
    let there = reach.layers.iter().filter(|read| read.exists).count();
    Examined::of("layers", format!("{notes} notes in {there} layers in reach"), findings)
}

/// Whether the repository's layers count; nothing where it has none.
fn trust(reach: &Reach) -> Option<Examined> {
    let layers = reach.workspace.layers.iter();
    let first = layers.clone().find(|layer| layer.kind == LayerKind::Repo)?;
    let repository = reach.workspace.project.work_tree.as_ref()?.root.display().to_string();
    let (summary, findings) = match &first.trust {
        Trust::Untrusted(why) => {
            let ailment = Ailment {
                severity: Severity::Warning,
                message: format!("the repository's layers are left out: {why}"),
                help: "`layers trust --dry-run` shows what is in them, `layers trust` lets them in"
                    .to_owned(),
            };
            (format!("{repository} is not trusted"), vec![ailment])
        }
        Trust::Granted(grant) if grant.is_pinned => (format!("{repository}, as far as reviewed"), Vec::new()),
        Trust::Granted(_) | Trust::Own => (repository, Vec::new()),
    };
    Some(Examined::of("trust", summary, findings))
}

fn report(all: &[Examined], cx: &mut Context) -> Result<Exit, Failure> {
    let findings = || all.iter().flat_map(|examined| &examined.findings);
    if cx.globals.json {
        cx.out.json(&all)?;
    } else {
        for Examined { area, summary, findings } in all {
            cx.out.line(format_args!("{STRONG}{area:<8}{STRONG:#} {summary}"))?;
            for Ailment { severity, message, help } in findings {
                let (style, severity) = (severity_style(*severity), severity.as_str());
                cx.out.line(format_args!("         {style}{severity}{style:#}: {message}"))?;
                cx.out.line(format_args!("         {HELP}help{HELP:#}: {help}"))?;
            }
        }
        if findings().next().is_none() {
            cx.out.say("all is well");
        }
    }
    Ok(match findings().map(|finding| finding.severity).max() {
        Some(Severity::Error) => Exit::Broken,
        Some(Severity::Warning) => Exit::Findings,
        Some(Severity::Note) | None => Exit::Done,
    })
}
