//! The table of what happens when both sides changed a note, walked completely: every
//! combination of base, offline and online over a few values, in both forms.

#![expect(clippy::unwrap_used, reason = "a test")]

use harness_layers::document::{Document, Field, Form, Note};
use harness_layers::merge::{Applied, ChangeSet, Lost};

const FORMS: [Form; 2] = [Form::FrontMatter, Form::Bullet];

/// A layer of n1 with these fields (none: without n1), and of a bystander.
fn layer(form: Form, n1: Option<&[(Field, Option<&str>)]>) -> Document {
    let mut text = String::from("---\nlayer: project\n---\n\nProse.\n\n");
    let content = |fields: &[(Field, Option<&str>)]| {
        fields
            .iter()
            .find(|(field, _)| *field == Field::Content)
            .and_then(|(_, text)| *text)
            .unwrap_or("text")
            .to_owned()
    };
    let others = |fields: &[(Field, Option<&str>)]| -> Vec<(Field, String)> {
        let written = fields.iter().filter(|(field, _)| *field != Field::Content);
        written.filter_map(|(field, text)| Some((field.clone(), (*text)?.to_owned()))).collect()
    };
    match form {
        Form::FrontMatter => {
            if let Some(fields) = n1 {
                text.push_str("---\nid: n1\n");
                for (field, value) in others(fields) {
                    text.push_str(&format!("{field}: {value}\n"));
                }
                text.push_str(&format!("---\n\n{}\n\n", content(fields)));
            }
            text.push_str("---\nid: n2\n---\n\nbystander\n");
        }
        Form::Bullet => {
            text.push_str("## Memory facts\n\n");
            if let Some(fields) = n1 {
                text.push_str(&format!("- **[n1]** (importance 0.40) {}\n", content(fields)));
                for (field, value) in others(fields) {
                    text.push_str(&format!("  - {field}: {value}\n"));
                }
            }
            text.push_str("- **[n2]** (importance 0.50) bystander\n");
        }
    }
    Document::parse(text)
}

fn merged(base: &Document, offline: &Document, online: &Document) -> Applied {
    let applied = ChangeSet::between(base, online).apply(offline);
    assert!(applied.waiting.is_empty(), "{:?}", applied.waiting);
    assert_eq!(applied.document.note("n2").unwrap().content(), "bystander");
    // Once more changes nothing.
    let again = ChangeSet::between(base, online).apply(&applied.document);
    assert_eq!(again.document.source(), applied.document.source());
    applied
}

fn value(note: Option<Note<'_>>, field: &Field) -> Option<String> {
    note?.get(field).map(std::borrow::Cow::into_owned)
}

#[test]
fn a_single_value_follows_who_changed_it_and_offline_has_the_last_word() {
    let values = [None, Some("a"), Some("b"), Some("c")];
    for form in FORMS {
        for field in [Field::Title, Field::Source, Field::Created, Field::Model] {
            for (base, offline, online) in triples(&values) {
                let version = |value| layer(form, Some(&[(field.clone(), value)]));
                let got = merged(&version(base), &version(offline), &version(online));
                // An isolation key that is missing offline is unchanged there.
                let seen = if field.is_isolation() && offline.is_none() { base } else { offline };
                let expected = if online == base || online == seen {
                    offline
                } else if seen == base {
                    online
                } else {
                    offline
                };
                let case = format!("{form:?} {field}: {base:?} {offline:?} {online:?}");
                assert_eq!(
                    value(got.document.note("n1"), &field).as_deref(),
                    expected,
                    "{case}\n{}",
                    got.document.source()
                );
                let is_contested = online != base && seen != base && online != seen;
                assert_eq!(!got.losses.is_empty(), is_contested, "{case}");
                if is_contested {
                    let Lost::Value { kept, lost, .. } = &got.losses[0].lost else { panic!("{case}") };
                    assert_eq!((kept.as_deref(), lost.as_deref()), (offline, online), "{case}");
                }
            }
        }
    }
}

#[test]
fn contents_merge_by_lines_and_offline_has_the_last_word() {
    let values = ["one\ntwo\nthree", "ONE\ntwo\nthree", "one\ntwo\nTHREE", "1\ntwo\nthree"];
    for form in FORMS {
        for base in values {
            for offline in values {
                for online in values {
                    let version = |text| layer(form, Some(&[(Field::Content, Some(text))]));
                    let got = merged(&version(base), &version(offline), &version(online));
                    let text = value(got.document.note("n1"), &Field::Content).unwrap();
                    let case = format!("{form:?} {base:?} {offline:?} {online:?}");
                    for ((line, base), (offline, online)) in
                        text.lines().zip(base.lines()).zip(offline.lines().zip(online.lines()))
                    {
                        let expected = if offline == base { online } else { offline };
                        assert_eq!(line, expected, "{case}");
                        if online != base && offline != base && online != offline {
                            let is_told = got.losses.iter().any(|loss| {
                                matches!(&loss.lost, Lost::Value { lost: Some(lost), .. } if lost.contains(online))
                            });
                            assert!(is_told, "{case}: {:?}", got.losses);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn presence_follows_the_table() {
    let values = [None, Some("a"), Some("b"), Some("c")];
    for form in FORMS {
        for (base, offline, online) in triples(&values) {
            let version = |value: Option<&str>| match value {
                Some(text) => layer(form, Some(&[(Field::Content, Some(text))])),
                None => layer(form, None),
            };
            let got = merged(&version(base), &version(offline), &version(online));
            let case = format!("{form:?} {base:?} {offline:?} {online:?}");
            let expected = match (base, offline, online) {
                // Only one side changed, or both alike.
                _ if online == base || online == offline => offline,
                _ if offline == base => online,
                // Removed on one side and changed on the other: as offline has it.
                (Some(_), None, Some(_)) => None,
                _ => offline,
            };
            assert_eq!(value(got.document.note("n1"), &Field::Content).as_deref(), expected, "{case}");
            let is_contested = online != base && offline != base && online != offline;
            assert_eq!(!got.losses.is_empty(), is_contested, "{case}: {:?}", got.losses);
            if let (true, Some(text)) = (is_contested, online) {
                let is_kept = got.losses.iter().any(|loss| match &loss.lost {
                    Lost::Note(note) => note.content == text,
                    Lost::Value { lost, .. } => lost.as_deref() == Some(text),
                    Lost::Removal => false,
                });
                assert!(is_kept, "{case}: the online text is nowhere: {:?}", got.losses);
            }
        }
    }
}

fn triples<T: Copy>(values: &[T]) -> Vec<(T, T, T)> {
    let pairs = values.iter().flat_map(|one| values.iter().map(move |two| (*one, *two)));
    pairs.flat_map(|(one, two)| values.iter().map(move |three| (one, two, *three))).collect()
}
