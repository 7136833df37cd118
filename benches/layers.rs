//! How long reading and rendering take, each beside a floor in the same run: reading the
//! same bytes from disk, hashing them and scanning their lines, which no tool that looks
//! at layers can do without. Prints tables; asserts nothing, for clocks are no judges.
//!
//! `cargo bench` runs all, about two minutes; `cargo bench -- quick` leaves out 100,000
//! notes and takes fewer runs, `cargo bench -- merges passes` runs those parts alone. Times
//! are medians.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use harness_layers::config::{self, Config};
use harness_layers::document::{Change, Document, Field, Form};
use harness_layers::effective::{Audience, InReach, Judged, judge};
use harness_layers::merge::ChangeSet;
use harness_layers::note::LayerKind;
use harness_layers::reach::Reach;
use harness_layers::render::{Format, Shown, render};
use harness_layers::select::{Candidate, select};
use harness_layers::store::StatePlace;
use harness_layers::sync::{Author, PassOptions, Session};
use harness_layers::workspace::{Env, LayerRef, Workspace};
use sha2::{Digest, Sha256};

const MODEL: &str = "anthropic/claude-opus-4-5";
/// Arguments by which this program becomes one of the processes that it times.
const FLOOR: &str = "--floor";
const LIBRARY: &str = "--library";

/// A table of the output.
type Part = fn(&Bench);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [FLOOR, ref paths @ ..] => {
            println!("{}", floor(paths));
            return ExitCode::SUCCESS;
        }
        [LIBRARY, root, project] => {
            println!("{}", block_of(Path::new(root), project));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let bench =
        Bench { is_quick: arguments.iter().any(|it| it == "quick"), dir: tempfile::tempdir().unwrap() };
    let parts: [(&str, Part); 5] = [
        ("documents", Bench::documents),
        ("projects", Bench::projects),
        ("merges", Bench::merges),
        ("passes", Bench::passes),
        ("processes", Bench::processes),
    ];
    let is_asked = |name: &str| arguments.iter().any(|it| it == name);
    let is_any_asked = parts.iter().any(|(name, _)| is_asked(name));
    for (name, part) in parts {
        if !is_any_asked || is_asked(name) {
            part(&bench);
        }
    }
    ExitCode::SUCCESS
}

struct Bench {
    is_quick: bool,
    dir: tempfile::TempDir,
}

impl Bench {
    /// Parsing and rendering, in this process.
    fn documents(&self) {
        println!("In one process. floor: read, SHA-256, lines; cmark: pulldown-cmark's bare events;");
        println!("render: judge, select and render for one project and model. x: times the floor.\n");
        println!(
            "{:<13} {:>7} {:>5} {:>9}  {:>9} {:>9} {:>5} {:>9} {:>5} {:>9} {:>5} {:>8}",
            "form", "notes", "files", "bytes", "floor", "parse", "x", "cmark", "x", "render", "x", "ns/note"
        );
        for (form, fences, name) in [
            (Form::Bullet, false, "bullets"),
            (Form::Bullet, true, "  fences"),
            (Form::FrontMatter, false, "front matter"),
            (Form::FrontMatter, true, "  fences"),
        ] {
            for notes in [100, 1_000, 10_000, 100_000] {
                for files in [1, 200] {
                    // 100 notes do not go into 200 files.
                    if notes >= files && !(self.is_quick && notes > 10_000) {
                        self.document(name, form, fences, notes, files);
                    }
                }
            }
        }
        println!();
    }

    fn document(&self, name: &str, form: Form, fences: bool, notes: usize, files: usize) {
        let dir = self.dir.path().join("documents");
        fs::create_dir_all(&dir).unwrap();
        let texts: Vec<String> = (0..files)
            .map(|file| layer(form, fences, file * notes / files..(file + 1) * notes / files))
            .collect();
        let paths: Vec<PathBuf> = (0..files).map(|file| dir.join(format!("{file}.md"))).collect();
        for (path, text) in paths.iter().zip(&texts) {
            fs::write(path, text).unwrap();
        }
        let [at_floor, parsing, events, rendering] = self.medians([
            &mut || timed(|| floor(&paths)),
            &mut || timed(|| texts.iter().map(|text| Document::parse(text.as_str())).collect::<Vec<_>>()),
            &mut || {
                timed(|| {
                    texts
                        .iter()
                        .map(|text| pulldown_cmark::Parser::new(text).into_offset_iter().count())
                        .sum::<usize>()
                })
            },
            &mut || {
                let layers: Vec<_> = texts.iter().map(|text| Document::parse(text.as_str())).collect();
                timed(|| rendered(&layers))
            },
        ]);
        let bytes: usize = texts.iter().map(String::len).sum();
        println!(
            "{name:<13} {notes:>7} {files:>5} {bytes:>9}  {} {} {:>5.1} {} {:>5.1} {} {:>5.1} {:>8.0}",
            shown(at_floor),
            shown(parsing),
            over(parsing, at_floor),
            shown(events),
            over(events, at_floor),
            shown(rendering),
            over(rendering, at_floor),
            parsing.as_secs_f64() * 1e9 / count(notes),
        );
        fs::remove_dir_all(&dir).unwrap();
    }

