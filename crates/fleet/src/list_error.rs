//! Reasons why a list isn't whole.

use thiserror::Error;

/// A list that isn't whole.
#[derive(Debug, Error)]
pub enum ListError {
    /// A page didn't arrive before the deadline.
    #[error("{}", late(*seconds))]
    Late {
        /// Time that the list had, in seconds.
        seconds: u64,
    },
    /// The API server throttled the requests until the deadline, or asks to wait longer than that.
    #[error("the API server throttles requests (429): no answer within {seconds} s")]
    Throttled {
        /// Time that the list had, in seconds.
        seconds: u64,
    },
    /// The list expired again and again.
    #[error("the list expired while it was read (410), and again after it was begun anew")]
    Expired,
    /// The answer isn't JSON.
    #[error("the answer is {}, not a list: a proxy may stand before the API server", content_type.as_deref().unwrap_or("no JSON"))]
    NotJson {
        /// Media type that the answer claims, unless it claims to be JSON.
        content_type: Option<String>,
    },
    /// The answer ends in the middle.
    #[error("the answer is cut short after {bytes} bytes")]
    CutShort {
        /// Length of the answer, in bytes.
        bytes: usize,
    },
    /// The answer is JSON, but no list of the kind.
    #[error("the answer is no {expected}, but {}", found.as_deref().unwrap_or("something else"))]
    OtherKind {
        /// Kind that the answer should have.
        expected: String,
        /// Kind that the answer has, if it has one.
        found: Option<String>,
    },
    /// The answer, or the whole list, is larger than any API server's.
    #[error("it has more than {} MiB", bytes >> 20)]
    TooLarge {
        /// Limit in bytes.
        bytes: usize,
    },
    /// The API server gives the token of the page that it was asked for as that of the next page.
    #[error("the list has no end: after a page follows the same page")]
    Endless,
    /// The connection failed.
    #[error(transparent)]
    Request(Box<kube::Error>),
}

/// Says that a list had too little time; none at all if others have used it up.
fn late(seconds: u64) -> String {
    if seconds == 0 { "no time was left for it".to_owned() } else { format!("no answer within {seconds} s") }
}
