//! Stale buffers: which version a saved file was made from, and what comes of it.

use harness_layers::document::{Change, Document, Field, Form, NewNote, Place};
use harness_layers::merge::{Base, ChangeSet, Version, Why, revision_of};
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

/// What a sync makes of a saved file: the online changes since its base, carried over.
fn synced(file: &Document, versions: &[Version<'_>]) -> (Document, Why) {
    let base = Base::choose(file, versions).expect("there are versions");
    let newest = versions.last().expect("one").document;
    let applied = ChangeSet::between(versions[base.index].document, newest).apply(file);
    assert!(applied.waiting.is_empty());
    (applied.document, base.why)
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
        let versions =
            [Version { document: &v1, is_online: false }, Version { document: &v2, is_online: true }];
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
        let versions =
            [Version { document: &v1, is_online: false }, Version { document: &v2, is_online: true }];
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
        let versions =
            [Version { document: &v1, is_online: false }, Version { document: &v2, is_online: true }];
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
        let mut versions =
            vec![Version { document: &v1, is_online: false }, Version { document: &v2, is_online: true }];
        let (merged, _) = synced(&file, &versions);
        assert_eq!(texts(&merged), owned(&[("n1", "alpha!"), ("n2", "beta"), ("n3", "gamma")]));
        // The merge was written; the same file is saved once more.
        versions.push(Version { document: &file, is_online: false });
        versions.push(Version { document: &merged, is_online: true });
        let again = layer(form, &[("n1", "alpha!"), ("n2", "beta")]);
        let base = Base::choose(&again, &versions).expect("there are versions");
        assert_eq!((base.why, base.index), (Why::Meant, 3));
        let (left, _) = synced(&again, &versions);
        assert_eq!(texts(&left), owned(&[("n1", "alpha!"), ("n2", "beta")]));
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
    let versions = [Version { document: &v1, is_online: false }, Version { document: &v2, is_online: true }];
    let edited = v1.set(0, Field::Content, "alpha!").expect("an edit");
    assert_eq!(Base::choose(&edited, &versions), Some(Base { index: 0, why: Why::Revision }));
    // Another machine's 41 names nothing here.
    let foreign = text("41", "alpha!");
    assert_eq!(Base::choose(&foreign, &versions).map(|base| base.why), Some(Why::CarriesNothing));
}

#[test]
fn without_online_work_the_newest_version_is_the_base() {
    let (v1, v2) = (layer(Form::FrontMatter, V1), layer(Form::FrontMatter, V2));
    let versions = [Version { document: &v1, is_online: false }, Version { document: &v2, is_online: false }];
    let file = layer(Form::FrontMatter, &[("n1", "alpha!"), ("n2", "beta")]);
    assert_eq!(Base::choose(&file, &versions), Some(Base { index: 1, why: Why::NothingOnline }));
    assert_eq!(Base::choose(&file, &[]), None);
}
