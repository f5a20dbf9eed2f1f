//! Reads planned requests from one cluster into its part of the snapshot.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use diagnosis::{ClusterSnapshot, ObjectQuery, UnreadKind};
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use kube::api::ListParams;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::ReadCounter;
use super::plan::{PlannedRequest, RequestTarget, is_metadata_only, list_of, plan};
use crate::error::FleetError;
use crate::kinds::ResourceKind;
use crate::pages::{ListError, ListQuery, cleaned, pages};
use crate::redact::Redactor;
use crate::seen_objects::SeenObjects;
use crate::snapshot::lists::{ClusterAccess, unread_kinds};

/// Requests that one API server has at the same time.
const REQUESTS_AT_ONCE: usize = 8;

/// Objects of a page of which only the metadata is read: some 2 MB.
const METADATA_OF_PAGE: u32 = 2_000;

/// Reader of one cluster.
pub(super) struct ClusterReader<'a> {
    pub(super) name: &'a str,
    pub(super) access: &'a ClusterAccess,
    pub(super) redactor: &'a Redactor,
    /// Time until which the cluster may answer.
    pub(super) deadline: Instant,
    pub(super) counter: &'a ReadCounter,
    /// Time that the cluster has for all its answers.
    pub(super) limit: Duration,
    /// Objects that were read. An object may answer several queries.
    pub(super) known: Mutex<SeenObjects>,
}

/// Failures of requests to one cluster.
pub(super) type Failures = Vec<(ResourceKind, FleetError)>;

/// Result of one request: the objects that came, and the reason if that isn't everything.
type RequestResult = (Vec<Value>, Option<FleetError>);

impl ClusterReader<'_> {
    /// Reads what answers some queries, and returns the failures. A query that fails counts as answered: asking again would not help.
    pub(super) async fn answer(&self, snapshot: &mut ClusterSnapshot, queries: Vec<ObjectQuery>) -> Failures {
        self.read(snapshot, plan(queries)).await
    }

    /// Reads planned requests, and returns the failures.
    pub(super) async fn read(&self, snapshot: &mut ClusterSnapshot, requests: Vec<PlannedRequest>) -> Failures {
        let mut failures = Failures::new();
        let reads = requests.iter().map(|request| self.pages(request).map(|page| (request.kind, page)).boxed());
        let mut pages = stream::iter(reads.collect::<Vec<_>>()).flatten_unordered(REQUESTS_AT_ONCE);
        while let Some((kind, (objects, error))) = pages.next().await {
            failures.extend(error.map(|error| (kind, error)));
            self.counter.add(objects.len());
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let new = objects.into_iter().filter(|object| known.add(kind, object));
            snapshot.objects.extend(new.map(|object| cleaned(kind, object, self.redactor)));
        }
        drop(pages);
        requests.into_iter().flat_map(|request| request.answers).for_each(|query| snapshot.read.answer(query));
        failures
    }

    /// Reads the objects of a request, page by page.
    fn pages<'a>(&'a self, request: &'a PlannedRequest) -> BoxStream<'a, RequestResult> {
        let kind = request.kind;
        match &request.target {
            RequestTarget::List(query) => self.list(kind, query),
            RequestTarget::Object { namespace, name } => {
                stream::once(self.object(kind, namespace.as_deref(), name)).boxed()
            }
            RequestTarget::Deleting { expected } => stream::once(self.deleting(kind, *expected)).boxed(),
        }
    }

    fn list<'a>(&'a self, kind: ResourceKind, query: &'a ListQuery) -> BoxStream<'a, RequestResult> {
        let pages = pages(self.name, &self.access.client, kind, query, self.deadline);
        let results = pages.map(|page| match page {
            Ok(objects) => (objects, None),
            Err(error) => (Vec::new(), Some(error)),
        });
        results.inspect(|_| self.counter.request()).boxed()
    }

    /// Reads one object; nothing if there is none.
    async fn object(&self, kind: ResourceKind, namespace: Option<&str>, name: &str) -> RequestResult {
        self.counter.request();
        let api = kind.api(&self.access.client, namespace);
        let metadata = is_metadata_only(kind);
        let read = async {
            if metadata {
                let object = api.get_metadata_opt(name).await?;
                Ok(object.and_then(|object| serde_json::to_value(object).ok()))
            } else {
                Ok(api.get_opt(name).await?.and_then(|object| serde_json::to_value(object).ok()))
            }
        };
        match timeout_at(self.deadline, read).await {
            Ok(Ok(object)) => (object.into_iter().collect(), None),
            Ok(Err(error)) => (Vec::new(), Some(FleetError::api(self.name, format!("read {}", kind.plural))(error))),
            Err(_) => (Vec::new(), Some(self.late(kind))),
        }
    }

    /// Reads the objects that are being deleted. No request selects them, so that the metadata of all objects has to be listed, unless
    /// their number says that there are none.
    async fn deleting(&self, kind: ResourceKind, expected: usize) -> RequestResult {
        if self.count(kind).await == Some(expected) {
            return (Vec::new(), None);
        }
        let query = ListQuery { metadata_only: true, page_size: METADATA_OF_PAGE, ..list_of(kind) };
        let (mut deleted, mut error) = (Vec::new(), None);
        let mut pages = self.list(kind, &query);
        while let Some((objects, failed)) = pages.next().await {
            error = error.or(failed);
            for object in objects.iter().filter(|object| object.pointer("/metadata/deletionTimestamp").is_some()) {
                let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
                let Some(name) = text("/metadata/name") else { continue };
                let (found, failed) = self.object(kind, text("/metadata/namespace"), name).await;
                deleted.extend(found);
                error = error.or(failed);
            }
        }
        (deleted, error)
    }

    /// Returns the number of objects of a kind, if the API server tells: 0 if it doesn't serve the kind.
    async fn count(&self, kind: ResourceKind) -> Option<usize> {
        self.counter.request();
        let api = kind.api(&self.access.client, None);
        let first = ListParams::default().limit(1);
        match timeout_at(self.deadline, api.list_metadata(&first)).await.ok()? {
            Ok(list) if list.metadata.continue_.as_deref().unwrap_or_default().is_empty() => Some(list.items.len()),
            Ok(list) => {
                let remaining = usize::try_from(list.metadata.remaining_item_count?).ok()?;
                Some(list.items.len() + remaining)
            }
            Err(kube::Error::Api(status)) if status.code == 404 => Some(0),
            Err(_) => None,
        }
    }

    /// Converts failures to what the snapshot says of the kinds.
    pub(super) async fn unread(&self, mut failures: Failures) -> Vec<UnreadKind> {
        let mut seen = HashSet::new();
        failures.retain(|(kind, _)| seen.insert(*kind));
        unread_kinds(&self.access.client, &failures).await
    }

    fn late(&self, kind: ResourceKind) -> FleetError {
        let seconds = self.limit.as_secs();
        FleetError::List {
            cluster: self.name.to_owned(),
            resource: kind.plural.to_owned(),
            source: ListError::Late { seconds },
        }
    }
}
