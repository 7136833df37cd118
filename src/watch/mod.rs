//! Watching layers: which folders, which events, and when a file has settled. What is done
//! with a file then is the business of who calls ([`Passes`]).
//!
//! An event only means "look at this path again"; what there is to know is on the disk. So
//! events may come late, twice or for nothing, and lost ones cost a look at everything.

mod editor;
mod settle;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub use editor::open_in;
pub use settle::{Batch, Settle};
pub use source::probe;

use crate::files::final_target;
use source::Source;

/// How often files are looked at where there are no events.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// How often all files are looked at although no event said so.
const RESCAN_EVERY: Duration = Duration::from_mins(1);
/// How long a file that reads worse than before has until it is taken as it is.
pub const WORSE_WAITS: Duration = Duration::from_secs(2);
/// How soon something that could not be done is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(500);
/// How often it is looked whether what a file waits for is over, should that make no event.
const LATER: Duration = Duration::from_secs(5);
/// A wait that took so much longer than asked for was a sleep of the machine.
const SLEPT: Duration = Duration::from_secs(5);

/// What reaches the loop.
#[derive(Debug)]
enum Signal {
    Touched(PathBuf),
    Lost(String),
    Stop,
}

/// What a person may want to know about the watching itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// So many layers in so many folders are looked after.
    Watching {
        /// Layer files.
        layers: usize,
        /// Folders with events.
        folders: usize,
    },
    /// There are no events for a folder (for none, if it is none); it is polled.
    Polling {
        /// The folder.
        folder: Option<PathBuf>,
        /// Why, and what to do.
        why: String,
    },
    /// Events were lost; everything is looked at.
    Rescan {
        /// What happened.
        why: String,
    },
}

/// What came of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Files that read worse than before, as in the middle of an edit: left alone for now.
    pub worse: Vec<PathBuf>,
    /// Files to be looked at again in a while, although no event may say so: what keeps them
    /// from being written, an editor say, does not touch them when it ends.
    pub later: Vec<PathBuf>,
    /// Files to be looked at again soon: somebody else held the lock.
    pub retry: Vec<PathBuf>,
}

/// What is watched, and what is done about it.
pub trait Passes {
    /// Why watching ends.
    type Error;

    /// All layer files that are looked after now, as they are spelled.
    fn layers(&mut self) -> Result<Vec<PathBuf>, Self::Error>;

    /// Folders in which a new `*.md` is a new layer.
    fn nurseries(&self) -> Vec<PathBuf>;

    /// Looks at files that have settled. `patient` says which of them may be left alone once
    /// more if they read worse than before.
    fn pass(&mut self, batch: &Batch, patient: &dyn Fn(&Path) -> bool) -> Result<Passed, Self::Error>;

    /// Says what is to be known about the watching.
    fn tell(&mut self, news: News) -> Result<(), Self::Error>;
}

/// How to watch.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// How long a file must be quiet.
    pub settle: Duration,
    /// No events, only polling.
    pub poll: bool,
    /// One pass once all is quiet, then the end.
    pub once: bool,
}

/// Watches until SIGTERM or Ctrl-C (the pass that goes on is finished; a second signal ends
/// the process at once), or until `passes` has had enough.
pub fn watch<P: Passes>(passes: &mut P, options: &WatchOptions) -> Result<(), P::Error> {
    let (sender, receiver) = channel();
    let signals = listen(sender.clone());
    let done = Watch::new(passes, options, sender).and_then(|mut watch| watch.run(&receiver));
    if let Some(handle) = signals {
        handle.close();
    }
    done
}

/// Turns signals of the system into one for the loop.
fn listen(sender: Sender<Signal>) -> Option<signal_hook::iterator::Handle> {
    let stopping = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The second one ends the process, before it is noted that there was a first.
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&stopping));
        let _ = signal_hook::flag::register(signal, Arc::clone(&stopping));
    }
    let mut signals = Signals::new([SIGINT, SIGTERM]).ok()?;
    let handle = signals.handle();
    thread::spawn(move || {
        for _ in &mut signals {
            stopping.store(true, Ordering::SeqCst);
            let _ = sender.send(Signal::Stop);
        }
    });
    Some(handle)
}

