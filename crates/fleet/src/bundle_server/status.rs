//! Errors of the API server, as the `Status` objects that clients print.

use http::StatusCode;
use serde_json::{Value, json};
use thiserror::Error;

use super::resource::ServedResource;

/// Reason why a request has no other answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ApiError {
    /// The request has no token, or a wrong one.
    #[error("Unauthorized")]
    Unauthorized,
    /// The path names nothing that a bundle serves.
    #[error("the server could not find the requested resource")]
    NoResource,
    /// There is no object of this name.
    #[error("{resource} \"{name}\" not found")]
    NotFound {
        /// Plural name of the resource, with its group.
        resource: String,
        /// Name of the object.
        name: String,
    },
    /// The objects aren't in the bundle, by intention or because they couldn't be read.
    #[error("{resource} is forbidden: {why}")]
    NotInBundle {
        /// Plural name of the resource, with its group.
        resource: String,
        /// Reason.
        why: String,
    },
    /// Nothing of the cluster is in the bundle.
    #[error("the cluster couldn't be read when the bundle was taken: {0}")]
    ClusterUnread(String),
    /// The request would change something.
    #[error("a bundle is read-only: it answers get, list and watch")]
    ReadOnly,
    /// A parameter can't be parsed, or asks for something that a bundle doesn't have.
    #[error("{0}")]
    BadRequest(String),
}

impl ApiError {
    pub(super) fn not_found(resource: &ServedResource, name: &str) -> Self {
        Self::NotFound { resource: resource.full_name(), name: name.to_owned() }
    }

    pub(super) fn code(&self) -> StatusCode {
        match self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NoResource | Self::NotFound { .. } => StatusCode::NOT_FOUND,
            Self::NotInBundle { .. } => StatusCode::FORBIDDEN,
            Self::ClusterUnread(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::ReadOnly => StatusCode::METHOD_NOT_ALLOWED,
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
        }
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::Unauthorized => "Unauthorized",
            Self::NoResource | Self::NotFound { .. } => "NotFound",
            Self::NotInBundle { .. } => "Forbidden",
            Self::ClusterUnread(_) => "ServiceUnavailable",
            Self::ReadOnly => "MethodNotAllowed",
            Self::BadRequest(_) => "BadRequest",
        }
    }

    /// Returns the error as a `Status` object.
    pub(super) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.to_string(), "reason": self.reason(), "code": self.code().as_u16(),
        });
        if let Self::NotFound { resource, name } = self {
            let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
            status["details"] = json!({"name": name, "group": group, "kind": plural});
        }
        status
    }
}
