//! A series of blows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::aftermath::{check, settle};
use crate::blow::{Blow, HitCommand};
use crate::ledger::{ChaosLedger, LedgerLine};
use crate::stage::Stage;
use crate::strike::deal;
use crate::table::{story, table};
use crate::verdict::judge;

/// Seed of the blows.
const SEED: &str = "FLEETDRILL_CHAOS_SEED";

/// Words that a blow's command, target and fault need to have.
const ONLY: &str = "FLEETDRILL_CHAOS_ONLY";

/// Path of the ledger.
const LEDGER: &str = "FLEETDRILL_CHAOS_LEDGER";

/// Time limit for a command that nothing hits.
const UNDISTURBED_LIMIT: Duration = Duration::from_secs(240);

/// Name of the fleet and of the exercise.
pub const NAME: &str = "chaos";

/// Name of the feature's file in the working directory.
pub const FEATURE_FILE: &str = "chaos.feature";

/// Name of the bundle in the working directory.
pub const BUNDLE: &str = "bundle.tar.gz";

/// Feature of the runs: a healthy scenario, and one of a failure and its remedy.
pub const FEATURE: &str = r#"Feature: chaos

  Scenario: healthy
    Given a placement "web" has put its resources on "member-1"
    Then the diagnosis finds nothing

  Scenario: a change on the member
    Given a placement "web" selects "member-1" and applies with '{"whenToApply": "IfNotDrifted"}'
    And placement "web" becomes available on "member-1"
    When somebody changes the ConfigMap of placement "web" on "member-1"
    Then the diagnosis of placement "web" is KF-AP-004 for "member-1"
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToApply": "Always"}}}'
    Then placement "web" becomes available on "member-1"
"#;

/// Returns a command's arguments.
pub fn arguments(command: HitCommand) -> &'static [&'static str] {
    match command {
        HitCommand::Up => &["up", NAME, "--members", "1"],
        HitCommand::Run => &["run", FEATURE_FILE, "--members", "1", "--json", "run.json"],
        HitCommand::Upgrade => {
            &["upgrade", FEATURE_FILE, "--from", "v0.1.2", "--to", "v0.1.2", "--order", "hub-first", "--members", "1"]
        }
        HitCommand::Train => &["train", "start", "friday-release", "--name", NAME],
        HitCommand::Collect => &["collect", "--fleet", NAME, "--bundle", BUNDLE],
        HitCommand::Diagnose => &["diagnose", "--fleet", NAME],
        HitCommand::Down => &["down", NAME],
    }
}

/// Runs a series of as many blows, or the rest of it, and prints a line for each and the table.
pub fn run(kills: &str) -> Result<(), String> {
    let kills: u32 = kills.parse().map_err(|_| format!("KILLS={kills} is no number of blows"))?;
    let seed = std::env::var(SEED).unwrap_or_else(|_| "1".into());
    let seed: u64 = seed.parse().map_err(|_| format!("SEED={seed} is no seed: a whole number"))?;
    let only = std::env::var(ONLY).unwrap_or_default();
    let path = std::env::var(LEDGER).map_or_else(|_| default_ledger(seed), PathBuf::from);
    let mut ledger = ChaosLedger::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut lines = ledger.lines().map_err(|error| format!("{}: {error}", path.display()))?;
    let stage = Stage::new().map_err(|error| format!("the directories of the series: {error}"))?;
    std::fs::write(stage.work(FEATURE_FILE), FEATURE).map_err(|error| error.to_string())?;
    let mut series = Series { stage, undisturbed: BTreeMap::new(), is_up: false };
    for blow in todo(seed, kills, &only, &lines) {
        let line = series.deal(seed, blow)?;
        println!("{}", story(&line));
        ledger.add(&line).map_err(|error| format!("{}: {error}", path.display()))?;
        lines.push(line);
    }
    println!("{}\n{}", table(&lines), path.display());
    let wrong = lines.iter().filter(|line| !line.wrong.is_empty()).count();
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} of {} blows did harm", lines.len())) }
}

fn default_ledger(seed: u64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../report/chaos").join(format!("seed-{seed}.jsonl"))
}

/// Returns the blows of a series that its ledger doesn't have.
pub fn todo(seed: u64, kills: u32, only: &str, lines: &[LedgerLine]) -> Vec<Blow> {
    let is_done = |number: u32| lines.iter().any(|line| line.seed == seed && line.blow.number == number);
    let blows = (1..=kills).filter(|number| !is_done(*number)).map(|number| Blow::draw(seed, number));
    blows.filter(|blow| has_words(blow, only)).collect()
}

fn has_words(blow: &Blow, only: &str) -> bool {
    let words: [&str; 3] = [blow.command.into(), blow.target.into(), blow.fault.into()];
    only.split_whitespace().all(|word| words.contains(&word))
}

/// Series in progress.
struct Series {
    stage: Stage,
    /// Seconds that commands take without a blow.
    undisturbed: BTreeMap<HitCommand, f64>,
    /// True if the fleet is up and whole.
    is_up: bool,
}

impl Series {
    /// Deals a blow, and checks what becomes of it.
    fn deal(&mut self, seed: u64, blow: Blow) -> Result<LedgerLine, String> {
        let undisturbed = match self.undisturbed.get(&blow.command) {
            Some(seconds) => *seconds,
            None => self.measure(blow.command)?,
        };
        let mut wrong = self.prepare(blow.command);
        let dealt = deal(&self.stage, arguments(blow.command), &blow, undisturbed);
        wrong.extend(judge(&blow, &dealt));
        let aftermath = settle(&self.stage, &blow, &dealt);
        self.is_up = aftermath.fleet_is_whole;
        wrong.extend(aftermath.wrong);
        Ok(LedgerLine {
            seed,
            hit: dealt.hit,
            moment_ms: u64::try_from(dealt.moment.as_millis()).unwrap_or(u64::MAX),
            exit: dealt.ended.code,
            seconds: (dealt.ended.seconds * 1000.0).round() / 1000.0,
            wrong,
            blow,
        })
    }

    /// Measures how long a command takes without a blow.
    fn measure(&mut self, command: HitCommand) -> Result<f64, String> {
        let wrong = self.prepare(command);
        let ended = self.stage.run(arguments(command), UNDISTURBED_LIMIT);
        if ended.code != Some(0) || !wrong.is_empty() {
            return Err(format!("{command} fails without a blow: {}\n{}", wrong.join("; "), ended.stderr));
        }
        println!("{command} takes {:.1} s", ended.seconds);
        self.undisturbed.insert(command, ended.seconds);
        self.is_up = matches!(command, HitCommand::Up | HitCommand::Collect | HitCommand::Diagnose);
        if command == HitCommand::Train {
            self.stage.run(&["train", "stop", "--name", NAME], UNDISTURBED_LIMIT);
        }
        Ok(ended.seconds)
    }

    /// Starts the fleet that a command needs, or ends the one that it doesn't.
    fn prepare(&mut self, command: HitCommand) -> Vec<String> {
        let mut wrong = Vec::new();
        // A command that doesn't get as far leaves no bundle.
        let _ = std::fs::remove_file(self.stage.work(BUNDLE));
        let needs_fleet = matches!(command, HitCommand::Collect | HitCommand::Diagnose | HitCommand::Down);
        if needs_fleet != self.is_up {
            let next = if needs_fleet { HitCommand::Up } else { HitCommand::Down };
            let ended = self.stage.run(arguments(next), UNDISTURBED_LIMIT);
            check(&format!("{next} before it"), &ended, &[0], &mut wrong);
            self.is_up = needs_fleet;
        }
        wrong
    }
}
