//! Requests to a small bundle, and the answers of its API server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use diagnosis::{ClusterSnapshot, PodLog, Snapshot, SnapshotRole, UnreadKind, UnreadReason};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::answer::{ApiResponse, ResponseBody};
use super::request::{ApiQuery, ApiRequest, Route};
use super::*;
use crate::bundle::{Bundle, LogTail, SizeLimit};

const NOW: &str = "2026-11-21T03:10:00Z";

/// A hub with a placement, a custom resource with its definition, and Pods; a member that couldn't be read.
fn bundle() -> Bundle {
    let placement = |name: &str, labels: Value| {
        json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacement",
            "metadata": {"name": name, "labels": labels, "creationTimestamp": "2026-11-21T02:10:00Z", "resourceVersion": "7"},
            "status": {"conditions": [{"type": "ClusterResourcePlacementScheduled", "status": "True"}]}})
    };
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "mice.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Mouse", "plural": "mice", "shortNames": ["mo"]},
            "versions": [{"name": "v1", "additionalPrinterColumns": [
                {"name": "Colour", "type": "string", "jsonPath": ".spec.colour"},
                {"name": "Tail", "type": "integer", "jsonPath": ".spec.tail", "priority": 1}]}]}});
    let mouse = json!({"apiVersion": "example.com/v1", "kind": "Mouse", "metadata": {"name": "m", "namespace": "web"},
        "spec": {"colour": "grey", "tail": 7}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "agent-1", "namespace": "fleet-system"},
        "spec": {"containers": [{"name": "agent"}]},
        "status": {"phase": "Running", "containerStatuses": [{"ready": false, "restartCount": 4,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}});
    let unread = UnreadKind {
        group: String::new(),
        resource: "serviceaccounts".into(),
        reason: UnreadReason::Forbidden,
        message: "not allowed".into(),
    };
    let objects = vec![placement("web", json!({"team": "a"})), placement("api", json!({})), definition, mouse, pod];
    let quoted = PodLog {
        namespace: "fleet-system".into(),
        pod: "agent-1".into(),
        container: "agent".into(),
        text: "c\n".into(),
    };
    let hub = ClusterSnapshot {
        unread: vec![unread],
        logs: vec![quoted],
        ..ClusterSnapshot::new("hub", SnapshotRole::Hub, objects)
    };
    let gone = ClusterSnapshot {
        unreachable: Some("connection refused".into()),
        ..ClusterSnapshot::new("east", SnapshotRole::Member, Vec::new())
    };
    let event = |name: &str, object: &str| {
        json!({"metadata": {"name": name, "namespace": "default"}, "reason": "Failed", "type": "Warning", "message": "no",
            "involvedObject": {"kind": "ClusterResourcePlacement", "name": object}, "lastTimestamp": "2026-11-21T03:09:00Z"})
    };
    Bundle {
        fleet: "prod".into(),
        kubefleet: None,
        about: None,
        snapshot: Snapshot { taken_at: "2026-11-21T02:15:00Z".parse().unwrap(), clusters: vec![hub, gone] },
        events: BTreeMap::from([("hub".to_owned(), vec![event("e2", "web"), event("e1", "api")])]),
        logs: vec![LogTail { process: "hub-agent-1-agent".into(), text: "a\nb\nc\n".into(), cut: true }],
        missing: Vec::new(),
    }
}

/// Writes and reads the bundle, and answers from it.
struct Asked(ServedBundle);

