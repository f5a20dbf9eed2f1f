//! fleetdrill in Pods that read the hub on which they run: the manifests of `manifests/watch` and `manifests/report`.

use std::fs;
use std::path::Path;

use crate::charts::{component, module};
use crate::kind_cluster::{KindCluster, image};
use crate::place::until;
use crate::{IMAGE, Test};

/// What these tests need. KubeFleet's CRDs come from its Go module.
const NEEDS: &[&str] = &["docker", "kind", "go", IMAGE];

pub(crate) const TESTS: &[Test] =
    &[("a_hub_is_watched_and_reported_from_its_own_pods", NEEDS, a_hub_is_watched_and_reported_from_its_own_pods)];

/// Root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A placement that nobody takes care of: the cluster has no hub-agent.
const PLACEMENT: &str = r"
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata:
  name: web
spec:
  resourceSelectors:
    - {group: '', version: v1, kind: Namespace, name: default}
";

fn a_hub_is_watched_and_reported_from_its_own_pods() {
    let cluster = KindCluster::new();
    let version = component(&cluster.place, "kubefleet")["version"].as_str().expect("a version").to_owned();
    cluster.apply(&crds(&module(&version)));
    until("the CRD is served", || {
        let wanted = ["get", "crd", "clusterresourceplacements.placement.kubernetes-fleet.io", "--output"];
        let status = cluster.kubectl(&[&wanted[..], &["jsonpath={.status.conditions}"]].concat());
        status.contains("\"Established\"").then_some(())
    });
    cluster.apply(PLACEMENT);

    cluster.apply(&manifests("watch", "deployment.yaml"));
    cluster.kubectl(&["rollout", "status", "deployment/fleetdrill-watch", "--timeout=180s"]);
    let metrics = "/api/v1/namespaces/default/services/fleetdrill-watch:metrics/proxy/metrics";
    until("the metrics have the finding", || {
        cluster.kubectl(&["get", "--raw", metrics]).contains("code=\"KF-XX-001\"").then_some(())
    });

    cluster.apply(&manifests("report", "cronjob.yaml"));
    cluster.kubectl(&["create", "job", "--from=cronjob/fleetdrill-report", "now"]);
    // A finding ends the Pod with 1, and so the Job fails.
    cluster.kubectl(&["wait", "--for=condition=Failed", "job/now", "--timeout=180s"]);
    let report = cluster.kubectl(&["logs", "job/now"]);
    assert!(report.contains("KF-XX-001") && report.contains("ClusterResourcePlacement/web"), "{report}");
}

/// CRDs of KubeFleet's Go module, in one text.
fn crds(module: &Path) -> String {
    let files = fs::read_dir(module.join("config/crd/bases")).expect("a directory");
    let texts = files.map(|file| fs::read_to_string(file.expect("an entry").path()).expect("a file"));
    texts.collect::<Vec<_>>().join("\n---\n")
}

/// Manifests of a directory of `manifests`, with the image of the test.
fn manifests(directory: &str, workload: &str) -> String {
    let read = |file: &str| {
        let path = Path::new(ROOT).join("manifests").join(directory).join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let workload = read(workload);
    let with_image = workload.replace("ghcr.io/fleetdrill/fleetdrill:0.1.0", &image());
    format!("{}\n---\n{with_image}", read("rights.yaml"))
}
