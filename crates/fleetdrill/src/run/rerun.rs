//! Scenarios of a suite that failed in earlier runs (`--rerun`).

use std::collections::HashSet;

use record::RunRecord;

use crate::error::CommandError;
use crate::suite::{self, Suite};

/// Keeps the scenarios that failed or were interrupted in earlier runs, and those that a false alarm was about. A scenario is known by
/// its file and name, because lines move.
///
/// # Errors
/// Returns an error if no scenario failed, or the suite has none of those that did.
pub fn keep_failed(suite: &mut Suite, runs: &[RunRecord]) -> Result<(), CommandError> {
    let mut failed = HashSet::<(&str, &str)>::new();
    for run in runs {
        let scenarios = run.scenarios.iter().filter(|s| s.outcome.is_failure());
        failed.extend(scenarios.map(|scenario| (scenario.file.as_str(), scenario.scenario.as_str())));
        let alarms = run.false_alarms().iter().filter_map(|alarm| alarm.scenario.as_ref());
        failed.extend(alarms.map(|name| (name.file.as_str(), name.scenario.as_str())));
    }
    if failed.is_empty() {
        let hint = "leave out --rerun to run all scenarios";
        return Err(CommandError::usage("no scenario failed in the runs of --rerun".to_owned(), Some(hint)));
    }
    suite.part(|feature, scenario| failed.contains(&(suite::file(feature).as_str(), scenario.name.as_str())));
    if suite.scenarios().next().is_none() {
        let names: Vec<String> = failed.iter().map(|(file, name)| format!("\"{name}\" ({file})")).collect();
        let message = format!("none of the selected scenarios failed in the runs of --rerun: {}", names.join(", "));
        return Err(CommandError::usage(message, Some("select them by the same features and tags as then")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use record::Outcome;
    use report::run::fixture;

    use super::*;
    use crate::selection::ScenarioSelection;

    /// Record of the first two scenarios of the built-in suite: the first passed, the second had this outcome.
    fn run(outcome: Outcome) -> RunRecord {
        let suite = Suite::load(&ScenarioSelection::default()).unwrap();
        let mut record = fixture::run();
        record.scenarios.truncate(2);
        for ((feature, scenario), was) in suite.scenarios().zip(&mut record.scenarios) {
            was.file = suite::file(feature);
            was.scenario.clone_from(&scenario.name);
        }
        record.scenarios[0].outcome = Outcome::Passed;
        record.scenarios[1].outcome = outcome;
        record
    }

    #[test]
    fn those_that_failed_stay() {
        for outcome in [Outcome::Failed, Outcome::Interrupted] {
            let mut suite = Suite::load(&ScenarioSelection::default()).unwrap();
            let run = run(outcome);
            keep_failed(&mut suite, std::slice::from_ref(&run)).unwrap();
            let names: Vec<&str> = suite.scenarios().map(|(_, scenario)| scenario.name.as_str()).collect();
            assert_eq!(names, [run.scenarios[1].scenario.as_str()]);
        }
    }

    #[test]
    fn nothing_to_run_is_an_error() {
        let said = |run: RunRecord| {
            let mut suite = Suite::load(&ScenarioSelection::default()).unwrap();
            keep_failed(&mut suite, &[run]).unwrap_err().to_string()
        };
        assert_eq!(said(run(Outcome::Passed)), "no scenario failed in the runs of --rerun");
        let mut gone = run(Outcome::Failed);
        gone.scenarios[1].scenario = "Gone".to_owned();
        gone.scenarios[1].file = "gone.feature".to_owned();
        assert_eq!(said(gone), "none of the selected scenarios failed in the runs of --rerun: \"Gone\" (gone.feature)");
    }
}
