//! Whose a name is: what the claims on it say, held against where we are. Pure; what has to
//! be looked up comes through [`Here`], the dear parts only when they are asked for.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::evidence::{Claim, Evidence, Landmark};
use crate::slug::MAX_LEN;

/// Where we are, as far as somebody asks.
pub trait Here {
    /// The folder that people know this place by.
    fn folder(&self) -> &Landmark;
    /// The repository's own folder.
    fn repository(&self) -> Option<&Landmark>;
    /// Where it was cloned from.
    fn remote(&self) -> Option<&str>;
    /// Its first commits.
    fn roots(&self) -> &[String];
    /// Whether a folder is still what it was.
    fn stands(&self, landmark: &Landmark) -> bool;
    /// Whether there is a private layer of a name.
    fn has_layer(&self, name: &str) -> bool;
    /// Hex digits that no other place has.
    fn digits(&self) -> &str;
}

/// Whose a name is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The name that is this place's: the one asked for, or what stands for it.
    pub name: String,
    /// Whether this place has claimed it.
    pub is_claimed: bool,
    /// Where the project is that the name asked for belongs to, if not to this one.
    pub holder: Option<PathBuf>,
    /// Names that stood for it before it was this place's too.
    pub also: Vec<String>,
}

/// What two places have in common, the cheapest to find out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bond {
    /// The folder itself.
    Place,
    /// The remote: two clones are one project.
    Remote,
    /// A first commit, and the other place is gone: it was moved.
    Root,
}

impl Bond {
    const ALL: [Self; 3] = [Self::Place, Self::Remote, Self::Root];

    /// Whether it ties a place of a claim to where we are. On doubt it does not.
    fn ties(self, known: &Evidence, here: &dyn Here) -> bool {
        match (self, &known.repository, here.repository()) {
            (Self::Place, None, None) => known.folder.path == here.folder().path,
            // It became a repository; one that was put at its path is another folder.
            (Self::Place, None, Some(_)) => known.folder.is(here.folder()),
            (Self::Place, Some(old), Some(new)) => old.is(new),
            (Self::Remote, Some(_), Some(_)) => {
                known.remote.is_some() && known.remote.as_deref() == here.remote()
            }
            (Self::Root, Some(old), Some(_)) => {
                let is_contradicted = known.remote.is_some() && here.remote().is_some();
                !known.roots.is_empty()
                    && !is_contradicted
                    && !here.stands(old)
                    && known.roots.iter().any(|root| here.roots().contains(root))
            }
            _ => false,
        }
    }
}

/// Says whose a name is, and which claims are to say more than they do.
pub fn judge(name: &str, claims: &[Claim], here: &dyn Here) -> (Verdict, Vec<Claim>) {
    let plain = claims.iter().find(|claim| claim.name == name);
    let instead = || claims.iter().filter(|claim| claim.instead_of.as_deref() == Some(name));
    for bond in Bond::ALL {
        let is_ours = |claim: &&Claim| claim.places.iter().any(|place| bond.ties(place, here));
        let ours: Vec<&Claim> = plain.into_iter().chain(instead()).filter(is_ours).collect();
        let Some((first, also)) = ours.split_first() else { continue };
        let verdict = Verdict {
            name: first.name.clone(),
            is_claimed: true,
            holder: plain.filter(|plain| plain.name != first.name).and_then(holder),
            also: also.iter().map(|claim| claim.name.clone()).collect(),
        };
        let told = ours.into_iter().map(|claim| told(claim, bond, here));
        return (verdict, told.filter(|claim| !claims.contains(claim)).collect());
    }
    // What stood for a name that nobody claims any more was ours, if a store was lost.
    let stand_in = stand_in(name, here.digits(), |name| claims.iter().any(|claim| claim.name == name));
    let is_free = plain.is_none() && !here.has_layer(&stand_in);
    let name = if is_free { name.to_owned() } else { stand_in };
    (Verdict { name, is_claimed: false, holder: plain.and_then(holder), also: Vec::new() }, Vec::new())
}

fn holder(claim: &Claim) -> Option<PathBuf> {
    claim.places.first().map(|place| place.folder.path.clone())
}

/// The claim with what is known of this place now. Of other places that are this project
/// only those are forgotten that are gone.
fn told(claim: &Claim, bond: Bond, here: &dyn Here) -> Claim {
    let is_this = |place: &&Evidence| bond.ties(place, here);
    let is_past =
        |place: &Evidence| is_this(&place) && (bond == Bond::Place || !here.stands(place.landmark()));
    let at = claim.places.iter().position(is_past).unwrap_or(claim.places.len());
    let mut places: Vec<Evidence> = claim.places.iter().filter(|place| !is_past(place)).cloned().collect();
    // Those before the first that is past all stayed.
    places.insert(at.min(places.len()), evidence(here, claim.places.iter().find(is_this)));
    Claim { places, ..claim.clone() }
}

/// What this place is known by. What was known and cannot be seen now still is; commits are
/// looked for only where there is nothing better, since git may have to read all of them.
pub fn evidence(here: &dyn Here, known: Option<&Evidence>) -> Evidence {
    let remote = here.remote().map(str::to_owned).or_else(|| known?.remote.clone());
    let roots = known.map(|known| known.roots.clone()).unwrap_or_default();
    let roots = if remote.is_none() && roots.is_empty() { here.roots().to_vec() } else { roots };
    Evidence { folder: here.folder().clone(), repository: here.repository().cloned(), remote, roots }
}

/// How many hex digits a name gets, the fewest that nobody else has.
const DIGITS: [usize; 4] = [4, 8, 16, 32];

/// The name of a project whose own name is another's.
fn stand_in(name: &str, digits: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let named = |count: usize| format!("{}-{}", stem(name, count), &digits[..count]);
    let free = DIGITS.iter().map(|count| named(*count)).find(|name| !is_taken(name));
    free.unwrap_or_else(|| named(DIGITS[DIGITS.len() - 1]))
}

/// What a name and all that may stand for it begin with.
pub fn family(name: &str) -> &str {
    stem(name, DIGITS[DIGITS.len() - 1])
}

fn stem(name: &str, digits: usize) -> &str {
    let end = name.len().min(MAX_LEN - 1 - digits);
    name.get(..end).unwrap_or(name).trim_end_matches(|c: char| !c.is_ascii_alphanumeric())
}
