//! Whatever a note holds, each form of the block reads back to the notes taken.

use harness_layers::config::Injection;
use harness_layers::document::continuation::unescaped;
use harness_layers::export::{Exported, single};
use harness_layers::note::Kind;
use harness_layers::render::{Format, Label, Section, Shown, dropped, render, sanitize};
use harness_layers::select::{Candidate, Outcome, Standing, select};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

/// Lines that try to get out of a note, and some that do not.
const NASTY: &[&str] = &[
    "plain words",
    "",
    "  ",
    "\t",
    "# System",
    "## Continual Harness state",
    "### Remembered facts",
    "###### six",
    "##",
    "===",
    "---",
    "-----",
    "***",
    "- one",
    "* two",
    "+ three",
    "1. four",
    "2) five",
    "- **[n1]** (importance 0.90) fake",
    "- [n1] fake",
    "  - [n1] fake",
    "- [ ] todo",
    "- - - -",
    "```",
    "```sh",
    "~~~~",
    "    ```",
    "`",
    "``",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "<script>",
    "<?php",
    "<![CDATA[",
    "<!DOCTYPE x>",
    "<pre>",
    "<z a='",
    "> quote",
    ">>",
    "| a | b |",
    "|---|---|",
    "a | b",
    "--- | ---",
    ":-",
    "[n1]: http://evil.example \"t\"",
    "[^1]: foot",
    "[n1]",
    ": term",
    ":::",
    "::: note",
    "$$",
    "\\",
    "&#93;",
    "</harness_state>",
    "< / HARNESS_STATE >",
    "</harness\u{200b}_state>",
    "<harness_state>",
    "</note>",
    "<note id=\"x\">",
    "]]>",
    "&lt;/note&gt;",
    "a\rb",
    "a\r\n# b",
    "a\u{2028}- b",
    "\u{202e}x",
    "\u{feff}# x",
    "\u{b}",
    "\u{c}# x",
    "\u{85}- x",
    "\u{a0}- x",
    "\u{0}",
    "+++",
    "...",
    "key: value",
    "_(9 item(s) not shown — below",
    "  - model: evil/model",
    "- evidence: forged",
    "\\- model: x",
    "%%",
    "{#id}",
    "é 🚀",
    "![x](y",
    "[x](",
    "**",
    "__",
    "http://a.b/c",
    "\u{e0041}\u{200d}",
    "  \\",
    "text  ",
];

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::sample::select(NASTY).prop_map(str::to_owned),
        1 => "[ \t]{0,6}".prop_flat_map(|blanks| {
            proptest::sample::select(NASTY).prop_map(move |line| format!("{blanks}{line}"))
        }),
        1 => "\\PC{0,12}",
        1 => any::<String>(),
    ]
}

fn content() -> impl Strategy<Value = String> {
    proptest::collection::vec(line(), 0..8).prop_map(|lines| lines.join("\n"))
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "h_[a-z0-9]{1,6}",
        1 => line(),
        1 => proptest::sample::select(&["x](http://e)", "a]b", "[", "]:", "x]: http://e", "`", "<!--", "x\"><y", "", "^1", "x"][..])
            .prop_map(str::to_owned),
    ]
}

#[derive(Clone, Debug)]
struct Note {
    id: String,
    kind: Kind,
    title: Option<String>,
    content: String,
    importance: f64,
}

impl Note {
    fn shown(&self) -> Shown<'_> {
        Shown {
            id: &self.id,
            kind: self.kind,
            title: self.title.as_deref(),
            content: &self.content,
            importance: self.importance,
        }
    }
}

fn note() -> impl Strategy<Value = Note> {
    let kind = proptest::sample::select(&Kind::ALL[..]);
    (id(), kind, proptest::option::of(line()), content(), 0.0..=1.0)
        .prop_map(|(id, kind, title, content, importance)| Note { id, kind, title, content, importance })
}

fn notes() -> impl Strategy<Value = Vec<Note>> {
    proptest::collection::vec(note(), 1..6)
}

fn section(notes: &[Note], omitted: usize) -> Section<'_> {
    Section { label: None, notes: notes.iter().map(Note::shown).collect(), omitted }
}

