//! What was measured on a version of KubeFleet: `guides/measured/VERSION.yaml`, written by
//! `fleetdrill guides --from RUN.json -o measured`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use steps::record::{Outcome, RunRecord, Seen, Shown, ShownState};

use super::statement::{guides, measured_file, measured_versions};

/// The results of one version, by the statements' ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// KubeFleet's version.
    pub kubefleet: String,
    /// What differs, with the text that was seen instead; without one for behaviours.
    pub differs: BTreeMap<String, Option<Seen>>,
    /// What is as the guide says.
    pub holds: BTreeSet<String>,
}

impl Measured {
    /// What scenarios have shown.
    pub fn of(version: &str, shown: impl IntoIterator<Item = Shown>) -> Self {
        let mut measured = Self { kubefleet: version.to_owned(), differs: BTreeMap::new(), holds: BTreeSet::new() };
        for Shown { statement, state } in shown {
            match state {
                ShownState::Holds => drop(measured.holds.insert(statement)),
                ShownState::Differs { seen } => drop(measured.differs.insert(statement, seen)),
            }
        }
        measured
    }

    /// What runs of one version have shown, such as the parts of one that was split. What an older fleetdrill had for a
    /// statement is left out.
    ///
    /// # Errors
    /// When two scenarios contradict each other, or the runs don't say one version of KubeFleet; for people.
    pub fn of_runs(runs: &[RunRecord]) -> Result<Self, String> {
        let version = |run: &RunRecord| run.versions.iter().find(|(c, _)| c == "kubefleet").map(|(_, v)| v.clone());
        let mut versions: Vec<String> = runs.iter().filter_map(version).collect();
        versions.sort();
        versions.dedup();
        let [version] = &versions[..] else {
            return Err(format!("what was run is no one version of KubeFleet: {}", versions.join(", ")));
        };
        let known = known();
        let mut first: BTreeMap<&str, (&Shown, &str)> = BTreeMap::new();
        let scenarios = runs.iter().flat_map(|run| &run.scenarios).filter(|s| s.outcome == Outcome::Passed);
        for scenario in scenarios {
            for shown in scenario.statements.iter().filter(|s| known.contains(s.statement.as_str())) {
                let (before, by) = first.entry(&shown.statement).or_insert((shown, &scenario.scenario));
                if before.state != shown.state {
                    let id = &shown.statement;
                    return Err(format!("\"{by}\" and \"{}\" show statement {id} differently", scenario.scenario));
                }
            }
        }
        Ok(Self::of(version, first.into_values().map(|(shown, _)| shown.clone())))
    }

    /// What is committed for a version.
    ///
    /// # Panics
    /// Never in a build that passed its tests: the files are part of the binary.
    #[must_use]
    pub fn committed(version: &str) -> Option<Self> {
        let text = measured_file(version)?;
        Some(serde_saphyr::from_str(text).unwrap_or_else(|e| panic!("guides/measured/{version}.yaml: {e}")))
    }

    /// What is committed, by version.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut versions = measured_versions();
        versions.sort();
        versions.iter().filter_map(|version| Self::committed(version)).collect()
    }

    /// A statement's result.
    #[must_use]
    pub fn state(&self, statement: &str) -> Option<ShownState> {
        if self.holds.contains(statement) {
            return Some(ShownState::Holds);
        }
        self.differs.get(statement).map(|seen| ShownState::Differs { seen: seen.clone() })
    }

    /// Ids that no guide has any more.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let known = known();
        let ids = self.holds.iter().chain(self.differs.keys()).map(String::as_str);
        ids.filter(|id| !known.contains(id)).collect()
    }
}

/// The ids of all statements that there are.
fn known() -> BTreeSet<&'static str> {
    guides().iter().flat_map(|g| &g.statements).map(|s| s.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::fixture;

    #[test]
    fn what_is_committed_is_about_statements_that_there_are() {
        for measured in Measured::all() {
            assert!(measured.unknown().is_empty(), "{}: {:?}", measured.kubefleet, measured.unknown());
        }
    }

    #[test]
    fn scenarios_that_contradict_each_other_are_no_measure() {
        let id = "work-synchronized/resolution/wait";
        let with = |state| {
            let mut run = fixture::run();
            let gone = Shown { statement: "work-synchronized/gone/gone".into(), state: ShownState::Holds };
            run.scenarios[0].statements = vec![Shown { statement: id.into(), state }, gone];
            run
        };
        let (holds, differs) = (with(ShownState::Holds), with(ShownState::Differs { seen: None }));
        let measured = Measured::of_runs(&[holds.clone(), holds.clone()]).unwrap();
        assert_eq!(measured.holds.iter().collect::<Vec<_>>(), [id]);
        let error = Measured::of_runs(&[holds.clone(), differs]).unwrap_err();
        assert!(error.ends_with(&format!("show statement {id} differently")), "{error}");
        let mut other = holds.clone();
        other.versions[0].1 = "v0.3.1".into();
        let error = Measured::of_runs(&[holds, other]).unwrap_err();
        assert_eq!(error, "what was run is no one version of KubeFleet: v0.1.2, v0.3.1");
    }
}
