//! Answers of the API server about a request that the user has no right for.

use std::sync::LazyLock;

use regex::Regex;

use crate::rules::pattern::{group, pattern};

/// Message of the API server's authorizer, the same for all verbs and kinds.
static REFUSAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"User "(?<user>[^"]+)" cannot (?<verb>\w+) resource "(?<resource>[^"]+)"(?: in API group "(?<group>[^"]*)")?(?: in the namespace "(?<namespace>[^"]+)")?"#,
    )
});

/// Refused request: user, verb and resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) struct RefusedRequest<'a> {
    pub user: &'a str,
    pub verb: &'a str,
    pub resource: &'a str,
    pub group: &'a str,
    /// Namespace of the request; `None` for a request in the whole cluster.
    pub namespace: Option<&'a str>,
}

/// Reads a refused request from a message; `None` if the message is about something else.
pub(in crate::rules) fn read_refusal(message: &str) -> Option<RefusedRequest<'_>> {
    let found = REFUSAL.captures(message)?;
    Some(RefusedRequest {
        user: group(&found, "user"),
        verb: group(&found, "verb"),
        resource: group(&found, "resource"),
        group: group(&found, "group"),
        namespace: found.name("namespace").map(|namespace| namespace.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::{RefusedRequest, read_refusal};

    #[test]
    fn who_may_not_do_what_is_read_wherever_it_stands() {
        let in_namespace = r#"failed: configmaps is forbidden: User "system:serviceaccount:kube-system:argocd" cannot create resource "configmaps" in API group "" in the namespace "web""#;
        let expected = RefusedRequest {
            user: "system:serviceaccount:kube-system:argocd",
            verb: "create",
            resource: "configmaps",
            group: "",
            namespace: Some("web"),
        };
        assert_eq!(read_refusal(in_namespace), Some(expected));
        let everywhere = r#"deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" at the cluster scope"#;
        let expected =
            RefusedRequest { user: "jane", verb: "list", resource: "deployments", group: "apps", namespace: None };
        assert_eq!(read_refusal(everywhere), Some(expected));
        assert_eq!(read_refusal("pods \"x\" is forbidden: exceeded quota: q, requested: pods=1"), None);
    }
}
