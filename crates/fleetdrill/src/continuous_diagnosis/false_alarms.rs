//! Judge of a run: failures that the diagnosis names though no fault of a running scenario accounts for them. Pure: findings and
//! running scenarios go in, false alarms come out.

use diagnosis::Finding;
use jiff::Timestamp;
use record::{ContinuousDiagnosis, FalseAlarm, ScenarioName};

use super::owners::Suffixes;
use super::running_scenarios::RunningScenarios;
use super::sightings::Sightings;

/// Fleet that is diagnosed, by who uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagnosedFleet {
    /// Fleet that the run has made for its scenarios, so that nobody else has broken anything on it.
    OfRun,
    /// Fleet that somebody else has made.
    OfOthers,
    /// Fleet that the scenario with this suffix has started for itself.
    OfScenario(String),
}

/// Judge of a run.
pub struct FalseAlarmJudge {
    suffixes: Suffixes,
    scenarios: RunningScenarios,
    fleet: DiagnosedFleet,
    seen: Sightings<SeenAlarm>,
}

/// Finding that nobody accounts for; a false alarm once it was in enough looks in a row.
#[derive(Debug)]
struct SeenAlarm {
    alarm: FalseAlarm,
    is_confirmed: bool,
}

/// Verdict about a finding of the severity of a failure.
enum Verdict {
    /// A scenario accounts for it, or it is about what isn't judged.
    Accounted,
    /// No fault accounts for it. The scenario that it is about; none for objects of no scenario.
    FalseAlarm(Option<ScenarioName>),
}

impl FalseAlarmJudge {
    /// Judge of a run with these scenarios.
    #[must_use]
    pub fn new(suffixes: Suffixes, scenarios: RunningScenarios, fleet: DiagnosedFleet) -> Self {
        Self { suffixes, scenarios, fleet, seen: Sightings::default() }
    }

    /// Judges the findings of a look whose snapshot was taken at this time. Returns the indexes of new false alarms.
    pub fn look(&mut self, at: Timestamp, findings: &[Finding]) -> Vec<usize> {
        self.seen.begin_look();
        let confirmed = self.confirmed();
        for finding in findings.iter().filter(|finding| finding.is_failure()) {
            if let Verdict::FalseAlarm(scenario) = self.verdict(finding) {
                self.see(at, finding, scenario);
            }
        }
        self.confirmed().into_iter().filter(|index| !confirmed.contains(index)).collect()
    }

    fn see(&mut self, at: Timestamp, finding: &Finding, scenario: Option<ScenarioName>) {
        let seen =
            self.seen.see(finding, || SeenAlarm { alarm: first_seen(at, finding, scenario), is_confirmed: false });
        let is_confirmed = seen.is_confirmed();
        let SeenAlarm { alarm, is_confirmed: was_confirmed } = &mut seen.record;
        if is_confirmed && !*was_confirmed {
            // The finding as the kept snapshot has it.
            alarm.finding = finding.clone();
        }
        *was_confirmed |= is_confirmed;
        (alarm.last_seen, alarm.snapshots) = (at, alarm.snapshots + 1);
    }

    fn verdict(&self, finding: &Finding) -> Verdict {
        let owners = match &self.fleet {
            DiagnosedFleet::OfScenario(suffix) => [suffix.clone()].into(),
            DiagnosedFleet::OfRun | DiagnosedFleet::OfOthers => self.suffixes.of(finding),
        };
        let running = self.scenarios.lock();
        let code = &finding.code.0;
        if owners.is_empty() {
            let accounted = self.fleet == DiagnosedFleet::OfOthers
                || running.values().any(|scenario| scenario.faults.account_for_shared(code));
            return if accounted { Verdict::Accounted } else { Verdict::FalseAlarm(None) };
        }
        let mut owner = None;
        for suffix in &owners {
            match running.get(suffix) {
                Some(scenario) if !scenario.accounts_for(code) => owner = owner.or(Some(&scenario.name)),
                // A scenario accounts for it, or has ended: then its cleanup may have broken what the finding is about.
                _ => return Verdict::Accounted,
            }
        }
        Verdict::FalseAlarm(owner.cloned())
    }

