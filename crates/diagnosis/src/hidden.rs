//! Failure codes that a diagnosis can't find without the objects of some kinds.

const OF_PLACEMENTS: &[&str] = &[
    "AR-KF-001 to AR-KF-006",
    "KF-AP-001 to KF-AP-020",
    "KF-AV-001 to KF-AV-012",
    "KF-DR-001 to KF-DR-009",
    "KF-OV-001 to KF-OV-008",
    "KF-RO-001 to KF-RO-004",
    "KF-SC-001 to KF-SC-012",
    "KF-UR-052",
    "KF-WS-001 to KF-WS-011",
];
const OF_RUNS: &[&str] = &["KF-RO-001", "KF-UR-001 to KF-UR-052"];
const OF_REQUESTS: &[&str] = &["KF-UR-004", "KF-UR-040", "KF-UR-050"];
const OF_BINDINGS: &[&str] = &[
    "KF-DL-001 to KF-DL-004",
    "KF-DL-006",
    "KF-RO-003",
    "KF-RO-004",
    "KF-UR-003",
    "KF-UR-005",
    "KF-UR-007",
    "KF-UR-008",
    "KF-UR-052",
];
const OF_SNAPSHOTS: &[&str] = &["KF-RO-003", "KF-UR-001"];
const OF_OVERRIDES: &[&str] = &["KF-OV-003", "KF-OV-004", "KF-OV-005", "KF-OV-007", "KF-OV-008"];
const OF_OVERRIDE_SNAPSHOTS: &[&str] = &["KF-OV-002", "KF-OV-006"];

/// Resources by kubectl's full name, each with the codes whose rules need its objects.
const NEEDED_FOR: &[(&str, &[&str])] = &[
    ("internalmemberclusters.cluster.kubernetes-fleet.io", &["KF-HA-001 to KF-HA-003", "KF-HA-006", "KF-MC-009"]),
    ("clusterresourceplacements.placement.kubernetes-fleet.io", OF_PLACEMENTS),
    ("resourceplacements.placement.kubernetes-fleet.io", OF_PLACEMENTS),
    ("clusterstagedupdateruns.placement.kubernetes-fleet.io", OF_RUNS),
    ("stagedupdateruns.placement.kubernetes-fleet.io", OF_RUNS),
    ("clusterapprovalrequests.placement.kubernetes-fleet.io", OF_REQUESTS),
    ("approvalrequests.placement.kubernetes-fleet.io", OF_REQUESTS),
    ("clusterresourceplacementevictions.placement.kubernetes-fleet.io", &["KF-EV-001 to KF-EV-009"]),
    (
        "memberclusters.cluster.kubernetes-fleet.io",
        &["KF-HA-001 to KF-HA-004", "KF-HA-006", "KF-MC-001 to KF-MC-009", "KF-SC-002", "KF-SC-004 to KF-SC-010"],
    ),
    ("clusterresourcebindings.placement.kubernetes-fleet.io", OF_BINDINGS),
    ("resourcebindings.placement.kubernetes-fleet.io", OF_BINDINGS),
    ("clusterresourcesnapshots.placement.kubernetes-fleet.io", OF_SNAPSHOTS),
    ("resourcesnapshots.placement.kubernetes-fleet.io", OF_SNAPSHOTS),
    ("clusterresourceoverrides.placement.kubernetes-fleet.io", OF_OVERRIDES),
    ("resourceoverrides.placement.kubernetes-fleet.io", OF_OVERRIDES),
    ("clusterresourceoverridesnapshots.placement.kubernetes-fleet.io", OF_OVERRIDE_SNAPSHOTS),
    ("resourceoverridesnapshots.placement.kubernetes-fleet.io", OF_OVERRIDE_SNAPSHOTS),
    (
        "works.placement.kubernetes-fleet.io",
        &[
            "KF-AP-001",
            "KF-DL-001",
            "KF-DL-006",
            "KF-DL-007",
            "KF-DR-003",
            "KF-DR-004",
            "KF-DR-005",
            "KF-DR-009",
            "KF-WS-008",
            "KF-WS-010",
            "KF-WS-011",
        ],
    ),
    ("serviceaccounts", &["KF-HA-003", "KF-MC-003"]),
    ("roles.rbac.authorization.k8s.io", &["KF-MC-002"]),
    ("rolebindings.rbac.authorization.k8s.io", &["KF-MC-002"]),
    ("clusterrolebindings.rbac.authorization.k8s.io", &["KF-HA-003"]),
    ("validatingwebhookconfigurations.admissionregistration.k8s.io", &["KF-HA-002"]),
    ("leases.coordination.k8s.io", &["KF-HA-004"]),
    ("appliedworks.placement.kubernetes-fleet.io", &["KF-DL-001", "KF-DL-005", "KF-DL-007"]),
    ("namespaces", &["KF-DL-001", "KF-DL-007"]),
    ("deployments.apps", &["KF-AV-001 to KF-AV-010"]),
    ("statefulsets.apps", &["KF-AV-001 to KF-AV-006", "KF-AV-008", "KF-AV-009"]),
    ("daemonsets.apps", &["KF-AV-001 to KF-AV-006", "KF-AV-008", "KF-AV-009"]),
    ("pods", &["KF-AV-001 to KF-AV-006", "KF-AV-008", "KF-AV-009"]),
    ("jobs.batch", &["KF-AV-011", "KF-AV-012"]),
    (
        "applications.argoproj.io",
        &[
            "AR-SF-001 to AR-SF-015",
            "AR-AC-001",
            "AR-CL-001 to AR-CL-005",
            "AR-DL-001 to AR-DL-007",
            "AR-HL-001 to AR-HL-007",
            "AR-KF-001 to AR-KF-003",
            "AR-KF-006",
            "AR-OS-001 to AR-OS-004",
            "AR-OS-006 to AR-OS-008",
            "AR-PJ-001 to AR-PJ-006",
            "AR-RP-001 to AR-RP-008",
            "AR-AS-002",
            "AR-AS-006",
        ],
    ),
    ("applicationsets.argoproj.io", &["AR-AS-001 to AR-AS-008"]),
];

/// Returns the codes, or ranges of codes, that a diagnosis can't find without the objects of a resource, which is given by its
/// plural name and its group as kubectl writes them, e.g. `pods` or `deployments.apps`.
#[must_use]
pub fn codes_that_need(resource: &str) -> &'static [&'static str] {
    NEEDED_FOR.iter().find(|(name, _)| *name == resource).map_or(&[], |(_, codes)| codes)
}

#[cfg(test)]
mod tests {
    use super::NEEDED_FOR;

    #[test]
    fn the_catalogue_has_each_code() {
        for code in NEEDED_FOR.iter().flat_map(|(_, codes)| *codes).flat_map(|codes| codes.split(" to ")) {
            assert!(crate::entry(code).is_some(), "{code}");
        }
    }
}