struct Watch<'a, P> {
    passes: &'a mut P,
    options: &'a WatchOptions,
    source: Source,
    settle: Settle,
    layers: Vec<PathBuf>,
    nurseries: Vec<PathBuf>,
    /// Paths whose events are about a layer: itself, its target, its editors' signs.
    concerns: BTreeMap<PathBuf, PathBuf>,
    /// Where layers that are links lead.
    targets: BTreeMap<PathBuf, Option<PathBuf>>,
    /// What holds layers and nurseries, and themselves.
    above: BTreeSet<PathBuf>,
    /// Whether layers or folders may have come or gone.
    is_elsewhere: bool,
    /// Files that are left alone because they read worse, and until when.
    spared: BTreeMap<PathBuf, Instant>,
}

impl<'a, P: Passes> Watch<'a, P> {
    fn new(passes: &'a mut P, options: &'a WatchOptions, sender: Sender<Signal>) -> Result<Self, P::Error> {
        let (source, news) = Source::new(sender, options.poll);
        for one in news {
            passes.tell(one)?;
        }
        let mut watch = Self {
            passes,
            options,
            source,
            settle: Settle::new(options.settle),
            layers: Vec::new(),
            nurseries: Vec::new(),
            concerns: BTreeMap::new(),
            targets: BTreeMap::new(),
            above: BTreeSet::new(),
            is_elsewhere: false,
            spared: BTreeMap::new(),
        };
        watch.find_places()?;
        let (layers, folders) = (watch.layers.len(), watch.source.watched());
        if !options.once {
            watch.passes.tell(News::Watching { layers, folders })?;
        }
        Ok(watch)
    }

    /// Finds out anew what to watch. What is new or may have been missed is to be looked at
    /// after it.
    fn find_places(&mut self) -> Result<(), P::Error> {
        self.is_elsewhere = false;
        self.layers = self.passes.layers()?;
        self.nurseries = self.passes.nurseries();
        self.concerns.clear();
        self.targets.clear();
        for layer in &self.layers {
            let target = final_target(layer).ok();
            for place in [Some(layer), target.as_ref()].into_iter().flatten() {
                let (swaps, lock) = editor::signs(place);
                let signs = swaps.into_iter().chain([lock, place.clone()]);
                self.concerns.extend(signs.map(|it| (it, layer.clone())));
            }
            self.targets.insert(layer.clone(), target);
        }
        self.above = self.layers.iter().chain(&self.nurseries).flat_map(|it| ancestors(it)).collect();
        let mut before = BTreeSet::new();
        loop {
            let folders = self.folders();
            if folders == before {
                break;
            }
            for news in self.source.watch(&folders) {
                self.passes.tell(news)?;
            }
            // One of them may have got a folder of ours before it was watched.
            before = folders;
        }
        self.source.poll(self.layers.iter().chain(&self.nurseries));
        Ok(())
    }

    /// The folders that tell what happens to layers.
    fn folders(&self) -> BTreeSet<PathBuf> {
        let targets = self.targets.values().flatten();
        let mut folders: BTreeSet<PathBuf> =
            self.layers.iter().chain(targets).filter_map(|place| nearest_folder(place)).collect();
        folders.extend(self.nurseries.iter().filter_map(|nursery| nearest_folder(&nursery.join("x"))));
        // A link on the way may be made to lead elsewhere.
        let links = self.above.iter().filter(|above| above.is_symlink());
        folders.extend(links.filter_map(|link| link.parent()).map(Path::to_owned));
        folders
    }

