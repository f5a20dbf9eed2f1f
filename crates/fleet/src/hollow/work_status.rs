//! Statuses of Works, as the member-agent of KubeFleet v0.1.2 writes them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::core::{ApiResource, GroupVersionKind};

use super::conditions::NewCondition;
use super::work_objects::{Manifest, ManifestCondition, ManifestIdentifier, Work, WorkStatus};

/// Kinds that count as available as soon as they are applied, or that a member without nodes has available at once.
const AVAILABLE_AT_ONCE: &[&str] = &[
    "Namespace",
    "Secret",
    "ConfigMap",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ServiceAccount",
    "NetworkPolicy",
    "CSIDriver",
    "CSINode",
    "StorageClass",
    "CSIStorageCapacity",
    "ControllerRevision",
    "IngressClass",
    "LimitRange",
    "ResourceQuota",
    "PriorityClass",
    "Service",
    "CustomResourceDefinition",
    "PodDisruptionBudget",
];

/// Kinds whose availability depends on pods.
const WORKLOADS: &[&str] = &["Deployment", "StatefulSet", "DaemonSet"];

/// Kinds whose objects have no generation.
const WITHOUT_GENERATION: &[&str] = &[
    "Namespace",
    "Secret",
    "ConfigMap",
    "ServiceAccount",
    "Service",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "LimitRange",
    "ResourceQuota",
];

/// Availability of an object that was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Availability {
    Available,
    NotYet,
    NotTrackable,
}

impl Work {
    /// True if the status has an entry for each manifest, and thus an attempt to apply them was recorded.
    pub fn is_written_ahead(&self) -> bool {
        let manifests = self.manifests();
        let recorded = &self.status.manifest_conditions;
        recorded.len() == manifests.len()
            && manifests.iter().zip(recorded).all(|(manifest, entry)| manifest.is(&entry.identifier))
    }

    /// Status before the manifests are applied: new manifests are being prepared.
    pub fn status_ahead(&self, now: Timestamp) -> WorkStatus {
        let preparing = || NewCondition {
            type_: "Applied",
            holds: false,
            reason: "PreparingToProcess",
            message: "The manifest is being prepared for processing.".into(),
            generation: Some(self.generation()),
        };
        let entry = |(ordinal, manifest): (usize, &Manifest)| {
            self.recorded(manifest).cloned().unwrap_or_else(|| ManifestCondition {
                identifier: manifest.identifier(ordinal),
                conditions: vec![preparing().after(&[], now)],
            })
        };
        WorkStatus {
            conditions: self.status.conditions.clone(),
            manifest_conditions: self.manifests().iter().enumerate().map(entry).collect(),
        }
    }

    /// Status after all manifests were applied. `is_available` tells whether a workload is available.
    pub fn status_applied(&self, now: Timestamp, is_available: impl Fn(&Manifest) -> bool) -> WorkStatus {
        let availability = |manifest: &Manifest| manifest.availability(&is_available);
        let entry = |(ordinal, manifest): (usize, &Manifest)| {
            let earlier = self.recorded_conditions(manifest);
            let generation = manifest.generation();
            let applied = NewCondition {
                type_: "Applied",
                holds: true,
                reason: "Applied",
                message: "Manifest has been applied successfully".into(),
                generation,
            };
            let (holds, reason, message) = availability(manifest).condition();
            let available = NewCondition { type_: "Available", holds, reason, message: message.into(), generation };
            ManifestCondition {
                identifier: manifest.identifier(ordinal),
                conditions: [applied, available].map(|condition| condition.after(earlier, now)).into(),
            }
        };
        let applied = NewCondition {
            type_: "Applied",
            holds: true,
            reason: "AllManifestsApplied",
            message: "All the specified manifests have been applied".into(),
            generation: Some(self.generation()),
        };
        let available = self.available(&self.manifests().iter().map(availability).collect::<Vec<_>>());
        WorkStatus {
            conditions: [applied, available].map(|condition| condition.after(&self.status.conditions, now)).into(),
            manifest_conditions: self.manifests().iter().enumerate().map(entry).collect(),
        }
    }

