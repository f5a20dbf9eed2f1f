//! Names and labels of hollow members.

use diagnosis::kubefleet::MEMBER_NAMESPACE_PREFIX;
use record::HOLLOW_LABEL;
use serde_json::{Value, json};

use crate::labels::MEMBER_LABEL;

/// Name of the process that plays the agents.
pub const PROCESS: &str = "hollow-members";

/// Greatest number of hollow members of a fleet.
pub const MOST_HOLLOW_MEMBERS: u16 = 2000;

/// Values of the label `region`, in turns.
const REGIONS: [&str; 3] = ["eu-west", "us-east", "ap-south"];

/// Name of the hollow member with this number, counted from 1, e.g. `hollow-0001`.
#[must_use]
pub fn hollow_name(number: usize) -> String {
    format!("hollow-{number:04}")
}

/// True for a name of [`hollow_name`].
pub(super) fn is_hollow(name: &str) -> bool {
    name.strip_prefix("hollow-").is_some_and(|number| number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the name of the hollow member whose namespace on the hub this is.
pub(super) fn member_of(namespace: &str) -> Option<&str> {
    namespace.strip_prefix(MEMBER_NAMESPACE_PREFIX).filter(|name| is_hollow(name))
}

/// Returns the label `ring` of the hollow member with this number, counted from 1: `canary`, `early` or `broad`.
#[must_use]
pub fn ring_of(number: usize) -> &'static str {
    match number % 20 {
        1 => "canary",
        2..=5 => "early",
        _ => "broad",
    }
}

/// Labels of a hollow member's MemberCluster. Of 20 members, 1 has `ring: canary`, 4 have `early` and 15 have `broad`.
pub(super) fn labels(number: usize) -> Value {
    json!({
        HOLLOW_LABEL: "true",
        MEMBER_LABEL: hollow_name(number),
        "region": REGIONS[number % REGIONS.len()],
        "ring": ring_of(number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hollow_members_are_known_by_name_and_namespace() {
        assert_eq!((hollow_name(7), hollow_name(2000)), ("hollow-0007".to_owned(), "hollow-2000".to_owned()));
        assert!(is_hollow("hollow-0007") && !is_hollow("hollow-7") && !is_hollow("hollow-000x"));
        assert_eq!(member_of(&diagnosis::kubefleet::member_namespace("hollow-0007")), Some("hollow-0007"));
        assert_eq!(member_of("fleet-member-member-1"), None);
    }

    #[test]
    fn each_twentieth_member_is_a_canary() {
        let rings = |ring: &str| (1..=20).filter(|n| labels(*n)["ring"] == ring).count();
        assert_eq!((rings("canary"), rings("early"), rings("broad")), (1, 4, 15));
    }
}
