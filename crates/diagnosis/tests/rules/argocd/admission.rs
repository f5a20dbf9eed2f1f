use serde_json::{Value, json};

use super::shapes::{alone, cause, evidence, failing, fleet, object, refused};
use crate::shapes::{found, with};

const DENIED: &str = r#"admission webhook "validate.kyverno.svc" denied the request: the tag latest is not allowed"#;
const POLICY: &str = r#"deployments.apps "api" is forbidden: ValidatingAdmissionPolicy 'no-latest' with binding 'all' denied request: the tag latest is not allowed"#;
const DOWN: &str = r#"Internal error occurred: failed calling webhook "validate.kyverno.svc": failed to call webhook: Post "https://kyverno.kyverno.svc:443/validate?timeout=10s": dial tcp 10.0.0.7:443: connect: connection refused"#;
const GROUP: &str = "admissionregistration.k8s.io/v1";

fn webhook() -> Value {
    let entry = json!({
        "name": "validate.kyverno.svc", "failurePolicy": "Fail",
        "clientConfig": {"caBundle": "x", "service": {"namespace": "kyverno", "name": "kyverno"}},
    });
    with(object(GROUP, "ValidatingWebhookConfiguration", None, "kyverno"), "/webhooks", json!([entry]))
}

/// Objects for the test of robustness.
pub fn troubled() -> Vec<Value> {
    ["a", "b"].map(|name| failing(name, refused("Deployment", name, DOWN))).to_vec()
}

#[test]
fn a_webhook_that_says_no_is_quoted_with_its_configuration() {
    let snapshot = fleet(vec![failing("web", refused("Deployment", "api", DENIED))], vec![webhook()]);
    assert_eq!(found(&snapshot), ["AR-SF-004 Application/argocd/web (member-1)"]);
    assert_eq!(
        cause(&snapshot),
        "The apply failed: Deployment web/api of application argocd/web wasn't admitted on member-1. Admission webhook \
         validate.kyverno.svc denied it: the tag latest is not allowed."
    );
    let configuration = "member-1 ValidatingWebhookConfiguration/kyverno webhooks[validate.kyverno.svc]";
    assert_eq!(
        evidence(&snapshot)[2..],
        [
            format!("{configuration}.failurePolicy: Fail"),
            format!(r#"{configuration}.clientConfig.service: {{"namespace":"kyverno","name":"kyverno"}}"#),
            "member-1 Service/kyverno/kyverno metadata.name: (no such object)".to_owned(),
        ]
    );
}

#[test]
fn a_policy_that_says_no_is_quoted_with_its_validations() {
    let policy = with(
        object(GROUP, "ValidatingAdmissionPolicy", None, "no-latest"),
        "/spec/validations",
        json!([{"expression": "false"}]),
    );
    let snapshot = fleet(vec![failing("web", refused("Deployment", "api", POLICY))], vec![policy]);
    assert_eq!(found(&snapshot), ["AR-SF-004 Application/argocd/web (member-1)"]);
    assert!(cause(&snapshot).contains("ValidatingAdmissionPolicy no-latest (binding all) denied it: the tag"));
    assert!(
        evidence(&snapshot)[2]
            .ends_with(r#"ValidatingAdmissionPolicy/no-latest spec.validations: [{"expression":"false"}]"#)
    );
    assert_eq!(
        found(&alone(failing("web", refused("Deployment", "api", POLICY)))),
        ["AR-SF-004 Application/argocd/web"]
    );
}

#[test]
fn a_webhook_that_is_down_is_another_thing() {
    let one = failing("web", refused("Deployment", "api", DOWN));
    let snapshot = fleet(vec![one], vec![webhook()]);
    assert_eq!(found(&snapshot), ["AR-SF-004 Application/argocd/web (member-1)"]);
    assert!(cause(&snapshot).contains("Admission webhook validate.kyverno.svc couldn't be called: failed to call"));
    let remedies = &diagnosis::diagnose(&snapshot)[0].remedies;
    assert!(remedies[0].action.starts_with("Repair the webhook's service"), "{}", remedies[0].action);
}

#[test]
fn several_applications_that_fail_by_one_webhook_have_one_root() {
    let applications = || ["web", "api"].map(|n| failing(n, refused("Deployment", n, DOWN))).to_vec();
    let expected = [
        "AR-SF-014 ValidatingWebhookConfiguration/kyverno",
        "  AR-SF-004 Application/argocd/api (member-1)",
        "  AR-SF-004 Application/argocd/web (member-1)",
    ];
    assert_eq!(found(&fleet(applications(), vec![webhook()])), expected);
    let mut elsewhere = applications();
    elsewhere[1]["spec"]["destination"]["name"] = "member-2".into();
    assert_eq!(found(&fleet(elsewhere, vec![webhook()])).len(), 2);
}

#[test]
fn a_webhook_may_say_anything() {
    let text = r#"admission webhook "w" denied the request: spec.selector is immutable; User "x" cannot create resource "pods""#;
    assert_eq!(found(&alone(failing("web", refused("Deployment", "api", text)))), ["AR-SF-004 Application/argocd/web"]);
}
