//! `--provider existing`: runs scenarios on a fleet that somebody else has made and uses, and reads it.
//!
//! The fleet is made by `fleetdrill up`, and then changed to look like somebody else's: without fleetdrill's labels,
//! and with a placement, namespaces and labels of its own.

use std::collections::BTreeMap;

use clusters::kubeconfig;
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use kube::config::Kubeconfig;
use kube::core::{ApiResource, GroupVersionKind};
use kube::discovery::{Discovery, verbs};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::features::{endless, quick};
use crate::place::{Place, Said, turn, until_or};
use crate::running::Running;

/// Default version of KubeFleet.
const VERSION: &str = "v0.1.2";

const PLACEMENTS: &str = "placement.kubernetes-fleet.io/v1beta1/ClusterResourcePlacement";
const MEMBERS: &str = "cluster.kubernetes-fleet.io/v1beta1/MemberCluster";

#[test]
fn a_fleet_that_somebody_else_uses() {
    let _turn = turn();
    let place = Place::new();
    place.run(["up", "theirs", "--members", "1"]).expect(0, &[]);
    let theirs = Theirs::of(&place, "theirs");
    theirs.is_in_use();

    it_is_read_with_the_documented_role(&place, &theirs);
    what_is_not_to_be_broken_is_refused(&place, &theirs);
    a_run_leaves_everything_else_as_it_was(&place, &theirs);
    so_does_an_exercise(&place, &theirs);
    what_a_killed_run_left_is_removed(&place, &theirs);
    place.run(["down", "theirs"]).expect(0, &[]);
    place.nothing_is_left();
}

/// A fleet that belongs to somebody else.
struct Theirs {
    runtime: tokio::runtime::Runtime,
    kubeconfig: String,
    hub: Client,
    member: Client,
}

impl Theirs {
    fn of(place: &Place, name: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let file = place.state().join(name).join("kubeconfig");
        let config = Kubeconfig::read_from(&file).expect("a kubeconfig");
        let client = |context| runtime.block_on(kubeconfig::client(config.clone(), context)).expect("a client");
        let (hub, member) = (client("hub"), client("member-1"));
        Self { runtime, kubeconfig: file.display().to_string(), hub, member }
    }

    /// Adds a placement and labels of the fleet's owner, and removes fleetdrill's labels.
    fn is_in_use(&self) {
        let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        let settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"},
            "data": {"colour": "blue"}});
        let selector = json!([{"group": "", "version": "v1", "kind": "Namespace", "name": "shop"}]);
        let placement = json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacement",
            "metadata": {"name": "shop"}, "spec": {"resourceSelectors": selector, "policy": {"placementType": "PickAll"}}});
        for (kind, object) in [("v1/Namespace", shop), ("v1/ConfigMap", settings), (PLACEMENTS, placement)] {
            self.apply(&self.hub, kind, &object);
        }
        let labels = json!({"metadata": {"labels": {"fleetdrill.dev/member": null, "team": "shop"}}});
        self.patch(&self.hub, MEMBERS, "member-1", &labels);
        until_or(
            "their placement is available",
            || {
                let placement = self.runtime.block_on(Self::api(&self.hub, PLACEMENTS, None).get("shop"));
                is_available(&placement.expect("it is there").data).then_some(())
            },
            String::new,
        );
    }

    fn api(client: &Client, kind: &str, namespace: Option<&str>) -> Api<DynamicObject> {
        let (version, kind) = kind.rsplit_once('/').expect("a kind");
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        match namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        }
    }

    fn apply(&self, client: &Client, kind: &str, object: &Value) {
        let (name, namespace) = (object["metadata"]["name"].as_str(), object["metadata"]["namespace"].as_str());
        let api = Self::api(client, kind, namespace);
        let (params, patch) = (PatchParams::apply("somebody"), Patch::Apply(object));
        self.runtime.block_on(api.patch(name.expect("a name"), &params, &patch)).expect("applied");
    }

    fn patch(&self, client: &Client, kind: &str, name: &str, patch: &Value) {
        let api = Self::api(client, kind, None);
        self.runtime.block_on(api.patch(name, &PatchParams::default(), &Patch::Merge(patch))).expect("patched");
    }

    /// Returns all objects of the clusters, without fields that agents write all the time.
    fn everything(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for (cluster, client) in [("hub", &self.hub), ("member-1", &self.member)] {
            for object in self.runtime.block_on(objects(client)) {
                let name = |key: &str| object["metadata"][key].as_str().unwrap_or_default().to_owned();
                let key = format!("{cluster} {} {}/{}", object["kind"], name("namespace"), name("name"));
                all.insert(key, serde_json::to_string_pretty(&object).expect("JSON"));
            }
        }
        // If the owner's objects were missing here, comparing would prove nothing.
        for theirs in ["hub \"ClusterResourcePlacement\" /shop", "member-1 \"ConfigMap\" shop/settings"] {
            assert!(all.contains_key(theirs), "{theirs}: {:#?}", all.keys());
        }
        all
    }

    /// Options by which a command selects the fleet.
    fn contexts(&self) -> Vec<String> {
        let contexts = ["--kubeconfig", &self.kubeconfig, "--hub", "hub", "--member", "member-1=member-1"];
        contexts.map(ToOwned::to_owned).to_vec()
    }

    fn run(&self, feature: &str) -> Vec<String> {
        let command = ["run", feature, "--provider", "existing", "--kubefleet", VERSION].map(ToOwned::to_owned);
        command.into_iter().chain(self.contexts()).collect()
    }
}

