//! Conditions in statuses that hollow members report.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

/// Condition that a status gets, without the time of its last transition.
pub(super) struct NewCondition {
    /// Type of the condition.
    pub type_: &'static str,
    /// True for status `True`, false for `False`.
    pub holds: bool,
    /// Reason of the condition.
    pub reason: &'static str,
    /// Message of the condition.
    pub message: String,
    /// Generation of the object that the condition is about; none for objects without generations.
    pub generation: Option<i64>,
}

impl NewCondition {
    /// Builds the condition. Its time is that of the earlier condition of this type, unless the status differs.
    pub fn after(self, earlier: &[Condition], now: Timestamp) -> Condition {
        let status = if self.holds { "True" } else { "False" };
        let same = find(earlier, self.type_).filter(|condition| condition.status == status);
        Condition {
            last_transition_time: same.map_or(Time(now), |condition| condition.last_transition_time.clone()),
            message: self.message,
            observed_generation: self.generation,
            reason: self.reason.to_owned(),
            status: status.to_owned(),
            type_: self.type_.to_owned(),
        }
    }
}

/// Returns the condition of a type.
pub(super) fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// The time now, in whole seconds, as the API server stores it.
pub(super) fn now() -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default()
}
