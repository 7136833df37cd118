//! Faults on purpose, for tests: the process is killed, or an error comes, at the n-th
//! point where something has just been, or is about to be, made durable. Debug builds
//! only; in a release build this is nothing.

use std::io;

/// `$LAYERS_FAULT_KILL=N` ends the process with SIGKILL at the N-th point, counted from 1.
#[cfg(debug_assertions)]
const KILL: &str = "LAYERS_FAULT_KILL";
/// `$LAYERS_FAULT_FULL=N`: from the N-th point on the disk is full.
#[cfg(debug_assertions)]
const FULL: &str = "LAYERS_FAULT_FULL";

/// `$LAYERS_FAULT_READ=PATH`: the disk gives an error where a file is read whose path ends so.
#[cfg(debug_assertions)]
const READ: &str = "LAYERS_FAULT_READ";

/// Whether a file can be read off its disk.
#[cfg(debug_assertions)]
pub(crate) fn read_fault(path: &std::path::Path) -> io::Result<()> {
    /// EIO on every system that this runs on.
    const EIO: i32 = 5;
    if std::env::var_os(READ).is_some_and(|end| path.ends_with(end)) {
        return Err(io::Error::from_raw_os_error(EIO));
    }
    Ok(())
}

/// Nothing.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) const fn read_fault(_path: &std::path::Path) -> io::Result<()> {
    Ok(())
}

/// A point at which a fault may come; `_name` tells it in a debugger.
#[cfg(debug_assertions)]
pub(crate) fn fault(_name: &str) -> io::Result<()> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static POINTS: AtomicUsize = AtomicUsize::new(0);

    let asked = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
    let (kill, full) = (asked(KILL), asked(FULL));
    if kill.is_none() && full.is_none() {
        return Ok(());
    }
    let point = POINTS.fetch_add(1, Ordering::Relaxed) + 1;
    if kill == Some(point) {
        // The only way to SIGKILL oneself without unsafe code; it does not return.
        let pid = std::process::id().to_string();
        let _ = std::process::Command::new("kill").args(["-9", &pid]).status();
        std::thread::sleep(std::time::Duration::from_mins(1));
    }
    if full.is_some_and(|from| point >= from) {
        return Err(io::Error::from(io::ErrorKind::StorageFull));
    }
    Ok(())
}

/// Nothing.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) const fn fault(_name: &str) -> io::Result<()> {
    Ok(())
}
