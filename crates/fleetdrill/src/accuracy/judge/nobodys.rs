//! Judge of what is said about objects of no drill.

use diagnosis::Finding;
use report::accuracy::drill::WrongFinding;

use super::wrong_finding;
use crate::continuous_diagnosis::owners::Suffixes;
use crate::continuous_diagnosis::sightings::Sightings;

/// Judge of what is said about objects of no scenario, where nothing is ever broken.
#[derive(Debug)]
pub struct NobodysJudge {
    suffixes: Suffixes,
    wrong: Sightings<WrongFinding>,
}

impl NobodysJudge {
    /// Judge for all drills of a run.
    #[must_use]
    pub fn new(suffixes: Suffixes) -> Self {
        Self { suffixes, wrong: Sightings::default() }
    }

    /// Judges the findings of a look. Returns the number of wrong findings before it; later ones are new.
    pub fn look(&mut self, at: f64, findings: &[Finding]) -> usize {
        let known = self.wrong.count();
        self.wrong.begin_look();
        for finding in findings.iter().filter(|finding| finding.is_failure()) {
            if self.suffixes.of(finding).is_empty() {
                self.wrong.see(finding, || wrong_finding(finding, Vec::new(), at)).record.last_seconds = at;
            }
        }
        known
    }

    /// Number of wrong findings so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.wrong.count()
    }

    /// Adds the bundle of a wrong finding.
    pub fn add_bundle(&mut self, wrong: usize, bundle: std::path::PathBuf) {
        self.wrong.record_mut(wrong).bundle = Some(bundle);
    }

    /// Wrong findings so far.
    #[must_use]
    pub fn wrong(&self) -> Vec<WrongFinding> {
        self.wrong.records_at_end().map(|(wrong, at_end)| WrongFinding { at_end, ..wrong.clone() }).collect()
    }
}
