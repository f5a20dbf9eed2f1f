//! What a text has said already: a scenario's story says each thing once in full.

use std::collections::{BTreeMap, BTreeSet};

/// Remembers names, messages and findings while a text grows.
#[derive(Debug, Default)]
pub struct Said {
    /// Objects that stood there as `Kind/name`, by the name without the kind.
    objects: BTreeMap<String, String>,
    messages: Vec<String>,
    findings: BTreeSet<String>,
}

impl Said {
    /// An object as `Kind/name` for the first time, as `name` from then on, unless another kind has the same name.
    pub fn object(&mut self, object: &str) -> String {
        let name = name(object);
        match self.objects.get(name) {
            Some(known) if known == object => name.to_owned(),
            Some(_) => object.to_owned(),
            None => {
                self.objects.insert(name.to_owned(), object.to_owned());
                object.to_owned()
            }
        }
    }

    /// Takes note of the objects that a sentence names as `Kind/name`.
    pub fn sentence(&mut self, text: &str) {
        let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        for word in words.filter(|word| word.contains('/') && word.starts_with(|c: char| c.is_ascii_uppercase())) {
            self.objects.entry(name(word).to_owned()).or_insert_with(|| word.to_owned());
        }
    }

    /// Whether a message is new. A part of a longer message that stood there isn't.
    pub fn message(&mut self, text: &str) -> bool {
        let new = !self.has_message(text);
        if new {
            self.messages.push(text.to_owned());
        }
        new
    }

    /// Whether a message stood there.
    #[must_use]
    pub fn has_message(&self, text: &str) -> bool {
        self.messages.iter().any(|message| message.contains(text))
    }

    /// Whether a finding, known by any text that tells it from others, is new.
    pub fn finding(&mut self, identity: String) -> bool {
        self.findings.insert(identity)
    }
}

/// An object's name, with its namespace where it has one, without its kind.
fn name(object: &str) -> &str {
    object.split_once('/').map_or(object, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_said_once_where_that_is_clear() {
        let mut said = Said::default();
        said.sentence(
            "ClusterResourcePlacement/web (strategy External) selects Namespace/web-app, kubernetes-fleet.io/x",
        );
        assert_eq!(said.object("ClusterResourcePlacement/web"), "web");
        assert_eq!(said.object("Namespace/web-app"), "web-app");
        assert_eq!(said.object("ClusterStagedUpdateRun/web"), "ClusterStagedUpdateRun/web");
        assert_eq!(said.object("Work/ns/w"), "Work/ns/w");
        assert_eq!(said.object("Work/ns/w"), "ns/w");
        assert_eq!(said.object("kubernetes-fleet.io/x"), "kubernetes-fleet.io/x");
    }

    #[test]
    fn a_part_of_a_message_is_not_new() {
        let mut said = Said::default();
        assert!(said.message("cannot continue: failed to process"));
        assert!(!said.message("failed to process"));
        assert!(said.message("failed to initialize"));
    }
}
