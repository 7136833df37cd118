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
    let stand_in = isolated(name, claims, here);
    let is_free = plain.is_none() && !here.has_layer(&stand_in);
    let name = if is_free { name.to_owned() } else { stand_in };
    (Verdict { name, is_claimed: false, holder: plain.and_then(holder), also: Vec::new() }, Vec::new())
}

/// The name that stands for one that is another project's, or may be.
pub fn isolated(name: &str, claims: &[Claim], here: &dyn Here) -> String {
    stand_in(name, here.digits(), |name| claims.iter().any(|claim| claim.name == name))
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

#[cfg(test)]
mod tests {
    use super::super::evidence::Witness;
    use super::*;

    /// A place by what is known of it; what it may be asked for is counted.
    struct Fake {
        evidence: Evidence,
        gone: Vec<&'static str>,
        layers: Vec<String>,
        asked_git: std::cell::Cell<bool>,
    }

    impl Here for Fake {
        fn folder(&self) -> &Landmark {
            &self.evidence.folder
        }
        fn repository(&self) -> Option<&Landmark> {
            self.evidence.repository.as_ref()
        }
        fn remote(&self) -> Option<&str> {
            self.asked_git.set(true);
            self.evidence.remote.as_deref()
        }
        fn roots(&self) -> &[String] {
            self.asked_git.set(true);
            &self.evidence.roots
        }
        fn stands(&self, landmark: &Landmark) -> bool {
            !self.gone.iter().any(|gone| landmark.path.starts_with(gone))
        }
        fn has_layer(&self, name: &str) -> bool {
            self.layers.iter().any(|layer| layer == name)
        }
        fn digits(&self) -> &'static str {
            "0123456789abcdef0123456789abcdef"
        }
    }

    fn landmark(path: &str, inode: u64) -> Landmark {
        Landmark { path: path.into(), witness: Some(Witness { device: 1, inode, born: Some(1) }) }
    }

    fn folder(path: &str, inode: u64) -> Fake {
        let evidence =
            Evidence { folder: landmark(path, inode), repository: None, remote: None, roots: Vec::new() };
        Fake { evidence, gone: Vec::new(), layers: Vec::new(), asked_git: false.into() }
    }

    fn repository(path: &str, inode: u64, remote: Option<&str>, roots: &[&str]) -> Fake {
        let mut fake = folder(path, inode);
        fake.evidence.repository = Some(landmark(&format!("{path}/.git"), inode + 1));
        fake.evidence.remote = remote.map(str::to_owned);
        fake.evidence.roots = roots.iter().map(|&root| root.to_owned()).collect();
        fake
    }

    fn claim(name: &str, place: &Fake) -> Claim {
        Claim { name: name.into(), instead_of: None, places: vec![place.evidence.clone()] }
    }

    fn is_same(known: &Fake, here: &Fake) -> bool {
        judge("app", &[claim("app", known)], here).0.is_claimed
    }

    #[test]
    fn places_of_one_project() {
        let base = repository("/x/app", 10, None, &["r1"]);
        let with_remote = repository("/x/app", 10, Some("h/app"), &[]);
        assert!(is_same(&base, &repository("/x/app", 10, Some("h/new"), &[])), "a remote may change");
        assert!(is_same(&with_remote, &repository("/y/app", 20, Some("h/app"), &[])), "two clones");
        assert!(is_same(&folder("/x/app", 10), &folder("/x/app", 11)), "a folder is its path");
        assert!(is_same(&folder("/x/app", 10), &base), "it became a repository");
        let moved = Fake { gone: vec!["/x"], ..repository("/y/app", 20, None, &["r1"]) };
        assert!(is_same(&base, &moved));
        let moved = Fake { gone: vec!["/x"], ..repository("/y/app", 20, Some("h/app"), &["r1"]) };
        assert!(is_same(&base, &moved), "a remote that one of the two lacks is no contradiction");
        let restored = Fake { gone: vec!["/x"], ..repository("/x/app", 30, None, &["r1"]) };
        assert!(is_same(&base, &restored));
    }

    #[test]
    fn places_of_two_projects() {
        let base = repository("/x/app", 10, None, &["r1"]);
        let with_remote = repository("/x/app", 10, Some("h/app"), &["r1"]);
        let copied = repository("/y/app", 20, None, &["r1"]);
        assert!(!is_same(&base, &copied), "a copy: the other one is still there");
        let fork = Fake { gone: vec!["/x"], ..repository("/y/app", 20, Some("h/fork"), &["r1"]) };
        assert!(!is_same(&with_remote, &fork), "remotes that contradict each other");
        for roots in [&[] as &[&str], &["r2"]] {
            let new = Fake { gone: vec!["/x"], ..repository("/x/app", 30, None, roots) };
            assert!(!is_same(&base, &new), "a new one at the old path");
            let unborn = repository("/x/app", 10, None, &[]);
            assert!(!is_same(&unborn, &new), "no commit to compare");
        }
        assert!(!is_same(&folder("/x/app", 10), &repository("/x/app", 30, None, &[])), "put there");
        assert!(!is_same(&base, &folder("/x/app", 10)));
        assert!(!is_same(&folder("/x/app", 10), &folder("/y/app", 10)));
    }

    #[test]
    fn git_is_asked_only_where_the_folder_does_not_tell() {
        let here = folder("/x/app", 10);
        let (verdict, told) = judge("app", &[], &here);
        assert_eq!((verdict.name.as_str(), verdict.is_claimed, told.len()), ("app", false, 0));
        assert!(!here.asked_git.get());
        // Roots make git read all commits: not if they are known, or a remote is.
        let here = Fake { layers: Vec::new(), ..repository("/x/app", 10, Some("h/app"), &["never read"]) };
        assert!(evidence(&here, None).roots.is_empty());
    }

    #[test]
    fn a_name_that_is_taken_gets_as_few_digits_as_do() {
        let (x, y) = (repository("/x/app", 10, None, &[]), repository("/y/app", 20, None, &[]));
        let mut claims = vec![claim("app", &x)];
        let (verdict, _) = judge("app", &claims, &y);
        assert_eq!((verdict.name.as_str(), verdict.is_claimed), ("app-0123", false));
        assert_eq!(verdict.holder, Some("/x/app".into()));
        claims.push(claim("app-0123", &folder("/z", 1)));
        assert_eq!(judge("app", &claims, &y).0.name, "app-01234567");
        claims.push(Claim { instead_of: Some("app".into()), ..claim("app-01234567", &y) });
        let (verdict, told) = judge("app", &claims, &y);
        assert_eq!((verdict.name.as_str(), verdict.is_claimed), ("app-01234567", true), "it stays");
        assert!(told.is_empty(), "nothing new: {told:?}");
        // Said to be one: the own name first, the other is one more.
        claims[0].places.push(y.evidence.clone());
        let (verdict, _) = judge("app", &claims, &y);
        assert_eq!((verdict.name.as_str(), verdict.holder), ("app", None));
        assert_eq!(verdict.also, ["app-01234567"]);
        assert!(judge("app", &claims, &x).0.also.is_empty());
    }

    #[test]
    fn what_stood_for_a_name_tells_when_the_claims_are_lost() {
        let here = Fake { layers: vec!["app-0123".into()], ..repository("/y/app", 20, None, &[]) };
        assert_eq!(judge("app", &[], &here).0.name, "app-0123");
    }

    #[test]
    fn long_names_stay_names() {
        let name = "x".repeat(MAX_LEN);
        for digits in DIGITS {
            assert_eq!(stem(&name, digits).len() + 1 + digits, MAX_LEN);
        }
        assert!(stem(&name, 4).starts_with(family(&name)));
        assert_eq!(family("app"), "app");
        assert_eq!(stem("a_b.", 4), "a_b");
    }

    /// Clones that both stand are both remembered: they must not push each other out.
    #[test]
    fn what_is_known_of_a_place_grows_and_settles() {
        let (one, two) = (repository("/1/r", 10, Some("h/r"), &[]), repository("/2/r", 20, Some("h/r"), &[]));
        let (_, told) = judge("r", &[claim("r", &one)], &two);
        assert_eq!(told[0].places, [one.evidence.clone(), two.evidence.clone()]);
        assert!(judge("r", &told, &one).1.is_empty() && judge("r", &told, &two).1.is_empty());
        let third = Fake { gone: vec!["/1"], ..repository("/3/r", 30, Some("h/r"), &[]) };
        assert_eq!(judge("r", &told, &third).1[0].places, [third.evidence.clone(), two.evidence.clone()]);
        // What git cannot say now, as it is not there, is not forgotten.
        let mute = repository("/1/r", 10, None, &[]);
        assert!(judge("r", &told, &mute).1.is_empty());
    }
}
