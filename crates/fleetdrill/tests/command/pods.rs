//! `up --pods`: workloads on a member whose kubelet is simulated. One test covers them all, since starting a fleet
//! takes time.

use std::time::{Duration, Instant};

use fleet::kinds::{DEPLOYMENT, POD, ResourceKind};
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};

use crate::place::{LIMIT, Place, turn};
use crate::proc;

const JOB: ResourceKind = ResourceKind { group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true };

#[test]
fn pods_run_unless_their_image_cannot_be_had() {
    let _turn = turn();
    let place = Place::new();
    place.run(["up", "--members", "1", "--pods"]).expect(0, &["hub, member-1"]);
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let member = Member::new(&place, "member-1").await;
        workloads(&member).await;
    });
    only_logs_are_served(&place);
    members_with_pods_come_and_go(&place);
    place.run(["down"]).expect(0, &[]);
    place.soon_nothing_is_left();
}

async fn workloads(member: &Member) {
    member.deploy("good", "registry.example/app:1").await;
    member.deploy("invalid", "nginx:not a tag").await;
    member.deploy("uppercase", "Nginx@@bad").await;
    member.job("done", json!({})).await;
    member.job("failed", json!({"fleetdrill.dev/exit-code": "1"})).await;

    member.becomes(DEPLOYMENT, "good", "Available", "True").await;
    let pod = member.pod("good", |pod| pod.pointer("/status/phase") == Some(&"Running".into())).await;
    assert_eq!(condition(&pod, "Ready"), Some(("True", "", "")));
    assert_eq!(pod.pointer("/spec/nodeName"), Some(&clusters::local::NODE.into()));
    invalid_names(member).await;
    what_can_not_be_pulled(member).await;
    member.becomes(JOB, "done", "Complete", "True").await;
    member.becomes(JOB, "failed", "Failed", "True").await;

    let deployments = DEPLOYMENT.api(&member.client, Some("default"));
    deployments.delete("good", &DeleteParams::foreground()).await.expect("deleted");
    member.wait("the Deployment's pods are gone", async || member.pods("good").await.is_empty().then_some(())).await;
}

async fn invalid_names(member: &Member) {
    for (app, image, why) in [
        ("invalid", "nginx:not a tag", "invalid reference format"),
        ("uppercase", "Nginx@@bad", "invalid reference format: repository name (library/Nginx@@bad) must be lowercase"),
    ] {
        let pod = member.pod(app, |pod| reason(pod).is_some()).await;
        assert_eq!(reason(&pod), Some("InvalidImageName"));
        let message =
            format!("Failed to apply default image tag {image:?}: couldn't parse image name {image:?}: {why}");
        assert_eq!(waiting(&pod, "message"), Some(message.as_str()));
        assert_eq!(pod.pointer("/status/phase"), Some(&"Pending".into()));
        let unready = ("False", "ContainersNotReady", "containers with unready status: [app]");
        assert_eq!(condition(&pod, "Ready"), Some(unready));
        member.becomes(DEPLOYMENT, app, "Available", "False").await;
    }
    member.repair("invalid", "nginx:1.27").await;
}

async fn what_can_not_be_pulled(member: &Member) {
    for (app, image, why) in [
        ("unreachable", "registry.invalid/app:1", "dial tcp: lookup registry.invalid: no such host"),
        ("missing", "nginx:unpullable", "docker.io/library/nginx:unpullable: not found"),
    ] {
        member.deploy(app, image).await;
        let pod = member.pod(app, |pod| reason(pod) == Some("ErrImagePull")).await;
        assert!(waiting(&pod, "message").is_some_and(|message| message.ends_with(why)), "{pod}");
        let pod = member.pod(app, |pod| reason(pod) == Some("ImagePullBackOff")).await;
        let message = waiting(&pod, "message").expect("a message");
        assert!(message.starts_with("Back-off pulling image ") && message.ends_with(why), "{message}");
        member.becomes(DEPLOYMENT, app, "Available", "False").await;
        member.repair(app, "registry.example/app:2").await;
    }
}

fn only_logs_are_served(place: &Place) {
    let played: Vec<_> = place
        .processes()
        .into_iter()
        .filter(|(_, line)| line.contains("/bin/kube-scheduler ") || line.contains("/bin/kwok "))
        .collect();
    assert_eq!(played.len(), 2, "{played:?}");
    for (id, line) in played {
        let listens = proc::listens_on(id);
        let wanted = usize::from(line.contains("/bin/kwok "));
        assert_eq!(listens.len(), wanted, "{line}: {listens:?}");
        assert!(listens.iter().all(|address| address.starts_with("0100007F:")), "{line}: {listens:?}");
    }
}

