//! Putting a layer into canonical shape, and from one form into the other. Only on
//! request (docs/format.md, "Writing"), and never at the price of a note or a line of text:
//! the result is read back and must say what the layer said.

use crate::text::{Line, Lines, Span, Splice, splice, trim_blanks};

use super::compose::{NewNote, Place};
use super::diagnostic::Problem;
use super::edit::{Change, EditError, Refusal};
use super::field::{Entry, Field};
use super::note::{Form, Note, State};
use super::{Document, SegmentKind, escape, opaque, yaml};

/// What a conversion could not say in the target form.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Left {
    /// The note's id.
    pub id: Option<String>,
    /// What is left, and how it is kept.
    pub what: String,
}

/// A layer in another form.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The layer.
    pub document: Document,
    /// What stayed in the old form, or became a comment.
    pub left: Vec<Left>,
}

impl Document {
    /// The layer with an id for every note that lacks one, at the smallest edit.
    pub fn with_ids(&self, mint: &mut dyn FnMut() -> String) -> Result<Self, EditError> {
        let new = self.notes().filter(|note| note.id().is_none() && note.state() == State::Good);
        let changes: Vec<Change> =
            new.map(|note| Change::Set { note: note.index(), field: Field::Id, text: mint() }).collect();
        self.apply(&changes)
    }

    /// The layer in canonical shape: ids written, blended notes split, keys in order,
    /// importances with two decimals, one empty line between notes. Comments, contents
    /// and prose stay as they are.
    pub fn format(&self, mint: &mut dyn FnMut() -> String) -> Result<Self, EditError> {
        self.refuse_conflict()?;
        let shaped = self.split_blends().with_ids(mint)?;
        let shaped = shaped.spliced(shaped.spacing())?; // gives the last line its end, too
        let shaped = shaped.spliced(shaped.notes().flat_map(|note| shaped.in_order(note)).collect())?;
        let shaped = shaped.spliced(shaped.spacing())?;
        self.split_blends().same_notes(&shaped, true)?;
        Ok(shaped)
    }

    /// The layer with every note in `form`. What the form cannot say is kept as text and
    /// told. Notes that cannot be read stay as they are.
    pub fn convert(&self, form: Form, mint: &mut dyn FnMut() -> String) -> Result<Conversion, EditError> {
        self.refuse_conflict()?;
        let named = self.with_ids(mint)?;
        let mut left: Vec<Left> = Vec::new();
        for note in named.notes().filter(|note| note.form() != form && note.state() != State::Good) {
            left.push(Left {
                id: note.id().map(str::to_owned),
                what: "cannot be read; left as it is".into(),
            });
        }
        let document = match form {
            Form::FrontMatter => named.to_blocks(&mut left),
            Form::Bullet => named.to_bullets(&mut left)?,
        };
        named.same_notes(&document, false)?;
        Ok(Conversion { document, left })
    }

    fn refuse_conflict(&self) -> Result<(), EditError> {
        match self.conflicts.first() {
            None => Ok(()),
            Some(conflict) => Err(EditError {
                refusal: Refusal::Conflict,
                id: None,
                location: Some(crate::text::locate(&self.source, conflict.start)),
            }),
        }
    }

    fn spliced(&self, mut splices: Vec<Splice>) -> Result<Self, EditError> {
        splices.retain(|edit| edit.text != edit.span.of(&self.source));
        if splices.is_empty() {
            return Ok(self.clone());
        }
        let text = splice(&self.source, splices);
        text.map(Self::parse).map_err(|_| EditError { refusal: Refusal::Overlap, id: None, location: None })
    }