impl Theirs {
    fn train(&self, exercise: &str) -> Vec<String> {
        let command =
            ["train", "start", exercise, "--provider", "existing", "--kubefleet", VERSION].map(ToOwned::to_owned);
        command.into_iter().chain(self.contexts()).collect()
    }
}

fn is_available(placement: &Value) -> bool {
    let conditions = placement["status"]["conditions"].as_array();
    let is = |c: &Value| c["type"] == "ClusterResourcePlacementAvailable" && c["status"] == "True";
    conditions.into_iter().flatten().any(is)
}

/// Lists all objects of a cluster.
async fn objects(client: &Client) -> Vec<Value> {
    // The first kinds come and go by themselves. Agents rewrite the status of the others: their last heartbeat, what
    // they applied.
    const BY_THEMSELVES: [&str; 3] = ["Event", "Lease", "ComponentStatus"];
    const BY_AGENTS: [&str; 5] =
        ["MemberCluster", "InternalMemberCluster", "Work", "AppliedWork", "ClusterResourceBinding"];
    let discovery = Discovery::new(client.clone()).run().await.expect("its kinds");
    let mut all = Vec::new();
    for (resource, can) in discovery.groups().flat_map(kube::discovery::ApiGroup::recommended_resources) {
        if !can.supports_operation(verbs::LIST) || BY_THEMSELVES.contains(&resource.kind.as_str()) {
            continue;
        }
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let list = api.list(&ListParams::default()).await.expect("a list");
        for mut object in list.items {
            if BY_AGENTS.contains(&resource.kind.as_str()) {
                (object.metadata.resource_version, object.metadata.managed_fields) = (None, None);
                object.data.as_object_mut().expect("an object").remove("status");
            }
            let mut value = serde_json::to_value(object).expect("JSON");
            value["kind"] = resource.kind.clone().into();
            all.push(value);
        }
    }
    all
}