    /// Rendering one project beside others.
    fn projects(&self) {
        println!("One project of 50 notes below a root with other projects of 50 notes each:");
        println!("discovery, reading, parsing and rendering, in this process.\n");
        println!("{:>9} {:>9}", "projects", "time");
        for projects in [1, 200, 2_000] {
            let root = self.dir.path().join(format!("projects-{projects}"));
            write_root(&root, 50, 50);
            for other in 1..projects {
                let text = layer(Form::Bullet, false, other * 50..(other + 1) * 50);
                fs::write(root.join(format!("harness-state/other-{other}.md")), text).unwrap();
            }
            let [time] = self.medians([&mut || timed(|| block_of(&root, "bench"))]);
            println!("{projects:>9} {}", shown(time));
            fs::remove_dir_all(&root).unwrap();
        }
        println!();
    }

    /// Whole processes, each from start to exit, in turn.
    fn processes(&self) {
        println!("Whole processes over a global layer and a project's, half of the notes in each.");
        println!("floor: reads, hashes and scans the same files; library: `layers render` without its");
        println!("command line; layers: the command. over: layers - 2 x floor, which is to be below 1 ms.\n");
        println!(
            "{:<13} {:>7}  {:>9} {:>9} {:>9} {:>5} {:>9}",
            "form", "notes", "floor", "library", "layers", "x", "over"
        );
        let this = std::env::current_exe().unwrap();
        for (form, name) in [(Form::Bullet, "bullets"), (Form::FrontMatter, "front matter")] {
            for notes in [1_000, 10_000] {
                let root = self.dir.path().join("processes");
                write_root_in(&root, form, notes / 2, notes / 2);
                let files = [root.join("harness-state.md"), root.join("harness-state/bench.md")];
                let layers = || {
                    let mut command = Command::new(env!("CARGO_BIN_EXE_layers"));
                    command.arg("render").arg("--root").arg(&root).args([
                        "--project",
                        "bench",
                        "--model",
                        MODEL,
                    ]);
                    command
                };
                let is_there =
                    layers().env_clear().output().is_ok_and(|output| output.stdout.starts_with(b"\n## "));
                let [at_floor, library, command] = self.medians([
                    &mut || run(Command::new(&this).arg(FLOOR).args(&files)),
                    &mut || run(Command::new(&this).arg(LIBRARY).arg(&root).arg("bench")),
                    &mut || run(&mut layers()),
                ]);
                let over_floor = (command.as_secs_f64() - 2.0 * at_floor.as_secs_f64()) * 1e3;
                print!("{name:<13} {notes:>7}  {} {}", shown(at_floor), shown(library));
                if is_there {
                    println!(" {} {:>5.1} {over_floor:>6.2} ms", shown(command), over(command, at_floor));
                } else {
                    println!("  (the command prints no block)");
                }
                fs::remove_dir_all(&root).unwrap();
            }
        }
    }

    /// The median of each job, all run in turn so that the machine's moods hit all alike.
    fn medians<const N: usize>(&self, mut jobs: [&mut dyn FnMut() -> Duration; N]) -> [Duration; N] {
        let (most, patience) = if self.is_quick { (41, 0.4) } else { (201, 1.5) };
        let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
        let until = Instant::now() + Duration::from_secs_f64(patience);
        while times[0].len() < 7 || times[0].len() < most && Instant::now() < until {
            for (job, times) in jobs.iter_mut().zip(&mut times) {
                times.push(job());
            }
        }
        times.map(|mut times| {
            times.sort();
            times[times.len() / 2]
        })
    }
}

