//! AR-SF-004: an admission webhook or policy denies a resource, or a webhook can't be called. AR-SF-014: the same
//! webhook can't be called for several applications.

use std::collections::BTreeMap;

use serde_json::json;

use super::application::{ApplicationView, OperationState, ResourceResult};
use super::destination::Destination;
use super::names::object_names;
use crate::rules::apply_error::{AdmissionDenial, read_denial};
use crate::rules::code::RuleCode;
use crate::rules::draft::{AffectedPart, FindingDraft};
use crate::rules::message::for_sentence;
use crate::{Evidence, JsonRef, Object, Subject};

const GROUP: &str = "admissionregistration.k8s.io";
const WEBHOOKS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

pub(super) fn draft(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    let destination = application.destination();
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(results.iter().map(|r| application.quote_result(*r)));
    let denial = results.iter().find_map(|r| read_denial(r.message()));
    let Some(denial) = denial else { return super::unrecognized::failed_resources(application, results) };
    let (what, name, why, binding) = match denial {
        AdmissionDenial::Webhook { name, why } => ("webhook", name, why, ""),
        AdmissionDenial::Unreachable { name, why } => ("unreachable", name, why, ""),
        AdmissionDenial::Policy { name, binding, why } => ("policy", name, why, binding),
    };
    let configuration = match denial {
        AdmissionDenial::Policy { .. } => destination.object(GROUP, "ValidatingAdmissionPolicy", None, name),
        AdmissionDenial::Webhook { .. } | AdmissionDenial::Unreachable { .. } => {
            webhook_configuration(destination, name)
        }
    };
    match (denial, configuration) {
        (AdmissionDenial::Policy { .. }, Some(policy)) => {
            evidence.push(destination.quote().field(policy, "spec.validations"));
            let bound = destination.object(GROUP, "ValidatingAdmissionPolicyBinding", None, binding);
            evidence.extend(bound.map(|b| destination.quote().field(b, "spec.validationActions")));
        }
        (_, Some(configuration)) => evidence.extend(webhook_evidence(destination, configuration, name)),
        (_, None) => {}
    }
    let names = json!({
        "objects": object_names(results),
        "what": what,
        "webhook": name,
        "binding": binding,
        "why": for_sentence(why),
        "configuration_ref": configuration_reference(what, name, configuration),
    });
    let draft = application.draft(RuleCode::AR_SF_004, &names, evidence);
    match denial {
        AdmissionDenial::Unreachable { name, .. } => draft.depends_on(webhook_part(destination, name)),
        AdmissionDenial::Webhook { .. } | AdmissionDenial::Policy { .. } => draft,
    }
}

/// Returns the words by which kubectl finds the webhook's configuration or the policy, or all configurations if the
/// object isn't known.
fn configuration_reference(what: &str, name: &str, configuration: Option<Object<'_>>) -> Vec<String> {
    match (configuration, what) {
        (Some(object), _) => crate::rules::kubectl::reference(object),
        (None, "policy") => vec![format!("validatingadmissionpolicies.{GROUP}/{name}")],
        (None, _) => vec!["validatingwebhookconfigurations,mutatingwebhookconfigurations".to_owned()],
    }
}

/// Returns the webhook configuration that contains a webhook.
fn webhook_configuration<'a>(destination: Destination<'a>, webhook: &str) -> Option<Object<'a>> {
    let mut configurations = WEBHOOKS.into_iter().flat_map(|kind| destination.of_kind(GROUP, kind));
    configurations.find(|configuration| webhook_entry(*configuration, webhook).is_some())
}

fn webhook_entry<'a>(configuration: Object<'a>, webhook: &str) -> Option<JsonRef<'a>> {
    configuration.list("/webhooks").iter().find(|w| w.get("name").and_then(JsonRef::as_str) == Some(webhook))
}

/// Returns evidence of a webhook's address and failure policy, and of its Service or the Service's absence.
fn webhook_evidence(destination: Destination<'_>, configuration: Object<'_>, name: &str) -> Vec<Evidence> {
    let Some(entry) = webhook_entry(configuration, name) else { return Vec::new() };
    let quote = destination.quote();
    let mut evidence = Vec::new();
    for path in ["failurePolicy", "clientConfig.service", "clientConfig.url"] {
        let value = match entry.pointer(&format!("/{}", path.replace('.', "/"))) {
            Some(value) => value.to_text(),
            None => continue,
        };
        evidence.push(quote.text(configuration, &format!("webhooks[{name}].{path}"), value, None));
    }
    if let Some((namespace, service)) = service_of(entry).filter(|_| destination.is_read()) {
        evidence.push(match destination.object("", "Service", Some(namespace), service) {
            Some(object) => quote.field(object, "spec.selector"),
            None => quote.absent("Service", Some(namespace), service),
        });
    }
    evidence
}

/// Returns namespace and name of the Service that a webhook is called at.
fn service_of(webhook: JsonRef<'_>) -> Option<(&str, &str)> {
    let service = webhook.pointer("/clientConfig/service")?;
    Some((service.get("namespace")?.as_str()?, service.get("name")?.as_str()?))
}

fn webhook_part(destination: Destination<'_>, webhook: &str) -> AffectedPart {
    AffectedPart::Webhook { cluster: destination.name().to_owned(), name: webhook.to_owned() }
}

/// AR-SF-014: one finding for each webhook that can't be called for several applications.
pub(super) fn shared_webhooks(applications: &[ApplicationView<'_>]) -> Vec<FindingDraft> {
    let mut by_webhook: BTreeMap<(&str, &str), Vec<(ApplicationView<'_>, ResourceResult<'_>)>> = BTreeMap::new();
    for application in applications.iter().filter(|a| a.operation_state() == OperationState::Failed) {
        let down = application.results().filter(|r| r.is_refused()).find_map(|r| match read_denial(r.message()) {
            Some(AdmissionDenial::Unreachable { name, .. }) => Some((name, r)),
            _ => None,
        });
        if let Some((name, result)) = down {
            by_webhook.entry((application.destination().name(), name)).or_default().push((*application, result));
        }
    }
    let several = by_webhook.into_iter().filter(|(_, failed)| failed.len() > 1);
    several.map(|((_, name), failed)| shared_webhook(name, &failed)).collect()
}

fn shared_webhook(name: &str, failed: &[(ApplicationView<'_>, ResourceResult<'_>)]) -> FindingDraft {
    let (first, result) = failed[0];
    let destination = first.destination();
    let configuration = webhook_configuration(destination, name);
    let mut evidence: Vec<_> = failed.iter().map(|(application, r)| application.quote_result(*r)).collect();
    evidence.extend(configuration.into_iter().flat_map(|c| webhook_evidence(destination, c, name)));
    let mut applications: Vec<_> = failed.iter().map(|(application, _)| application.full_name()).collect();
    applications.sort();
    let why = match read_denial(result.message()) {
        Some(AdmissionDenial::Unreachable { why, .. }) => for_sentence(why),
        _ => String::new(),
    };
    let names = json!({
        "webhook": name,
        "why": why,
        "destination_cluster": destination.cluster_name(),
        "destination": destination.name(),
        "applications": applications.join(", "),
        "configuration_ref": configuration_reference("webhook", name, configuration),
    });
    let subject = Subject {
        cluster: destination.name().to_owned(),
        kind: configuration.map_or(WEBHOOKS[0], |c| c.kind()).to_owned(),
        namespace: None,
        name: configuration.map_or(name, |c| c.name()).to_owned(),
        stage: None,
        member: None,
    };
    FindingDraft::new(RuleCode::AR_SF_014, subject, &names, evidence).affects(webhook_part(destination, name))
}
