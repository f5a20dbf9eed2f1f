//! Argo CD: its versions, cases that `up` refuses, and the real `argocd` command on a fleet that is kept.

use std::path::{Path, PathBuf};
use std::process::Command;

use fleet::kinds::{CONFIG_MAP, NAMESPACE};
use kube::Client;
use kube::api::{DeleteParams, PostParams};
use kube::config::Kubeconfig;
use serde_json::{Value, json};

use crate::cache::{copy_of, register_argocd_that_does_not_start, script, with_cache};
use crate::place::{Place, Said, turn, until_or};

/// A feature that needs Argo CD.
const NEEDS_IT: &str = "@argocd
Feature: needs it

  Scenario: needs it
    Given a repository \"web\" with \"settings.yaml\"
      \"\"\"
      kind: ConfigMap
      \"\"\"
";

/// Requests a version of a component that doesn't exist.
#[test]
fn a_version_that_there_is_none_of() {
    let place = Place::new();
    let file = place.write("needs.feature", NEEDS_IT);
    let cache = place.path("cache");
    let parts = [
        "there is no argocd v9.9.9",
        "there are v3.2.11 and v3.5.7",
        "fleetdrill toolchain add argocd v9.9.9 argocd=PATH",
    ];
    let commands: [&[&str]; 5] = [
        &["run", &file, "--argocd", "v9.9.9"],
        // No selected scenario needs Argo CD, and the wrong version is an error nevertheless.
        &["run", "--tags", "@drill", "--argocd", "v9.9.9"],
        &["up", "--argocd=v9.9.9"],
        &["up", "web", "--argocd", "v9.9.9"],
        &["toolchain", "install", "argocd", "v9.9.9"],
    ];
    for command in commands {
        with_cache(&place, &cache, command).expect(2, &parts);
    }
    assert!(!cache.join("toolchain/kubefleet").exists(), "something was built");
    place.nothing_is_left();
}

#[test]
fn a_build_of_ones_own_that_is_none() {
    let place = Place::new();
    let cache = place.path("cache");
    let add = |program: &str, more: &[&str]| {
        let program = format!("argocd={program}");
        with_cache(&place, &cache, &[&["toolchain", "add", "argocd", "v3.9.0-mine", &program], more].concat())
    };
    let broken = script(&place, "broken", "echo no libfoo.so >&2; exit 127");
    add(&broken, &[]).expect(2, &["broken doesn't start: with --help it ended with exit status: 127", "no libfoo.so"]);
    add("/nowhere/argocd", &[]).expect(2, &["can't add /nowhere/argocd: No such file"]);
    let server = format!("argocd-server={broken}");
    with_cache(&place, &cache, &["toolchain", "add", "argocd", "v3.9.0-mine", &server])
        .expect(2, &["argocd-server", "it has argocd"]);
    let good = script(&place, "good", "exit 0");
    with_cache(&place, &cache, &["toolchain", "add", "argocd", "v3.2.11", &format!("argocd={good}")])
        .expect(2, &["v3.2.11", "--force"]);
    let (Some(_), Some(_), Some(_), Some(_)) = (
        copy_of(&place, &cache, "kubefleet"),
        copy_of(&place, &cache, "kubernetes"),
        copy_of(&place, &cache, "kustomize"),
        copy_of(&place, &cache, "helm"),
    ) else {
        eprintln!("skipped: there is no cache yet that could be copied");
        return;
    };
    add(&good, &[]).expect(0, &["argocd v3.9.0-mine is registered: fleetdrill run --argocd v3.9.0-mine"]);
    with_cache(&place, &cache, &["up", "--argocd=v3.9.0-mine"])
        .expect(2, &["argocd v3.9.0-mine was registered without CRDs", "--crds DIR"]);
    place.nothing_is_left();
}

#[test]
fn a_build_of_ones_own_that_does_not_run() {
    let _turn = turn();
    let place = Place::new();
    let cache = place.path("cache");
    if !register_argocd_that_does_not_start(&place, &cache) {
        eprintln!("skipped: there is no cache yet that could be copied");
        return;
    }
    with_cache(&place, &cache, &["up", "--members", "1", "--argocd=v3.9.0-mine"])
        .expect(3, &["argocd-", "ended (exit status: 7)", "no such role"]);
    place.nothing_is_left();
}