    /// Status of a Work that only reports differences: there are none.
    pub fn status_without_differences(&self, now: Timestamp) -> WorkStatus {
        let entry = |(ordinal, manifest): (usize, &Manifest)| {
            let earlier = self.recorded_conditions(manifest);
            let same = NewCondition {
                type_: "DiffReported",
                holds: true,
                reason: "NoDiffFound",
                message: "No diff has been found between the hub cluster and the member cluster".into(),
                generation: manifest.generation(),
            };
            ManifestCondition { identifier: manifest.identifier(ordinal), conditions: vec![same.after(earlier, now)] }
        };
        let all = NewCondition {
            type_: "DiffReported",
            holds: true,
            reason: "AllManifestsDiffReported",
            message: "All the specified manifests have reported diff".into(),
            generation: Some(self.generation()),
        };
        WorkStatus {
            conditions: vec![all.after(&self.status.conditions, now)],
            manifest_conditions: self.manifests().iter().enumerate().map(entry).collect(),
        }
    }

    /// Condition `Available` of the whole Work.
    fn available(&self, manifests: &[Availability]) -> NewCondition {
        let count = manifests.len();
        let available = manifests.iter().filter(|a| **a != Availability::NotYet).count();
        let untracked = manifests.contains(&Availability::NotTrackable);
        let (reason, message) = if available < count {
            let message = format!("Some manifests are not available ({available} of {count} manifests are available)");
            ("SomeManifestsAreNotAvailable", message)
        } else if untracked {
            ("WorkNotTrackable", "Some of the applied manifests cannot be tracked for availability".to_owned())
        } else {
            ("AllManifestsAvailable", "All of the applied manifests are available".to_owned())
        };
        let generation = Some(self.generation());
        NewCondition { type_: "Available", holds: available == count, reason, message, generation }
    }

    /// Returns what the status has recorded of a manifest, at whatever position it was.
    fn recorded(&self, manifest: &Manifest) -> Option<&ManifestCondition> {
        self.status.manifest_conditions.iter().find(|entry| manifest.is(&entry.identifier))
    }

    fn recorded_conditions(&self, manifest: &Manifest) -> &[Condition] {
        self.recorded(manifest).map_or(&[], |entry| &entry.conditions)
    }
}

impl Manifest {
    /// True for a Deployment, `StatefulSet` or `DaemonSet`.
    pub fn is_workload(&self) -> bool {
        self.group == "apps" && WORKLOADS.contains(&self.kind.as_str())
    }

    fn availability(&self, is_available: impl Fn(&Self) -> bool) -> Availability {
        let of_kubernetes =
            self.group.is_empty() || self.group == "apps" || self.group == "policy" || self.group.ends_with(".k8s.io");
        if self.is_workload() {
            if is_available(self) { Availability::Available } else { Availability::NotYet }
        } else if of_kubernetes && AVAILABLE_AT_ONCE.contains(&self.kind.as_str()) && !self.is_external_name {
            Availability::Available
        } else {
            Availability::NotTrackable
        }
    }

    /// Generation of the object on the member. Objects that have one are reported at generation 1 for good: there is no
    /// member that would count.
    fn generation(&self) -> Option<i64> {
        (!WITHOUT_GENERATION.contains(&self.kind.as_str())).then_some(1)
    }

    fn is(&self, identifier: &ManifestIdentifier) -> bool {
        self.kind == identifier.kind
            && self.name == identifier.name
            && self.namespace == identifier.namespace
            && self.group == identifier.group
            && self.version == identifier.version
    }

    /// Plural name of the kind by the rules of English: the real agent asks its cluster.
    fn plural(&self) -> String {
        ApiResource::from_gvk(&GroupVersionKind::gvk(&self.group, &self.version, &self.kind)).plural
    }