    fn confirmed(&self) -> Vec<usize> {
        let seen = self.seen.records().enumerate();
        seen.filter(|(_, seen)| seen.is_confirmed).map(|(index, _)| index).collect()
    }

    /// Number of false alarms so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.confirmed().len()
    }

    /// Finding of a false alarm.
    #[must_use]
    pub fn finding(&self, index: usize) -> Option<&Finding> {
        self.seen.records().nth(index).map(|seen| &seen.alarm.finding)
    }

    /// Adds the bundle of a false alarm.
    pub fn add_bundle(&mut self, index: usize, bundle: std::path::PathBuf) {
        self.seen.record_mut(index).alarm.bundle = Some(bundle);
    }

    /// Ends the run.
    #[must_use]
    pub fn end(self) -> ContinuousDiagnosis {
        let snapshots = self.seen.looks();
        let seen = self.seen.into_records().map(|(seen, _)| seen);
        ContinuousDiagnosis { snapshots, false_alarms: seen.filter(|s| s.is_confirmed).map(|s| s.alarm).collect() }
    }
}

fn first_seen(at: Timestamp, finding: &Finding, scenario: Option<ScenarioName>) -> FalseAlarm {
    FalseAlarm { finding: finding.clone(), scenario, first_seen: at, last_seen: at, snapshots: 0, bundle: None }
}

#[cfg(test)]
mod tests {
    use record::RecordedEvent;
    use serde_json::json;
    use steps::Recorder;

    use super::super::accounted_codes::{AccountedCodes, ScenarioFaults};
    use super::super::owners::tests::finding;
    use super::super::running_scenarios::RunningScenario;
    use super::*;

    /// Scenario `abcd0` with the code KF-MC-001, and scenario `abcd1` without codes.
    fn scenarios() -> RunningScenarios {
        let scenarios = RunningScenarios::default();
        let causes = ["KF-MC-001".to_owned()].into();
        let codes = AccountedCodes { causes, disturbs_members: true, ..AccountedCodes::default() };
        let faults = ScenarioFaults { codes, has_own_clusters: true, ..ScenarioFaults::default() };
        for (line, suffix, faults) in [(3, "abcd0", faults), (9, "abcd1", ScenarioFaults::default())] {
            let name = ScenarioName { file: "f.feature".into(), line, scenario: suffix.to_owned() };
            scenarios.begin(suffix.to_owned(), RunningScenario { name, faults, recorder: Recorder::default() });
        }
        scenarios
    }

    fn judge(scenarios: &RunningScenarios) -> FalseAlarmJudge {
        FalseAlarmJudge::new(Suffixes::new("abcd"), scenarios.clone(), DiagnosedFleet::OfRun)
    }

