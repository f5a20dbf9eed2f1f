//! Checks whether a scenario that passed has shown the statements that it names.

use std::fmt;

use record::{ConditionState, ConditionTemplate, RecordEntry, ShownStatement, ShownStatementState, Transition};
use report::name_masker::NameMasker;

use super::measured::KnownResults;
use super::statement::{ConditionOwner, Statement, StatementClaim};
use super::tags::NamedStatement;

/// Compares each statement with what was seen, and with what was measured before on this version.
///
/// A statement about a condition holds if the condition was seen as the guide says. It differs if the condition was
/// seen with another reason or message; the seen text that is nearest to the guide's is kept, with holes for names. A
/// behaviour is asserted by the steps, which have passed.
///
/// # Errors
/// Returns an error text if a statement wasn't shown at all, or its state isn't the one measured on this
/// version.
pub fn check(
    named: &[NamedStatement],
    entries: &[RecordEntry],
    suffix: &str,
    known: &KnownResults,
) -> Result<Vec<ShownStatement>, String> {
    let seen: Vec<&Transition> = entries.iter().filter_map(RecordEntry::transition).collect();
    let names = NameMasker::of(seen.iter().copied(), suffix);
    let mut shown = Vec::new();
    for NamedStatement { statement, otherwise } in named.iter().filter(|n| n.statement.applies_to(&known.kubefleet)) {
        let state = match &statement.claim {
            StatementClaim::Condition { .. } => condition(statement, &seen, &names)?,
            StatementClaim::Behaviour { .. } if *otherwise => ShownStatementState::Differs { seen: None },
            StatementClaim::Behaviour { .. } => ShownStatementState::Holds,
        };
        if let Some(before) = known.state(statement).filter(|before| *before != state) {
            return Err(changed(statement, known.version(statement).unwrap_or_default(), &before, &state));
        }
        shown.push(ShownStatement { statement: statement.id.clone(), state });
    }
    Ok(shown)
}

fn condition(statement: &Statement, seen: &[&Transition], names: &NameMasker) -> Result<ShownStatementState, String> {
    let StatementClaim::Condition { of, condition, status, reason, message } = &statement.claim else {
        return Ok(ShownStatementState::Holds);
    };
    let states = seen.iter().filter(|t| is_on(t, *of, statement) && t.condition == *condition);
    let states: Vec<&ConditionState> = states.filter_map(|t| t.to.as_ref()).collect();
    let holds = states.iter().any(|s| {
        s.status == *status
            && reason.as_ref().is_none_or(|r| *r == s.reason)
            && message.as_ref().is_none_or(|m| m.is(&s.message))
    });
    if holds {
        return Ok(ShownStatementState::Holds);
    }
    let told = message.as_ref().map(super::message::MessageTemplate::masked).unwrap_or_default();
    let alike = states.iter().filter(|s| s.status == *status || reason.as_ref() == Some(&s.reason));
    let rated = alike.map(|s| {
        let same = (reason.as_ref().is_none_or(|r| *r == s.reason), s.status == *status);
        (same, strsim::normalized_damerau_levenshtein(&told, &names.mask(&s.message)), s)
    });
    let nearest = rated.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let Some((_, _, nearest)) = nearest else { return Err(not_shown(statement, &states)) };
    let seen = ConditionTemplate {
        status: nearest.status.clone(),
        reason: nearest.reason.clone(),
        message: names.mask(&nearest.message),
    };
    Ok(ShownStatementState::Differs { seen: Some(seen) })
}

fn is_on(transition: &Transition, of: ConditionOwner, statement: &Statement) -> bool {
    Some(transition.object.kind.as_str()) == of.kind(statement.scope) && of.is(&transition.place)
}

fn not_shown(statement: &Statement, states: &[&ConditionState]) -> String {
    let mut seen: Vec<String> = states.iter().map(ToString::to_string).collect();
    seen.dedup();
    let seen = if seen.is_empty() { "nothing of this condition".to_owned() } else { seen.join(", then ") };
    format!(
        "the scenario names statement {} but doesn't show it\n  the guide: {}: {}\n  seen: {seen}",
        statement.id,
        statement.object(),
        statement.state()
    )
}

fn state_text(state: &ShownStatementState) -> String {
    match state {
        ShownStatementState::Holds => "it holds".to_owned(),
        ShownStatementState::Differs { seen: Some(seen) } => ConditionDisplay(seen).to_string(),
        ShownStatementState::Differs { seen: None } => "it isn't so".to_owned(),
    }
}

fn changed(statement: &Statement, version: &str, before: &ShownStatementState, now: &ShownStatementState) -> String {
    format!(
        "statement {} isn't what was measured on {version}\n  the guide: {}\n  measured: {}\n  now: {}",
        statement.id,
        statement.says(),
        state_text(before),
        state_text(now)
    )
}

/// Displays a condition that a controller wrote, on one line.
pub struct ConditionDisplay<'a>(pub &'a ConditionTemplate);

