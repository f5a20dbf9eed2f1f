//! Judges what the diagnosis says in a drill. Pure: findings and seconds go in, a result comes out.
//!
//! [`DrillJudge`] judges a drill, [`NobodysJudge`] what is said about objects of no drill. `scenario` has what is expected of the
//! diagnosis about a drill's scenario.

mod nobodys;
mod scenario;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use diagnosis::Finding;
use report::accuracy::drill::{CauseResult, SaidFinding, WrongFinding};
use steps::ExpectedFinding;

pub use self::nobodys::NobodysJudge;
pub use self::scenario::JudgedScenario;
use self::scenario::ScenarioState;
use crate::continuous_diagnosis::owners::Suffixes;
use crate::continuous_diagnosis::sightings::Sightings;

/// Seconds for which a drill goes on after all is said, so that a diagnosis that changes its mind is noticed.
const SETTLE: f64 = 5.0;

/// Judge of a drill. All times are seconds from the start of the drill.
#[derive(Debug)]
pub struct DrillJudge {
    suffixes: Suffixes,
    scenarios: Vec<ScenarioState>,
    wrong: Sightings<WrongFinding>,
    /// Consequences that stood as roots.
    symptoms: Sightings<WrongFinding>,
    /// Codes and subjects of all failures.
    failures: BTreeSet<(String, String)>,
    /// Roots of the last look.
    said: Vec<SaidRoot>,
    last_look: f64,
    /// Time since which nothing is waited for.
    complete_since: Option<f64>,
}

#[derive(Debug)]
struct SaidRoot {
    owners: Vec<usize>,
    said: SaidFinding,
}

/// Verdict about a finding that has the severity of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Accounted,
    Symptom,
    Wrong,
}

impl DrillJudge {
    /// Judge of a drill with these scenarios.
    #[must_use]
    pub fn new(suffixes: Suffixes, scenarios: Vec<JudgedScenario>) -> Self {
        Self {
            suffixes,
            scenarios: scenarios.into_iter().map(ScenarioState::new).collect(),
            wrong: Sightings::default(),
            symptoms: Sightings::default(),
            failures: BTreeSet::new(),
            said: Vec::new(),
            last_look: 0.0,
            complete_since: None,
        }
    }

    /// Takes note that a fault has shown: from now on the diagnosis has to name it.
    pub fn shown(&mut self, scenario: usize, at: f64, expected: Vec<ExpectedFinding>) {
        self.scenarios[scenario].show(at, expected);
    }

    /// Takes note that a scenario isn't judged any more.
    pub fn retire(&mut self, scenario: usize) {
        self.scenarios[scenario].retire();
    }

    /// Judges the findings of a look at the whole fleet. Returns the number of wrong findings before it; later ones are new.
    pub fn look(&mut self, begun: f64, at: f64, findings: &[Finding]) -> usize {
        self.last_look = at;
        self.wrong.begin_look();
        self.symptoms.begin_look();
        self.said.clear();
        let known = self.wrong.count();
        for finding in findings {
            self.judge(at, finding);
        }
        self.scenarios.iter_mut().for_each(|scenario| scenario.compare(begun, at, findings));
        let waits = self.scenarios.iter().any(|scenario| scenario.waits(at));
        self.complete_since = if waits { None } else { self.complete_since.or(Some(at)) };
        known
    }

    fn judge(&mut self, at: f64, finding: &Finding) {
        let all = self.suffixes.of(finding);
        let is_owner = |n: &usize| self.scenarios[*n].is_judged() && all.contains(&self.scenarios[*n].scenario.suffix);
        let owners: Vec<usize> = (0..self.scenarios.len()).filter(is_owner).collect();
        let Some(first) = owners.first() else { return };
        let consequences: BTreeSet<&str> = finding.flatten().skip(1).map(|f| f.code.0.as_str()).collect();
        let said = SaidFinding {
            code: finding.code.0.clone(),
            subject: finding.subject.to_string(),
            consequences: consequences.into_iter().map(str::to_owned).collect(),
        };
        let beside = self.scenarios[*first].scenario.codes.clone();
        let verdict = self.verdict(&owners, &finding.code.0);
        // A finding that is about a scenario which isn't judged, too, may be right for that one.
        let is_judged = finding.is_failure() && all.len() == owners.len();
        self.said.push(SaidRoot { owners, said });
        if !is_judged {
            return;
        }
        self.failures.insert((finding.code.0.clone(), finding.subject.to_string()));
        let sightings = match verdict {
            Verdict::Accounted => return,
            Verdict::Symptom => &mut self.symptoms,
            Verdict::Wrong => &mut self.wrong,
        };
        sightings.see(finding, || wrong_finding(finding, beside, at)).record.last_seconds = at;
    }

    fn verdict(&self, owners: &[usize], code: &str) -> Verdict {
        let accounted = || owners.iter().map(|owner| &self.scenarios[*owner].scenario.accounted);
        if accounted().any(|codes| codes.is_cause(code)) {
            Verdict::Accounted
        } else if accounted().any(|codes| codes.has(code)) {
            Verdict::Symptom
        } else {
            Verdict::Wrong
        }
    }

    /// True if the drill is over: all causes are named, or their limits have passed, for some seconds.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.complete_since.is_some_and(|since| self.last_look - since >= SETTLE)
    }

    /// Adds the bundle of a wrong finding.
    pub fn add_bundle(&mut self, wrong: usize, bundle: std::path::PathBuf) {
        self.wrong.record_mut(wrong).bundle = Some(bundle);
    }

    /// Wrong findings so far, in the order in which they were seen first.
    pub fn wrong(&self) -> impl Iterator<Item = &WrongFinding> {
        self.wrong.records()
    }

    /// Returns the causes of a scenario that has shown its fault, as the last look had them; empty for others.
    #[must_use]
    pub fn causes(&self, scenario: usize) -> Vec<CauseResult> {
        let said = self.said.iter().filter(|root| root.owners.contains(&scenario)).map(|root| &root.said.code);
        self.scenarios[scenario].causes(&said.collect())
    }

    /// Ends the drill.
    #[must_use]
    pub fn end(self) -> JudgedDrill {
        let with_end = |(wrong, at_end): (WrongFinding, bool)| WrongFinding { at_end, ..wrong };
        JudgedDrill {
            seconds: self.last_look,
            looks: self.wrong.looks(),
            findings: self.failures.len(),
            said: self.said.into_iter().map(|root| root.said).collect(),
            wrong: self.wrong.into_records().map(with_end).collect(),
            symptoms: self.symptoms.into_records().map(with_end).filter(|symptom| symptom.at_end).collect(),
        }
    }
}

/// What a judge has seen in a drill, beside the causes.
#[derive(Debug, Default, PartialEq)]
pub struct JudgedDrill {
    /// Time of the last look.
    pub seconds: f64,
    /// Number of looks.
    pub looks: usize,
    /// Number of different findings of the severity of a failure.
    pub findings: usize,
    /// Roots of the last look, about the drill's objects.
    pub said: Vec<SaidFinding>,
    /// Findings that no fault accounts for.
    pub wrong: Vec<WrongFinding>,
    /// Consequences that were roots in the last look.
    pub symptoms: Vec<WrongFinding>,
}

/// Record of a wrong finding that is seen for the first time.
fn wrong_finding(finding: &Finding, beside: Vec<String>, at: f64) -> WrongFinding {
    WrongFinding {
        code: finding.code.0.clone(),
        subject: finding.subject.to_string(),
        cause: finding.cause.clone(),
        beside,
        first_seconds: at,
        last_seconds: at,
        at_end: false,
        bundle: None,
    }
}
