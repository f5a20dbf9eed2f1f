//! Answers of API servers to the request for a page, and of what poses as one.

use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use kube::core::Status;
use serde::Deserialize;
use serde_json::Value;

use crate::list_error::ListError;

/// Bytes that an answer may have. Objects have up to 1.5 MiB in etcd.
pub(super) const ANSWER_BYTES: usize = 64 << 20;

/// Bytes of a text that are kept from an answer that refuses a request.
const REFUSAL_BYTES: usize = 300;

/// A page of a list.
#[derive(Debug)]
pub(super) struct Page {
    /// Objects, as the API server gave them.
    pub(super) objects: Vec<Value>,
    /// Token for the next page, if there is one.
    pub(super) next: Option<String>,
    /// Length of the answer, in bytes.
    pub(super) bytes: usize,
}

/// An answer other than a page.
#[derive(Debug)]
pub(super) enum NoPage {
    /// The API server refused the request. It may have said how long to wait.
    Refused(Box<Status>, Option<Duration>),
    /// The answer is larger than it may be.
    TooLarge,
    /// The answer isn't an API server's.
    Unusable(ListError),
}

#[derive(Deserialize)]
struct ListAnswer {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    metadata: ListMetadata,
    // An empty list of some servers is null.
    #[serde(default)]
    items: Option<Vec<Value>>,
}

#[derive(Default, Deserialize)]
struct ListMetadata {
    #[serde(default, rename = "continue")]
    next: Option<String>,
}

/// Reads a page from an answer. `expected` is the kind of the list.
pub(super) async fn read(response: Response<Body>, expected: &str) -> Result<Page, NoPage> {
    let (parts, body) = response.into_parts();
    let body = match Limited::new(body, ANSWER_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => {
            return Err(match error.downcast::<kube::Error>() {
                Ok(error) => NoPage::Unusable(ListError::Request(error)),
                // The other error of a limited body is that of its length.
                Err(_) => NoPage::TooLarge,
            });
        }
    };
    if !parts.status.is_success() {
        return Err(refusal(parts.status, &parts.headers, &body));
    }
    match serde_json::from_slice::<ListAnswer>(&body) {
        // serde reads a structure from an array, too.
        Ok(_) if !begins_as_object(&body) => Err(NoPage::Unusable(other_kind(expected, None))),
        Ok(list) if list.kind.as_deref().map_or(list.items.is_some(), |kind| kind == expected) => Ok(Page {
            objects: list.items.unwrap_or_default(),
            next: list.metadata.next.filter(|token| !token.is_empty()),
            bytes: body.len(),
        }),
        Ok(other) => Err(NoPage::Unusable(other_kind(expected, other.kind.as_deref()))),
        Err(error) => Err(NoPage::Unusable(unusable(&error, expected, &parts.headers, &body))),
    }
}

/// Says why an answer isn't a list. serde's own message quotes the answer, which may hold secrets.
fn unusable(error: &serde_json::Error, expected: &str, headers: &HeaderMap, body: &[u8]) -> ListError {
    let media_type = media_type(headers);
    let is_json = media_type.as_deref().is_none_or(|media_type| media_type.ends_with("json"));
    if error.is_data() {
        let found = serde_json::from_slice::<Value>(body).ok();
        let kind = found.as_ref().and_then(|found| found.get("kind")).and_then(Value::as_str);
        other_kind(expected, kind)
    } else if is_json && (body.is_empty() || begins_as_object(body) && error.is_eof()) {
        ListError::CutShort { bytes: body.len() }
    } else {
        ListError::NotJson { content_type: media_type.filter(|_| !is_json) }
    }
}

fn begins_as_object(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'{')
}

/// The kind is only quoted if it looks like one.
fn other_kind(expected: &str, found: Option<&str>) -> ListError {
    let is_kind = |kind: &&str| kind.len() <= 63 && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    ListError::OtherKind {
        expected: expected.to_owned(),
        found: found.filter(is_kind).filter(|kind| *kind != expected).map(str::to_owned),
    }
}

/// Builds the status of a refusal. API servers send one; their filters for too many requests send a line of text, and
/// proxies a page of HTML, which isn't quoted.
fn refusal(code: StatusCode, headers: &HeaderMap, body: &[u8]) -> NoPage {
    let status = serde_json::from_slice::<Status>(body).ok().filter(Status::is_failure);
    let mut status = status.unwrap_or_else(|| Status::failure(&text_of(code, headers, body), ""));
    status.code = code.as_u16();
    let asked = headers.get(RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.trim().parse::<u64>().ok());
    let in_status = status.details.as_ref().map(|details| u64::from(details.retry_after_seconds));
    let wait = asked.or(in_status.filter(|seconds| *seconds > 0)).map(Duration::from_secs);
    NoPage::Refused(status.boxed(), wait)
}

fn text_of(code: StatusCode, headers: &HeaderMap, body: &[u8]) -> String {
    let media_type = media_type(headers);
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    let line = text.lines().next().unwrap_or_default();
    match media_type.as_deref() {
        Some("text/plain") | None if !line.is_empty() && line.len() <= REFUSAL_BYTES && !line.starts_with('<') => {
            line.to_owned()
        }
        Some(media_type) if media_type != "text/plain" => format!("HTTP status {code}, with {media_type}"),
        _ => format!("HTTP status {code}"),
    }
}

/// Media type of an answer, e.g. `text/html`, if it looks like one.
fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/.+-".contains(&byte);
    (media_type.len() <= 63 && media_type.contains('/') && media_type.bytes().all(allowed)).then_some(media_type)
}