    fn run(&mut self, receiver: &Receiver<Signal>) -> Result<(), P::Error> {
        let start = Instant::now();
        self.settle.lose(start);
        let mut next_poll = start + POLL_EVERY;
        let mut next_rescan = start + RESCAN_EVERY;
        loop {
            let polls = self.source.is_polling().then_some(next_poll);
            let wake = self.settle.due().into_iter().chain(polls).fold(next_rescan, Instant::min);
            let (before, asked_at) = (Instant::now(), SystemTime::now());
            let wait = wake.saturating_duration_since(before);
            match receiver.recv_timeout(wait) {
                Ok(signal) => {
                    for signal in [signal].into_iter().chain(receiver.try_iter().collect::<Vec<_>>()) {
                        match signal {
                            Signal::Stop => return Ok(()),
                            Signal::Lost(why) => {
                                self.passes.tell(News::Rescan { why })?;
                                self.look_everywhere(Instant::now());
                            }
                            Signal::Touched(path) => self.touch(&path),
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The loop holds a sender of its own, so this cannot be.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            let now = Instant::now();
            // The clock on the wall goes on while the machine sleeps.
            let slept = asked_at.elapsed().is_ok_and(|wall| wall > wait + SLEPT);
            if now >= next_rescan || slept {
                next_rescan = now + RESCAN_EVERY;
                self.look_everywhere(now);
            }
            if self.source.is_polling() && now >= next_poll {
                next_poll = now + POLL_EVERY;
                for path in self.source.poll(self.layers.iter().chain(&self.nurseries)) {
                    self.touch(&path);
                }
            }
            while let Some(batch) = self.settle.pop(now) {
                // Not at each of the events of a burst.
                if self.is_elsewhere {
                    self.find_places()?;
                }
                self.pass(&batch)?;
                if self.options.once && self.settle.due().is_none() {
                    return Ok(());
                }
            }
        }
    }

    /// Layers and folders may have come and gone, and events may have been missed.
    fn look_everywhere(&mut self, now: Instant) {
        self.is_elsewhere = true;
        self.settle.lose(now);
    }

    /// Notes a touched path.
    fn touch(&mut self, path: &Path) {
        let now = Instant::now();
        let mut is_elsewhere = false;
        if let Some(layer) = self.concerns.get(path) {
            self.settle.touch(layer, now);
            // A link, or a file that has become one, leads elsewhere: to be watched there.
            is_elsewhere = self.targets.get(path).is_some_and(|target| *target != final_target(path).ok());
        } else if self.above.contains(path) {
            self.source.forget(path);
            is_elsewhere = true;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let is_sign = [b".#", b"._"].iter().any(|start| name.starts_with(*start));
            is_elsewhere = !is_sign
                && path.parent().is_some_and(|folder| self.nurseries.iter().any(|nursery| nursery == folder));
        }
        if is_elsewhere {
            self.look_everywhere(now);
        }
    }

    fn pass(&mut self, batch: &Batch) -> Result<(), P::Error> {
        let spared = &mut self.spared;
        let is_patient = |path: &Path| spared.get(path).is_none_or(|until| Instant::now() < *until);
        let passed = self.passes.pass(batch, &is_patient)?;
        let now = Instant::now();
        spared.retain(|path, _| match batch {
            Batch::Paths(paths) => passed.worse.contains(path) || !paths.contains(path),
            Batch::Everything => passed.worse.contains(path),
        });
        for path in passed.worse {
            // What makes it better is seen at once; what does not, ends no later for it.
            let until = *spared.entry(path.clone()).or_insert(now + WORSE_WAITS);
            self.settle.delay(&path, now, until.saturating_duration_since(now));
        }
        for path in passed.retry {
            self.settle.delay(&path, now, RETRY_AFTER);
        }
        for path in passed.later.iter().filter(|_| !self.options.once) {
            self.settle.delay(path, now, LATER);
        }
        Ok(())
    }
}

fn ancestors(path: &Path) -> impl Iterator<Item = PathBuf> {
    path.ancestors().map(Path::to_owned)
}

/// The folder that holds a file, or the nearest one above that exists: it tells when the
/// next one down is made.
fn nearest_folder(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
}
