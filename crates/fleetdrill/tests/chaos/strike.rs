//! Deals a blow to a command that runs.

use std::time::Duration;

use rustix::process::Signal;

use crate::blow::{Blow, Fault, Moment, Target};
use crate::proc;
use crate::processes::{SUPERVISOR, of_fleets};
use crate::stage::{EndedCommand, LOOK, RunningCommand, Stage};

/// Time limit for a command, from its start. Fleets have limits of two minutes themselves.
const LIMIT: Duration = Duration::from_secs(240);

/// Time after which a command that was stopped is killed.
const STOPPED: Duration = Duration::from_secs(3);

/// Blow that has been dealt.
#[derive(Clone, Debug, Default)]
pub struct DealtBlow {
    /// Process that was hit, or `disk`; none if the command had ended before.
    pub hit: Option<String>,
    /// Time from the command's start to the blow.
    pub moment: Duration,
    /// The command, after its end.
    pub ended: EndedCommand,
}

/// Runs a command and hits it. `undisturbed` is the time that the command takes without a blow.
pub fn deal(stage: &Stage, args: &[&str], blow: &Blow, undisturbed: f64) -> DealtBlow {
    let mut running = stage.start(args);
    let due = match blow.moment {
        Moment::Part(part) => Duration::from_secs_f64(undisturbed * part),
        Moment::Seen => Duration::ZERO,
    };
    let mut dealt = DealtBlow::default();
    while !running.has_ended() {
        if running.elapsed() >= due
            && let Some((name, id)) = target(stage, blow, &running)
        {
            dealt.moment = running.elapsed();
            dealt.hit = Some(name);
            hit(stage, blow, id);
            break;
        }
        std::thread::sleep(LOOK);
    }
    dealt.ended = running.end(LIMIT);
    stage.free();
    dealt
}

/// Finds what is hit: its name, and its process if it is one.
fn target(stage: &Stage, blow: &Blow, running: &RunningCommand) -> Option<(String, Option<u32>)> {
    let state = stage.state();
    match blow.target {
        Target::Harness => Some(("fleetdrill".into(), Some(running.id()))),
        Target::Disk => {
            let is_seen = blow.moment != Moment::Seen || !of_fleets(&state).is_empty();
            is_seen.then(|| ("disk".into(), None))
        }
        Target::Keeper => {
            let found = of_fleets(&state).into_iter().find(|process| process.name == SUPERVISOR)?;
            Some((found.name, Some(found.id)))
        }
        Target::Component => {
            let mut found = of_fleets(&state);
            found.retain(|process| process.name != SUPERVISOR);
            let chosen = found.get(blow.choice as usize % found.len().max(1))?;
            Some((chosen.name.clone(), Some(chosen.id)))
        }
    }
}

fn hit(stage: &Stage, blow: &Blow, id: Option<u32>) {
    let signal = match blow.fault {
        Fault::Kill => Signal::KILL,
        Fault::Terminate => Signal::TERM,
        Fault::Interrupt => Signal::INT,
        Fault::HangUp => Signal::HUP,
        Fault::Pause | Fault::Stop => Signal::STOP,
        Fault::Fill => return stage.fill(),
    };
    let Some(id) = id else { return };
    proc::kill(id, signal);
    if blow.fault == Fault::Pause {
        later(id, Signal::CONT, Duration::from_secs(blow.pause.into()));
    } else if blow.fault == Fault::Stop && blow.target == Target::Harness {
        later(id, Signal::KILL, STOPPED);
    }
}

/// Sends a signal to a process after some time.
fn later(id: u32, signal: Signal, after: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(after);
        proc::kill(id, signal);
    });
}
