//! `add`, `edit`, `keep`, `drop`: what they change and what they leave alone.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use super::scene::{HOME, Scene};

/// One changed value, one changed line.
const TEAM: &str = "---
layer: project
x-team: {owner: \"core\"}   # do not sort
---

Prose the team wrote.

---
importance: 0.70    # reviewed in March
id: n1
created: 2026-03-18
tags: [api, team]   # keep this order
x-ticket: OPS-12
---

Use 30 s.  
Two trailing spaces above are a line break.
";

#[test]
fn an_edit_touches_one_line() {
    let scene = Scene::new().home(TEAM);
    let ran = scene.run(&["edit", "n1", "--importance", "0.8"]).ends(0);
    assert_eq!(
        (&*ran.out, &*ran.err),
        ("", "changed n1, @/home/.harness/harness-state/app.md:8 (importance)\n")
    );
    assert_eq!(scene.read(HOME), TEAM.replace("0.70", "0.80"));
}

#[test]
fn an_edit_to_what_is_so_already_writes_nothing() {
    let scene = Scene::new().home(TEAM);
    let before = fs::metadata(scene.path(HOME)).unwrap();
    scene.run(&["edit", "n1", "--set", "importance=0.7"]).ends(0).says("nothing was written");
    let after = fs::metadata(scene.path(HOME)).unwrap();
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    assert_eq!(scene.read(HOME), TEAM);
}

#[test]
fn keep_and_drop_move_the_importance_and_undo_each_other() {
    let scene = Scene::new().home(TEAM);
    assert_eq!(scene.run(&["keep", "n1"]).ends(0).err, "n1: 0.70 -> 0.80\n");
    assert_eq!(scene.read(HOME), TEAM.replace("0.70", "0.80"));
    assert_eq!(scene.run(&["drop", "n1"]).ends(0).err, "n1: 0.80 -> 0.70\n");
    assert_eq!(scene.read(HOME), TEAM);
    for _ in 0..4 {
        scene.run(&["keep", "n1", "-q"]).ok();
    }
    assert!(scene.read(HOME).contains("importance: 1.00    # reviewed in March\n"));
}

#[test]
fn one_unknown_id_stops_all_of_keep() {
    let scene = Scene::new().home(TEAM);
    scene.run(&["keep", "n1", "n2"]).ends(1).says("did you mean n1?");
    assert_eq!(scene.read(HOME), TEAM);
}

#[test]
fn add_touches_nothing_but_its_own_lines() {
    let scene = Scene::new().home(TEAM);
    let ran = scene
        .run(&["add", "--id", "n2", "--importance", "0.9", "--evidence", "seen twice", "A fact."])
        .ends(0);
    assert_eq!(ran.out, "n2\n");
    let added = "\n---\nid: n2\nkind: memory\nimportance: 0.90\nevidence: seen twice\n---\n\nA fact.\n";
    assert_eq!(scene.read(HOME), format!("{TEAM}{added}"));
}

#[test]
fn a_new_note_is_private_and_needs_no_init() {
    let scene = Scene::new();
    let id = scene.run(&["add", "A fact."]).ok();
    assert!(id.starts_with("h_"), "{id}");
    assert_eq!(scene.mode(HOME), 0o600);
    assert_eq!(scene.mode("home/.harness"), 0o700);
    assert_eq!(scene.read(HOME), format!("---\nid: {}\nkind: memory\n---\n\nA fact.\n", id.trim()));
}

#[test]
fn text_comes_from_standard_input_or_a_file() {
    let scene = Scene::new().file("app/note.txt", "from a file\n\n");
    scene.run_with(&["add", "--id", "a", "-"], "two\nlines\n").ok();
    scene.run(&["add", "--id", "b", "--file", "note.txt"]).ok();
    scene.run(&["show", "a"]).ends(0).prints("\n\ntwo\nlines\n");
    scene.run(&["show", "b"]).ends(0).prints("\n\nfrom a file\n");
}

#[test]
fn what_makes_no_note_is_a_usage_error() {
    let scene = Scene::new();
    scene.run(&["add", "  "]).ends(2).says("the text is empty");
    scene.run(&["add"]).ends(2).says("there is no text").says("help: give it as an argument");
    scene.run(&["add", "x", "--importance", "1.5"]).ends(2).says("a number from 0 to 1");
    scene.run(&["add", "x", "--importance", "-0.5"]).ends(2).says("a number from 0 to 1");
    scene.run(&["add", "x", "--kind", "memroy"]).ends(2).says("memory");
    scene.run(&["add", "x", "--id", "a b"]).ends(2);
    assert!(!scene.path("home/.harness").exists());
}

#[test]
fn an_id_that_is_taken_is_refused() {
    let scene = Scene::new().home(TEAM);
    scene.run(&["add", "--id", "n1", "other"]).ends(3).says("the id n1 stands in this layer already");
    assert_eq!(scene.read(HOME), TEAM);
}

#[test]
fn the_owner_is_the_model_in_use_unless_it_is_everybody() {
    let scene = Scene::new().var("LAYERS_MODEL", "a/m");
    scene.run(&["add", "--id", "mine", "x"]).ok();
    scene.run(&["add", "--id", "all", "--any-model", "x"]).ok();
    scene
        .run(&["add", "--id", "theirs", "--model", "b/m", "x"])
        .ends(0)
        .says("not shown to the model in use");
    let text = scene.read(HOME);
    assert!(text.contains("id: mine\nkind: memory\nmodel: a/m\n"), "{text}");
    assert!(text.contains("id: all\nkind: memory\nmodel: \"*\"\n"), "{text}");
    let block = scene.run(&["render"]).ok();
    assert!(block.contains("- [mine] x\n- [all] x\n") && !block.contains("theirs"), "{block}");
}

#[test]
fn a_root_of_pi_gets_bullets_that_pi_reads() {
    let scene = Scene::new().file("home/.pi/agent/harness.json", "{}");
    scene.run(&["add", "--id", "h_1", "A fact."]).ok();
    scene.run(&["add", "--id", "h_2", "--global", "--kind", "skill", "A skill."]).ok();
    let slug = harness_layers::slug::pi_slug(scene.path("app").to_str());
    assert_eq!(
        scene.read(&format!("home/.pi/agent/harness-state/{slug}.md")),
        format!(
            "# Continual Harness State\n\n## Memory facts\n\n- **[h_1]** (importance 0.50) A fact.\n  - evidence: \n  - scope: project ({slug})\n"
        )
    );
    assert_eq!(
        scene.read("home/.pi/agent/harness-state.md"),
        "# Continual Harness State\n\n## Skill descriptions\n\n- **[h_2]** (importance 0.50) A skill.\n  - evidence: \n"
    );
}

#[test]
fn an_edit_gives_a_note_without_an_id_one() {
    let scene = Scene::new().home("---\nkind: memory\n---\n\nA fact.\n");
    let list = scene.run(&["list", "--json"]).ok();
    let start = list.find("new-").unwrap();
    let id = &list[start..start + 12];
    scene.run(&["edit", id, "--title", "T"]).ends(0).says(&format!("{id} is h_"));
    let text = scene.read(HOME);
    assert!(text.contains("\nid: h_") && text.contains("\ntitle: T\n"), "{text}");
}

#[test]
fn scope_is_decided_by_the_place() {
    let scene = Scene::new().home(TEAM);
    scene.run(&["edit", "n1", "--set", "scope=global"]).ends(3).says("layers move ID global");
    scene.run(&["edit", "n1", "--set", "project=other"]).ends(3);
    assert_eq!(scene.read(HOME), TEAM);
}

#[test]
fn fields_are_set_and_taken_out() {
    let scene = Scene::new().home(TEAM);
    scene
        .run(&["edit", "n1", "--content", "Use 60 s.", "--set", "x-ticket=OPS-13", "--unset", "created"])
        .ok();
    let text = scene.read(HOME);
    assert!(
        text.contains("x-ticket: OPS-13\n")
            && !text.contains("created")
            && text.ends_with("---\n\nUse 60 s.\n")
    );
    scene.run(&["edit", "n1", "--set", "title=a", "--title", "b"]).ends(2).says("`title` is given twice");
    scene.run(&["edit", "n1", "--set", "title"]).ends(2).says("write KEY=VALUE");
    scene.run(&["edit", "n1", "--set", "importance=7"]).ends(2).says("must be a number from 0 to 1");
    scene.run(&["edit", "n1", "--unset", "id"]).ends(3);
    scene.run(&["edit", "n1"]).ends(2).says("there is nothing to change");
    assert_eq!(scene.read(HOME), text);
}

/// Links stay, the final target gets the note, its mode stays.
#[test]
fn links_to_links_stay_and_so_does_the_mode() {
    let scene = Scene::new().file("dotfiles/global.md", "---\nid: n1\n---\n\nx\n");
    scene.set_mode("dotfiles/global.md", 0o640);
    fs::create_dir_all(scene.path("middle")).unwrap();
    fs::create_dir_all(scene.path("home/.harness")).unwrap();
    symlink("../dotfiles/global.md", scene.path("middle/global.md")).unwrap();
    symlink(scene.path("middle/global.md"), scene.path("home/.harness/harness-state.md")).unwrap();
    scene.set_mode("middle", 0o555);
    scene.run(&["add", "--global", "--id", "n2", "y"]).ok();
    scene.set_mode("middle", 0o755);
    assert!(scene.read("dotfiles/global.md").ends_with("id: n2\nkind: memory\n---\n\ny\n"));
    assert_eq!(scene.mode("dotfiles/global.md"), 0o640);
    assert_eq!(
        fs::read_link(scene.path("middle/global.md")).unwrap().to_str(),
        Some("../dotfiles/global.md")
    );
    assert!(fs::symlink_metadata(scene.path("home/.harness/harness-state.md")).unwrap().is_symlink());
    let beside: Vec<_> = fs::read_dir(scene.path("dotfiles")).unwrap().collect();
    assert_eq!(beside.len(), 1, "no temporary file stays");
}

#[test]
fn a_read_only_layer_is_refused() {
    let scene = Scene::new().home(TEAM);
    scene.set_mode(HOME, 0o444);
    scene.run(&["keep", "n1"]).ends(3).says("read-only for this user (mode 0444)");
    assert_eq!(scene.read(HOME), TEAM);
}

/// A person's last line often has no line end; that stops no edit.
#[test]
fn a_missing_last_line_end_stops_nothing() {
    let block = "---\nid: n1\n---\n\nA fact.";
    let bullet = "## Memory facts\n\n- **[n1]** (importance 0.50) A fact.";
    let detailed = "## Memory facts\n\n- **[n1]** (importance 0.50) A fact.\n  - evidence: seen";
    let closed = "---\nid: n1\n---";
    for text in [block, bullet, detailed, closed] {
        for (text, eol) in [(text.to_owned(), "\n"), (text.replace('\n', "\r\n"), "\r\n")] {
            for form in ["front-matter", "bullets"] {
                let scene = Scene::new().home(&text);
                scene.run(&["add", "--id", "n2", "--form", form, "Another."]).ok();
                let longer = scene.read(HOME);
                assert!(longer.starts_with(&format!("{text}{eol}")), "{longer:?}");
                assert_eq!(longer.matches('\n').count(), longer.matches(eol).count(), "{longer:?}");
                scene.run(&["keep", "n1", "n2"]).ok();
                scene.run(&["edit", "n2", "--content", "One more."]).ok();
                scene.run(&["move", "n2", "global"]).ok();
                let rest = scene.run(&["list", "--json", "--layer", "home"]).ok();
                assert!(rest.contains("n1") && !rest.contains("n2"), "{rest}");
                scene.run(&["move", "n1", "global"]).ok();
            }
        }
    }
}

/// What opens and does not close takes along all that follows, so nothing is put behind it.
#[test]
fn a_text_that_leaves_something_open_stops_no_later_note() {
    let opening = ["```js\nlet x", "~~~", "<!-- open", "<script>", "<pre>", "<?php", "<![CDATA["];
    for text in opening {
        for form in ["front-matter", "bullets"] {
            let scene = Scene::new();
            scene.run(&["add", "--id", "n1", "--form", form, text]).ok();
            for id in ["n2", "n3"] {
                scene.run(&["add", "--id", id, "--form", form, "Another."]).ok();
            }
            scene.run(&["add", "--id", "n4", "--kind", "skill", "--form", "bullets", "A skill."]).ok();
            scene.run(&["keep", "n1", "n2", "n3", "n4"]).ok();
            let block = scene.run(&["render", "--model", "a/m", "--json"]).ok();
            let block: serde_json::Value = serde_json::from_str(&block).unwrap();
            let notes = block["notes"].as_array().unwrap();
            assert_eq!(notes.len(), 4, "{text:?} {form}:\n{}", scene.read(HOME));
            assert!(notes.iter().any(|note| note["content"] == text), "{text:?}: {block}");
            let found = scene.run(&["check"]);
            assert_eq!(found.out.contains("[open-end]"), form == "front-matter", "{}", found.all());
        }
    }
}

/// Whatever a text says, it is said and read back: also what looks like our own marks.
#[test]
fn a_text_may_look_like_a_layer() {
    let texts = [
        "x\n<!-- /note -->\ny",
        "<!-- /note -->",
        "\\<!-- /note -->\n\\\\- model: x",
        "---\nid: n9\nkind: memory\n---\n\nbogus",
        "## Memory facts\n\n- **[n9]** (importance 0.90) bogus\n  - model: b/m",
        "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> feature",
        "```md\n<!-- /note -->\n---\nid: n9\n---\n```\nlast",
        "Title\n===\n\n***\n\n---",
    ];
    for text in texts {
        for form in ["front-matter", "bullets"] {
            let scene = Scene::new();
            scene.run(&["add", "--id", "n1", "--form", form, "--", text]).ok();
            scene.run(&["add", "--id", "n2", "--form", form, "Another."]).ok();
            let notes = scene.run(&["list", "--json"]).ok();
            let notes: serde_json::Value = serde_json::from_str(&notes).unwrap();
            assert_eq!(notes.as_array().unwrap().len(), 2, "{text:?}:\n{}", scene.read(HOME));
            assert_eq!(notes[0]["content"], text, "{}", scene.read(HOME));
        }
    }
}

#[test]
fn values_may_begin_with_a_dash() {
    for form in ["front-matter", "bullets"] {
        let scene = Scene::new();
        scene
            .run(&[
                "add",
                "--id",
                "n1",
                "--form",
                form,
                "--title",
                "- t",
                "--evidence",
                "- seen",
                "--",
                "- first",
            ])
            .ok();
        scene.run(&["edit", "n1", "--title", "-x", "--content", "- second", "--evidence", "--why"]).ok();
        let note = scene.run(&["show", "n1", "--json"]).ok();
        let note: serde_json::Value = serde_json::from_str(&note).unwrap();
        assert_eq!((&note["title"], &note["content"]), (&"-x".into(), &"- second".into()));
        assert_eq!(note["evidence"], "--why");
    }
    let ran = Scene::new().run(&["add", "- first"]).ends(2);
    assert!(ran.err.contains("use '-- "), "{}", ran.err);
}

/// An empty value takes the field out, in either form, and what changed is named.
#[test]
fn an_empty_value_takes_the_field_out() {
    for form in ["front-matter", "bullets"] {
        let scene = Scene::new();
        scene.run(&["add", "--id", "n1", "--form", form, "Text."]).ok();
        let bare = scene.read(HOME);
        scene.run(&["edit", "n1", "--set", "title="]).ends(0).says("nothing was written");
        scene.run(&["edit", "n1", "--title", "T", "--tag", "a"]).ends(0).says("(title, tags)");
        scene.run(&["edit", "n1", "--title", "", "--set", "tags="]).ends(0).says("(title, tags)");
        assert_eq!(scene.read(HOME), bare);
    }
}

/// The file is named, it is as it was, and no name of a file that is gone is told.
#[test]
fn a_full_disk_leaves_the_layer_as_it_was() {
    let scene = Scene::new().file("disk/x", "");
    let exe = env!("CARGO_BIN_EXE_layers");
    // With the store where there is room, as it is the layer that is to be too much.
    let script = format!(
        "export HOME=$PWD/home; mount -t tmpfs -o size=64k none disk 2>/dev/null || exit 77; export LAYERS_ROOT=$PWD/disk LAYERS_PROJECT=p; \
         for n in 1 2 3 4 5 6 7 8 9; do cp disk/harness-state/*.md before 2>/dev/null; \
         head -c 4000 /dev/zero | tr '\\0' y | {exe} add -q --id n$n - >/dev/null 2>err || break; done; \
         cat err >&2; cmp before disk/harness-state/*.md && ls -A disk/harness-state"
    );
    let run = std::process::Command::new("unshare")
        .args(["-Urm", "sh", "-c", &script])
        .current_dir(scene.path(""))
        .env_remove("LAYERS_STATE")
        .env_remove("XDG_STATE_HOME")
        .output();
    // Where namespaces are not for users, there is no disk to fill.
    let Ok(run) = run else { return };
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    if run.status.code() == Some(77) || err.contains("unshare") {
        return;
    }
    assert!(run.status.success() && out.lines().count() == 1, "{out}{err}");
    assert!(err.contains("No space left") && !err.contains(".hl-"), "{err}");
    assert!(err.contains("help: the file is as it was"), "{err}");
}

/// A comment or a fence that is not closed at the end of a layer swallows no new note and
/// keeps none out.
#[test]
fn a_new_note_goes_above_an_end_that_is_open() {
    let ends = [
        "Prose.\n\n<!-- kept b",
        "Prose.\n\n```\ncode\n",
        "## Memory facts\n\n- **[x]** y\n\n<!-- open",
        "~~~\nall",
    ];
    for form in ["front-matter", "bullets"] {
        for text in ends {
            let scene = Scene::new().home(text);
            scene.run(&["add", "--form", form, "--id", "n1", "A note."]).ok();
            let now = scene.read(HOME);
            let open =
                text.rfind(['<', '`', '~']).map_or(0, |at| text[..=at].rfind('\n').map_or(0, |at| at + 1));
            assert!(now.ends_with(&text[open..]), "{form}: {now}");
            assert!(scene.run(&["list", "--all"]).ok().contains("n1"), "{form}: {now}");
        }
    }
}
