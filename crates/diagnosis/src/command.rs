//! Commands of remedies: words until they are printed, so that no name of an object can become more than one word.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::{Access, quoted};

/// What the shell prints for the present time, as Kubernetes writes times.
const PRESENT_TIME: &str = "$(date -u +%Y-%m-%dT%H:%M:%SZ)";

/// A command, as words that the shell hasn't seen yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Command {
    /// A call of kubectl.
    Kubectl {
        /// The cluster that the command is for: `hub` or a member's name; none for a cluster that isn't part of the fleet.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cluster: Option<String>,
        /// The subcommand.
        kubectl: KubectlVerb,
        /// The arguments.
        words: Vec<Word>,
        /// What the command reads from its standard input.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        input: Option<Value>,
    },
    /// A call of Argo CD's command line, which finds its server by itself.
    Argocd {
        /// The subcommand.
        argocd: ArgocdVerb,
        /// The arguments.
        words: Vec<Word>,
        /// Whether the remedy has the same as a kubectl command, too.
        #[serde(default)]
        repeats_kubectl: bool,
    },
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Word {
    /// One word, whatever stands in it.
    Text(String),
    /// One word with the time at which the command is run in its middle.
    Timed {
        /// What stands before the time.
        before: String,
        /// What stands behind the time.
        after: String,
    },
}

/// Subcommands of kubectl that remedies use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KubectlVerb {
    /// `kubectl annotate`
    Annotate,
    /// `kubectl api-resources`
    ApiResources,
    /// `kubectl apply`
    Apply,
    /// `kubectl create`
    Create,
    /// `kubectl delete`
    Delete,
    /// `kubectl describe`
    Describe,
    /// `kubectl edit`
    Edit,
    /// `kubectl get`
    Get,
    /// `kubectl label`
    Label,
    /// `kubectl logs`
    Logs,
    /// `kubectl patch`
    Patch,
    /// `kubectl rollout`, of which remedies use `restart` only.
    Rollout,
}

/// Subcommands of argocd that remedies use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgocdVerb {
    /// `argocd app get`, with `--hard-refresh` in the remedies.
    AppGet,
    /// `argocd app sync`
    AppSync,
    /// `argocd app sync --replace --force`, which deletes objects and makes them again.
    AppReplace,
    /// `argocd app terminate-op`
    AppTerminateOp,
    /// `argocd cluster list`
    ClusterList,
}

/// What a command does to objects: the catalogue's tests order remedies by it.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The command changes nothing.
    Reads,
    /// The command makes or changes something.
    Writes,
    /// The command deletes something.
    Destroys,
}

impl KubectlVerb {
    /// What kubectl calls the subcommand.
    fn name(self) -> &'static str {
        match self {
            Self::Annotate => "annotate",
            Self::ApiResources => "api-resources",
            Self::Apply => "apply",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Describe => "describe",
            Self::Edit => "edit",
            Self::Get => "get",
            Self::Label => "label",
            Self::Logs => "logs",
            Self::Patch => "patch",
            Self::Rollout => "rollout",
        }
    }

    /// What the subcommand does to objects.
    #[cfg(test)]
    pub fn effect(self) -> Effect {
        match self {
            Self::ApiResources | Self::Describe | Self::Get | Self::Logs => Effect::Reads,
            Self::Annotate | Self::Apply | Self::Create | Self::Edit | Self::Label | Self::Patch | Self::Rollout => {
                Effect::Writes
            }
            Self::Delete => Effect::Destroys,
        }
    }
}

impl ArgocdVerb {
    /// What argocd calls the subcommand, with the options that belong to it.
    fn name(self) -> &'static str {
        match self {
            Self::AppGet => "app get",
            Self::AppSync => "app sync",
            Self::AppReplace => "app sync --replace --force",
            Self::AppTerminateOp => "app terminate-op",
            Self::ClusterList => "cluster list",
        }
    }

    /// What the subcommand does to objects.
    #[cfg(test)]
    pub fn effect(self) -> Effect {
        match self {
            Self::ClusterList => Effect::Reads,
            Self::AppGet | Self::AppSync | Self::AppTerminateOp => Effect::Writes,
            Self::AppReplace => Effect::Destroys,
        }
    }
}

impl Word {
    /// The word as a POSIX shell has to see it.
    fn shell(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Timed { before, after } => format!("{}{PRESENT_TIME}{}", quoted(before), quoted(after)),
        }
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Word {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Command {
    /// A call of kubectl on a cluster.
    pub fn kubectl<W: Into<Word>>(
        cluster: impl Into<String>,
        kubectl: KubectlVerb,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self::Kubectl { cluster: Some(cluster.into()), kubectl, words, input: None }
    }

    /// What the command does to objects.
    #[cfg(test)]
    pub fn effect(&self) -> Effect {
        match self {
            Self::Kubectl { kubectl, .. } => kubectl.effect(),
            Self::Argocd { argocd, .. } => argocd.effect(),
        }
    }

    /// The command as it is pasted into a POSIX shell, for a reader with this access.
    #[must_use]
    pub fn shell(&self, access: &Access) -> String {
        match self {
            Self::Kubectl { cluster, kubectl, words, input } => {
                let program =
                    cluster.as_deref().map_or_else(|| access.kubectl_elsewhere(), |name| access.kubectl(name));
                let command = format!("{program} {}{}", kubectl.name(), joined(words));
                input.as_ref().map_or_else(|| command.clone(), |input| format!("{} | {command}", print(input)))
            }
            Self::Argocd { argocd, words, repeats_kubectl } => {
                let note = if *repeats_kubectl { "the same with the argocd CLI" } else { "needs the argocd CLI" };
                format!("argocd {}{} # {note}", argocd.name(), joined(words))
            }
        }
    }
}

fn joined(words: &[Word]) -> String {
    words.iter().fold(String::new(), |line, word| line + " " + &word.shell())
}

/// The shell's command that prints a value as JSON. An `echo` may take a backslash for the beginning of an escape sequence.
fn print(value: &Value) -> String {
    let text = value.to_string();
    let program = if text.contains('\\') { r"printf '%s\n'" } else { "echo" };
    format!("{program} {}", quoted(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plain_command_needs_no_quotes_but_for_json() {
        let words = ["pods/web", "-n", "apps", "--type=merge", "-p", r#"{"a":"b"}"#];
        let command = Command::kubectl("hub", KubectlVerb::Patch, words);
        let shell = command.shell(&Access::same_names());
        assert_eq!(shell, r#"kubectl --context hub patch pods/web -n apps --type=merge -p '{"a":"b"}'"#);
    }

    #[test]
    fn a_cluster_outside_of_the_fleet_has_a_context_that_the_reader_sets() {
        let command =
            Command::Kubectl { cluster: None, kubectl: KubectlVerb::Get, words: vec!["x".into()], input: None };
        let shell = command.shell(&Access::same_names());
        assert_eq!(shell, r#"kubectl --context "${DESTINATION_CONTEXT:?}" get x"#);
    }

    #[test]
    fn the_time_stands_within_its_word() {
        let timed = Word::Timed { before: r#"{"at":""#.to_owned(), after: r#""}"#.to_owned() };
        let expected = r#"'{"at":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'"}'"#;
        assert_eq!(timed.shell(), expected);
    }

    #[test]
    fn a_backslash_in_the_input_stays_one() {
        assert_eq!(print(&json!({"a": 1})), r#"echo '{"a":1}'"#);
        let shell = print(&json!("a\nb"));
        assert_eq!(shlex::split(&shell).unwrap(), ["printf", r"%s\n", r#""a\nb""#], "{shell}");
    }
}
