//! Whose a private layer is. Two folders called `app`, or two copies of a template that both
//! bring `.harness/starter.md`, have one key and are two projects: the first that has private
//! notes under a name claims it, and those of the other go by a name of its own.
//!
//! A claim is a name below a root, with evidence of where its project is, in the store.
//! [`verdict`] holds the evidence against where we are; the answer is cached.

mod cache;
pub mod evidence;
mod place;
mod remote;
pub mod verdict;

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use crate::mint::now_millis;
use crate::store::{ClaimRow, StatePlace, Store, StoreError, Tx};
use crate::workspace::{Answer, Owned, Owners, Question, Root, Site};

use cache::{Cache, Verdicts};
use evidence::Claim;
use place::Place;
pub use place::landmark;
use verdict::{Here as _, evidence, family, isolated, judge};

/// What the one who asks is about to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To read. A layer that is there and nobody's is claimed, if that can be done.
    #[default]
    Read,
    /// To show notes that go by the project's name: it is claimed, if that can be done.
    Show,
    /// To write something: a store that is damaged is begun anew.
    Write,
    /// To write into the private layer, so it is claimed.
    WritePrivate,
}

/// Answers from the claims in the store.
#[derive(Debug)]
pub struct Claims {
    state: Option<StatePlace>,
    purpose: Purpose,
    set_aside: OnceCell<PathBuf>,
    unclaimed: OnceCell<StoreError>,
}

/// What became of a name that a place is to share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Where its project was up to now; none if the name was nobody's.
    pub holder: Option<PathBuf>,
    /// Whether anything changed.
    pub is_new: bool,
}

impl Owners for Claims {
    fn own(&self, question: &Question<'_>) -> Result<Answer, String> {
        let asking = Asking::new(question);
        let (Some(state), Some(_)) = (&self.state, asking.names.first()) else {
            return Ok(Answer::at_their_word(question));
        };
        let verdicts = self.verdicts(state, &asking).map_err(|error| error.to_string())?;
        let owned = |name: &str| match verdicts.get(name) {
            Some(verdict) if !(question.is_declared && question.key == Some(name)) => Owned {
                name: verdict.name.clone(),
                is_claimed: verdict.is_claimed,
                holder: verdict.holder.clone(),
                also: verdict.also.clone(),
            },
            // What the configuration gives to several places is meant for all of them.
            _ => Owned::as_it_is(name),
        };
        let pi_names = question.pi_names.iter().map(|name| owned(name)).collect();
        Ok(Answer { key: question.key.map(owned), pi_names })
    }
}

impl Claims {
    /// With the store at a place; without one, names are taken at their word.
    pub const fn new(state: Option<StatePlace>, purpose: Purpose) -> Self {
        Self { state, purpose, set_aside: OnceCell::new(), unclaimed: OnceCell::new() }
    }

    /// Where a damaged store was put, if one was found.
    pub fn set_aside(&self) -> Option<&Path> {
        self.set_aside.get().map(PathBuf::as_path)
    }

    /// Why a layer that is nobody's was not claimed.
    pub fn unclaimed(&self) -> Option<&StoreError> {
        self.unclaimed.get()
    }

    /// All claims below a root, by name.
    pub fn all(&self, root: &Root) -> Result<Vec<Claim>, StoreError> {
        let Some(state) = &self.state else { return Err(StoreError::NoPlace) };
        match Store::open_existing(state)? {
            Some(store) => read(&store.read(), &real(root), state, ""),
            None => Ok(Vec::new()),
        }
    }

