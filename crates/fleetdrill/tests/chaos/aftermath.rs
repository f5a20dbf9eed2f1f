//! Looks at what is there after a blow, and whether the next commands work.

use std::time::Duration;

use crate::blow::{Blow, Fault, HitCommand, Target};
use crate::series::BUNDLE;
use crate::stage::{EndedCommand, Stage};
use crate::strike::DealtBlow;
use crate::verdict::{debug_text, tail};

/// Time limit for what ends by itself after a command.
const SETTLING: Duration = Duration::from_secs(20);

/// Time limit for a command that only looks.
const LOOK_LIMIT: Duration = Duration::from_secs(45);

/// Time limit for a command that ends fleets.
const DOWN_LIMIT: Duration = Duration::from_secs(90);

/// State in which a blow leaves the stage.
pub struct Aftermath {
    /// What is wrong.
    pub wrong: Vec<String>,
    /// True if the fleet that is up wasn't hurt, and the next blow may use it.
    pub fleet_is_whole: bool,
}

/// Checks what is left after a blow, runs the next commands, and leaves an empty stage or a whole fleet.
pub fn settle(stage: &Stage, blow: &Blow, dealt: &DealtBlow) -> Aftermath {
    let mut wrong = Vec::new();
    let fleet_stays = match blow.command {
        HitCommand::Up | HitCommand::Train => dealt.ended.code == Some(0),
        HitCommand::Collect | HitCommand::Diagnose => true,
        HitCommand::Run | HitCommand::Upgrade | HitCommand::Down => false,
    };
    // A command that was killed can end nothing itself, and a fleet that was told to stay, stays.
    let was_killed = dealt.ended.code.is_none();
    let may_stay = was_killed && matches!(blow.command, HitCommand::Up | HitCommand::Train | HitCommand::Down);
    let left = if fleet_stays { Vec::new() } else { stage.soon_left(SETTLING) };
    if !left.is_empty() && !may_stay {
        wrong.push(format!("left behind: {}", left.join(", ")));
    }
    let status = stage.run(&["status"], LOOK_LIMIT);
    let hurt = dealt.hit.is_some() && blow.fault != Fault::Pause && blow.target != Target::Harness;
    let codes: &[i32] = if hurt { &[0, 3] } else { &[0] };
    check("status", &status, codes, &mut wrong);
    if may_stay && !left.is_empty() && status.stdout.contains("starting") {
        wrong.push(format!("a fleet that nobody starts is left: {}", tail(&status.stdout)));
    }
    // A bundle that is there is a whole one.
    if stage.work(BUNDLE).exists() {
        let read = stage.run(&["diagnose", "--from", BUNDLE], LOOK_LIMIT);
        // One of a hub that didn't answer is whole, and says so.
        let codes: &[i32] = if read.stderr.contains("the hub couldn't be read") { &[2] } else { &[0, 1, 4] };
        check("diagnose --from", &read, codes, &mut wrong);
    }
    let fleet_is_whole =
        matches!(blow.command, HitCommand::Collect | HitCommand::Diagnose) && !hurt && wrong.is_empty();
    if !fleet_is_whole {
        end_all(stage, blow, dealt, &mut wrong);
    }
    Aftermath { wrong, fleet_is_whole }
}

/// Ends everything as a person does.
fn end_all(stage: &Stage, blow: &Blow, dealt: &DealtBlow, wrong: &mut Vec<String>) {
    if blow.command == HitCommand::Train {
        let stop = stage.run(&["train", "stop", "--name", "chaos"], DOWN_LIMIT);
        // Without an exercise there is nothing to stop.
        let codes: &[i32] = if dealt.ended.code == Some(0) { &[0] } else { &[0, 2] };
        check("train stop", &stop, codes, wrong);
    }
    check("down --all", &stage.run(&["down", "--all"], DOWN_LIMIT), &[0], wrong);
    let left = stage.soon_left(SETTLING);
    if !left.is_empty() {
        wrong.push(format!("left behind after `down --all`: {}", left.join(", ")));
    }
    stage.reset();
}

/// Checks a command that follows a blow.
pub fn check(name: &str, ended: &EndedCommand, codes: &[i32], wrong: &mut Vec<String>) {
    if ended.hung {
        wrong.push(format!("`{name}` didn't end within {:.0} s: {}", ended.seconds, tail(&ended.stderr)));
    } else if !ended.code.is_some_and(|code| codes.contains(&code)) {
        wrong.push(format!("`{name}` ended with {:?}, not with {codes:?}: {}", ended.code, tail(&ended.stderr)));
    }
    wrong.extend(debug_text(ended).into_iter().map(|text| format!("`{name}`: {text}")));
}
