//! Whether a scenario that passed has shown the statements that it names.

use std::fmt;

use steps::record::{Entry, Seen, Shown, ShownState, State, Transition};

use super::measured::Known;
use super::statement::{Claim, Of, Statement};
use super::tags::Named;
use crate::names::Names;

/// Compares each statement with what was seen, and with what was measured before on this version.
///
/// A condition that was seen as the guide says holds. One that was seen with another reason or message differs: the text
/// nearest to the guide's is kept, with holes for names. A behaviour is asserted by the steps, which have passed.
///
/// # Errors
/// When a statement wasn't shown at all, or not as it was measured on this version; the error is for people.
pub fn check(named: &[Named], entries: &[Entry], suffix: &str, known: &Known) -> Result<Vec<Shown>, String> {
    let seen: Vec<&Transition> = entries.iter().filter_map(Entry::transition).collect();
    let names = Names::of(seen.iter().copied(), suffix);
    let applies = |n: &&Named| n.statement.applies_to(&known.kubefleet);
    let mut shown = Vec::new();
    for Named { statement, otherwise } in named.iter().filter(applies) {
        let state = match &statement.claim {
            Claim::Condition { .. } => condition(statement, &seen, &names)?,
            Claim::Behaviour { .. } if *otherwise => ShownState::Differs { seen: None },
            Claim::Behaviour { .. } => ShownState::Holds,
        };
        if let Some(before) = known.state(statement).filter(|before| *before != state) {
            return Err(changed(statement, known.version(statement).unwrap_or_default(), &before, &state));
        }
        shown.push(Shown { statement: statement.id.clone(), state });
    }
    Ok(shown)
}

