//! Tests of the judge.

use std::collections::BTreeSet;

use serde_json::json;
use steps::ExpectedFinding;

use super::{DrillJudge, JudgedScenario, NobodysJudge};
use crate::continuous_diagnosis::accounted_codes::AccountedCodes;
use crate::continuous_diagnosis::owners::Suffixes;
use crate::continuous_diagnosis::owners::tests::finding;
use diagnosis::Finding;

const FAULT: &str = "abcd000";
const HEALTHY: &str = "abcd001";

fn codes(codes: &[&str]) -> BTreeSet<String> {
    codes.iter().map(ToString::to_string).collect()
}

/// Judge of a fault KF-MC-001, with KF-AP-001 as a consequence, and of healthy traffic.
fn judge() -> DrillJudge {
    let accounted = AccountedCodes {
        causes: codes(&["KF-MC-001"]),
        consequences: codes(&["KF-AP-001"]),
        ..AccountedCodes::default()
    };
    let (suffix, codes) = (FAULT.to_owned(), vec!["KF-MC-001".to_owned()]);
    let fault = JudgedScenario { suffix, codes, accounted, limit: 60.0 };
    let healthy = JudgedScenario { suffix: HEALTHY.into(), ..JudgedScenario::default() };
    DrillJudge::new(Suffixes::new("abcd"), vec![fault, healthy])
}

fn expected() -> Vec<ExpectedFinding> {
    let wanted = |code: &str, name: &str, root: Option<&str>| ExpectedFinding {
        code: code.into(),
        kind: "ClusterResourcePlacement".into(),
        name: format!("{name}-{FAULT}"),
        member: None,
        root: root.map(str::to_owned),
        superseded_by: None,
    };
    vec![wanted("KF-MC-001", "east", None), wanted("KF-AP-001", "web", Some("KF-MC-001"))]
}

fn root(code: &str, name: &str) -> Finding {
    finding(code, name, None, &json!({}))
}

/// The cause with its consequence.
fn right() -> Finding {
    let consequence = root("KF-AP-001", &format!("web-{FAULT}"));
    finding("KF-MC-001", &format!("east-{FAULT}"), None, &json!({"consequences": [consequence]}))
}

#[test]
fn a_cause_is_found_when_all_of_it_is_there() {
    let mut judge = judge();
    judge.retire(1);
    judge.look(1.0, 1.5, &[right()]);
    assert!(judge.causes(0).is_empty(), "the fault hasn't shown");
    judge.shown(0, 2.0, expected());
    judge.look(1.9, 2.5, &[right()]);
    assert_eq!(judge.causes(0)[0].seconds, None, "the look began before the fault had shown");
    judge.look(3.0, 3.5, &[root("KF-MC-001", &format!("east-{FAULT}"))]);
    assert!(!judge.causes(0)[0].found, "the consequence is missing");
    judge.look(4.0, 4.5, &[right()]);
    let [cause] = &judge.causes(0)[..] else { panic!("one cause") };
    assert!(cause.found && cause.instead.is_empty());
    assert_eq!((cause.seconds, cause.code.as_str()), (Some(2.5), "KF-MC-001"));
    assert!(!judge.is_over());
    judge.look(9.0, 9.4, &[right()]);
    assert!(!judge.is_over());
    judge.look(9.5, 9.6, &[right()]);
    assert!(judge.is_over());
    let ended = judge.end();
    assert_eq!((ended.wrong.len(), ended.symptoms.len(), ended.findings), (0, 0, 1));
    assert_eq!((ended.looks, ended.said[0].consequences.as_slice()), (6, ["KF-AP-001".to_owned()].as_slice()));
}

#[test]
fn a_cause_that_is_named_about_something_else_is_missed() {
    let mut judge = judge();
    judge.shown(0, 0.0, expected());
    judge.look(1.0, 1.5, &[root("KF-MC-001", &format!("west-{FAULT}"))]);
    let causes = judge.causes(0);
    assert!(!causes[0].found);
    assert_eq!(causes[0].instead, ["KF-MC-001"]);
    assert!(judge.end().wrong.is_empty(), "the code is accounted for");
}

