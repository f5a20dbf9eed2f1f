//! Members by the hundred: by a template of contexts, by a directory of kubeconfigs, by the hub's `ClusterProfiles`.

use serde_json::{Value, json};

use crate::api::{FakeApi, member};
use crate::place::{Place, Said};

const MEMBERS: &str = "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters";
const PROFILES: &str = "/apis/multicluster.x-k8s.io/v1alpha1/clusterprofiles";

/// A kubeconfig with a context for each address.
fn kubeconfig(addresses: &[(&str, &str)], user: &Value) -> Value {
    let clusters = addresses.iter().map(|(name, server)| json!({"name": name, "cluster": {"server": server}}));
    let contexts = addresses.iter().map(|(name, _)| json!({"name": name, "context": {"cluster": name, "user": "me"}}));
    json!({"apiVersion": "v1", "kind": "Config", "current-context": addresses[0].0, "users": [{"name": "me", "user": user}],
        "clusters": clusters.collect::<Vec<_>>(), "contexts": contexts.collect::<Vec<_>>()})
}

fn written(place: &Place, file: &str, addresses: &[(&str, &str)]) -> String {
    place.write(file, &kubeconfig(addresses, &json!({"token": "t"})).to_string())
}

fn diagnose(place: &Place, file: &str, from: &str) -> Said {
    let args =
        ["diagnose", "--read-all", "--kubeconfig", file, "--hub", "prod-hub", "--members-from", from, "-o", "json"];
    place.run(args)
}

/// Members of a diagnosis, each with its context.
fn read(said: &Said) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let clusters = report["clusters"].as_array().expect("a list").iter().filter(|cluster| cluster["role"] == "member");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    clusters.map(|cluster| (text(&cluster["name"]), text(&cluster["context"]))).collect()
}

fn pairs(members: &[(&str, &str)]) -> Vec<(String, String)> {
    members.iter().map(|(name, context)| ((*name).to_owned(), (*context).to_owned())).collect()
}

#[test]
fn a_template_gives_the_contexts_of_all_members() {
    let place = Place::new();
    let hub = FakeApi::default().has(MEMBERS, &["east", "north", "south", "west"].map(member)).start();
    let [east, west] = [(); 2].map(|()| FakeApi::default().start());
    let file = written(&place, "kubeconfig", &[("prod-hub", &hub), ("aks-east", &east), ("aks-west", &west)]);
    let said = diagnose(&place, &file, "aks-{name}");
    said.expect(
        0,
        &["warning: 2 members aren't read: the kubeconfig has no context `aks-{name}` for it: north, south"],
    );
    assert_eq!(read(&said), pairs(&[("east", "aks-east"), ("west", "aks-west")]));

    diagnose(&place, &file, "gke-{name}").expect(
        2,
        &[
            "no member of the hub has a context `gke-{name}`; 4 members aren't read",
            "hint: the kubeconfig has: prod-hub, aks-east, aks-west",
        ],
    );
    diagnose(&place, &file, "aks-{name}-{region}").expect(2, &["`aks-{name}-{region}` is no template of contexts"]);
    diagnose(&place, &file, "aks-{nme}").expect(2, &["failed to read the members of aks-{nme}", "hint: a template"]);
    place
        .run(["down", "--run", "r1", "--kubeconfig", &file, "--hub", "prod-hub", "--members-from", "aks-{name}"])
        .expect(2, &["only for diagnose and collect", "--members PATTERN"]);
}

#[test]
fn a_hub_that_does_not_tell_its_members_is_an_error() {
    let place = Place::new();
    for (hub, parts) in [
        (FakeApi::default().refuses(MEMBERS, 403), ["memberclusters is refused", "the right to list memberclusters"]),
        (
            FakeApi::default().refuses(PROFILES, 404),
            ["the hub doesn't know clusterprofiles.multicluster.x-k8s.io", "--enable-cluster-inventory-apis"],
        ),
    ] {
        let file = written(&place, "kubeconfig", &[("prod-hub", &hub.start())]);
        let from = if parts[0].contains("profiles") { "clusterprofiles" } else { "aks-{name}" };
        diagnose(&place, &file, from).expect(2, &parts);
    }
}

#[test]
fn a_directory_has_a_kubeconfig_for_each_member() {
    let place = Place::new();
    let hub = FakeApi::default().has(MEMBERS, &["aks.east", "broken", "north", "west"].map(member)).start();
    let [east, west] = [(); 2].map(|()| FakeApi::default().start());
    let file = written(&place, "kubeconfig", &[("prod-hub", &hub)]);
    let directory = place.path("fleet");
    std::fs::create_dir(&directory).expect("made");
    // All have the same context, as kubeconfigs of cloud providers often do.
    written(&place, "fleet/aks.east", &[("default", &east)]);
    written(&place, "fleet/west.yaml", &[("default", &west)]);
    written(&place, "fleet/old.yaml", &[("default", "http://127.0.0.1:1")]);
    place.write("fleet/broken.yaml", "token: hunter2");
    place.write("fleet/.hidden", "");
    let directory = directory.display().to_string();
    let said = diagnose(&place, &file, &directory);
    said.expect(
        0,
        &[
            &format!("warning: 1 member isn't read: {directory}/broken.yaml has no contexts: broken"),
            &format!("warning: 1 member isn't read: {directory} has no kubeconfig for it: north"),
            "warning: 1 member isn't read: the hub has no MemberCluster of the file's name: old",
        ],
    );
    assert!(!said.stderr.contains("hunter2"), "{}", said.stderr);
    assert_eq!(read(&said), pairs(&[("aks.east", "default"), ("west", "default")]));

    written(&place, "fleet/west.json", &[("default", &west)]);
    diagnose(&place, &file, &directory).expect(2, &["west.json and ", "are both for member `west`"]);
    let empty = place.path("empty");
    std::fs::create_dir(&empty).expect("made");
    diagnose(&place, &file, &empty.display().to_string())
        .expect(2, &["empty has no kubeconfig of a member of this hub", "hint: name each file after"]);
}

