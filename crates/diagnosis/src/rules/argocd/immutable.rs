//! AR-SF-002: a field can't be changed in place.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{ApplicationView, ResourceResult};
use super::names::object_names;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::message::for_sentence;
use crate::rules::pattern::{group, pattern};

static FIELD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?<field>[a-z][A-Za-z]*(?:\[[^\]]*\]|\.[A-Za-z]+)*): (?:Invalid value|Forbidden)"));

pub(super) fn draft(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    let destination = application.destination();
    let mut evidence = vec![application.quote_operation()];
    let mut field = "";
    for result in results {
        evidence.push(application.quote_result(*result));
        let named = FIELD.captures(result.message()).map_or("", |captures| group(&captures, "field"));
        field = if field.is_empty() { named } else { field };
        let (group, kind, name) = (result.text("group"), result.text("kind"), result.text("name"));
        if let Some(live) = destination.object(group, kind, result.namespace(), name).filter(|_| !named.is_empty()) {
            let path = named.split('[').next().unwrap_or(named);
            evidence.push(destination.quote().field(live, path));
        }
    }
    let names = json!({
        "objects": object_names(results),
        "refs": results.iter().map(|r| r.reference()).collect::<Vec<_>>(),
        "field": field,
        "message": for_sentence(results.first().map_or("", |r| r.message())),
        "is_service": results.iter().any(|r| r.text("kind") == "Service"),
    });
    application.draft(RuleCode::AR_SF_002, &names, evidence)
}
