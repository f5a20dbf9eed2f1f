//! A list of which the pages are requested one after the other.

use std::time::Duration;

use clusters::retry::SenderRetries;
use kube::Client;
use kube::api::{DynamicObject, ListParams};
use kube::core::{Request, Resource, Status};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::ListQuery;
use super::answer::{self, ANSWER_BYTES, NoPage, Page};
use crate::error::FleetError;
use crate::kinds::ResourceKind;
use crate::list_error::ListError;
use crate::seen_objects::SeenObjects;

/// Bytes that a page should have at most. After a larger page the next one has fewer objects.
const PAGE_BYTES: usize = 16 << 20;

/// Divisor of a page's objects after an answer that was too large.
const LARGE_PAGE: u32 = 16;

/// Bytes that a list may have. A cluster's etcd has 2 GiB for everything, unless it is set to more.
const LIST_BYTES: usize = 4 << 30;

/// Time before a request is repeated, if the API server doesn't say. It doubles with each attempt.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Longest time before a request is repeated, if the API server doesn't say.
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// Rounds a number of seconds.
const HALF_A_SECOND: Duration = Duration::from_millis(500);

/// Attempts for a page that the API server can't give just now (503 and 504).
const ATTEMPTS: u32 = 4;

/// A list that is being read.
pub(super) struct PagedList<'a> {
    cluster: &'a str,
    client: &'a Client,
    kind: ResourceKind,
    query: &'a ListQuery,
    began: Instant,
    deadline: Instant,
    /// Objects that the next page may have.
    page_size: u32,
    position: Position,
    /// Bytes of the pages so far.
    bytes: usize,
    /// Objects that were given. Only a list that begins anew gives objects twice.
    given: SeenObjects,
    expiry: Expiry,
}

/// Next page of a list.
enum Position {
    First,
    After(String),
    End,
}

/// What was tried since a list expired (410).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expiry {
    /// Nothing: the last page was good.
    None,
    /// The list went on at the token that came with the error.
    WentOn,
    /// The list was begun anew. This is done once.
    BegunAnew,
}

impl<'a> PagedList<'a> {
    pub(super) fn new(
        cluster: &'a str,
        client: &'a Client,
        kind: ResourceKind,
        query: &'a ListQuery,
        deadline: Instant,
    ) -> Self {
        Self {
            cluster,
            client,
            kind,
            query,
            began: Instant::now(),
            deadline,
            page_size: query.page_size.max(1),
            position: Position::First,
            bytes: 0,
            given: SeenObjects::default(),
            expiry: Expiry::None,
        }
    }

    /// Returns the next page; `None` at the end of the list, and after an error.
    pub(super) async fn next(&mut self) -> Option<Result<Vec<Value>, FleetError>> {
        if matches!(self.position, Position::End) {
            return None;
        }
        match self.page().await {
            Ok(page) => Some(Ok(self.taken(page))),
            Err(error) => {
                self.position = Position::End;
                Some(Err(error))
            }
        }
    }

    /// Moves to the position after a page, and returns those of its objects that are new.
    fn taken(&mut self, page: Page) -> Vec<Value> {
        let count = page.objects.len();
        let mut objects = page.objects;
        objects.retain(|object| self.given.add(self.kind, object));
        self.page_size = next_size(self.query.page_size.max(1), count, page.bytes);
        self.position = page.next.map_or(Position::End, Position::After);
        if self.expiry == Expiry::WentOn {
            self.expiry = Expiry::None;
        }
        objects
    }

    /// Requests a page until there is one, or until it is clear that there will be none.
    async fn page(&mut self) -> Result<Page, FleetError> {
        let mut attempts = 0;
        loop {
            let (status, asked_wait) = match self.request().await? {
                Ok(page) => return self.checked(page),
                Err(NoPage::Unusable(error)) => return Err(self.failed(error)),
                Err(NoPage::TooLarge) if self.page_size > 1 => {
                    self.page_size = (self.page_size / LARGE_PAGE).max(1);
                    continue;
                }
                Err(NoPage::TooLarge) => return Err(self.failed(ListError::TooLarge { bytes: ANSWER_BYTES })),
                Err(NoPage::Refused(status, wait)) => (status, wait),
            };
            attempts += 1;
            match status.code {
                410 => {
                    self.restart(&status)?;
                    continue;
                }
                429 => {}
                503 | 504 if attempts < ATTEMPTS => {}
                _ => return Err(self.refused(status)),
            }
            let wait = asked_wait.unwrap_or_else(|| backoff(attempts));
            let Some(until) = Instant::now().checked_add(wait).filter(|until| *until < self.deadline) else {
                return Err(match status.code {
                    429 => self.failed(ListError::Throttled { seconds: self.seconds() }),
                    _ => self.refused(status),
                });
            };
            sleep_until(until).await;
        }
    }

