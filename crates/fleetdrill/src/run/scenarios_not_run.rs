//! Scenarios of a suite that a run leaves out, and why: the fleet can't run them, or nobody asked for them.

use clusters::ability::ProviderAbility;
use fleet::capability::Capabilities;
use record::{Outcome, ScenarioRecord};

use super::cucumber_writer::key;
use super::scenario_runner::not_run;
use crate::abilities;
use crate::error::CommandError;
use crate::fleet_source::FleetProfile;
use crate::fleet_source::options::MOST_MEMBERS;
use crate::selection::ScenarioSelection;
use crate::suite::{self, Suite};

/// Removes from a suite the scenarios that don't apply to a version, to real time, or to a fleet that isn't upgraded.
/// Returns their records with the reason.
pub fn left_out(
    suite: &mut Suite,
    version: &str,
    can: &Capabilities,
    real_time: bool,
    upgraded: bool,
) -> Vec<ScenarioRecord> {
    let off = suite.part_off(can);
    let mut records = Vec::new();
    for (feature, scenario) in off.scenarios() {
        let needed = suite::needed(feature, scenario).unwrap_or_default();
        records.push(not_run(feature, scenario, &format!("needs {needed}; this fleet runs {version}")));
    }
    if !upgraded {
        let off = suite.part_off_upgrades();
        let why = "the fleet is upgraded in it: `fleetdrill upgrade` runs it (tag @upgrade)";
        records.extend(all_not_run(&off, why));
    }
    if real_time {
        let off = suite.part_off_fast_forward();
        let why = "it takes too long in real time (tag @fast-forward)";
        records.extend(all_not_run(&off, why));
    }
    records
}

/// Removes from a suite the scenarios with hundreds of members, unless the selection names their tag. Returns their records with
/// the reason.
pub fn left_out_of_scale(suite: &mut Suite, selection: &ScenarioSelection<'_>) -> Vec<ScenarioRecord> {
    if selection.tags.is_some_and(|tags| tags.contains("@scale")) {
        return Vec::new();
    }
    let why = "it takes minutes and the whole machine: `fleetdrill run --tags @scale` runs it";
    all_not_run(&suite.part_off_scale(), why)
}

/// Removes from a suite the scenarios whose failure codes other scenarios show, those that show no code and aren't healthy, and of the
/// healthy ones those that start a fleet of their own, which costs more than ten others, and all but the cheapest of a file. Returns
/// their records with the reason.
pub fn left_out_of_codes(suite: &mut Suite, real_time: bool) -> Vec<ScenarioRecord> {
    let off = suite.part_off_repeated_codes(real_time);
    let mut records = all_not_run(&off, "other scenarios show its failure codes (--one-per-code)");
    let off =
        suite.part(|feature, scenario| suite::has_code(feature, scenario) || suite::is_healthy(feature, scenario));
    records.extend(all_not_run(&off, "it shows no failure code, and has no tag @healthy (--one-per-code)"));
    let off = suite
        .part(|feature, scenario| suite::has_code(feature, scenario) || !abilities::has_own_fleet(feature, scenario));
    records.extend(all_not_run(&off, "it shows no failure code, and starts a fleet of its own (--one-per-code)"));
    let why = "it shows no failure code, and a cheaper healthy scenario of its file is run (--one-per-code)";
    records.extend(all_not_run(&suite.part_off_repeated_files(real_time), why));
    records
}

/// Returns the records of scenarios that aren't run, all for one reason.
fn all_not_run(off: &Suite, why: &str) -> Vec<ScenarioRecord> {
    off.scenarios().map(|(feature, scenario)| not_run(feature, scenario, why)).collect()
}

/// Takes out of a suite what a fleet's provider, or its number of members, won't do for, and says why.
pub fn out_of_reach(suite: &mut Suite, fleet: &dyn FleetProfile) -> Vec<ScenarioRecord> {
    let off = suite.part(|feature, scenario| obstacle(fleet, feature, scenario).is_none());
    let scenarios = off.scenarios();
    scenarios
        .filter_map(|(feature, scenario)| Some(not_run(feature, scenario, &obstacle(fleet, feature, scenario)?)))
        .collect()
}

