//! AR-SF-002: a field that can't be changed in place.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{Application, Outcome};
use super::names::{objects, sentence};
use crate::rules::draft::Draft;

/// There is no reason for it but `Invalid` and `Forbidden`, which stand for much else.
static IMMUTABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\bimmutable\b|may not change once set|cannot (?:be changed|change roleref)|may not change fields|updates to \S+(?: spec for fields other than .*)? are forbidden",
    )
    .expect("a valid pattern")
});
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b([a-z][A-Za-z]*(?:\[[^\]]*\]|\.[A-Za-z]+)*): (?:Invalid value|Forbidden)").expect("a valid pattern")
});

pub(super) fn is(message: &str) -> bool {
    IMMUTABLE.is_match(message)
}

pub(super) fn draft(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Draft {
    let destination = application.destination();
    let mut evidence = vec![application.quote_operation()];
    let mut field = "";
    for outcome in outcomes {
        evidence.push(application.quote_outcome(*outcome));
        let named = FIELD.captures(outcome.message()).and_then(|c| c.get(1)).map_or("", |f| f.as_str());
        field = if field.is_empty() { named } else { field };
        let (group, kind, name) = (outcome.text("group"), outcome.text("kind"), outcome.text("name"));
        if let Some(live) = destination.object(group, kind, outcome.namespace(), name).filter(|_| !named.is_empty()) {
            let path = named.split('[').next().unwrap_or(named);
            evidence.push(destination.quote().field(live, path));
        }
    }
    let names = json!({
        "objects": objects(outcomes),
        "refs": outcomes.iter().map(|o| o.reference()).collect::<Vec<_>>(),
        "field": field,
        "message": sentence(outcomes.first().map_or("", |o| o.message())),
        "is_service": outcomes.iter().any(|o| o.text("kind") == "Service"),
    });
    application.draft("AR-SF-002", &names, evidence)
}
