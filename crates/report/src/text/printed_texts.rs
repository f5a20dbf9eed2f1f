//! Memory of what a text has already printed, so that a scenario's story prints each thing in full only once.

use std::collections::{BTreeMap, BTreeSet};

use record::ObjectPath;

/// Names, messages and findings that a text has already printed.
#[derive(Debug, Default)]
pub struct PrintedTexts {
    /// Kinds of the objects that stood there as `Kind/name`, by the name without the kind.
    objects: BTreeMap<String, String>,
    messages: Vec<String>,
    findings: BTreeSet<String>,
}

impl PrintedTexts {
    /// Returns an object as `Kind/name` the first time and as `name` from then on, unless another kind has the same
    /// name.
    pub fn object(&mut self, object: &ObjectPath) -> String {
        let name = object.full_name();
        match self.objects.get(&name) {
            Some(kind) if *kind == object.kind => name,
            Some(_) => object.to_string(),
            None => {
                self.objects.insert(name, object.kind.clone());
                object.to_string()
            }
        }
    }

    /// Remembers objects that the text has printed as `Kind/name`.
    pub fn objects<'a>(&mut self, objects: impl IntoIterator<Item = &'a ObjectPath>) {
        for object in objects {
            self.objects.entry(object.full_name()).or_insert_with(|| object.kind.clone());
        }
    }

    /// Remembers a message; returns true if it is new. A part of a longer message that was printed isn't new.
    pub fn message(&mut self, text: &str) -> bool {
        let new = !self.has_message(text);
        if new {
            self.messages.push(text.to_owned());
        }
        new
    }

    /// True if a message was printed, alone or as a part of a longer message.
    #[must_use]
    pub fn has_message(&self, text: &str) -> bool {
        self.messages.iter().any(|message| message.contains(text))
    }

    /// Remembers a finding; returns true if it is new. `identity` is any text that is unique to the finding.
    pub fn finding(&mut self, identity: String) -> bool {
        self.findings.insert(identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_said_once_where_that_is_clear() {
        let mut said = PrintedTexts::default();
        said.objects(&["ClusterResourcePlacement/web".into(), "Namespace/web-app".into()]);
        assert_eq!(said.object(&"ClusterResourcePlacement/web".into()), "web");
        assert_eq!(said.object(&"Namespace/web-app".into()), "web-app");
        assert_eq!(said.object(&"ClusterStagedUpdateRun/web".into()), "ClusterStagedUpdateRun/web");
        assert_eq!(said.object(&"Work/ns/w".into()), "Work/ns/w");
        assert_eq!(said.object(&"Work/ns/w".into()), "ns/w");
    }

    #[test]
    fn the_first_kind_of_a_name_stays() {
        let mut said = PrintedTexts::default();
        said.objects(&["ClusterResourcePlacement/web".into()]);
        said.objects(&["ValidatingAdmissionPolicy/web".into()]);
        assert_eq!(said.object(&"ClusterResourcePlacement/web".into()), "web");
        assert_eq!(said.object(&"ValidatingAdmissionPolicy/web".into()), "ValidatingAdmissionPolicy/web");
    }

    #[test]
    fn a_part_of_a_message_is_not_new() {
        let mut said = PrintedTexts::default();
        assert!(said.message("cannot continue: failed to process"));
        assert!(!said.message("failed to process"));
        assert!(said.message("failed to initialize"));
    }
}