#[test]
fn argo_cd_on_a_fleet_that_stays() {
    let _turn = turn();
    let place = Place::new();
    place.run(["up", "--members", "1"]).expect(0, &["is up: hub, member-1 (KubeFleet v"]);
    let fleet = Fleet::of(&place);
    another_s_is_not_touched(&place, &fleet);
    let said = place.run(["up", "--members", "1", "--argocd-server"]);
    said.expect(0, &[", Argo CD v", "get applications", "ARGOCD_CONFIG_DIR=", "argocd app list"]);
    let argocd = Argocd::of(&said);
    the_command_works(&place, &fleet, &argocd);
    nobody_gets_in_without_a_token(&argocd);
    // A second `up` leaves the running Argo CD alone and prints the same.
    let again = place.run(["up", "--members", "1", "--argocd-server"]);
    assert_eq!(Argocd::of(&again).line, argocd.line);
    argocd.run(&["app", "list", "-o", "name"]).expect(0, &[]);
    place
        .run(["up", "--members", "1", "--argocd=v9.9.9"])
        .expect(2, &["fleet `default` has Argo CD v", "not v9.9.9", "fleetdrill down default"]);
    place.run(["down"]).expect(0, &["fleet `default` ended"]);
    place.nothing_is_left();
}

/// A namespace `argocd` of somebody else keeps Argo CD from being installed, and isn't changed.
fn another_s_is_not_touched(place: &Place, fleet: &Fleet) {
    fleet.on_hub(async |hub| {
        let object = serde_json::from_value(json!({"metadata": {"name": "argocd", "labels": {"owner": "somebody"}}}));
        let made = NAMESPACE.api(hub, None).create(&PostParams::default(), &object.expect("a namespace")).await;
        made.expect("created");
    });
    let refused =
        ["namespace argocd is on the hub already, and fleetdrill didn't make it", "hint: delete the namespace"];
    for command in [&["up", "--members", "1", "--argocd"][..], &["up", "--members", "1", "--argocd-server"]] {
        place.run(command).expect(3, &refused);
    }
    let file = place.write("needs.feature", NEEDS_IT);
    place.run(["run", &file, "--fleet", "default"]).expect(3, &refused);
    fleet.on_hub(async |hub| {
        let there = NAMESPACE.api(hub, None).get("argocd").await.expect("it is there");
        assert_eq!(there.metadata.labels.expect("labels")["owner"], "somebody");
        let settings = CONFIG_MAP.api(hub, Some("argocd")).get_opt("argocd-cm").await.expect("an answer");
        assert!(settings.is_none(), "{settings:?}");
        NAMESPACE.api(hub, None).delete("argocd", &DeleteParams::default()).await.expect("deleted");
    });
    let gone = || fleet.on_hub(async |hub| NAMESPACE.api(hub, None).get_opt("argocd").await.expect("an answer"));
    until_or("the namespace is gone", || gone().is_none().then_some(()), || format!("{:?}", gone()));
    // The fleet still works.
    place.run(["status"]).expect(0, &[]);
}

