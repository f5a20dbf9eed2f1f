//! Advice for an operator about differences that break something, made from the differences alone.

use std::collections::BTreeSet;

use record::{Product, UpgradeOrder, UpgradeRecord};
use schemars::JsonSchema;
use serde::Serialize;

use super::difference::DifferencePeriod;
use super::report::DifferenceGroup;
use crate::comparison::difference::{DifferenceKind, DifferenceVerdict};

/// Advice to follow before an upgrade, with reasons.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct UpgradeAdvice {
    /// Text of the advice.
    pub what: String,
    /// Consequences of ignoring the advice.
    pub why: BTreeSet<String>,
    /// Orders of upgrade that have these consequences.
    pub orders: BTreeSet<UpgradeOrder>,
    /// Scenarios that show the consequences.
    pub scenarios: Vec<String>,
}

/// Returns the advice about changes that break something and aren't in the baseline, in the order of the changes,
/// without duplicates.
pub(super) fn actions(changes: &[DifferenceGroup], record: &UpgradeRecord) -> Vec<UpgradeAdvice> {
    let mut actions: Vec<UpgradeAdvice> = Vec::new();
    for change in changes.iter().filter(|change| change.verdict == DifferenceVerdict::Breaks && !change.accepted) {
        let (what, why) = advice(change, record);
        let index = actions.iter().position(|action| action.what == what).unwrap_or(actions.len());
        if index == actions.len() {
            actions.push(UpgradeAdvice { what, why: BTreeSet::new(), orders: BTreeSet::new(), scenarios: Vec::new() });
        }
        let action = &mut actions[index];
        action.why.insert(why);
        action.orders.extend(&change.orders);
        for scenario in &change.scenarios {
            if !action.scenarios.contains(scenario) {
                action.scenarios.push(scenario.clone());
            }
        }
    }
    actions
}

/// Returns the advice about a change, and the consequence of ignoring it.
fn advice(change: &DifferenceGroup, record: &UpgradeRecord) -> (String, String) {
    let is = change.is.clone().unwrap_or_default();
    match (change.kind, change.when) {
        (DifferenceKind::Upgrade, DifferencePeriod::Back) => {
            ("don't count on a way back".to_owned(), format!("the downgrade {is}"))
        }
        (DifferenceKind::Upgrade, _) => {
            let what = match record.product {
                Product::KubeFleet => "don't upgrade in this order".to_owned(),
                // There is no other order.
                Product::ArgoCd => format!("don't upgrade to {}", record.to),
            };
            (what, format!("the upgrade {is}"))
        }
        (DifferenceKind::Loss, _) => {
            ("take what would be lost out of the upgrade's way, or be ready to make it again".to_owned(), is)
        }
        (_, DifferencePeriod::After) => (
            "rewrite the runbooks that describe what no longer happens".to_owned(),
            format!("on {} {}", record.to, change.title()),
        ),
        _ if change.codes.is_empty() => {
            ("let what is under way end first: scenarios in flight fail".to_owned(), change.title())
        }
        _ => {
            let entries = change.codes.iter().filter_map(|code| diagnosis::entry(&code.0));
            let titles: Vec<String> = entries.map(|entry| format!("{} {}", entry.code, entry.title)).collect();
            let explain: Vec<String> = change.codes.iter().map(|code| format!("fleetdrill explain {code}")).collect();
            (
                format!("let such runs end first, or follow the remedy: {}", explain.join(", ")),
                format!("in flight they become {}", titles.join(", ")),
            )
        }
    }
}
