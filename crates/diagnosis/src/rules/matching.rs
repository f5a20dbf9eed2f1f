//! Label selectors, matched as the controllers match `MemberClusters`.

use crate::object::{list_field, text_field};
use crate::{JsonFields, JsonRef, Object};

/// True if a selector matches an object. A missing selector matches nothing, an empty one everything. A selector with
/// an unknown operator is invalid and matches nothing.
pub(super) fn selects(selector: Option<JsonRef<'_>>, object: Object<'_>) -> bool {
    let Some(selector) = selector.filter(|selector| selector.as_object().is_some()) else { return false };
    let labels = selector.get("matchLabels").and_then(JsonRef::as_object).map(JsonFields::iter);
    let equal = labels.into_iter().flatten().all(|(key, value)| object.label(key) == value.as_str());
    let expressions = selector.get("matchExpressions").and_then(JsonRef::as_array);
    equal && expressions.into_iter().flatten().all(|e| matches_expression(e, object))
}

fn matches_expression(expression: JsonRef<'_>, object: Object<'_>) -> bool {
    let label = object.label(text_field(expression, "key"));
    let values: Vec<_> = list_field(expression, "values").iter().filter_map(JsonRef::as_str).collect();
    is_met(text_field(expression, "operator"), label, &values)
}

/// True if a label's value, or its absence, meets a requirement. No value meets an unknown operator.
pub(super) fn is_met(operator: &str, label: Option<&str>, values: &[&str]) -> bool {
    let among = label.is_some_and(|label| values.contains(&label));
    match operator {
        "In" => among,
        "NotIn" => !among,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        _ => false,
    }
}

/// True if the API machinery refuses to parse a label selector: an operator without the values that it needs, or with values that it may
/// not have.
pub(super) fn is_invalid(selector: JsonRef<'_>) -> bool {
    let expressions = selector.get("matchExpressions").and_then(JsonRef::as_array);
    expressions.into_iter().flatten().any(|expression| {
        let has_values = expression.get("values").and_then(JsonRef::as_array).is_some_and(|values| !values.is_empty());
        match text_field(expression, "operator") {
            "In" | "NotIn" => !has_values,
            "Exists" | "DoesNotExist" => has_values,
            _ => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn selectors_choose_as_kubernetes_does() {
        let member = json!({"metadata": {"labels": {"env": "canary", "tier": "1"}}});
        let chosen = |selector: &Value| selects(Some(selector.into()), Object::new(&member));
        assert!(chosen(&json!({})));
        assert!(chosen(&json!({"matchLabels": {"env": "canary"}})));
        assert!(!chosen(&json!({"matchLabels": {"env": "prod"}})));
        assert!(chosen(&json!({"matchExpressions": [{"key": "env", "operator": "In", "values": ["canary"]}]})));
        assert!(!chosen(&json!({"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["canary"]}]})));
        assert!(chosen(&json!({"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]})));
        assert!(!chosen(&json!({"matchExpressions": [{"key": "env", "operator": "Near"}]})));
        assert!(!selects(None, Object::new(&member)));
    }

    #[test]
    fn operators_need_their_values() {
        let invalid = |expression: Value| is_invalid(JsonRef::from(&json!({"matchExpressions": [expression]})));
        assert!(!is_invalid(JsonRef::from(&json!({"matchLabels": {"env": "canary"}}))));
        assert!(invalid(json!({"key": "env", "operator": "In"})));
        assert!(invalid(json!({"key": "env", "operator": "NotIn", "values": []})));
        assert!(!invalid(json!({"key": "env", "operator": "In", "values": ["canary"]})));
        assert!(invalid(json!({"key": "env", "operator": "Exists", "values": ["canary"]})));
        assert!(!invalid(json!({"key": "env", "operator": "DoesNotExist"})));
        assert!(invalid(json!({"key": "env", "operator": "Near"})));
    }
}
