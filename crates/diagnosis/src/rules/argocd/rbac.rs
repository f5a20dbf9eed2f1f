//! AR-SF-008: what Argo CD isn't allowed to do on the destination.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::application::{Application, Outcome};
use super::destination::Destination;
use super::names::{objects, sentence};
use crate::command::{Command, KubectlVerb};
use crate::rules::draft::Draft;
use crate::rules::kubectl;
use crate::{Evidence, PROJECT};

/// The rest of what Argo CD needs of a kind that it manages: with the verb that was refused alone, the next one would be.
const VERBS: [&str; 7] = ["get", "list", "watch", "create", "update", "patch", "delete"];

/// The authorizer's words, which are the same for all verbs and kinds.
static REFUSAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"User "(?<user>[^"]+)" cannot (?<verb>\w+) resource "(?<resource>[^"]+)"(?: in API group "(?<group>[^"]*)")?(?: in the namespace "(?<namespace>[^"]+)")?"#,
    )
    .expect("a valid pattern")
});
static NO_ACCOUNT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)service ?account to impersonate").expect("a valid pattern"));

/// What was refused to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal<'a> {
    user: &'a str,
    verb: &'a str,
    resource: &'a str,
    group: &'a str,
    /// None for the whole cluster.
    namespace: Option<&'a str>,
}

/// What a message says was refused.
pub(super) fn refusal(message: &str) -> Option<Refusal<'_>> {
    let found = REFUSAL.captures(message)?;
    let text = |name| found.name(name).map(|m| m.as_str());
    Some(Refusal {
        user: text("user")?,
        verb: text("verb")?,
        resource: text("resource")?,
        group: text("group").unwrap_or_default(),
        namespace: text("namespace"),
    })
}

/// Resources that couldn't be applied.
pub(super) fn of_resources(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Draft {
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(outcomes.iter().map(|o| application.quote_outcome(*o)));
    let refusals: Vec<_> = outcomes.iter().filter_map(|o| refusal(o.message())).collect();
    draft(application, "apply", &objects(outcomes), &refusals, evidence)
}

/// The live state that couldn't be read.
pub(super) fn of_comparison(application: Application<'_>, message: &str, evidence: &[Evidence]) -> Option<Draft> {
    Some(draft(application, "comparison", "", &[refusal(message)?], evidence.to_vec()))
}

/// An operation that was refused as a whole, or that has no account to act as.
pub(super) fn of_operation(application: Application<'_>) -> Option<Draft> {
    let message = application.state("message");
    let mut evidence = vec![application.quote_operation()];
    if let Some(refusal) = refusal(message) {
        return Some(draft(application, "apply", "", &[refusal], evidence));
    }
    if !NO_ACCOUNT.is_match(message) {
        return None;
    }
    let project = application.object.str("/spec/project").unwrap_or("default");
    let namespace = application.object.namespace();
    let object = application.fleet.hub.object(PROJECT.group, PROJECT.kind, namespace, project);
    evidence.extend(object.map(|p| application.quote().field(p, "spec.destinationServiceAccounts")));
    let names = json!({
        "project": project,
        "project_ref": kubectl::named(format!("appprojects.argoproj.io/{project}"), namespace),
        "side": "impersonation",
        "message": sentence(message),
        "objects": "", "user": "", "verb": "", "resource": "", "group": "", "where": "", "allow": [],
    });
    Some(application.draft("AR-SF-008", &names, evidence))
}

fn draft(
    application: Application<'_>,
    side: &str,
    objects: &str,
    refusals: &[Refusal<'_>],
    evidence: Vec<Evidence>,
) -> Draft {
    let first = refusals[0];
    let destination = application.destination();
    let mut allow: Vec<Command> = refusals.iter().flat_map(|r| allow(*r, destination)).collect();
    let mut seen = std::collections::HashSet::new();
    allow.retain(|command| seen.insert(command.clone()));
    let names = json!({
        "project": application.object.str("/spec/project").unwrap_or("default"),
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
    application.draft("AR-SF-008", &names, evidence)
}

/// The commands that make a role and bind it.
fn allow(refusal: Refusal<'_>, destination: Destination<'_>) -> Vec<Command> {
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
        "subjects": [subject(refusal.user)],
    });
    let apply = |object| destination.kubectl(KubectlVerb::Apply, ["-f".to_owned(), "-".to_owned()], Some(object));
    vec![apply(role), apply(binding)]
}

/// A user as a binding names it; `system:serviceaccount:NAMESPACE:NAME` is a service account.
fn subject(user: &str) -> Value {
    let account = user.strip_prefix("system:serviceaccount:").and_then(|a| a.split_once(':'));
    match account {
        Some((namespace, name)) => json!({"kind": "ServiceAccount", "namespace": namespace, "name": name}),
        None => json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}),
    }
}

#[cfg(test)]
mod tests {
    use super::{Refusal, refusal};

    #[test]
    fn who_may_not_do_what_is_read_wherever_it_stands() {
        let in_namespace = r#"failed: configmaps is forbidden: User "system:serviceaccount:kube-system:argocd" cannot create resource "configmaps" in API group "" in the namespace "web""#;
        let expected = Refusal {
            user: "system:serviceaccount:kube-system:argocd",
            verb: "create",
            resource: "configmaps",
            group: "",
            namespace: Some("web"),
        };
        assert_eq!(refusal(in_namespace), Some(expected));
        let everywhere = r#"deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" at the cluster scope"#;
        let expected = Refusal { user: "jane", verb: "list", resource: "deployments", group: "apps", namespace: None };
        assert_eq!(refusal(everywhere), Some(expected));
        assert_eq!(refusal("pods \"x\" is forbidden: exceeded quota: q, requested: pods=1"), None);
    }
}
