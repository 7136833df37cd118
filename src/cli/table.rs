//! Plain tables: columns aligned by blanks, the last one ragged. In pipes whole; on a
//! terminal a last column of text is cut to what fits.

use anstyle::Style;

use super::failure::Failure;
use super::output::{Output, STRONG};

/// A table that is printed when all rows are known.
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<(Style, Vec<String>)>,
    /// Whether the last column is text of which a part says enough.
    ends_in_text: bool,
}

/// A text shorter than this says nothing: the table is wider than the terminal then.
const LEAST_TEXT: usize = 16;

impl Table {
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new(), ends_in_text: false }
    }

    /// As [`Self::new`], with a last column that may be cut on a terminal.
    pub(crate) fn ending_in_text(head: &[&'static str]) -> Self {
        Self { ends_in_text: true, ..Self::new(head) }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.styled(Style::new(), cells);
    }

    pub(crate) fn styled(&mut self, style: Style, cells: Vec<String>) {
        self.rows.push((style, cells));
    }

    /// Prints it, every line behind `indent`; nothing without rows.
    pub(crate) fn print(&self, out: &mut Output, indent: &str) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut widths: Vec<usize> = self.head.iter().map(|title| title.len()).collect();
        for (_, cells) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(width_of(cell));
            }
        }
        if !self.head.iter().all(|title| title.is_empty()) {
            let head: Vec<String> = self.head.iter().map(|&title| title.to_owned()).collect();
            out.line(line(indent, STRONG, &head, &widths))?;
        }
        let room = self.room(out, indent, &widths);
        for (style, cells) in &self.rows {
            match (room, cells.split_last()) {
                (Some(room), Some((text, cells))) if width_of(text) > room => {
                    let cut = [cells, &[head_of(text, room)]].concat();
                    out.line(line(indent, *style, &cut, &widths))?;
                }
                _ => out.line(line(indent, *style, cells, &widths))?,
            }
        }
        Ok(())
    }

    /// The columns that a terminal has left for the text at the end.
    fn room(&self, out: &Output, indent: &str, widths: &[usize]) -> Option<usize> {
        let columns = out.columns().filter(|_| self.ends_in_text)?;
        let (_, before) = widths.split_last()?;
        let taken = indent.len() + before.iter().map(|width| width + 2).sum::<usize>();
        Some(columns.saturating_sub(taken).max(LEAST_TEXT))
    }
}

fn line(indent: &str, style: Style, cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if at > 0 {
            text.push_str("  ");
        }
        text.push_str(cell);
        text.extend(std::iter::repeat_n(' ', width.saturating_sub(width_of(cell))));
    }
    let text = text.trim_end();
    format!("{indent}{style}{text}{style:#}")
}

/// Columns that a text takes on a terminal, closely: wide East Asian characters and
/// emoji take two.
fn width_of(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

const fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}')
}

/// The first line of a text, cut to `limit` columns.
pub(crate) fn head_of(text: &str, limit: usize) -> String {
    let first = text.trim_start().lines().next().unwrap_or("");
    let mut head: String = super::output::one_line(first).chars().take(limit + 1).collect();
    let is_cut = width_of(&head) > limit || text.trim().lines().nth(1).is_some();
    if is_cut {
        while width_of(&head) > limit.saturating_sub(1) {
            head.pop();
        }
        head.push('…');
    }
    head
}
