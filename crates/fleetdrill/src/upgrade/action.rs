//! What an operator does about what breaks, made of the differences alone.

use std::collections::BTreeSet;

use fleet::upgrade::Order;
use serde::Serialize;

use super::difference::{Kind, Verdict, When};
use super::report::Change;

/// Something to do before an upgrade, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Action {
    /// What to do.
    pub what: String,
    /// What happens otherwise.
    pub why: BTreeSet<String>,
    /// The orders of upgrade in which it does.
    pub orders: BTreeSet<Order>,
    /// The scenarios that show it.
    pub scenarios: Vec<String>,
}

/// What to do about changes that break something and aren't in the baseline, in the changes' order; the same advice once.
pub(super) fn actions(changes: &[Change], to: &str) -> Vec<Action> {
    let mut actions: Vec<Action> = Vec::new();
    for change in changes.iter().filter(|change| change.verdict == Verdict::Breaks && !change.accepted) {
        let (what, why) = advice(change, to);
        let index = actions.iter().position(|action| action.what == what).unwrap_or(actions.len());
        if index == actions.len() {
            actions.push(Action { what, why: BTreeSet::new(), orders: BTreeSet::new(), scenarios: Vec::new() });
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

/// What to do about a change, and what happens otherwise.
fn advice(change: &Change, to: &str) -> (String, String) {
    let is = change.is.clone().unwrap_or_default();
    match (change.kind, change.when) {
        (Kind::Upgrade, When::Back) => ("don't count on a way back".to_owned(), format!("the downgrade {is}")),
        (Kind::Upgrade, _) => ("don't upgrade in this order".to_owned(), format!("the upgrade {is}")),
        (Kind::Loss, _) => {
            ("take what would be lost out of the upgrade's way, or be ready to make it again".to_owned(), is)
        }
        (_, When::After) => (
            "rewrite the runbooks that describe what no longer happens".to_owned(),
            format!("on {to} {}", change.title()),
        ),
        _ if change.codes.is_empty() => {
            ("let what is under way end first: scenarios in flight fail".to_owned(), change.title())
        }
        _ => {
            let codes: Vec<&str> = change.codes.iter().map(String::as_str).collect();
            let title = |code: &&str| diagnosis::entry(code).map(|entry| format!("{code} {}", entry.title));
            let titles: Vec<String> = codes.iter().filter_map(title).collect();
            let explain: Vec<String> = codes.iter().map(|code| format!("fleetdrill explain {code}")).collect();
            (
                format!("let such runs end first, or follow the remedy: {}", explain.join(", ")),
                format!("in flight they become {}", titles.join(", ")),
            )
        }
    }
}