fn condition(statement: &Statement, seen: &[&Transition], names: &Names) -> Result<ShownState, String> {
    let Claim::Condition { of, condition, status, reason, message } = &statement.claim else {
        return Ok(ShownState::Holds);
    };
    let states = seen.iter().filter(|t| is_on(t, *of, statement) && t.condition == *condition);
    let states: Vec<&State> = states.filter_map(|t| t.to.as_ref()).collect();
    let same_reason = |s: &State| reason.as_ref().is_none_or(|r| *r == s.reason);
    let same_message = |s: &State| message.as_ref().is_none_or(|m| m.is(&s.message));
    if states.iter().any(|s| s.status == *status && same_reason(s) && same_message(s)) {
        return Ok(ShownState::Holds);
    }
    let told = message.as_ref().map(super::message::Message::masked).unwrap_or_default();
    let alike = |s: &&&State| s.status == *status || reason.as_ref().is_some_and(|r| *r == s.reason);
    let likeness = |s: &State| {
        let text = strsim::normalized_damerau_levenshtein(&told, &names.mask(&s.message));
        (same_reason(s), s.status == *status, text)
    };
    let nearest = states.iter().filter(alike).max_by(|a, b| {
        let (a, b) = (likeness(a), likeness(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    });
    let Some(nearest) = nearest else { return Err(not_shown(statement, &states)) };
    let seen =
        Seen { status: nearest.status.clone(), reason: nearest.reason.clone(), message: names.mask(&nearest.message) };
    Ok(ShownState::Differs { seen: Some(seen) })
}

fn is_on(transition: &Transition, of: Of, statement: &Statement) -> bool {
    transition.object.split('/').next() == of.kind(statement.scope) && of.is(transition.part.as_deref())
}

fn not_shown(statement: &Statement, states: &[&State]) -> String {
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

fn changed(statement: &Statement, version: &str, before: &ShownState, now: &ShownState) -> String {
    let is = |state: &ShownState| match state {
        ShownState::Holds => "it holds".to_owned(),
        ShownState::Differs { seen: Some(seen) } => Written(seen).to_string(),
        ShownState::Differs { seen: None } => "it isn't so".to_owned(),
    };
    format!(
        "statement {} isn't what was measured on {version}\n  the guide: {}\n  measured: {}\n  now: {}",
        statement.id,
        statement.says(),
        is(before),
        is(now)
    )
}

/// What a controller wrote, on one line.
pub struct Written<'a>(pub &'a Seen);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { status, reason, message } = self.0;
        let colon = if message.is_empty() { "" } else { ": " };
        let reason = if reason.is_empty() { String::new() } else { format!(" {reason}") };
        write!(f, "{status}{reason}{colon}{message}")
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use fleet::capability::{Capabilities, Capability};

    use steps::record::What;

    use super::*;
    use crate::guides::{Measured, Product, guide};

    const PLACEMENT: &str = "ClusterResourcePlacement/web-abcd1";

    fn entry(object: &str, part: Option<&str>, condition: &str, state: (&str, &str, &str)) -> Entry {
        let (status, reason, message) = state;
        let to =
            State { status: status.into(), reason: reason.into(), message: message.into(), observed_generation: 1 };
        let what = What::Transition(Transition {
            cluster: "hub".into(),
            object: object.into(),
            part: part.map(Into::into),
            condition: condition.into(),
            from: None,
            to: Some(to),
        });
        Entry { at: Timestamp::UNIX_EPOCH, what }
    }

    /// A placement that couldn't be synchronized, with what the controller said at its top.
    fn synchronized(reason: &str, message: &str) -> Entry {
        entry(PLACEMENT, None, "ClusterResourcePlacementWorkSynchronized", ("False", reason, message))
    }

    fn named(id: &str) -> [Named; 1] {
        let guide = guide(id.split('/').next().unwrap()).unwrap();
        [Named { statement: guide.statements.iter().find(|s| s.id == id).unwrap(), otherwise: false }]
    }

    const TOP: &str = "work-synchronized/terminating-namespace/work-synchronized/cluster";

    /// With nothing that was measured before.
    fn on(version: &str) -> Known {
        Known::measured([Measured::of(Product::KubeFleet, version, Capabilities::default(), [])])
    }

    fn checked(entries: &[Entry], measured: Option<&Measured>) -> Result<ShownState, String> {
        let known = measured.map_or_else(|| on("v0.1.2"), |m| Known::measured([m.clone()]));
        let shown = check(&named(TOP), entries, "abcd1", &known)?;
        assert_eq!(shown.len(), 1);
        Ok(shown[0].state.clone())
    }

    #[test]
    fn what_was_seen_as_the_guide_says_holds() {
        let text = "There are 3 cluster(s) which have not finished creating or updating work(s) yet";
        let other = entry(PLACEMENT, None, "ClusterResourcePlacementApplied", ("True", "Ok", ""));
        let seen = [synchronized("Pending", "soon"), synchronized("WorkNotSynchronizedYet", text), other];
        assert_eq!(checked(&seen, None), Ok(ShownState::Holds));
    }

    #[test]
    fn the_nearest_of_what_was_seen_differs() {
        let seen = [
            synchronized("Pending", "soon"),
            synchronized("WorkNotSynchronizedYet", "web-abcd1 has 2 cluster(s) that have not finished"),
            synchronized("WorkNotSynchronizedYet", "quite another text"),
        ];
        let ShownState::Differs { seen: Some(seen) } = checked(&seen, None).unwrap() else { panic!("it differs") };
        assert_eq!(
            Written(&seen).to_string(),
            "False WorkNotSynchronizedYet: {placement} has {number} cluster(s) that have not finished"
        );
    }

    #[test]
    fn what_was_not_seen_at_all_fails_the_scenario() {
        let on_member = entry(PLACEMENT, Some("member-1"), "WorkSynchronized", ("False", "SyncWorkFailed", "no"));
        let well = entry(PLACEMENT, None, "ClusterResourcePlacementWorkSynchronized", ("True", "WorkSynchronized", ""));
        insta::assert_snapshot!(checked(&[on_member], None).unwrap_err());
        insta::assert_snapshot!(checked(&[well], None).unwrap_err());
    }

    #[test]
    fn what_is_not_as_measured_fails_the_scenario_with_both_texts() {
        let now = [synchronized("WorkNotSynchronizedYet", "web-abcd1 isn't through")];
        let measured = |state| {
            Measured::of(
                Product::KubeFleet,
                "v0.1.2",
                Capabilities::default(),
                [Shown { statement: TOP.into(), state }],
            )
        };
        let same = checked(&now, None).unwrap();
        assert_eq!(checked(&now, Some(&measured(same.clone()))), Ok(same));
        insta::assert_snapshot!(checked(&now, Some(&measured(ShownState::Holds))).unwrap_err());
    }

    #[test]
    fn a_behaviour_is_what_its_tag_says_once_the_scenario_has_passed() {
        let mut rejoin = named("work-synchronized/resolution/rejoin");
        assert_eq!(check(&rejoin, &[], "abcd1", &on("v0.1.2")).unwrap()[0].state, ShownState::Holds);
        rejoin[0].otherwise = true;
        let state = check(&rejoin, &[], "abcd1", &on("v0.1.2")).unwrap()[0].state.clone();
        assert_eq!(state, ShownState::Differs { seen: None });
    }

    #[test]
    fn what_does_not_apply_to_the_version_is_not_asked_for() {
        let stopped = named("staged-update-run-2026/state-stop/stopped/cluster");
        assert_eq!(check(&stopped, &[], "abcd1", &on("v0.1.2")), Ok(Vec::new()));
        let can = Capabilities::from_iter([Capability::RunStates]);
        let able = Known::measured([Measured::of(Product::KubeFleet, "v0.3.1", can, [])]);
        assert!(check(&stopped, &[], "abcd1", &able).is_err());
    }
}