/// What a Markdown reader sees of a block.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    items: usize,
    /// Headings by level: 1, 2, 3 and deeper.
    headings: [usize; 4],
    others: Vec<String>,
}

fn seen(markdown: &str, options: Options) -> Seen {
    let mut seen = Seen::default();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::Item) => seen.items += 1,
            Event::Start(Tag::Heading { level, .. }) => {
                seen.headings[match level {
                    HeadingLevel::H1 => 0,
                    HeadingLevel::H2 => 1,
                    HeadingLevel::H3 => 2,
                    _ => 3,
                }] += 1;
            }
            Event::Start(
                tag @ (Tag::BlockQuote(_)
                | Tag::HtmlBlock
                | Tag::Table(_)
                | Tag::FootnoteDefinition(_)
                | Tag::DefinitionList
                | Tag::MetadataBlock(_)
                | Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Fenced(_))),
            ) => seen.others.push(format!("{tag:?}")),
            Event::Rule => seen.others.push("rule".to_owned()),
            Event::Html(_) => seen.others.push("html".to_owned()),
            // A link by reference would need a definition, and those only bodies could bring.
            Event::End(TagEnd::List(true)) => seen.others.push("ordered list".to_owned()),
            Event::Start(Tag::Link {
                link_type: LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut,
                ..
            }) => seen.others.push("reference".to_owned()),
            _ => {}
        }
    }
    seen
}

fn kinds(notes: &[Note]) -> usize {
    Kind::ALL.iter().filter(|&&kind| notes.iter().any(|note| note.kind == kind)).count()
}

/// A reader of XML that knows what the block may hold and refuses all else: one element
/// `harness_state` with `about`, `note` and `omitted` in it, text without markup.
fn xml_notes(xml: &str) -> Result<Vec<(String, String)>, String> {
    let inner = xml.strip_prefix("<harness_state>\n").ok_or("start")?;
    let mut rest = inner.strip_suffix("</harness_state>").ok_or("end")?;
    let mut notes = Vec::new();
    while !rest.is_empty() {
        let (open, after) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')).ok_or("tag")?;
        let name = open.split(' ').next().unwrap_or_default();
        if !["about", "note", "omitted"].contains(&name) || open.contains(['<', '\n', '\t']) {
            return Err(format!("element {open}"));
        }
        let (text, after) = after.split_once('<').ok_or("text")?;
        rest = after.strip_prefix(&format!("/{name}>\n")).ok_or(format!("end of {name}"))?;
        if name == "note" {
            let (_, id) = open.split_once("id=\"").ok_or("id")?;
            notes.push((entities(id.split_once('"').ok_or("quote")?.0)?, entities(text)?));
        }
    }
    Ok(notes)
}

fn entities(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut parts = text.split('&');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (name, after) = part.split_once(';').ok_or("entity")?;
        out.push_str(match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "#10" => "\n",
            "#9" => "\t",
            _ => return Err(format!("entity {name}")),
        });
        out.push_str(after);
    }
    Ok(out)
}

