//! Waits that failed: what was waited for, how the wait ended, and what was seen last.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ConditionPlace, ConditionState, ObjectPath};

/// A wait whose expectation didn't hold.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FailedWait {
    /// Expectation of the wait, e.g. `WorkSynchronized False SyncWorkFailed`.
    pub expectation: String,
    /// The time from the wait's begin to its end, in seconds.
    pub seconds: f64,
    /// End of the wait.
    #[serde(flatten)]
    pub end: WaitEnd,
    /// Last observation of the wait.
    pub last: Observation,
}

/// End of a wait that failed.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum WaitEnd {
    /// The limit ran out.
    TimedOut {
        /// The difference between what was expected and what was seen last; none where nothing was seen.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pending: Option<String>,
    },
    /// The expectation can't hold any more.
    Impossible {
        /// Reason why it can't.
        why: String,
    },
    /// Something that had to stay as it is has changed.
    Changed {
        /// The difference.
        why: String,
    },
}

/// Last observation of a wait.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "seen", rename_all = "snake_case")]
pub enum Observation {
    /// The wait was for something else than the state of objects.
    NoObjects,
    /// The API server hadn't listed the objects yet.
    NoAnswer {
        /// The kind of the objects.
        kind: String,
        /// The cluster that was asked.
        cluster: String,
    },
    /// The objects, at most three of them.
    Objects {
        /// Each object with its conditions.
        objects: Vec<ObservedObject>,
    },
}

/// An object with its conditions, as a wait saw it last.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ObservedObject {
    /// The object.
    pub object: ObjectPath,
    /// `metadata.generation`.
    pub generation: i64,
    /// All its conditions.
    pub conditions: Vec<ObservedCondition>,
}

/// Condition of an object, as a wait saw it last.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ObservedCondition {
    /// The part of the object that has the condition.
    #[serde(skip_serializing_if = "ConditionPlace::is_object", default)]
    pub place: ConditionPlace,
    /// Type of the condition.
    pub condition: String,
    /// The condition's state.
    pub state: ConditionState,
}

impl FailedWait {
    /// The expectation and how the wait ended, on one line.
    #[must_use]
    pub fn headline(&self) -> String {
        let Self { expectation, seconds, end, .. } = self;
        match end {
            WaitEnd::TimedOut { .. } => format!("{expectation}: not so after {seconds:.0} s"),
            WaitEnd::Impossible { why } => format!("{expectation}: can't hold any more after {seconds:.1} s: {why}"),
            WaitEnd::Changed { .. } => format!("{expectation}: no longer so after {seconds:.1} s"),
        }
    }

    /// Returns the last difference on one line; none where the headline says all of it.
    #[must_use]
    pub fn seen_instead(&self) -> Option<String> {
        let nothing = match &self.last {
            Observation::NoAnswer { kind, cluster } => Some(format!("no answer yet for {kind} on {cluster}")),
            Observation::Objects { objects } if objects.is_empty() => Some("no such object".to_owned()),
            Observation::Objects { .. } | Observation::NoObjects => None,
        };
        let (label, difference) = match &self.end {
            WaitEnd::TimedOut { pending } => ("last seen", pending.as_deref()),
            WaitEnd::Changed { why } => ("now", Some(why.as_str())),
            WaitEnd::Impossible { .. } => ("last seen", None),
        };
        match (difference, nothing) {
            (Some(difference), Some(nothing)) => Some(format!("{label}: {difference} ({nothing})")),
            (Some(text), None) => Some(format!("{label}: {text}")),
            (None, Some(text)) => Some(format!("{label}: {text}")),
            (None, None) => None,
        }
    }

    /// True if the limit ran out.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        matches!(self.end, WaitEnd::TimedOut { .. })
    }
}

impl Observation {
    /// The most objects that are kept.
    pub const MOST_OBJECTS: usize = 3;

    /// The objects that were seen.
    #[must_use]
    pub fn objects(&self) -> &[ObservedObject] {
        match self {
            Self::Objects { objects } => objects,
            Self::NoObjects | Self::NoAnswer { .. } => &[],
        }
    }
}

