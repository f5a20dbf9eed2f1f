//! `up`, `status`, `diagnose` and `down`: fleets that are kept until they are ended. One test covers them all, since
//! starting a fleet takes time.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use rustix::process::Signal;
use serde_json::Value;

use crate::features::quick;
use crate::place::{Place, Said, modes, turn, until_or};
use crate::proc;
use crate::running::Running;

#[test]
fn fleets_that_stay_until_they_are_ended() {
    let _turn = turn();
    let place = Place::new();
    let said = place.run(["up", "--members", "1"]);
    said.expect(0, &["fleet `default` is up: hub, member-1 (KubeFleet v", "fleetdrill down default"]);
    // `export KUBECONFIG=$(fleetdrill up)` relies on this.
    let kubeconfig = place.state().join("default/kubeconfig");
    assert_eq!(said.stdout, format!("{}\n", kubeconfig.display()));

    its_kubeconfig_works(&place, &kubeconfig);
    nobody_else_gets_in(&place, &kubeconfig);
    it_is_healthy(&place, "default", &["member-1"]);
    it_is_watched(&place, "default");
    crate::bundle::of_a_fleet(&place, "default");
    members_come_and_go(&place, &kubeconfig);
    a_name_is_given_once(&place, &kubeconfig);
    a_component_is_killed(&place);
    they_end(&place);
}

#[expect(clippy::print_stderr, reason = "what isn't run is told")]
fn its_kubeconfig_works(place: &Place, kubeconfig: &Path) {
    let config = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let contexts: Vec<&str> = config.contexts.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(contexts, ["hub", "member-1"]);
    assert_eq!(config.current_context.as_deref(), Some("hub"));
    let members = get(&config, "hub", "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters").expect("a list");
    assert!(members.contains("\"member-1\""), "{members}");
    assert!(get(&config, "member-1", "/apis/placement.kubernetes-fleet.io/v1/appliedworks").is_ok());

    let kubectl =
        Command::new("kubectl").env("KUBECONFIG", kubeconfig).args(["get", "memberclusters", "-o", "name"]).output();
    match kubectl {
        Ok(output) => {
            let said = Said::from(output);
            assert_eq!(said.expect(0, &[]).stdout, "membercluster.cluster.kubernetes-fleet.io/member-1\n");
        }
        Err(_) => eprintln!("skipped: there is no kubectl here"),
    }
    // `diagnose` can read the fleet by its kubeconfig, like a fleet of somebody else.
    let file = kubeconfig.display().to_string();
    let by_contexts = ["diagnose", "--kubeconfig", &file, "--hub", "hub", "--member", "member-1=member-1"];
    place.run(by_contexts).expect(0, &[]);
    place
        .run(["diagnose", "--kubeconfig", &file, "--hub", "member-1"])
        .expect(2, &["has neither KubeFleet's hub nor Argo CD", "--hub CONTEXT"]);
}

fn nobody_else_gets_in(place: &Place, kubeconfig: &Path) {
    let dir = place.state().join("default");
    let open: Vec<(PathBuf, u32)> = modes(&dir).into_iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
    assert_eq!(open, []);

    let listening: Vec<(String, String)> = place
        .processes()
        .into_iter()
        .flat_map(|(id, line)| proc::listens_on(id).into_iter().map(move |address| (line.clone(), address)))
        .collect();
    assert!(listening.len() >= 2, "{listening:?}");
    // 127.0.0.1, ::1, and 127.0.0.1 as an IPv6 address.
    let loopback = ["0100007F:", "00000000000000000000000001000000:", "0000000000000000FFFF00000100007F:"];
    for (line, address) in &listening {
        assert!(loopback.iter().any(|prefix| address.starts_with(prefix)), "{line} listens on {address}");
    }

    let config = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let version = "/version";
    get(&config, "hub", version).expect("its owner gets in");
    let anonymous = changed(&config, |user, _| *user = serde_json::json!({}));
    let refused = get(&anonymous, "hub", version).expect_err("nobody knows who that is");
    assert!(refused.contains("401") || refused.contains("Unauthorized"), "{refused}");
    let guessed = changed(&config, |user, _| *user = serde_json::json!({"token": "guessed"}));
    get(&guessed, "hub", version).expect_err("a token that nobody gave");
    let trusting_others = changed(&config, |_, cluster| {
        cluster.as_object_mut().and_then(|cluster| cluster.remove("certificate-authority-data"));
    });
    let refused = get(&trusting_others, "hub", version).expect_err("its CA is its own");
    assert!(refused.contains("UnknownIssuer"), "{refused}");

    // etcd's peer port, which no peer uses, asks for a certificate of the fleet's CA.
    let etcd = place.process("/etcd ");
    let ports: Vec<u16> = proc::listens_on(etcd)
        .iter()
        .filter_map(|address| u16::from_str_radix(address.split_once(':')?.1, 16).ok())
        .collect();
    for port in ports {
        let there = changed(&anonymous, |_, cluster| cluster["server"] = format!("https://127.0.0.1:{port}").into());
        get(&there, "hub", version).expect_err("no certificate");
        let there = changed(&config, |_, cluster| cluster["server"] = format!("https://127.0.0.1:{port}").into());
        get(&there, "hub", version).expect("with one it would");
    }
}

