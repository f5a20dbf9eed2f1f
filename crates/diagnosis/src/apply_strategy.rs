//! Defaults of a placement's `spec.strategy.applyStrategy`.

use crate::{JsonFields, JsonRef};

/// Fields that KubeFleet sets in an apply strategy that leaves them out, with their default values (the CRD's schema of
/// v0.1.2 and v0.14.0).
pub const APPLY_DEFAULTS: [(&str, &str); 4] = [
    ("comparisonOption", "PartialComparison"),
    ("type", "ClientSideApply"),
    ("whenToApply", "Always"),
    ("whenToTakeOver", "Always"),
];

/// True if an apply strategy is absent, or sets every field to its default value.
pub(crate) fn is_default(strategy: Option<JsonRef<'_>>) -> bool {
    strategy.filter(|strategy| !strategy.is_null()).is_none_or(|strategy| {
        let fields = strategy.as_object().map(JsonFields::iter);
        fields.is_some_and(|mut fields| fields.all(|(name, value)| is_default_field(name, value)))
    })
}

fn is_default_field(name: &str, value: JsonRef<'_>) -> bool {
    let is_default_text = value.as_str().is_some_and(|text| APPLY_DEFAULTS.contains(&(name, text)));
    value.is_null() || value.as_bool() == Some(false) || is_default_text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_default;

    #[test]
    fn what_is_filled_in_anyway_is_no_more_than_the_default() {
        assert!(is_default(None));
        assert!(is_default(Some((&json!({})).into())));
        assert!(is_default(Some((&json!({"type": "ClientSideApply", "allowCoOwnership": false})).into())));
        assert!(!is_default(Some((&json!({"type": "ServerSideApply"})).into())));
        assert!(!is_default(Some((&json!({"allowCoOwnership": true})).into())));
        assert!(!is_default(Some((&json!({"serverSideApplyConfig": {"force": true}})).into())));
    }
}
