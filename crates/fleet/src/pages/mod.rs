//! Lists of a kind, page by page.
//!
//! [`pages`] gives each page as it comes, so that nobody has to hold a whole list. It copes with the bad days of API
//! servers: a list that expires in the middle (410) goes on at the token that the server gives, or begins once again;
//! a request that is throttled (429) is repeated as the server asks; an answer that is no list says so, without quoting
//! it; and at its deadline a list ends with what it has and the reason.
//!
//! Nothing is redacted here: [`cleaned`] does that, object by object.

mod answer;
mod list;
#[cfg(test)]
mod tests;
mod unread;

use futures::{Stream, StreamExt, stream};
use kube::Client;
use serde_json::Value;
use tokio::time::Instant;

pub(crate) use unread::of_error;
pub use unread::unread;

use crate::error::FleetError;
use crate::kinds::{CRD, ResourceKind};
pub use crate::list_error::ListError;
use crate::redact::Redactor;

/// Objects that a page has at most, unless a query says otherwise. kubectl uses the same number.
pub const PAGE_SIZE: u32 = 500;

/// Selects the objects of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    /// Namespace; `None` for all.
    pub namespace: Option<String>,
    /// Label selector, e.g. `app=web,tier!=db`.
    pub labels: Option<String>,
    /// Field selector, e.g. `metadata.name=web`.
    pub fields: Option<String>,
    /// True if only the objects' metadata is read.
    pub metadata_only: bool,
    /// Objects that a page has at most.
    pub page_size: u32,
}

impl Default for ListQuery {
    fn default() -> Self {
        Self { namespace: None, labels: None, fields: None, metadata_only: false, page_size: PAGE_SIZE }
    }
}

impl ListQuery {
    /// Selects all objects of a kind, as snapshots and bundles have them: of CRDs only the metadata. Their schemas are larger than
    /// everything else together, and nothing reads them.
    #[must_use]
    pub fn all_of(kind: ResourceKind) -> Self {
        Self { metadata_only: kind == CRD, ..Self::default() }
    }
}

/// Lists the objects of a kind page by page, until the deadline. Objects are as the API server gave them: items of
/// built-in kinds have neither `apiVersion` nor `kind`.
///
/// After an error the stream ends. The pages before an error are good: no object comes twice, though the list may
/// lack objects that were created while it was read.
///
/// # Errors
/// The last item is an error if the list isn't whole. A kind that the API server doesn't serve is a
/// [status](FleetError::status) 404, a refusal 401 or 403; the rest is a [`FleetError::List`].
pub fn pages<'a>(
    cluster: &'a str,
    client: &'a Client,
    kind: ResourceKind,
    query: &'a ListQuery,
    deadline: Instant,
) -> impl Stream<Item = Result<Vec<Value>, FleetError>> + Send + 'a {
    let list = list::PagedList::new(cluster, client, kind, query, deadline);
    stream::unfold(list, |mut list| async move { list.next().await.map(|page| (page, list)) })
}

/// Lists all objects of a kind. Returns what came before the deadline, and the reason if that isn't everything.
pub async fn all(
    cluster: &str,
    client: &Client,
    kind: ResourceKind,
    query: &ListQuery,
    deadline: Instant,
) -> (Vec<Value>, Option<FleetError>) {
    let mut pages = std::pin::pin!(pages(cluster, client, kind, query, deadline));
    let (mut objects, mut error) = (Vec::new(), None);
    while let Some(page) = pages.next().await {
        match page {
            Ok(page) => objects.extend(page),
            Err(reason) => error = Some(reason),
        }
    }
    (objects, error)
}

/// Prepares an item of a list for a snapshot or a bundle: adds apiVersion and kind, which most items don't have, reduces
/// managedFields to who wrote when, and removes secrets.
#[must_use]
pub fn cleaned(kind: ResourceKind, object: Value, redactor: &Redactor) -> Value {
    cleaned_as(&kind.api_version(), kind.kind, object, redactor)
}

/// Like [`cleaned`], for a kind that has no address in [`crate::kinds`].
#[must_use]
pub fn cleaned_as(api_version: &str, kind: &str, mut object: Value, redactor: &Redactor) -> Value {
    let writes = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
    for write in writes.into_iter().flatten().filter_map(Value::as_object_mut) {
        write.shift_remove("fieldsV1");
    }
    if let Value::Object(fields) = &mut object {
        fields.insert("apiVersion".into(), api_version.into());
        fields.insert("kind".into(), kind.into());
    }
    redactor.object(&mut object);
    object
}
