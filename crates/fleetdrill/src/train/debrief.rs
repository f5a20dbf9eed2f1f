//! Debrief of an exercise that has ended, made of its score.

use report::debrief::{Debrief, DebriefEntry, DebriefKind};

use super::exercise;
use super::score::{ExerciseOutcome, Score};
use super::session_event::{SessionAction, SessionEvent};
use crate::guides;
use crate::output::training;

/// Returns the debrief of an exercise. What is known of the exercise itself is left out if it isn't among the built-in ones.
#[must_use]
pub fn debrief(score: &Score) -> Debrief {
    let exercise = exercise::find(&score.exercise, None).ok();
    let named = exercise.iter().flat_map(|exercise| &exercise.guides).filter_map(|name| guides::guide(name));
    let page = score.events.iter().find(|event| matches!(event.action, SessionAction::PageShown { .. }));
    let begun = page.map_or(score.started_at, |event| event.at);
    let entries = score
        .events
        .iter()
        .map(|event| DebriefEntry { seconds: event.at.duration_since(begun).as_secs_f64(), ..entry(event) });
    Debrief {
        exercise: score.exercise.clone(),
        title: exercise.as_ref().map_or(&score.exercise, |exercise| &exercise.title).clone(),
        trainee: score.trainee.clone(),
        score: training::line(score),
        repaired: score.outcome == ExerciseOutcome::Repaired,
        kubefleet: score.kubefleet.clone(),
        provider: score.provider.clone(),
        started_at: score.started_at,
        entries: entries.collect(),
        guides: named.map(|guide| (guide.title.clone(), guide.url.clone())).collect(),
        teaches: exercise.map(|exercise| exercise.teaches).unwrap_or_default(),
    }
}

/// Returns the entry of an event, with the time 0.
fn entry(event: &SessionEvent) -> DebriefEntry {
    let (kind, texts) = match &event.action {
        SessionAction::PageShown { text } => (DebriefKind::Page, text.split("\n\n").map(one_line).collect()),
        SessionAction::HintShown { text } => (DebriefKind::Hint, vec![one_line(text)]),
        SessionAction::Answered { text, codes, right: true } if codes.is_empty() || codes.contains(text) => {
            (DebriefKind::RightAnswer, vec![text.clone()])
        }
        SessionAction::Answered { text, codes, right: true } => {
            (DebriefKind::RightAnswer, vec![text.clone(), format!("names {}", codes.join(", "))])
        }
        SessionAction::Answered { text, .. } => (DebriefKind::WrongAnswer, vec![text.clone()]),
        SessionAction::AgentRestarted { agent } => (DebriefKind::Restart, vec![agent.clone()]),
        SessionAction::Checked { missing } if missing.is_empty() => (DebriefKind::PassedCheck, Vec::new()),
        SessionAction::Checked { missing } => (DebriefKind::FailedCheck, missing.clone()),
        SessionAction::Reset => (DebriefKind::Reset, Vec::new()),
        SessionAction::SolutionShown => (DebriefKind::Solution, Vec::new()),
    };
    DebriefEntry { seconds: 0.0, kind, texts }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::output::training::tests::score;

    #[test]
    fn times_count_from_the_page() {
        let begun: Timestamp = "2026-01-08T11:50:00Z".parse().expect("a time");
        let at = |seconds, action| SessionEvent { at: begun + SignedDuration::from_secs(seconds), action };
        let answered = |text: &str, right| SessionAction::Answered {
            text: text.into(),
            codes: if right { vec!["KF-UR-040".into()] } else { Vec::new() },
            right,
        };
        let events = vec![
            at(30, SessionAction::PageShown { text: "The release\nhas stopped.\n\nPlease help.".into() }),
            at(90, answered("the member is down", false)),
            at(95, answered("nobody approves", true)),
            at(96, answered("KF-UR-040", true)),
            at(100, SessionAction::Checked { missing: vec!["web was changed".into()] }),
            at(130, SessionAction::Checked { missing: Vec::new() }),
        ];
        let debrief = debrief(&Score { events, ..score("ann", "half-a-release", ExerciseOutcome::Repaired) });
        let seen: Vec<_> = debrief.entries.iter().map(|e| (e.seconds, e.kind, e.texts.join("|"))).collect();
        let expected = [
            (0.0, DebriefKind::Page, "The release has stopped.|Please help."),
            (60.0, DebriefKind::WrongAnswer, "the member is down"),
            (65.0, DebriefKind::RightAnswer, "nobody approves|names KF-UR-040"),
            (66.0, DebriefKind::RightAnswer, "KF-UR-040"),
            (70.0, DebriefKind::FailedCheck, "web was changed"),
            (100.0, DebriefKind::PassedCheck, ""),
        ];
        assert_eq!(seen, expected.map(|(seconds, kind, text)| (seconds, kind, text.to_owned())));
        assert!(debrief.repaired && !debrief.teaches.is_empty() && !debrief.guides.is_empty(), "{debrief:?}");
    }

    #[test]
    fn an_exercise_of_somebody_else_is_told_by_its_name() {
        let debrief = debrief(&score("ann", "our-own", ExerciseOutcome::Stopped));
        assert_eq!((debrief.title.as_str(), debrief.teaches.as_str(), debrief.repaired), ("our-own", "", false));
    }
}