impl Asked {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path: PathBuf = dir.path().join("b");
        bundle().write(&path).unwrap();
        Self(ServedBundle::read(&path, SizeLimit::default()).unwrap())
    }

    fn ask(&self, context: &str, method: Method, uri: &str, as_table: bool, body: &str) -> ApiResponse {
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let (route, query) = (Route::parse(path), ApiQuery::parse(query));
        let request = ApiRequest { method, route, query, as_table, body: body.into() };
        self.0.answer(context, &request, NOW.parse().unwrap())
    }

    fn get(&self, uri: &str) -> Value {
        let answer = self.ask("hub", Method::GET, uri, false, "");
        assert_eq!(answer.status, StatusCode::OK, "{uri}: {:?}", answer.body);
        json_of(answer)
    }

    /// Names of the objects in a list.
    fn names(&self, uri: &str) -> Vec<String> {
        let list = self.get(uri);
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Code, reason and message of a request that is refused.
    fn refused(&self, uri: &str) -> (u64, String, String) {
        refusal(self.ask("hub", Method::GET, uri, false, ""))
    }

    /// Table as text, with the columns that `kubectl get` shows.
    fn table(&self, uri: &str) -> String {
        let table = json_of(self.ask("hub", Method::GET, uri, true, ""));
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let columns = table["columnDefinitions"].as_array().unwrap();
        let line = |cells: Vec<String>| cells.join(" | ");
        let shown = columns.iter().map(|column| column["priority"] == 0).collect::<Vec<_>>();
        let of = |values: Vec<&Value>| {
            values.into_iter().zip(&shown).filter(|(_, shown)| **shown).map(|(value, _)| text(value)).collect()
        };
        let mut lines = vec![line(of(columns.iter().map(|column| &column["name"]).collect()))];
        let rows = table["rows"].as_array().unwrap().iter();
        lines.extend(rows.map(|row| line(of(row["cells"].as_array().unwrap().iter().collect()))));
        lines.join("\n")
    }
}

fn json_of(answer: ApiResponse) -> Value {
    match answer.body {
        ResponseBody::Json(value) => value,
        other => panic!("{other:?}"),
    }
}

fn refusal(answer: ApiResponse) -> (u64, String, String) {
    let code = answer.status.as_u16();
    let status = json_of(answer);
    assert_eq!((status["kind"].as_str(), status["code"].as_u64()), (Some("Status"), Some(code.into())));
    let text = |field: &str| status[field].as_str().unwrap().to_owned();
    (code.into(), text("reason"), text("message"))
}

const PLACEMENTS: &str = "/apis/placement.kubernetes-fleet.io/v1beta1/clusterresourceplacements";

