//! Capabilities of a KubeFleet version, found out from what is installed: the CRDs, and the texts in the agents' programs.
//!
//! Version numbers don't tell the capabilities: Azure/fleet had reached v0.14 before KubeFleet started again with v0.1,
//! and own builds have any version name.

use diagnosis::kubefleet::{PLACEMENT_GROUP, TARGET_UPDATE_RUN};
use memchr::memmem;
pub use record::{Capabilities, Capability};
use serde_json::Value;

/// Returns the capabilities that these CRDs and these agents (the contents of their program files) show.
#[must_use]
pub fn detect(crds: &[Value], hub_agent: &[u8], member_agent: &[u8]) -> Capabilities {
    let installed = InstalledArtifacts { crds, hub_agent, member_agent };
    Capability::all().filter(|capability| installed.shows(*capability)).collect()
}

/// Parts of an installed version that show its capabilities.
struct InstalledArtifacts<'a> {
    crds: &'a [Value],
    hub_agent: &'a [u8],
    member_agent: &'a [u8],
}

impl InstalledArtifacts<'_> {
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
            Capability::TaskLabels => self.says(TARGET_UPDATE_RUN),
            Capability::SkippedStages => self.says("StageUpdatingSkippedNoClusters"),
            Capability::Envelopes => self.kind("clusterresourceenvelopes").is_some(),
            Capability::BetaOverrides => {
                let versions = self.kind("resourceoverrides").and_then(|crd| crd.pointer("/spec/versions")?.as_array());
                let mut versions = versions.into_iter().flatten();
                versions.any(|version| version["name"] == "v1beta1" && version["served"] == true)
            }
            Capability::EnvelopeOverrides => self.says("manifests extracted from the envelope"),
            Capability::AwaitedDeletion => contains(self.member_agent, "AppliedWork deletion in progress"),
            Capability::DegradedComparison => contains(self.member_agent, "FoundDiffInDegradedMode"),
            // A text of controller-runtime v0.19, which recovers panics unless it is told otherwise.
            Capability::RecoveredPanics => self.says("Controller names must be unique"),
            Capability::PolicyRules => {
                let policy = self.field("clusterresourceplacements", "/spec/properties/policy");
                policy.is_some_and(|policy| rules(policy).any(|rule| rule.contains("numberOfClusters")))
            }
        }
    }

    /// True if the hub-agent's program contains the text.
    fn says(&self, text: &str) -> bool {
        contains(self.hub_agent, text)
    }

    /// Returns KubeFleet's CRD with this plural name.
    fn kind(&self, plural: &str) -> Option<&Value> {
        self.crds.iter().find(|crd| {
            crd.pointer("/spec/names/plural").is_some_and(|name| name == plural)
                && crd.pointer("/spec/group").is_some_and(|group| group == PLACEMENT_GROUP)
        })
    }

    /// Returns the CRD version in which objects of a kind are stored.
    fn stored(&self, plural: &str) -> Option<&Value> {
        let versions = self.kind(plural)?.pointer("/spec/versions")?.as_array()?;
        versions.iter().find(|version| version["storage"] == true)
    }

    /// Returns a part of a CRD's schema in its storage version; `pointer` starts below the schema's properties.
    fn field(&self, plural: &str, pointer: &str) -> Option<&Value> {
        self.stored(plural)?.pointer(&format!("/schema/openAPIV3Schema/properties{pointer}"))
    }
}

fn contains(program: &[u8], text: &str) -> bool {
    memmem::find(program, text.as_bytes()).is_some()
}

/// Validation rules of a schema and of all its properties, at any depth.
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
        // A version that isn't the storage version doesn't count.
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
        let found: Vec<_> = detect(&crds, b"", b"").iter().collect();
        let wanted =
            [Capability::OptionalIndex, Capability::RunStateField, Capability::RunStates, Capability::LastingExternal];
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_older_version_has_less() {
        let runs = json!({"required": ["placementName", "resourceSnapshotIndex"], "properties": {}});
        assert!(detect(&[crd("clusterstagedupdateruns", &runs)], b"", b"").is_empty());
        let ignored = json!({"required": [], "properties": {"state": {"enum": ["Initialize", "Execute"]}}});
        let found = detect(&[crd("clusterstagedupdateruns", &ignored)], b"", b"").iter().collect::<Vec<_>>();
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
        let found = |crds: &[Value]| detect(crds, b"", b"").iter().collect::<Vec<_>>();
        let all = found(&[runs("csur", &["Initialized", "Progressing"]), overrides(true)]);
        assert_eq!(all, [Capability::RunColumns, Capability::BetaOverrides]);
        assert_eq!(found(&[runs("crsur", &["Initialized", "Succeeded"]), overrides(false)]), []);
    }

    #[test]
    fn what_the_agents_can_say_is_found() {
        let (hub, member) = (b"\x7fELF..UpdateRunStuckUpdateRunFailed..", b"..FoundDiffInDegradedMode..");
        let found = detect(&[], hub, member).iter().collect::<Vec<_>>();
        assert_eq!(found, [Capability::StuckRuns, Capability::DegradedComparison]);
    }
}
