//! `bundle serve`: a bundle that kubectl and other clients read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use diagnosis::{ClusterSnapshot, Snapshot, SnapshotRole};
use fleet::bundle::{Bundle, LogTail};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, ListParams, LogParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt as _};
use rustix::process::Signal;
use serde_json::json;

use crate::place::{Place, Said, until};
use crate::running::Running;

/// A hub with a placement, its event, and a Pod with a log; and a member with a Deployment.
fn bundle() -> Bundle {
    let placement = json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacement",
        "metadata": {"name": "web", "uid": "u-1", "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"team": "a"}},
        "status": {"conditions": [{"type": "ClusterResourcePlacementScheduled", "status": "True"}]}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hub-agent-1", "namespace": "fleet-system"},
        "spec": {"containers": [{"name": "hub-agent", "image": "hub-agent"}]}, "status": {"phase": "Running"}});
    let event = json!({"metadata": {"name": "web.1", "namespace": "default"}, "reason": "PlacementStuck", "type": "Warning",
        "message": "nothing is applied", "involvedObject": {"kind": "ClusterResourcePlacement", "name": "web", "uid": "u-1"}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app", "namespace": "web"},
        "spec": {"replicas": 2}, "status": {"readyReplicas": 1}});
    Bundle {
        fleet: "prod".into(),
        kubefleet: None,
        about: None,
        snapshot: Snapshot {
            taken_at: "2026-11-21T02:11:00Z".parse().expect("a time"),
            clusters: vec![
                ClusterSnapshot::new("hub", SnapshotRole::Hub, vec![placement, pod]),
                ClusterSnapshot::new("member-1", SnapshotRole::Member, vec![deployment]),
            ],
        },
        events: [("hub".to_owned(), vec![event])].into(),
        logs: vec![LogTail { process: "hub-hub-agent-1-hub-agent".into(), text: "one\ntwo\n".into(), cut: true }],
        missing: Vec::new(),
    }
}

/// A bundle that is served in the test's directory.
struct Served {
    place: Place,
    running: Running,
    kubeconfig: PathBuf,
}

impl Served {
    fn start() -> Self {
        let place = Place::new();
        bundle().write(&place.path("b.tar.gz")).expect("written");
        let kubeconfig = place.path("served");
        let args = ["bundle", "serve", "b.tar.gz", "--kubeconfig", "served"];
        let mut running = Running::start(&mut place.command(args));
        running.until_it_says("serving a bundle of fleet prod, taken at 2026-11-21T02:11:00Z");
        Self { place, running, kubeconfig }
    }

    async fn client(&self, context: &str) -> Client {
        let config = Kubeconfig::read_from(&self.kubeconfig).expect("a kubeconfig");
        let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
        let config = Config::from_custom_kubeconfig(config, &options).await.expect("a context");
        Client::try_from(config).expect("a client")
    }

    /// Command `kubectl`, with its cache in the test's directory.
    fn kubectl(&self, args: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        self.place.environment(&mut command);
        command.env("KUBECONFIG", &self.kubeconfig).arg("--cache-dir").arg(self.place.path("cache")).args(args);
        command
    }

