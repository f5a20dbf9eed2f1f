//! AR-SF-004: an admission webhook or policy that says no, or a webhook that can't be asked; and AR-SF-014, the webhook
//! itself, where several applications fail by it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::application::{Application, Operation, Outcome};
use super::destination::Destination;
use super::names::{objects, sentence};
use crate::rules::draft::{Draft, Topic};
use crate::{Evidence, Object, Subject};

const GROUP: &str = "admissionregistration.k8s.io";
const WEBHOOKS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

static WEBHOOK_DENIED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)admission webhook "([^"]+)" denied the request(?::| without explanation)?\s*(.*)"#)
        .expect("a valid pattern")
});
static UNREACHABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?s)failed calling webhook "([^"]+)":?\s*(.*)"#).expect("a valid pattern"));
static POLICY_DENIED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)ValidatingAdmissionPolicy '([^']+)' with binding '([^']+)' denied request:?\s*(.*)")
        .expect("a valid pattern")
});

/// Who kept a resource out, and in what words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denial<'a> {
    Webhook { name: &'a str, why: &'a str },
    Unreachable { name: &'a str, why: &'a str },
    Policy { name: &'a str, binding: &'a str, why: &'a str },
}

/// Who kept a resource out, by the API server's message.
pub(super) fn denial(message: &str) -> Option<Denial<'_>> {
    let found = |pattern: &Regex| {
        let groups = pattern.captures(message)?;
        Some([1, 2, 3].map(|n| groups.get(n).map_or("", |m| m.as_str())))
    };
    if let Some([name, why, _]) = found(&WEBHOOK_DENIED) {
        return Some(Denial::Webhook { name, why });
    }
    if let Some([name, binding, why]) = found(&POLICY_DENIED) {
        return Some(Denial::Policy { name, binding, why });
    }
    found(&UNREACHABLE).map(|[name, why, _]| Denial::Unreachable { name, why })
}

pub(super) fn draft(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Draft {
    let destination = application.destination();
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(outcomes.iter().map(|o| application.quote_outcome(*o)));
    let denial = outcomes.iter().find_map(|o| denial(o.message()));
    let Some(denial) = denial else { return super::other::of_resources(application, outcomes) };
    let (what, name, why, binding) = match denial {
        Denial::Webhook { name, why } => ("webhook", name, why, ""),
        Denial::Unreachable { name, why } => ("unreachable", name, why, ""),
        Denial::Policy { name, binding, why } => ("policy", name, why, binding),
    };
    let configuration = match denial {
        Denial::Policy { .. } => destination.object(GROUP, "ValidatingAdmissionPolicy", None, name),
        Denial::Webhook { .. } | Denial::Unreachable { .. } => configuration(destination, name),
    };
    match (denial, configuration) {
        (Denial::Policy { .. }, Some(policy)) => {
            evidence.push(destination.quote().field(policy, "spec.validations"));
            let bound = destination.object(GROUP, "ValidatingAdmissionPolicyBinding", None, binding);
            evidence.extend(bound.map(|b| destination.quote().field(b, "spec.validationActions")));
        }
        (_, Some(configuration)) => evidence.extend(webhook(destination, configuration, name)),
        (_, None) => {}
    }
    let names = json!({
        "objects": objects(outcomes),
        "what": what,
        "webhook": name,
        "binding": binding,
        "why": sentence(why),
        "configuration_ref": reference(what, name, configuration),
    });
    let draft = application.draft("AR-SF-004", &names, evidence);
    match denial {
        Denial::Unreachable { name, .. } => draft.follows(topic(destination, name)),
        Denial::Webhook { .. } | Denial::Policy { .. } => draft,
    }
}

/// What a person would look at: the object itself, or else all of its kinds.
fn reference(what: &str, name: &str, configuration: Option<Object<'_>>) -> Vec<String> {
    match (configuration, what) {
        (Some(object), _) => crate::rules::kubectl::reference(object),
        (None, "policy") => vec![format!("validatingadmissionpolicies.{GROUP}/{name}")],
        (None, _) => vec!["validatingwebhookconfigurations,mutatingwebhookconfigurations".to_owned()],
    }
}

/// The configuration that has a webhook.
fn configuration<'a>(destination: Destination<'a>, webhook: &str) -> Option<Object<'a>> {
    let has = |object: &Object<'_>| entry(*object, webhook).is_some();
    WEBHOOKS.into_iter().flat_map(|kind| destination.of_kind(GROUP, kind)).find(has)
}