    /// Says that a place is one of the project whose a name is.
    pub fn join(&self, root: &Root, site: &Site, name: &str) -> Result<Joined, StoreError> {
        let Some(state) = &self.state else { return Err(StoreError::NoPlace) };
        let (place, root) = (Place::of(root, site), real(root));
        // Git is not waited for while others wait for the store.
        let here = evidence(&place, None);
        change(&Store::open(state, now_millis())?, &Cache::at(state, &root, site), |tx| {
            let claims = read(tx, &root, state, name)?;
            let (verdict, _) = judge(name, &claims, &place);
            if verdict.is_claimed && verdict.name == name {
                return Ok(Joined { holder: None, is_new: false });
            }
            let known = claims.into_iter().find(|claim| claim.name == name);
            let mut claim = known.unwrap_or_else(|| Claim {
                name: name.to_owned(),
                instead_of: None,
                places: Vec::new(),
            });
            let holder = claim.places.first().map(|place| place.folder.path.clone());
            claim.places.push(here);
            put(tx, &root, &claim)?;
            Ok(Joined { holder, is_new: true })
        })
    }

    fn verdicts(&self, state: &StatePlace, asking: &Asking<'_>) -> Result<Verdicts, StoreError> {
        let cache = Cache::at(state, &asking.root, asking.question.site);
        let is_enough = |known: &Verdicts| {
            asking.names.iter().all(|name| known.contains_key(*name))
                && asking.due(known, self.purpose).is_empty()
        };
        if let Some(known) = cache.read().filter(is_enough) {
            return Ok(known);
        }
        let begun = cache.begin();
        let verdicts = self.ask(state, asking, &cache)?;
        if let Some(begun) = begun {
            cache.put(begun, verdicts.clone(), asking.place.awaits_commit());
        }
        Ok(verdicts)
    }

    fn ask(&self, state: &StatePlace, asking: &Asking<'_>, cache: &Cache) -> Result<Verdicts, StoreError> {
        let store = self.open(state)?;
        let known = match &store {
            Some(store) => asking.claims(&store.read(), state)?,
            None => Vec::new(),
        };
        let (verdicts, changes) = asking.decide(&known, self.purpose);
        if changes.is_empty() {
            return Ok(verdicts);
        }
        // Decided anew under the store's lock: of two that want one name one gets it.
        let claim = |store: &Store| {
            change(store, cache, |tx| {
                let (verdicts, changes) = asking.decide(&asking.claims(tx, state)?, self.purpose);
                changes.iter().try_for_each(|claim| put(tx, &asking.root, claim))?;
                Ok(verdicts)
            })
        };
        let claimed = match &store {
            Some(store) => claim(store),
            None => Store::open(state, now_millis()).and_then(|store| claim(&store)),
        };
        claimed.or_else(|error| {
            if self.purpose == Purpose::WritePrivate {
                return Err(error);
            }
            // Whoever only reads goes on; the layer stays nobody's.
            let _ = self.unclaimed.set(error);
            Ok(verdicts)
        })
    }

    fn open(&self, state: &StatePlace) -> Result<Option<Store>, StoreError> {
        match Store::open_existing(state) {
            Err(StoreError::Corrupt { .. }) if self.purpose >= Purpose::Write => {
                let store = Store::open(state, now_millis())?;
                if let Some(path) = store.set_aside() {
                    let _ = self.set_aside.set(path.to_owned());
                }
                Ok(Some(store))
            }
            opened => opened,
        }
    }
}

/// A question with the place that it is about.
struct Asking<'a> {
    question: &'a Question<'a>,
    /// The root without links.
    root: PathBuf,
    place: Place<'a>,
    names: Vec<&'a str>,
}

impl<'a> Asking<'a> {
    fn new(question: &'a Question<'a>) -> Self {
        let names = question.key.into_iter().chain(question.pi_names.iter().map(String::as_str)).collect();
        let place = Place::of(question.root, question.site);
        Self { question, root: real(question.root), place, names }
    }

    /// The claims on the names, and on those that may stand for them.
    fn claims(&self, tx: &Tx<'_>, state: &StatePlace) -> Result<Vec<Claim>, StoreError> {
        let mut claims: Vec<Claim> = Vec::new();
        for name in &self.names {
            for claim in read(tx, &self.root, state, family(name))? {
                if claims.iter().all(|known| known.name != claim.name) {
                    claims.push(claim);
                }
            }
        }
        Ok(claims)
    }