#[test]
fn cluster_profiles_are_found_by_their_api_servers_or_by_a_template() {
    let place = Place::new();
    let [east, west] = [(); 2].map(|()| FakeApi::default().start());
    let profile = |name: &str, providers: &str, server: &str| {
        let provider = json!({"name": "KubeFleet", "cluster": {"server": server}});
        json!({"metadata": {"namespace": "fleet-system", "name": name}, "status": {providers: [provider]}})
    };
    let profiles = [
        profile("east", "accessProviders", &format!("{east}/")),
        profile("west", "credentialProviders", ""),
        profile("north", "accessProviders", "https://10.0.0.1"),
    ];
    let hub = FakeApi::default().has(MEMBERS, &["east", "north", "west"].map(member)).has(PROFILES, &profiles).start();
    let file = written(&place, "kubeconfig", &[("prod-hub", &hub), ("admin@1", &east), ("aks-west", &west)]);
    let said = diagnose(&place, &file, "clusterprofiles=aks-{name}");
    said.expect(0, &["1 member isn't read: the kubeconfig has neither a context with its API server nor `aks-{name}`"]);
    assert_eq!(read(&said), pairs(&[("east", "admin@1"), ("west", "aks-west")]));
    assert_eq!(read(&diagnose(&place, &file, "clusterprofiles")), pairs(&[("east", "admin@1")]));
}

#[test]
fn credential_plugins_run_once_for_each_context_and_not_all_at_once() {
    const COUNT: usize = 100;
    let place = Place::new();
    let names: Vec<String> = (0..COUNT).map(|i| format!("m-{i:03}")).collect();
    let members: Vec<Value> = names.iter().map(|name| member(name)).collect();
    let hub = FakeApi::default().has(MEMBERS, &members).start();
    let runs = place.write("runs", "");
    let credential = r#"{"kind": "ExecCredential", "status": {"token": "t"}}"#;
    let script = format!("echo + >> '{runs}'; sleep 0.1; echo - >> '{runs}'; echo '{credential}'");
    let exec = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script],
        "interactiveMode": "Never"}});
    let servers: Vec<String> = (0..COUNT).map(|_| FakeApi::default().start()).collect();
    let mut addresses = vec![("prod-hub", hub.as_str())];
    addresses.extend(names.iter().zip(&servers).map(|(name, server)| (name.as_str(), server.as_str())));
    let mut config = kubeconfig(&addresses, &exec);
    config["users"].as_array_mut().expect("a list").push(json!({"name": "admin", "user": {"token": "t"}}));
    config["contexts"][0]["context"]["user"] = "admin".into();
    let file = place.write("kubeconfig", &config.to_string());

    let said = diagnose(&place, &file, "{name}");
    said.expect(0, &[]);
    assert_eq!(read(&said).len(), COUNT);
    let runs = std::fs::read_to_string(&runs).expect("read");
    assert_eq!(runs.lines().filter(|line| *line == "+").count(), COUNT);
    let running = runs.lines().scan(0, |running, line| {
        *running += if line == "+" { 1 } else { -1 };
        Some(*running)
    });
    let most = running.max().expect("runs");
    assert!((2..=8).contains(&most), "{most} at once");
}

#[test]
fn a_member_whose_plugin_fails_costs_that_member_only() {
    let place = Place::new();
    let hub = FakeApi::default().has(MEMBERS, &["east", "west"].map(member)).start();
    let [east, west] = [(); 2].map(|()| FakeApi::default().start());
    let runs = place.write("runs", "");
    let script = format!("echo + >> '{runs}'; echo 'login first' >&2; exit 1");
    let exec = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script],
        "interactiveMode": "Never"}});
    let addresses = [("prod-hub", hub.as_str()), ("east", &east), ("west", &west)];
    let mut config = kubeconfig(&addresses, &json!({"token": "t"}));
    config["users"].as_array_mut().expect("a list").push(json!({"name": "plugin", "user": exec}));
    config["contexts"][1]["context"]["user"] = "plugin".into();
    let file = place.write("kubeconfig", &config.to_string());
    // Nothing is wrong with the fleet, so that no member has to be asked.
    let healthy = ["diagnose", "--kubeconfig", &file, "--hub", "prod-hub", "--members-from", "{name}"];
    place.run(healthy).expect(0, &[]);
    assert_eq!(std::fs::read_to_string(&runs).expect("read"), "", "a member that isn't needed costs nothing");
    let said = diagnose(&place, &file, "{name}");
    said.expect(4, &["warning: east can't be read", "the credential plugin `sh` ended with an error", "login first"]);
    assert!(!said.stderr.contains("ServiceError"), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let read: Vec<_> = report["clusters"].as_array().expect("a list").iter().map(|cluster| &cluster["read"]).collect();
    assert_eq!(read, [&json!(true), &json!(false), &json!(true)]);
    assert_eq!(std::fs::read_to_string(&runs).expect("read"), "+\n", "it runs once");
}
