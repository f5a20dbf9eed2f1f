//! Commands of remedies. A command stays a list of words until it is printed, so that no name of an object can become
//! more than one word.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::{KubectlAccess, quoted};

/// Shell expansion for the present time, in the format of Kubernetes timestamps.
const PRESENT_TIME: &str = "$(date -u +%Y-%m-%dT%H:%M:%SZ)";

/// Command of a remedy, as words without shell quoting.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum RemedyCommand {
    /// Call of kubectl.
    Kubectl {
        /// Target cluster: `hub` or a member's name; `None` for a cluster that isn't part of the fleet.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cluster: Option<String>,
        /// The subcommand.
        kubectl: KubectlVerb,
        /// The arguments.
        words: Vec<CommandWord>,
        /// JSON value for the command's standard input.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        input: Option<Value>,
    },
    /// Call of the argocd CLI, which finds its server by itself.
    Argocd {
        /// The subcommand.
        argocd: ArgocdVerb,
        /// The arguments.
        words: Vec<CommandWord>,
        /// True if the remedy also has a kubectl command with the same effect.
        #[serde(default)]
        repeats_kubectl: bool,
    },
}

/// Argument of a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandWord {
    /// Text that stays one word, whatever characters it has.
    Text(String),
    /// Word that contains the time at which the command is run.
    Timed {
        /// Text before the time.
        before: String,
        /// Text after the time.
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
    /// `argocd app sync --replace --force`, which deletes objects and creates them again.
    AppReplace,
    /// `argocd app terminate-op`
    AppTerminateOp,
    /// `argocd cluster list`
    ClusterList,
}

/// Effect of a command on objects. Tests of the catalogue compare the order of remedies by effect.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandEffect {
    /// The command changes nothing.
    Reads,
    /// The command creates or changes something.
    Writes,
    /// The command deletes something.
    Destroys,
}

impl KubectlVerb {
    /// Name of the subcommand on kubectl's command line.
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

    /// Effect of the subcommand on objects.
    #[cfg(test)]
    pub fn effect(self) -> CommandEffect {
        match self {
            Self::ApiResources | Self::Describe | Self::Get | Self::Logs => CommandEffect::Reads,
            Self::Annotate | Self::Apply | Self::Create | Self::Edit | Self::Label | Self::Patch | Self::Rollout => {
                CommandEffect::Writes
            }
            Self::Delete => CommandEffect::Destroys,
        }
    }
}

impl ArgocdVerb {
    /// Name of the subcommand on argocd's command line, with the options that belong to it.
    fn name(self) -> &'static str {
        match self {
            Self::AppGet => "app get",
            Self::AppSync => "app sync",
            Self::AppReplace => "app sync --replace --force",
            Self::AppTerminateOp => "app terminate-op",
            Self::ClusterList => "cluster list",
        }
    }

    /// Effect of the subcommand on objects.
    #[cfg(test)]
    pub fn effect(self) -> CommandEffect {
        match self {
            Self::ClusterList => CommandEffect::Reads,
            Self::AppGet | Self::AppSync | Self::AppTerminateOp => CommandEffect::Writes,
            Self::AppReplace => CommandEffect::Destroys,
        }
    }
}

impl CommandWord {
    /// Returns the word quoted for a POSIX shell.
    fn shell(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Timed { before, after } => format!("{}{PRESENT_TIME}{}", quoted(before), quoted(after)),
        }
    }
}

impl From<&str> for CommandWord {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for CommandWord {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl RemedyCommand {
    /// Creates a call of kubectl on a cluster of the fleet.
    pub fn kubectl<W: Into<CommandWord>>(
        cluster: impl Into<String>,
        kubectl: KubectlVerb,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self::Kubectl { cluster: Some(cluster.into()), kubectl, words, input: None }
    }

    /// Effect of the command on objects.
    #[cfg(test)]
    pub fn effect(&self) -> CommandEffect {
        match self {
            Self::Kubectl { kubectl, .. } => kubectl.effect(),
            Self::Argocd { argocd, .. } => argocd.effect(),
        }
    }

    /// Returns the command line for a POSIX shell, for a reader with this access.
    #[must_use]
    pub fn shell(&self, access: &KubectlAccess) -> String {
        match self {
            Self::Kubectl { cluster, kubectl, words, input } => {
                let program =
                    cluster.as_deref().map_or_else(|| access.kubectl_outside_fleet(), |name| access.kubectl(name));
                let command = format!("{program} {}{}", kubectl.name(), joined_with_blanks(words));
                input.as_ref().map_or_else(|| command.clone(), |input| format!("{} | {command}", json_printer(input)))
            }
            Self::Argocd { argocd, words, repeats_kubectl } => {
                let note = if *repeats_kubectl { "the same with the argocd CLI" } else { "needs the argocd CLI" };
                format!("argocd {}{} # {note}", argocd.name(), joined_with_blanks(words))
            }
        }
    }
}

fn joined_with_blanks(words: &[CommandWord]) -> String {
    words.iter().fold(String::new(), |line, word| line + " " + &word.shell())
}

/// Returns the shell command that prints a value as JSON. Some shells' `echo` takes a backslash for the beginning of an
/// escape sequence, so a text with a backslash is printed by `printf`.
fn json_printer(value: &Value) -> String {
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
        let command = RemedyCommand::kubectl("hub", KubectlVerb::Patch, words);
        let shell = command.shell(&KubectlAccess::same_names());
        assert_eq!(shell, r#"kubectl --context hub patch pods/web -n apps --type=merge -p '{"a":"b"}'"#);
    }

    #[test]
    fn a_cluster_outside_of_the_fleet_has_a_context_that_the_reader_sets() {
        let command =
            RemedyCommand::Kubectl { cluster: None, kubectl: KubectlVerb::Get, words: vec!["x".into()], input: None };
        let shell = command.shell(&KubectlAccess::same_names());
        assert_eq!(shell, r#"kubectl --context "${DESTINATION_CONTEXT:?}" get x"#);
    }

    #[test]
    fn the_time_stands_within_its_word() {
        let timed = CommandWord::Timed { before: r#"{"at":""#.to_owned(), after: r#""}"#.to_owned() };
        let expected = r#"'{"at":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'"}'"#;
        assert_eq!(timed.shell(), expected);
    }

    #[test]
    fn a_backslash_in_the_input_stays_one() {
        assert_eq!(json_printer(&json!({"a": 1})), r#"echo '{"a":1}'"#);
        let shell = json_printer(&json!("a\nb"));
        assert_eq!(shlex::split(&shell).unwrap(), ["printf", r"%s\n", r#""a\nb""#], "{shell}");
    }
}