/// Returns why a fleet can't run a scenario, if it can't.
fn obstacle(fleet: &dyn FleetProfile, feature: &gherkin::Feature, scenario: &gherkin::Scenario) -> Option<String> {
    let is_built = |ability| ability != ProviderAbility::ServeSsh || cfg!(feature = "ssh");
    if let Some(ability) = abilities::lacking(feature, scenario, is_built) {
        return Some(format!("this build of fleetdrill can't {ability} (feature ssh)"));
    }
    if let Some(ability) = abilities::lacking(feature, scenario, |ability| fleet.can(ability)) {
        return Some(format!("provider {} can't {ability}", fleet.provider()));
    }
    // Pods don't reach this machine's loopback, and their files can't be changed.
    let works_with_pods = |ability| !matches!(ability, ProviderAbility::RunArgoCdHere | ProviderAbility::ServeSsh);
    if fleet.has_argocd_in_pods()
        && let Some(ability) = abilities::lacking(feature, scenario, works_with_pods)
    {
        return Some(format!("Argo CD runs in Pods here, so fleetdrill can't {ability} (--argocd-manifests)"));
    }
    let (needed, there) = (abilities::members(feature, scenario), fleet.members());
    (needed > there).then(|| format!("needs {needed} members; this fleet has {there}"))
}

/// Checks that a fleet which is made for the run has all members that scenarios speak of.
///
/// # Errors
/// Returns an error if a scenario speaks of more.
pub fn check_members(suite: &Suite, members: usize) -> Result<(), CommandError> {
    let needed =
        suite.scenarios().map(|(feature, scenario)| (abilities::members(feature, scenario), feature, scenario));
    let Some((needed, feature, scenario)) = needed.max_by_key(|(needed, ..)| *needed) else { return Ok(()) };
    if needed <= members {
        return Ok(());
    }
    let (file, line) = key(feature, scenario);
    let hint = if needed <= usize::from(MOST_MEMBERS) {
        format!("give the fleet more: --members {needed}")
    } else {
        format!("a fleet has {MOST_MEMBERS} members at most")
    };
    Err(CommandError::usage(
        format!("{file}:{line} speaks of member-{needed}, and the fleet gets {members} members"),
        Some(&hint),
    ))
}

/// Returns records of the scenarios of a run whose fleet didn't start. A CI system that reads the reports must not take their
/// absence for success.
#[must_use]
pub fn not_started(suite: &Suite, error: &CommandError) -> Vec<ScenarioRecord> {
    let reason = format!("the fleet didn't start: {error}");
    let mut records = Vec::new();
    for (feature, scenario) in suite.scenarios() {
        records.push(ScenarioRecord { outcome: Outcome::Interrupted, ..not_run(feature, scenario, &reason) });
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_scenario_of_each_code_stays_and_a_healthy_one_of_each_file() {
        let text = "Feature: mine
  @KF-WS-001
  Scenario: a code
    Given a member \"east\" of its own
  @KF-WS-001
  Scenario: the same code
    Given a member \"east\" of its own
  @healthy
  Scenario: healthy
    Given a member \"east\" of its own
  @healthy
  Scenario: healthy on a fleet of its own
    Given a fleet of its own with 1 member
  Scenario: a statement of a guide
    Given a member \"east\" of its own
  @healthy @takes-90s
  Scenario: healthy for long
    Given a member \"east\" of its own
";
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("mine.feature");
        std::fs::write(&path, text).expect("written");
        let selection = ScenarioSelection { select: &[path.display().to_string()], ..ScenarioSelection::default() };
        let mut suite = Suite::load(&selection).expect("a suite");
        let mut off: Vec<String> = left_out_of_codes(&mut suite, false).into_iter().map(|s| s.scenario).collect();
        off.sort();
        assert_eq!(
            off,
            ["a statement of a guide", "healthy for long", "healthy on a fleet of its own", "the same code"]
        );
    }
}
