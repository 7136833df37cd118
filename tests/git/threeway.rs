//! Three versions of a layer made one: case by case, without git.

use harness_layers::document::{Document, Field, Note, State};
use harness_layers::merge::{Disagreement, Marked, Marks, Merged, Versions, merge};

fn merged(base: &str, ours: &str, theirs: &str) -> Merged {
    marked(base, ours, theirs, &Marks::default())
}

fn marked(base: &str, ours: &str, theirs: &str, marks: &Marks) -> Merged {
    merge(Versions { base, ours, theirs }, marks).unwrap()
}

/// Both ways around, since the sides are equal. Notes may come in another order.
#[track_caller]
fn clean(base: &str, ours: &str, theirs: &str) -> String {
    let one = merged(base, ours, theirs);
    assert_eq!(one.disagreements, [], "{}", one.text);
    let other = merged(base, theirs, ours);
    assert_eq!(other.disagreements, [], "{}", other.text);
    assert_eq!(notes(&one.text), notes(&other.text), "the sides are equal");
    one.text
}

fn notes(text: &str) -> Vec<(String, String, String)> {
    let document = Document::parse(text);
    let mut notes: Vec<_> = document
        .notes()
        .map(|note| {
            let fields = note.fields().into_iter().filter(|field| *field != Field::Kind);
            let fields = fields.map(|field| format!("{field}={:?}", note.get(&field)));
            let mut fields: Vec<_> = fields.collect();
            fields.sort();
            (note.id().unwrap_or_default().to_owned(), note.content().into_owned(), fields.join(" "))
        })
        .collect();
    notes.sort();
    notes
}

/// The ids that can be read, and those between markers.
fn states(text: &str) -> (Vec<String>, Vec<String>) {
    let document = Document::parse(text);
    let of = |state| {
        let notes = document.notes().filter(|note| note.state() == state);
        let mut ids: Vec<String> = notes.filter_map(Note::id).map(str::to_owned).collect();
        ids.dedup();
        ids
    };
    (of(State::Good), of(State::Conflicted))
}

fn block(id: &str, fields: &str, content: &str) -> String {
    format!("---\nid: {id}\n{fields}---\n\n{content}\n")
}

fn layer(notes: &[String]) -> String {
    notes.join("\n")
}

const A: &str = "---\nid: a\n---\n\nAlpha.\n";
const Z: &str = "---\nid: z\n---\n\nOmega.\n";

#[test]
fn both_sides_add_at_one_place() {
    let with = |more: &str| layer(&[A.into(), more.into()]);
    let text = clean(A, &with(&block("b", "", "Beta.")), &with(&block("c", "", "Gamma.")));
    assert_eq!(text, layer(&[A.into(), block("c", "", "Gamma."), block("b", "", "Beta.")]));
    let bullets = "## Memory facts\n\n- **[a]** (importance 0.50) Alpha\n";
    let with =
        |more: &str| format!("{bullets}- **[{more}]** (importance 0.50) {more}\n  - scope: project (acme)\n");
    let text = clean(bullets, &with("b"), &with("c"));
    assert_eq!(text.matches("  - scope: project (acme)\n").count(), 2, "{text}");
}

#[test]
fn other_fields_of_one_note_meet_and_so_do_other_lines_of_its_text() {
    let base = block("a", "importance: 0.50\nmodel: m/x\n", "One.\n\nTwo.\n\nThree.");
    let ours = block("a", "importance: 0.90\nmodel: m/x\n", "One!\n\nTwo.\n\nThree.");
    let theirs = block("a", "importance: 0.50\nmodel: m/y\n", "One.\n\nTwo.\n\nThree!");
    let text = clean(&base, &ours, &theirs);
    assert_eq!(text, block("a", "importance: 0.90\nmodel: m/y\n", "One!\n\nTwo.\n\nThree!"));
    // On neighbouring lines, where git gives up.
    let bullet = |importance: &str, text: &str, evidence: &str| {
        format!("## Memory facts\n\n- **[a]** (importance {importance}) {text}\n  - evidence: {evidence}\n")
    };
    let text = clean(&bullet("0.50", "x", "e"), &bullet("0.70", "x", "e"), &bullet("0.50", "y", "e"));
    assert_eq!(text, bullet("0.70", "y", "e"));
}

