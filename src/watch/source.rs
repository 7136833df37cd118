//! Where touches come from: the system's events for the folders that hold layers, and
//! polling where there are none to be had.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::{News, Signal};

/// What stat says of a file, and nothing if there is none.
type Look = Option<(u64, i64, i64, u64)>;

/// Watches folders, never trees and never single files: a save by rename puts a new file
/// in the place of the watched one.
pub(super) struct Source {
    sender: Sender<Signal>,
    watcher: Option<RecommendedWatcher>,
    /// The folders that are watched, each with its inode: a folder that is made anew under
    /// its name is another one.
    watched: BTreeMap<PathBuf, u64>,
    /// What could not be watched.
    polled: BTreeSet<PathBuf>,
    looks: BTreeMap<PathBuf, Look>,
    /// The limit that was told to be reached: once is enough, for all folders.
    limit: Option<&'static str>,
}

impl Source {
    /// With events, unless `poll`.
    pub(super) fn new(sender: Sender<Signal>, poll: bool) -> (Self, Vec<News>) {
        let mut source = Self {
            sender,
            watcher: None,
            watched: BTreeMap::new(),
            polled: BTreeSet::new(),
            looks: BTreeMap::new(),
            limit: None,
        };
        let mut news = Vec::new();
        if !poll {
            let sender = source.sender.clone();
            match notify::recommended_watcher(move |event| translate(event, &sender)) {
                Ok(watcher) => source.watcher = Some(watcher),
                Err(error) => news.push(News::Polling { folder: None, why: explain(&error) }),
            }
        }
        (source, news)
    }

    /// Watches exactly these folders from now on.
    pub(super) fn watch(&mut self, folders: &BTreeSet<PathBuf>) -> Vec<News> {
        let mut news = Vec::new();
        let inode = |folder: &Path| fs::metadata(folder).map(|it| it.ino()).ok();
        let stale: Vec<PathBuf> = self
            .watched
            .iter()
            .filter(|(folder, ino)| !folders.contains(*folder) || inode(folder) != Some(**ino))
            .map(|(folder, _)| folder.clone())
            .collect();
        for folder in stale {
            self.watched.remove(&folder);
            if let Some(watcher) = &mut self.watcher {
                // A folder that is gone has taken its watch along.
                let _ = watcher.unwatch(&folder);
            }
        }
        self.polled.retain(|folder| folders.contains(folder));
        for folder in folders {
            if self.watched.contains_key(folder) {
                continue;
            }
            let Some(ino) = inode(folder) else { continue };
            let Some(watcher) = &mut self.watcher else {
                self.polled.insert(folder.clone());
                continue;
            };
            match watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(folder.clone(), ino);
                    self.polled.remove(folder);
                }
                Err(error) => {
                    let limit = limit_of(&error);
                    let is_told = limit.is_some() && self.limit == limit;
                    self.limit = limit.or(self.limit);
                    if self.polled.insert(folder.clone()) && !is_told {
                        news.push(News::Polling { folder: Some(folder.clone()), why: explain(&error) });
                    }
                }
            }
        }
        news
    }

    /// Something happened to a folder itself: if it was taken away, its watch is gone with
    /// it, even if one with the same name, and the same inode, stands there again.
    pub(super) fn forget(&mut self, folder: &Path) {
        if self.watched.remove(folder).is_some()
            && let Some(watcher) = &mut self.watcher
        {
            let _ = watcher.unwatch(folder);
        }
    }

    /// Whether anything has to be polled.
    pub(super) fn is_polling(&self) -> bool {
        !self.polled.is_empty()
    }

    /// How many folders are watched by events.
    pub(super) fn watched(&self) -> usize {
        self.watched.len()
    }

    /// The paths among these, each with its way, that are not as they were at the last look, if
    /// one of the folders on the way is polled. One that is seen for the first time is none.
    pub(super) fn poll(&mut self, ways: &BTreeMap<PathBuf, Vec<PathBuf>>) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        if self.polled.is_empty() {
            return changed;
        }
        for (path, way) in ways {
            if !way.iter().any(|entry| entry.parent().is_some_and(|folder| self.polled.contains(folder))) {
                continue;
            }
            let now = look(path);
            let before = self.looks.insert(path.clone(), now);
            if before.is_some_and(|before| before != now) {
                changed.push(path.clone());
            }
        }
        changed
    }
}

/// Inode and change time tell of every write: no program can set the change time back.
fn look(file: &Path) -> Look {
    let found = fs::metadata(file).ok()?;
    Some((found.len(), found.ctime(), found.ctime_nsec(), found.ino()))
}

/// Runs on notify's own thread: only says what was touched.
fn translate(event: Result<Event, notify::Error>, sender: &Sender<Signal>) {
    // Nobody hears it after the end.
    let send = |signal| drop(sender.send(signal));
    match event {
        Ok(event) if event.need_rescan() => {
            send(Signal::Lost("the system's queue of events overflowed".into()));
        }
        Ok(event) => {
            // Reading a file must not lead to reading it again.
            let is_read =
                matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
            if !is_read {
                event.paths.into_iter().for_each(|path| send(Signal::Touched(path)));
            }
        }
        Err(error) => send(Signal::Lost(error.to_string())),
    }
}

/// Whether a folder can be watched by events; else why not, for people.
pub fn probe(folder: &Path) -> Result<(), String> {
    let watch = |mut watcher: RecommendedWatcher| watcher.watch(folder, RecursiveMode::NonRecursive);
    notify::recommended_watcher(|_| {}).and_then(watch).map_err(|error| explain(&error))
}

fn explain(error: &notify::Error) -> String {
    match limit_of(error) {
        Some(limit) => format!(
            "the limit {limit} is reached, for this folder and maybe for others \
             (`sysctl {limit}=65536` raises it)"
        ),
        None => error.to_string(),
    }
}

/// The limit of the system that an error is about.
fn limit_of(error: &notify::Error) -> Option<&'static str> {
    const FULL: i32 = 28; // ENOSPC, which inotify says when watches are used up
    const MANY: i32 = 24; // EMFILE, which it says for instances
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => Some("fs.inotify.max_user_watches"),
        notify::ErrorKind::Io(io) if io.raw_os_error() == Some(FULL) => Some("fs.inotify.max_user_watches"),
        notify::ErrorKind::Io(io) if io.raw_os_error() == Some(MANY) => Some("fs.inotify.max_user_instances"),
        _ => None,
    }
}
