//! What happens in a world, and how a schedule that breaks a law is made short.

use std::path::PathBuf;

use super::dice::Dice;
use super::world::World;

/// What happens next. Numbers choose among what is there, so that a step still means
/// something when steps before it are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    AgentAdds {
        layer: usize,
        private: bool,
    },
    AgentRewords {
        layer: usize,
        note: usize,
    },
    AgentWeighs {
        layer: usize,
        note: usize,
    },
    AgentArchives {
        layer: usize,
        note: usize,
    },
    /// A person opens the file.
    Opens {
        layer: usize,
    },
    /// The person edits what was opened, and saves it in one of several ways.
    Saves {
        layer: usize,
        edit: usize,
        way: usize,
    },
    /// A person edits the file as it is.
    Edits {
        layer: usize,
        edit: usize,
        way: usize,
    },
    /// A person cuts a note out of one file and puts it into another.
    Moves {
        from: usize,
        by: usize,
        note: usize,
    },
    /// A refiner reads the file and writes it back in its own way.
    Refines {
        layer: usize,
        seed: usize,
    },
    /// pi writes all it knows over the file.
    Exports {
        layer: usize,
        reads: bool,
    },
    Deletes {
        layer: usize,
    },
    /// A save that stops halfway.
    Truncates {
        layer: usize,
        at: usize,
    },
    /// `layers` is killed when it has made something durable for the n-th time.
    Crashes {
        layer: usize,
        command: usize,
        point: usize,
    },
    /// An agent, a person and a pass or two at the same time.
    Together {
        layer: usize,
        edit: usize,
        way: usize,
        processes: bool,
    },
    /// Git works in one of the work trees.
    Git {
        tree: usize,
        act: GitAct,
    },
    Syncs,
    Accepts,
}

/// What git is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GitAct {
    Commits,
    /// Checks a branch out; a new one where there is none.
    ChecksOut(usize),
    /// `reset --hard`, to HEAD or to the commit before.
    Resets(usize),
    Stashes,
    Unstashes,
    Merges(usize),
    Rebases(usize),
    /// Picks the newest commit of a branch.
    Picks(usize),
    /// Ends a merge, a rebase or a pick that is under way.
    Aborts,
    Resolves,
}

impl Step {
    fn random(dice: &mut Dice, in_git: bool) -> Self {
        // Of as many layers as any world has.
        let layer = dice.below(12);
        if in_git && dice.below(3) == 0 {
            return Self::Git { tree: dice.below(2), act: GitAct::random(dice) };
        }
        match dice.below(120) {
            0..=17 => Self::AgentAdds { layer, private: dice.below(3) == 0 },
            18..=29 => Self::AgentRewords { layer, note: dice.below(8) },
            30..=35 => Self::AgentWeighs { layer, note: dice.below(8) },
            36..=38 => Self::AgentArchives { layer, note: dice.below(8) },
            39..=47 => Self::Opens { layer },
            48..=62 => Self::Saves { layer, edit: dice.below(32), way: dice.below(3) },
            63..=77 => Self::Edits { layer, edit: dice.below(32), way: dice.below(3) },
            78..=83 => Self::Moves { from: layer, by: dice.below(2), note: dice.below(8) },
            84..=89 => Self::Refines { layer, seed: dice.below(1000) },
            90..=93 => Self::Exports { layer, reads: dice.below(2) == 0 },
            94..=96 => Self::Deletes { layer },
            97..=99 => Self::Truncates { layer, at: dice.below(1000) },
            100..=101 => Self::Crashes { layer, command: dice.below(4), point: 1 + dice.below(12) },
            102..=103 => Self::Together {
                layer,
                edit: dice.below(32),
                way: dice.below(3),
                processes: dice.below(4) == 0,
            },
            104..=106 => Self::Accepts,
            _ => Self::Syncs,
        }
    }

    /// Whether threads or processes race in it, so that it may end otherwise next time.
    const fn is_race(self) -> bool {
        matches!(self, Self::Together { .. })
    }
}

impl GitAct {
    fn random(dice: &mut Dice) -> Self {
        match dice.below(20) {
            0..=5 => Self::Commits,
            6..=10 => Self::ChecksOut(dice.below(3)),
            11 => Self::Resets(dice.below(2)),
            12 => Self::Stashes,
            13 => Self::Unstashes,
            14..=15 => Self::Merges(dice.below(3)),
            16 => Self::Rebases(dice.below(3)),
            17 => Self::Picks(dice.below(3)),
            18 => Self::Aborts,
            _ => Self::Resolves,
        }
    }
}

/// What a run may use beside the library.
#[derive(Clone, Debug, Default)]
pub(crate) struct Means {
    /// A debug build of `layers`, which can be killed at a chosen point. Without it a crash
    /// is: the files are written, and the store does not know.
    pub(crate) layers: Option<PathBuf>,
}

/// A world's beginning and what happens in it.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) bullets: bool,
    pub(crate) notes: usize,
    /// With repo layers, in two work trees of one repository.
    pub(crate) in_git: bool,
    pub(crate) steps: Vec<Step>,
}

/// One schedule in so many has a repository: each of its steps starts git several times.
const ONE_IN_GIT: usize = 30;

/// How often a schedule with a race is tried before it counts as sound.
const TRIES: usize = 20;

impl Schedule {
    pub(crate) fn random(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let bullets = dice.below(2) == 1;
        let notes = dice.below(5);
        let count = 4 + dice.below(9);
        let in_git = dice.below(ONE_IN_GIT) == 0;
        Self { bullets, notes, in_git, steps: (0..count).map(|_| Step::random(&mut dice, in_git)).collect() }
    }

    /// Runs it; the first broken law, in words.
    pub(crate) fn run(&self, means: &Means) -> Result<(), String> {
        let mut world = World::new(self, means);
        for (number, step) in self.steps.iter().enumerate() {
            if let Err(law) = world.step(*step) {
                return Err(format!("step {} {step:?}: {law}\n{}", number + 1, world.told()));
            }
        }
        world.end().map_err(|law| format!("at the end: {law}\n{}", world.told()))
    }

    /// The shortest schedule that still fails, found by leaving out steps.
    #[allow(dead_code, reason = "the example shortens, the test only runs")]
    pub(crate) fn shrunk(mut self, means: &Means) -> Self {
        let simpler = [Self { notes: 0, ..self.clone() }, Self { in_git: false, ..self.clone() }];
        for simpler in simpler {
            if simpler.fails(means) {
                self = simpler;
            }
        }
        // Once more after it became shorter: what a step needed may be gone.
        for _ in 0..2 {
            for at in (0..self.steps.len()).rev() {
                let mut shorter = self.clone();
                shorter.steps.remove(at);
                if shorter.fails(means) {
                    self = shorter;
                }
            }
        }
        self
    }

    #[allow(dead_code, reason = "as above")]
    fn fails(&self, means: &Means) -> bool {
        let tries = if self.steps.iter().any(|step| step.is_race()) { TRIES } else { 1 };
        (0..tries).any(|_| self.run(means).is_err())
    }
}
