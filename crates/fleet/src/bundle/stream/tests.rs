//! Bundles that are streamed from API servers which a service plays, with small pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use diagnosis::{SnapshotRole, UnreadReason};
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

use super::super::published_schemas::check_files;
use super::super::{BundleError, BundleSource, LoadedBundle, SizeLimit};
use super::{BundleStream, StreamLimits, StreamProgress};
use crate::redact::REMOVED;
use crate::snapshot::ClusterAccess;

const WORKS: &str = "/apis/placement.kubernetes-fleet.io/v1beta1/works";
const MEMBERS: &str = "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters";
const PODS: &str = "/api/v1/pods";
const EVENTS: &str = "/api/v1/events";

/// An API server with objects by path; all other lists are empty. Its continue tokens are the number of objects given.
#[derive(Clone, Default)]
struct Server {
    objects: BTreeMap<&'static str, Vec<Value>>,
    refused: BTreeSet<&'static str>,
    /// Path of the list that has no second page: nothing answers.
    stuck: Option<&'static str>,
    is_gone: bool,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn has(mut self, path: &'static str, objects: Vec<Value>) -> Self {
        self.objects.insert(path, objects);
        self
    }

    fn access(&self) -> ClusterAccess {
        let server = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let (server, uri) = (server.clone(), request.uri().clone());
            async move {
                server.asked.lock().unwrap().push(uri.to_string());
                if server.is_gone {
                    return Err(BoxError::from("connection refused"));
                }
                let parameters: BTreeMap<&str, &str> =
                    uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')).collect();
                if server.stuck == Some(uri.path()) && parameters.contains_key("continue") {
                    return std::future::pending().await;
                }
                let (code, answer) = server.answer(uri.path(), &parameters);
                let response = Response::builder().status(code).header("date", "Mon, 23 Nov 2026 23:15:06 GMT");
                Ok(response.body(Body::from(answer.to_string().into_bytes())).unwrap())
            }
        });
        ClusterAccess { client: Client::new(service, "default"), server: Some("https://10.0.0.1".to_owned()) }
    }

    fn answer(&self, path: &str, parameters: &BTreeMap<&str, &str>) -> (u16, Value) {
        if self.refused.contains(path) {
            let message = "it is forbidden for Bearer abc.def.123";
            return (403, json!({"kind": "Status", "status": "Failure", "code": 403, "message": message}));
        }
        if path == "/api/v1" {
            // It doesn't tell which kinds it serves.
            return (500, json!({"kind": "Status", "status": "Failure", "code": 500, "message": "sorry"}));
        }
        let number = |name: &str| parameters.get(name).and_then(|text| text.parse::<usize>().ok());
        let all = self.objects.get(path).map(Vec::as_slice).unwrap_or_default();
        let from = number("continue").unwrap_or(0);
        let to = all.len().min(from + number("limit").unwrap_or(usize::MAX - from));
        let next = if to < all.len() { to.to_string() } else { String::new() };
        (200, json!({"metadata": {"continue": next}, "items": all[from..to]}))
    }
}

fn named(prefix: &str, count: usize) -> Vec<Value> {
    (0..count).map(|i| json!({"metadata": {"namespace": "n", "name": format!("{prefix}-{i}")}})).collect()
}

fn hub() -> Server {
    let works = named("work", 5).into_iter().map(|mut work| {
        work["spec"] = json!({"workload": {"manifests": [{"kind": "Secret", "data": {"pw": "hunter2"}}]}});
        work
    });
    Server::default().has(WORKS, works.collect()).has(MEMBERS, named("member", 3)).has(EVENTS, named("event", 3))
}

fn source(hub: &Server, members: &[(&str, &Server)]) -> BundleSource {
    BundleSource {
        fleet: "b7".to_owned(),
        kubefleet: None,
        hub: hub.access(),
        members: members.iter().map(|(name, server)| ((*name).to_owned(), server.access())).collect(),
        directory: None,
        processes: false,
        argocd_pods: false,
    }
}

fn limits() -> StreamLimits {
    StreamLimits { page_size: 2, ..StreamLimits::default() }
}

async fn collected(source: &BundleSource, dir: &Path, limits: StreamLimits) -> BundleStream {
    BundleStream::collect(source, dir, limits, &StreamProgress::default()).await.unwrap()
}

/// Names of a cluster's objects of a kind in a bundle that is read again.
fn names(bundle: &LoadedBundle, cluster: usize, kind: &str) -> Vec<String> {
    let objects = bundle.snapshot.clusters[cluster].objects();
    objects.filter(|object| object.kind() == kind).map(|object| object.name().to_owned()).collect()
}