fn members_with_pods_come_and_go(place: &Place) {
    let names = || {
        let said = place.run(["status", "default", "-o", "json"]);
        let fleets: Value = serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON");
        let processes = fleets[0]["processes"].as_array().cloned().unwrap_or_default();
        let running = processes.iter().filter(|p| !p["pid"].is_null()).filter_map(|p| p["name"].as_str());
        let mut names: Vec<String> =
            running.filter(|n| n.ends_with("-kwok") || n.ends_with("-scheduler")).map(str::to_owned).collect();
        names.sort();
        names
    };
    let of_first = ["member-1-kube-scheduler", "member-1-kwok"];
    assert_eq!(names(), of_first);
    place.run(["up", "--members", "2", "--pods"]).expect(0, &["hub, member-1, member-2"]);
    assert_eq!(names(), [of_first, ["member-2-kube-scheduler", "member-2-kwok"]].concat());
    place.run(["up", "--members", "1"]).expect(0, &["hub, member-1 "]);
    assert_eq!(names(), of_first);
}

/// Cluster of a member, and the workloads in its default namespace.
struct Member {
    client: Client,
}

impl Member {
    async fn new(place: &Place, name: &str) -> Self {
        let kubeconfig = Kubeconfig::read_from(place.state().join("default/kubeconfig")).expect("a kubeconfig");
        let options = KubeConfigOptions { context: Some(name.to_owned()), ..KubeConfigOptions::default() };
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("a context");
        Self { client: Client::try_from(config).expect("a client") }
    }

    async fn create(&self, kind: ResourceKind, mut value: Value) {
        value["apiVersion"] = kind.api_version().into();
        value["kind"] = kind.kind.into();
        let object: DynamicObject = serde_json::from_value(value).expect("an object");
        kind.api(&self.client, Some("default")).create(&PostParams::default(), &object).await.expect("created");
    }

    async fn deploy(&self, app: &str, image: &str) {
        let template = json!({
            "metadata": {"labels": {"app": app}},
            "spec": {"containers": [{"name": "app", "image": image}]},
        });
        let spec = json!({"selector": {"matchLabels": {"app": app}}, "template": template});
        self.create(DEPLOYMENT, json!({"metadata": {"name": app}, "spec": spec})).await;
    }

    async fn job(&self, name: &str, annotations: Value) {
        let template = json!({
            "metadata": {"annotations": annotations},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "registry.example/job:1"}]},
        });
        self.create(JOB, json!({"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": template}})).await;
    }

    /// Changes the image of a Deployment, and waits until the Deployment is available with it.
    async fn repair(&self, app: &str, image: &str) {
        let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}}});
        let api = DEPLOYMENT.api(&self.client, Some("default"));
        api.patch(app, &PatchParams::default(), &Patch::Strategic(patch)).await.expect("repaired");
        self.becomes(DEPLOYMENT, app, "Available", "True").await;
        let pod = self.pod(app, |pod| pod.pointer("/spec/containers/0/image") == Some(&image.into())).await;
        assert_eq!(condition(&pod, "Ready"), Some(("True", "", "")));
    }

    async fn pods(&self, app: &str) -> Vec<Value> {
        let list = ListParams::default().labels(&format!("app={app}"));
        let pods = POD.api(&self.client, Some("default")).list(&list).await.expect("a list");
        pods.items.iter().map(|pod| serde_json::to_value(pod).expect("JSON")).collect()
    }

    async fn pod(&self, app: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let what = format!("a pod of {app} that is so");
        self.wait(&what, async || self.pods(app).await.into_iter().find(|pod| is_it(pod))).await
    }

    async fn becomes(&self, kind: ResourceKind, name: &str, type_: &str, status: &str) {
        let api = kind.api(&self.client, Some("default"));
        self.wait(&format!("{}/{name}: {type_} {status}", kind.kind), async || {
            let object = serde_json::to_value(api.get(name).await.expect("it is there")).expect("JSON");
            (condition(&object, type_)?.0 == status).then_some(())
        })
        .await;
    }

    async fn wait<T>(&self, what: &str, found: impl AsyncFn() -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = found().await {
                return found;
            }
            if started.elapsed() > LIMIT {
                let pods = POD.api(&self.client, Some("default")).list(&ListParams::default()).await;
                panic!("{what}: not so after {} s: {pods:#?}", LIMIT.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Returns a condition's status, reason and message.
fn condition<'a>(object: &'a Value, type_: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let found = conditions.iter().find(|c| c["type"] == type_)?;
    let text = |key: &str| found[key].as_str().unwrap_or_default();
    Some((text("status"), text("reason"), text("message")))
}

fn waiting<'a>(pod: &'a Value, key: &str) -> Option<&'a str> {
    pod.pointer("/status/containerStatuses/0/state/waiting")?[key].as_str()
}

fn reason(pod: &Value) -> Option<&str> {
    waiting(pod, "reason")
}
