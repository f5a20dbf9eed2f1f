//! How a placement applies: `spec.strategy.applyStrategy`.

use serde_json::Value;

/// What KubeFleet fills in where a placement says nothing of how it applies: fields and their values (the CRD's schema of
/// v0.1.2 and v0.14.0).
pub const APPLY_DEFAULTS: [(&str, &str); 4] = [
    ("comparisonOption", "PartialComparison"),
    ("type", "ClientSideApply"),
    ("whenToApply", "Always"),
    ("whenToTakeOver", "Always"),
];

/// Whether an apply strategy, which may be absent, says no more than what counts without it.
pub(crate) fn is_default(strategy: Option<&Value>) -> bool {
    let field = |(name, value): (&String, &Value)| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(value) => APPLY_DEFAULTS.contains(&(name, value)),
        _ => false,
    };
    match strategy {
        None | Some(Value::Null) => true,
        Some(strategy) => strategy.as_object().is_some_and(|fields| fields.iter().all(field)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_default;

    #[test]
    fn what_is_filled_in_anyway_is_no_more_than_the_default() {
        assert!(is_default(None));
        assert!(is_default(Some(&json!({}))));
        assert!(is_default(Some(&json!({"type": "ClientSideApply", "allowCoOwnership": false}))));
        assert!(!is_default(Some(&json!({"type": "ServerSideApply"}))));
        assert!(!is_default(Some(&json!({"allowCoOwnership": true}))));
        assert!(!is_default(Some(&json!({"serverSideApplyConfig": {"force": true}}))));
    }
}