/// Headline, what was seen instead, and each object with its conditions, a line each.
impl fmt::Display for FailedWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        self.seen_instead().iter().try_for_each(|text| write!(f, "\n  {text}"))?;
        self.last.objects().iter().try_for_each(|object| write!(f, "\n  {object}"))
    }
}

/// Path and generation, then a line for each condition.
impl fmt::Display for ObservedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (generation {})", self.object, self.generation)?;
        self.conditions.iter().try_for_each(|condition| write!(f, "\n    {condition}"))
    }
}

impl ObservedCondition {
    /// Place, type, status and reason: `member-1: Applied=False ApplyFailed`.
    #[must_use]
    pub fn headline(&self) -> String {
        let Self { place, condition, state } = self;
        if place.is_object() { format!("{condition}={state}") } else { format!("{place}: {condition}={state}") }
    }

    /// The controller's message, where the condition isn't True, and the observed generation.
    #[must_use]
    pub fn details(&self) -> String {
        let generation = format!("(observedGeneration {})", self.state.observed_generation);
        match self.state.message.as_str() {
            "" => generation,
            _ if self.state.status == "True" => generation,
            message => format!("{message} {generation}"),
        }
    }
}

impl fmt::Display for ObservedCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.state.status == "True" || self.state.message.is_empty() { "" } else { ":" };
        write!(f, "{}{colon} {}", self.headline(), self.details())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(status: &str, message: &str) -> Observation {
        let state = ConditionState {
            status: status.into(),
            reason: "R".into(),
            message: message.into(),
            observed_generation: 2,
        };
        let place = ConditionPlace::Member { member: "m".into() };
        let condition = ObservedCondition { place, condition: "Applied".into(), state };
        let object = ObjectPath::new("ClusterResourcePlacement", None, "web");
        Observation::Objects { objects: vec![ObservedObject { object, generation: 2, conditions: vec![condition] }] }
    }

    #[test]
    fn a_failed_wait_says_what_was_seen_instead() {
        let wait =
            |end, last| FailedWait { expectation: "web is applied".into(), seconds: 60.0, end, last }.to_string();
        let pending = || WaitEnd::TimedOut { pending: Some("Applied is False".into()) };
        assert_eq!(
            wait(pending(), observed("False", "no")),
            "web is applied: not so after 60 s\n  last seen: Applied is False\n  ClusterResourcePlacement/web (generation 2)\n    \
             m: Applied=False R: no (observedGeneration 2)"
        );
        assert_eq!(
            wait(pending(), Observation::Objects { objects: Vec::new() }),
            "web is applied: not so after 60 s\n  last seen: Applied is False (no such object)"
        );
        assert_eq!(
            wait(
                WaitEnd::TimedOut { pending: None },
                Observation::NoAnswer { kind: "Work".into(), cluster: "hub".into() }
            ),
            "web is applied: not so after 60 s\n  last seen: no answer yet for Work on hub"
        );
        assert_eq!(
            wait(WaitEnd::Impossible { why: "it is gone".into() }, observed("True", "all is well")),
            "web is applied: can't hold any more after 60.0 s: it is gone\n  ClusterResourcePlacement/web (generation 2)\n    \
             m: Applied=True R (observedGeneration 2)"
        );
        assert_eq!(
            wait(WaitEnd::Changed { why: "Applied is False".into() }, Observation::NoObjects),
            "web is applied: no longer so after 60.0 s\n  now: Applied is False"
        );
    }

    #[test]
    fn a_failed_wait_keeps_its_parts_in_json() {
        let wait = FailedWait {
            expectation: "web is applied".into(),
            seconds: 1.5,
            end: WaitEnd::Impossible { why: "it is gone".into() },
            last: observed("False", "no"),
        };
        let json = serde_json::to_value(&wait).unwrap();
        assert_eq!(json["end"], "impossible");
        assert_eq!(json["last"]["objects"][0]["conditions"][0]["place"]["member"], "m");
        assert_eq!(serde_json::from_value::<FailedWait>(json).unwrap(), wait);
    }
}
