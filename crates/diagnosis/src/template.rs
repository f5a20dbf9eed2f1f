//! Templates of the catalogue's remedies and commands.
//!
//! A command is split into words before names are filled in, as a database parses a prepared statement before it gets
//! the values. A name therefore never becomes more than one word.

use std::collections::HashMap;
use std::sync::LazyLock;

use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Deserialize;
use serde_json::Map;

#[cfg(test)]
use crate::command::CommandEffect;
use crate::command::{ArgocdVerb, CommandWord, KubectlVerb, RemedyCommand};
use crate::{KubectlAccess, Remedy};

/// Name by which a command with `each` refers to the current element.
const ELEMENT: &str = "each";

/// Time of the hub-agent's next attempt. controller-runtime doubles the time between attempts, from 5 ms to 1000 s: attempts
/// were measured 328 s, 655 s and 1311 s after the beginning of a failure (v0.1.2).
const HUB_AGENT_RETRY: &str = "The hub-agent's next attempt comes after at most as long again as the failure has lasted, and after \
    16 min at most; a restart of the hub-agent brings it forward.";

/// Time of two attempts of the hub-agent, one after the other: a namespace that had been terminating for 601 s was released, and its
/// placements were well again 711 s later (v0.1.2).
const HUB_AGENT_TWO_RETRIES: &str = "The hub-agent needs two attempts: one on the namespace, then one on the Works. Each comes after at \
    most as long again as the failure has lasted by then, and after 16 min at most; a restart of the hub-agent brings both forward.";

/// How Argo CD sees the first objects of a kind that it didn't know before. Seen on v3.2.11: healthy 146 s after the sync.
const NEW_KIND: &str = "Argo CD may miss the first objects of a new kind until it compares again, within 3 min or at once when you \
    request a refresh; until then the application isn't well.";

/// Time of the member agent's next attempt. The heartbeat has controller-runtime's times, Works have the work applier's
/// own, of up to 900 s (v0.1.2).
const MEMBER_AGENT_RETRY: &str = "The member agent's next attempt comes after at most as long again as the failure has lasted, and \
    after 16 min at most; a restart of the member agent brings it forward.";

/// Remedy with placeholders.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemedyTemplate {
    /// Action to take, in one sentence. The remedy is left out if the action renders to an empty text.
    pub action: String,
    /// Data that the remedy destroys beyond the object that its action names. A template that renders to an empty text
    /// means no data loss.
    #[serde(default)]
    pub data_loss: Option<String>,
    /// Commands of the remedy.
    pub commands: Vec<CommandTemplate>,
    /// Expected result after the remedy.
    pub expect: String,
}

/// Command with placeholders (`{{name}}`, without blanks) in its words. A word that consists only of the name of a list
/// becomes one word for each element of the list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum CommandTemplate {
    /// Call of kubectl.
    Kubectl {
        /// Target cluster, with placeholders. A name whose value is null stands for a cluster outside of the fleet.
        cluster: String,
        /// Subcommand and arguments, quoted as for a shell.
        kubectl: KubectlTemplate,
        /// Condition as an expression. The command is left out if the expression isn't true.
        #[serde(default)]
        when: Option<String>,
        /// Name of a list. The template gives one command for each element; `each` is the name of the current element.
        #[serde(default)]
        each: Option<String>,
    },
    /// Call of argocd.
    Argocd {
        /// Subcommand.
        argocd: ArgocdVerb,
        /// Arguments, with placeholders.
        #[serde(default)]
        words: Vec<String>,
    },
    /// Commands that a rule has built.
    Built {
        /// Name whose value is a command, a list of commands, or null.
        built: String,
        /// Condition as an expression. The commands are left out if the expression isn't true.
        #[serde(default)]
        when: Option<String>,
    },
}

/// Subcommand of kubectl and its arguments, with placeholders.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct KubectlTemplate {
    verb: KubectlVerb,
    words: Vec<String>,
}