/// The role in docs/own-fleet.md is enough for `diagnose` and `collect`, and permits only reading.
fn it_is_read_with_the_documented_role(place: &Place, theirs: &Theirs) {
    let docs = include_str!("../../../../docs/own-fleet.md");
    let yaml = docs.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the role");
    let role: Value = serde_saphyr::from_str(yaml).expect("YAML");
    let rules = role["rules"].as_array().expect("rules");
    let reads = |verb: &Value| verb == "list" || verb == "get";
    assert!(rules.iter().all(|rule| rule["verbs"].as_array().expect("verbs").iter().all(reads)), "{role:#}");

    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "namespace": "default"}});
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role["metadata"]["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "default"}]});
    let mut config = Kubeconfig::read_from(&theirs.kubeconfig).expect("a kubeconfig");
    for (context, client) in [("hub", &theirs.hub), ("member-1", &theirs.member)] {
        theirs.apply(client, "v1/ServiceAccount", &account);
        theirs.apply(client, "rbac.authorization.k8s.io/v1/ClusterRole", &role);
        theirs.apply(client, "rbac.authorization.k8s.io/v1/ClusterRoleBinding", &binding);
        let request = http::Request::post("/api/v1/namespaces/default/serviceaccounts/reader/token")
            .header("content-type", "application/json")
            .body(br#"{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}"#.to_vec());
        let answer: Value = theirs.runtime.block_on(client.request(request.expect("a request"))).expect("a token");
        let user = config.auth_infos.iter_mut().find(|u| u.name == context).expect("a user");
        user.auth_info = Some(kube::config::AuthInfo {
            token: Some(answer["status"]["token"].as_str().expect("a token").to_owned().into()),
            ..kube::config::AuthInfo::default()
        });
    }
    let reader = place.write("reader.kubeconfig", &kubeconfig::text(&config));
    let options = ["--kubeconfig", &reader, "--hub", "hub", "--member", "member-1=member-1"];
    let said = place.run(["diagnose"].iter().chain(&options));
    assert_eq!(
        said.expect(0, &[]).stderr,
        place.run(["diagnose"].iter().map(ToString::to_string).chain(theirs.contexts())).stderr
    );
    let bundle = place.path("by-reader").display().to_string();
    let said = place.run(["collect", "--bundle", &bundle].iter().chain(&options));
    said.expect(0, &[]);
    for word in ["forbidden", "couldn't", "missing"] {
        assert!(!said.stderr.contains(word), "{}", said.stderr);
    }
    // The role must not permit scenarios, which write objects.
    let feature = quick(place);
    let run = ["run", &feature, "--provider", "existing", "--kubefleet", VERSION];
    place.run(run.iter().chain(&options)).expect(
        2,
        &[
            "rights are missing on hub",
            "  clusterresourceplacements.placement.kubernetes-fleet.io: get, watch, create, ",
        ],
    );
    // Kinds that may not be listed aren't reported as removed.
    let said = place.run(["down", "--run", "xyz"].iter().chain(&options));
    said.expect(4, &["nothing of run xyz is among what these credentials may list", "  on member-1: ", "secrets"]);
    assert!(!said.stderr.contains("has left nothing"), "{}", said.stderr);
}

fn what_is_not_to_be_broken_is_refused(place: &Place, theirs: &Theirs) {
    let feature = quick(place);
    let unmark = |value: Value| json!({"metadata": {"labels": {"fleetdrill.dev/disposable": value}}});
    theirs.patch(&theirs.member, "v1/Namespace", "kube-system", &unmark(Value::Null));
    let before = theirs.everything();
    let refused = |args: &[&str], parts: &[&str]| {
        let given =
            ["run", &feature, "--provider", "existing", "--kubefleet", VERSION, "--kubeconfig", &theirs.kubeconfig];
        place.run(given.iter().chain(args)).expect(2, parts);
    };
    refused(&["--hub", "hub", "--member", "member-1=member-1"], &["member-1 is not marked as disposable", "kubectl"]);
    place.run(theirs.train("half-a-release")).expect(2, &["member-1 is not marked as disposable", "kubectl"]);
    theirs.patch(&theirs.member, "v1/Namespace", "kube-system", &unmark("yes".into()));
    refused(&["--hub", "hub", "--member", "member-1=member-1"], &["member-1 is not marked as disposable"]);
    refused(&["--hub", "hub", "--member", "member-1=hub"], &["--member member-1=hub: context `hub` is the hub's"]);
    refused(&["--hub", "member-1", "--member", "member-1=hub"], &["leads to no KubeFleet hub", "memberclusters."]);
    refused(&["--hub", "hub", "--member", "east=member-1"], &["MemberCluster/east has not joined", "member-1"]);
    refused(&["--hub", "hub", "--member", "member-1=nowhere"], &["no context `nowhere`", "hub, member-1"]);
    refused(&["--hub", "hub"], &["--member NAME=CONTEXT"]);
    theirs.patch(&theirs.member, "v1/Namespace", "kube-system", &unmark("true".into()));
    let mut after = theirs.everything();
    let changed = before.iter().filter(|(key, text)| after.get(*key) != Some(text)).map(|(key, _)| key.as_str());
    // The test itself has changed the label of this namespace.
    assert_eq!(changed.collect::<Vec<_>>(), ["member-1 \"Namespace\" /kube-system"]);
    after.retain(|key, _| !before.contains_key(key));
    assert_eq!(after, BTreeMap::new());
}

/// Writes a feature with four scenarios: one passes, one fails, and two can't run on this fleet.
fn feature(place: &Place) -> String {
    let text = "Feature: ours

  Scenario: passes
    Given a placement \"web\" with strategy External selects \"member-1\"
    And a staged update strategy \"all\" for placement \"web\"
      | stage   | labelled |
      | staging | member-1 |
    When an update run \"release\" of placement \"web\" starts with strategy \"all\"
    Then update run \"release\" succeeds

  Scenario: fails
    Given a placement \"web\" has put its resources on \"member-1\"
    Then the diagnosis of placement \"web\" is KF-WS-001

  @disruptive
  Scenario: can't be run
    Given a member \"east\" of its own
    Then the diagnosis finds nothing

  Scenario: needs more
    Given a placement \"web\" has put its resources on \"member-1\" and \"member-2\"
    Then the diagnosis finds nothing
";
    place.write("ours.feature", text)
}

fn a_run_leaves_everything_else_as_it_was(place: &Place, theirs: &Theirs) {
    let before = theirs.everything();
    let said = place.run(theirs.run(&feature(place)));
    said.expect(1, &[]);
    for part in
        ["1 passed, 1 failed, 2 skipped", "provider existing can't make clusters", "needs 2 members; this fleet has 1"]
    {
        assert!(said.stdout.contains(part), "{}", said.stdout);
    }
    theirs.is_as_it_was(&before, &said);
}

/// An exercise that the fleet can't offer isn't started. An exercise that was started removes its objects.
fn so_does_an_exercise(place: &Place, theirs: &Theirs) {
    let before = theirs.everything();
    place
        .run(theirs.train("empty-shop"))
        .expect(2, &["`empty-shop` can't be done on existing, which can't make clusters"]);
    place.run(theirs.train("friday-release")).expect(2, &["needs 2 members; this fleet has 1"]);
    let said = place.run(theirs.train("half-a-release"));
    said.expect(0, &["fleetdrill down --run "]);
    assert!(place.run(["train", "check"]).expect(1, &[]).stdout.contains("it is still so: run release-"));
    place.run(["train", "stop"]).expect(0, &["removing what the exercise has made", "exercise `half-a-release` ended"]);
    theirs.is_as_it_was(&before, &said);
}

impl Theirs {
    /// True if a run has a placement that is available.
    fn placed_by(&self, run: &str) -> bool {
        let params = ListParams::default().labels(&format!("fleetdrill.dev/run={run}"));
        let placements = self.runtime.block_on(Self::api(&self.hub, PLACEMENTS, None).list(&params)).expect("a list");
        placements.items.iter().any(|placement| is_available(&placement.data))
    }

    #[track_caller]
    fn is_as_it_was(&self, before: &BTreeMap<String, String>, said: &Said) {
        // A member removes resources a moment after their placement is gone.
        let after = || {
            let after = self.everything();
            let changed: Vec<String> = before
                .iter()
                .filter(|(key, text)| after.get(*key) != Some(text))
                .map(|(key, text)| format!("{key} was {text} is {:?}", after.get(key)))
                .chain(after.keys().filter(|key| !before.contains_key(*key)).cloned())
                .collect();
            changed
        };
        until_or(
            "all is as it was",
            || after().is_empty().then_some(()),
            || format!("{:#?}\n{}", after(), said.stderr),
        );
    }
}

fn what_a_killed_run_left_is_removed(place: &Place, theirs: &Theirs) {
    let before = theirs.everything();
    let file = endless(place, 1);
    let mut running = Running::start(&mut place.command(theirs.run(&file)));
    let rest = running.until_it_says("fleetdrill down --run ");
    let id = rest.split_whitespace().next().expect("an id").to_owned();
    until_or("a placement of the run is available", || theirs.placed_by(&id).then_some(()), String::new);
    // A second run is refused meanwhile.
    place.run(theirs.run(&quick(place))).expect(2, &[&format!("run {id} uses MemberCluster/member-1")]);
    running.signal(Signal::KILL);
    drop(running);
    let down = ["down", "--run", &id].map(ToOwned::to_owned).into_iter().chain(theirs.contexts());
    let said = place.run(down.clone());
    said.expect(0, &[&format!("objects of run {id} removed")]);
    theirs.is_as_it_was(&before, &said);
    place.run(down).expect(0, &[&format!("run {id} has left nothing")]);
}
