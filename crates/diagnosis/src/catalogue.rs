//! All failure codes with their texts, from `catalogue.yaml`.
//!
//! The texts are templates: a rule fills in the names. Undefined names are errors, so that a text never shows a gap.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::template::{Names, PlannedRemedy, RemedyTemplate};
use crate::{Access, Code, Remedy, Severity};

/// The guide that describes a failure, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guide {
    /// The guide's short name, e.g. `kubefleet-work-synchronized`.
    pub name: String,
    /// The section's heading.
    pub section: String,
    /// Where it is published.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
}

/// What is known about a failure code. Cause, data loss and remedies are templates; [`Entry::example`] fills them in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// The failure in a few words.
    pub title: String,
    /// Whether it is a failure or a notice.
    #[serde(default)]
    pub severity: Severity,
    /// One sentence, with placeholders.
    pub cause: String,
    /// What is or may be lost, with placeholders; a text that comes out empty counts as none.
    #[serde(default)]
    pub data_loss: Option<String>,
    /// What a person would look at, in order.
    pub evidence: Vec<String>,
    /// The ways out: those that only read come before those that write.
    pub(crate) remedies: Vec<RemedyTemplate>,
    /// The guide that describes it; none where no guide does.
    #[serde(default)]
    pub guide: Option<Guide>,
    /// Names for all placeholders, for explaining the code without a fleet.
    pub example: Map<String, Value>,
}

/// An entry's texts with the names filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texts {
    /// One sentence.
    pub cause: String,
    /// What is or may be lost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_loss: Option<String>,
    /// Ordered.
    pub remedies: Vec<Remedy>,
}

/// An entry's texts with the names filled in, but for the commands, which aren't printed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub cause: String,
    pub data_loss: Option<String>,
    pub remedies: Vec<PlannedRemedy>,
}

/// A text of the catalogue that can't be filled in: a bug in the catalogue or in a rule.
#[derive(Debug, thiserror::Error)]
#[error("failed to fill in a text of {code}")]
pub struct RenderError {
    code: Code,
    source: minijinja::Error,
}

impl Entry {
    /// Fills in the names.
    pub(crate) fn plan(&self, names: &Map<String, Value>) -> Result<Plan, RenderError> {
        self.fill(&Names::new(names)).map_err(|source| RenderError { code: self.code.clone(), source })
    }

    /// The texts with the example's names, for contexts that are called as their clusters.
    pub fn example(&self) -> Result<Texts, RenderError> {
        let Plan { cause, data_loss, remedies } = self.plan(&self.example)?;
        let access = Access::same_names();
        Ok(Texts { cause, data_loss, remedies: remedies.iter().map(|remedy| remedy.printed(&access)).collect() })
    }

    fn fill(&self, names: &Names<'_>) -> Result<Plan, minijinja::Error> {
        let planned = self.remedies.iter().map(|remedy| names.plan(remedy));
        Ok(Plan {
            cause: names.fill(&self.cause)?,
            data_loss: names.fill_some(self.data_loss.as_deref())?,
            remedies: planned.filter_map(Result::transpose).collect::<Result<_, _>>()?,
        })
    }
}

/// All codes, in the order of the file.
///
/// # Panics
/// Never in a build that passed its tests: the file is part of the binary.
#[must_use]
pub fn catalogue() -> &'static [Entry] {
    static CATALOGUE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        serde_saphyr::from_str(include_str!("catalogue.yaml")).expect("catalogue.yaml is well formed")
    });
    &CATALOGUE
}

