//! Watching layers: which folders, which events, and when a file has settled. What is done
//! with a file then is the business of who calls ([`Passes`]).
//!
//! An event only means "look at this path again"; what there is to know is on the disk. So
//! events may come late, twice or for nothing, and lost ones cost a look at everything.

mod editor;
mod settle;
mod source;
mod way;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub use editor::Editors;
pub use settle::{Batch, Settle};
pub use source::probe;

use source::Source;
use way::{look, way};

/// Stands for any new file of a nursery.
const ANY: &str = "*.md";

/// How often files are looked at where there are no events.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// How often all files are looked at although no event said so.
const RESCAN_EVERY: Duration = Duration::from_mins(1);
/// How long a file that reads worse than before has until it is taken as it is.
pub const WORSE_WAITS: Duration = Duration::from_secs(2);
/// How long after a pass nothing must be due until [`Passes::rest`].
const REST_AFTER: Duration = Duration::from_secs(1);
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

    /// Nothing has happened for a while: what was kept at hand for the next pass is put away.
    fn rest(&mut self);

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
    /// The way of each path that is looked after, layers and nurseries: each link and its end.
    ways: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// The layers whose ways have an entry.
    concerns: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Folders in which a new `*.md` is a new layer, without links.
    cradles: BTreeSet<PathBuf>,
    /// Other paths that matter: what holds layers and nurseries, and links on the way to them.
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
            ways: BTreeMap::new(),
            concerns: BTreeMap::new(),
            cradles: BTreeSet::new(),
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
        let mut before = BTreeSet::new();
        loop {
            self.find_ways();
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
        self.source.poll(&self.ways);
        Ok(())
    }

    fn find_ways(&mut self) {
        self.ways.clear();
        self.concerns.clear();
        for layer in &self.layers {
            let way = way(layer, look);
            for entry in &way {
                self.concerns.entry(entry.clone()).or_default().insert(layer.clone());
            }
            self.ways.insert(layer.clone(), way);
        }
        for nursery in &self.nurseries {
            self.ways.insert(nursery.clone(), way(&nursery.join(ANY), look));
        }
        let ends = self.nurseries.iter().filter_map(|nursery| self.ways.get(nursery)?.last());
        let there = ends.filter(|end| end.ends_with(ANY)).filter_map(|end| end.parent());
        self.cradles = there.map(Path::to_owned).collect();
        let spelled = self.layers.iter().chain(&self.nurseries);
        self.above = spelled.chain(self.ways.values().flatten()).flat_map(|it| ancestors(it)).collect();
    }

    /// The folders that tell what happens to layers: they hold them, links on the way to
    /// them, or what is missing.
    fn folders(&self) -> BTreeSet<PathBuf> {
        self.ways.values().flatten().filter_map(|entry| entry.parent()).map(Path::to_owned).collect()
    }

    fn run(&mut self, receiver: &Receiver<Signal>) -> Result<(), P::Error> {
        let start = Instant::now();
        self.settle.lose(start);
        let mut next_poll = start + POLL_EVERY;
        let mut next_rescan = start + RESCAN_EVERY;
        let mut next_rest = None;
        loop {
            let polls = self.source.is_polling().then_some(next_poll);
            let wakes = self.settle.due().into_iter().chain(polls).chain(next_rest);
            let wake = wakes.fold(next_rescan, Instant::min);
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
                for path in self.source.poll(&self.ways) {
                    self.found_changed(&path, now);
                }
            }
            if next_rest.take_if(|rest| *rest <= now).is_some() {
                self.passes.rest();
            }
            while let Some(batch) = self.settle.pop(now) {
                // Not at each of the events of a burst.
                if self.is_elsewhere {
                    self.find_places()?;
                }
                self.pass(&batch)?;
                next_rest = Some(Instant::now() + REST_AFTER);
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
        if let Some(layers) = self.concerns.get(path).cloned() {
            self.source.forget(path);
            for layer in layers {
                self.found_changed(&layer, now);
            }
        } else if self.above.contains(path) {
            self.source.forget(path);
            self.look_everywhere(now);
        } else if self.is_newborn(path) {
            self.look_everywhere(now);
        } else if path.symlink_metadata().is_err() {
            // An editor that closes a file takes its sign away.
            for layer in editor::signed_by(path).filter_map(|file| self.concerns.get(&file)).flatten() {
                self.settle.touch(layer, now);
            }
        }
    }

    /// A layer or a nursery is not what it was.
    fn found_changed(&mut self, path: &Path, now: Instant) {
        let is_layer = self.layers.iter().any(|layer| layer == path);
        if is_layer {
            self.settle.touch(path, now);
        }
        // A link, or what has become one, leads elsewhere: to be watched there.
        if !is_layer || self.ways.get(path).is_none_or(|before| *before != way(path, look)) {
            self.look_everywhere(now);
        }
    }

    fn is_newborn(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_sign = [b".#", b"._"].iter().any(|start| name.starts_with(*start));
        name.ends_with(b".md") && !is_sign && path.parent().is_some_and(|it| self.cradles.contains(it))
    }

    fn pass(&mut self, batch: &Batch) -> Result<(), P::Error> {
        let spared = &mut self.spared;
        let is_patient = |path: &Path| spared.get(path).is_none_or(|until| Instant::now() < *until);
        let passed = self.passes.pass(batch, &is_patient)?;
        let now = Instant::now();
        spared.retain(|path, _| passed.worse.contains(path) || !batch.has(path));
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
