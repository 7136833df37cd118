//! The splices that make one note say something else: values in the spelling they have,
//! new fields as new lines, contents line by line.

use std::borrow::Cow;

use crate::text::{Line, Span, Splice, trim_blanks};

use super::edit::{Refusal, Wanted, is_already};
use super::field::{Entry, Field, Style};
use super::note::{Content, Form, Note};
use super::{Document, continuation, escape, spell, yaml};

impl Document {
    /// The splices that make one note say what is wanted.
    pub(super) fn spell_note(
        &self,
        found: Note<'_>,
        wanted: &Wanted,
        splices: &mut Vec<Splice>,
    ) -> Result<(), Refusal> {
        let mut scope_is_due = false;
        for (field, text) in &wanted.set {
            if is_already(found, field, text.as_deref()) {
                continue;
            }
            match (found.form(), field) {
                (_, Field::Content) => self.spell_content(found, text.as_deref().unwrap_or(""), splices),
                (Form::FrontMatter, _) => self.spell_key(found, field, text.as_deref(), splices)?,
                // Both stand on one line.
                (Form::Bullet, Field::Scope | Field::Project) => scope_is_due = true,
                (Form::Bullet, _) => self.spell_sub_bullet(found, field, text.as_deref(), splices)?,
            }
        }
        if scope_is_due {
            let now = |field: &Field, present: Option<String>| match wanted.set.get(field) {
                Some(text) => text.clone(),
                None => present,
            };
            let scope = now(&Field::Scope, found.scope().map(|scope| scope.as_str().to_owned()));
            let project = now(&Field::Project, found.project().map(Cow::into_owned));
            if project.as_ref().is_some_and(|project| project.contains([')', '\n'])) {
                return Err(Refusal::BadValue { field: Field::Project, expected: "a key without `)`" });
            }
            let scope = scope.or_else(|| project.is_some().then(|| "project".to_owned()));
            let text = spell::scope_text(scope.as_deref(), project.as_deref());
            self.spell_sub_bullet(found, &Field::Scope, text.as_deref(), splices)?;
        }
        Ok(())
    }

