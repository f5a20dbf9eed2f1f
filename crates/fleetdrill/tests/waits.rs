//! The four ways in which a wait ends, on one real API server.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clusters::cluster::{Cluster, FleetRole};
use clusters::home::FleetHome;
use clusters::provider_spec::ProviderSpec;
use clusters::supervisor::SupervisorProgram;
use fleet::FleetError;
use fleet::kinds::CONFIG_MAP;
use fleet::observe::{Observer, Verdict, WatchSelection, WatchedObjects};
use fleetdrill::components::FleetToolchain;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use record::{FailedWait, WaitEnd};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_in_one_of_four_ways() {
    let components = FleetToolchain::open().expect("the toolchain");
    let (programs, _) = components.control_plane(&|event| eprintln!("{event}")).await.expect("components");
    let dir = tempfile::tempdir().expect("a directory");
    let program = SupervisorProgram(PathBuf::from(env!("CARGO_BIN_EXE_fleetdrill")));
    let home = Arc::new(FleetHome::create(&program, &dir.path().join("waits")).await.expect("a supervisor"));
    let local = ProviderSpec::Local(programs).create(Arc::clone(&home)).await.expect("etcd");
    let cluster = local.start_cluster("hub", FleetRole::Hub).await.expect("an API server");

    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let into = Arc::clone(&seen);
    let observer = Observer::new(
        home.first_exit(),
        Arc::new(move |t| into.lock().expect("unpoisoned").push(format!("{} {}", t.object, t.condition))),
    );
    it_holds(&cluster, &observer).await;
    it_can_no_longer_hold(&cluster, &observer).await;
    its_time_is_up(&cluster, &observer).await;
    it_stays_or_does_not(&cluster, &observer).await;
    what_was_written_is_not_seen_as_it_was_before(&cluster, &observer).await;
    assert!(seen.lock().expect("unpoisoned").contains(&"ConfigMap/default/held (deletion)".to_owned()));

    the_fleet_breaks(&home, &cluster, &observer).await;
    home.supervisor().end().await.expect("an end");
}

async fn it_holds(cluster: &Cluster, observer: &Observer) {
    let watched = WatchSelection::one("hub", CONFIG_MAP, Some("default"), "first");
    let wait = observer.until(cluster, &watched, "it says b", LIMIT, |objects| says(objects, "first", "b"));
    let changes = async {
        create(cluster, "first", "a").await;
        change(cluster, "first", json!({"data": {"says": "b"}})).await;
    };
    let (held, ()) = tokio::join!(wait, changes);
    assert_eq!(held.expect("it holds").objects["first"]["kind"], "ConfigMap");
}

/// A wait for an object that doesn't exist yet goes on. If the object existed and is gone, the wait ends before its
/// limit.
async fn it_can_no_longer_hold(cluster: &Cluster, observer: &Observer) {
    let watched = WatchSelection::one("hub", CONFIG_MAP, Some("default"), "second");
    let check = |objects: &WatchedObjects| {
        if objects.is_gone("second") { Verdict::Never("it is gone".into()) } else { says(objects, "second", "never") }
    };
    let (appeared, gone) = (tokio::sync::Notify::new(), CONFIG_MAP.api(&cluster.client, Some("default")));
    let wait = observer.until(cluster, &watched, "it says never", Duration::from_secs(3600), |objects| {
        if objects.contains_key("second") {
            appeared.notify_one();
        }
        check(objects)
    });
    let changes = async {
        create(cluster, "second", "a").await;
        // Wait until the observer has seen the object: it can't notice the deletion of an object that it never saw.
        appeared.notified().await;
        gone.delete("second", &DeleteParams::default()).await.expect("deleted");
    };
    let (ended, ()) = tokio::join!(wait, changes);
    let failed = failed_wait(ended);
    assert_eq!(failed.end, WaitEnd::Impossible { why: "it is gone".into() });
}

fn failed_wait<T>(ended: Result<T, FleetError>) -> FailedWait {
    match ended {
        Err(FleetError::Wait(wait)) => *wait,
        Err(error) => panic!("no wait failed: {error}"),
        Ok(_) => panic!("the wait held"),
    }
}

async fn its_time_is_up(cluster: &Cluster, observer: &Observer) {
    create(cluster, "third", "a").await;
    let watched = WatchSelection::one("hub", CONFIG_MAP, Some("default"), "third");
    let limit = Duration::from_secs(1);
    let ended = observer.until(cluster, &watched, "it says b", limit, |objects| says(objects, "third", "b")).await;
    let error = ended.expect_err("its time is up").to_string();
    assert!(error.starts_with("it says b: not so after 1 s\n  last seen: it says a"), "{error}");
    assert!(error.contains("ConfigMap/default/third (generation 0)"), "{error}");
}