    /// Fails unless `after` says all that this layer says; `in_order` also its order.
    fn same_notes(&self, after: &Self, in_order: bool) -> Result<(), EditError> {
        let told = |document: &Self| {
            let mut told: Vec<_> = document
                .notes()
                .map(|note| {
                    let mut fields = note.fields();
                    fields.retain(|field| {
                        !matches!(field, Field::Other(_) | Field::Id | Field::Kind | Field::Importance)
                    });
                    fields.extend([Field::Scope, Field::Project]);
                    fields.sort();
                    fields.dedup();
                    let fields = fields.into_iter().filter_map(|field| {
                        let text = match field {
                            Field::Evidence | Field::Tags => escape::normal_evidence(&note.get(&field)?),
                            _ => trim_blanks(&note.get(&field)?).to_owned(),
                        };
                        (!text.is_empty()).then_some((field, text))
                    });
                    let content = escape::normal_bullet(&note.content());
                    let id = note.id().map(str::to_owned);
                    (
                        id,
                        note.kind(),
                        note.state() == State::Good,
                        content,
                        (note.importance().to_bits(), note.model().unwrap_or_default().into_owned()),
                        fields.collect::<Vec<_>>(),
                    )
                })
                .collect();
            if !in_order {
                told.sort();
            }
            told
        };
        let (before, after) = (told(self), told(after));
        // Ids that were just given are new; everything else is to be the same.
        let odd = before.iter().zip(&after).find(|(one, other)| {
            one.0.is_some() && one.0 != other.0
                || (one.1, one.2, &one.3, &one.4, &one.5) != (other.1, other.2, &other.3, &other.4, &other.5)
        });
        match odd {
            None if before.len() == after.len() => Ok(()),
            odd => Err(EditError {
                refusal: Refusal::Misread("a note would not say what it says now"),
                id: odd.and_then(|(one, _)| one.0.clone()),
                location: None,
            }),
        }
    }

    /// The keys of a note in canonical order, its importance with two decimals.
    fn in_order(&self, note: Note<'_>) -> Vec<Splice> {
        let data = note.data();
        if note.state() != State::Good || !data.is_editable {
            return Vec::new();
        }
        let mut splices = Vec::new();
        let importance = note.entry(&Field::Importance).filter(|_| note.written_importance().is_some());
        let decimals = crate::note::two_decimals(note.importance());
        let is_out_of_range = note.written_importance().is_some_and(|number| !(0.0..=1.0).contains(&number));
        let importance = importance.filter(|entry| {
            !is_out_of_range
                && decimals.parse::<f64>().ok() == note.written_importance()
                && entry.text(&self.source) != decimals
        });
        let respelled = |entry: &Entry| {
            let text = entry.span().of(&self.source);
            match importance.filter(|importance| importance.span() == entry.span()) {
                Some(entry) => {
                    let (start, end) =
                        (entry.value().start - entry.span().start, entry.value().end - entry.span().start);
                    format!("{}{decimals}{}", &text[..start], &text[end..])
                }
                None => text.to_owned(),
            }
        };
        let entries: Vec<&Entry> = match note.form() {
            Form::FrontMatter => note.entries().iter().collect(),
            Form::Bullet => {
                if let Some(entry) = importance.filter(|entry| data.head.contains(entry.value().start)) {
                    splices.push(Splice::replace(entry.value(), decimals.clone()));
                }
                let below = note.entries().iter().filter(|entry| entry.span().start >= data.head.end);
                below.collect()
            }
        };
        // Only where the lines follow on each other, comments and empty lines aside.
        let rank = |entry: &Entry| canonical_rank(&entry.field(), note.form());
        let is_sorted = entries.windows(2).all(|pair| rank(pair[0]) <= rank(pair[1]));
        let is_together = entries.windows(2).all(|pair| {
            let between = &self.source[pair[0].span().end..pair[1].span().start];
            note.form() == Form::FrontMatter || between.is_empty()
        });
        let ends_well = entries.last().is_none_or(|last| last.span().of(&self.source).ends_with('\n'));
        if is_sorted || !is_together || !ends_well {
            splices.extend(entries.iter().map(|entry| Splice::replace(entry.span(), respelled(entry))));
            return splices;
        }
        // A key takes the comment lines above it along.
        let first = if note.form() == Form::FrontMatter { data.head.start } else { entries[0].span().start };
        let mut from = first;
        let mut chunks: Vec<(usize, String)> = Vec::new();
        for entry in &entries {
            chunks.push((
                rank(entry),
                format!("{}{}", &self.source[from..entry.span().start], respelled(entry)),
            ));
            from = entry.span().end;
        }
        chunks.sort_by_key(|(rank, _)| *rank);
        let text: String = chunks.into_iter().map(|(_, chunk)| chunk).collect();
        splices.push(Splice::replace(Span::new(first, from), text));
        splices
    }

