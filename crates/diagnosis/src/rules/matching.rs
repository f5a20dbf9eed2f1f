//! Label selectors, as the controllers apply them to `MemberClusters`.

use serde_json::Value;

use crate::Object;

/// Whether a selector chooses an object. No selector chooses nothing, an empty one everything; one with an operator
/// that doesn't exist is invalid and chooses nothing.
pub(super) fn selects(selector: Option<&Value>, object: Object<'_>) -> bool {
    let Some(selector) = selector.filter(|s| s.is_object()) else { return false };
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let equal = labels.into_iter().flatten().all(|(key, value)| object.label(key) == value.as_str());
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    equal && expressions.into_iter().flatten().all(|e| holds(e, object))
}

fn holds(expression: &Value, object: Object<'_>) -> bool {
    let text = |name| expression.get(name).and_then(Value::as_str).unwrap_or_default();
    let label = object.label(text("key"));
    let values = expression.get("values").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let among = label.is_some_and(|label| values.iter().any(|v| v.as_str() == Some(label)));
    match text("operator") {
        "In" => among,
        "NotIn" => !among,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_choose_as_kubernetes_does() {
        let member = json!({"metadata": {"labels": {"env": "canary", "tier": "1"}}});
        let chosen = |selector: &Value| selects(Some(selector), Object::new(&member));
        assert!(chosen(&json!({})));
        assert!(chosen(&json!({"matchLabels": {"env": "canary"}})));
        assert!(!chosen(&json!({"matchLabels": {"env": "prod"}})));
        assert!(chosen(&json!({"matchExpressions": [{"key": "env", "operator": "In", "values": ["canary"]}]})));
        assert!(!chosen(&json!({"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["canary"]}]})));
        assert!(chosen(&json!({"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]})));
        assert!(!chosen(&json!({"matchExpressions": [{"key": "env", "operator": "Near"}]})));
        assert!(!selects(None, Object::new(&member)));
    }
}
