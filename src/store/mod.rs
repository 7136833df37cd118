//! The store: what the files do not hold. Versions of each layer, the journal, conflicts,
//! the archive, whose a project is. The layers are the truth: deleting the store loses
//! history and nothing else.
//!
//! SQLite in WAL mode. Every write is one `IMMEDIATE` transaction: a deferred one that reads
//! first fails at once when another process has written, whatever the busy timeout.

mod claims;
mod content;
mod error;
mod journal;
mod lines;
mod place;
mod rest;
mod schema;
mod trust;

use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::files::{self, NewFile};

pub use claims::ClaimRow;
pub use content::Hash;
pub use error::StoreError;
pub use journal::{Archived, ChangeRow, ConflictRow, NewArchived, NewChange, NewConflict, Op, WhyGone};
pub use lines::{LayerId, LayerRow, Stamp, VersionId, VersionRow};
pub use place::StatePlace;
pub use trust::{ReviewedRow, TrustRow};

use rest::Left;
use schema::MIGRATIONS;

/// What the name of a store that is thought to be damaged has behind it, as a file of its own.
const SUSPECT: &str = ".suspect";

/// How long to wait for other processes.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many prepared statements are kept: more than this module has, as preparing one takes
/// longer than running it.
const STATEMENTS: usize = 64;

/// Between two tries of what SQLite does not wait for.
const PAUSE: Duration = Duration::from_millis(5);

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// Where a damaged store was put, if one was found.
    set_aside: Option<PathBuf>,
    /// How its file was left.
    left: Option<Left>,
}

/// A transaction, for as long as the closure of [`Store::write`] runs, or a view for reading.
#[derive(Debug)]
pub struct Tx<'a> {
    sql: &'a Connection,
    path: &'a Path,
}

impl Store {
    /// Opens the store, makes it if it is not there, and brings its schema up to date. One
    /// that is damaged is set aside as `store.db.corrupt-<time>` and begun anew: the layers
    /// alone rebuild the live state. `now` names it, in milliseconds since 1970.
    pub fn open(place: &StatePlace, now: u64) -> Result<Self, StoreError> {
        match Self::try_open(place) {
            Err(StoreError::Corrupt { .. }) => {
                let set_aside = set_aside(place, now)?;
                Ok(Self { set_aside, ..Self::try_open(place)? })
            }
            opened => opened,
        }
    }

