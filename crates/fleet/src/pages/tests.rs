//! Bad days of lists, against a service that plays the API server.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use http::{Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::service_fn;

use super::answer::ANSWER_BYTES;
use super::{ListQuery, all, cleaned, pages};
use crate::error::{FleetError, in_full};
use crate::kinds::{NAMESPACE, ResourceKind, WORK};
use crate::redact::{REMOVED, Redactor};

type Answer = Response<Body>;

/// An API server that gives some answers one after the other, then none, and remembers what it was asked.
struct Server {
    client: Client,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let remembered = Arc::clone(&asked);
        let service = service_fn(move |request: Request<Body>| {
            remembered.lock().unwrap().push(request.uri().to_string());
            let answer = answers.lock().unwrap().pop_front();
            async move {
                match answer {
                    Some(answer) => Ok::<_, Infallible>(answer),
                    None => std::future::pending().await,
                }
            }
        });
        Self { client: Client::new(service, "default"), asked }
    }

    /// Lists the Works: their names, and the reason why the list isn't whole.
    async fn works(&self) -> (Vec<String>, Option<String>) {
        let (names, error) = self.list(WORK, &ListQuery::default(), Duration::from_secs(10)).await;
        (names, error.map(|error| in_full(&error)))
    }

    async fn list(&self, kind: ResourceKind, query: &ListQuery, limit: Duration) -> (Vec<String>, Option<FleetError>) {
        let (objects, error) = all("east", &self.client, kind, query, Instant::now() + limit).await;
        let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        (objects.iter().map(name).collect(), error)
    }

    /// Parameters of the requests, without those that all have.
    fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|uri| uri.split_once('?').unwrap().1.replace("&limit=500", "")).collect()
    }
}

fn with(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Answer {
    let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Body::from(body.into())).unwrap()
}

fn answer(status: u16, body: &Value) -> Answer {
    with(status, &[("content-type", "application/json")], body.to_string())
}

fn page(names: &[&str], next: &str) -> Answer {
    let items: Vec<_> = names.iter().map(|name| json!({"metadata": {"namespace": "n", "name": name}})).collect();
    answer(200, &json!({"kind": "WorkList", "metadata": {"continue": next}, "items": items}))
}

fn expired(token: Option<&str>) -> Answer {
    let metadata = token.map_or_else(|| json!({}), |token| json!({"continue": token}));
    let message = "The provided continue parameter is too old";
    answer(
        410,
        &json!({"kind": "Status", "status": "Failure", "code": 410, "reason": "Expired", "message": message, "metadata": metadata}),
    )
}