#[cfg(test)]
impl KubectlTemplate {
    /// Effect of the subcommand on objects.
    pub fn effect(&self) -> CommandEffect {
        self.verb.effect()
    }

    /// Arguments, with placeholders.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// Error for a line of the catalogue that isn't a valid kubectl command.
#[derive(Debug, thiserror::Error)]
pub enum KubectlTemplateError {
    /// The line has a quote that isn't closed.
    #[error("a quote isn't closed: {0}")]
    Quote(String),
    /// The line begins with a subcommand that [`KubectlVerb`] doesn't have.
    #[error("no subcommand of kubectl that is known: {0}")]
    Verb(String),
}

impl TryFrom<String> for KubectlTemplate {
    type Error = KubectlTemplateError;

    fn try_from(line: String) -> Result<Self, KubectlTemplateError> {
        let Some(mut words) = shlex::split(&line) else { return Err(KubectlTemplateError::Quote(line)) };
        let first = if words.is_empty() { String::new() } else { words.remove(0) };
        let verb = serde_json::from_value(first.into()).map_err(|_| KubectlTemplateError::Verb(line))?;
        Ok(Self { verb, words })
    }
}

/// Remedy with all names filled in, whose commands aren't printed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedRemedy {
    action: String,
    data_loss: Option<String>,
    pub(crate) commands: Vec<RemedyCommand>,
    expect: String,
}

impl PlannedRemedy {
    /// Prints the commands for a reader with this access.
    pub fn printed(&self, access: &KubectlAccess) -> Remedy {
        Remedy {
            action: self.action.clone(),
            data_loss: self.data_loss.clone(),
            commands: self.commands.iter().map(|command| command.shell(access)).collect(),
            commands_of_first: Vec::new(),
            expect: self.expect.clone(),
        }
    }
}

/// Names and values of a finding, to be filled into the catalogue's templates.
pub(crate) struct TemplateNames<'a> {
    json: &'a Map<String, serde_json::Value>,
    values: HashMap<String, Value>,
}

impl<'a> TemplateNames<'a> {
    pub fn new(json: &'a Map<String, serde_json::Value>) -> Self {
        let values = json.iter().map(|(name, value)| (name.clone(), Value::from(Serde(value)))).collect();
        Self { json, values }
    }

    /// Fills the names into a text and trims the result.
    pub fn fill(&self, text: &str) -> Result<String, minijinja::Error> {
        if !text.contains('{') {
            return Ok(text.trim().to_owned());
        }
        Ok(environment().render_str(text, &self.values)?.trim().to_owned())
    }

    /// Fills the names into an optional text. Returns `None` if the result is empty.
    pub fn fill_optional(&self, text: Option<&str>) -> Result<Option<String>, minijinja::Error> {
        Ok(text.map(|text| self.fill(text)).transpose()?.filter(|text| !text.is_empty()))
    }

    /// Fills the names into a remedy. Returns `None` if the remedy's action renders to an empty text.
    pub fn planned_remedy(&self, remedy: &RemedyTemplate) -> Result<Option<PlannedRemedy>, minijinja::Error> {
        let action = self.fill(&remedy.action)?;
        if action.is_empty() {
            return Ok(None);
        }
        let mut commands = Vec::new();
        for command in &remedy.commands {
            commands.extend(self.commands(command)?);
        }
        let data_loss = self.fill_optional(remedy.data_loss.as_deref())?;
        Ok(Some(PlannedRemedy { action, data_loss, commands, expect: self.fill(&remedy.expect)? }))
    }