    /// Opens the store for reading if there is one.
    pub fn open_existing(place: &StatePlace) -> Result<Option<Self>, StoreError> {
        match fs::metadata(place.file()) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Io { path: place.file().to_owned(), source }),
        }
        match Self::try_open(place) {
            Err(StoreError::Sql { source, .. }) if is_denied(&source) => Self::open_to_read(place).map(Some),
            opened => opened.map(Some),
        }
    }

    /// Opens a store that may only be read: on a read-only disk, or of somebody else.
    fn open_to_read(place: &StatePlace) -> Result<Self, StoreError> {
        let path = place.file().to_owned();
        let wal = fs::metadata(beside(&path, "-wal"));
        // Without its log the file says all, and SQLite need make none beside it.
        let mode = if wal.is_ok_and(|wal| wal.len() > 0) { "mode=ro" } else { "immutable=1" };
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(format!("{}?{mode}", uri(&path)), flags)
            .map_err(|error| known(&path, error))?;
        let store = Self { connection, path, set_aside: None, left: None };
        store.connection.busy_timeout(PATIENCE).map_err(|error| known(&store.path, error))?;
        store.check_suspicion()?;
        // One that has to be brought up to date says that it cannot be written.
        store.migrate()?;
        Ok(store)
    }

    /// A store of nothing that is kept nowhere, for those who only look where there is none.
    pub fn empty(place: &StatePlace) -> Result<Self, StoreError> {
        let path = place.file().to_owned();
        let connection = Connection::open_in_memory().map_err(|error| known(&path, error))?;
        let store = Self { connection, path, set_aside: None, left: None };
        store.migrate()?;
        Ok(store)
    }

    fn try_open(place: &StatePlace) -> Result<Self, StoreError> {
        let path = place.file().to_owned();
        let io = |source: std::io::Error| StoreError::Io { path: path.clone(), source };
        if !path.exists() {
            files::create_folder(place.folder(), NewFile::Private)
                .map_err(|error| io(std::io::Error::other(error.to_string())))?;
            // SQLite would make it with the umask's mode; its side files have the mode of this.
            OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(io)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(|error| known(&path, error))?;
        let store = Self { connection, path, set_aside: None, left: None };
        store.demand_writable().and_then(|()| store.prepare()).map_err(|error| known(&store.path, error))?;
        store.check_suspicion()?;
        store.migrate()?;
        Ok(store)
    }

    /// Damage may be met long after opening, in a page that is seldom read. Whoever meets it
    /// leaves word, and then all of the file is looked at, which takes long.
    fn check_suspicion(&self) -> Result<(), StoreError> {
        let suspicion = beside(&self.path, SUSPECT);
        if !suspicion.exists() {
            return Ok(());
        }
        let checked = self.connection.pragma_query_value(None, "integrity_check", |row| row.get(0));
        let found: String = checked.map_err(|error| known(&self.path, error))?;
        if found != "ok" {
            return Err(StoreError::Corrupt { path: self.path.clone(), problem: found });
        }
        // Another process has put the damaged one aside.
        let _ = fs::remove_file(suspicion);
        Ok(())
    }

    /// SQLite opens what may only be read all the same; then a layer would be written first,
    /// and only then be seen that it cannot be noted down.
    fn demand_writable(&self) -> Result<(), rusqlite::Error> {
        if self.connection.is_readonly("main")? {
            let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
            return Err(rusqlite::Error::SqliteFailure(error, None));
        }
        Ok(())
    }

    fn prepare(&self) -> Result<(), rusqlite::Error> {
        self.connection.set_prepared_statement_cache_capacity(STATEMENTS);
        self.connection.busy_timeout(PATIENCE)?;
        self.use_wal()?;
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        self.connection.pragma_update(None, "foreign_keys", true)
    }

    /// Of two processes that begin a store at once one has it to itself for this, and SQLite
    /// does not let the other wait, whatever its busy timeout.
    fn use_wal(&self) -> Result<(), rusqlite::Error> {
        let start = Instant::now();
        loop {
            let done = self.connection.pragma_update(None, "journal_mode", "WAL");
            let is_busy = done.as_ref().is_err_and(|error| {
                matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
            });
            if !is_busy || start.elapsed() > PATIENCE {
                return done;
            }
            thread::sleep(PAUSE);
        }
    }

    fn migrate(&self) -> Result<(), StoreError> {
        let version = |sql: &Connection| sql.pragma_query_value(None, "user_version", |row| row.get(0));
        let found: usize = version(&self.connection).map_err(|error| known(&self.path, error))?;
        let tables = "SELECT count(*), count(*) FILTER (WHERE name = 'layer') FROM sqlite_master";
        let (all, ours): (usize, usize) = self
            .connection
            .query_row(tables, (), |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(|error| known(&self.path, error))?;
        if ours == 0 && (all > 0 || found > 0) {
            return Err(StoreError::Foreign { path: self.path.clone() });
        }
        if found == MIGRATIONS.len() {
            return Ok(());
        }
        let path = self.path.clone();
        self.write(|tx| {
            // Another process may have done it while this one waited.
            let found: usize = tx.ask(version(tx.sql))?;
            let todo = MIGRATIONS.get(found..).ok_or_else(|| StoreError::Newer {
                path: path.clone(),
                found,
                known: MIGRATIONS.len(),
            })?;
            for step in todo {
                tx.ask(tx.sql.execute_batch(step))?;
            }
            tx.ask(tx.sql.pragma_update(None, "user_version", MIGRATIONS.len()))
        })
    }

    /// Has SQLite look over the whole file; it takes a second for a gigabyte or so.
    pub fn check(&self) -> Result<(), StoreError> {
        let found: String = self
            .connection
            .pragma_query_value(None, "quick_check", |row| row.get(0))
            .map_err(|error| known(&self.path, error))?;
        if found == "ok" {
            return Ok(());
        }
        Err(StoreError::Corrupt { path: self.path.clone(), problem: found })
    }

    /// Where a damaged store was put when this one was begun.
    pub fn set_aside(&self) -> Option<&Path> {
        self.set_aside.as_deref()
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads, each statement by itself.
    pub fn read(&self) -> Tx<'_> {
        Tx { sql: &self.connection, path: &self.path }
    }

    /// Writes all or nothing: an error, also one of the caller's, rolls everything back.
    pub fn write<T, E: From<StoreError>>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T, E>) -> Result<T, E> {
        let io = |source| StoreError::Io { path: self.path.clone(), source };
        // Checked at run time, not by the borrow checker: SQLite refuses one inside another.
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|error| known(&self.path, error))?;
        files::fault("begin").map_err(io)?;
        let done = work(&Tx { sql: &transaction, path: &self.path })?;
        files::fault("commit").map_err(io)?;
        transaction.commit().map_err(|error| known(&self.path, error))?;
        files::fault("committed").map_err(io)?;
        Ok(done)
    }
}

