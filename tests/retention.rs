//! How long the versions of a layer are kept: the last 200, and all of the last 30 days.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::Path;

use harness_layers::store::{Hash, StatePlace, Store, StoreError};

const DAY: u64 = 24 * 60 * 60 * 1000;
/// Versions go in batches, so that texts are seldom swept (`trim` in src/store/lines.rs).
const BATCH: usize = 50;

fn text(number: usize) -> String {
    format!("---\nid: n1\n---\n\nThe text {number}: {}\n", Hash::of(number.to_string()))
}

struct Line {
    store: Store,
    file: std::path::PathBuf,
    _folder: tempfile::TempDir,
    count: usize,
}

impl Line {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = StatePlace::in_folder(&folder.path().join("state"));
        let store = Store::open(&place, 0).unwrap();
        Self { store, file: place.file().to_owned(), _folder: folder, count: 0 }
    }

    /// So many versions, all on one day.
    fn grow(&mut self, count: usize, day: u64) {
        let numbers = self.count..self.count + count;
        self.count += count;
        self.store
            .write(|tx| {
                let layer = tx.layer_or_new(Path::new("/root"), Path::new("/root/a.md"))?.id;
                for number in numbers {
                    tx.add_version(layer, &text(number), "offline", "", day * DAY, "batch")?;
                }
                Ok::<_, StoreError>(())
            })
            .unwrap();
    }

    /// The numbers of the versions that are kept, each with its text.
    fn kept(&self) -> Vec<usize> {
        let tx = self.store.read();
        let layer = tx.layer(Path::new("/root"), Path::new("/root/a.md")).unwrap().unwrap().id;
        let texts = tx.versions(layer).unwrap().into_iter().map(|version| tx.text(version.hash).unwrap());
        let number = |kept: &String| (0..self.count).find(|number| text(*number) == *kept).unwrap();
        texts.map(|text| number(&text)).collect()
    }

    fn texts_on_disk(&self) -> usize {
        let sql = rusqlite::Connection::open(&self.file).unwrap();
        sql.query_row("SELECT count(*) FROM content", (), |row| row.get(0)).unwrap()
    }
}

#[test]
fn all_of_thirty_days_are_kept_however_many_they_are() {
    let mut line = Line::new();
    line.grow(150, 100);
    line.grow(300, 129);
    line.grow(50, 130);
    assert_eq!(line.kept(), (0..500).collect::<Vec<_>>());
}

#[test]
fn two_hundred_are_kept_however_old_they_are() {
    let mut line = Line::new();
    line.grow(200, 0);
    line.grow(1, 1000);
    assert_eq!(line.kept(), (0..201).collect::<Vec<_>>());
}

#[test]
fn what_is_older_goes_and_its_text_with_it() {
    let mut line = Line::new();
    line.grow(400, 0);
    line.grow(100, 40);
    let kept = line.kept();
    // The last 200, and at most one batch more.
    assert!((200..200 + BATCH).contains(&kept.len()), "{}", kept.len());
    assert_eq!(kept, (500 - kept.len()..500).collect::<Vec<_>>());
    let texts = line.texts_on_disk();
    // Some are the base that a kept one is stored against, at most one chain of them.
    assert!(texts < kept.len() + 2 * BATCH, "{texts} texts of {} versions", kept.len());
}
