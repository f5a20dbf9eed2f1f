//! Remedies of the catalogue before the names are filled in.
//!
//! A command is split into words before any name is filled in, as a prepared statement is parsed before its values are known: a name
//! stays within its word.

use std::collections::HashMap;
use std::sync::LazyLock;

use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Deserialize;
use serde_json::Map;

#[cfg(test)]
use crate::command::Effect;
use crate::command::{ArgocdVerb, Command, KubectlVerb, Word};
use crate::{Access, Remedy};

/// The name under which a command with `each` finds its element.
const ELEMENT: &str = "each";

/// A remedy with placeholders.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemedyTemplate {
    /// What to do, in one sentence; a remedy whose action comes out empty is left out.
    pub action: String,
    /// What the remedy destroys beyond the object that its action speaks of; a text that comes out empty counts as none.
    #[serde(default)]
    pub data_loss: Option<String>,
    /// The commands.
    pub commands: Vec<CommandTemplate>,
    /// What to expect after it.
    pub expect: String,
}

/// A command with placeholders: `{{name}}`, without blanks, in words. A word that is nothing but the name of a list becomes as many
/// words as the list has.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum CommandTemplate {
    /// A call of kubectl.
    Kubectl {
        /// The cluster, with placeholders; a name that is null stands for a cluster outside of the fleet.
        cluster: String,
        /// The subcommand and its arguments, quoted as for a shell.
        kubectl: CommandLine,
        /// An expression; the command is left out where it isn't true.
        #[serde(default)]
        when: Option<String>,
        /// The name of a list: a command for each of its elements, which is called `each`.
        #[serde(default)]
        each: Option<String>,
    },
    /// A call of argocd.
    Argocd {
        /// The subcommand.
        argocd: ArgocdVerb,
        /// The arguments.
        #[serde(default)]
        words: Vec<String>,
    },
    /// Commands that a rule has built.
    Built {
        /// The name that has a command, a list of them, or null.
        built: String,
        /// An expression; the commands are left out where it isn't true.
        #[serde(default)]
        when: Option<String>,
    },
}

/// A subcommand of kubectl and its arguments, with placeholders.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct CommandLine {
    verb: KubectlVerb,
    words: Vec<String>,
}

#[cfg(test)]
impl CommandLine {
    /// What the subcommand does to objects.
    pub fn effect(&self) -> Effect {
        self.verb.effect()
    }

    /// The arguments, with placeholders.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

/// A line of the catalogue that isn't a command.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// A quote that isn't closed.
    #[error("a quote isn't closed: {0}")]
    Quote(String),
    /// A subcommand that [`KubectlVerb`] doesn't have.
    #[error("no subcommand of kubectl that is known: {0}")]
    Verb(String),
}

impl TryFrom<String> for CommandLine {
    type Error = LineError;

    fn try_from(line: String) -> Result<Self, LineError> {
        let Some(mut words) = shlex::split(&line) else { return Err(LineError::Quote(line)) };
        let first = if words.is_empty() { String::new() } else { words.remove(0) };
        let verb = serde_json::from_value(first.into()).map_err(|_| LineError::Verb(line))?;
        Ok(Self { verb, words })
    }
}

/// A remedy whose commands haven't been printed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedRemedy {
    action: String,
    data_loss: Option<String>,
    pub(crate) commands: Vec<Command>,
    expect: String,
}

impl PlannedRemedy {
    /// The remedy for a reader with this access.
    pub fn printed(&self, access: &Access) -> Remedy {
        Remedy {
            action: self.action.clone(),
            data_loss: self.data_loss.clone(),
            commands: self.commands.iter().map(|command| command.shell(access)).collect(),
            expect: self.expect.clone(),
        }
    }
}

/// The names of a finding, ready to be filled in.
pub(crate) struct Names<'a> {
    json: &'a Map<String, serde_json::Value>,
    values: HashMap<String, Value>,
}

impl<'a> Names<'a> {
    pub fn new(json: &'a Map<String, serde_json::Value>) -> Self {
        let values = json.iter().map(|(name, value)| (name.clone(), Value::from(Serde(value)))).collect();
        Self { json, values }
    }

    /// A text with the names filled in, without blanks around it.
    pub fn fill(&self, text: &str) -> Result<String, minijinja::Error> {
        if !text.contains('{') {
            return Ok(text.trim().to_owned());
        }
        Ok(environment().render_str(text, &self.values)?.trim().to_owned())
    }

    /// As [`Names::fill`]; none where nothing is left.
    pub fn fill_some(&self, text: Option<&str>) -> Result<Option<String>, minijinja::Error> {
        Ok(text.map(|text| self.fill(text)).transpose()?.filter(|text| !text.is_empty()))
    }

    /// A remedy with the names filled in; none where its action comes out empty.
    pub fn plan(&self, remedy: &RemedyTemplate) -> Result<Option<PlannedRemedy>, minijinja::Error> {
        let action = self.fill(&remedy.action)?;
        if action.is_empty() {
            return Ok(None);
        }
        let mut commands = Vec::new();
        for command in &remedy.commands {
            commands.extend(self.commands(command)?);
        }
        let data_loss = self.fill_some(remedy.data_loss.as_deref())?;
        Ok(Some(PlannedRemedy { action, data_loss, commands, expect: self.fill(&remedy.expect)? }))
    }