#[test]
fn comments_and_spelling_of_either_side_survive() {
    let base = block("a", "importance: 0.70 # in March\nmodel: m/x\nsource: s\n", "Text.");
    let ours = block("a", "importance: 0.70 # in May\nmodel: m/x\nsource: s\n", "Text.");
    let theirs = block("a", "importance: 0.70 # in March\nmodel: m/x\nsource: s\n# by Ann\n", "Text!");
    let text = clean(&base, &ours, &theirs);
    assert_eq!(text, block("a", "importance: 0.70 # in May\nmodel: m/x\nsource: s\n# by Ann\n", "Text!"));
}

#[test]
fn a_field_that_both_changed_differently_is_a_conflict_in_that_note_alone() {
    let of = |first: &str, last: &str| {
        layer(&[block("a", "", first), block("m", "", "Same."), block("z", "", last)])
    };
    let base = of("Use port 8080.", "Omega.");
    let merge = merged(&base, &of("Use port 9090.", "Omega."), &of("Use port 7070.", "Omega!"));
    assert_eq!(merge.disagreements, [Disagreement::Note("a".into())]);
    let conflict = "<<<<<<< ours\nUse port 9090.\n=======\nUse port 7070.\n>>>>>>> theirs";
    assert_eq!(merge.text, of(conflict, "Omega!"));
    assert_eq!(states(&merge.text), (vec!["m".into(), "z".into()], vec!["a".into()]));
}

#[test]
fn a_conflict_of_metadata_is_drawn_in_the_metadata() {
    let of =
        |importance: &str| layer(&[block("a", &format!("importance: {importance}\n"), "Alpha."), Z.into()]);
    let merge = merged(&of("0.50"), &of("0.90"), &of("0.70"));
    let conflict = "---\nid: a\n<<<<<<< ours\nimportance: 0.90\n=======\nimportance: 0.70\n>>>>>>> theirs\n---\n\nAlpha.\n";
    assert_eq!(merge.text, layer(&[conflict.into(), Z.into()]));
    assert_eq!(states(&merge.text), (vec!["z".into()], vec!["a".into()]));
}

#[test]
fn bullets_in_conflict_stand_whole_between_markers() {
    let of = |text: &str, evidence: &str| {
        format!("## Memory facts\n\n- **[a]** {text}\n  - evidence: {evidence}\n- **[b]** Beta\n")
    };
    let merge = merged(&of("x", "e"), &of("y", "e"), &of("z", "e2"));
    assert_eq!(
        merge.text,
        "## Memory facts\n\n<<<<<<< ours\n- **[a]** y\n  - evidence: e2\n=======\n- **[a]** z\n  - evidence: e2\n\
         >>>>>>> theirs\n- **[b]** Beta\n"
    );
    assert_eq!(states(&merge.text), (vec!["b".into()], vec!["a".into()]));
}

#[test]
fn taken_out_here_and_changed_there_is_a_conflict_with_an_empty_side() {
    for gone in ["a", "m", "z"] {
        let of = |text: &str| {
            let notes = ["a", "m", "z"].map(|id| block(id, "", if id == gone { text } else { "Same." }));
            layer(&notes)
        };
        let without: Vec<String> =
            ["a", "m", "z"].into_iter().filter(|id| *id != gone).map(|id| block(id, "", "Same.")).collect();
        let (base, changed, without) = (of("Old."), of("New."), layer(&without));
        let kept = block(gone, "", "New.");
        for (ours, theirs, conflict) in [
            (&changed, &without, format!("<<<<<<< ours\n{kept}=======\n>>>>>>> theirs\n")),
            (&without, &changed, format!("<<<<<<< ours\n=======\n{kept}>>>>>>> theirs\n")),
        ] {
            let merge = merged(&base, ours, theirs);
            assert_eq!(merge.disagreements, [Disagreement::Note(gone.into())]);
            assert!(merge.text.contains(&conflict), "{}", merge.text);
            let (good, marked) = states(&merge.text);
            assert_eq!((good.len(), marked), (2, vec![gone.to_owned()]), "{}", merge.text);
        }
        // Untouched on the other side, it goes, protected or not.
        assert_eq!(clean(&base, &base, &without), without);
        assert_eq!(
            clean(&base, &(base.clone() + "\n" + &block("new", "", "x")), &without).matches("id: ").count(),
            3
        );
    }
}

