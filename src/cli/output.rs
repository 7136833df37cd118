//! Where a command's words go: data to stdout, talk to stderr; colour for terminals only.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::failure::{Failure, Snippet};
use crate::document::Severity;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On terminals, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also in pipes
    Always,
    /// Not at all
    Never,
}

impl Color {
    pub(crate) const fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }

    pub(crate) const fn clap(self) -> clap::ColorChoice {
        match self {
            Self::Auto => clap::ColorChoice::Auto,
            Self::Always => clap::ColorChoice::Always,
            Self::Never => clap::ColorChoice::Never,
        }
    }
}

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const HELP: Style = AnsiColor::Cyan.on_default();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();

/// The two streams of a command.
pub(crate) struct Output {
    out: BufWriter<AutoStream<io::Stdout>>,
    err: AutoStream<io::Stderr>,
    is_quiet: bool,
    is_verbose: bool,
    cwd: PathBuf,
}

impl Output {
    pub(crate) fn new(color: Color, is_quiet: bool, is_verbose: bool) -> Self {
        Self {
            out: BufWriter::with_capacity(64 * 1024, AutoStream::new(io::stdout(), color.choice())),
            err: AutoStream::new(io::stderr(), color.choice()),
            is_quiet,
            is_verbose,
            cwd: PathBuf::new(),
        }
    }

    /// Whether nothing but errors is said from now on; gives how it was.
    pub(crate) fn set_quiet(&mut self, is_quiet: bool) -> bool {
        std::mem::replace(&mut self.is_quiet, is_quiet)
    }

    /// Paths below the working directory are shown relative to it from now on.
    pub(crate) fn set_cwd(&mut self, cwd: &Path) {
        cwd.clone_into(&mut self.cwd);
    }

    /// A path as people read it.
    pub(crate) fn path<'p>(&self, path: &'p Path) -> std::path::Display<'p> {
        let inner = (!self.cwd.as_os_str().is_empty()).then(|| path.strip_prefix(&self.cwd).ok()).flatten();
        inner.filter(|inner| !inner.as_os_str().is_empty()).unwrap_or(path).display()
    }

    /// Data as it is.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Data, a line.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        Ok(writeln!(self.out, "{line}")?)
    }

    /// Data as JSON, indented, with one last line end.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.out, value)?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// Sends what is buffered on its way.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// What was done, and hints: left out with `-q`.
    pub(crate) fn say(&mut self, text: impl Display) {
        if !self.is_quiet {
            self.talk(text);
        }
    }

    /// How it was done: only with `-v`.
    pub(crate) fn detail(&mut self, text: impl Display) {
        if self.is_verbose {
            self.talk(format!("{FAINT}{text}{FAINT:#}"));
        }
    }

    /// What a person should know although the command does its work: left out with `-q`.
    pub(crate) fn warn(&mut self, text: impl Display) {
        if !self.is_quiet {
            self.talk(format!("{WARNING}warning{WARNING:#}: {text}"));
        }
    }

    /// What to do about what was said last.
    pub(crate) fn hint(&mut self, text: impl Display) {
        if !self.is_quiet {
            self.talk(format!("{HELP}help{HELP:#}: {text}"));
        }
    }

    /// Something that failed; said with `-q` too.
    pub(crate) fn fail(&mut self, failure: &Failure) {
        if failure.is_closed_pipe {
            return;
        }
        let place = match &failure.place {
            Some(place) => {
                format!("{STRONG}{}:{}:{}{STRONG:#}: ", self.path(&place.path), place.line, place.column)
            }
            None => String::new(),
        };
        let mut text = format!("{place}{ERROR}error{ERROR:#}: {}", failure.message);
        if let Some(place) = &failure.place {
            text.push_str(&excerpt(place, ERROR));
        }
        for help in &failure.help {
            text.push_str(&format!("\n{HELP}help{HELP:#}: {help}"));
        }
        self.talk(text);
    }

    fn talk(&mut self, text: impl Display) {
        // What was written to stdout before stands above it where both are one terminal.
        let _ = self.out.flush();
        // Nobody can be told that nobody can be told.
        let _ = writeln!(self.err, "{text}");
    }

    /// How many columns the terminal has that data goes to; none in pipes.
    #[expect(clippy::unused_self, reason = "it is this output's terminal")]
    pub(crate) fn columns(&self) -> Option<usize> {
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(width.0.into())
    }

    /// Asks a person; the answer in lower case. Only where there is one.
    pub(crate) fn ask(&mut self, question: &str) -> Result<String, Failure> {
        let _ = self.out.flush();
        write!(self.err, "{question}")?;
        self.err.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(answer.trim().to_lowercase())
    }

    /// Whether a person is in front of it.
    pub(crate) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }
}

/// The style of a severity.
pub(crate) const fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Note => HELP,
        Severity::Warning => WARNING,
        Severity::Error => ERROR,
    }
}

/// How many characters of a long line are shown.
const EXCERPT: usize = 100;

/// The source line with a caret below, each on a line of its own that starts with LF.
pub(crate) fn excerpt(place: &Snippet, style: Style) -> String {
    // A long line is shown from near the place on.
    let skipped = if place.column > EXCERPT * 3 / 4 { place.column - EXCERPT / 2 } else { 0 };
    let shown: String = place.text.chars().skip(skipped).take(EXCERPT).map(visible).collect();
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let before: String =
        place.text.chars().skip(skipped).take(place.column - 1 - skipped).map(blank).collect();
    let carets = "^".repeat(place.width.min(EXCERPT.saturating_sub(place.column - 1 - skipped).max(1)));
    let lead = if skipped > 0 { "…" } else { "" };
    let pad = if skipped > 0 { " " } else { "" };
    format!(
        "\n{FAINT}{number} |{FAINT:#} {lead}{shown}\n{FAINT}{gutter} |{FAINT:#} {pad}{before}{style}{carets}{style:#}"
    )
}

/// Control characters must not reach a terminal out of a file.
fn visible(c: char) -> char {
    match c {
        '\t' => '\t',
        '\u{1b}' => '␛',
        c if c.is_control() => '\u{fffd}',
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        c => c,
    }
}

fn blank(c: char) -> char {
    if c == '\t' { '\t' } else { ' ' }
}

/// A text of a note on one line of a terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { ' ' } else { visible(c) }).collect()
}
