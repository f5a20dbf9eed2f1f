//! Selections of scenarios: by name or file, by tags, by directory, and by shard.

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;

use record::{Outcome, RunRecord};

/// Scenarios to select.
#[derive(Clone, Debug, Default)]
pub struct ScenarioSelection<'a> {
    /// Parts of names, or files.
    pub select: &'a [String],
    /// Tag expression.
    pub tags: Option<&'a str>,
    /// Directory that replaces the built-in features.
    pub features: Option<&'a Path>,
    /// A part of the selected scenarios.
    pub shard: Option<Shard>,
    /// Measured durations by which shards are dealt; without them, by the scenarios' tags.
    pub durations: Option<&'a ScenarioDurations>,
}

/// Durations of scenarios in earlier runs.
#[derive(Clone, Debug, Default)]
pub struct ScenarioDurations(HashMap<(String, String), f64>);

impl ScenarioDurations {
    /// Takes the durations of the scenarios that passed; of several runs, the last one's.
    #[must_use]
    pub fn of_runs(runs: &[RunRecord]) -> Self {
        let passed = runs.iter().flat_map(|run| &run.scenarios).filter(|scenario| scenario.outcome == Outcome::Passed);
        Self(passed.map(|scenario| ((scenario.file.clone(), scenario.scenario.clone()), scenario.seconds)).collect())
    }

    /// Returns the duration of a scenario in seconds, by the file of its feature and its name.
    #[must_use]
    pub fn seconds(&self, file: &str, scenario: &str) -> Option<f64> {
        self.0.get(&(file.to_owned(), scenario.to_owned())).copied()
    }
}

/// The I-th of N parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub index: usize,
    /// Number of all parts.
    pub of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err(format!("`{text}` is not a shard: write it as I/N with I from 1 to N, e.g. 1/4")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, of: 4 }));
        for bad in ["0/4", "5/4", "4", "a/b"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
