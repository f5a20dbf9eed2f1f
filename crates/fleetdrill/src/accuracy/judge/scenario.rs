//! Scenario of a drill: what it accounts for, and what the diagnosis has to say of it.

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::Finding;
use report::accuracy::drill::CauseResult;
use steps::ExpectedFinding;

use crate::continuous_diagnosis::accounted_codes::AccountedCodes;

/// Scenario of a drill, as the judge knows it before it begins.
#[derive(Clone, Debug, Default)]
pub struct JudgedScenario {
    /// End of the names of the scenario's objects.
    pub suffix: String,
    /// Codes of its fault, for reports; empty for healthy traffic.
    pub codes: Vec<String>,
    /// Codes that may stand for something in the scenario.
    pub accounted: AccountedCodes,
    /// Seconds that the diagnosis may take after the scenario's steps.
    pub limit: f64,
}

/// Scenario with what has happened in it. All times are seconds from the start of the drill.
#[derive(Debug)]
pub(super) struct ScenarioState {
    pub(super) scenario: JudgedScenario,
    phase: ScenarioPhase,
}

#[derive(Debug)]
enum ScenarioPhase {
    /// The steps run.
    Runs,
    /// The steps have ended, and the causes have to be named.
    Shown { at: f64, causes: Vec<ExpectedCause> },
    /// What is said about the scenario doesn't count any more.
    Retired,
}

#[derive(Debug)]
struct ExpectedCause {
    code: String,
    expected: Vec<ExpectedFinding>,
    /// Seconds after the end of the steps at which all of it was there for the first time.
    right_after: Option<f64>,
    /// True if the last look has all of it.
    is_right: bool,
}

impl ScenarioState {
    pub(super) fn new(scenario: JudgedScenario) -> Self {
        Self { scenario, phase: ScenarioPhase::Runs }
    }

    /// True unless what is said about the scenario doesn't count any more.
    pub(super) fn is_judged(&self) -> bool {
        !matches!(self.phase, ScenarioPhase::Retired)
    }

    pub(super) fn retire(&mut self) {
        self.phase = ScenarioPhase::Retired;
    }

    /// Takes note that the fault has shown. Findings of one cause are expected together.
    pub(super) fn show(&mut self, at: f64, expected: Vec<ExpectedFinding>) {
        let mut by_cause: BTreeMap<String, Vec<ExpectedFinding>> = BTreeMap::new();
        for finding in expected {
            by_cause.entry(finding.root.as_ref().unwrap_or(&finding.code).clone()).or_default().push(finding);
        }
        let cause = |(code, expected)| ExpectedCause { code, expected, right_after: None, is_right: false };
        self.phase = ScenarioPhase::Shown { at, causes: by_cause.into_iter().map(cause).collect() };
    }

    /// Compares the findings with what is expected. A look that began before the fault had shown doesn't count.
    pub(super) fn compare(&mut self, begun: f64, at: f64, findings: &[Finding]) {
        let ScenarioPhase::Shown { at: shown, causes } = &mut self.phase else { return };
        if begun < *shown {
            return;
        }
        for cause in causes {
            cause.is_right = cause.expected.iter().all(|expected| is_said(expected, findings));
            if cause.is_right {
                cause.right_after.get_or_insert(at - *shown);
            }
        }
    }

    /// True if the steps run, or a cause isn't named yet and its limit hasn't passed.
    pub(super) fn waits(&self, at: f64) -> bool {
        match &self.phase {
            ScenarioPhase::Runs => true,
            ScenarioPhase::Shown { at: shown, causes } => {
                at - shown <= self.scenario.limit && causes.iter().any(|cause| !cause.is_right)
            }
            ScenarioPhase::Retired => false,
        }
    }

    /// Returns the causes, if the fault has shown. `said` has the codes of the roots about the scenario in the last look.
    pub(super) fn causes(&self, said: &BTreeSet<&String>) -> Vec<CauseResult> {
        let ScenarioPhase::Shown { causes, .. } = &self.phase else { return Vec::new() };
        let named: BTreeSet<&str> = causes.iter().filter(|cause| cause.is_right).map(|c| c.code.as_str()).collect();
        let instead = said.iter().filter(|code| !named.contains(code.as_str())).map(|code| (*code).clone());
        let instead: Vec<String> = instead.collect();
        let of_cause = |cause: &ExpectedCause| CauseResult {
            code: cause.code.clone(),
            expected: cause.expected.iter().map(ToString::to_string).collect(),
            found: cause.is_right,
            seconds: cause.right_after,
            instead: if cause.is_right { Vec::new() } else { instead.clone() },
        };
        causes.iter().map(of_cause).collect()
    }
}

/// True if the findings have the expected one: as a root, or under a root with the expected code.
fn is_said(expected: &ExpectedFinding, findings: &[Finding]) -> bool {
    match &expected.root {
        None => findings.iter().any(|root| expected.is(root)),
        Some(code) => {
            let mut roots = findings.iter().filter(|root| root.code.0 == *code);
            roots.any(|root| root.flatten().skip(1).any(|finding| expected.is(finding)))
        }
    }
}
