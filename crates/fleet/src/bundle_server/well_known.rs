//! Short names of well-known kinds, for bundles without their definitions.

/// Short names by group and kind.
const SHORT_NAMES: &[(&str, &str, &[&str])] = &[
    ("", "Event", &["ev"]),
    ("", "LimitRange", &["limits"]),
    ("", "Namespace", &["ns"]),
    ("", "Node", &["no"]),
    ("", "PersistentVolume", &["pv"]),
    ("", "PersistentVolumeClaim", &["pvc"]),
    ("", "Pod", &["po"]),
    ("", "ResourceQuota", &["quota"]),
    ("", "Service", &["svc"]),
    ("", "ServiceAccount", &["sa"]),
    ("", "ConfigMap", &["cm"]),
    ("apiextensions.k8s.io", "CustomResourceDefinition", &["crd", "crds"]),
    ("apps", "DaemonSet", &["ds"]),
    ("apps", "Deployment", &["deploy"]),
    ("apps", "ReplicaSet", &["rs"]),
    ("apps", "StatefulSet", &["sts"]),
    ("autoscaling", "HorizontalPodAutoscaler", &["hpa"]),
    ("batch", "CronJob", &["cj"]),
    ("argoproj.io", "Application", &["app", "apps"]),
    ("argoproj.io", "ApplicationSet", &["appset", "appsets"]),
    ("argoproj.io", "AppProject", &["appproj", "appprojs"]),
    ("cluster.kubernetes-fleet.io", "InternalMemberCluster", &["imc"]),
    ("cluster.kubernetes-fleet.io", "MemberCluster", &["cluster"]),
    ("placement.kubernetes-fleet.io", "ApprovalRequest", &["areq"]),
    ("placement.kubernetes-fleet.io", "ClusterApprovalRequest", &["careq"]),
    ("placement.kubernetes-fleet.io", "ClusterResourceBinding", &["crb"]),
    ("placement.kubernetes-fleet.io", "ClusterResourcePlacement", &["crp"]),
    ("placement.kubernetes-fleet.io", "ClusterResourcePlacementEviction", &["crpe"]),
    ("placement.kubernetes-fleet.io", "ClusterResourceSnapshot", &["crs"]),
    ("placement.kubernetes-fleet.io", "ClusterSchedulingPolicySnapshot", &["csps"]),
    ("placement.kubernetes-fleet.io", "ClusterStagedUpdateRun", &["csur"]),
    ("placement.kubernetes-fleet.io", "ResourceBinding", &["rb"]),
    ("placement.kubernetes-fleet.io", "ResourcePlacement", &["rp"]),
    ("placement.kubernetes-fleet.io", "SchedulingPolicySnapshot", &["sps"]),
    ("placement.kubernetes-fleet.io", "StagedUpdateRun", &["sur"]),
];

/// Short names of a kind; empty if none are known.
pub(super) fn short_names(group: &str, kind: &str) -> Vec<String> {
    let known = SHORT_NAMES.iter().find(|(known_group, known_kind, _)| *known_group == group && *known_kind == kind);
    known.into_iter().flat_map(|(_, _, names)| names.iter().map(|name| (*name).to_owned())).collect()
}