fn throttled(retry_after: &str) -> Answer {
    with(
        429,
        &[("retry-after", retry_after), ("content-type", "text/plain; charset=utf-8")],
        "Too many requests, please try again later.\n",
    )
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn pages_follow_each_other_by_their_tokens() {
    let server = Server::answering([page(&["a", "b"], "t1"), page(&[], "t2"), page(&["c"], "")]);
    assert_eq!(server.works().await, (names(&["a", "b", "c"]), None));
    assert_eq!(server.asked(), ["", "&continue=t1", "&continue=t2"]);
}

#[tokio::test]
async fn a_query_says_what_is_listed() {
    let query = ListQuery {
        namespace: Some("fleet-member-east".to_owned()),
        labels: Some("app=web".to_owned()),
        fields: Some("metadata.name=w".to_owned()),
        page_size: 2,
        ..ListQuery::default()
    };
    let server = Server::answering([page(&["w"], "")]);
    let (list, error) = server.list(WORK, &query, Duration::from_secs(10)).await;
    assert_eq!((list, error.is_none()), (names(&["w"]), true));
    assert_eq!(
        server.asked.lock().unwrap()[0],
        "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/fleet-member-east/works\
         ?&fieldSelector=metadata.name%3Dw&labelSelector=app%3Dweb&limit=2"
    );

    let metadata = json!({"kind": "PartialObjectMetadataList", "items": [{"metadata": {"name": "n"}}]});
    let server = Server::answering([answer(200, &metadata)]);
    let query = ListQuery { metadata_only: true, ..query };
    let (list, error) = server.list(NAMESPACE, &query, Duration::from_secs(10)).await;
    assert_eq!((list, error.is_none()), (names(&["n"]), true));
    assert!(server.asked.lock().unwrap()[0].starts_with("/api/v1/namespaces?"), "namespaces are in no namespace");
}

#[tokio::test]
async fn an_expired_list_goes_on_at_the_token_that_the_server_gives() {
    let server = Server::answering([page(&["a"], "t1"), expired(Some("t2")), page(&["b"], "t3"), page(&["c"], "")]);
    assert_eq!(server.works().await, (names(&["a", "b", "c"]), None));
    assert_eq!(server.asked(), ["", "&continue=t1", "&continue=t2", "&continue=t3"]);
}

#[tokio::test]
async fn an_expired_list_without_a_token_begins_anew_without_doubles() {
    let again = [page(&["a", "a2"], "t2"), page(&["b", "c"], "")];
    let server = Server::answering([page(&["a", "b"], "t1"), expired(None)].into_iter().chain(again));
    assert_eq!(server.works().await, (names(&["a", "b", "a2", "c"]), None));
    assert_eq!(server.asked(), ["", "&continue=t1", "", "&continue=t2"]);
}

#[tokio::test]
async fn a_list_that_expires_again_and_again_is_given_up() {
    let server = Server::answering([page(&["a"], "t1"), expired(Some("t2")), expired(Some("t3")), expired(Some("t4"))]);
    let (list, error) = server.works().await;
    assert_eq!(list, names(&["a"]));
    assert_eq!(
        error.unwrap(),
        "failed to list works on east: the list expired while it was read (410), and again after it was begun anew"
    );
    assert_eq!(server.asked(), ["", "&continue=t1", "&continue=t2", ""]);
}

#[tokio::test]
async fn a_throttled_request_is_repeated_as_the_server_asks() {
    let server = Server::answering(
        [throttled("0"), page(&["a"], "t")]
            .into_iter()
            .chain((0..20).map(|_| throttled("0")))
            .chain([page(&["b"], "")]),
    );
    assert_eq!(server.works().await, (names(&["a", "b"]), None));
}

#[tokio::test]
async fn a_server_that_throttles_beyond_the_deadline_is_named() {
    let server = Server::answering([page(&["a"], "t"), throttled("3600")]);
    let (list, error) = server.works().await;
    assert_eq!(list, names(&["a"]));
    assert_eq!(
        error.unwrap(),
        "failed to list works on east: the API server throttles requests (429): no answer within 10 s"
    );
}

#[tokio::test]
async fn a_page_that_takes_too_long_ends_the_list_at_the_deadline() {
    let server = Server::answering([page(&["a"], "t")]);
    let (list, error) = server.list(WORK, &ListQuery::default(), Duration::from_millis(600)).await;
    assert_eq!(list, names(&["a"]));
    assert_eq!(in_full(&error.unwrap()), "failed to list works on east: no answer within 1 s");
}

#[tokio::test]
async fn a_refusal_is_the_servers_own() {
    let forbidden = json!({"kind": "Status", "status": "Failure", "code": 403, "reason": "Forbidden", "message": "works is forbidden"});
    let server = Server::answering([answer(403, &forbidden)]);
    let (_, error) = server.list(WORK, &ListQuery::default(), Duration::from_secs(10)).await;
    let error = error.unwrap();
    assert!(error.is_refused());
    assert_eq!(in_full(&error), "failed to list works on east: works is forbidden");

    let text = [("content-type", "text/plain; charset=utf-8")];
    let server = Server::answering([with(404, &text, "404 page not found\n")]);
    let (_, error) = server.list(WORK, &ListQuery::default(), Duration::from_secs(10)).await;
    let status = error.as_ref().and_then(FleetError::status).unwrap();
    assert_eq!((status.code, status.message.as_str()), (404, "404 page not found"));
}

#[tokio::test]
async fn a_server_that_is_unavailable_is_asked_again_a_few_times() {
    let unavailable = || with(503, &[("retry-after", "0")], "");
    let server = Server::answering([unavailable(), unavailable(), page(&["a"], "")]);
    assert_eq!(server.works().await, (names(&["a"]), None));
    let server = Server::answering((0..4).map(|_| unavailable()));
    let (_, error) = server.works().await;
    assert_eq!(error.unwrap(), "failed to list works on east: HTTP status 503 Service Unavailable");
}

#[tokio::test]
async fn garbage_is_named_and_not_quoted() {
    let html = "<html><title>password=hunter2</title></html>";
    let as_html = [("content-type", "text/html; charset=utf-8")];
    let as_json = [("content-type", "application/json")];
    let whole = r#"{"kind": "WorkList", "items": [{"metadata": {"name": "hunter2"}}]}"#;
    for (given, expected) in [
        (with(200, &as_html, html), "the answer is text/html, not a list: a proxy may stand before the API server"),
        (with(200, &as_json, html), "the answer is no JSON, not a list: a proxy may stand before the API server"),
        (with(200, &[], html), "the answer is no JSON, not a list: a proxy may stand before the API server"),
        (with(200, &as_json, &whole[..60]), "the answer is cut short after 60 bytes"),
        (with(200, &as_json, ""), "the answer is cut short after 0 bytes"),
        (with(200, &as_json, r#"{"kind": "PodList", "items": []}"#), "the answer is no WorkList, but PodList"),
        (
            with(200, &as_json, r#"{"kind": "token hunter2", "items": []}"#),
            "the answer is no WorkList, but something else",
        ),
        (with(200, &as_json, r#"{"error": "hunter2"}"#), "the answer is no WorkList, but something else"),
        (with(200, &as_json, r#"["hunter2"]"#), "the answer is no WorkList, but something else"),
        (
            with(200, &as_json, r#"{"kind": "WorkList", "items": "hunter2"}"#),
            "the answer is no WorkList, but something else",
        ),
        (with(400, &as_html, html), "HTTP status 400 Bad Request, with text/html"),
        (with(400, &[], html), "HTTP status 400 Bad Request"),
    ] {
        let server = Server::answering([given]);
        let (list, error) = server.works().await;
        assert_eq!((list, error), (Vec::new(), Some(format!("failed to list works on east: {expected}"))));
    }
}

#[tokio::test]
async fn a_large_object_passes_and_pages_get_shorter() {
    let data = "x".repeat(1_400_000);
    let item = |i: usize| json!({"metadata": {"namespace": "n", "name": format!("w{i}")}, "spec": {"data": data}});
    let items: Vec<_> = (0..20).map(item).collect();
    let list = json!({"kind": "WorkList", "metadata": {"continue": "t"}, "items": items});
    let server = Server::answering([answer(200, &list), page(&["z"], "")]);
    let query = ListQuery::default();
    let mut pages =
        std::pin::pin!(pages("east", &server.client, WORK, &query, Instant::now() + Duration::from_secs(30)));
    let first = pages.next().await.unwrap().unwrap();
    assert_eq!((first.len(), first[19]["spec"]["data"].as_str().map(str::len)), (20, Some(1_400_000)));
    assert_eq!(pages.next().await.unwrap().unwrap().len(), 1);
    assert!(pages.next().await.is_none());
    assert_eq!(server.asked()[1], "&limit=11&continue=t");
}

#[test]
fn an_item_is_completed_and_without_secrets() {
    let write = json!({"manager": "m", "fieldsV1": {"f:spec": {}}});
    let item = json!({"metadata": {"name": "n", "managedFields": [write]}, "spec": {"password": "hunter2"}});
    let cleaned = cleaned(WORK, item, &Redactor::default());
    let expected = json!({
        "metadata": {"name": "n", "managedFields": [{"manager": "m"}]},
        "spec": {"password": REMOVED},
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "Work",
    });
    assert_eq!(cleaned, expected);
}

#[tokio::test]
async fn after_an_answer_that_is_too_large_fewer_objects_are_requested() {
    let too_large = || with(200, &[("content-type", "application/json")], vec![b' '; ANSWER_BYTES + 1]);
    let server = Server::answering([too_large(), page(&["a"], "t1"), page(&["b"], "")]);
    assert_eq!(server.works().await, (names(&["a", "b"]), None));
    assert_eq!(server.asked(), ["", "&limit=31", "&continue=t1"]);

    let server = Server::answering([too_large(), too_large(), too_large()]);
    let (list, why) = server.works().await;
    assert_eq!(list, [""; 0]);
    assert_eq!(why.as_deref(), Some("failed to list works on east: it has more than 64 MiB"));
    assert_eq!(server.asked(), ["", "&limit=31", "&limit=1"]);
}

#[tokio::test]
async fn a_list_whose_pages_follow_themselves_is_given_up() {
    let server = Server::answering([page(&["a"], "t1"), page(&["b"], "t1"), page(&["c"], "t1")]);
    let (list, why) = server.works().await;
    assert_eq!(list, ["a"]);
    assert_eq!(
        why.as_deref(),
        Some("failed to list works on east: the list has no end: after a page follows the same page")
    );
    assert_eq!(server.asked(), ["", "&continue=t1"]);
}