fn it_is_healthy(place: &Place, name: &str, members: &[&str]) {
    let said = place.run(["status", name, "-o", "json"]);
    let fleets: Value = serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON");
    assert_eq!(fleets[0]["name"], name);
    assert_eq!(fleets[0]["members"], serde_json::json!(members));
    let processes = fleets[0]["processes"].as_array().expect("a list");
    // etcd, three processes for the hub (API server, controllers, agent), and three for each member.
    assert_eq!(processes.len(), 4 + 3 * members.len(), "{processes:#?}");
    assert!(processes.iter().all(|p| p["pid"].is_u64() && p["exit"].is_null()), "{processes:#?}");
    let text = place.run(["status", name]);
    let text = &text.expect(0, &[]).stdout;
    assert!(text.starts_with(&format!("{name} (KubeFleet v")), "{text}");
    assert!(text.contains(&format!("{0} of {0} processes run", processes.len())), "{text}");

    let said = place.run(["diagnose", "--fleet", name]);
    assert!(said.expect(0, &[]).stdout.contains("nothing found"), "{}", said.stdout);
    let said = place.run(["diagnose", "--fleet", name, "-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON");
    assert_eq!((&report["fleet"], &report["complete"]), (&name.into(), &true.into()));
    assert_eq!(report["findings"], serde_json::json!([]));
    place.run(["diagnose", "--fleet", name, "crp/nothing"]).expect(2, &["there is no crp/nothing on the hub"]);
}

/// `--watch` finds nothing, and serves that as metrics until it is interrupted.
fn it_is_watched(place: &Place, name: &str) {
    let watch = ["diagnose", "--fleet", name, "--watch", "--interval", "1", "--metrics", "127.0.0.1:0"];
    let mut watching = Running::start(&mut place.command(watch));
    let said = watching.until_it_says("metrics: http://");
    let address = said.split_once("/metrics").expect("a path").0.to_owned();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("written");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        text
    };
    let metrics =
        until_or("metrics", || Some(get("/metrics")).filter(|text| text.starts_with("HTTP/1.1 200")), String::new);
    for line in
        ["fleetdrill_failures 0", "fleetdrill_members{state=\"not_needed\"} 1", "fleetdrill_diagnosis_succeeded 1"]
    {
        assert!(metrics.contains(&format!("{line}\n")), "{line}: {metrics}");
    }
    assert!(get("/").starts_with("HTTP/1.1 404"), "{}", get("/"));
    watching.signal(Signal::INT);
    let said = watching.end();
    assert!(said.expect(130, &["interrupted"]).stdout.contains("   nothing found\n"), "{}", said.stdout);
}