impl fmt::Display for ConditionDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConditionTemplate { status, reason, message } = self.0;
        let colon = if message.is_empty() { "" } else { ": " };
        let reason = if reason.is_empty() { String::new() } else { format!(" {reason}") };
        write!(f, "{status}{reason}{colon}{message}")
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use fleet::capability::{Capabilities, Capability};

    use record::{ConditionPlace, Product, RecordedEvent};

    use super::*;
    use crate::guides::{MeasuredResults, guide};

    const PLACEMENT: &str = "ClusterResourcePlacement/web-abcd1";

    fn entry(object: &str, place: ConditionPlace, condition: &str, state: (&str, &str, &str)) -> RecordEntry {
        let (status, reason, message) = state;
        let to = ConditionState {
            status: status.into(),
            reason: reason.into(),
            message: message.into(),
            observed_generation: 1,
        };
        let what = RecordedEvent::Transition(Transition {
            cluster: "hub".into(),
            object: object.into(),
            place,
            condition: condition.into(),
            from: None,
            to: Some(to),
        });
        RecordEntry { at: Timestamp::UNIX_EPOCH, what }
    }

    /// Returns a transition of a placement that couldn't be synchronized, with this reason and message at its top.
    fn synchronized(reason: &str, message: &str) -> RecordEntry {
        entry(PLACEMENT, ConditionPlace::Object, "ClusterResourcePlacementWorkSynchronized", ("False", reason, message))
    }

    fn named(id: &str) -> [NamedStatement; 1] {
        let guide = guide(id.split('/').next().unwrap()).unwrap();
        [NamedStatement { statement: guide.statements.iter().find(|s| s.id == id).unwrap(), otherwise: false }]
    }

    const TOP: &str = "work-synchronized/terminating-namespace/work-synchronized/cluster";

    /// Returns a version without any results measured before.
    fn on(version: &str) -> KnownResults {
        KnownResults::measured([MeasuredResults::of(Product::KubeFleet, version, Capabilities::default(), [])])
    }

    fn checked(entries: &[RecordEntry], measured: Option<&MeasuredResults>) -> Result<ShownStatementState, String> {
        let known = measured.map_or_else(|| on("v0.1.2"), |m| KnownResults::measured([m.clone()]));
        let shown = check(&named(TOP), entries, "abcd1", &known)?;
        assert_eq!(shown.len(), 1);
        Ok(shown[0].state.clone())
    }

    #[test]
    fn what_was_seen_as_the_guide_says_holds() {
        let text = "There are 3 cluster(s) which have not finished creating or updating work(s) yet";
        let other = entry(PLACEMENT, ConditionPlace::Object, "ClusterResourcePlacementApplied", ("True", "Ok", ""));
        let seen = [synchronized("Pending", "soon"), synchronized("WorkNotSynchronizedYet", text), other];
        assert_eq!(checked(&seen, None), Ok(ShownStatementState::Holds));
    }

    #[test]
    fn the_nearest_of_what_was_seen_differs() {
        let seen = [
            synchronized("Pending", "soon"),
            synchronized("WorkNotSynchronizedYet", "web-abcd1 has 2 cluster(s) that have not finished"),
            synchronized("WorkNotSynchronizedYet", "quite another text"),
        ];
        let ShownStatementState::Differs { seen: Some(seen) } = checked(&seen, None).unwrap() else {
            panic!("it differs")
        };
        assert_eq!(
            ConditionDisplay(&seen).to_string(),
            "False WorkNotSynchronizedYet: {placement} has {number} cluster(s) that have not finished"
        );
    }

    #[test]
    fn what_was_not_seen_at_all_fails_the_scenario() {
        let on_member = entry(
            PLACEMENT,
            ConditionPlace::Member { member: "member-1".into() },
            "WorkSynchronized",
            ("False", "SyncWorkFailed", "no"),
        );
        let well = entry(
            PLACEMENT,
            ConditionPlace::Object,
            "ClusterResourcePlacementWorkSynchronized",
            ("True", "WorkSynchronized", ""),
        );
        insta::assert_snapshot!(checked(&[on_member], None).unwrap_err());
        insta::assert_snapshot!(checked(&[well], None).unwrap_err());
    }

    #[test]
    fn what_is_not_as_measured_fails_the_scenario_with_both_texts() {
        let now = [synchronized("WorkNotSynchronizedYet", "web-abcd1 isn't through")];
        let measured = |state| {
            MeasuredResults::of(
                Product::KubeFleet,
                "v0.1.2",
                Capabilities::default(),
                [ShownStatement { statement: TOP.into(), state }],
            )
        };
        let same = checked(&now, None).unwrap();
        assert_eq!(checked(&now, Some(&measured(same.clone()))), Ok(same));
        insta::assert_snapshot!(checked(&now, Some(&measured(ShownStatementState::Holds))).unwrap_err());
    }

    #[test]
    fn a_behaviour_is_what_its_tag_says_once_the_scenario_has_passed() {
        let mut rejoin = named("work-synchronized/resolution/rejoin");
        assert_eq!(check(&rejoin, &[], "abcd1", &on("v0.1.2")).unwrap()[0].state, ShownStatementState::Holds);
        rejoin[0].otherwise = true;
        let state = check(&rejoin, &[], "abcd1", &on("v0.1.2")).unwrap()[0].state.clone();
        assert_eq!(state, ShownStatementState::Differs { seen: None });
    }

    #[test]
    fn what_does_not_apply_to_the_version_is_not_asked_for() {
        let stopped = named("staged-update-run-2026/state-stop/stopped/cluster");
        assert_eq!(check(&stopped, &[], "abcd1", &on("v0.1.2")), Ok(Vec::new()));
        let can = Capabilities::from_iter([Capability::RunStates]);
        let able = KnownResults::measured([MeasuredResults::of(Product::KubeFleet, "v0.3.1", can, [])]);
        assert!(check(&stopped, &[], "abcd1", &able).is_err());
    }
}
