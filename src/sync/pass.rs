//! The course of a pass: which layers have to be read at all, and how many of them are in
//! memory at once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::document::{Document, Severity};
use crate::files::{self, Found};
use crate::mint::now_millis;
use crate::store::LayerRow;
use crate::workspace::LayerRef;

use super::line::StoredLine;
use super::look::{Looked, place_of, reliable, stamp_of};
use super::{LayerReport, PassOptions, Session, SyncError, TRIES, Waits, Work, view_of, write_files};

/// How many layers that were never seen are in memory at once.
const AT_ONCE: usize = 8;

/// A layer before its file is read.
struct Glance {
    /// Its index among the layers of the pass.
    at: usize,
    layer: LayerRef,
    place: PathBuf,
    row: Option<LayerRow>,
}

/// A file that may have been written and says what it said before.
struct Same {
    place: PathBuf,
    row: LayerRow,
    looked: Looked,
}

/// What becomes of a layer after a look.
enum Next {
    /// The store does not know it: to be read in its turn.
    Unseen(Box<Glance>),
    /// It is to be worked on.
    Work(Box<Work>),
    /// How its file looks now is to be written down.
    Same(Box<Same>, Box<LayerReport>),
    /// Nothing.
    Done(Box<LayerReport>),
}

/// A pass on its way.
struct Course<'a> {
    works: Vec<Work>,
    same: Vec<Same>,
    tell: &'a mut dyn FnMut(usize, LayerReport),
}

impl Course<'_> {
    fn take(&mut self, at: usize, next: Next) -> Option<Box<Glance>> {
        match next {
            Next::Unseen(glance) => return Some(glance),
            Next::Work(work) => self.works.push(*work),
            Next::Same(same, report) => {
                self.same.push(*same);
                (self.tell)(at, *report);
            }
            Next::Done(report) => (self.tell)(at, *report),
        }
        None
    }
}

impl Session {
    /// As [`Session::pass`], with each report told as soon as it stands, with the index of
    /// its layer: all of them with their documents may be more than should be in memory.
    pub fn pass_each(
        &self,
        layers: &[LayerRef],
        options: &PassOptions<'_>,
        tell: &mut dyn FnMut(usize, LayerReport),
    ) -> Result<(), SyncError> {
        let mut course = Course { works: Vec::new(), same: Vec::new(), tell };
        let mut unseen = Vec::new();
        for (at, layer) in layers.iter().enumerate() {
            unseen.extend(course.take(at, self.look(at, layer, options)?));
        }
        if !options.dry_run {
            self.record_same(&course.same)?;
        }
        // Only a layer that was seen before can lose a note to another one. Among those that
        // were not nothing moves, so they need not all be in memory at once.
        let at_once = if course.works.is_empty() { AT_ONCE } else { unseen.len().max(1) };
        let mut unseen = unseen.into_iter().peekable();
        while unseen.peek().is_some() || !course.works.is_empty() {
            for glance in unseen.by_ref().take(at_once) {
                let at = glance.at;
                course.take(at, self.read(*glance, options)?);
            }
            self.work(std::mem::take(&mut course.works), options, course.tell)?;
        }
        Ok(())
    }

    /// Removes what killed processes left beside the files of layers. Nobody else writes them
    /// meanwhile, for this session has the lock.
    pub fn sweep(&self, layers: &[LayerRef]) {
        let targets = layers.iter().filter_map(|layer| files::final_target(&layer.path).ok());
        let folders: BTreeSet<PathBuf> = targets.filter_map(|it| it.parent().map(Path::to_owned)).collect();
        for folder in folders {
            files::sweep_temporaries(&folder, SystemTime::now());
        }
    }

    /// Decides, writes and records, all or nothing.
    fn work(
        &self,
        mut works: Vec<Work>,
        options: &PassOptions<'_>,
        tell: &mut dyn FnMut(usize, LayerReport),
    ) -> Result<(), SyncError> {
        if works.is_empty() {
            return Ok(());
        }
        for _ in 0..TRIES {
            self.settle(&mut works, options)?;
            if options.dry_run || write_files(&mut works) {
                break;
            }
        }
        if !options.dry_run {
            let returned = self.record(&works)?;
            for (work, returned) in works.iter_mut().zip(returned) {
                work.returned = returned;
            }
        }
        for work in works {
            let (at, mut report) = (work.at, LayerReport::new(&work.layer));
            work.report(&mut report);
            tell(at, report);
        }
        Ok(())
    }

