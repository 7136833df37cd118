//! Stale buffers: which version a saved file was made from, and what comes of it.

use harness_layers::document::{Change, Document, Field, Form, NewNote, Place};
use std::convert::Infallible;
use std::rc::Rc;

use harness_layers::merge::{Base, Origin, Version, VersionLine, Why, revision_of};
use harness_layers::note::Kind;

/// A layer of these notes.
fn layer(form: Form, notes: &[(&str, &str)]) -> Document {
    let start = match form {
        Form::FrontMatter => "---\nlayer: project\n---\n",
        Form::Bullet => "# Continual Harness State\n",
    };
    notes.iter().fold(Document::parse(start), |layer, (id, text)| {
        let note = NewNote::new(*id, Kind::Memory, *text);
        layer.apply(&[Change::Insert { note, form: Some(form), place: Place::End }]).expect("an insertion")
    })
}

/// A line of versions, for one saved file.
struct Line {
    documents: Vec<Rc<Document>>,
    versions: Vec<Version>,
}

impl VersionLine for Line {
    type Error = Infallible;

    fn versions(&self) -> &[Version] {
        &self.versions
    }

    fn document(&self, index: usize) -> Result<Rc<Document>, Infallible> {
        Ok(Rc::clone(&self.documents[index]))
    }
}

fn line(versions: &[(&Document, Origin)], file: &Document) -> Line {
    Line {
        documents: versions.iter().map(|(document, _)| Rc::new(Document::clone(document))).collect(),
        versions: versions
            .iter()
            .map(|(document, origin)| Version {
                origin: *origin,
                revision: revision_of(document),
                is_file: document.source() == file.source(),
            })
            .collect(),
    }
}

fn base_of(file: &Document, versions: &[(&Document, Origin)]) -> Option<Base> {
    let Ok(base) = Base::choose(file, &line(versions, file));
    base
}

/// What a sync makes of a saved file: the online changes since its base, carried over.
fn synced(file: &Document, versions: &[(&Document, Origin)]) -> (Document, Why) {
    let base = base_of(file, versions).expect("there are versions");
    let Ok(carried) = base.carry_over(file, &line(versions, file));
    let document = carried.map_or_else(
        || file.clone(),
        |applied| {
            assert!(applied.waiting.is_empty());
            applied.document
        },
    );
    (document, base.why)
}

fn texts(layer: &Document) -> Vec<(String, String)> {
    let mut texts: Vec<_> =
        layer.notes().map(|note| (note.id().unwrap_or("").to_owned(), note.content().into_owned())).collect();
    texts.sort();
    texts
}

