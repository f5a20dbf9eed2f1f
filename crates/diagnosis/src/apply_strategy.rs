//! Defaults of a placement's `spec.strategy.applyStrategy`.

use serde_json::Value;

/// Fields that KubeFleet sets in an apply strategy that leaves them out, with their default values (the CRD's schema of
/// v0.1.2 and v0.14.0).
pub const APPLY_DEFAULTS: [(&str, &str); 4] = [
    ("comparisonOption", "PartialComparison"),
    ("type", "ClientSideApply"),
    ("whenToApply", "Always"),
    ("whenToTakeOver", "Always"),
];

/// True if an apply strategy is absent, or sets every field to its default value.
pub(crate) fn is_default(strategy: Option<&Value>) -> bool {
    match strategy {
        None | Some(Value::Null) => true,
        Some(strategy) => {
            strategy.as_object().is_some_and(|fields| fields.iter().all(|(name, value)| is_default_field(name, value)))
        }
    }
}

fn is_default_field(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(value) => APPLY_DEFAULTS.contains(&(name, value)),
        _ => false,
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