    fn identifier(&self, ordinal: usize) -> ManifestIdentifier {
        ManifestIdentifier {
            ordinal,
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
            resource: self.plural(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

impl Availability {
    /// Status, reason and message of the condition `Available` of a manifest.
    fn condition(self) -> (bool, &'static str, &'static str) {
        match self {
            Self::Available => (true, "Available", "Manifest is available"),
            Self::NotYet => {
                (false, "ManifestNotAvailableYet", "Manifest is not yet available; Fleet will check again later")
            }
            Self::NotTrackable => (
                true,
                "NotTrackable",
                "Manifest's availability is not trackable; Fleet assumes that the applied manifest is available",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A Work of a ConfigMap, a Deployment and a Job, with this generation and status.
    fn work(generation: i64, status: &WorkStatus) -> Work {
        let manifest = |api_version: &str, kind: &str, spec: Value| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": "n"}, "spec": spec});
        let pods = json!({"template": {"spec": {"containers": [{"name": "c", "image": "web:1"}]}}});
        let manifests = [
            manifest("v1", "ConfigMap", json!({})),
            manifest("apps/v1", "Deployment", pods.clone()),
            manifest("batch/v1", "Job", pods),
        ];
        let work = json!({
            "metadata": {"name": "w", "generation": generation, "managedFields": [{"manager": "hub-agent"}]},
            "spec": {"workload": {"manifests": manifests}},
            "status": status,
        });
        serde_json::from_value(work).expect("a Work")
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    /// Type, status, reason and time of conditions.
    fn told(conditions: &[Condition]) -> Vec<String> {
        let told = conditions.iter();
        told.map(|c| format!("{} {} {} {}", c.type_, c.status, c.reason, c.last_transition_time.0.as_second()))
            .collect()
    }

    #[test]
    fn a_new_work_is_written_ahead_and_then_applied() {
        let new = work(1, &WorkStatus::default());
        assert!(!new.is_written_ahead());
        let ahead = work(1, &new.status_ahead(at(1)));
        assert!(ahead.is_written_ahead());
        assert!(ahead.status.conditions.is_empty());
        assert_eq!(told(&ahead.status.manifest_conditions[1].conditions), ["Applied False PreparingToProcess 1"]);

        let waiting = ahead.status_applied(at(2), |_| false);
        assert_eq!(
            told(&waiting.conditions),
            ["Applied True AllManifestsApplied 2", "Available False SomeManifestsAreNotAvailable 2"]
        );
        assert_eq!(waiting.conditions[1].message, "Some manifests are not available (2 of 3 manifests are available)");
        let of_deployment = &waiting.manifest_conditions[1];
        assert_eq!(of_deployment.identifier.resource, "deployments");
        assert_eq!(
            told(&of_deployment.conditions),
            ["Applied True Applied 2", "Available False ManifestNotAvailableYet 2"]
        );
        let generations: Vec<_> =
            waiting.manifest_conditions.iter().map(|m| m.conditions[0].observed_generation).collect();
        assert_eq!(generations, [None, Some(1), Some(1)]);
    }

    #[test]
    fn a_status_that_stays_the_same_keeps_its_time() {
        let first = work(1, &WorkStatus::default()).status_applied(at(1), |_| true);
        assert_eq!(
            told(&first.conditions),
            ["Applied True AllManifestsApplied 1", "Available True WorkNotTrackable 1"]
        );
        let changed = work(2, &first).status_applied(at(9), |_| false);
        assert_eq!(
            told(&changed.conditions),
            ["Applied True AllManifestsApplied 1", "Available False SomeManifestsAreNotAvailable 9"]
        );
        assert_eq!(changed.conditions[0].observed_generation, Some(2));
        assert_eq!(
            told(&changed.manifest_conditions[0].conditions),
            ["Applied True Applied 1", "Available True Available 1"]
        );
        // What is reported already isn't written again.
        assert_eq!(work(1, &first).status_applied(at(9), |_| true), first);
    }
}
