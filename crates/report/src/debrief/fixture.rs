//! A debrief for tests.

use jiff::Timestamp;

use super::{Debrief, DebriefEntry, DebriefKind};

/// Returns the debrief of an exercise that was repaired with a hint, a wrong answer and a failed check.
pub(super) fn debrief() -> Debrief {
    let entry = |seconds, kind, texts: &[&str]| DebriefEntry {
        seconds,
        kind,
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
    };
    Debrief {
        exercise: "half-a-release".into(),
        title: "Half a release".into(),
        trainee: "ann".into(),
        score: "repaired after 9 min 10 s, the cause named after 5 min 2 s, 1 hint, 1 wrong answer, 1 failed check"
            .into(),
        repaired: true,
        kubefleet: "v0.1.2".into(),
        provider: "local".into(),
        started_at: "2026-01-08T11:50:00Z".parse::<Timestamp>().expect("a time"),
        entries: vec![
            entry(
                0.0,
                DebriefKind::Page,
                &["The release has stopped half-way.", "member-2 still shows the old banner."],
            ),
            entry(61.0, DebriefKind::Hint, &["Look at the update run's stages."]),
            entry(122.4, DebriefKind::WrongAnswer, &["the member is down"]),
            entry(302.0, DebriefKind::RightAnswer, &["KF-UR-040", "names KF-UR-040"]),
            entry(310.0, DebriefKind::Restart, &["hub-agent"]),
            entry(400.0, DebriefKind::FailedCheck, &["ClusterResourcePlacement/web was changed"]),
            entry(420.0, DebriefKind::Reset, &[]),
            entry(550.0, DebriefKind::PassedCheck, &[]),
        ],
        teaches: "A stage waits for an approval that nobody has given.".into(),
        guides: vec![("Staged Update Run TSG".into(), "https://example.org/tsg".into())],
    }
}
