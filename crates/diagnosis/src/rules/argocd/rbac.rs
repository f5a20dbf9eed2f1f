//! AR-SF-008: Argo CD isn't allowed to do something on the destination.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::application::{ApplicationView, ResourceResult};
use super::destination::Destination;
use super::names::object_names;
use super::project::{project_name, project_of, project_reference};
use crate::Evidence;
use crate::command::{KubectlVerb, RemedyCommand};
use crate::rules::apply_error::{RefusedRequest, read_refusal};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::message::for_sentence;
use crate::rules::pattern::pattern_of_any_case;

/// Verbs that Argo CD needs for a kind that it manages. If only the refused verb were allowed, the next verb would be
/// refused.
const VERBS: [&str; 7] = ["get", "list", "watch", "create", "update", "patch", "delete"];

/// `failed to find a matching service account to impersonate: ...` (v3.2), `no matching service account found for destination server ...`
/// (v3.5).
static NO_ACCOUNT: LazyLock<Regex> =
    LazyLock::new(|| pattern_of_any_case("service ?account to impersonate|no matching service ?account found"));

/// Creates the finding for resources that couldn't be applied.
pub(super) fn failed_resources(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(results.iter().map(|r| application.quote_result(*r)));
    let refusals: Vec<_> = results.iter().filter_map(|r| read_refusal(r.message())).collect();
    draft(application, "apply", &object_names(results), &refusals, evidence)
}

/// Creates the finding for live state that couldn't be read, if the message tells of a refused request.
pub(super) fn failed_comparison(
    application: ApplicationView<'_>,
    message: &str,
    evidence: &[Evidence],
) -> Option<FindingDraft> {
    Some(draft(application, "comparison", "", &[read_refusal(message)?], evidence.to_vec()))
}

/// Creates the finding for an operation that was refused as a whole, or that has no service account to impersonate.
pub(super) fn failed_operation(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let message = application.operation_field("message");
    let mut evidence = vec![application.quote_operation()];
    if let Some(refusal) = read_refusal(message) {
        return Some(draft(application, "apply", "", &[refusal], evidence));
    }
    if !NO_ACCOUNT.is_match(message) {
        return None;
    }
    let project = project_of(application);
    evidence.extend(project.map(|p| application.quote().field(p, "spec.destinationServiceAccounts")));
    let names = json!({
        "project": project_name(application),
        "project_ref": project_reference(application),
        "side": "impersonation",
        "message": for_sentence(message),
        "objects": "", "user": "", "verb": "", "resource": "", "group": "", "where": "", "allow": [],
    });
    Some(application.draft(RuleCode::AR_SF_008, &names, evidence))
}

fn draft(
    application: ApplicationView<'_>,
    side: &str,
    objects: &str,
    refusals: &[RefusedRequest<'_>],
    evidence: Vec<Evidence>,
) -> FindingDraft {
    let first = refusals[0];
    let destination = application.destination();
    let mut allow: Vec<RemedyCommand> = refusals.iter().flat_map(|r| allow_commands(*r, destination)).collect();
    let mut seen = std::collections::HashSet::new();
    allow.retain(|command| seen.insert(command.clone()));
    let names = json!({
        "project": project_name(application),
        "project_ref": [],
        "side": side,
        "message": "",
        "objects": objects,
        "user": first.user,
        "verb": first.verb,
        "resource": first.resource,
        "group": first.group,
        "where": first.namespace.map_or_else(|| "in the whole cluster".to_owned(), |n| format!("in namespace {n}")),
        "allow": allow,
    });
    application.draft(RuleCode::AR_SF_008, &names, evidence)
}

/// Returns the commands that create a role and bind it to the user.
fn allow_commands(refusal: RefusedRequest<'_>, destination: Destination<'_>) -> Vec<RemedyCommand> {
    let (kind, namespace) = match refusal.namespace {
        Some(namespace) => ("Role", Some(namespace)),
        None => ("ClusterRole", None),
    };
    let group = if refusal.group.is_empty() { String::new() } else { format!("-{}", refusal.group) };
    let name = format!("argocd-{}{group}", refusal.resource.replace('/', "-"));
    let mut verbs = VERBS.to_vec();
    if !verbs.contains(&refusal.verb) {
        verbs.push(refusal.verb);
    }
    let metadata = match namespace {
        Some(namespace) => json!({"name": name, "namespace": namespace}),
        None => json!({"name": name}),
    };
    let api = "rbac.authorization.k8s.io";
    let role = json!({
        "apiVersion": format!("{api}/v1"), "kind": kind, "metadata": metadata,
        "rules": [{"apiGroups": [refusal.group], "resources": [refusal.resource], "verbs": verbs}],
    });
    let binding = json!({
        "apiVersion": format!("{api}/v1"), "kind": format!("{kind}Binding"), "metadata": metadata,
        "roleRef": {"apiGroup": api, "kind": kind, "name": name},
        "subjects": [binding_subject(refusal.user)],
    });
    let commands = [role, binding]
        .map(|object| destination.kubectl(KubectlVerb::Apply, ["-f".to_owned(), "-".to_owned()], Some(object)));
    commands.into()
}

/// Returns a user as the subject of a role binding. `system:serviceaccount:NAMESPACE:NAME` is a service account.
fn binding_subject(user: &str) -> Value {
    let account = user.strip_prefix("system:serviceaccount:").and_then(|a| a.split_once(':'));
    match account {
        Some((namespace, name)) => json!({"kind": "ServiceAccount", "namespace": namespace, "name": name}),
        None => json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}),
    }
}