    /// A key of a metadata block: its value, its line, or a new last line.
    fn spell_key(
        &self,
        found: Note<'_>,
        field: &Field,
        text: Option<&str>,
        splices: &mut Vec<Splice>,
    ) -> Result<(), Refusal> {
        let data = found.data();
        if !data.is_editable {
            return Err(Refusal::Layout);
        }
        let source = &self.source;
        let eol = self.eol_at(data.span.start);
        match (found.entry(field), text) {
            (Some(entry), Some(text)) => splices.push(self.key_splice(entry, text, eol)),
            (Some(entry), None) => {
                // A comment behind the value is a person's: it stays, on a line of its own.
                let behind = source[entry.value().end..entry.span().end].trim();
                let kept = if behind.starts_with('#') { format!("{behind}{eol}") } else { String::new() };
                splices.push(Splice::replace(entry.span(), kept));
            }
            (None, Some(text)) => {
                // Below a comment at the end: an indented one would seem part of a list above.
                splices.push(Splice::insert(data.head.end, spell::yaml_line(field, text, eol)));
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// The value of a key that is there, in the spelling it has.
    fn key_splice(&self, entry: &Entry, text: &str, eol: &str) -> Splice {
        let source = &self.source;
        let style = match entry.style() {
            Style::Lines => None,
            Style::Tame(true) => Some(Style::Double),
            Style::Tame(false) => Some(Style::Single),
            style => Some(style),
        };
        let mut value = spell::yaml_value(&entry.field(), text, style, eol);
        let is_list = value.starts_with(['\r', '\n']);
        let mut span = entry.value();
        if is_list {
            // The items start on the next line: nothing may stand behind the colon.
            let line = spell::whole_lines(source, Span::at(entry.span().start));
            let colon =
                entry.span().start + yaml::key_of(line.of(source).trim_end()).map_or(0, |(_, behind)| behind);
            if source[colon..span.start].trim().is_empty() {
                span.start = colon;
            }
        } else if source.as_bytes().get(span.start.wrapping_sub(1)) == Some(&b':') {
            value.insert(0, ' ');
        }
        Splice::replace(span, value)
    }

    /// A field of a bullet: on its own line, or a sub-bullet.
    fn spell_sub_bullet(
        &self,
        found: Note<'_>,
        field: &Field,
        text: Option<&str>,
        splices: &mut Vec<Splice>,
    ) -> Result<(), Refusal> {
        let data = found.data();
        let source = &self.source;
        let eol = self.eol_at(data.span.start);
        if matches!(field, Field::Other(_)) {
            return Err(Refusal::Unwritable(field.clone(), Form::Bullet));
        }
        if text.is_some_and(|text| {
            trim_blanks(text).is_empty() && !matches!(field, Field::Evidence | Field::Model)
        }) {
            return Err(Refusal::BadValue { field: field.clone(), expected: "some text" });
        }
        let mut entries = found.entries().iter().filter(|entry| entry.is(field)).collect::<Vec<_>>();
        let last = entries.pop();
        // Of several lines the last counts; for evidence all do, so the others go.
        if field == &Field::Evidence || text.is_none() {
            splices.extend(entries.iter().map(|entry| Splice::remove(self.lines_removal(entry.span()))));
        }
        match (field, last, text) {
            (Field::Id, None, Some(text)) => {
                let content = found.content();
                // Behind an id, `(importance` would be read as one.
                let guard = if content.starts_with("(importance") {
                    format!("(importance {}) ", crate::note::two_decimals(found.importance()))
                } else {
                    String::new()
                };
                splices.push(Splice::insert(data.head_end, format!("**[{text}]** {guard}")));
            }
            (Field::Importance, None, Some(text)) if found.has(&Field::Id) => {
                let gap = if source[data.head_end..].starts_with([' ', '\t']) { "" } else { " " };
                splices.push(Splice::insert(data.head_end, format!(" (importance {text}){gap}")));
            }
            (Field::Id | Field::Importance, Some(entry), Some(text)) => {
                splices.push(Splice::replace(entry.value(), text));
            }
            (_, Some(entry), Some(text)) => {
                let line = spell::whole_lines(source, Span::at(entry.span().start));
                let lead = line.of(source).len() - line.of(source).trim_start_matches([' ', '\t']).len();
                let mut value = spell::sub_bullet_value(field, text, lead.max(2) + 2, eol);
                if source[..entry.value().start].ends_with(':') && !value.is_empty() {
                    value.insert(0, ' ');
                }
                splices.push(Splice::replace(entry.value(), value));
            }
            (_, Some(entry), None) => splices.push(Splice::remove(self.lines_removal(entry.span()))),
            (_, None, Some(text)) => {
                let line = spell::sub_bullet(field, text, 2, eol);
                let is_ended = source[..data.span.end].ends_with('\n');
                let text = if is_ended { format!("{line}{eol}") } else { format!("{eol}{line}") };
                splices.push(Splice::insert(data.span.end, text));
            }
            (_, None, None) => {}
        }
        Ok(())
    }

    fn spell_content(&self, found: Note<'_>, text: &str, splices: &mut Vec<Splice>) {
        let data = found.data();
        let source = &self.source;
        let eol = self.eol_at(data.span.start);
        match &data.content {
            Content::Body(body) if body.is_empty() => {
                let is_ended = source[..data.head_end].ends_with('\n');
                let text = escape::write_body(text, eol);
                let text = if is_ended { format!("{eol}{text}{eol}") } else { format!("{eol}{eol}{text}") };
                splices.push(Splice::insert(data.head_end, text));
            }
            Content::Body(body) if text.is_empty() => {
                let end = Line::at(source, body.end).map_or(body.end, |rest| rest.end);
                splices.push(Splice::remove(Span::new(data.head_end, end)));
            }
            Content::Body(body) => splices.push(minimal(source, *body, &escape::write_body(text, eol))),
            Content::Pieces(pieces) => {
                let pieces = &self.pieces[pieces.clone()];
                let mut lines = text.split('\n');
                let first = lines.next().unwrap_or("");
                let Some((head, further)) = pieces.split_first() else { return };
                let gap =
                    if head.is_empty() && !source[..head.start].ends_with([' ', '\t']) { " " } else { "" };
                splices.push(Splice::replace(*head, format!("{gap}{first}")));
                let lines: Vec<&str> = lines.collect();
                if lines.len() == further.len()
                    && further.iter().zip(&lines).all(|(piece, line)| piece.is_empty() == line.is_empty())
                {
                    let written = continuation::escaped(&lines);
                    for ((piece, line), written) in further.iter().zip(lines).zip(written) {
                        if continuation::unescaped(piece.of(source)) != line {
                            splices.push(Splice::replace(*piece, written));
                        }
                    }
                    return;
                }
                let mut gone: Vec<Span> = Vec::new();
                for piece in further.iter().filter(|piece| !piece.is_empty()) {
                    let mut span = spell::whole_lines(source, *piece);
                    let previous = gone.last().map_or(data.head.end, |last| last.end);
                    if trim_blanks(&source[previous.min(span.start)..span.start]).is_empty() {
                        span.start = previous.min(span.start); // the empty lines of the content
                    }
                    match gone.last_mut().filter(|last| last.end >= span.start) {
                        Some(last) => last.end = span.end,
                        None => gone.push(span),
                    }
                }
                let is_ended = source[..data.head.end].ends_with('\n');
                let further = spell::further_lines(&lines, data.indent, eol);
                if let Some(last) = gone.last_mut() {
                    *last = self.lines_removal(*last);
                }
                let offset =
                    if is_ended { data.head.end - self.eol_len_before(data.head.end) } else { data.head.end };
                splices.push(Splice::insert(offset, further));
                splices.extend(gone.into_iter().map(Splice::remove));
            }
        }
    }

    /// Lines that go: where the last line end of the file was missing, it still is.
    fn lines_removal(&self, mut span: Span) -> Span {
        if span.end == self.source.len() && !self.source.ends_with('\n') {
            span.start -= self.eol_len_before(span.start);
        }
        span
    }

    fn eol_len_before(&self, offset: usize) -> usize {
        match self.source.as_bytes()[..offset] {
            [.., b'\r', b'\n'] => 2,
            [.., b'\n'] => 1,
            _ => 0,
        }
    }
}

/// The splice that turns `span` into `text` and touches only the lines that differ.
fn minimal(source: &str, span: Span, text: &str) -> Splice {
    let old = span.of(source);
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), text.split_inclusive('\n').collect());
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let limit = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(limit).take_while(|(a, b)| a == b).count();
    let len = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let (head_len, tail_len) = (len(&before[..head]), len(&before[before.len() - tail..]));
    Splice::replace(
        Span::new(span.start + head_len, span.end - tail_len),
        &text[head_len..text.len() - tail_len],
    )
}