    fn root(code: &str, name: &str) -> Finding {
        finding(code, name, None, &json!({}))
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn a_finding_that_nobody_accounts_for_is_a_false_alarm_at_the_second_snapshot() {
        let scenarios = scenarios();
        let mut judge = judge(&scenarios);
        let wrong = root("KF-RO-002", "web-abcd1");
        assert_eq!(
            judge.look(at(1), std::slice::from_ref(&wrong)),
            [0; 0],
            "the lists of one snapshot aren't one moment"
        );
        assert_eq!(judge.look(at(2), &[]), [0; 0]);
        assert_eq!(judge.look(at(3), std::slice::from_ref(&wrong)), [0; 0], "not in a row");
        assert_eq!(judge.look(at(4), std::slice::from_ref(&wrong)), [0]);
        assert_eq!(judge.look(at(5), std::slice::from_ref(&wrong)), [0; 0], "known");
        judge.add_bundle(0, "alarm.tar.gz".into());
        let ended = judge.end();
        assert_eq!(ended.snapshots, 5);
        let [alarm] = &ended.false_alarms[..] else { panic!("{ended:?}") };
        assert_eq!((alarm.first_seen, alarm.last_seen, alarm.snapshots), (at(1), at(5), 4));
        assert_eq!(alarm.scenario.as_ref().map(|name| name.line), Some(9));
        assert_eq!((&alarm.finding, alarm.bundle.as_deref()), (&wrong, Some("alarm.tar.gz".as_ref())));
    }

    #[test]
    fn a_finding_that_a_scenario_accounts_for_is_none() {
        let scenarios = scenarios();
        let mut judge = judge(&scenarios);
        let notice = finding("KF-RO-001", "web-abcd1", None, &json!({"severity": "notice"}));
        let of_another_run = root("KF-RO-002", "web-abcd7");
        let about_both = finding("KF-MC-001", "web-abcd1", Some("east-abcd0"), &json!({}));
        let findings = [root("KF-MC-001", "east-abcd0"), about_both, notice, of_another_run];
        for second in 1..4 {
            assert_eq!(judge.look(at(second), &findings), [0; 0]);
        }
        assert_eq!(judge.end().false_alarms, []);
    }

    #[test]
    fn a_scenario_without_codes_accounts_for_all_after_it_has_induced_something() {
        let scenarios = scenarios();
        let mut judge = judge(&scenarios);
        scenarios.lock()["abcd1"].recorder.add(RecordedEvent::Induced("the Namespace is deleted".into()));
        for second in 1..4 {
            assert_eq!(judge.look(at(second), &[root("KF-RO-002", "web-abcd1")]), [0; 0]);
        }
        for second in 4..6 {
            judge.look(at(second), &[root("KF-RO-002", "web-abcd0")]);
        }
        assert_eq!(judge.end().false_alarms.len(), 1, "the other one names its code");
    }

    #[test]
    fn an_ended_scenario_isn_t_judged() {
        let scenarios = scenarios();
        let mut judge = judge(&scenarios);
        judge.look(at(1), &[root("KF-RO-002", "web-abcd1")]);
        scenarios.end("abcd1");
        judge.look(at(2), &[root("KF-RO-002", "web-abcd1")]);
        assert_eq!(judge.end().false_alarms, []);
    }

    #[test]
    fn objects_of_no_scenario_are_judged_on_a_fleet_that_the_run_has_made() {
        let scenarios = scenarios();
        for (fleet, alarms) in [(DiagnosedFleet::OfRun, 1), (DiagnosedFleet::OfOthers, 0)] {
            let mut judge = FalseAlarmJudge::new(Suffixes::new("abcd"), scenarios.clone(), fleet);
            for second in 1..4 {
                judge.look(at(second), &[root("KF-MC-001", "member-1")]);
            }
            assert_eq!(judge.end().false_alarms.len(), alarms, "who stops agents has a member of its own");
        }
    }

    #[test]
    fn everything_on_a_fleet_of_its_own_is_about_its_scenario() {
        let scenarios = scenarios();
        for (suffix, alarms) in [("abcd0", 1), ("abcd1", 2)] {
            let fleet = DiagnosedFleet::OfScenario(suffix.to_owned());
            let mut judge = FalseAlarmJudge::new(Suffixes::new("abcd"), scenarios.clone(), fleet);
            for second in 1..4 {
                judge.look(at(second), &[root("KF-MC-001", "member-1"), root("KF-RO-002", "web")]);
            }
            let ended = judge.end();
            assert_eq!(ended.false_alarms.len(), alarms, "{suffix}: only abcd0 accounts for KF-MC-001");
            assert!(
                ended.false_alarms.iter().all(|alarm| alarm.scenario.as_ref().is_some_and(|s| s.scenario == suffix))
            );
        }
    }
}