fn read(path: &Path) -> LoadedBundle {
    LoadedBundle::read(path, SizeLimit::default()).unwrap()
}

#[tokio::test]
async fn a_streamed_bundle_is_read_as_it_was_collected() {
    let dir = tempfile::tempdir().unwrap();
    let east = Server::default().has(PODS, named("pod", 3));
    let hub = hub();
    let source = source(&hub, &[("east", &east)]);
    for name in ["b", "b.tar.gz"] {
        let path = dir.path().join(name);
        let progress = StreamProgress::default();
        let stream = BundleStream::collect(&source, dir.path(), limits(), &progress).await.unwrap();
        assert_eq!((stream.manifest.schema, &*stream.manifest.missing), (2, &[][..]));
        // Of all objects, only the members' names stay in memory.
        assert_eq!(stream.snapshot.clusters.iter().map(|c| c.objects.len()).collect::<Vec<_>>(), [3, 0]);
        stream.finish(&path).unwrap();
        assert_eq!((progress.objects.into_inner(), progress.events.into_inner()), (11, 3));

        if path.is_dir() {
            assert_eq!(check_files(&path), 1 + 2 + 2, "bundle.json, objects and events");
        }
        let bundle = read(&path);
        bundle.check().unwrap();
        assert_eq!(names(&bundle, 0, "Work"), ["work-0", "work-1", "work-2", "work-3", "work-4"]);
        assert_eq!(names(&bundle, 1, "Pod"), ["pod-0", "pod-1", "pod-2"]);
        let work = bundle.snapshot.clusters[0].objects().find(|object| object.kind() == "Work").unwrap();
        assert_eq!(work.str("/spec/workload/manifests/0/data/pw"), Some(REMOVED));
        assert_eq!(work.str("/apiVersion"), Some("placement.kubernetes-fleet.io/v1beta1"));
        let entries: Vec<_> = bundle.manifest.clusters.iter().map(|c| (c.objects, c.events, c.role)).collect();
        assert_eq!(entries, [(8, 3, SnapshotRole::Hub), (3, 0, SnapshotRole::Member)]);
        assert!(bundle.manifest.clusters[0].time.is_some() && bundle.manifest.missing.is_empty());
    }
    let asked = hub.asked.lock().unwrap();
    let works: Vec<_> =
        asked.iter().filter(|uri| uri.starts_with(WORKS)).take(3).map(|uri| &uri[WORKS.len()..]).collect();
    assert_eq!(works, ["?&limit=2", "?&limit=2&continue=2", "?&limit=2&continue=4"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
}

#[tokio::test]
async fn a_bundle_that_reaches_its_size_has_what_fits_and_names_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b");
    let source = source(&hub(), &[("east", &Server::default().has(PODS, named("pod", 3)))]);
    let stream = collected(&source, dir.path(), StreamLimits { bytes: 1, ..limits() }).await;
    stream.finish(&path).unwrap();
    let bundle = read(&path);
    // Nothing is on disk before a file's first part is complete: the hub's lists are, and no list of the member.
    assert_eq!(bundle.manifest.clusters[0].objects, 8);
    assert_eq!(bundle.manifest.clusters[1].objects, 0);
    let missing: Vec<_> = bundle
        .manifest
        .missing
        .iter()
        .map(|part| (part.cluster.as_deref().unwrap_or_default(), part.what.as_str(), part.why.as_str()))
        .collect();
    let why = "the bundle has reached its limit of 1 MiB";
    assert!(missing.contains(&("east", "pods", why)) && missing.contains(&("hub", "events", why)), "{missing:?}");
    let pods = bundle.snapshot.clusters[1].unread.iter().find(|unread| unread.resource == "pods").unwrap();
    assert_eq!((pods.reason, pods.message.as_str()), (UnreadReason::Failed, why));
    bundle.check().unwrap();
}

#[tokio::test]
async fn a_cluster_that_falls_silent_costs_what_it_has_not_given() {
    let dir = tempfile::tempdir().unwrap();
    let east = Server { stuck: Some(PODS), ..Server::default().has(PODS, named("pod", 5)) };
    let west = Server::default().has(PODS, named("pod", 5));
    let source = source(&hub(), &[("east", &east), ("west", &west)]);
    let limits = StreamLimits { member_time: Duration::from_millis(600), ..limits() };
    let path = dir.path().join("b.tgz");
    collected(&source, dir.path(), limits).await.finish(&path).unwrap();
    let bundle = read(&path);
    assert_eq!((names(&bundle, 1, "Pod").len(), names(&bundle, 2, "Pod").len()), (2, 5));
    let unread: Vec<_> =
        bundle.snapshot.clusters[1].unread.iter().map(|kind| (kind.resource.as_str(), kind.message.as_str())).collect();
    assert_eq!(
        unread,
        [
            ("pods", "only the first 2 were read: failed to list pods on east: no answer within 1 s"),
            ("services", "no answer within 1 s"),
            ("resourcequotas", "no answer within 1 s"),
            ("limitranges", "no answer within 1 s"),
            ("namespaces", "no answer within 1 s"),
            ("appliedworks", "no answer within 1 s"),
        ]
    );
    assert_eq!(bundle.snapshot.clusters[2].unread, []);
    assert!(bundle.manifest.missing.iter().all(|part| !part.needed));
    bundle.check().unwrap();
}

#[tokio::test]
async fn a_list_of_the_hub_that_is_cut_short_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let hub = Server { stuck: Some(WORKS), ..hub() };
    let limits = StreamLimits { time: Duration::from_millis(600), ..limits() };
    let path = dir.path().join("b");
    let stream = collected(&source(&hub, &[]), dir.path(), limits).await;
    stream.finish(&path).unwrap();
    let bundle = read(&path);
    bundle.check().unwrap();
    let needed: Vec<_> = bundle.manifest.missing.iter().filter(|part| part.needed).map(|part| &*part.what).collect();
    let unread: Vec<_> = bundle.snapshot.clusters[0].unread.iter().map(|kind| &*kind.resource).collect();
    assert!(needed.contains(&"works") && needed == unread, "{needed:?} {unread:?}");
}