    /// Returns the commands of a template: none, one, or one for each element of a list.
    fn commands(&self, template: &CommandTemplate) -> Result<Vec<RemedyCommand>, minijinja::Error> {
        match template {
            CommandTemplate::Kubectl { when, .. } | CommandTemplate::Built { when, .. }
                if !self.is_true(when.as_deref())? =>
            {
                Ok(Vec::new())
            }
            CommandTemplate::Kubectl { cluster, kubectl: line, each: None, .. } => {
                Ok(vec![kubectl_call(&self.values, cluster, line)?])
            }
            CommandTemplate::Kubectl { cluster, kubectl: line, each: Some(list), .. } => {
                let mut values = self.values.clone();
                let mut commands = Vec::new();
                for element in named_value(&self.values, list)?.try_iter()? {
                    values.insert(ELEMENT.to_owned(), element);
                    commands.push(kubectl_call(&values, cluster, line)?);
                }
                Ok(commands)
            }
            CommandTemplate::Argocd { argocd, words } => {
                let words = fill_words(&self.values, words)?;
                Ok(vec![RemedyCommand::Argocd { argocd: *argocd, words, repeats_kubectl: false }])
            }
            CommandTemplate::Built { built, .. } => self.built_commands(built),
        }
    }

    /// Returns the effects of a template's commands, with conditions (`when`) ignored.
    #[cfg(test)]
    pub fn effects(&self, template: &CommandTemplate) -> Result<Vec<CommandEffect>, minijinja::Error> {
        Ok(match template {
            CommandTemplate::Kubectl { kubectl, .. } => vec![kubectl.effect()],
            CommandTemplate::Argocd { argocd, .. } => vec![argocd.effect()],
            CommandTemplate::Built { built, .. } => {
                self.built_commands(built)?.iter().map(RemedyCommand::effect).collect()
            }
        })
    }

    fn is_true(&self, expression: Option<&str>) -> Result<bool, minijinja::Error> {
        expression.map_or(Ok(true), |text| Ok(environment().compile_expression(text)?.eval(&self.values)?.is_true()))
    }

    /// Returns the commands that a rule has stored under a name.
    fn built_commands(&self, name: &str) -> Result<Vec<RemedyCommand>, minijinja::Error> {
        let value = self.json.get(name).ok_or_else(|| undefined_name(name))?;
        let commands = match value {
            serde_json::Value::Null => Ok(Vec::new()),
            serde_json::Value::Array(_) => serde_json::from_value(value.clone()),
            _ => serde_json::from_value(value.clone()).map(|command| vec![command]),
        };
        commands.map_err(|e| {
            minijinja::Error::new(minijinja::ErrorKind::CannotDeserialize, format!("{name} is no command"))
                .with_source(e)
        })
    }
}

/// Returns the value of a name. Returns an error if the name is undefined.
fn named_value(values: &HashMap<String, Value>, name: &str) -> Result<Value, minijinja::Error> {
    values.get(name).cloned().ok_or_else(|| undefined_name(name))
}

/// Fills the names into a call of kubectl.
fn kubectl_call(
    values: &HashMap<String, Value>,
    cluster: &str,
    line: &KubectlTemplate,
) -> Result<RemedyCommand, minijinja::Error> {
    let cluster = match placeholder(cluster) {
        Some(name) if named_value(values, name)?.is_none() => None,
        _ => Some(environment().render_str(cluster, values)?),
    };
    Ok(RemedyCommand::Kubectl { cluster, kubectl: line.verb, words: fill_words(values, &line.words)?, input: None })
}

/// Fills the names into words. A word that is the name of a list becomes several words.
fn fill_words(values: &HashMap<String, Value>, words: &[String]) -> Result<Vec<CommandWord>, minijinja::Error> {
    let mut filled: Vec<CommandWord> = Vec::new();
    let mut is_value = false;
    for template in words {
        let several = match placeholder(template) {
            Some(name) => values.get(name).filter(|value| value.kind() == ValueKind::Seq),
            None => None,
        };
        match several {
            Some(list) => filled.extend(list.try_iter()?.map(|word| CommandWord::from(word.to_string()))),
            None if !template.contains("{{") => filled.push(CommandWord::from(template.as_str())),
            None => {
                let text = environment().render_str(template, values)?;
                if !template.starts_with('-') && !is_value {
                    filled.extend(option_terminator(&text).map(CommandWord::from));
                }
                filled.push(CommandWord::from(text));
            }
        }
        // kubectl takes the word after an option such as -n for the option's value, even if the word begins with a
        // dash.
        is_value = template.len() == 2 && template.starts_with('-');
    }
    Ok(filled)
}