#[test]
fn prose_is_merged_by_lines_and_marked_by_lines() {
    let of = |title: &str, last: &str| format!("# {title}\n\nIntro.\n\n{A}\n<!-- /note -->\n\n{last}\n\n{Z}");
    let base = of("Title", "Between.");
    assert_eq!(clean(&base, &of("Title!", "Between."), &of("Title", "Between!")), of("Title!", "Between!"));
    let merge = merged(&base, &of("Ours", "Between."), &of("Theirs", "Between!"));
    assert_eq!(merge.disagreements, [Disagreement::Prose]);
    assert_eq!(
        merge.text,
        of("Title", "Between!")
            .replace("# Title\n", "<<<<<<< ours\n# Ours\n=======\n# Theirs\n>>>>>>> theirs\n")
    );
    assert_eq!(states(&merge.text).0, ["a", "z"]);
}

#[test]
fn a_move_within_the_file_is_no_change() {
    let notes = ["a", "b", "c"].map(|id| block(id, "", id));
    let [a, b, c] = notes.clone();
    let base = layer(&notes);
    let moved = layer(&[c.clone(), a.clone(), b.clone()]);
    let edited = layer(&[a, block("b", "", "b!"), c]);
    let text = clean(&base, &moved, &edited);
    assert_eq!(notes_of(&text), ["a:a", "b:b!", "c:c"]);
}

fn notes_of(text: &str) -> Vec<String> {
    notes(text).into_iter().map(|(id, content, _)| format!("{id}:{content}")).collect()
}

#[test]
fn line_ends_byte_order_mark_and_last_line_end_follow_who_changed_them() {
    let base = layer(&[A.into(), Z.into()]);
    let edited = base.replace("Omega.", "Omega!");
    let crlf = base.replace('\n', "\r\n");
    assert_eq!(clean(&base, &edited, &crlf), edited.replace('\n', "\r\n"));
    assert_eq!(
        clean(
            &crlf,
            &edited.replace('\n', "\r\n"),
            &(crlf.clone() + "\r\n" + &block("n", "", "x").replace('\n', "\r\n"))
        )
        .matches("\r\n")
        .count(),
        17
    );
    assert_eq!(clean(&base, &edited, &format!("\u{FEFF}{base}")), format!("\u{FEFF}{edited}"));
    let cut = base.trim_end().to_owned();
    assert_eq!(clean(&base, &edited, &cut), edited.trim_end());
    assert_eq!(
        clean(&cut, edited.trim_end(), &(cut.clone() + "\n\n" + block("n", "", "x").trim_end())),
        edited + "\n" + block("n", "", "x").trim_end()
    );
    let conflict = merged(&crlf, &crlf.replace("Alpha.", "One."), &crlf.replace("Alpha.", "Two."));
    assert!(
        conflict.text.contains("<<<<<<< ours\r\nOne.\r\n=======\r\nTwo.\r\n>>>>>>> theirs\r\n"),
        "{}",
        conflict.text
    );
    assert_eq!(conflict.text.matches('\n').count(), conflict.text.matches("\r\n").count());
    assert_eq!(states(&conflict.text), (vec!["z".into()], vec!["a".into()]));
}

#[test]
fn layers_that_share_nothing_are_put_together() {
    assert_eq!(notes_of(&clean("", A, Z)), ["a:Alpha.", "z:Omega."]);
    let header = "---\nlayer: project\nproject: app\n---\n\n";
    let text = clean("", &format!("{header}{A}"), &format!("{header}{Z}"));
    assert_eq!(text.matches("layer: project").count(), 1, "{text}");
    assert_eq!(notes_of(&text), ["a:Alpha.", "z:Omega."]);
    // One id on both sides: alike, in other fields, or in dispute.
    assert_eq!(
        clean("", A, &block("a", "importance: 0.90\n", "Alpha.")),
        block("a", "importance: 0.90\n", "Alpha.")
    );
    let merge = merged("", A, &block("a", "", "Another."));
    assert_eq!(merge.disagreements, [Disagreement::Note("a".into())]);
}