    /// One empty line around front-matter notes and below their block, at most one
    /// elsewhere between notes, none at the end.
    fn spacing(&self) -> Vec<Splice> {
        let mut splices = Vec::new();
        let mut gap = |start: usize, end: usize, lines: usize| {
            let eol = self.eol_at(start.saturating_sub(1));
            splices.push(Splice::replace(Span::new(start, end), eol.repeat(lines)));
        };
        for note in
            self.notes.iter().filter(|note| note.form == Form::FrontMatter && note.state == State::Good)
        {
            if let super::note::Content::Body(body) = note.content
                && !body.is_empty()
            {
                gap(note.head_end, body.start, 1);
            }
        }
        let is_block = |kind: SegmentKind| match kind {
            SegmentKind::Note(note) => self.notes[note].form == Form::FrontMatter,
            SegmentKind::Header => true,
            SegmentKind::Prose => false,
        };
        for (index, segment) in self.segments.iter().enumerate() {
            let above = index.checked_sub(1).map(|above| self.segments[above].kind);
            let below = self.segments.get(index + 1).map(|below| below.kind);
            let touches_block = |kind: Option<SegmentKind>| kind.is_some_and(is_block);
            let text = segment.span.of(&self.source);
            if segment.kind == SegmentKind::Prose
                && trim_blanks(text).is_empty()
                && !text.contains('\u{FEFF}')
            {
                let count = text.matches('\n').count();
                let lines = match (above, below) {
                    (None, _) | (_, None) => 0,
                    _ if touches_block(above) || touches_block(below) => 1,
                    _ => count.min(1),
                };
                if above.is_some() || below.is_some() {
                    gap(segment.span.start, segment.span.end, lines);
                }
            } else if segment.kind == SegmentKind::Prose {
                let (start, end) = (segment.span.start, segment.span.end);
                let lead = blank_lines_at_start(text);
                if touches_block(above) {
                    gap(start, start + lead, 1);
                }
                let tail = text.len() - blank_lines_at_end(text);
                if touches_block(below) && text[..tail].ends_with('\n') {
                    gap(start + tail, end, 1);
                } else if below.is_none() && text[..tail].ends_with('\n') {
                    gap(start + tail, end, 0);
                }
            } else if is_block(segment.kind) && above.is_some_and(|above| above != SegmentKind::Prose) {
                gap(segment.span.start, segment.span.start, 1);
            }
        }
        let last = self.source.rsplit('\n').next().unwrap_or("");
        if !trim_blanks(last).is_empty() {
            splices.push(Splice::insert(self.source.len(), self.eol()));
        }
        splices
    }

    /// The layer with every block of several ids as that many notes.
    fn split_blends(&self) -> Self {
        let mut splices = Vec::new();
        for note in self.notes().filter(|note| note.form() == Form::FrontMatter) {
            let head = note.data().head;
            let is_blend = self.diagnostics.iter().any(|found| {
                matches!(found.problem, Problem::Blend(_))
                    && head.start <= found.span.start
                    && found.span.start < head.end
            });
            if is_blend {
                splices.push(Splice::replace(note.span(), self.split(note)));
            }
        }
        self.spliced(splices).unwrap_or_else(|_| self.clone())
    }

