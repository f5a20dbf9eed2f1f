//! Fleets with placements of both scopes that have the same names.

use std::collections::BTreeSet;

use diagnosis::Finding;
use serde_json::Value;

use crate::shapes::{NAMESPACE, hub, namespaced};

/// Checks that the findings about placements and runs of cluster scope and about those in a namespace don't depend on each other.
pub fn check(of_cluster: &[Value]) {
    let mut in_namespace = namespaced(of_cluster);
    for work in in_namespace.iter_mut().filter(|object| object["kind"] == "Work") {
        // KubeFleet names the Works of a namespaced placement so.
        let name = format!("{NAMESPACE}.{}", work["metadata"]["name"].as_str().unwrap_or_default());
        work["metadata"]["name"] = name.into();
    }
    let twins = in_namespace.iter().filter(|object| !of_cluster.contains(object));
    let both = of_cluster.iter().chain(twins).cloned().collect();
    let alone = subjects(of_cluster.to_vec()).into_iter().chain(subjects(in_namespace));
    assert_eq!(subjects(both), alone.collect(), "of both scopes");
}

fn subjects(objects: Vec<Value>) -> BTreeSet<String> {
    let findings = diagnosis::diagnose(&hub(objects));
    findings.iter().flat_map(Finding::flatten).map(|finding| format!("{} {}", finding.code, finding.subject)).collect()
}
