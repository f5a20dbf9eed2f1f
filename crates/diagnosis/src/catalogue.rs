//! All failure codes with their texts, from the files in `catalogue/`.
//!
//! The texts are templates that a rule fills in with names. An undefined name is an error, so that no text has a gap.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::template::{PlannedRemedy, RemedyTemplate, TemplateNames};
use crate::{FailureCode, GuideSection, KubectlAccess, Remedy, Severity};

/// Catalogue entry of a failure code. Cause, data loss and remedies are templates; [`CatalogueEntry::example`] fills them in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueEntry {
    /// Failure code.
    pub code: FailureCode,
    /// Failure in a few words.
    pub title: String,
    /// Severity: failure or notice.
    #[serde(default)]
    pub severity: Severity,
    /// Cause in one sentence, with placeholders.
    pub cause: String,
    /// Data that is or may be lost, with placeholders. A template that renders to an empty text means no data loss.
    #[serde(default)]
    pub data_loss: Option<String>,
    /// Evidence to look for, in the order in which a person would look.
    pub evidence: Vec<String>,
    /// Remedies. Remedies that only read come before remedies that write.
    pub(crate) remedies: Vec<RemedyTemplate>,
    /// Guide that describes the failure; `None` if no guide does.
    #[serde(default)]
    pub guide: Option<GuideSection>,
    /// Example values for all placeholders, used to explain the code without a fleet.
    pub example: Map<String, Value>,
}

/// Texts of an entry with all names filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedTexts {
    /// Cause in one sentence.
    pub cause: String,
    /// Data that is or may be lost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_loss: Option<String>,
    /// Remedies in the catalogue's order.
    pub remedies: Vec<Remedy>,
}

/// Texts of an entry with all names filled in. The commands of the remedies are still words, because printing them
/// needs an [`KubectlAccess`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedTexts {
    pub cause: String,
    pub data_loss: Option<String>,
    pub remedies: Vec<PlannedRemedy>,
}

/// Error for a text of the catalogue that can't be filled in: a bug in the catalogue or in a rule.
#[derive(Debug, thiserror::Error)]
#[error("failed to fill in a text of {code}")]
pub struct RenderError {
    code: FailureCode,
    source: minijinja::Error,
}

impl CatalogueEntry {
    /// Number of remedies, with those that are printed in some cases only.
    #[must_use]
    pub fn remedy_count(&self) -> usize {
        self.remedies.len()
    }

    /// Fills in the names of a finding. Returns an error if a template needs a name that is missing.
    pub(crate) fn planned_texts(&self, names: &Map<String, Value>) -> Result<PlannedTexts, RenderError> {
        self.fill_in(&TemplateNames::new(names)).map_err(|source| RenderError { code: self.code.clone(), source })
    }

    /// Returns the texts filled in with the example's names, with commands for contexts that have the names of their
    /// clusters.
    pub fn example(&self) -> Result<RenderedTexts, RenderError> {
        let PlannedTexts { cause, data_loss, remedies } = self.planned_texts(&self.example)?;
        let access = KubectlAccess::same_names();
        Ok(RenderedTexts {
            cause,
            data_loss,
            remedies: remedies.iter().map(|remedy| remedy.printed(&access)).collect(),
        })
    }

    fn fill_in(&self, names: &TemplateNames<'_>) -> Result<PlannedTexts, minijinja::Error> {
        let planned = self.remedies.iter().map(|remedy| names.planned_remedy(remedy));
        Ok(PlannedTexts {
            cause: names.fill(&self.cause)?,
            data_loss: names.fill_optional(self.data_loss.as_deref())?,
            remedies: planned.filter_map(Result::transpose).collect::<Result<_, _>>()?,
        })
    }
}

/// Files of the catalogue, one after the other. build.rs puts them together.
const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/catalogue.yaml"));

/// Returns the entries of all codes, in the order of the catalogue.
///
/// # Panics
/// Never in a build that passed its tests: the catalogue is part of the binary.
#[must_use]
pub fn catalogue() -> &'static [CatalogueEntry] {
    static CATALOGUE: LazyLock<Vec<CatalogueEntry>> =
        LazyLock::new(|| serde_saphyr::from_str(TEXT).expect("the catalogue is well formed"));
    &CATALOGUE
}