async fn it_stays_or_does_not(cluster: &Cluster, observer: &Observer) {
    create(cluster, "held", "a").await;
    let watched = WatchSelection::one("hub", CONFIG_MAP, Some("default"), "held");
    let check = |objects: &WatchedObjects| says(objects, "held", "a");
    observer.until(cluster, &watched, "it says a", LIMIT, check).await.expect("it says a");
    observer.stays(cluster, &watched, "it says a", Duration::from_secs(1), check).await.expect("it stays");
    let stays = observer.stays(cluster, &watched, "it says a", LIMIT, check);
    let (ended, ()) = tokio::join!(stays, change(cluster, "held", json!({"data": {"says": "b"}})));
    assert!(matches!(failed_wait(ended).end, WaitEnd::Changed { .. }));

    // A finalizer delays the deletion, and the pending deletion counts as a condition.
    change(cluster, "held", json!({"metadata": {"finalizers": ["fleetdrill.dev/test"]}})).await;
    let api = CONFIG_MAP.api(&cluster.client, Some("default"));
    api.delete("held", &DeleteParams::default()).await.expect("deleted");
    let deleting =
        |objects: &WatchedObjects| match objects.get("held").and_then(|o| o.pointer("/metadata/deletionTimestamp")) {
            Some(_) => Verdict::Holds,
            None => Verdict::Pending("not yet".into()),
        };
    observer.until(cluster, &watched, "it is being deleted", LIMIT, deleting).await.expect("it is being deleted");
}

/// A watch is a moment behind a write. A wait must not mistake the state before the write for the result.
async fn what_was_written_is_not_seen_as_it_was_before(cluster: &Cluster, observer: &Observer) {
    create(cluster, "written", "0").await;
    let watched = WatchSelection::one("hub", CONFIG_MAP, Some("default"), "written");
    observer
        .until(cluster, &watched, "it says 0", LIMIT, |objects| says(objects, "written", "0"))
        .await
        .expect("it does");
    for n in 1..=50 {
        let (before, now) = ((n - 1).to_string(), n.to_string());
        let api = CONFIG_MAP.api(&cluster.client, Some("default"));
        let patch = Patch::Merge(json!({"data": {"says": now}}));
        observer.wrote("hub", &api.patch("written", &PatchParams::default(), &patch).await.expect("patched"));
        let held = observer.until(cluster, &watched, "it says what was written", LIMIT, |objects| {
            match says(objects, "written", &before) {
                Verdict::Holds => Verdict::Never("it is seen as it was".into()),
                _ => says(objects, "written", &now),
            }
        });
        held.await.expect("it is seen as it is");
    }
}

async fn the_fleet_breaks(home: &FleetHome, cluster: &Cluster, observer: &Observer) {
    let processes = home.supervisor().processes().await.expect("processes");
    let etcd = processes.iter().find(|p| p.name == "etcd").and_then(|p| p.pid).expect("etcd runs");
    let watched = WatchSelection::one("hub", CONFIG_MAP, Some("default"), "fourth");
    let wait = observer.until(cluster, &watched, "it says b", LIMIT, |objects| says(objects, "fourth", "b"));
    let kill = tokio::process::Command::new("kill").arg("-KILL").arg(etcd.to_string()).status();
    let (ended, killed) = tokio::join!(wait, kill);
    assert!(killed.expect("kill runs").success());
    assert!(matches!(ended, Err(FleetError::Broken { exit }) if exit.name == "etcd"));
}

fn says(objects: &WatchedObjects, name: &str, what: &str) -> Verdict {
    match objects.get(name).and_then(|o| o.pointer("/data/says")?.as_str()) {
        Some(says) if says == what => Verdict::Holds,
        Some(says) => Verdict::Pending(format!("it says {says}")),
        None => Verdict::Pending("it isn't there".into()),
    }
}

async fn create(cluster: &Cluster, name: &str, says: &str) {
    let api = CONFIG_MAP.api(&cluster.client, Some("default"));
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"says": says}});
    let object = serde_json::from_value(object).expect("an object");
    // The API server creates the namespace `default` a moment after it reports that it is ready.
    for _ in 0..600 {
        match api.create(&PostParams::default(), &object).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            created => return drop(created.expect("created")),
        }
    }
    panic!("the namespace default never came");
}

async fn change(cluster: &Cluster, name: &str, patch: Value) {
    let api = CONFIG_MAP.api(&cluster.client, Some("default"));
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.expect("changed");
}
