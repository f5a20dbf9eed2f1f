//! What a version of KubeFleet can do, found out from what is installed: the CRDs, and the texts that the hub-agent has in it.
//!
//! Version numbers don't say it: Azure/fleet had counted to v0.14 before KubeFleet began anew with v0.1, and builds of one's own
//! are called as one likes.

use std::collections::BTreeSet;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator};

/// Something that one version can do and another can't.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Display, EnumIter, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Capability {
    /// ResourcePlacements, and update runs of them.
    NamespacedPlacements,
    /// An update run's Progressing says how it goes: `UpdateRunProgressing`, and False once it has ended.
    RunProgress,
    /// An update run says that it is stuck, with reason `UpdateRunStuck`.
    StuckRuns,
    /// An update run says that it waits, with reason `UpdateRunWaiting`, and not only its stage.
    WaitingRuns,
    /// `kubectl get csur` shows update runs, with a column for their progress.
    RunColumns,
    /// A stage of a strategy has tasks before it.
    BeforeStageTasks,
    /// An update run may leave its resource snapshot index out.
    OptionalIndex,
    /// An update run has a `spec.state`, whatever it does.
    RunStateField,
    /// `spec.state` says whether an update run goes: `Initialize`, `Run`, `Stop`.
    RunStates,
    /// Update runs take the resource snapshots of placements with strategy External; nothing else does.
    SnapshotsByRuns,
    /// A placement with strategy External keeps that strategy: the API server refuses another.
    LastingExternal,
    /// A placement that gets another strategy is rolled out at once, and not only when something else of it changes.
    StrategyChanges,
    /// A placement with strategy External says in its status that its rollout is another's.
    ExternalReported,
    /// What it says there names the runs to look at.
    ExternalNamesRuns,
    /// Approval requests are labelled with their task.
    TaskLabels,
    /// Resources are wrapped in a ClusterResourceEnvelope or a ResourceEnvelope, and not in a ConfigMap.
    Envelopes,
    /// Overrides are served as `v1beta1`, and not only as `v1alpha1`.
    BetaOverrides,
}

impl Capability {
    /// All that there are.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }
}

/// What an installed version can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Capabilities(BTreeSet<Capability>);

impl Capabilities {
    /// What these CRDs and this hub-agent (the whole program) show.
    #[must_use]
    pub fn of(crds: &[Value], hub_agent: &[u8]) -> Self {
        let installed = Installed { crds, hub_agent };
        Self(Capability::all().filter(|capability| installed.shows(*capability)).collect())
    }

    /// Whether that is among them.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        self.0.contains(&capability)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Capability> {
        self.0.iter().copied()
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<T: IntoIterator<Item = Capability>>(capabilities: T) -> Self {
        Self(capabilities.into_iter().collect())
    }
}

/// A version's parts in which it shows.
struct Installed<'a> {
    crds: &'a [Value],
    hub_agent: &'a [u8],
}

impl Installed<'_> {
    fn shows(&self, capability: Capability) -> bool {
        const RUNS: &str = "clusterstagedupdateruns";
        match capability {
            Capability::NamespacedPlacements => self.kind("stagedupdateruns").is_some(),
            Capability::RunProgress => self.says("UpdateRunProgressing"),
            Capability::StuckRuns => self.says("UpdateRunStuck"),
            Capability::WaitingRuns => self.says("UpdateRunWaiting"),
            Capability::RunColumns => {
                let called = self.kind(RUNS).and_then(|crd| crd.pointer("/spec/names/shortNames")?.as_array());
                let columns = self.stored(RUNS).and_then(|version| version["additionalPrinterColumns"].as_array());
                called.is_some_and(|names| names.iter().any(|name| name == "csur"))
                    && columns.is_some_and(|columns| columns.iter().any(|column| column["name"] == "Progressing"))
            }
            Capability::BeforeStageTasks => {
                let stage = "/spec/properties/stages/items/properties/beforeStageTasks";
                self.field("clusterstagedupdatestrategies", stage).is_some()
            }
            Capability::OptionalIndex => {
                let required = self.field(RUNS, "/spec/required").and_then(Value::as_array);
                required.is_some_and(|fields| fields.iter().all(|field| field != "resourceSnapshotIndex"))
            }
            Capability::RunStateField => self.field(RUNS, "/spec/properties/state").is_some(),
            Capability::RunStates => {
                let states = self.field(RUNS, "/spec/properties/state/enum").and_then(Value::as_array);
                states.is_some_and(|states| states.iter().any(|state| state == "Run"))
            }
            Capability::SnapshotsByRuns => self.says("creating a new resource snapshot"),
            Capability::LastingExternal => {
                let strategy = self.field("clusterresourceplacements", "/spec/properties/strategy");
                strategy.is_some_and(|strategy| rules(strategy).any(|rule| rule.contains("'External'")))
            }
            Capability::StrategyChanges => self.says("Detected an update to the rollout strategy type"),
            Capability::ExternalReported => self.says("RolloutControlledByExternalController"),
            Capability::ExternalNamesRuns => self.says("To determine rollout status, check the"),
            Capability::TaskLabels => self.says("kubernetes-fleet.io/targetUpdateRun"),
            Capability::Envelopes => self.kind("clusterresourceenvelopes").is_some(),
            Capability::BetaOverrides => {
                let versions = self.kind("resourceoverrides").and_then(|crd| crd.pointer("/spec/versions")?.as_array());
                let beta = |version: &Value| version["name"] == "v1beta1" && version["served"] == true;
                versions.is_some_and(|versions| versions.iter().any(beta))
            }
        }
    }

    /// Whether the hub-agent has a text in it.
    fn says(&self, text: &str) -> bool {
        memmem::find(self.hub_agent, text.as_bytes()).is_some()
    }

    /// KubeFleet's CRD of that plural name.
    fn kind(&self, plural: &str) -> Option<&Value> {
        let is = |crd: &&Value| {
            crd.pointer("/spec/names/plural").is_some_and(|name| name == plural)
                && crd.pointer("/spec/group").is_some_and(|group| group == "placement.kubernetes-fleet.io")
        };
        self.crds.iter().find(is)
    }

    /// The version of a kind in which objects are stored.
    fn stored(&self, plural: &str) -> Option<&Value> {
        let versions = self.kind(plural)?.pointer("/spec/versions")?.as_array()?;
        versions.iter().find(|version| version["storage"] == true)
    }

    /// Part of a CRD's schema in the version in which objects are stored, below its properties.
    fn field(&self, plural: &str, pointer: &str) -> Option<&Value> {
        self.stored(plural)?.pointer(&format!("/schema/openAPIV3Schema/properties{pointer}"))
    }
}