#[test]
fn a_consequence_that_stands_as_a_root_at_the_end_is_a_symptom() {
    let symptom = root("KF-AP-001", &format!("web-{FAULT}"));
    let mut judge = judge();
    judge.shown(0, 0.0, expected());
    judge.look(1.0, 1.5, std::slice::from_ref(&symptom));
    assert_eq!(judge.causes(0)[0].instead, ["KF-AP-001"]);
    judge.look(2.0, 2.5, &[right()]);
    assert!(judge.end().symptoms.is_empty(), "it was a root for a while only");
    let mut judge = self::judge();
    judge.shown(0, 0.0, expected());
    judge.look(1.0, 1.5, &[symptom]);
    let ended = judge.end();
    assert_eq!((ended.symptoms.len(), ended.wrong.len()), (1, 0));
    assert_eq!((ended.symptoms[0].code.as_str(), ended.findings), ("KF-AP-001", 1));
}

#[test]
fn a_code_that_no_fault_accounts_for_is_wrong_at_any_time() {
    let wrong = root("KF-RO-002", &format!("web-{FAULT}"));
    let mut judge = judge();
    assert_eq!(judge.look(0.0, 0.5, std::slice::from_ref(&wrong)), 0);
    assert_eq!(judge.wrong().count(), 1);
    assert_eq!(judge.look(1.0, 1.5, &[wrong]), 1, "it was seen before");
    judge.look(2.0, 2.5, &[]);
    // Right for the fault, wrong for healthy traffic.
    judge.look(3.0, 3.5, &[root("KF-MC-001", &format!("web-{HEALTHY}"))]);
    let ended = judge.end();
    let seen: Vec<_> =
        ended.wrong.iter().map(|w| (w.code.as_str(), w.first_seconds, w.last_seconds, w.at_end)).collect();
    assert_eq!(seen, [("KF-RO-002", 0.5, 1.5, false), ("KF-MC-001", 3.5, 3.5, true)]);
    assert_eq!(ended.wrong[0].beside, ["KF-MC-001"]);
    assert!(ended.wrong[1].beside.is_empty());
    assert_eq!(ended.findings, 2);
}

#[test]
fn notices_and_objects_of_others_are_never_wrong() {
    let notice = finding("KF-RO-001", &format!("web-{HEALTHY}"), None, &json!({"severity": "notice"}));
    let of_another_drill = root("KF-RO-002", "web-abcd009");
    let of_nobody = root("KF-MC-001", "member-1");
    let mut judge = judge();
    judge.look(0.0, 0.5, &[notice, of_another_drill, of_nobody.clone()]);
    judge.retire(1);
    judge.look(1.0, 1.5, &[root("KF-RO-002", &format!("web-{HEALTHY}"))]);
    let ended = judge.end();
    assert_eq!((ended.wrong.len(), ended.findings, ended.said.len()), (0, 0, 0));
    let mut nobodys = NobodysJudge::new(Suffixes::new("abcd"));
    assert_eq!(nobodys.look(1.0, &[of_nobody]), 0);
    assert_eq!(nobodys.look(2.0, &[root("KF-RO-002", "web-abcd009")]), 1);
    assert_eq!(nobodys.wrong().iter().map(|w| (w.code.as_str(), w.at_end)).collect::<Vec<_>>(), [("KF-MC-001", false)]);
}

#[test]
fn a_drill_waits_for_a_cause_until_its_limit_and_for_steps() {
    let mut judge = judge();
    judge.shown(0, 0.0, expected());
    judge.look(100.0, 100.0, &[]);
    judge.look(106.0, 106.0, &[]);
    assert!(!judge.is_over(), "the healthy scenario's steps run");
    judge.retire(1);
    judge.look(107.0, 107.0, &[]);
    judge.look(112.0, 112.0, &[]);
    assert!(judge.is_over());
    let mut judge = self::judge();
    judge.retire(1);
    judge.shown(0, 0.0, expected());
    judge.look(59.0, 60.0, &[]);
    judge.look(65.0, 65.1, &[]);
    assert!(!judge.is_over(), "it was waited for until 60 s");
    judge.look(70.0, 70.2, &[]);
    assert!(judge.is_over());
}