#[test]
fn each_side_may_have_its_own_form() {
    let bullets = "## Memory facts\n\n- **[a]** Alpha.\n- **[z]** Omega.\n";
    let blocks = layer(&[A.into(), Z.into()]);
    let edited = bullets.replace("Omega", "Last");
    let text = clean(bullets, &edited, &blocks);
    assert_eq!(notes_of(&text), ["a:Alpha.", "z:Last."]);
    assert!(text.starts_with("---\n"), "{text}");
    // A key that a bullet cannot say.
    let text = clean(
        bullets,
        &format!("{bullets}- **[b]** Beta.\n"),
        &format!("{bullets}\n{}", block("k", "color: red\n", "Key.")),
    );
    assert_eq!(notes_of(&text), ["a:Alpha.", "b:Beta.", "k:Key.", "z:Omega."]);
    assert!(text.contains("color: red"), "{text}");
    assert_eq!(
        notes_of(&clean("", bullets, &block("k", "color: red\n", "Key."))),
        ["a:Alpha.", "k:Key.", "z:Omega."]
    );
}

#[test]
fn notes_without_ids_are_told_by_what_they_say() {
    let bare = "---\nkind: memory\n---\n\nNo id.\n";
    let with = |id: &str| format!("---\nkind: memory\nid: {id}\n---\n\nNo id.\n");
    assert_eq!(clean(bare, bare, &with("n1")), with("n1"));
    // Each side gave it an id of its own: one note all the same.
    assert_eq!(notes_of(&clean(bare, &with("n2"), &with("n1"))), ["n1:No id."]);
    let text = clean(bare, &format!("{bare}\n{A}"), &format!("{bare}\n{Z}"));
    assert_eq!(notes_of(&text), [":No id.", "a:Alpha.", "z:Omega."]);
    assert_eq!(notes_of(&clean("", bare, bare)), [":No id."]);
}

#[test]
fn what_is_odd_in_all_versions_does_not_matter() {
    let broken = "---\nid: broken\nkind: [\n---\n\nHalf.\n";
    let twice = layer(&[block("d", "", "One."), block("d", "", "Two.")]);
    let base = layer(&[broken.into(), twice, A.into(), Z.into()]);
    let text = clean(&base, &base.replace("Alpha", "First"), &base.replace("Omega", "Last"));
    assert_eq!(text, base.replace("Alpha", "First").replace("Omega", "Last"));
    let merge = merged(&base, &base.replace("Alpha", "First"), &base.replace("Alpha", "Last"));
    assert_eq!(merge.disagreements, [Disagreement::Note("a".into())]);
}

#[test]
fn a_note_that_cannot_be_read_is_merged_as_text_and_never_lost() {
    let base = layer(&[A.into(), block("m", "", "Middle."), Z.into()]);
    let broken = base.replace("id: m\n", "id: m\nkind: [\n");
    let text = clean(&base, &base.replace("Omega", "Last"), &broken);
    assert_eq!(text, broken.replace("Omega", "Last"));
    let merge = merged(&base, &base.replace("Middle.", "Mid."), &broken.replace("Middle.", "Center."));
    assert_eq!(merge.disagreements, [Disagreement::Text]);
    assert!(merge.text.contains("Mid.") && merge.text.contains("Center.") && merge.text.contains("kind: ["));
    // An id used once more, for something else.
    let copied = layer(&[base.clone(), block("a", "", "A copy.")]);
    let merge = merged(&base, &copied, &base.replace("Middle", "Center"));
    assert_eq!(notes_of(&merge.text), ["a:A copy.", "a:Alpha.", "m:Center.", "z:Omega."], "{}", merge.text);
}