/// One code's entry; codes are compared without regard to case.
#[must_use]
pub fn entry(code: &str) -> Option<&'static Entry> {
    catalogue().iter().find(|e| e.code.0.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::command::{Command, Effect, Word};
    use crate::template::CommandTemplate;

    #[test]
    fn every_entry_renders_with_its_example() {
        for entry in catalogue() {
            let texts = entry.example().unwrap_or_else(|e| panic!("{e}: {}", e.source));
            assert!(!texts.cause.is_empty(), "{} has no cause", entry.code);
            assert!(!texts.remedies.is_empty(), "{} has no remedy", entry.code);
            assert!(!entry.evidence.is_empty(), "{} has no evidence to look for", entry.code);
            for remedy in &texts.remedies {
                assert!(!remedy.expect.is_empty(), "{}: {} doesn't say what to expect", entry.code, remedy.action);
                let texts = remedy.commands.iter().chain([&remedy.action, &remedy.expect]).chain(&remedy.data_loss);
                for text in texts {
                    assert!(!text.contains("{{") && !text.contains("  "), "{}: {text}", entry.code);
                }
            }
        }
    }

    #[test]
    fn codes_are_unique_and_well_formed() {
        let form = regex::Regex::new("^[A-Z]{2}-[A-Z]{2}-[0-9]{3}$").unwrap();
        let mut seen = BTreeSet::new();
        for entry in catalogue() {
            assert!(form.is_match(&entry.code.0), "{}", entry.code);
            assert!(seen.insert(&entry.code), "{} stands twice", entry.code);
        }
    }

    #[test]
    fn a_missing_name_is_an_error() {
        for entry in catalogue().iter().filter(|e| e.cause.contains("{{")) {
            assert!(entry.plan(&Map::new()).is_err(), "{}", entry.code);
        }
    }

    #[test]
    fn an_entry_is_found_whatever_the_case() {
        assert_eq!(entry("kf-ws-001").unwrap().code.0, "KF-WS-001");
        assert!(entry("KF-WS-999").is_none());
    }

    /// What the commands of a remedy do, whatever their conditions are; none where the example has no command for it.
    fn effect(entry: &Entry, remedy: &RemedyTemplate) -> Option<Effect> {
        let names = Names::new(&entry.example);
        let effects = remedy.commands.iter().flat_map(|command| names.effects(command).unwrap());
        effects.max()
    }

    #[test]
    fn remedies_that_only_read_come_first() {
        for entry in catalogue() {
            let effects: Vec<Effect> = entry.remedies.iter().filter_map(|remedy| effect(entry, remedy)).collect();
            let reading = effects.iter().take_while(|effect| **effect == Effect::Reads).count();
            assert!(effects[reading..].iter().all(|e| *e > Effect::Reads), "{}: {effects:?}", entry.code);
        }
    }

    #[test]
    fn a_remedy_that_loses_data_is_neither_the_first_nor_the_only_one() {
        for entry in catalogue() {
            assert!(entry.remedies[0].data_loss.is_none(), "{}", entry.code);
        }
    }

    #[test]
    fn a_remedy_that_deletes_says_what_else_goes() {
        // Nothing goes with a run, a request or a Work that isn't applied.
        let alone = ["{{run_ref}}", "{{other_ref}}", "{{request_ref}}"];
        for (entry, remedy) in catalogue().iter().flat_map(|entry| entry.remedies.iter().map(move |r| (entry, r))) {
            let deletes_more = |command: &CommandTemplate| match command {
                CommandTemplate::Kubectl { kubectl, each, .. } => {
                    let is_surplus = each.as_deref() == Some("surplus");
                    kubectl.effect() == Effect::Destroys && !is_surplus && !alone.contains(&kubectl.words()[0].as_str())
                }
                CommandTemplate::Argocd { argocd, .. } => argocd.effect() == Effect::Destroys,
                CommandTemplate::Built { .. } => false,
            };
            let deletes = remedy.commands.iter().any(deletes_more);
            assert!(!deletes || remedy.data_loss.is_some(), "{}: {}", entry.code, remedy.action);
        }
    }

    /// Names that would do harm if a shell took them for more than a word.
    const HOSTILE: [&str; 7] = [
        "inv; touch pwned #$(touch pwned)",
        "it's `touch pwned`",
        "a\nb\" && touch pwned",
        "--server=https://evil.example.com",
        "*",
        "$HOME\\",
        "a\u{1b}]0;it's; touch pwned #",
    ];

    /// The names of an example, each replaced.
    fn replaced(value: &Value, name: &str) -> Value {
        match value {
            Value::String(_) => name.into(),
            Value::Array(list) => list.iter().map(|item| replaced(item, name)).collect(),
            Value::Object(map) => {
                let is_typed = |key: &str| key == "kubectl" || key == "argocd";
                let item = |(key, item): (&String, &Value)| {
                    (key.clone(), if is_typed(key) { item.clone() } else { replaced(item, name) })
                };
                Value::Object(map.iter().map(item).collect())
            }
            other => other.clone(),
        }
    }

    #[test]
    fn no_name_becomes_more_than_a_word_of_a_command() {
        for (entry, name) in catalogue().iter().flat_map(|entry| HOSTILE.map(|name| (entry, name))) {
            let names = replaced(&Value::Object(entry.example.clone()), name);
            let plan = entry.plan(names.as_object().unwrap()).unwrap();
            for command in plan.remedies.iter().flat_map(|remedy| &remedy.commands) {
                let (Command::Kubectl { words: expected, .. } | Command::Argocd { words: expected, .. }) = command;
                // The time is for a shell: tests/rules/commands.rs runs one.
                let texts = expected.iter().filter_map(|word| match word {
                    Word::Text(text) => Some(text.replace('\u{1b}', "\u{fffd}")),
                    Word::Timed { .. } => None,
                });
                let texts: Vec<String> = texts.collect();
                if texts.len() < expected.len() {
                    continue;
                }
                let shell = command.shell(&Access::same_names());
                let words = shlex::split(&shell).unwrap_or_else(|| panic!("{}: {shell}", entry.code));
                assert!(words.ends_with(&texts), "{}: {shell}", entry.code);
                if let Command::Kubectl { cluster: Some(cluster), .. } = command {
                    let cluster = cluster.replace('\u{1b}', "\u{fffd}");
                    assert_eq!(words[..3], ["kubectl", "--context", &cluster], "{}: {shell}", entry.code);
                    assert_eq!(words.len(), 4 + texts.len(), "{}: {shell}", entry.code);
                }
            }
        }
    }

    #[test]
    fn no_context_is_written_down() {
        let text = include_str!("catalogue.yaml");
        assert!(!text.contains("--context") && !text.contains("--kubeconfig"));
    }
}
