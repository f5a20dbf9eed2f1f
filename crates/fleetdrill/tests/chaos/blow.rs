//! Blows, drawn from a seed: which command is hit, what of it, how, and when.

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr};

/// Command that a blow hits.
#[derive(Clone, Copy, Debug, Display, IntoStaticStr, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum HitCommand {
    /// Starts a fleet that stays.
    Up,
    /// Runs scenarios on a fleet of its own.
    Run,
    /// Upgrades a fleet of its own under a scenario.
    Upgrade,
    /// Starts an exercise.
    Train,
    /// Collects a bundle of a fleet that is up.
    Collect,
    /// Diagnoses a fleet that is up.
    Diagnose,
    /// Ends a fleet that is up.
    Down,
}

/// What a blow hits.
#[derive(Clone, Copy, Debug, Display, IntoStaticStr, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Target {
    /// The command itself.
    Harness,
    /// The fleet's supervisor.
    Keeper,
    /// A process of the fleet, such as etcd.
    Component,
    /// The file system of the state directory.
    Disk,
}

/// How a blow hits its target.
#[derive(Clone, Copy, Debug, Display, IntoStaticStr, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Fault {
    /// SIGKILL.
    Kill,
    /// SIGSTOP; a command that is stopped is killed some seconds later.
    Stop,
    /// SIGSTOP, and SIGCONT some seconds later.
    Pause,
    /// SIGTERM.
    Terminate,
    /// SIGINT, as Ctrl-C.
    Interrupt,
    /// SIGHUP, as the end of a terminal.
    HangUp,
    /// No space is left, until the command has ended.
    Fill,
}

/// When a blow falls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Part of the time that the command takes undisturbed, from 0 to 1.
    Part(f64),
    /// As soon as the target exists.
    Seen,
}

/// Blow as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Blow {
    /// Number of the blow, from 1.
    pub number: u32,
    /// Command.
    pub command: HitCommand,
    /// Target.
    pub target: Target,
    /// Fault.
    pub fault: Fault,
    /// Moment.
    pub moment: Moment,
    /// Chooses one of the components that run at that moment.
    pub choice: u32,
    /// Seconds until a paused process goes on.
    pub pause: u32,
}

/// Commands with their weights.
const COMMANDS: &[(HitCommand, u32)] = &[
    (HitCommand::Up, 5),
    (HitCommand::Run, 5),
    (HitCommand::Upgrade, 3),
    (HitCommand::Train, 4),
    (HitCommand::Collect, 3),
    (HitCommand::Diagnose, 1),
    (HitCommand::Down, 2),
];

/// Targets with their weights.
const TARGETS: &[(Target, u32)] =
    &[(Target::Harness, 6), (Target::Keeper, 4), (Target::Component, 6), (Target::Disk, 2)];

/// Greatest number of seconds for which a process is paused.
const LONGEST_PAUSE: u32 = 4;

impl Target {
    /// Faults of the target with their weights.
    fn faults(self) -> &'static [(Fault, u32)] {
        match self {
            Self::Harness => &[
                (Fault::Kill, 4),
                (Fault::Interrupt, 3),
                (Fault::Terminate, 2),
                (Fault::Pause, 2),
                (Fault::Stop, 1),
                (Fault::HangUp, 1),
            ],
            Self::Keeper => &[(Fault::Kill, 3), (Fault::Stop, 2), (Fault::Pause, 1), (Fault::Terminate, 1)],
            Self::Component => &[(Fault::Kill, 5), (Fault::Pause, 2), (Fault::Stop, 1)],
            Self::Disk => &[(Fault::Fill, 1)],
        }
    }
}

impl Blow {
    /// Draws the blow of a number. It depends on the seed and the number alone.
    pub fn draw(seed: u64, number: u32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number.into());
        let target = weighted(TARGETS, &mut rng);
        let part = f64::from(rng.random_range(0..1000_u32)) / 1000.0;
        let is_seen = rng.random_range(0..4_u32) == 0;
        Self {
            number,
            command: weighted(COMMANDS, &mut rng),
            target,
            fault: weighted(target.faults(), &mut rng),
            moment: if is_seen { Moment::Seen } else { Moment::Part(part) },
            choice: rng.random_range(0..1000),
            pause: rng.random_range(1..=LONGEST_PAUSE),
        }
    }
}

fn weighted<T: Copy>(of: &[(T, u32)], rng: &mut ChaCha8Rng) -> T {
    of.choose_weighted(rng, |(_, weight)| *weight).expect("weights").0
}
