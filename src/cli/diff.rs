//! A unified diff by lines, for `--diff`. Quick and small rather than minimal: what both
//! texts share at either end and line by line within a window is kept.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::output::one_line;
use crate::secret::seal;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// One line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step<'a> {
    Both(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// A line of a diff with its colour; nothing of a file may steer the terminal.
pub(crate) fn styled(line: &str) -> String {
    let style = match line.as_bytes().first() {
        Some(b'+') => AnsiColor::Green.on_default(),
        Some(b'-') => AnsiColor::Red.on_default(),
        Some(b'@') => AnsiColor::Cyan.on_default(),
        _ => Style::new(),
    };
    format!("{style}{}{style:#}", one_line(line))
}

/// The difference of two texts in the format that `patch` reads; empty if there is none.
/// Credentials have their names in their places, so that one can see that they changed.
pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    let (old, new) = (&*seal(old), &*seal(new));
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let steps = steps(&old, &new);
    let mut out = String::new();
    let changed: Vec<usize> = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !matches!(step, Step::Both(_)))
        .map(|(at, _)| at)
        .collect();
    let mut at = 0;
    while let Some(&first) = changed.get(at) {
        let mut last = at;
        while changed.get(last + 1).is_some_and(|next| next - changed[last] <= 2 * CONTEXT) {
            last += 1;
        }
        let from = first.saturating_sub(CONTEXT);
        let to = (changed[last] + CONTEXT + 1).min(steps.len());
        if out.is_empty() {
            let _ = writeln!(out, "--- {path}\n+++ {path}");
        }
        hunk(&mut out, &steps, from, to);
        at = last + 1;
    }
    out
}

fn hunk(out: &mut String, steps: &[Step<'_>], from: usize, to: usize) {
    let count = |steps: &[Step<'_>], is_old: bool| {
        let counts = |step: &&Step<'_>| match step {
            Step::Both(_) => true,
            Step::Old(_) => is_old,
            Step::New(_) => !is_old,
        };
        steps.iter().filter(counts).count()
    };
    let range = |is_old: bool| {
        let (before, here) = (count(&steps[..from], is_old), count(&steps[from..to], is_old));
        // An empty side is named by the line before it.
        format!("{},{here}", if here == 0 { before } else { before + 1 })
    };
    let _ = writeln!(out, "@@ -{} +{} @@", range(true), range(false));
    for step in &steps[from..to] {
        let (sign, line) = match step {
            Step::Both(line) => (' ', line),
            Step::Old(line) => ('-', line),
            Step::New(line) => ('+', line),
        };
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn steps<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Step<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let limit = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(limit).take_while(|(a, b)| a == b).count();
    let mut steps: Vec<Step<'a>> = old[..head].iter().map(|line| Step::Both(line)).collect();
    middle(&old[head..old.len() - tail], &new[head..new.len() - tail], &mut steps);
    steps.extend(old[old.len() - tail..].iter().map(|line| Step::Both(line)));
    steps
}

/// How far ahead a common line is looked for.
const WINDOW: usize = 256;

fn middle<'a>(mut old: &[&'a str], mut new: &[&'a str], steps: &mut Vec<Step<'a>>) {
    while let (Some(a), Some(b)) = (old.first(), new.first()) {
        if a == b {
            steps.push(Step::Both(a));
            (old, new) = (&old[1..], &new[1..]);
            continue;
        }
        // The nearest pair of equal lines; empty ones say nothing about what belongs together.
        let reach = old.len().min(WINDOW) + new.len().min(WINDOW);
        let pair = (1..reach).find_map(|sum| {
            let from = sum.saturating_sub(new.len().min(WINDOW) - 1);
            (from..=sum.min(old.len().min(WINDOW) - 1)).map(|skip_old| (skip_old, sum - skip_old)).find(
                |&(skip_old, skip_new)| old[skip_old] == new[skip_new] && !old[skip_old].trim().is_empty(),
            )
        });
        let (skip_old, skip_new) = pair.unwrap_or((old.len().min(WINDOW), new.len().min(WINDOW)));
        steps.extend(old[..skip_old].iter().map(|line| Step::Old(line)));
        steps.extend(new[..skip_new].iter().map(|line| Step::New(line)));
        (old, new) = (&old[skip_old..], &new[skip_new..]);
    }
    steps.extend(old.iter().map(|line| Step::Old(line)));
    steps.extend(new.iter().map(|line| Step::New(line)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_stands_between_three_lines_of_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let expected = "--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(unified("a", old, &old.replace('5', "five")), expected);
        assert_eq!(unified("a", old, old), "");
    }

    #[test]
    fn a_missing_last_newline_is_said() {
        assert_eq!(
            unified("a", "x", "x\n"),
            "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n"
        );
    }

    #[test]
    fn both_texts_can_be_read_off_the_steps() {
        let (old, new) = (["a", "b", "", "c", "d"], ["b", "", "x", "d", "e"]);
        let steps = steps(&old, &new);
        let side = |is_old: bool| -> Vec<&str> {
            let line = |step: &Step<'static>| match *step {
                Step::Both(line) => Some(line),
                Step::Old(line) => is_old.then_some(line),
                Step::New(line) => (!is_old).then_some(line),
            };
            steps.iter().filter_map(line).collect()
        };
        assert_eq!((side(true), side(false)), (old.to_vec(), new.to_vec()));
    }
}
