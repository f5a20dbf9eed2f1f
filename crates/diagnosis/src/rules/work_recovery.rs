//! Time that Works may take to be created again after the member's namespace on the hub was gone.

use jiff::SignedDuration;

use super::fleet::FleetView;
use crate::{Condition, Object};

/// Time in which the hub-agent usually creates a member's namespace again after its deletion. It took 8 s (v0.1.2).
const RETURN_LIMIT: SignedDuration = SignedDuration::from_secs(60);
/// Longest time between two attempts of the hub-agent: controller-runtime doubles the time, up to 1000 s.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(1000);
/// Time that an attempt takes until its result is in the placement's status.
const ATTEMPT: SignedDuration = SignedDuration::from_secs(15);

/// Factor by which the pause before the hub-agent's next attempt may be longer than its attempts have failed. The pause doubles with each
/// failed attempt. Each change of the binding causes one more attempt at once, without a pause before it; a binding whose member leaves and
/// joins again is changed twice. On v0.1.2, attempts that had failed for 31 s were followed by a pause of 82 s.
const PAUSE_FACTOR: i32 = 4;

/// Returns for how long the hub-agent may leave a binding alone after the member's namespace is back. Its attempts have failed for as long as
/// the namespace was gone, for the binding's whole life at most. Returns `None` if the namespace is older than the binding, or is being
/// deleted.
pub(super) fn pause_after_return(fleet: FleetView<'_>, member: &str, binding: Object<'_>) -> Option<SignedDuration> {
    let namespace = fleet.member_namespace(member).filter(|namespace| namespace.deleted_at().is_none())?;
    let lasted = namespace.created_at()?.duration_since(binding.created_at()?);
    lasted.is_positive().then(|| (lasted.min(LONGEST_PAUSE) * PAUSE_FACTOR).min(LONGEST_PAUSE) + ATTEMPT * 2)
}

/// Returns for how long a Work's creation may fail, from the condition's last change, because the namespace was gone or
/// still is. The hub-agent's next attempt after the namespace is back comes after at most as long again as the failure
/// had lasted. Returns `None` if the namespace has been there all the time, or is being deleted.
pub(super) fn time_after_namespace(fleet: FleetView<'_>, member: &str, failed: &Condition) -> Option<SignedDuration> {
    let Some(namespace) = fleet.member_namespace(member) else { return Some(RETURN_LIMIT) };
    if namespace.deleted_at().is_some() {
        return None;
    }
    let lasted = namespace.created_at()?.duration_since(failed.last_transition_time?);
    lasted.is_positive().then(|| lasted + lasted.min(LONGEST_PAUSE) + ATTEMPT)
}
