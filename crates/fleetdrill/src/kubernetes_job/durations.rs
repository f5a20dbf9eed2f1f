//! Durations of scenarios by which the Pods of a Job deal the shards: the record of an earlier run, reduced to what is needed for that.

use record::{Outcome, RunRecord};
use report::run::to_line;

use crate::error::CommandError;

/// Maximum size of a ConfigMap's data in bytes.
const MOST_BYTES: usize = 1 << 20;

/// Returns the records of earlier runs as one file that `fleetdrill run --shard-by` reads; nothing if there are none. Of a scenario that
/// several runs have, the last one's duration counts.
///
/// # Errors
/// Returns an error if a ConfigMap has no room for it.
pub(crate) fn reduced(runs: &[RunRecord]) -> Result<Option<String>, CommandError> {
    let Some(first) = runs.first() else { return Ok(None) };
    let runs = runs.iter().map(RunRecord::without_events);
    let record = RunRecord {
        scenarios: runs.flat_map(|run| run.scenarios).filter(|s| s.outcome == Outcome::Passed).collect(),
        continuous_diagnosis: None,
        repeated_shards: Vec::new(),
        ..first.clone()
    };
    let text = to_line(&record).map_err(|error| CommandError::usage(error.to_string(), None))?;
    if text.len() > MOST_BYTES {
        let message = format!("the durations of --shard-by take {} bytes, and a ConfigMap has 1 MiB", text.len());
        return Err(CommandError::usage(message, Some("give one run only")));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use report::run::fixture;

    use super::*;
    use crate::run_file;
    use crate::selection::ScenarioDurations;

    #[test]
    fn the_shards_are_dealt_as_by_the_whole_record() {
        let run = fixture::run();
        let text = reduced(std::slice::from_ref(&run)).unwrap().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        std::fs::write(&path, &text).unwrap();
        let durations = ScenarioDurations::of_runs(&run_file::read_all(&[path]).unwrap());
        let whole = ScenarioDurations::of_runs(std::slice::from_ref(&run));
        for scenario in &run.scenarios {
            let [reduced, whole] = [&durations, &whole].map(|known| known.seconds(&scenario.file, &scenario.scenario));
            assert_eq!(reduced, whole, "{}", scenario.scenario);
        }
        assert!(run.scenarios.iter().any(|s| durations.seconds(&s.file, &s.scenario).is_some()));
        assert!(!text.contains("\"entries\":[{"), "{text}");
        assert_eq!(reduced(&[]).unwrap(), None);
    }
}
