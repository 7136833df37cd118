//! Whether a work tree is one that was trusted: what is known of those, held against what is
//! there now. Pure.

use super::{Evidence, Here, Trusted};
use crate::identity::evidence::Landmark;
use crate::workspace::{Distrust, Grant, Trust};

/// Says whether a work tree is trusted. It is if it is the folder that was meant, of the same
/// repository, or another one that this repository knows as its own.
pub fn judge(trusted: &[Trusted], here: &Here) -> Trust {
    let is_meant = |one: &Evidence| {
        is_folder(&one.repository, &here.evidence.repository)
            && (here.is_acknowledged || is_folder(&one.tree, &here.evidence.tree))
    };
    if let Some(one) = trusted.iter().find(|one| is_meant(&one.evidence)) {
        return Trust::Granted(Grant { id: one.id, is_pinned: one.is_pinned });
    }
    let is_there = |one: &Evidence| {
        one.tree.path == here.evidence.tree.path || one.repository.path == here.evidence.repository.path
    };
    let is_replaced = trusted.iter().any(|one| is_there(&one.evidence));
    Trust::Untrusted(if is_replaced { Distrust::Replaced } else { Distrust::Never })
}

/// Whether a folder is the one that was meant, wherever it is now. Where the file system does
/// not say when a folder was made, its number may be another's by now, so the path counts too.
fn is_folder(meant: &Landmark, now: &Landmark) -> bool {
    let (Some(old), Some(new)) = (&meant.witness, &now.witness) else { return false };
    let is_born = old.born.is_some() && new.born.is_some();
    old.is(new) && (is_born || meant.path == now.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::evidence::Witness;

    fn folder(path: &str, inode: u64, born: Option<i64>) -> Landmark {
        Landmark { path: path.into(), witness: Some(Witness { device: 1, inode, born }) }
    }

    fn evidence(path: &str, inode: u64, born: Option<i64>) -> Evidence {
        let repository = folder(&format!("{path}/.git"), inode + 1, born);
        Evidence { tree: folder(path, inode, born), repository }
    }

    fn at(evidence: Evidence) -> Here {
        Here { evidence, is_acknowledged: true }
    }

    fn trusted(evidence: Evidence) -> [Trusted; 1] {
        [Trusted { id: 1, evidence, is_pinned: false, at: 0 }]
    }

    fn why(known: &Evidence, here: &Here) -> Option<Distrust> {
        match judge(&trusted(known.clone()), here) {
            Trust::Untrusted(why) => Some(why),
            Trust::Own | Trust::Granted(_) => None,
        }
    }

    #[test]
    fn the_same_repository_wherever_it_is() {
        let known = evidence("/x/app", 10, Some(7));
        assert_eq!(why(&known, &at(known.clone())), None);
        assert_eq!(why(&known, &at(evidence("/y/app", 10, Some(7)))), None, "moved");
        let linked = Evidence { tree: folder("/y/feat", 50, Some(9)), ..known.clone() };
        assert_eq!(why(&known, &at(linked)), None, "a linked work tree");
    }

    #[test]
    fn another_repository() {
        let known = evidence("/x/app", 10, Some(7));
        assert_eq!(why(&known, &at(evidence("/y/app", 20, Some(7)))), Some(Distrust::Never), "a copy");
        let replaced = Some(Distrust::Replaced);
        assert_eq!(why(&known, &at(evidence("/x/app", 10, Some(8)))), replaced, "put there later");
        assert_eq!(why(&known, &at(evidence("/x/app", 30, Some(7)))), replaced);
        let unseen = Landmark { path: "/x/app/.git".into(), witness: None };
        let unseen = Evidence { repository: unseen, ..known.clone() };
        assert_eq!(why(&unseen, &at(unseen.clone())), replaced, "nothing to tell it by");
    }

    /// Whoever makes a folder can say in it that it belongs to any repository.
    #[test]
    fn a_folder_that_only_says_so_itself() {
        let known = evidence("/x/app", 10, Some(7));
        let stranger = Evidence { tree: folder("/z/evil", 90, Some(7)), ..known.clone() };
        let here = Here { evidence: stranger, is_acknowledged: false };
        assert_eq!(why(&known, &here), Some(Distrust::Replaced));
        let here = Here { evidence: known.clone(), is_acknowledged: false };
        assert_eq!(why(&known, &here), None, "the very folder that was meant, as of a submodule");
    }

    #[test]
    fn without_a_birth_the_path_counts() {
        let known = evidence("/x/app", 10, None);
        assert_eq!(why(&known, &at(known.clone())), None);
        assert_eq!(why(&known, &at(evidence("/y/app", 10, None))), Some(Distrust::Never));
    }
}