    /// Whose each name is, and the claims that are new or say more.
    fn decide(&self, claims: &[Claim], purpose: Purpose) -> (Verdicts, Vec<Claim>) {
        let mut verdicts = Verdicts::new();
        let mut changes = Vec::new();
        for name in &self.names {
            let (mut verdict, told) = judge(name, claims, &self.place);
            let is_taken = !verdict.is_claimed && verdict.name == *name && self.place.has_layer(name);
            if self.question.is_doubtful && self.question.key == Some(name) && is_taken {
                verdict.name = isolated(name, claims, &self.place);
            }
            verdicts.insert((*name).to_owned(), verdict);
            changes.extend(told);
        }
        for name in self.due(&verdicts, purpose) {
            let Some(verdict) = verdicts.get_mut(name) else { continue };
            verdict.is_claimed = true;
            changes.push(Claim {
                name: verdict.name.clone(),
                instead_of: (verdict.name != name).then(|| name.to_owned()),
                places: vec![evidence(&self.place, None)],
            });
        }
        (verdicts, changes)
    }

    /// The names that are to be claimed: those with a layer, the one that is about to be
    /// written, and with any of them the key, which notes of the global layer may go by.
    fn due(&self, verdicts: &Verdicts, purpose: Purpose) -> Vec<&'a str> {
        let Question { key, is_declared, pi_names, root, .. } = self.question;
        let is_key = |name: &str| *key == Some(name);
        let mut open: Vec<(&'a str, bool)> = Vec::new();
        for name in &self.names {
            let Some(verdict) = verdicts.get(*name) else { continue };
            // Where the configuration gives a name to several places, one of them holds it.
            let is_shared = *is_declared && is_key(name) && verdict.name != *name;
            if !verdict.is_claimed && !is_shared {
                open.push((name, self.place.has_layer(&verdict.name)));
            }
        }
        let writes = purpose == Purpose::WritePrivate;
        if !writes && purpose != Purpose::Show && !open.iter().any(|(_, has_layer)| *has_layer) {
            return Vec::new();
        }
        let is_written = |name: &str| writes && root.is_pi && pi_names.last().is_some_and(|it| it == name);
        open.retain(|(name, has_layer)| *has_layer || is_key(name) || is_written(name));
        open.into_iter().map(|(name, _)| name).collect()
    }
}

/// Forgets what was decided: something changed that it depends on.
pub fn forget(state: &StatePlace) {
    Cache::forget_all_in(state);
}

/// The root as it stands in the store.
fn real(root: &Root) -> PathBuf {
    fs::canonicalize(&root.path).unwrap_or_else(|_| root.path.clone())
}

/// The claims on names that begin so. One that cannot be read is an error: on doubt,
/// isolate.
fn read(tx: &Tx<'_>, root: &Path, state: &StatePlace, prefix: &str) -> Result<Vec<Claim>, StoreError> {
    let rows = tx.claims(root, prefix)?;
    let claims = rows.into_iter().map(|row| match serde_json::from_str::<Claim>(&row.evidence) {
        Ok(claim) => Ok(Claim { name: row.name, ..claim }),
        Err(error) => Err(StoreError::Corrupt {
            path: state.file().to_owned(),
            problem: format!("the claim on {} cannot be read: {error}", row.name),
        }),
    });
    claims.collect()
}

fn put(tx: &Tx<'_>, root: &Path, claim: &Claim) -> Result<(), StoreError> {
    let evidence = serde_json::to_string(claim).unwrap_or_default();
    tx.put_claim(root, &ClaimRow { name: claim.name.clone(), evidence, at: now_millis() })
}

/// Changes claims. What was decided before is forgotten, also by those who decide meanwhile.
fn change<T>(
    store: &Store,
    cache: &Cache,
    work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let done = store.write(|tx| {
        let done = work(tx)?;
        // A crash right after the commit must not leave them either.
        cache.forget_all();
        Ok::<_, StoreError>(done)
    })?;
    cache.forget_all();
    Ok(done)
}
