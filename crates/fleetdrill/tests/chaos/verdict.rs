//! Judges how a command ended after a blow: its exit code, and whether its messages name what happened.

use regex::Regex;
use rustix::process::Signal;

use crate::blow::{Blow, Fault, HitCommand, Target};
use crate::stage::EndedCommand;
use crate::strike::DealtBlow;

/// Time in which a command that is about to end may end without having noticed a blow.
const UNNOTICED: f64 = 2.0;

/// Time after a command's start in which it can't catch signals yet, and has made nothing.
const STARTING: f64 = 0.5;

/// Ways in which a command may end.
struct Allowed {
    codes: &'static [i32],
    signals: &'static [Signal],
    /// Words of which one has to be on stderr if the command ends with another code than 0.
    words: Vec<String>,
}

/// Returns what is wrong with the end of a command.
pub fn judge(blow: &Blow, dealt: &DealtBlow) -> Vec<String> {
    let ended = &dealt.ended;
    if ended.hung {
        return vec![format!("didn't end within {:.0} s: {}", ended.seconds, tail(&ended.stderr))];
    }
    let mut wrong = debug_text(ended);
    let reaction = ended.seconds - dealt.moment.as_secs_f64();
    let allowed = allowed(blow, dealt, reaction);
    let is_allowed = match (ended.code, ended.signal) {
        (Some(code), _) => allowed.codes.contains(&code),
        (None, Some(signal)) => allowed.signals.iter().any(|allowed| allowed.as_raw() == signal),
        (None, None) => false,
    };
    if !is_allowed {
        let how = ended.code.map_or_else(|| format!("by signal {:?}", ended.signal), |code| format!("with {code}"));
        wrong.push(format!("ended {how}, not with {:?}: {}", allowed.codes, tail(&ended.stderr)));
    }
    let is_named = allowed.words.is_empty() || allowed.words.iter().any(|word| ended.stderr.contains(word.as_str()));
    if ended.code.is_some_and(|code| code != 0) && !is_named {
        wrong.push(format!("names none of {:?}: {}", allowed.words, tail(&ended.stderr)));
    }
    wrong
}

fn allowed(blow: &Blow, dealt: &DealtBlow, reaction: f64) -> Allowed {
    let ends = |codes, signals| Allowed { codes, signals, words: Vec::new() };
    let named = |codes, words: &[&str]| Allowed {
        codes,
        signals: &[],
        words: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let Some(hit) = &dealt.hit else { return ends(&[0], &[]) };
    let is_late = reaction < UNNOTICED;
    let is_starting = dealt.moment.as_secs_f64() < STARTING;
    let reads = matches!(blow.command, HitCommand::Collect | HitCommand::Diagnose);
    match (blow.target, blow.fault) {
        (_, Fault::Pause) => ends(&[0], &[]),
        (Target::Harness, Fault::Kill | Fault::Stop) => ends(&[], &[Signal::KILL]),
        // Under `nohup`, a command goes on.
        (Target::Harness, Fault::HangUp) => ends(&[0], &[Signal::HUP]),
        (Target::Harness, _) => {
            let codes: &[i32] = if is_late { &[130, 0] } else { &[130] };
            let signals: &[Signal] = if is_starting { &[Signal::INT, Signal::TERM] } else { &[] };
            Allowed { codes, signals, words: vec!["interrupted".into()] }
        }
        (Target::Disk, _) => named(&[0, 3], &["disk is full", "No space left", "no space left"]),
        // A fleet that ends may lose its processes and its supervisor.
        (_, _) if blow.command == HitCommand::Down => ends(&[0], &[]),
        (Target::Keeper, _) if reads => named(&[0, 3], &["supervisor", "couldn't be read", "hub"]),
        // A command that asks the supervisor nothing more isn't concerned, and ends the fleet in the end.
        (Target::Keeper, Fault::Stop) => named(&[0, 3], &["supervisor"]),
        (Target::Keeper, _) => named(if is_late { &[3, 0] } else { &[3] }, &["supervisor"]),
        (Target::Component, _) if reads => named(&[0, 1, 3, 4], &[hit.as_str(), cluster(hit)]),
        // Nobody waits for a process that is stopped, unless somebody asks it something.
        (Target::Component, Fault::Stop) => named(&[0, 3], &[hit.as_str()]),
        (Target::Component, _) => named(if is_late { &[3, 0] } else { &[3] }, &[hit.as_str()]),
    }
}

/// Returns the cluster of a process: with `etcd`, it is the hub that is asked first.
fn cluster(process: &str) -> &str {
    if process.starts_with("member-1") { "member-1" } else { "hub" }
}

/// Finds what only a programmer can read.
pub fn debug_text(ended: &EndedCommand) -> Vec<String> {
    let pattern =
        Regex::new(r"panicked at|RUST_BACKTRACE|\b(Some|Err|Ok)\(|\bOs \{|[A-Z]\w+ \{ \w+: ").expect("a pattern");
    let found = pattern.find(&ended.stderr).or_else(|| pattern.find(&ended.stdout));
    found.map(|found| format!("Rust's debug text `{}`: {}", found.as_str(), tail(&ended.stderr))).into_iter().collect()
}

/// Returns the end of a text in one line.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(12)..].join(" | ")
}