#[test]
fn conflict_markers_on_a_side_are_refused_and_in_the_base_are_nobodys_word() {
    let of = |text: &str| layer(&[block("a", "", text), Z.into()]);
    let conflict = of("<<<<<<< HEAD\nOne.\n=======\nTwo.\n>>>>>>> b");
    let versions = Versions { base: &of("Zero."), ours: &conflict, theirs: &of("One.") };
    let refused = merge(versions, &Marks::default()).unwrap_err();
    assert!(matches!(refused, Marked { is_ours: true, location } if location.line == 5));
    // The ancestor that git makes of two, when branches crossed.
    let crossed = of("<<<<<<<<< one\nOne.\n=========\nTwo.\n>>>>>>>>> two");
    assert_eq!(notes_of(&clean(&crossed, &of("Three."), &of("Three."))), ["a:Three.", "z:Omega."]);
    let both = merged(&crossed, &of("Three."), &of("Four.").replace("Omega", "Last"));
    assert_eq!(both.disagreements, [Disagreement::Note("a".into())]);
    assert!(both.text.contains("Last."), "{}", both.text);
}

#[test]
fn texts_with_marker_lines_of_their_own_are_told_from_conflicts() {
    // In a fence, where a marker of git's would not be read as one: the whole note is marked.
    let of = |word: &str| layer(&[block("a", "", &format!("See:\n\n```\n{word}\n```\n\nEnd.")), Z.into()]);
    let merge = merged(&of("x"), &of("y"), &of("z"));
    assert_eq!(states(&merge.text), (vec!["z".into()], vec!["a".into()]), "{}", merge.text);
    assert!(merge.text.starts_with("<<<<<<< ours\n---\nid: a\n"), "{}", merge.text);
    let quoted = "Before:\n\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n```";
    let of = |end: &str| layer(&[block("a", "", &format!("{quoted}\n\n{end}")), Z.into()]);
    assert_eq!(
        clean(&of("1"), &of("2"), &of("1").replace("Omega", "Last")),
        of("2").replace("Omega", "Last")
    );
    assert_eq!(states(&merged(&of("1"), &of("2"), &of("3")).text), (vec!["z".into()], vec!["a".into()]));
    let escaped = block("a", "", "Not one:\n\\<<<<<<< HEAD\n=======\n\\>>>>>>> x");
    let with = |end: &str| layer(&[escaped.clone(), block("z", "", end)]);
    assert_eq!(
        states(&merged(&with("1"), &with("2"), &with("3")).text),
        (vec!["a".into()], vec!["z".into()])
    );
}

#[test]
fn labels_size_and_base_are_as_asked() {
    let of = |text: &str| block("a", "", &format!("Head.\n\n{text}\n\nTail."));
    let marks =
        Marks { size: 9, ours: "HEAD".into(), base: Some("1234567".into()), theirs: "feature".into() };
    let merge = marked(&of("0"), &of("1"), &of("2"), &marks);
    let conflict = "<<<<<<<<< HEAD\n1\n||||||||| 1234567\n0\n=========\n2\n>>>>>>>>> feature";
    assert_eq!(merge.text, of(conflict));
    assert_eq!(states(&merge.text).1, ["a"]);
    let bare = Marks { ours: String::new(), theirs: String::new(), ..Marks::default() };
    assert!(marked(&of("0"), &of("1"), &of("2"), &bare).text.contains("\n<<<<<<<\n1\n=======\n2\n>>>>>>>\n"));
}

#[test]
fn revisions_of_home_layers_do_not_conflict() {
    let of =
        |revision: &str, notes: &str| format!("---\nlayer: global\nrevision: {revision}\n---\n\n{notes}");
    let base = of("aaaaaaaaaaaa", A);
    let text = clean(
        &base,
        &of("bbbbbbbbbbbb", &A.replace("Alpha", "First")),
        &of("cccccccccccc", &layer(&[A.into(), Z.into()])),
    );
    assert_eq!(notes_of(&text), ["a:First.", "z:Omega."]);
    let named = Document::parse(text);
    assert_eq!(named.header_field("revision").unwrap(), harness_layers::merge::revision_of(&named));
}

#[test]
fn a_key_that_one_side_dropped_is_no_dispute() {
    let of = |model: &str, text: &str| block("a", model, text);
    let text = clean(&of("model: m/x\n", "t"), &of("", "t"), &of("model: m/y\n", "t"));
    assert_eq!(text, of("model: m/y\n", "t"), "never less private than either side says");
}