impl Bench {
    /// Two versions of a layer, each with one note in a hundred edited, merged.
    fn merges(&self) {
        println!(
            "\nThree-way merge, 1 % edited on each side, files to text. floor: read, SHA-256 and lines of all three.\n"
        );
        println!("{:<13} {:>7} {:>9} {:>9} {:>5}", "form", "notes", "floor", "merge", "x");
        for (form, name) in [(Form::Bullet, "bullets"), (Form::FrontMatter, "front matter")] {
            for notes in [1_000, 10_000] {
                let base = layer(form, false, 0..notes);
                let document = Document::parse(base.as_str());
                let edited = |offset: usize, field: Field, text: &str| {
                    let edit = |note| Change::Set { note, field: field.clone(), text: text.to_owned() };
                    let changes: Vec<Change> = (offset..notes).step_by(100).map(edit).collect();
                    document.apply(&changes).unwrap().source().to_owned()
                };
                // Half of the edits are of notes that the other side edits too, elsewhere.
                let offline = edited(3, Field::Content, "Said in other words.");
                let online = edited(53, Field::Importance, "0.99");
                let paths = [("base", base), ("offline", offline), ("online", online)].map(|(name, text)| {
                    let path = self.dir.path().join(name);
                    fs::write(&path, text).unwrap();
                    path
                });
                let (mut floors, mut merges) = (Vec::new(), Vec::new());
                for _ in 0..if self.is_quick { 7 } else { 15 } {
                    floors.push(timed(|| floor(&paths)));
                    merges.push(timed(|| {
                        let [base, offline, online] =
                            paths.each_ref().map(|path| Document::parse(fs::read_to_string(path).unwrap()));
                        let applied = ChangeSet::between(&base, &online).apply(&offline);
                        assert!(applied.losses.is_empty());
                        applied.document.source().len()
                    }));
                }
                let (floor, merge) = (median(floors), median(merges));
                println!(
                    "{name:<13} {notes:>7} {:>9} {:>9} {:>5.1}",
                    shown(floor),
                    shown(merge),
                    over(merge, floor)
                );
            }
        }
    }