fn owned(notes: &[(&str, &str)]) -> Vec<(String, String)> {
    notes.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

const V1: &[(&str, &str)] = &[("n1", "alpha"), ("n2", "beta")];
const V2: &[(&str, &str)] = &[("n1", "alpha"), ("n2", "beta two"), ("n3", "gamma")];

#[test]
fn a_stale_buffer_takes_nothing_away() {
    for form in [Form::FrontMatter, Form::Bullet] {
        let (v1, v2) = (layer(form, V1), layer(form, V2));
        let versions = [(&v1, Origin::Offline), (&v2, Origin::Online)];
        let file = layer(form, &[("n1", "alpha!"), ("n2", "beta")]);
        let (merged, why) = synced(&file, &versions);
        assert_eq!(why, Why::CarriesNothing);
        assert_eq!(texts(&merged), owned(&[("n1", "alpha!"), ("n2", "beta two"), ("n3", "gamma")]));
    }
}

#[test]
fn who_has_seen_the_agents_work_may_remove_it() {
    for form in [Form::FrontMatter, Form::Bullet] {
        let (v1, v2) = (layer(form, V1), layer(form, V2));
        let versions = [(&v1, Origin::Offline), (&v2, Origin::Online)];
        let file = layer(form, &[("n1", "alpha!"), ("n2", "beta two")]);
        let (merged, why) = synced(&file, &versions);
        assert_eq!(why, Why::Carries);
        assert_eq!(texts(&merged), owned(&[("n1", "alpha!"), ("n2", "beta two")]));
    }
}

#[test]
fn an_earlier_version_byte_for_byte_was_meant() {
    for form in [Form::FrontMatter, Form::Bullet] {
        let (v1, v2) = (layer(form, V1), layer(form, V2));
        let versions = [(&v1, Origin::Offline), (&v2, Origin::Online)];
        let (merged, why) = synced(&v1, &versions);
        assert_eq!((why, merged.source()), (Why::Meant, v1.source()));
    }
}

#[test]
fn in_doubt_a_note_is_kept_and_a_second_save_without_it_removes_it() {
    for form in [Form::FrontMatter, Form::Bullet] {
        let v1 = layer(form, V1);
        let v2 = layer(form, &[("n1", "alpha"), ("n2", "beta"), ("n3", "gamma")]);
        let file = layer(form, &[("n1", "alpha!"), ("n2", "beta")]);
        let mut versions = vec![(&v1, Origin::Offline), (&v2, Origin::Online)];
        let (merged, _) = synced(&file, &versions);
        assert_eq!(texts(&merged), owned(&[("n1", "alpha!"), ("n2", "beta"), ("n3", "gamma")]));
        // The merge was written; the same file is saved once more.
        versions.push((&file, Origin::Offline));
        versions.push((&merged, Origin::CarriedOver));
        let again = layer(form, &[("n1", "alpha!"), ("n2", "beta")]);
        let base = base_of(&again, &versions).expect("there are versions");
        assert_eq!((base.why, base.index), (Why::Meant, 3));
        let (left, _) = synced(&again, &versions);
        assert_eq!(texts(&left), owned(&[("n1", "alpha!"), ("n2", "beta")]));
        // Nor has it to be the same file.
        let other = layer(form, &[("n1", "alpha!!"), ("n2", "beta")]);
        assert_eq!(base_of(&other, &versions).map(|base| base.why), Some(Why::Insists));
        let (left, _) = synced(&other, &versions);
        assert_eq!(texts(&left), owned(&[("n1", "alpha!!"), ("n2", "beta")]));
        // What came since was not put back yet.
        let v5 = layer(form, &[("n1", "alpha!"), ("n2", "beta"), ("n3", "gamma"), ("n4", "delta")]);
        versions.push((&v5, Origin::Online));
        let (left, _) = synced(&other, &versions);
        assert_eq!(texts(&left), owned(&[("n1", "alpha!!"), ("n2", "beta"), ("n4", "delta")]));
    }
}

#[test]
fn what_was_taken_back_since_is_not_carried_over() {
    for form in [Form::FrontMatter, Form::Bullet] {
        let v1 = layer(form, V1);
        let online = layer(form, &[("n1", "alpha"), ("n2", "beta two"), ("n3", "gamma")]);
        // Somebody who saw it removed the note and changed the text.
        let seen = layer(form, &[("n1", "alpha"), ("n2", "beta three")]);
        let versions = [(&v1, Origin::Offline), (&online, Origin::Online), (&seen, Origin::Offline)];
        let file = layer(form, &[("n1", "alpha!"), ("n2", "beta three")]);
        let (merged, why) = synced(&file, &versions);
        assert_eq!((why, merged.source()), (Why::NothingOnline, file.source()));
    }
}

#[test]
fn a_revision_is_believed_only_if_it_names_these_very_bytes() {
    let text = |revision: &str, note: &str| {
        Document::parse(format!(
            "---\nlayer: global\nrevision: {revision}\n---\n\n---\nid: n1\n---\n\n{note}\n"
        ))
    };
    let named = |note: &str| {
        let revision = revision_of(&text("x", note));
        text(&revision, note)
    };
    let (v1, v2) = (named("alpha"), named("beta"));
    assert_ne!(revision_of(&v1), revision_of(&v2));
    let versions = [(&v1, Origin::Offline), (&v2, Origin::Online)];
    let edited = v1.set(0, Field::Content, "alpha!").expect("an edit");
    assert_eq!(base_of(&edited, &versions), Some(Base { index: 0, why: Why::Revision }));
    // Another machine's 41 names nothing here.
    let foreign = text("41", "alpha!");
    assert_eq!(base_of(&foreign, &versions).map(|base| base.why), Some(Why::CarriesNothing));
}

#[test]
fn without_online_work_the_newest_version_is_the_base() {
    let (v1, v2) = (layer(Form::FrontMatter, V1), layer(Form::FrontMatter, V2));
    let versions = [(&v1, Origin::Offline), (&v2, Origin::Offline)];
    let file = layer(Form::FrontMatter, &[("n1", "alpha!"), ("n2", "beta")]);
    assert_eq!(base_of(&file, &versions), Some(Base { index: 1, why: Why::NothingOnline }));
    assert_eq!(base_of(&file, &[]), None);
}