impl Tx<'_> {
    /// A result of SQLite's with the store's own error.
    fn ask<T>(&self, result: Result<T, rusqlite::Error>) -> Result<T, StoreError> {
        result.map_err(|error| known(self.path, error))
    }

    fn run(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize, StoreError> {
        self.ask(self.sql.prepare_cached(sql).and_then(|mut statement| statement.execute(params)))
    }

    fn insert(&self, sql: &str, params: impl rusqlite::Params) -> Result<i64, StoreError> {
        self.ask(self.sql.prepare_cached(sql).and_then(|mut statement| statement.insert(params)))
    }

    fn all<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        map: impl FnMut(&rusqlite::Row<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<Vec<T>, StoreError> {
        self.ask(
            self.sql
                .prepare_cached(sql)
                .and_then(|mut statement| statement.query_map(params, map)?.collect::<Result<Vec<_>, _>>()),
        )
    }

    fn one<T>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        map: impl FnMut(&rusqlite::Row<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.all(sql, params, map)?.into_iter().next())
    }
}

/// A path as it is stored: its bytes.
fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Whether a store cannot be opened for writing.
fn is_denied(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// A path as the URI that SQLite reads.
fn uri(path: &Path) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(byte);
    let bytes = bytes(path).iter();
    let bytes = bytes.map(|byte| if plain(byte) { char::from(*byte).into() } else { format!("%{byte:02X}") });
    format!("file:{}", bytes.collect::<String>())
}

/// A file beside the store.
fn beside(store: &Path, suffix: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn known(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            // Where that cannot be written, nothing could be put aside either.
            let _ = fs::write(beside(&path, SUSPECT), "");
            StoreError::Corrupt { path, problem: error.to_string() }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
        _ => StoreError::Sql { path, source: error },
    }
}

/// Puts a damaged store out of the way. Of two processes that find it damaged only one
/// does: the other finds a sound one under the lock.
fn set_aside(place: &StatePlace, now: u64) -> Result<Option<PathBuf>, StoreError> {
    let io = |source: std::io::Error| StoreError::Io { path: place.file().to_owned(), source };
    let _lock = files::Lock::acquire(place.folder(), PATIENCE)
        .map_err(|error| io(std::io::Error::other(error.to_string())))?;
    if !matches!(Store::try_open(place), Err(StoreError::Corrupt { .. })) {
        return Ok(None);
    }
    let aside = |suffix: &str| beside(place.file(), suffix);
    let target = aside(&format!(".corrupt-{now}"));
    // The log first: without its database it says nothing, with another it does harm.
    for side in ["-wal", "-shm"] {
        let _ = fs::rename(aside(side), aside(&format!(".corrupt-{now}{side}")));
    }
    fs::rename(place.file(), &target).map_err(io)?;
    let _ = fs::remove_file(aside(SUSPECT));
    Ok(Some(target))
}
