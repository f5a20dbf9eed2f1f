//! All failure codes with their texts, from `catalogue.yaml`.
//!
//! The texts are templates: a rule fills in the names. Undefined names are errors, so that a text never shows a gap.

use std::sync::LazyLock;

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Code, Remedy, Severity};

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_loss: Option<String>,
    /// What a person would look at, in order.
    pub evidence: Vec<String>,
    /// The ways out, with placeholders. One whose action comes out empty is left out; a command that comes out as
    /// several lines is several commands.
    pub remedies: Vec<Remedy>,
    /// The guide that describes it; none where no guide does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
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

/// A text of the catalogue that can't be filled in: a bug in the catalogue or in a rule.
#[derive(Debug, thiserror::Error)]
#[error("failed to fill in the text {text:?} of {code}")]
pub struct RenderError {
    code: Code,
    text: String,
    source: minijinja::Error,
}

impl Entry {
    /// Fills in the names.
    pub fn render(&self, names: &Map<String, Value>) -> Result<Texts, RenderError> {
        let names = minijinja::Value::from(Serde(names));
        let fill = |text: &str| self.fill(text, &names);
        let mut remedies = Vec::new();
        for remedy in &self.remedies {
            let action = fill(&remedy.action)?;
            if action.is_empty() {
                continue;
            }
            let mut commands = Vec::new();
            for command in &remedy.commands {
                commands.extend(fill(command)?.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned));
            }
            remedies.push(Remedy { action, commands, expect: fill(&remedy.expect)? });
        }
        let data_loss = self.data_loss.as_deref().map(fill).transpose()?.filter(|t| !t.is_empty());
        Ok(Texts { cause: fill(&self.cause)?, data_loss, remedies })
    }

    /// The texts with the example's names.
    pub fn example(&self) -> Result<Texts, RenderError> {
        self.render(&self.example)
    }

    fn fill(&self, text: &str, names: &minijinja::Value) -> Result<String, RenderError> {
        static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
            let mut environment = Environment::new();
            environment.set_undefined_behavior(UndefinedBehavior::Strict);
            environment
        });
        if !text.contains('{') {
            return Ok(text.trim().to_owned());
        }
        let filled = ENVIRONMENT.render_str(text, names).map_err(|source| RenderError {
            code: self.code.clone(),
            text: text.to_owned(),
            source,
        })?;
        Ok(filled.trim().to_owned())
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

    #[test]
    fn every_entry_renders_with_its_example() {
        for entry in catalogue() {
            let texts = entry.example().unwrap_or_else(|e| panic!("{e}: {}", e.source));
            assert!(!texts.cause.is_empty(), "{} has no cause", entry.code);
            assert!(!texts.remedies.is_empty(), "{} has no remedy", entry.code);
            assert!(!entry.evidence.is_empty(), "{} has no evidence to look for", entry.code);
            for remedy in &texts.remedies {
                assert!(!remedy.expect.is_empty(), "{}: {} doesn't say what to expect", entry.code, remedy.action);
                for text in remedy.commands.iter().chain([&remedy.action, &remedy.expect]) {
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
            assert!(entry.render(&Map::new()).is_err(), "{}", entry.code);
        }
    }

    #[test]
    fn an_entry_is_found_whatever_the_case() {
        assert_eq!(entry("kf-ws-001").unwrap().code.0, "KF-WS-001");
        assert!(entry("KF-WS-999").is_none());
    }
}
