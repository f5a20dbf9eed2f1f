//! Kubeconfig and contexts by which the reader of a finding reaches the clusters that the finding's commands are for.

use std::collections::BTreeMap;

use crate::Snapshot;

/// Name of the hub in commands and contexts.
pub(crate) const HUB: &str = "hub";

/// The kubeconfig and the contexts that the commands of a finding name.
///
/// ```
/// use diagnosis::KubectlAccess;
/// assert_eq!(KubectlAccess::same_names().kubectl("member-1"), "kubectl --context member-1");
/// let access = KubectlAccess::named(Some("prod.yaml".into()), [("hub".into(), "prod hub".into())].into());
/// assert_eq!(access.kubectl("hub"), "kubectl --kubeconfig prod.yaml --context 'prod hub'");
/// assert_eq!(access.kubectl("member-1"), r#"kubectl --kubeconfig prod.yaml --context "${MEMBER_1_CONTEXT:?}""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubectlAccess {
    kubeconfig: Option<String>,
    contexts: ContextNames,
}

/// Names of the kubeconfig's contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ContextNames {
    /// Each context has the name of its cluster, as in the kubeconfigs that fleetdrill writes.
    SameNames,
    /// Context names by cluster name. A cluster that isn't in the map has no known context.
    Named(BTreeMap<String, String>),
}

impl KubectlAccess {
    /// Access by contexts that have the names of their clusters: `hub` and the members' names.
    #[must_use]
    pub fn same_names() -> Self {
        Self { kubeconfig: None, contexts: ContextNames::SameNames }
    }

    /// Access by contexts that have the names of their clusters, to the clusters in a snapshot only, as in the kubeconfigs
    /// that fleetdrill writes. A member without a cluster, such as a hollow one, has no known context.
    #[must_use]
    pub fn same_names_in(snapshot: &Snapshot) -> Self {
        let names = snapshot.clusters.iter().map(|cluster| cluster.name.clone());
        Self::named(None, names.map(|name| (name.clone(), name)).collect())
    }

    /// Access by the given contexts, keyed by cluster (`hub` and the members' names). `kubeconfig` is the path of a
    /// file other than the reader's default kubeconfig.
    #[must_use]
    pub fn named(kubeconfig: Option<String>, contexts: BTreeMap<String, String>) -> Self {
        Self { kubeconfig, contexts: ContextNames::Named(contexts) }
    }

    /// Access without any known context, e.g. for a bundle from another machine.
    #[must_use]
    pub fn unknown() -> Self {
        Self::named(None, BTreeMap::new())
    }

    /// Returns the same contexts in a kubeconfig other than the reader's default kubeconfig.
    #[must_use]
    pub fn in_kubeconfig(self, kubeconfig: String) -> Self {
        Self { kubeconfig: Some(kubeconfig), ..self }
    }

    /// Returns the beginning of a kubectl command for a cluster, each word quoted for a POSIX shell.
    ///
    /// An unknown context becomes a shell variable that the reader has to set. While the variable is unset, the shell
    /// refuses the command.
    #[must_use]
    pub fn kubectl(&self, cluster: &str) -> String {
        self.kubectl_with(&self.context(cluster))
    }

    /// Returns the beginning of a kubectl command for a cluster that isn't part of the fleet, such as an application's
    /// destination. The context is a shell variable that the reader has to set.
    pub(crate) fn kubectl_outside_fleet(&self) -> String {
        self.kubectl_with(&context_variable("destination"))
    }

    /// Returns the name of a cluster's context, if it is known.
    pub(crate) fn known_context<'a>(&'a self, cluster: &'a str) -> Option<&'a str> {
        match &self.contexts {
            ContextNames::SameNames => Some(cluster),
            ContextNames::Named(contexts) => contexts.get(cluster).map(String::as_str),
        }
    }

    /// Returns the beginning of a kubectl command. `context` is a word that is already quoted for a shell.
    pub(crate) fn kubectl_with(&self, context: &str) -> String {
        let kubeconfig = self.kubeconfig.as_deref().map(|file| format!(" --kubeconfig {}", quoted(file)));
        format!("kubectl{} --context {context}", kubeconfig.unwrap_or_default())
    }

    /// Returns the name of a cluster's context, quoted as one word for a shell.
    fn context(&self, cluster: &str) -> String {
        match &self.contexts {
            ContextNames::SameNames => quoted(cluster),
            ContextNames::Named(contexts) => {
                contexts.get(cluster).map_or_else(|| context_variable(cluster), |context| quoted(context))
            }
        }
    }
}

/// Quotes a text as one word for a POSIX shell. A text that needs no quotes gets none.
///
/// Replaces control characters other than line ends and tabs with U+FFFD. A terminal would swallow an escape sequence
/// in the printed command, together with any quote inside the sequence. No object's name has control characters.
///
/// ```
/// assert_eq!(diagnosis::quoted("it's"), "\"it's\"");
/// assert_eq!(diagnosis::quoted("a\u{1b}]0;b"), "'a\u{fffd}]0;b'");
/// ```
#[must_use]
pub fn quoted(text: &str) -> String {
    let text = text.replace(is_swallowed_by_terminals, "\u{fffd}");
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain) {
        return text;
    }
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    shlex::try_quote(&text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

/// True for control characters other than line ends and tabs.
fn is_swallowed_by_terminals(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// True if a character needs no quotes within a word.
///
/// shlex also quotes `=`, `%` and `,`. A word may contain all three, but zsh expands a leading `=`, and a comma matters
/// between braces.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+-./:@_=,%".contains(c)
}

/// Returns a shell variable for a cluster's context. The `:?` in the expansion makes the shell refuse the command while
/// the variable is unset.
fn context_variable(cluster: &str) -> String {
    let name: String =
        cluster.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let digit = if name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    format!("\"${{{digit}{name}_CONTEXT:?}}\"")
}

#[cfg(test)]
mod tests {
    use super::KubectlAccess;
    use crate::{ClusterSnapshot, ObjectList, Snapshot, SnapshotRole};

    #[test]
    fn a_member_without_a_cluster_has_no_context() {
        let cluster = |name: &str, role| ClusterSnapshot::new(name, role, ObjectList::default());
        let clusters = vec![cluster("hub", SnapshotRole::Hub), cluster("member-1", SnapshotRole::Member)];
        let taken_at = "2026-01-08T00:00:00Z".parse().expect("a time");
        let access = KubectlAccess::same_names_in(&Snapshot { taken_at, clusters });
        assert_eq!(access.kubectl("hub"), "kubectl --context hub");
        assert_eq!(access.kubectl("member-1"), "kubectl --context member-1");
        assert_eq!(access.kubectl("hollow-0001"), r#"kubectl --context "${HOLLOW_0001_CONTEXT:?}""#);
        assert_eq!(access.known_context("hollow-0001"), None);
    }
}
