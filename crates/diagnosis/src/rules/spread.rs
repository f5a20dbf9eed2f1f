//! Topology spread constraints of a placement's policy, counted as the scheduler counts them: every `MemberCluster` with the
//! constraint's label is part of the spread, also one that the policy wouldn't take (v0.1.2,
//! `pkg/scheduler/framework/plugins/topologyspreadconstraints`).

use std::collections::{BTreeMap, BTreeSet};

use crate::object::text_field;
use crate::{JsonRef, Object};

/// Constraint that a member would violate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spread<'a> {
    /// Label of members whose values are the domains.
    pub key: &'a str,
    pub max_skew: i64,
    /// Domain of the member.
    pub domain: &'a str,
    /// Number of chosen members in that domain.
    pub count: i64,
    /// Domain with the fewest chosen members, and their number.
    pub smallest: (&'a str, i64),
}

/// Returns the first `DoNotSchedule` constraint that each member would violate, by the member's name.
pub(super) fn violations<'a>(
    policy: Option<JsonRef<'a>>,
    members: &[Object<'a>],
    chosen: &BTreeSet<&str>,
) -> BTreeMap<&'a str, Spread<'a>> {
    let constraints = policy.and_then(|policy| policy.get("topologySpreadConstraints")).and_then(JsonRef::as_array);
    let constraints = constraints.unwrap_or_default().iter();
    let mut violations = BTreeMap::new();
    for constraint in constraints.filter(|c| text_field(*c, "whenUnsatisfiable") != "ScheduleAnyway") {
        let key = text_field(constraint, "topologyKey");
        let max_skew = constraint.get("maxSkew").and_then(JsonRef::as_i64).unwrap_or(1);
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        for member in members {
            if let Some(domain) = member.label(key) {
                *counts.entry(domain).or_default() += i64::from(chosen.contains(member.name()));
            }
        }
        let Some((smallest, least)) = counts.iter().map(|(domain, count)| (*domain, *count)).min_by_key(|(_, n)| *n)
        else {
            continue;
        };
        for member in members {
            let Some(domain) = member.label(key) else { continue };
            let count = counts[domain];
            if skew_with_one_more(&counts, domain) > max_skew {
                let spread = Spread { key, max_skew, domain, count, smallest: (smallest, least) };
                violations.entry(member.name()).or_insert(spread);
            }
        }
    }
    violations
}

/// Returns the difference between the largest and the smallest count after one more member of a domain is chosen.
fn skew_with_one_more(counts: &BTreeMap<&str, i64>, domain: &str) -> i64 {
    let after = |(name, count): (&&str, &i64)| count + i64::from(*name == domain);
    let (smallest, largest) = (counts.iter().map(after).min(), counts.iter().map(after).max());
    let skew = largest.unwrap_or_default() - smallest.unwrap_or_default();
    // The scheduler takes one domain alone for uneven.
    if counts.len() == 1 { 1 } else { skew }
}
