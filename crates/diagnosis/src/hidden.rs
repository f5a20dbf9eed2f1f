//! Failure codes that a diagnosis can't find without the objects of some kinds.

/// Resources by kubectl's full name, each with the codes whose rules need its objects.
const NEEDED_FOR: &[(&str, &[&str])] = &[
    ("internalmemberclusters.cluster.kubernetes-fleet.io", &["KF-HA-001"]),
    ("serviceaccounts", &["KF-MC-003"]),
    ("roles.rbac.authorization.k8s.io", &["KF-MC-002"]),
    ("rolebindings.rbac.authorization.k8s.io", &["KF-MC-002"]),
    ("appliedworks.placement.kubernetes-fleet.io", &["KF-DL-001"]),
    ("namespaces", &["KF-DL-001"]),
    ("deployments.apps", &["KF-AV-001", "KF-AV-002", "KF-AV-003"]),
    ("statefulsets.apps", &["KF-AV-001", "KF-AV-002", "KF-AV-003"]),
    ("daemonsets.apps", &["KF-AV-001", "KF-AV-002", "KF-AV-003"]),
    ("pods", &["KF-AV-001", "KF-AV-002", "KF-AV-003"]),
    ("applications.argoproj.io", &["AR-SF-001 to AR-SF-015"]),
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