    fn end(self) -> Said {
        self.running.signal(Signal::INT);
        self.running.end()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_reads_a_bundle_and_changes_nothing() {
    let served = Served::start();
    assert_eq!(std::fs::metadata(&served.kubeconfig).expect("a file").permissions().mode() & 0o777, 0o600);
    let pods: Api<Pod> = Api::namespaced(served.client("hub").await, "fleet-system");
    let names: Vec<String> =
        pods.list(&ListParams::default()).await.expect("a list").iter().map(kube::ResourceExt::name_any).collect();
    assert_eq!(names, ["hub-agent-1"]);
    assert_eq!(pods.logs("hub-agent-1", &LogParams::default()).await.expect("a log"), "one\ntwo\n");
    let refused = pods.delete("hub-agent-1", &DeleteParams::default()).await.expect_err("read-only").to_string();
    assert!(refused.contains("a bundle is read-only"), "{refused}");
    assert_eq!(pods.get("hub-agent-1").await.expect("still there").name_any(), "hub-agent-1");

    // Without the token.
    let mut config = Kubeconfig::read_from(&served.kubeconfig).expect("a kubeconfig");
    config.auth_infos.iter_mut().for_each(|user| user.auth_info = None);
    let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await.expect("a context");
    let refused = Client::try_from(config).expect("a client").list_core_api_versions().await;
    assert!(refused.is_err_and(|error| error.to_string().contains("Unauthorized")));

    let kubeconfig = served.kubeconfig.clone();
    let said = served.end();
    said.expect(0, &[]);
    let export = format!("export KUBECONFIG={}\n", kubeconfig.display());
    assert!(said.stdout.starts_with(&export), "{}", said.stdout);
    assert!(said.stdout.contains("kubectl --context member-1 get "), "{}", said.stdout);
    assert!(!kubeconfig.exists());
}

#[test]
fn kubectl_reads_a_bundle() {
    let served = Served::start();
    let said = |args: &[&str]| Said::from(served.kubectl(args).output().expect("kubectl starts"));
    let get = said(&["get", "crp"]);
    let age = get.expect(0, &[]).stdout.split_whitespace().last().expect("an age").to_owned();
    assert!(age.ends_with('d') || age.ends_with('y'), "{age}");
    let words: Vec<&str> = get.stdout.split_whitespace().collect();
    assert_eq!(words[..6], ["NAME", "SCHEDULED", "AVAILABLE", "AGE", "web", "True"], "{}", get.stdout);
    assert_eq!(said(&["get", "crp", "-l", "team=b"]).expect(0, &["No resources found"]).stdout, "");
    assert!(said(&["get", "crp", "web", "-o", "yaml"]).expect(0, &[]).stdout.contains("\n  uid: u-1\n"));
    let described = said(&["describe", "crp", "web"]);
    let described = &described.expect(0, &[]).stdout;
    assert!(described.contains("PlacementStuck") && described.contains("nothing is applied"), "{described}");
    assert_eq!(said(&["logs", "-n", "fleet-system", "hub-agent-1", "--tail", "1"]).expect(0, &[]).stdout, "two\n");
    let on_member = said(&["--context", "member-1", "get", "deploy", "--all-namespaces", "--no-headers"]);
    let words: Vec<&str> = on_member.expect(0, &[]).stdout.split_whitespace().collect();
    assert_eq!(words[..3], ["web", "app", "1/2"], "{}", on_member.stdout);
    said(&["get", "crp", "x"])
        .expect(1, &["(NotFound): clusterresourceplacements.placement.kubernetes-fleet.io \"x\" not found"]);
    said(&["get", "cm", "x"]).expect(1, &["(Forbidden)", "a bundle has no ConfigMaps and no Secrets"]);
    said(&["delete", "crp", "web"]).expect(1, &["(MethodNotAllowed)", "a bundle is read-only"]);
    said(&["auth", "can-i", "list", "pods"]).expect(0, &[]);
    said(&["auth", "can-i", "delete", "pods"]).expect(1, &[]);

    let mut watching = Running::start(&mut served.kubectl(&["get", "crp", "--watch-only", "--no-headers"]));
    let watched = Running::start(&mut served.kubectl(&["get", "crp", "-w", "--no-headers"]));
    let line = until("the watch shows the placement", || Some(watched.stdout()).filter(|text| text.contains('\n')));
    assert!(line.starts_with("web "), "{line}");
    watching.still_runs();
    assert_eq!(watching.stdout(), "", "nothing changes in a bundle");
    drop((watched, watching));
    served.end().expect(0, &[]);
}

#[test]
fn what_can_not_be_served_is_named_and_leaves_nothing_behind() {
    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).expect("a directory");
    let serve = |args: &[&str]| {
        let mut command = place.command(["bundle", "serve"].iter().chain(args));
        Said::from(command.env("TMPDIR", place.path("tmp")).output().expect("the command starts"))
    };
    let text = place.write("text", "text");
    serve(&[&text]).expect(2, &["is no bundle: it is neither a directory nor a .tar.gz file", "hint: "]);
    serve(&["nothing"]).expect(2, &["failed to read the bundle nothing", "No such file"]);
    bundle().write(&place.path("b")).expect("written");
    let manifest = place.path("b/bundle.json");
    let written = std::fs::read_to_string(&manifest).expect("read");
    std::fs::write(&manifest, written.replace("\"schema\": 1", "\"schema\": 99")).expect("written");
    serve(&["b"]).expect(2, &["has the format 99 of bundles, and this fleetdrill reads up to 2"]);
    std::fs::write(&manifest, written).expect("written");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    serve(&["b", "--listen", &address]).expect(2, &[&format!("failed to listen on {address}: "), "hint: "]);
    serve(&["b", "--listen", "0.0.0.0:0"]).expect(2, &["a bundle is served on 127.0.0.1 only, not on 0.0.0.0"]);
    serve(&["b", "--kubeconfig", &text]).expect(2, &["text already exists", "hint: give another file"]);
    assert_eq!(std::fs::read_to_string(Path::new(&text)).expect("read"), "text");
    serve(&["b", "--kubeconfig", "nowhere/k"]).expect(2, &["failed to write nowhere/k", "hint: "]);
    assert_eq!(std::fs::read_dir(place.path("tmp")).expect("a directory").count(), 0);
}