    /// A pass over many layers of which none has changed, and one of which one has.
    fn passes(&self) {
        const LAYERS: usize = 200;
        let notes = if self.is_quick { 50 } else { 500 };
        println!(
            "\nA pass over {LAYERS} layers of {notes} notes. stat: looking at each file's stat, in the same process.\n"
        );
        let root = self.dir.path().join("passes");
        fs::create_dir_all(root.join("harness-state")).unwrap();
        let paths: Vec<PathBuf> = (0..LAYERS)
            .map(|at| {
                let path = root.join(format!("harness-state/p{at}.md"));
                let first = at * notes;
                fs::write(&path, layer(Form::FrontMatter, false, first..first + notes)).unwrap();
                // A file this young would be read again.
                let old = std::time::SystemTime::now() - Duration::from_mins(1);
                fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
                path
            })
            .collect();
        let place = StatePlace::in_folder(&self.dir.path().join("state"));
        let layers: Vec<LayerRef> = paths.iter().map(|path| LayerRef::home(path.clone(), "p")).collect();
        let pass = || {
            let session = Session::open(&root, &place, Duration::from_secs(5), Author::of(None)).unwrap();
            session
                .pass(&layers, &PassOptions::default())
                .unwrap()
                .iter()
                .filter(|report| report.is_news)
                .count()
        };
        println!("first pass: {}", shown(timed(pass)));
        let (mut stats, mut passes, mut edits) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..if self.is_quick { 7 } else { 25 } {
            stats.push(timed(|| paths.iter().filter(|path| fs::metadata(path).is_ok()).count()));
            passes.push(timed(pass));
            let text =
                fs::read_to_string(&paths[at]).unwrap().replacen("importance: 0.", "importance: 0.0", 1);
            fs::write(&paths[at], text).unwrap();
            edits.push(timed(pass));
            pass();
        }
        let (stat, pass, edit) = (median(stats), median(passes), median(edits));
        println!(
            "stat {}   nothing changed {} (x {:.1})   one note edited {}",
            shown(stat),
            shown(pass),
            over(pass, stat),
            shown(edit)
        );
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// How long a job takes, without dropping what it made.
fn timed<T>(job: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let made = black_box(job());
    let time = start.elapsed();
    drop(made);
    time
}

/// How long a process takes from start to exit, in an environment that names no root.
fn run(command: &mut Command) -> Duration {
    command.env_clear().stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    timed(|| command.status().unwrap())
}

/// What has to be done with layers in any case.
fn floor(paths: &[impl AsRef<Path>]) -> usize {
    let mut lines = 0;
    for path in paths {
        let bytes = fs::read(path).unwrap();
        let digest = Sha256::digest(&bytes);
        lines += memchr::memchr_iter(b'\n', &bytes).count() + usize::from(digest[0] == 0);
    }
    lines
}

/// The block of several layers, as if all were in reach.
fn rendered(layers: &[Document]) -> String {
    let layers: Vec<_> = layers.iter().map(|document| InReach::plain(LayerKind::Home, document)).collect();
    let config = Config::default();
    let audience = Audience { is_current: &|_| true, model: Some(MODEL), orphans: config.layers.orphans };
    block(&judge(&layers, &audience), &config)
}

/// The block of a project: everything that `layers render` does but reading arguments.
fn block_of(root: &Path, project: &str) -> String {
    let env = Env {
        root_option: Some(root.to_owned()),
        project_option: Some(project.to_owned()),
        cwd: PathBuf::from("/"),
        ..Env::default()
    };
    let config = config::parse(fs::read(root.join("harness.json")).ok().as_deref()).0;
    let reach = Reach::read(Workspace::discover(&env, &BTreeMap::new()).unwrap(), None);
    block(&reach.judge(Some(MODEL), config.layers.orphans), &config)
}

fn block(judged: &[Judged<'_>], config: &Config) -> String {
    let texts: Vec<_> = judged.iter().map(|one| (one.note.title(), one.note.content())).collect();
    let candidates: Vec<_> = judged
        .iter()
        .zip(&texts)
        .map(|(one, (title, content))| {
            let (kind, importance) = (one.note.kind(), one.note.importance());
            let shown = Shown { id: &one.id, kind, title: title.as_deref(), content, importance };
            Candidate { shown, standing: one.standing, is_of_repo: false }
        })
        .collect();
    let selection = select(&candidates, &config.injection, config.layers.repo_share);
    render(&[selection.section(&candidates, None)], Format::Markdown)
}

fn write_root(root: &Path, global: usize, project: usize) {
    write_root_in(root, Form::Bullet, global, project);
}

fn write_root_in(root: &Path, form: Form, global: usize, project: usize) {
    fs::create_dir_all(root.join("harness-state")).unwrap();
    fs::write(root.join("harness-state.md"), layer(form, false, 0..global)).unwrap();
    fs::write(root.join("harness-state/bench.md"), layer(form, false, global..global + project)).unwrap();
}

/// A layer of notes such as agents write: 150 bytes or so, mostly of one line, one in
/// four with a list, and, if wanted, one in five with a fence.
fn layer(form: Form, fences: bool, notes: std::ops::Range<usize>) -> String {
    const SECTIONS: [(&str, &str); 2] = [("memory", "Memory facts"), ("skill", "Skill descriptions")];
    let (half, end) = (notes.start.midpoint(notes.end), notes.end);
    let mut out = String::from(if form == Form::Bullet {
        "# Continual Harness State\n"
    } else {
        "---\nlayer: project\n---\n"
    });
    for ((kind, title), notes) in SECTIONS.into_iter().zip([notes.start..half, half..end]) {
        if form == Form::Bullet {
            let _ = write!(out, "\n## {title}\n\n");
        }
        for note in notes {
            push_note(&mut out, form, kind, note, fences && note.is_multiple_of(5));
        }
    }
    out
}

fn push_note(out: &mut String, form: Form, kind: &str, note: usize, fence: bool) {
    let id = format!("h_mh{note:06}_k2m5e");
    let importance = format!("0.{:02}", note * 37 % 100);
    let model = if note.is_multiple_of(3) { "openai/gpt-5.2-codex" } else { MODEL };
    let evidence = format!("failed twice in run {note}, root-owned node_modules");
    let mut text =
        format!("Service {note} listens on port {}; `make dev{note}` stops it first.", 1024 + note % 40_000);
    if note % 4 == 1 {
        text.push_str(
            "\n\n- fix: `sudo chown -R \"$USER\" node_modules`\n- the old server may still hold the port",
        );
    }
    if fence {
        text.push_str("\n\n```sh\nmake stop && make dev\n# then wait\n```");
    }
    // Writing to a String cannot fail.
    let _ = match form {
        Form::Bullet => {
            let text = text.replace('\n', "\n  ").replace("\n  \n", "\n\n");
            writeln!(
                out,
                "- **[{id}]** (importance {importance}) {text}\n  - evidence: {evidence}\n  - model: {model}"
            )
        }
        Form::FrontMatter => writeln!(
            out,
            "\n---\nid: {id}\nkind: {kind}\nmodel: {model}\nimportance: {importance}\nevidence: {evidence}\n---\n\n{text}"
        ),
    };
}

fn shown(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1e3;
    if millis < 1.0 { format!("{:>6.1} us", millis * 1e3) } else { format!("{millis:>6.2} ms") }
}

fn over(time: Duration, floor: Duration) -> f64 {
    time.as_secs_f64() / floor.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}