    /// One blended note as several. Keys that stand as often as there are ids are dealt
    /// out in order, others go to each; so are the lines, or else the paragraphs, of the
    /// body. A body that cannot be dealt out goes to each whole: twice is not lost.
    fn split(&self, note: Note<'_>) -> String {
        let source = &self.source;
        let eol = self.eol_at(note.span().start);
        let mut keys: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut last = None;
        for line in Lines::within(source, note.data().head) {
            let text = line.text(source);
            if let Some((key, _)) = yaml::key_of(text) {
                match keys.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, values)) => values.push(line.span().of(source)),
                    None => keys.push((key, vec![line.span().of(source)])),
                }
                last = Some((key, line.start));
            } else if let Some((key, start)) = last
                && let Some((_, values)) = keys.iter_mut().find(|(known, _)| *known == key)
                && let Some(value) = values.last_mut()
            {
                *value = &source[start..line.end];
            }
        }
        let count = keys.iter().find(|(key, _)| *key == "id").map_or(1, |(_, values)| values.len());
        let content = note.content();
        let lines: Vec<&str> = content.lines().filter(|line| !line.trim().is_empty()).collect();
        let paragraphs: Vec<&str> = content.split("\n\n").filter(|text| !text.trim().is_empty()).collect();
        let body = |index: usize| {
            let part = if lines.len() == count {
                lines[index]
            } else if paragraphs.len() == count {
                paragraphs[index].trim_matches('\n')
            } else {
                &content
            };
            escape::write_body(part, eol)
        };
        let notes = (0..count).map(|index| {
            let head: String = keys
                .iter()
                .map(|(_, values)| if values.len() == count { values[index] } else { values[0] })
                .collect();
            format!("---{eol}{head}---{eol}{eol}{}{eol}", body(index))
        });
        notes.collect::<Vec<_>>().join(eol)
    }

    /// All bullets as front-matter notes, in their places.
    fn to_blocks(&self, left: &mut Vec<Left>) -> Self {
        let eol = self.eol();
        let is_bullet = |note: Note<'_>| note.form() == Form::Bullet && note.state() == State::Good;
        // A list item closes what is opened in it; a body would take along all that follows.
        let is_open =
            |note: Note<'_>| opaque::opaque_spans(&note.content(), 0).last().is_some_and(|last| last.is_open);
        let is_turned = |note: Note<'_>| is_bullet(note) && !is_open(note);
        for note in self.notes().filter(|note| is_bullet(*note) && is_open(*note)) {
            left.push(Left {
                id: note.id().map(str::to_owned),
                what: "it opens a code fence, comment or element and does not close it; left as it is".into(),
            });
        }
        // Headings that only served the bullets go with them.
        let idle: Vec<Span> = self
            .sections
            .iter()
            .filter(|section| {
                let inside = Span::new(section.heading.end, section.end);
                let mut rest = self.segments.iter().filter(|segment| segment.span.overlaps(inside));
                rest.all(|segment| {
                    if let SegmentKind::Note(note) = segment.kind {
                        is_turned(Note::new(self, note)) || self.notes[note].form == Form::FrontMatter
                    } else {
                        let start = segment.span.start.max(inside.start);
                        let end = segment.span.end.min(inside.end);
                        trim_blanks(&self.source[start..end]).is_empty()
                    }
                })
            })
            .map(|section| section.heading)
            .collect();
        let mut out: Vec<(bool, String)> = Vec::new();
        let mut done: Option<usize> = None;
        for segment in &self.segments {
            match segment.kind {
                SegmentKind::Note(index) if is_turned(Note::new(self, index)) => {
                    if done.is_none_or(|done| done < index) {
                        out.push((true, NewNote::of(Note::new(self, index)).spell(Form::FrontMatter, eol)));
                        done = Some(index);
                    }
                }
                SegmentKind::Note(index) => {
                    let text = segment.span.of(&self.source).trim_end_matches(['\r', '\n']).to_owned();
                    out.push((self.notes[index].form == Form::FrontMatter, text));
                }
                SegmentKind::Header | SegmentKind::Prose => {
                    let mut text = String::new();
                    for line in Lines::within(&self.source, segment.span) {
                        if !idle.iter().any(|heading| heading.start == line.start) {
                            text.push_str(line.span().of(&self.source));
                        }
                    }
                    if !trim_blanks(&text).is_empty() {
                        out.push((false, text.trim_matches(['\r', '\n']).to_owned()));
                    }
                }
            }
        }
        let mut text = String::new();
        for (index, (is_note, piece)) in out.iter().enumerate() {
            text.push_str(piece);
            let next = out.get(index + 1);
            let ends_itself = next.is_none_or(|(is_note, next)| {
                *is_note
                    || Line::at(next, 0)
                        .is_some_and(|line| super::bullet::canonical_section(line.text(next)).is_some())
            });
            if *is_note && !ends_itself && !piece.ends_with(escape::END_OF_NOTE) {
                text.push_str(eol);
                text.push_str(eol);
                text.push_str(escape::END_OF_NOTE);
            }
            text.push_str(eol);
            if next.is_some() {
                text.push_str(eol);
            }
        }
        if self.notes().any(is_turned) { Self::parse(text) } else { self.clone() }
    }

    /// All front-matter notes as bullets at the end of their sections.
    fn to_bullets(&self, left: &mut Vec<Left>) -> Result<Self, EditError> {
        let can_turn = |note: &Note<'_>| {
            note.form() == Form::FrontMatter && note.state() == State::Good && !note.content().is_empty()
                // A line break by two blanks at the end of the first line, say.
                && escape::normal_bullet(&note.content()) == note.content()
                && note.id().is_some_and(|id| !id.contains(']'))
                // One-line values only; a bullet has no room for others.
                && note.fields().iter().all(|field| matches!(field, Field::Evidence | Field::Tags | Field::Other(_))
                    || note.get(field).is_none_or(|text| !text.contains('\n')))
                && note.project().is_none_or(|project| !project.contains(')'))
        };
        let turned: Vec<Note<'_>> = self.notes().filter(can_turn).collect();
        for note in self
            .notes()
            .filter(|note| note.form() == Form::FrontMatter && note.state() == State::Good && !can_turn(note))
        {
            left.push(Left {
                id: note.id().map(str::to_owned),
                what: "a bullet cannot hold it; left as it is".into(),
            });
        }
        let removals = turned.iter().map(|note| Change::Remove { note: note.index(), with_section: false });
        let mut document = self.apply(&removals.collect::<Vec<_>>())?;
        let eol = self.eol();
        for kind in crate::note::Kind::ALL {
            let bullets: Vec<String> = turned
                .iter()
                .filter(|note| note.kind() == kind)
                .map(|note| {
                    let new = self.with_importance(*note);
                    let mut text = new.spell(Form::Bullet, eol);
                    let rest = self.beyond_bullets(*note);
                    if !rest.is_empty() {
                        left.push(Left {
                            id: note.id().map(str::to_owned),
                            what: format!("kept as a comment: {}", rest.join("; ")),
                        });
                        // A comment must not end early.
                        let rest = rest.join("; ").replace("-->", "-- >");
                        text.push_str(&format!("{eol}<!-- {}: {rest} -->", note.id().unwrap_or("note")));
                    }
                    text
                })
                .collect();
            if !bullets.is_empty() {
                let all = NewNote::spelled(kind, Form::Bullet, bullets.join("\n").replace("\r\n", "\n"));
                let insertion = document.insertion(&all, Form::Bullet, Place::End);
                document = document.spliced(vec![Splice::insert(insertion.offset, insertion.text)])?;
            }
        }
        Ok(document)
    }

    /// A note with the importance that the layer's header gives it: a bullet always has one.
    fn with_importance(&self, note: Note<'_>) -> NewNote {
        let new = NewNote::of(note);
        if note.written_importance().is_none() && self.header_field("importance").is_some() {
            return new.with(Field::Importance, note.importance().to_string());
        }
        new
    }

    /// What a block says that a bullet has no words for: other keys and comments.
    fn beyond_bullets(&self, note: Note<'_>) -> Vec<String> {
        let source = &self.source;
        let mut rest = Vec::new();
        let mut covered = note.data().head.start;
        for entry in note.entries() {
            let between = &source[covered.min(entry.span().start)..entry.span().start];
            rest.extend(
                between.lines().map(str::trim).filter(|line| line.starts_with('#')).map(str::to_owned),
            );
            if matches!(entry.field(), Field::Other(_)) {
                rest.extend(
                    entry
                        .span()
                        .of(source)
                        .lines()
                        .map(str::trim_end)
                        .filter(|line| !line.is_empty())
                        .map(str::to_owned),
                );
            } else {
                let behind = source[entry.value().end.min(entry.span().end)..entry.span().end].trim();
                rest.extend(behind.starts_with('#').then(|| behind.to_owned()));
            }
            covered = entry.span().end;
        }
        let behind = &source[covered.min(note.data().head.end)..note.data().head.end];
        rest.extend(behind.lines().map(str::trim).filter(|line| line.starts_with('#')).map(str::to_owned));
        rest
    }
}

/// The place of a key among the others; unknown keys stay behind them.
fn canonical_rank(field: &Field, form: Form) -> usize {
    if form == Form::Bullet {
        // As pi writes them.
        match field {
            Field::Evidence => return 0,
            Field::Model => return 1,
            Field::Scope => return 2,
            _ => {}
        }
    }
    Field::named().position(|named| named == *field).map_or(usize::MAX, |rank| rank + 3)
}

fn blank_lines_at_start(text: &str) -> usize {
    Lines::new(text)
        .take_while(|line| trim_blanks(line.text(text)).is_empty())
        .map(|line| line.end)
        .last()
        .unwrap_or(0)
}

/// How many bytes the empty lines at the end take.
fn blank_lines_at_end(text: &str) -> usize {
    let lines: Vec<Line> = Lines::new(text).collect();
    let blank = lines.iter().rev().take_while(|line| trim_blanks(line.text(text)).is_empty());
    blank.map(|line| line.end - line.start).sum()
}
