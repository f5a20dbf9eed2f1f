//! How the reader of a finding reaches the clusters that the finding's commands are for.

use std::collections::BTreeMap;

/// The hub, as commands and contexts call it.
pub(crate) const HUB: &str = "hub";

/// The kubeconfig and the contexts that the commands of a finding name.
///
/// ```
/// use diagnosis::Access;
/// assert_eq!(Access::same_names().kubectl("member-1"), "kubectl --context member-1");
/// let access = Access::named(Some("prod.yaml".into()), [("hub".into(), "prod hub".into())].into());
/// assert_eq!(access.kubectl("hub"), "kubectl --kubeconfig prod.yaml --context 'prod hub'");
/// assert_eq!(access.kubectl("member-1"), r#"kubectl --kubeconfig prod.yaml --context "${MEMBER_1_CONTEXT:?}""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    kubeconfig: Option<String>,
    contexts: Contexts,
}

/// The names of the contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Contexts {
    /// Each context is called as its cluster, as in the kubeconfigs that fleetdrill writes.
    SameNames,
    /// By cluster; a cluster that isn't there has no known context.
    Named(BTreeMap<String, String>),
}

impl Access {
    /// Contexts that are called as their clusters: `hub` and the members' names.
    #[must_use]
    pub fn same_names() -> Self {
        Self { kubeconfig: None, contexts: Contexts::SameNames }
    }

    /// Contexts by cluster (`hub` and the members' names), in a kubeconfig other than the reader's own where one is given.
    #[must_use]
    pub fn named(kubeconfig: Option<String>, contexts: BTreeMap<String, String>) -> Self {
        Self { kubeconfig, contexts: Contexts::Named(contexts) }
    }

    /// No known context, e.g. for a bundle from elsewhere.
    #[must_use]
    pub fn unknown() -> Self {
        Self::named(None, BTreeMap::new())
    }

    /// The same contexts in a kubeconfig other than the reader's own.
    #[must_use]
    pub fn in_kubeconfig(self, kubeconfig: String) -> Self {
        Self { kubeconfig: Some(kubeconfig), ..self }
    }

    /// The beginning of a kubectl command for a cluster, each word quoted for a POSIX shell.
    ///
    /// An unknown context becomes a variable that has to be set: without it the shell refuses the command.
    #[must_use]
    pub fn kubectl(&self, cluster: &str) -> String {
        self.kubectl_with(&self.context(cluster))
    }

    /// The beginning of a kubectl command for a cluster that isn't part of the fleet, such as an application's destination: its
    /// context is a variable that has to be set.
    pub(crate) fn kubectl_elsewhere(&self) -> String {
        self.kubectl_with(&variable("destination"))
    }

    /// `context` is a word of a shell.
    fn kubectl_with(&self, context: &str) -> String {
        let kubeconfig = self.kubeconfig.as_deref().map(|file| format!(" --kubeconfig {}", quoted(file)));
        format!("kubectl{} --context {context}", kubeconfig.unwrap_or_default())
    }

    /// The context's name as a word of a shell.
    fn context(&self, cluster: &str) -> String {
        match &self.contexts {
            Contexts::SameNames => quoted(cluster),
            Contexts::Named(contexts) => {
                contexts.get(cluster).map_or_else(|| variable(cluster), |context| quoted(context))
            }
        }
    }
}

/// Text as one word of a POSIX shell, without quotes where none are needed.
///
/// Control characters other than line ends and tabs are replaced: a terminal's escape sequence would be taken out of the printed
/// command, a quote in it included, and no object's name has one.
///
/// ```
/// assert_eq!(diagnosis::quoted("it's"), "\"it's\"");
/// assert_eq!(diagnosis::quoted("a\u{1b}]0;b"), "'a\u{fffd}]0;b'");
/// ```
#[must_use]
pub fn quoted(text: &str) -> String {
    let is_lost = |c: char| c.is_control() && c != '\n' && c != '\t';
    let text = text.replace(is_lost, "\u{fffd}");
    // shlex quotes these three as well: zsh expands `=` at the beginning of a word, and a comma matters between braces.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-./:@_=,%".contains(c);
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain) {
        return text;
    }
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    shlex::try_quote(&text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

/// A shell variable for a cluster's context, written so that a shell in which it isn't set refuses the command.
fn variable(cluster: &str) -> String {
    let name: String =
        cluster.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let digit = if name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    format!("\"${{{digit}{name}_CONTEXT:?}}\"")
}