/// Takes an application from its creation to a sync, only with the real command.
fn the_command_works(place: &Place, fleet: &Fleet, argocd: &Argocd) {
    let repository = repository(place);
    let create = ["app", "create", "web", "--repo", &repository, "--path", ".", "--dest-name", "member-1"];
    argocd.run(&[&create[..], &["--dest-namespace", "default"]].concat()).expect(0, &[]);
    let list = argocd.run(&["app", "list", "-o", "name"]);
    assert_eq!(list.expect(0, &[]).stdout, "argocd/web\n");
    let status = |said: &Said| -> Value { serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON") };
    let before = status(&argocd.run(&["app", "get", "web", "-o", "json", "--refresh"]));
    assert_eq!(before["status"]["sync"]["status"], "OutOfSync");
    argocd.run(&["app", "sync", "web", "--timeout", "120"]).expect(0, &[]);
    let after = status(&argocd.run(&["app", "get", "web", "-o", "json"]));
    assert_eq!(after["status"]["sync"]["status"], "Synced");
    assert_eq!(after["status"]["operationState"]["phase"], "Succeeded");
    let there = fleet.on("member-1", async |member| CONFIG_MAP.api(member, Some("default")).get("settings").await);
    assert_eq!(there.expect("it is there").data["data"]["from"], "git");
}

/// The server refuses requests without a session, and the command trusts no certificate but the fleet's.
fn nobody_gets_in_without_a_token(argocd: &Argocd) {
    let config: Value = serde_json::from_str(&std::fs::read_to_string(argocd.config_dir.join("config")).expect("read"))
        .expect("the configuration is JSON");
    let server = config["servers"][0]["server"].as_str().expect("an address").to_owned();
    let refused = |change: &dyn Fn(&mut Value), parts: &[&str]| {
        let dir = tempfile::tempdir().expect("a directory");
        let mut config = config.clone();
        change(&mut config);
        clusters::state_dir::write_private(&dir.path().join("config"), &config.to_string()).expect("written");
        let other = Argocd { config_dir: dir.path().to_owned(), ..argocd.clone() };
        let said = other.run(&["app", "list"]);
        assert!(said.code != Some(0) && parts.iter().any(|part| said.stderr.contains(part)), "{server}: {said:?}");
    };
    refused(&|config| config["users"][0]["auth-token"] = "guessed".into(), &["Unauthenticated", "invalid session"]);
    refused(
        &|config| drop(config["servers"][0].as_object_mut().and_then(|s| s.remove("certificate-authority-data"))),
        &["certificate"],
    );
}

/// Creates a git repository with one ConfigMap, and returns its URL.
fn repository(place: &Place) -> String {
    let dir = place.path("repository");
    std::fs::create_dir(&dir).expect("made");
    let settings = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"from": "git"},
    });
    std::fs::write(dir.join("settings.yaml"), settings.to_string()).expect("written");
    let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"];
    let commands: [&[&str]; 3] =
        [&["init", "--quiet", "--initial-branch", "main"], &["add", "--all"], &["commit", "--quiet", "--message", "m"]];
    for command in commands {
        let git = Command::new("git").arg("-C").arg(&dir).args(identity).args(command).status();
        assert!(git.expect("git runs").success(), "{command:?}");
    }
    format!("file://{}", dir.display())
}

/// The fleet `default` in the state directory of a test.
struct Fleet {
    kubeconfig: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl Fleet {
    fn of(place: &Place) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { kubeconfig: place.state().join("default/kubeconfig"), runtime }
    }

    /// Runs `what` with a client of the hub.
    fn on_hub<T>(&self, what: impl AsyncFnOnce(&Client) -> T) -> T {
        self.on("hub", what)
    }

    fn on<T>(&self, cluster: &str, what: impl AsyncFnOnce(&Client) -> T) -> T {
        self.runtime.block_on(async {
            let config = Kubeconfig::read_from(&self.kubeconfig).expect("a kubeconfig");
            what(&clusters::kubeconfig::client(config, cluster).await.expect("a client")).await
        })
    }
}

/// The `argocd` command line that `fleetdrill up` prints.
#[derive(Clone)]
struct Argocd {
    line: String,
    config_dir: PathBuf,
    program: PathBuf,
}

impl Argocd {
    fn of(up: &Said) -> Self {
        let line = up.stderr.lines().find(|line| line.contains("ARGOCD_CONFIG_DIR=")).expect("it is said").trim();
        let mut words = line.split(' ');
        let config_dir = words.next().and_then(|word| word.strip_prefix("ARGOCD_CONFIG_DIR=")).expect("a directory");
        let program = words.next().expect("a program");
        Self { line: line.to_owned(), config_dir: config_dir.into(), program: Path::new(program).to_owned() }
    }

    fn run(&self, args: &[&str]) -> Said {
        let mut command = Command::new(&self.program);
        command.env("ARGOCD_CONFIG_DIR", &self.config_dir).env_remove("KUBECONFIG").args(args);
        Said::from(command.output().expect("the command starts"))
    }
}
