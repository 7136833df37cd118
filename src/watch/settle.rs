//! When a file that was touched is to be looked at: once it has been quiet for a while.
//! Pure: the time is an argument.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file that is written all the time is looked at all the same, after this many quiet
/// times, and five seconds at least.
const CAP: u32 = 10;
const LEAST_CAP: Duration = Duration::from_secs(5);

/// What is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    /// These files.
    Paths(BTreeSet<PathBuf>),
    /// All but these, which are being written right now, since events were lost or may have
    /// been.
    AllBut(BTreeSet<PathBuf>),
}

impl Batch {
    /// Whether a file is to be looked at.
    pub fn has(&self, path: &Path) -> bool {
        match self {
            Self::Paths(paths) => paths.contains(path),
            Self::AllBut(paths) => !paths.contains(path),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Touched {
    first: Instant,
    due: Instant,
}

/// Files on their way to being looked at.
#[derive(Clone, Debug)]
pub struct Settle {
    quiet: Duration,
    touched: BTreeMap<PathBuf, Touched>,
    lost: Option<Instant>,
}

impl Settle {
    /// With how long a file must be quiet.
    pub fn new(quiet: Duration) -> Self {
        Self { quiet, touched: BTreeMap::new(), lost: None }
    }

    /// A file was touched.
    pub fn touch(&mut self, path: &Path, now: Instant) {
        let cap = (self.quiet * CAP).max(LEAST_CAP);
        let touched = self.touched.entry(path.to_owned()).or_insert(Touched { first: now, due: now });
        touched.due = (now + self.quiet).min(touched.first + cap).max(now);
    }

    /// A file is to be looked at again, but not before then.
    pub fn delay(&mut self, path: &Path, now: Instant, by: Duration) {
        self.touched.insert(path.to_owned(), Touched { first: now, due: now + by });
    }

    /// Events were lost; all files are to be looked at.
    pub fn lose(&mut self, now: Instant) {
        self.lost.get_or_insert(now + self.quiet);
    }

    /// When the next batch is due. What is touched at about the same time is looked at at
    /// once, so that a note on its way from one file to another is seen in both: the first
    /// waits for those that are due soon after it.
    pub fn due(&self) -> Option<Instant> {
        let dues = || self.touched.values().map(|touched| touched.due).chain(self.lost);
        let first = dues().min()?;
        dues().filter(|due| *due <= first + self.quiet / 2).max()
    }

    /// What is due now.
    pub fn pop(&mut self, now: Instant) -> Option<Batch> {
        if self.due()? > now {
            return None;
        }
        let (due, wait) = std::mem::take(&mut self.touched).into_iter().partition(|(_, it)| it.due <= now);
        self.touched = wait;
        if self.lost.take_if(|due| *due <= now).is_some() {
            return Some(Batch::AllBut(self.touched.keys().cloned().collect()));
        }
        let due: BTreeMap<PathBuf, Touched> = due;
        Some(Batch::Paths(due.into_keys().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_millis(200);
    const MS: Duration = Duration::from_millis(1);

    fn paths(paths: &[&str]) -> Batch {
        Batch::Paths(paths.iter().map(PathBuf::from).collect())
    }

    #[test]
    fn a_file_is_due_once_it_has_been_quiet() {
        let (mut settle, start) = (Settle::new(QUIET), Instant::now());
        settle.touch(Path::new("a"), start);
        settle.touch(Path::new("a"), start + MS * 150);
        settle.touch(Path::new("b"), start + MS * 300);
        assert_eq!(settle.pop(start + MS * 349), None);
        assert_eq!(settle.due(), Some(start + MS * 350));
        assert_eq!(settle.pop(start + MS * 350), Some(paths(&["a"])));
        assert_eq!(settle.pop(start + MS * 500), Some(paths(&["b"])));
        assert_eq!((settle.pop(start + MS * 900), settle.due()), (None, None));
    }

    #[test]
    fn a_file_that_is_never_quiet_is_looked_at_all_the_same() {
        let (mut settle, start) = (Settle::new(QUIET), Instant::now());
        let mut looked = 0;
        for step in 0..100 {
            let now = start + MS * 100 * step;
            settle.touch(Path::new("a"), now);
            looked += usize::from(settle.pop(now).is_some());
        }
        assert_eq!(looked, 1, "in ten seconds");
    }

    #[test]
    fn what_is_touched_at_about_the_same_time_is_looked_at_at_once() {
        let (mut settle, start) = (Settle::new(QUIET), Instant::now());
        settle.touch(Path::new("a"), start);
        settle.touch(Path::new("b"), start + MS * 90);
        settle.touch(Path::new("c"), start + MS * 180);
        assert_eq!(settle.due(), Some(start + MS * 290));
        assert_eq!(settle.pop(start + MS * 289), None);
        assert_eq!(settle.pop(start + MS * 290), Some(paths(&["a", "b"])));
        assert_eq!(settle.pop(start + MS * 380), Some(paths(&["c"])));
    }

    #[test]
    fn lost_events_mean_everything_once() {
        let (mut settle, start) = (Settle::new(QUIET), Instant::now());
        settle.touch(Path::new("a"), start);
        settle.delay(Path::new("b"), start, MS * 2000);
        for step in 0..10 {
            settle.lose(start + MS * step);
        }
        settle.touch(Path::new("c"), start + MS * 150);
        assert_eq!(settle.pop(start + MS * 199), None);
        let but = ["b", "c"].iter().map(PathBuf::from).collect();
        assert_eq!(settle.pop(start + MS * 200), Some(Batch::AllBut(but)));
        assert_eq!(settle.pop(start + MS * 350), Some(paths(&["c"])));
        assert_eq!(settle.pop(start + MS * 1999), None);
        assert_eq!(settle.pop(start + MS * 2000), Some(paths(&["b"])));
    }
}
