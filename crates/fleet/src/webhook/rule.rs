//! Rules by which the webhook refuses objects.

use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse};
use serde::{Deserialize, Serialize};

/// A rule that requires a label on objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequiredLabelRule {
    /// Key of the label.
    pub label: String,
    /// Message about an object without the label.
    pub message: String,
    /// True to deny objects without the label; otherwise they are admitted, with the message as a warning.
    pub enforced: bool,
}

impl RequiredLabelRule {
    /// Answers an API server's admission request.
    pub(super) fn answer(&self, request: &AdmissionRequest<DynamicObject>) -> AdmissionResponse {
        let mut answer = AdmissionResponse::from(request);
        // A deletion has no new object, so nothing has to comply.
        let complies = request.object.as_ref().is_none_or(|object| object.labels().contains_key(&self.label));
        if complies {
            return answer;
        }
        if self.enforced {
            return answer.deny(&self.message);
        }
        answer.warnings = Some(vec![self.message.clone()]);
        answer
    }
}

#[cfg(test)]
mod tests {
    use kube::api::DynamicObject;
    use kube::core::admission::AdmissionReview;
    use serde_json::{Value, json};

    use super::RequiredLabelRule;

    fn answer(enforced: bool, object: &Value) -> Value {
        let rule = RequiredLabelRule { label: "owner".into(), message: "no owner".into(), enforced };
        let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
        let resource = json!({"group": "", "version": "v1", "resource": "configmaps"});
        let review: AdmissionReview<DynamicObject> = serde_json::from_value(json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "u-1", "kind": kind, "resource": resource, "name": "settings", "operation": "CREATE",
                "userInfo": {"username": "argocd"}, "object": object, "dryRun": false,
            },
        }))
        .expect("a review");
        let request = review.try_into().expect("a request");
        serde_json::to_value(rule.answer(&request).into_review()).expect("JSON")["response"].take()
    }

    #[test]
    fn only_an_object_without_the_label_is_denied_and_only_while_the_rule_is_enforced() {
        let object = |labels: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": labels}});
        let (without, with) = (object(json!({})), object(json!({"owner": "shop"})));
        let denied = answer(true, &without);
        assert_eq!((&denied["uid"], &denied["allowed"]), (&json!("u-1"), &json!(false)));
        assert_eq!(denied["status"]["message"], "no owner");
        assert_eq!(answer(true, &with)["allowed"], true);
        assert_eq!(answer(true, &Value::Null)["allowed"], true, "it is deleted");
        let warned = answer(false, &without);
        assert_eq!((&warned["allowed"], &warned["warnings"]), (&json!(true), &json!(["no owner"])));
    }
}
