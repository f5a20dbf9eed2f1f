//! Ledger of a scenario: its names and all that it has made, as data that can be saved.

use std::collections::{BTreeMap, BTreeSet};

use fleet::argocd::Repository;
use fleet::kinds::{self, ResourceKind};
use fleet::webhook::RequiredLabelRule;
use serde::{Deserialize, Serialize};

use crate::names::ScenarioNames;
use crate::objects::{Application, Placement, UpdateRun};

/// Names of a scenario, and all that it has made. Keys are names in the feature.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ledger {
    pub names: ScenarioNames,
    pub placements: BTreeMap<String, Placement>,
    pub runs: BTreeMap<String, UpdateRun>,
    pub repositories: BTreeMap<String, Repository>,
    pub applications: BTreeMap<String, Application>,
    /// Real names of the ApplicationSets.
    #[serde(default)]
    pub application_sets: BTreeMap<String, String>,
    /// Rules of the scenario's admission webhooks.
    pub webhooks: BTreeMap<String, RequiredLabelRule>,
    /// Keys of Argo CD's settings that the scenario has set.
    pub settings: Vec<String>,
    /// Hosts whose certificates Argo CD trusts for the scenario.
    #[serde(default)]
    pub trusted_hosts: BTreeSet<String>,
    /// Hosts whose SSH host keys Argo CD knows for the scenario.
    #[serde(default)]
    pub trusted_host_keys: BTreeSet<String>,
    /// Objects to delete at the end, oldest first.
    pub made: Vec<MadeObject>,
    /// Objects that a finalizer of the scenario holds.
    #[serde(default)]
    pub held: Vec<MadeObject>,
    /// Keys of the labels that the scenario has set, by member.
    pub labels: BTreeMap<String, BTreeSet<String>>,
    /// Real names of the members that were joined for the scenario.
    pub own_members: Vec<String>,
    /// Real names of the placements that are kept from having two Works of one envelope.
    pub without_twins: BTreeSet<String>,
}

impl Ledger {
    /// Ledger of a scenario that has made nothing yet.
    pub fn new(names: ScenarioNames) -> Self {
        Self {
            names,
            placements: BTreeMap::new(),
            runs: BTreeMap::new(),
            repositories: BTreeMap::new(),
            applications: BTreeMap::new(),
            application_sets: BTreeMap::new(),
            webhooks: BTreeMap::new(),
            settings: Vec::new(),
            trusted_hosts: BTreeSet::new(),
            trusted_host_keys: BTreeSet::new(),
            made: Vec::new(),
            held: Vec::new(),
            labels: BTreeMap::new(),
            own_members: Vec::new(),
            without_twins: BTreeSet::new(),
        }
    }

    /// Text with `{name}` replaced by the real name of what the scenario calls so, `{repository:name}` by the directory of its
    /// git repository, and `{url:name}` by the URL by which Argo CD reads it.
    pub fn fill(&self, text: &str) -> String {
        let with_repositories = self.repositories.iter().fold(text.to_owned(), |text, (name, repository)| {
            let text = text.replace(&format!("{{repository:{name}}}"), &repository.dir().display().to_string());
            text.replace(&format!("{{url:{name}}}"), &repository.url())
        });
        self.names.fill(&with_repositories)
    }
}

/// Versions in which kinds are served that scenarios make.
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// Object that a scenario has made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MadeObject {
    /// `hub`, or the member's real name.
    pub cluster: String,
    group: String,
    /// Version of the API; empty in what was saved before versions were.
    #[serde(default)]
    version: String,
    kind: String,
    pub namespace: Option<String>,
    pub name: String,
}

impl MadeObject {
    pub fn new(cluster: &str, kind: ResourceKind, namespace: Option<&str>, name: String) -> Self {
        Self {
            cluster: cluster.to_owned(),
            group: kind.group.to_owned(),
            version: kind.version.to_owned(),
            kind: kind.kind.to_owned(),
            namespace: namespace.map(ToOwned::to_owned),
            name,
        }
    }

    /// Kind in the version in which the object was made.
    pub fn kind(&self) -> Option<ResourceKind> {
        let kind = kinds::find(&self.group, &self.kind)?;
        let version = VERSIONS.into_iter().find(|version| *version == self.version);
        Some(ResourceKind { version: version.unwrap_or(kind.version), ..kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_deleted_in_the_version_in_which_it_was_made() {
        let older = ResourceKind { version: "v1alpha1", ..kinds::OVERRIDE };
        for kind in [kinds::OVERRIDE, older, kinds::NAMESPACE] {
            let saved = serde_json::to_string(&MadeObject::new("hub", kind, None, "x".into())).expect("JSON");
            let made: MadeObject = serde_json::from_str(&saved).expect("what was saved");
            assert_eq!(made.kind(), Some(kind));
        }
    }
}