fn entry<'a>(configuration: Object<'a>, webhook: &str) -> Option<&'a Value> {
    configuration.list("/webhooks").iter().find(|w| w.get("name").and_then(Value::as_str) == Some(webhook))
}

/// How a webhook is asked, what happens when it can't be, and whether its service is there.
fn webhook(destination: Destination<'_>, configuration: Object<'_>, name: &str) -> Vec<Evidence> {
    let Some(entry) = entry(configuration, name) else { return Vec::new() };
    let quote = destination.quote();
    let field = |pointer: &str, path: &str| {
        let value = match entry.pointer(pointer)? {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        Some(quote.text(configuration, &format!("webhooks[{name}].{path}"), value, None))
    };
    let mut evidence: Vec<_> = [
        field("/failurePolicy", "failurePolicy"),
        field("/clientConfig/service", "clientConfig.service"),
        field("/clientConfig/url", "clientConfig.url"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str);
    let service = text("/clientConfig/service/namespace").zip(text("/clientConfig/service/name"));
    if let Some((namespace, service)) = service.filter(|_| destination.is_read()) {
        evidence.push(match destination.object("", "Service", Some(namespace), service) {
            Some(object) => quote.field(object, "spec.selector"),
            None => quote.absent("Service", Some(namespace), service),
        });
    }
    evidence
}

fn topic(destination: Destination<'_>, webhook: &str) -> Topic {
    Topic::Webhook { cluster: destination.name().to_owned(), name: webhook.to_owned() }
}

/// AR-SF-014: one finding for each webhook that several applications fail by.
pub(super) fn shared(applications: &[Application<'_>]) -> Vec<Draft> {
    let mut by_webhook: BTreeMap<(&str, &str), Vec<(Application<'_>, Outcome<'_>)>> = BTreeMap::new();
    for application in applications.iter().filter(|a| a.operation() == Operation::Failed) {
        let down = application.outcomes().filter(|o| o.is_refused()).find_map(|o| match denial(o.message()) {
            Some(Denial::Unreachable { name, .. }) => Some((name, o)),
            _ => None,
        });
        if let Some((name, outcome)) = down {
            by_webhook.entry((application.destination().name(), name)).or_default().push((*application, outcome));
        }
    }
    let several = by_webhook.into_iter().filter(|(_, failed)| failed.len() > 1);
    several.map(|((_, name), failed)| of_several(name, &failed)).collect()
}

fn of_several(name: &str, failed: &[(Application<'_>, Outcome<'_>)]) -> Draft {
    let (first, outcome) = failed[0];
    let destination = first.destination();
    let configuration = configuration(destination, name);
    let mut evidence: Vec<_> = failed.iter().map(|(application, o)| application.quote_outcome(*o)).collect();
    evidence.extend(configuration.into_iter().flat_map(|c| webhook(destination, c, name)));
    let mut applications: Vec<_> = failed.iter().map(|(application, _)| application.full_name()).collect();
    applications.sort();
    let why = match denial(outcome.message()) {
        Some(Denial::Unreachable { why, .. }) => sentence(why),
        _ => String::new(),
    };
    let names = json!({
        "webhook": name,
        "why": why,
        "destination_cluster": destination.cluster_name(),
        "destination": destination.name(),
        "applications": applications.join(", "),
        "configuration_ref": reference("webhook", name, configuration),
    });
    let subject = Subject {
        cluster: destination.name().to_owned(),
        kind: configuration.map_or(WEBHOOKS[0], |c| c.kind()).to_owned(),
        namespace: None,
        name: configuration.map_or(name, |c| c.name()).to_owned(),
        stage: None,
        member: None,
    };
    Draft::new("AR-SF-014", subject, &names, evidence).about(topic(destination, name))
}

#[cfg(test)]
mod tests {
    use super::{Denial, denial};

    #[test]
    fn webhooks_and_policies_are_told_apart_and_so_is_one_that_is_down() {
        let denied = r#"admission webhook "w.example.com" denied the request: no: latest"#;
        assert_eq!(denial(denied), Some(Denial::Webhook { name: "w.example.com", why: "no: latest" }));
        let policy =
            "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
        assert_eq!(denial(policy), Some(Denial::Policy { name: "p", binding: "b", why: "no" }));
        let down =
            r#"Internal error occurred: failed calling webhook "w": failed to call webhook: Post "https://x": refused"#;
        let why = r#"failed to call webhook: Post "https://x": refused"#;
        assert_eq!(denial(down), Some(Denial::Unreachable { name: "w", why }));
        assert_eq!(denial("Deployment.apps \"web\" is invalid"), None);
    }
}
