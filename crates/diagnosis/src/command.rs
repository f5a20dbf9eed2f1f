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
    /// `kubectl rollout`, of which remedies use `restart` and `resume`.
    Rollout,
}

/// Subcommands of argocd that remedies use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgocdVerb {
    /// `argocd app get`, with `--hard-refresh` in the remedies.
    AppGet,
    /// `argocd app resources`
    AppResources,
    /// `argocd app confirm-deletion`
    AppConfirmDeletion,
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
            Self::AppResources => "app resources",
            Self::AppConfirmDeletion => "app confirm-deletion",
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
            Self::AppResources | Self::ClusterList => CommandEffect::Reads,
            Self::AppGet | Self::AppSync | Self::AppTerminateOp => CommandEffect::Writes,
            Self::AppReplace | Self::AppConfirmDeletion => CommandEffect::Destroys,
        }
    }
}

impl CommandWord {
    /// Returns the word quoted for a POSIX shell.
    fn shell(&self) -> String {
        match self {
            Self::Text(text) => quoted_with_name(text),
            Self::Timed { before, after } => {
                format!("{}{PRESENT_TIME}{}", quoted_with_name(before), quoted_with_name(after))
            }
        }
    }

    /// Changes the texts of the word.
    fn map(&self, change: impl Fn(&str) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(change(text)),
            Self::Timed { before, after } => Self::Timed { before: change(before), after: change(after) },
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

    /// Returns the command with [`NAME`] in place of a name.
    fn with_placeholder(&self, name: &str) -> Self {
        let replaced = |text: &str| text.replace(name, NAME.encode_utf8(&mut [0; 1]));
        let replaced_words = |words: &[CommandWord]| words.iter().map(|word| word.map(replaced)).collect();
        match self {
            Self::Kubectl { cluster, kubectl, words, input } => Self::Kubectl {
                cluster: cluster.as_deref().map(replaced),
                kubectl: *kubectl,
                words: replaced_words(words),
                input: input.as_ref().map(|input| with_texts(input, &replaced)),
            },
            Self::Argocd { argocd, words, repeats_kubectl } => {
                Self::Argocd { argocd: *argocd, words: replaced_words(words), repeats_kubectl: *repeats_kubectl }
            }
        }
    }

    /// Returns the command line for a POSIX shell, for a reader with this access. A command that does what another one does is a
    /// comment: Argo CD refuses a second operation while the first one runs, so that a person who pastes all lines must run one of
    /// the two.
    #[must_use]
    pub fn shell(&self, access: &KubectlAccess) -> String {
        self.commented(self.line(access))
    }

    fn line(&self, access: &KubectlAccess) -> String {
        match self {
            Self::Kubectl { cluster, kubectl, words, input } => {
                let program =
                    cluster.as_deref().map_or_else(|| access.kubectl_outside_fleet(), |name| access.kubectl(name));
                kubectl_line(&program, *kubectl, words, input.as_ref())
            }
            Self::Argocd { argocd, words, .. } => format!("argocd {}{}", argocd.name(), joined_with_blanks(words)),
        }
    }

    /// Makes a comment of a line if the command does what another one does.
    fn commented(&self, line: String) -> String {
        match self {
            // The rest of a comment of two lines would be a command.
            Self::Argocd { repeats_kubectl: true, .. } => {
                format!("# or with the argocd CLI: {}", line.replace('\n', "\u{fffd}"))
            }
            _ => line,
        }
    }
}

/// Stands for the name in a command that is repeated for several names. No name of an object has it.
const NAME: char = '\0';

/// Returns one shell command that runs the commands, each of which belongs to a name, if they differ in nothing but the names.
///
/// `None` if they differ in more, or if the reader's contexts aren't known or can't stand for the names.
#[must_use]
pub fn repeated(commands: &[(&str, &RemedyCommand)], access: &KubectlAccess) -> Option<String> {
    let (first_name, first) = commands.first()?;
    let template = first.with_placeholder(first_name);
    if !commands.iter().all(|(name, command)| command.with_placeholder(name) == template) {
        return None;
    }
    let names: Vec<&str> = commands.iter().map(|(name, _)| *name).collect();
    let (names, command) = match &template {
        RemedyCommand::Kubectl { cluster: Some(cluster), kubectl, words, input } if cluster.contains(NAME) => {
            // A loop can run over the contexts only if the command needs the name for nothing else.
            let contexts = names.iter().map(|name| access.known_context(name)).collect::<Option<Vec<_>>>()?;
            let line = |program: &str| kubectl_line(program, *kubectl, words, input.as_ref());
            let needs_name = line("kubectl").contains(LOOP_NAME);
            if !cluster.chars().eq([NAME]) || (needs_name && contexts != names) {
                return None;
            }
            (contexts, line(&access.kubectl_with(LOOP_NAME)))
        }
        command => (names, command.line(access)),
    };
    let names = names.into_iter().map(quoted).collect::<Vec<_>>().join(" ");
    Some(first.commented(format!("for name in {names}; do {command}; done")))
}

/// Name of the loop's variable, as a word of a shell.
const LOOP_NAME: &str = "\"$name\"";

/// Quotes a text for a shell. [`NAME`] becomes the loop's variable.
fn quoted_with_name(text: &str) -> String {
    let quoted_part = |part: &str| if part.is_empty() { String::new() } else { quoted(part) };
    if text.contains(NAME) {
        text.split(NAME).map(quoted_part).collect::<Vec<_>>().join(LOOP_NAME)
    } else {
        quoted(text)
    }
}

/// Returns the command line of a call of kubectl.
fn kubectl_line(program: &str, verb: KubectlVerb, words: &[CommandWord], input: Option<&Value>) -> String {
    let command = format!("{program} {}{}", verb.name(), joined_with_blanks(words));
    input.map_or_else(|| command.clone(), |input| format!("{} | {command}", json_printer(input)))
}

fn joined_with_blanks(words: &[CommandWord]) -> String {
    words.iter().fold(String::new(), |line, word| line + " " + &word.shell())
}

/// Returns the shell command that prints a value as JSON. Some shells' `echo` takes a backslash for the beginning of an
/// escape sequence, so a text with a backslash is printed by `printf`.
fn json_printer(value: &Value) -> String {
    // JSON writes the placeholder as an escape sequence.
    let text = value.to_string().replace(r"\u0000", NAME.encode_utf8(&mut [0; 1]));
    let program = if text.contains('\\') { r"printf '%s\n'" } else { "echo" };
    format!("{program} {}", quoted_with_name(&text))
}

/// Returns a value with all its texts changed, but not its keys.
fn with_texts(value: &Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(list) => list.iter().map(|value| with_texts(value, change)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), with_texts(value, change))).collect(),
        other => other.clone(),
    }
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
    fn commands_that_differ_in_the_name_alone_become_a_loop() {
        let patch = |name: &str| {
            let words =
                [format!("works/web-{name}"), "-n".to_owned(), format!("fleet-member-{name}"), "it's".to_owned()];
            RemedyCommand::kubectl("hub", KubectlVerb::Patch, words)
        };
        let access = KubectlAccess::same_names();
        let (a, b) = (patch("m-1"), patch("m-2"));
        let line = repeated(&[("m-1", &a), ("m-2", &b)], &access).expect("a loop");
        let expected = "for name in m-1 m-2; do kubectl --context hub patch works/web-\"$name\" -n fleet-member-\"$name\" \"it's\"; done";
        assert_eq!(line, expected);
        assert_eq!(repeated(&[("m-1", &a), ("m-3", &b)], &access), None);

        let logs = |name: &str| RemedyCommand::kubectl(name, KubectlVerb::Logs, ["deployment/member-agent"]);
        let (a, b) = (logs("m-1"), logs("m-2"));
        let line = repeated(&[("m-1", &a), ("m-2", &b)], &access).expect("a loop");
        assert_eq!(line, "for name in m-1 m-2; do kubectl --context \"$name\" logs deployment/member-agent; done");
        assert_eq!(repeated(&[("m-1", &a), ("m-2", &b)], &KubectlAccess::unknown()), None);

        let create = |name: &str| RemedyCommand::Kubectl {
            cluster: Some("hub".into()),
            kubectl: KubectlVerb::Create,
            words: vec!["-f".into(), "-".into()],
            input: Some(json!({"metadata": {"name": name}})),
        };
        let (a, b) = (create("m-1"), create("m-2"));
        let line = repeated(&[("m-1", &a), ("m-2", &b)], &access).expect("a loop");
        assert_eq!(
            line,
            r#"for name in m-1 m-2; do echo '{"metadata":{"name":"'"$name"'"}}' | kubectl --context hub create -f -; done"#
        );
    }

    #[test]
    fn a_loop_runs_over_contexts_where_the_command_needs_no_name() {
        let on = |name: &str, word: &str| RemedyCommand::kubectl(name, KubectlVerb::Get, [word.to_owned()]);
        let contexts = [("m-1".to_owned(), "aks 1".to_owned()), ("m-2".to_owned(), "aks-2".to_owned())];
        let access = KubectlAccess::named(None, contexts.into());
        let (a, b) = (on("m-1", "pods"), on("m-2", "pods"));
        let expected = "for name in 'aks 1' aks-2; do kubectl --context \"$name\" get pods; done";
        assert_eq!(repeated(&[("m-1", &a), ("m-2", &b)], &access).as_deref(), Some(expected));
        assert_eq!(repeated(&[("m-1", &a), ("m-2", &b)], &KubectlAccess::unknown()), None);
        let (a, b) = (on("m-1", "pods/m-1"), on("m-2", "pods/m-2"));
        assert_eq!(repeated(&[("m-1", &a), ("m-2", &b)], &access), None);
    }

    #[test]
    fn a_command_that_repeats_another_is_a_comment_of_one_line() {
        let sync = |name: &str| RemedyCommand::Argocd {
            argocd: ArgocdVerb::AppSync,
            words: vec![format!("argocd/{name}").into()],
            repeats_kubectl: true,
        };
        let access = KubectlAccess::same_names();
        let (a, b) = (sync("m\n1"), sync("m-2"));
        assert_eq!(a.shell(&access), "# or with the argocd CLI: argocd app sync 'argocd/m\u{fffd}1'");
        let line = repeated(&[("m\n1", &a), ("m-2", &b)], &access).expect("a loop");
        let expected =
            "# or with the argocd CLI: for name in 'm\u{fffd}1' m-2; do argocd app sync argocd/\"$name\"; done";
        assert_eq!(line, expected);
    }

    #[test]
    fn a_backslash_in_the_input_stays_one() {
        assert_eq!(json_printer(&json!({"a": 1})), r#"echo '{"a":1}'"#);
        let shell = json_printer(&json!("a\nb"));
        assert_eq!(shlex::split(&shell).unwrap(), ["printf", r"%s\n", r#""a\nb""#], "{shell}");
    }
}