/// Returns the entry of a code. Upper and lower case count as equal.
#[must_use]
pub fn entry(code: &str) -> Option<&'static CatalogueEntry> {
    catalogue().iter().find(|e| e.code.0.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::command::{CommandEffect, CommandWord, RemedyCommand};
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
        let mut seen = BTreeSet::new();
        for entry in catalogue() {
            assert!(FailureCode::parse(&entry.code.0).is_some(), "{}", entry.code);
            assert!(seen.insert(&entry.code), "{} stands twice", entry.code);
        }
    }

    #[test]
    fn a_missing_name_is_an_error() {
        for entry in catalogue().iter().filter(|e| e.cause.contains("{{")) {
            assert!(entry.planned_texts(&Map::new()).is_err(), "{}", entry.code);
        }
    }

    #[test]
    fn an_entry_is_found_whatever_the_case() {
        assert_eq!(entry("kf-ws-001").unwrap().code.0, "KF-WS-001");
        assert!(entry("KF-WS-999").is_none());
    }

    /// Strongest effect of a remedy's commands, with conditions (`when`) ignored; `None` if the example has no command
    /// for the remedy.
    fn effect(entry: &CatalogueEntry, remedy: &RemedyTemplate) -> Option<CommandEffect> {
        let names = TemplateNames::new(&entry.example);
        let effects = remedy.commands.iter().flat_map(|command| names.effects(command).unwrap());
        effects.max()
    }

    #[test]
    fn remedies_that_only_read_come_first() {
        for entry in catalogue() {
            let effects: Vec<CommandEffect> =
                entry.remedies.iter().filter_map(|remedy| effect(entry, remedy)).collect();
            let reading = effects.iter().take_while(|effect| **effect == CommandEffect::Reads).count();
            assert!(effects[reading..].iter().all(|e| *e > CommandEffect::Reads), "{}: {effects:?}", entry.code);
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
        // Deleting a run, a request, an eviction, an override without effect or a Work that isn't applied deletes nothing else.
        // The hub-agent makes the configuration of its webhooks again.
        let alone = [
            "{{run_ref}}",
            "{{other_ref}}",
            "{{request_ref}}",
            "{{eviction_ref}}",
            "{{override_ref}}",
            "{{webhooks_ref}}",
        ];
        for (entry, remedy) in catalogue().iter().flat_map(|entry| entry.remedies.iter().map(move |r| (entry, r))) {
            let deletes_more = |command: &CommandTemplate| match command {
                CommandTemplate::Kubectl { kubectl, each, .. } => {
                    let is_alone = each.as_deref().is_some_and(|each| ["surplus", "stuck_run_refs"].contains(&each));
                    kubectl.effect() == CommandEffect::Destroys
                        && !is_alone
                        && !alone.contains(&kubectl.words()[0].as_str())
                }
                CommandTemplate::Argocd { argocd, .. } => argocd.effect() == CommandEffect::Destroys,
                CommandTemplate::Built { .. } => false,
            };
            let deletes = remedy.commands.iter().any(deletes_more);
            assert!(!deletes || remedy.data_loss.is_some(), "{}: {}", entry.code, remedy.action);
        }
    }

    /// Names that would do harm if a shell took them for more than one word.
    const HOSTILE: [&str; 7] = [
        "inv; touch pwned #$(touch pwned)",
        "it's `touch pwned`",
        "a\nb\" && touch pwned",
        "--server=https://evil.example.com",
        "*",
        "$HOME\\",
        "a\u{1b}]0;it's; touch pwned #",
    ];

    /// Returns an example's value with each name in it replaced by `name`.
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
            let plan = entry.planned_texts(names.as_object().unwrap()).unwrap();
            for command in plan.remedies.iter().flat_map(|remedy| &remedy.commands) {
                let (RemedyCommand::Kubectl { words: expected, .. } | RemedyCommand::Argocd { words: expected, .. }) =
                    command;
                // Only a shell expands the time; tests/rules/commands.rs runs one.
                let texts = expected.iter().filter_map(|word| match word {
                    CommandWord::Text(text) => Some(text.replace('\u{1b}', "\u{fffd}")),
                    CommandWord::Timed { .. } => None,
                });
                let texts: Vec<String> = texts.collect();
                if texts.len() < expected.len() {
                    continue;
                }
                let shell = command.shell(&KubectlAccess::same_names());
                if let RemedyCommand::Argocd { repeats_kubectl: true, .. } = command {
                    assert!(shell.starts_with("# ") && !shell.contains('\n'), "{}: {shell}", entry.code);
                    continue;
                }
                let words = shlex::split(&shell).unwrap_or_else(|| panic!("{}: {shell}", entry.code));
                assert!(words.ends_with(&texts), "{}: {shell}", entry.code);
                if let RemedyCommand::Kubectl { cluster: Some(cluster), .. } = command {
                    let cluster = cluster.replace('\u{1b}', "\u{fffd}");
                    assert_eq!(words[..3], ["kubectl", "--context", &cluster], "{}: {shell}", entry.code);
                    assert_eq!(words.len(), 4 + texts.len(), "{}: {shell}", entry.code);
                }
            }
        }
    }

    #[test]
    fn no_context_is_written_down() {
        assert!(!TEXT.contains("--context") && !TEXT.contains("--kubeconfig"));
    }
}