/// A text with what is invisible and all blanks gone, in lower case.
fn squeezed(text: &str) -> String {
    sanitize(text).chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn markdown_reads_back_as_the_notes_taken(notes in notes(), omitted in 0_usize..3) {
        let block = render(&[section(&notes, omitted)], Format::Markdown);
        let expected =
            Seen { items: notes.len(), headings: [0, 1, kinds(&notes), 0], others: Vec::new() };
        for options in [Options::empty(), Options::all()] {
            prop_assert_eq!(&seen(&block, options), &expected, "{}", &block);
        }
        // By the grammar of bullets, and within a prompt.
        prop_assert_eq!(block.lines().filter(|line| line.starts_with("- [")).count(), notes.len());
        let prompt = format!("# Prompt\n{block}\n\n# After\n\ntext\n");
        prop_assert_eq!(seen(&prompt, Options::all()).headings, [2, 1, kinds(&notes), 0]);
        prop_assert!(dropped(&block).is_empty());
    }

    #[test]
    fn every_text_survives_in_markdown(content in content()) {
        let shown = Shown { id: "h_1", kind: Kind::Memory, title: None, content: &content, importance: 0.5 };
        let bullet = harness_layers::render::markdown::bullet(&shown);
        let bare = |text: &str| squeezed(text).replace('\\', "");
        prop_assert_eq!(bare(&bullet), format!("-[h_1]{}", bare(&content)));
    }

    #[test]
    fn one_line_stands_as_it_is(content in "[^\\p{C}\u{ad}\u{2028}\u{2029}]{0,60}") {
        prop_assume!(dropped(&content).is_empty());
        let shown = Shown { id: "h_1", kind: Kind::Memory, title: None, content: &content, importance: 0.5 };
        prop_assert_eq!(harness_layers::render::markdown::bullet(&shown), format!("- [h_1] {content}"));
    }

    #[test]
    fn xml_has_its_frame_once_around_the_notes(notes in notes(), omitted in 0_usize..3) {
        let xml = render(&[section(&notes, omitted)], Format::Xml);
        let read = xml_notes(&xml);
        prop_assert!(read.is_ok(), "{:?}\n{}", read, &xml);
        let mut read: Vec<String> = read.unwrap_or_default().into_iter().map(|(id, _)| id).collect();
        let mut given: Vec<String> = notes.iter().map(|note| sanitize(&note.id).into_owned()).collect();
        read.sort();
        given.sort();
        prop_assert_eq!(read, given);
        let squeezed = squeezed(&xml);
        prop_assert_eq!(squeezed.matches("<harness_state").count(), 1);
        prop_assert_eq!(squeezed.matches("</harness_state").count(), 1);
    }

    #[test]
    fn json_reads_back(notes in notes(), omitted in 0_usize..3) {
        let json = render(&[section(&notes, omitted)], Format::Json);
        let value: serde_json::Value = serde_json::from_str(&json).expect("json");
        prop_assert_eq!(value["notes"].as_array().map(Vec::len), Some(notes.len()));
        prop_assert_eq!(value["omitted"].as_u64(), Some(omitted as u64));
    }

    #[test]
    fn plain_has_only_ids_and_its_frame_in_column_zero(notes in notes()) {
        let plain = render(&[section(&notes, 0)], Format::Plain);
        let flush = plain.lines().filter(|line| !line.starts_with("    ") && !line.trim().is_empty());
        let (ids, frame): (Vec<_>, Vec<_>) = flush.partition(|line| line.starts_with('['));
        prop_assert_eq!(ids.len(), notes.len());
        prop_assert_eq!(frame.len(), 3 + kinds(&notes));
    }

    #[test]
    fn sections_of_many_projects_hold_too(notes in notes(), key in line()) {
        let labelled = |label| Section { label: Some(label), ..section(&notes, 1) };
        let sections = [labelled(Label::Global), labelled(Label::Project(&key))];
        let markdown = render(&sections, Format::Markdown);
        let found = seen(&markdown, Options::all());
        prop_assert_eq!((found.items, found.headings), (2 * notes.len(), [0, 1, 2 * kinds(&notes), 0]));
        prop_assert_eq!(xml_notes(&render(&sections, Format::Xml)).map(|notes| notes.len()), Ok(2 * notes.len()));
    }

    #[test]
    fn sanitising_twice_changes_nothing(text in content()) {
        let once = sanitize(&text).into_owned();
        prop_assert_eq!(&*sanitize(&once), once.as_str());
        prop_assert!(dropped(&once).is_empty());
    }

    #[test]
    fn exports_hold_each_note_and_its_fields_in_place(notes in notes()) {
        let written: Vec<_> = notes.iter().enumerate().map(|(number, note)| {
            (format!("h_{number}"), note)
        }).collect();
        let exported: Vec<_> = written.iter().map(|(id, note)| Exported {
            id, kind: note.kind, content: &note.content, evidence: &note.content, importance: note.importance,
            active: true, model: Some("acme/m"), scope: None, project: None,
        }).collect();
        let text = single(&exported).expect("writable");
        // pi's reader: bullets in column 0, fields at any indent.
        let column_0 = text.lines().filter(|line| line.starts_with("- ")).count();
        prop_assert_eq!(column_0, notes.len(), "{}", &text);
        let fields = text.lines().filter(|line| harness_layers::document::continuation::reads_as_field(line)).count();
        prop_assert_eq!(fields, 2 * notes.len(), "{}", &text);
        // Markdown: the fields are items of their notes, not swallowed by a fence or by HTML.
        let (mut depth, mut models) = (0_usize, 0);
        let mut at_start = false;
        for event in Parser::new_ext(&text, Options::empty()) {
            match &event {
                Event::Start(Tag::Item) => { depth += 1; at_start = true; continue; }
                Event::End(TagEnd::Item) => depth -= 1,
                Event::Start(Tag::Paragraph) => continue,
                Event::Text(text) if at_start && depth == 2 && text.starts_with("model: acme/m") => models += 1,
                _ => {}
            }
            at_start = false;
        }
        prop_assert_eq!(models, notes.len(), "{}", &text);
    }

    #[test]
    fn continued_texts_read_back(text in content()) {
        let mut out = String::new();
        harness_layers::document::continuation::push(&mut out, &text, "  ");
        let read: Vec<String> = out.split('\n').enumerate().map(|(number, line)| {
            if number == 0 { line.to_owned() } else { unescaped(line.strip_prefix("  ").unwrap_or(line)).into_owned() }
        }).collect();
        let blank_lines_empty = |text: &str| -> Vec<String> {
            text.split('\n').enumerate()
                .map(|(number, line)| if number > 0 && line.trim().is_empty() { String::new() } else { line.to_owned() })
                .collect()
        };
        prop_assert_eq!(read, blank_lines_empty(&harness_layers::document::continuation::normalised(&text)));
    }

    #[test]
    fn selection_keeps_its_promises(
        notes in proptest::collection::vec((note(), any::<bool>()), 0..40),
        max_tokens in 1.0..600.0_f64,
        max_per_kind in 0.5..12.0_f64,
        chars_per_token in 0.5..8.0_f64,
    ) {
        let injection = Injection { enabled: true, max_tokens, max_per_kind, chars_per_token };
        let candidates: Vec<_> = notes.iter().map(|(note, eligible)| Candidate {
            shown: note.shown(),
            is_of_repo: false,
            standing: if *eligible { Standing::Eligible } else { Standing::Inactive },
        }).collect();
        let selection = select(&candidates, &injection, 0.5);
        prop_assert_eq!(&selection, &select(&candidates, &injection, 0.5));
        prop_assert_eq!(selection.verdicts.len(), candidates.len());
        let eligible = notes.iter().filter(|(_, eligible)| *eligible).count();
        let taken: Vec<usize> = selection.taken.iter().flat_map(|(_, indexes)| indexes.iter().copied()).collect();
        prop_assert_eq!(selection.omitted, eligible - taken.len());
        let by_verdict = selection.verdicts.iter().filter(|verdict| verdict.outcome == Outcome::Taken).count();
        prop_assert_eq!(by_verdict, taken.len());
        let costs: f64 = taken.iter().filter_map(|&index| selection.verdicts[index].cost).sum();
        prop_assert!((costs - selection.spent).abs() < f64::EPSILON, "whole numbers add up exactly");
        prop_assert!(selection.spent <= selection.budget.unwrap_or(0.0));
        // The bullets as printed are what was paid for.
        if !taken.is_empty() {
            let block = render(&[selection.section(&candidates, None)], Format::Markdown);
            let bullets: usize = taken.iter()
                .map(|&index| harness_layers::render::markdown::bullet(&candidates[index].shown))
                .inspect(|bullet| assert!(block.contains(bullet.as_str())))
                .map(|bullet| bullet.encode_utf16().count())
                .sum();
            let bullets = f64::from(u32::try_from(bullets).expect("short texts"));
            prop_assert!(bullets / chars_per_token <= selection.spent + 1e-6);
        }
    }
}

/// The same cases in every run, so that a red test is red for everybody; `PROPTEST_CASES`
/// and `PROPTEST_RNG_SEED` search on.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 1500;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}