    /// The commands that a template stands for: none, one, or one for each element of a list.
    fn commands(&self, template: &CommandTemplate) -> Result<Vec<Command>, minijinja::Error> {
        match template {
            CommandTemplate::Kubectl { when, .. } | CommandTemplate::Built { when, .. }
                if !self.holds(when.as_deref())? =>
            {
                Ok(Vec::new())
            }
            CommandTemplate::Kubectl { cluster, kubectl: line, each: None, .. } => {
                Ok(vec![kubectl(&self.values, cluster, line)?])
            }
            CommandTemplate::Kubectl { cluster, kubectl: line, each: Some(list), .. } => {
                let of = |element: Value| {
                    let mut values = self.values.clone();
                    values.insert(ELEMENT.to_owned(), element);
                    kubectl(&values, cluster, line)
                };
                value(&self.values, list)?.try_iter()?.map(of).collect()
            }
            CommandTemplate::Argocd { argocd, words } => {
                let words = fill_words(&self.values, words)?;
                Ok(vec![Command::Argocd { argocd: *argocd, words, repeats_kubectl: false }])
            }
            CommandTemplate::Built { built, .. } => self.built(built),
        }
    }

    /// What the commands do that a template stands for, whatever its condition is.
    #[cfg(test)]
    pub fn effects(&self, template: &CommandTemplate) -> Result<Vec<Effect>, minijinja::Error> {
        Ok(match template {
            CommandTemplate::Kubectl { kubectl, .. } => vec![kubectl.effect()],
            CommandTemplate::Argocd { argocd, .. } => vec![argocd.effect()],
            CommandTemplate::Built { built, .. } => self.built(built)?.iter().map(Command::effect).collect(),
        })
    }

    fn holds(&self, expression: Option<&str>) -> Result<bool, minijinja::Error> {
        expression.map_or(Ok(true), |text| Ok(environment().compile_expression(text)?.eval(&self.values)?.is_true()))
    }

    /// The commands that a rule has put under a name.
    fn built(&self, name: &str) -> Result<Vec<Command>, minijinja::Error> {
        let value = self.json.get(name).ok_or_else(|| undefined(name))?;
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

/// The value of a name.
fn value(values: &HashMap<String, Value>, name: &str) -> Result<Value, minijinja::Error> {
    values.get(name).cloned().ok_or_else(|| undefined(name))
}

/// A call of kubectl with the names filled in.
fn kubectl(values: &HashMap<String, Value>, cluster: &str, line: &CommandLine) -> Result<Command, minijinja::Error> {
    let cluster = match placeholder(cluster) {
        Some(name) if value(values, name)?.is_none() => None,
        _ => Some(environment().render_str(cluster, values)?),
    };
    Ok(Command::Kubectl { cluster, kubectl: line.verb, words: fill_words(values, &line.words)?, input: None })
}

/// The words with the names filled in; lists become several words.
fn fill_words(values: &HashMap<String, Value>, words: &[String]) -> Result<Vec<Word>, minijinja::Error> {
    let mut filled: Vec<Word> = Vec::new();
    let mut is_value = false;
    for template in words {
        let several = match placeholder(template) {
            Some(name) => values.get(name).filter(|value| value.kind() == ValueKind::Seq),
            None => None,
        };
        match several {
            Some(list) => filled.extend(list.try_iter()?.map(|word| Word::from(word.to_string()))),
            None if !template.contains("{{") => filled.push(Word::from(template.as_str())),
            None => {
                let text = environment().render_str(template, values)?;
                if !template.starts_with('-') && !is_value {
                    filled.extend(before_positional(&text).map(Word::from));
                }
                filled.push(Word::from(text));
            }
        }
        // The word behind an option such as -n is taken for its value, whatever it begins with.
        is_value = template.len() == 2 && template.starts_with('-');
    }
    Ok(filled)
}

/// What keeps a positional argument that begins with a dash from being taken for an option.
pub(crate) fn before_positional(argument: &str) -> Option<&'static str> {
    argument.starts_with('-').then_some("--")
}

/// The name in a word that is nothing but a placeholder.
fn placeholder(word: &str) -> Option<&str> {
    let name = word.strip_prefix("{{")?.strip_suffix("}}")?;
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(name)
}

fn undefined(name: &str) -> minijinja::Error {
    minijinja::Error::new(minijinja::ErrorKind::UndefinedError, format!("there is no {name}"))
}

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
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
        let commands = Names::new(names.as_object().unwrap()).commands(&template).unwrap();
        commands.iter().map(|command| command.shell(&Access::same_names())).collect()
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
        let read = |line: &str| CommandLine::try_from(line.to_owned());
        assert!(matches!(read("frobnicate x"), Err(LineError::Verb(_))));
        assert!(matches!(read("get 'x"), Err(LineError::Quote(_))));
        assert!(matches!(read(""), Err(LineError::Verb(_))));
    }
}