fn members_come_and_go(place: &Place, kubeconfig: &Path) {
    let before = ids(place, "default");
    place.run(["up", "--members", "2"]).expect(0, &["member-2 joins", "is up: hub, member-1, member-2 "]);
    it_is_healthy(place, "default", &["member-1", "member-2"]);
    let config = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    get(&config, "member-2", "/version").expect("the kubeconfig has the new one");
    create_namespace(&config, "member-2", "left-behind");
    // A run on the fleet leaves nothing behind.
    place.run(["run", &quick(place), "--fleet", "default"]).expect(0, &[]);
    place.run(["diagnose", "--fleet", "default"]).expect(0, &[]);
    let placements = get(&config, "hub", "/apis/placement.kubernetes-fleet.io/v1beta1/clusterresourceplacements");
    assert!(placements.expect("a list").contains("\"items\":[]"));

    place.run(["up", "--members", "1"]).expect(0, &["member-2 leaves", "is up: hub, member-1 "]);
    it_is_healthy(place, "default", &["member-1"]);
    assert_eq!(ids(place, "default"), before, "what stayed was not touched");
    // A new member with the same name starts empty.
    place.run(["up", "--members", "2"]).expect(0, &["member-2 joins", "is up: hub, member-1, member-2 "]);
    let config = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let namespaces = get(&config, "member-2", "/api/v1/namespaces").expect("a list");
    assert!(!namespaces.contains("\"left-behind\""), "{namespaces}");
    it_is_healthy(place, "default", &["member-1", "member-2"]);
    place.run(["up", "--members", "1"]).expect(0, &["member-2 leaves"]);
    // The fleet has one member already: nothing to do.
    let again = place.run(["up", "--members", "1"]);
    assert_eq!(again.expect(0, &["is up: hub, member-1 "]).stdout, format!("{}\n", kubeconfig.display()));
    place
        .run(["up", "--members", "1", "--kubefleet", "v9.9.9"])
        .expect(2, &["fleet `default` is up with KubeFleet v", "fleetdrill down default"]);
}

fn a_name_is_given_once(place: &Place, kubeconfig: &Path) {
    let start = || Running::start(&mut place.command(["up", "--members", "1", "--name", "twin"]));
    let (one, two) = (start(), start());
    let mut said = [one.end(), two.end()];
    said.sort_by_key(|said| said.code);
    said[0].expect(0, &["fleet `twin` is up"]);
    said[1].expect(2, &["fleet `twin`"]);
    it_is_healthy(place, "twin", &["member-1"]);
    let mut unset = place.command(["diagnose"]);
    let said = Said::from(unset.env_remove("KUBECONFIG").output().expect("it starts"));
    said.expect(2, &["several fleets are up: default, twin", "--fleet NAME"]);
    // KUBECONFIG counts when it is set, even if the file doesn't exist.
    place.run(["diagnose"]).expect(2, &["there is no usable kubeconfig", "--fleet NAME: default, twin"]);
    let mut own = place.command(["diagnose"]);
    let said = Said::from(own.env("KUBECONFIG", place.state().join("twin/kubeconfig")).output().expect("it starts"));
    said.expect(0, &["reading fleet twin"]);

    // The administrator of one fleet has no access to the other.
    let config = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let twin = Kubeconfig::read_from(place.state().join("twin/kubeconfig")).expect("a kubeconfig");
    let twin = serde_json::to_value(&twin).expect("JSON");
    let intruder = changed(&config, |user, _| *user = twin["users"][0]["user"].clone());
    assert!(intruder.auth_infos[0].auth_info.as_ref().is_some_and(|user| user.client_certificate_data.is_some()));
    get(&intruder, "hub", "/version").expect_err("another fleet's certificate");
}

fn a_component_is_killed(place: &Place) {
    let process = "member-1-kube-apiserver";
    let id = ids(place, "twin")[process];
    proc::kill(id, Signal::KILL);
    let shows = || place.run(["status", "twin"]);
    until_or("status shows it", || (shows().code == Some(3)).then_some(()), || format!("{:?}", shows()));
    let text = shows().stdout;
    assert!(text.contains("6 of 7 processes run"), "{text}");
    assert!(text.contains("member-1-kube-apiserver doesn't: signal: 9 (SIGKILL)"), "{text}");
    let broken =
        ["fleet `twin` is broken: member-1-kube-apiserver ended (signal: 9 (SIGKILL))", "fleetdrill down twin"];
    place.run(["up", "--name", "twin", "--members", "1"]).expect(3, &broken);
    place.run(["run", &quick(place), "--fleet", "twin"]).expect(3, &broken);
    // A bundle can be collected from a broken fleet, which is when users need one.
    let bundle = place.path("broken.tar.gz").display().to_string();
    place.run(["collect", "--fleet", "twin", "--bundle", &bundle]).expect(0, &["warning: member-1 couldn't be read: "]);
    // With contexts, the remaining clusters can still be read, and a warning names the missing one.
    let file = place.state().join("twin/kubeconfig").display().to_string();
    let args = ["diagnose", "--read-all", "--kubeconfig", &file, "--hub", "hub", "--member", "member-1=member-1"];
    let said = place.run(args);
    assert!(said.stderr.contains("warning: member-1 can't be read, its side of things is left out: "), "{said:?}");
    assert!(matches!(said.code, Some(1 | 4)), "{said:?}");
    // The other fleet isn't affected.
    it_is_healthy(place, "default", &["member-1"]);
}