#[test]
fn discovery_lists_the_kinds_of_the_objects_and_those_that_were_read() {
    let asked = Asked::new();
    assert_eq!(asked.get("/api")["versions"], json!(["v1"]));
    let groups = asked.get("/apis");
    let names: Vec<_> = groups["groups"].as_array().unwrap().iter().map(|group| &group["name"]).collect();
    assert!(names.contains(&&json!("example.com")) && names.contains(&&json!("placement.kubernetes-fleet.io")));
    assert_eq!(asked.get("/apis/example.com")["preferredVersion"]["groupVersion"], "example.com/v1");
    let mice = asked.get("/apis/example.com/v1");
    insta::assert_json_snapshot!(mice, @r#"
    {
      "kind": "APIResourceList",
      "apiVersion": "v1",
      "groupVersion": "example.com/v1",
      "resources": [
        {
          "name": "mice",
          "singularName": "mouse",
          "namespaced": true,
          "kind": "Mouse",
          "verbs": [
            "get",
            "list",
            "watch"
          ],
          "shortNames": [
            "mo"
          ],
          "categories": []
        }
      ]
    }
    "#);
    let core = asked.get("/api/v1")["resources"].clone();
    let core: Vec<_> = core.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(core, ["configmaps", "events", "namespaces", "pods", "secrets", "serviceaccounts", "pods/log"]);
    // Read, and there are none.
    assert_eq!(asked.names("/api/v1/namespaces"), [""; 0]);
}

#[test]
fn lists_are_sorted_and_selected() {
    let asked = Asked::new();
    assert_eq!(asked.names(PLACEMENTS), ["api", "web"]);
    assert_eq!(asked.names(&format!("{PLACEMENTS}?labelSelector=team%3Da")), ["web"]);
    assert_eq!(asked.names(&format!("{PLACEMENTS}?fieldSelector=metadata.name%3Dapi")), ["api"]);
    assert_eq!(asked.names("/apis/example.com/v1/namespaces/web/mice"), ["m"]);
    assert_eq!(asked.names("/apis/example.com/v1/namespaces/other/mice"), [""; 0]);
    assert_eq!(asked.names("/api/v1/events?fieldSelector=involvedObject.name%3Dweb"), ["e2"]);
    let list = asked.get(PLACEMENTS);
    assert_eq!(
        (&list["kind"], &list["metadata"]["resourceVersion"]),
        (&json!("ClusterResourcePlacementList"), &json!("1795227300"))
    );
    assert_eq!(asked.get("/api/v1/events")["items"][0]["kind"], "Event");
    assert_eq!(asked.get(&format!("{PLACEMENTS}/web"))["metadata"]["labels"], json!({"team": "a"}));
}

#[test]
fn what_is_not_there_is_refused_as_by_an_api_server() {
    let asked = Asked::new();
    let missing = |message: &str| (404, "NotFound".to_owned(), message.to_owned());
    let full = "clusterresourceplacements.placement.kubernetes-fleet.io";
    assert_eq!(asked.refused(&format!("{PLACEMENTS}/x")), missing(&format!("{full} \"x\" not found")));
    assert_eq!(asked.refused("/api/v1/namespaces/a/pods/x"), missing("pods \"x\" not found"));
    let unknown = missing("the server could not find the requested resource");
    for uri in ["/api/v1/nodes", "/apis/none.example.com", "/apis/none.example.com/v1", "/openapi/v3"] {
        assert_eq!(asked.refused(uri), unknown, "{uri}");
    }
    let forbidden = |message: &str| (403, "Forbidden".to_owned(), message.to_owned());
    assert_eq!(
        asked.refused("/api/v1/serviceaccounts"),
        forbidden("serviceaccounts is forbidden: it couldn't be read when the bundle was taken: not allowed")
    );
    assert_eq!(
        asked.refused("/api/v1/namespaces/a/secrets/x"),
        forbidden("secrets is forbidden: a bundle has no ConfigMaps and no Secrets")
    );
    assert_eq!(asked.refused(&format!("{PLACEMENTS}?labelSelector=a+like+b")).0, 400);
    let (code, _, message) = refusal(asked.ask("east", Method::GET, "/api/v1/pods", false, ""));
    assert_eq!((code, &*message), (503, "the cluster couldn't be read when the bundle was taken: connection refused"));
    assert_eq!(asked.ask("west", Method::GET, "/api", false, "").status, StatusCode::NOT_FOUND);
}

#[test]
fn an_incomplete_list_comes_with_a_warning() {
    let mut bundle = bundle();
    bundle.snapshot.clusters[0].unread[0].resource = "pods".into();
    let dir = tempfile::tempdir().unwrap();
    bundle.write(&dir.path().join("b")).unwrap();
    let asked = Asked(ServedBundle::read(&dir.path().join("b"), SizeLimit::default()).unwrap());
    let answer = asked.ask("hub", Method::GET, "/api/v1/pods", false, "");
    let warning = "not all pods are in the bundle: it couldn't be read when the bundle was taken: not allowed";
    assert_eq!(answer.warning.as_deref(), Some(warning));
    assert_eq!(json_of(answer)["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn nothing_can_be_changed() {
    let asked = Asked::new();
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        let refused = refusal(asked.ask("hub", method.clone(), &format!("{PLACEMENTS}/web"), false, "{}"));
        let message = "a bundle is read-only: it answers get, list and watch";
        assert_eq!(refused, (405, "MethodNotAllowed".to_owned(), message.to_owned()), "{method}");
    }
    let review = json!({"spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}}).to_string();
    let uri = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = asked.ask("hub", Method::POST, uri, false, &review);
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(json_of(answer)["status"]["allowed"], true);
}

#[test]
fn tables_have_the_columns_of_the_definition_or_of_the_well_known_kind() {
    let asked = Asked::new();
    let tables =
        [PLACEMENTS, "/apis/example.com/v1/mice", "/api/v1/pods", "/api/v1/events"].map(|uri| asked.table(uri));
    insta::assert_snapshot!(tables.join("\n\n"), @r"
    Name | Scheduled | Available | Age
    api | True |  | 60m
    web | True |  | 60m

    Name | Colour
    m | grey

    Name | Ready | Status | Restarts | Age
    agent-1 | 0/1 | CrashLoopBackOff | 4 | <unknown>

    Last Seen | Type | Reason | Object | Message
    60s | Warning | Failed | clusterresourceplacement/api | no
    60s | Warning | Failed | clusterresourceplacement/web | no
    ");
    let one = json_of(asked.ask("hub", Method::GET, &format!("{PLACEMENTS}/web?includeObject=Object"), true, ""));
    assert_eq!(one["metadata"]["resourceVersion"], "7");
    assert_eq!(one["rows"][0]["object"]["kind"], "ClusterResourcePlacement");
}

#[test]
fn a_watch_sends_what_there_is_unless_the_client_has_it() {
    let asked = Asked::new();
    let watched = |query: &str| match asked.ask("hub", Method::GET, &format!("{PLACEMENTS}?{query}"), false, "").body {
        ResponseBody::Watch { events, seconds } => {
            (events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>(), seconds)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(watched("watch=true"), (vec!["ADDED".to_owned(), "ADDED".to_owned()], None));
    assert_eq!(watched("watch=1&resourceVersion=0&timeoutSeconds=9").1, Some(9));
    assert_eq!(watched("watch=1&resourceVersion=1795227300").0, [""; 0]);
    assert_eq!(watched("watch=1&resourceVersion=7&sendInitialEvents=true").0, ["ADDED", "ADDED", "BOOKMARK"]);
    assert_eq!(watched("watch=1&fieldSelector=metadata.name%3Dweb").0, ["ADDED"]);
}

#[test]
fn the_longest_log_of_a_container_is_returned() {
    let asked = Asked::new();
    let log = |query: &str| {
        let uri = format!("/api/v1/namespaces/fleet-system/pods/agent-1/log?{query}");
        match asked.ask("hub", Method::GET, &uri, false, "").body {
            ResponseBody::Text(text) => text,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(log(""), "a\nb\nc\n");
    assert_eq!(log("container=agent&tailLines=2"), "b\nc\n");
    let refused = |query: &str| asked.refused(&format!("/api/v1/namespaces/fleet-system/pods/agent-1/log?{query}"));
    assert_eq!(refused("container=other").2, "container other is not valid for pod agent-1");
    assert_eq!(refused("previous=true").0, 404);
}

#[tokio::test]
async fn a_client_trusts_the_certificate_of_its_own_ca_only() {
    use clusters::kubeconfig::{base64, client};
    use kube::api::{Api, ListParams};
    let other = tempfile::tempdir().unwrap();
    let other = clusters::pki::Pki::create(&other.path().join("pki")).unwrap();
    let server = BundleServer::bind(Asked::new().0, "127.0.0.1:0".parse().unwrap(), None).await.unwrap();
    let config = kube::config::Kubeconfig::read_from(server.kubeconfig()).unwrap();
    let serving = tokio::spawn(server.serve());
    let list = async |config| {
        let pods = Api::<k8s_openapi::api::core::v1::Pod>::all(client(config, "hub").await.unwrap());
        pods.list(&ListParams::default()).await.map_err(|error| crate::error::in_full(&error))
    };
    assert_eq!(list(config.clone()).await.unwrap().items.len(), 1);
    let mut of_other = config.clone();
    of_other.clusters[0].cluster.as_mut().unwrap().certificate_authority_data = Some(base64(other.ca()));
    let error = list(of_other).await.unwrap_err();
    assert!(error.contains("certificate"), "{error}");
    // A token that isn't the server's.
    let mut stranger = config;
    stranger.auth_infos[0].auth_info.as_mut().unwrap().token = Some("a".repeat(43).into());
    let error = list(stranger).await.unwrap_err();
    assert!(error.contains("Unauthorized"), "{error}");
    serving.abort();
}