/// The validation rules of a schema and of what is in it.
fn rules(schema: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    let own = schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
    let own = own.filter_map(|rule| rule.get("rule")?.as_str());
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    Box::new(own.chain(properties.flat_map(|(_, property)| rules(property))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(plural: &str, spec: &Value) -> Value {
        let version = |name: &str, storage: bool, spec: &Value| json!({"name": name, "storage": storage, "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}});
        // What isn't stored doesn't count.
        let versions = [version("v1alpha1", false, &json!({})), version("v1beta1", true, spec)];
        json!({"spec": {"group": "placement.kubernetes-fleet.io", "names": {"plural": plural}, "versions": versions}})
    }

    #[test]
    fn what_the_crds_have_is_found() {
        let runs = json!({"required": ["placementName"], "properties": {"state": {"enum": ["Initialize", "Run"]}}});
        let rule = json!([{"rule": "!(self != 'External' && oldSelf == 'External')"}]);
        let placements =
            json!({"properties": {"strategy": {"properties": {"type": {"x-kubernetes-validations": rule}}}}});
        let crds = [crd("clusterstagedupdateruns", &runs), crd("clusterresourceplacements", &placements)];
        let found: Vec<_> = Capabilities::of(&crds, b"").iter().collect();
        let wanted =
            [Capability::OptionalIndex, Capability::RunStateField, Capability::RunStates, Capability::LastingExternal];
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_older_version_has_less() {
        let runs = json!({"required": ["placementName", "resourceSnapshotIndex"], "properties": {}});
        assert!(Capabilities::of(&[crd("clusterstagedupdateruns", &runs)], b"").is_empty());
        let ignored = json!({"required": [], "properties": {"state": {"enum": ["Initialize", "Execute"]}}});
        let found = Capabilities::of(&[crd("clusterstagedupdateruns", &ignored)], b"").iter().collect::<Vec<_>>();
        assert_eq!(found, [Capability::OptionalIndex, Capability::RunStateField]);
    }

    #[test]
    fn what_kubectl_shows_and_what_is_served_is_found() {
        let placement = "placement.kubernetes-fleet.io";
        let runs = |short: &str, columns: &[&str]| {
            let columns: Vec<_> = columns.iter().map(|name| json!({"name": name})).collect();
            let names = json!({"plural": "clusterstagedupdateruns", "shortNames": [short]});
            let version = json!({"name": "v1beta1", "storage": true, "additionalPrinterColumns": columns});
            json!({"spec": {"group": placement, "names": names, "versions": [version]}})
        };
        let overrides = |beta: bool| {
            let versions = json!([{"name": "v1alpha1", "served": true}, {"name": "v1beta1", "served": beta}]);
            json!({"spec": {"group": placement, "names": {"plural": "resourceoverrides"}, "versions": versions}})
        };
        let found = |crds: &[Value]| Capabilities::of(crds, b"").iter().collect::<Vec<_>>();
        let all = found(&[runs("csur", &["Initialized", "Progressing"]), overrides(true)]);
        assert_eq!(all, [Capability::RunColumns, Capability::BetaOverrides]);
        assert_eq!(found(&[runs("crsur", &["Initialized", "Succeeded"]), overrides(false)]), []);
    }

    #[test]
    fn what_the_hub_agent_can_say_is_found() {
        let found = Capabilities::of(&[], b"\x7fELF..UpdateRunStuckUpdateRunFailed..").iter().collect::<Vec<_>>();
        assert_eq!(found, [Capability::StuckRuns]);
    }
}