fn they_end(place: &Place) {
    place.run(["down", "twin"]).expect(0, &["fleet `twin` ended"]);
    assert!(!place.state().join("twin").exists());
    assert!(!place.processes().iter().any(|(_, line)| line.contains("/twin/")));
    place.run(["down", "twin"]).expect(2, &["there is no fleet `twin`"]);
    it_is_healthy(place, "default", &["member-1"]);
    place.run(["down", "--all"]).expect(0, &["fleet `default` ended"]);
    place.nothing_is_left();
}

#[test]
fn ctrl_c_while_a_fleet_comes_up() {
    let _turn = turn();
    let place = Place::new();
    for begun in ["supervisor serve", "kube-apiserver"] {
        let running = Running::start(&mut place.command(["up"]));
        place.process(begun);
        running.signal(Signal::INT);
        running.end().expect(130, &["interrupted"]);
        place.nothing_is_left();
    }
}

#[test]
fn down_while_a_fleet_comes_up() {
    let _turn = turn();
    let place = Place::new();
    let running = Running::start(&mut place.command(["up"]));
    place.process("kube-apiserver");
    assert!(place.run(["status"]).expect(0, &[]).stdout.starts_with("default (starting)"));
    place.run(["diagnose", "--fleet", "default"]).expect(2, &["fleet `default` is just starting"]);
    place.run(["down"]).expect(0, &["fleet `default` ended"]);
    running.end().expect(3, &["supervisor"]);
    place.nothing_is_left();
}

/// Process ids by the processes' names.
fn ids(place: &Place, fleet: &str) -> BTreeMap<String, u32> {
    let said = place.run(["status", fleet, "-o", "json"]);
    let fleets: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let id = |p: &Value| Some((p["name"].as_str()?.to_owned(), u32::try_from(p["pid"].as_u64()?).ok()?));
    fleets[0]["processes"].as_array().into_iter().flatten().filter_map(id).collect()
}

/// Copies a kubeconfig with each user and cluster changed.
fn changed(config: &Kubeconfig, change: impl Fn(&mut Value, &mut Value)) -> Kubeconfig {
    let mut value = serde_json::to_value(config).expect("JSON");
    let count = value["users"].as_array().map_or(0, Vec::len);
    for n in 0..count {
        let (mut user, mut cluster) = (value["users"][n]["user"].take(), value["clusters"][n]["cluster"].take());
        change(&mut user, &mut cluster);
        value["users"][n]["user"] = user;
        value["clusters"][n]["cluster"] = cluster;
    }
    serde_json::from_value(value).expect("still a kubeconfig")
}

fn create_namespace(config: &Kubeconfig, context: &str, name: &str) {
    let body = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let request = http::Request::post("/api/v1/namespaces").header("content-type", "application/json");
    ask(config, context, request.body(body.to_string().into_bytes()).expect("a request")).expect("created");
}

/// Returns an API server's answer, or the error with all its causes.
fn get(config: &Kubeconfig, context: &str, path: &str) -> Result<String, String> {
    ask(config, context, http::Request::get(path).body(Vec::new()).expect("a request"))
}

fn ask(config: &Kubeconfig, context: &str, request: http::Request<Vec<u8>>) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
        let config = Config::from_custom_kubeconfig(config.clone(), &options).await.map_err(|e| format!("{e:?}"))?;
        let client = Client::try_from(config).map_err(|e| format!("{e:?}"))?;
        client.request_text(request).await.map_err(|e| format!("{e:?}"))
    })
}