/// Returns `--` for an argument that begins with a dash, so that kubectl doesn't take the argument for an option.
pub(crate) fn option_terminator(argument: &str) -> Option<&'static str> {
    argument.starts_with('-').then_some("--")
}

/// Returns the name in a word that consists only of one placeholder.
fn placeholder(word: &str) -> Option<&str> {
    let name = word.strip_prefix("{{")?.strip_suffix("}}")?;
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(name)
}

fn undefined_name(name: &str) -> minijinja::Error {
    minijinja::Error::new(minijinja::ErrorKind::UndefinedError, format!("there is no {name}"))
}

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.add_global("hub_agent_retry", HUB_AGENT_RETRY);
        environment.add_global("hub_agent_two_retries", HUB_AGENT_TWO_RETRIES);
        environment.add_global("member_agent_retry", MEMBER_AGENT_RETRY);
        environment.add_global("new_kind", NEW_KIND);
        environment
    });
    &ENVIRONMENT
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shell(template: &serde_json::Value, names: &serde_json::Value) -> Vec<String> {
        let template: CommandTemplate = serde_json::from_value(template.clone()).unwrap();
        let commands = TemplateNames::new(names.as_object().unwrap()).commands(&template).unwrap();
        commands.iter().map(|command| command.shell(&KubectlAccess::same_names())).collect()
    }

    #[test]
    fn a_name_stays_within_its_word() {
        let template = json!({"cluster": "hub", "kubectl": "patch {{ref}} -p '{\"a\":\"{{name}}\"}'"});
        let names = json!({"ref": ["x/a b", "-n", "c;d"], "name": "it's $(here)"});
        let words = shlex::split(&shell(&template, &names)[0]).unwrap();
        assert_eq!(words[3..], ["patch", "x/a b", "-n", "c;d", "-p", r#"{"a":"it's $(here)"}"#]);
    }

    #[test]
    fn a_list_gives_a_command_for_each_element() {
        let template = json!({"cluster": "{{member}}", "each": "refs", "kubectl": "delete {{each}}"});
        let names = json!({"member": "m", "refs": [["x/a"], ["x/b", "-n", "c"]]});
        let expected = ["kubectl --context m delete x/a", "kubectl --context m delete x/b -n c"];
        assert_eq!(shell(&template, &names), expected);
    }

    #[test]
    fn a_condition_leaves_commands_out() {
        let template = json!({"cluster": "hub", "when": "not refs", "kubectl": "get x"});
        assert_eq!(shell(&template, &json!({"refs": [["x"]]})), [""; 0]);
        assert_eq!(shell(&template, &json!({"refs": []})), ["kubectl --context hub get x"]);
    }

    #[test]
    fn a_name_is_never_an_option() {
        let template = json!({"cluster": "hub", "kubectl": "create token -n {{namespace}} {{account}}"});
        let names = json!({"namespace": "-x", "account": "--server=evil"});
        assert_eq!(shell(&template, &names), ["kubectl --context hub create token -n -x -- --server=evil"]);
    }

    #[test]
    fn a_line_with_an_unknown_subcommand_is_refused() {
        let read = |line: &str| KubectlTemplate::try_from(line.to_owned());
        assert!(matches!(read("frobnicate x"), Err(KubectlTemplateError::Verb(_))));
        assert!(matches!(read("get 'x"), Err(KubectlTemplateError::Quote(_))));
        assert!(matches!(read(""), Err(KubectlTemplateError::Verb(_))));
    }
}