    /// Checks that a page isn't one of a list without an end.
    fn checked(&mut self, page: Page) -> Result<Page, FleetError> {
        self.bytes = self.bytes.saturating_add(page.bytes);
        if self.bytes > LIST_BYTES {
            return Err(self.failed(ListError::TooLarge { bytes: LIST_BYTES }));
        }
        match (&self.position, &page.next) {
            (Position::After(token), Some(next)) if token == next => Err(self.failed(ListError::Endless)),
            _ => Ok(page),
        }
    }

    /// Decides how a list goes on that has expired.
    fn restart(&mut self, status: &Status) -> Result<(), FleetError> {
        let token = status.metadata.as_ref().and_then(|metadata| metadata.continue_.clone());
        (self.position, self.expiry) = match (token.filter(|token| !token.is_empty()), self.expiry) {
            (_, Expiry::BegunAnew) => return Err(self.failed(ListError::Expired)),
            (Some(token), Expiry::None) => (Position::After(token), Expiry::WentOn),
            (_, Expiry::None | Expiry::WentOn) => (Position::First, Expiry::BegunAnew),
        };
        Ok(())
    }

    /// Requests a page once.
    async fn request(&self) -> Result<Result<Page, NoPage>, FleetError> {
        let mut parameters = ListParams {
            label_selector: self.query.labels.clone(),
            field_selector: self.query.fields.clone(),
            limit: Some(self.page_size),
            ..ListParams::default()
        };
        if let Position::After(token) = &self.position {
            parameters.continue_token = Some(token.clone());
        }
        let namespace = self.query.namespace.as_deref().filter(|_| self.kind.namespaced);
        let request = Request::new(DynamicObject::url_path(&self.kind.resource(), namespace));
        let (request, expected) = if self.query.metadata_only {
            (request.list_metadata(&parameters), "PartialObjectMetadataList".to_owned())
        } else {
            (request.list(&parameters), format!("{}List", self.kind.kind))
        };
        let mut request = request.map_err(|error| self.failed_request(kube::Error::BuildRequest(error)))?;
        request.extensions_mut().insert(SenderRetries);
        let answer = async {
            let response = self.client.send(request.map(kube::client::Body::from)).await;
            Ok(answer::read(response.map_err(|error| self.failed_request(error))?, &expected).await)
        };
        match timeout_at(self.deadline, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(self.failed(ListError::Late { seconds: self.seconds() })),
        }
    }

    /// Time that the list had, in whole seconds.
    fn seconds(&self) -> u64 {
        (self.deadline.duration_since(self.began) + HALF_A_SECOND).as_secs()
    }

    fn action(&self) -> String {
        format!("list {}", self.kind.plural)
    }

    fn refused(&self, status: Box<Status>) -> FleetError {
        FleetError::api(self.cluster, self.action())(kube::Error::Api(status))
    }

    fn failed_request(&self, error: kube::Error) -> FleetError {
        self.failed(ListError::Request(Box::new(error)))
    }

    fn failed(&self, source: ListError) -> FleetError {
        FleetError::List { cluster: self.cluster.to_owned(), resource: self.kind.plural.to_owned(), source }
    }
}

fn backoff(attempts: u32) -> Duration {
    FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempts - 1)).min(LONGEST_WAIT)
}

/// Objects that the next page may have, after a page of so many objects and bytes.
fn next_size(most: u32, objects: usize, bytes: usize) -> u32 {
    if bytes <= PAGE_BYTES {
        return most;
    }
    u32::try_from(objects * PAGE_BYTES / bytes).unwrap_or(most).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_large_page_the_next_one_has_fewer_objects() {
        assert_eq!(next_size(500, 500, 1 << 20), 500);
        assert_eq!(next_size(500, 500, 500 * 1_400_000), 11);
        assert_eq!(next_size(500, 1, 64 << 20), 1);
        assert_eq!(next_size(500, 0, 64 << 20), 1);
    }

    #[test]
    fn waits_double_up_to_a_limit() {
        let waits: Vec<_> = (1..8).map(|attempt| backoff(attempt).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }
}