    /// Looks a layer up, and reads it unless its stat says that it is known.
    fn look(&self, at: usize, layer: &LayerRef, options: &PassOptions<'_>) -> Result<Next, SyncError> {
        if !layer.trust.is_trusted() {
            return Ok(Next::Done(Box::new(LayerReport::new(layer))));
        }
        let place = place_of(&layer.path);
        let Some(row) = self.store.read().layer(&self.root, &place)? else {
            return Ok(Next::Unseen(Box::new(Glance { at, layer: layer.clone(), place, row: None })));
        };
        if row.stamp.is_some() && !is_asked_for(&row, options) && row.stamp == stamp_of(&layer.path) {
            return Ok(Next::Done(Box::new(known(layer, &row))));
        }
        self.read(Glance { at, layer: layer.clone(), place, row: Some(row) }, options)
    }

    fn read(&self, glance: Glance, options: &PassOptions<'_>) -> Result<Next, SyncError> {
        let Glance { at, layer, place, row } = glance;
        let mut report = LayerReport::new(&layer);
        let looked = match Looked::at(&layer) {
            Ok(looked) => looked,
            Err(error) => {
                report.error = Some(error);
                return Ok(Next::Done(Box::new(report)));
            }
        };
        if row.is_none() && looked.found == Found::Absent {
            if !options.dry_run {
                self.marks.put_never(&self.root, &place);
            }
            return Ok(Next::Done(Box::new(report)));
        }
        // A row without a hash may be of a file that was there and is to be looked at again.
        let is_same = |row: &&LayerRow| {
            looked.hash().is_some() && row.seen == looked.hash() && !is_asked_for(row, options)
        };
        if let Some(row) = row.as_ref().filter(is_same).cloned() {
            let report = known(&layer, &row);
            return Ok(Next::Same(Box::new(Same { place, row, looked }), Box::new(report)));
        }
        let work = Work::new(at, layer, place, row, looked);
        if self.reads_worse(&work)? && (options.spare)(&work.layer) {
            report.is_spared = true;
            return Ok(Next::Done(Box::new(report)));
        }
        Ok(Next::Work(Box::new(work)))
    }

    /// Whether a file has more errors than the newest version, or nothing is left of it:
    /// somebody may be in the middle of writing it.
    fn reads_worse(&self, work: &Work) -> Result<bool, SyncError> {
        let errors = errors_in(&work.file);
        if errors == 0 {
            return Ok(false);
        }
        let row = work.row.as_ref().map(|row| row.id);
        let head = StoredLine::of(&self.store, row, work.file.source())?.head()?;
        Ok(head.map_or(0, |head| errors_in(&head)) < errors)
    }

    /// Writes down stats that tell from now on.
    fn record_same(&self, same: &[Same]) -> Result<(), SyncError> {
        let now = now_millis();
        let news: Vec<LayerRow> = same
            .iter()
            .map(|same| LayerRow { stamp: reliable(same.looked.stamp, now), ..same.row.clone() })
            .zip(same)
            .filter_map(|(row, same)| (row != same.row).then_some(row))
            .collect();
        if !news.is_empty() {
            self.store.write(|tx| news.iter().try_for_each(|row| tx.put_layer(row)))?;
        }
        for same in same.iter().filter(|same| view_of(Some(&same.row)).is_plain()) {
            self.marks.put(&self.root, &same.place, same.looked.hash(), same.looked.stamp, now);
        }
        Ok(())
    }
}

/// Whether a pass has something to do with a layer whose file is as it was.
fn is_asked_for(row: &LayerRow, options: &PassOptions<'_>) -> bool {
    row.waiting.is_some() || options.accept && view_of(Some(row)).held.is_some()
}

/// The report of a layer of which all is known.
fn known(layer: &LayerRef, row: &LayerRow) -> LayerReport {
    let view = view_of(Some(row));
    LayerReport { waits: view.held.map(Waits::Held), view, ..LayerReport::new(layer) }
}

/// How many errors a file has; the most if nothing is left of it.
fn errors_in(file: &Document) -> usize {
    if file.source().trim().is_empty() {
        return usize::MAX;
    }
    file.diagnostics().iter().filter(|it| it.problem.severity() == Severity::Error).count()
}