#[tokio::test]
async fn clusters_that_refuse_or_are_gone_are_named_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let east = Server { refused: [PODS].into(), ..Server::default() };
    let west = Server { is_gone: true, ..Server::default() };
    let path = dir.path().join("b");
    collected(&source(&hub(), &[("east", &east), ("west", &west)]), dir.path(), limits()).await.finish(&path).unwrap();
    let bundle = read(&path);
    let [_, east_read, west_read] = &bundle.snapshot.clusters[..] else { panic!("three clusters") };
    let pods: Vec<_> = east_read.unread.iter().map(|kind| (kind.resource.as_str(), kind.message.as_str())).collect();
    assert_eq!(pods, [("pods", "it is forbidden for Bearer (removed)")]);
    assert_eq!(west_read.unreachable.as_deref(), Some("failed to list deployments on west: connection refused"));
    assert_eq!(west.asked.lock().unwrap().len(), 1, "a cluster that is gone isn't asked again");
}

#[tokio::test]
async fn a_bundle_that_is_given_up_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let source = source(&Server { stuck: Some(WORKS), ..hub() }, &[]);
    let progress = StreamProgress::default();
    {
        let mut collecting = std::pin::pin!(BundleStream::collect(&source, dir.path(), limits(), &progress));
        while progress.objects.load(std::sync::atomic::Ordering::Relaxed) < 2 {
            assert!(futures::poll!(collecting.as_mut()).is_pending());
            tokio::task::yield_now().await;
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    let nowhere = BundleStream::collect(&source, &dir.path().join("nowhere"), limits(), &progress).await.unwrap_err();
    assert!(matches!(nowhere, BundleError::Write { .. }), "{nowhere}");
}

#[tokio::test]
async fn a_streamed_bundle_that_is_cut_short_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b");
    collected(&source(&hub(), &[]), dir.path(), limits()).await.finish(&path).unwrap();
    let objects = path.join("clusters/hub/objects.json.gz");
    let whole = fs::read(&objects).unwrap();
    let refused = || LoadedBundle::read(&path, SizeLimit::default()).unwrap_err();
    for length in [whole.len() - 5, whole.len() / 2, 0] {
        fs::write(&objects, &whole[..length]).unwrap();
        let error = refused();
        assert!(matches!(error, BundleError::Truncated { .. }), "{length}: {error}");
        assert!(error.to_string().contains("clusters/hub/objects.json.gz ends too early"), "{error}");
    }
    let mut damaged = whole.clone();
    damaged[0] = 0;
    fs::write(&objects, &damaged).unwrap();
    assert!(refused().to_string().contains("is damaged"), "{}", refused());
    fs::remove_file(&objects).unwrap();
    assert!(matches!(refused(), BundleError::Truncated { .. }));
    fs::write(&objects, &whole).unwrap();
    let error = LoadedBundle::read(&path, SizeLimit::of_mebibytes(0)).unwrap_err();
    assert!(matches!(error, BundleError::TooLarge { .. }), "{error}");
}
