//! A cluster of kind that has the image of fleetdrill.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::nodes::node_image;
use crate::place::Place;
use crate::{IMAGE, docker, name, said};

/// A cluster with one node. It is deleted when this is dropped.
pub(crate) struct KindCluster {
    pub(crate) place: Place,
    name: String,
    pub(crate) kubeconfig: String,
}

impl KindCluster {
    pub(crate) fn new() -> Self {
        let (place, name) = (Place::new(), name("pods"));
        let kubeconfig = place.write("kubeconfig", "");
        let cluster = Self { place, name, kubeconfig };
        let mut create = Command::new("kind");
        create.args(["create", "cluster", "--wait", "180s", "--name", &cluster.name]);
        create.args(["--kubeconfig", &cluster.kubeconfig]);
        let node_image = node_image();
        create.args(node_image.iter().map(|arg| if arg == "--node-image" { "--image" } else { arg.as_str() }));
        said(create).expect(0, &[]);
        let mut load = Command::new("kind");
        load.args(["load", "docker-image", &image(), "--name", &cluster.name]);
        said(load).expect(0, &[]);
        cluster
    }

    /// Runs kubectl on the cluster's node.
    pub(crate) fn kubectl(&self, args: &[&str]) -> String {
        docker(&[&["exec", &self.node()], KUBECTL, args].concat())
    }

    /// Applies manifests.
    #[track_caller]
    pub(crate) fn apply(&self, manifests: &str) {
        let mut command = Command::new("docker");
        command.args(["exec", "--interactive", &self.node()]).args(KUBECTL).args(["apply", "--filename", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
        child.stdin.take().expect("is piped").write_all(manifests.as_bytes()).expect("it reads");
        assert!(child.wait().expect("it ends").success(), "{manifests}");
    }

    fn node(&self) -> String {
        format!("{}-control-plane", self.name)
    }
}

/// kubectl on a node.
const KUBECTL: &[&str] = &["kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"];

impl Drop for KindCluster {
    fn drop(&mut self) {
        let mut delete = Command::new("kind");
        delete.args(["delete", "cluster", "--name", &self.name, "--kubeconfig", &self.kubeconfig]);
        // A cluster that can't be deleted must not hide the test's own failure.
        let _ = delete.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The image of fleetdrill.
pub(crate) fn image() -> String {
    std::env::var(IMAGE).unwrap_or_default()
}
