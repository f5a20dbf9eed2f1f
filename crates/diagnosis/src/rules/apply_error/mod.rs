//! Reasons for which a member's API server refuses an object.
//!
//! The member agent turns the API server's answer into a part of a sentence (`NewAPIServerError`, v0.1.2 to v0.3.1), so that only
//! the words are left of it. The words are Kubernetes's own (v1.36), as in what Argo CD quotes of an API server.

mod admission;
mod immutable;
mod rights;

use std::sync::LazyLock;

use regex::Regex;

pub(super) use admission::{AdmissionDenial, read_denial};
pub(super) use immutable::is_immutable_field;
pub(super) use rights::{RefusedRequest, read_refusal};

use super::pattern::{group, pattern};

/// Reason for which an API server refuses an object, with the names that its answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApplyError<'m> {
    /// The object's namespace doesn't exist.
    NoNamespace,
    /// The object's namespace is being deleted.
    NamespaceDeleted,
    /// The `ResourceQuota` of this name doesn't allow another object, or not so large a one.
    Quota(&'m str),
    /// A policy or a webhook denies the object, or the webhook can't be called.
    Admission(AdmissionDenial<'m>),
    /// The agent lacks a right.
    Forbidden(RefusedRequest<'m>),
    /// The field manager of this name owns a field (server-side apply).
    Conflict(&'m str),
    /// A field can't be changed any more.
    Immutable,
    /// The member agent names its `AppliedWork` as an owner without a uid, because its cache didn't have the `AppliedWork` yet (v0.1.2;
    /// corrected in v0.2). Its next attempt succeeds.
    OwnerWithoutUid,
    /// The object isn't valid.
    Invalid,
}

impl<'m> ApplyError<'m> {
    /// Recognizes the reason in a message of the member agent.
    pub fn of(message: &'m str) -> Option<Self> {
        if NO_NAMESPACE.is_match(message) {
            return Some(Self::NoNamespace);
        }
        if TERMINATING.is_match(message) {
            return Some(Self::NamespaceDeleted);
        }
        if let Some(found) = QUOTA.captures(message) {
            return Some(Self::Quota(group(&found, "quota")));
        }
        if let Some(denial) = read_denial(message) {
            return Some(Self::Admission(denial));
        }
        if let Some(refused) = read_refusal(message) {
            return Some(Self::Forbidden(refused));
        }
        if let Some(found) = CONFLICT.captures(message) {
            return Some(Self::Conflict(group(&found, "manager")));
        }
        if is_immutable_field(message) {
            return Some(Self::Immutable);
        }
        if OWNER_WITHOUT_UID.is_match(message) {
            return Some(Self::OwnerWithoutUid);
        }
        INVALID.is_match(message).then_some(Self::Invalid)
    }
}

/// `NotFound` of a request for something in a namespace (plugin `NamespaceLifecycle`).
static NO_NAMESPACE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(?i)\bnamespaces? "[^"]+" not found"#));

/// Forbidden by the plugin `NamespaceLifecycle`.
static TERMINATING: LazyLock<Regex> = LazyLock::new(|| pattern("(?i)because it is being terminated"));

/// Forbidden by the plugin `ResourceQuota`: `exceeded quota: NAME, requested: ...`, `failed quota: NAME: must specify ...`,
/// `status unknown for quota: NAME, resources: ...`.
static QUOTA: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:exceeded|failed|status unknown for) quota: (?<quota>[a-z0-9.-]*[a-z0-9])"));

/// Conflict of server-side apply: `Apply failed with 1 conflict: conflict with "MANAGER" using v1: .data.x`.
static CONFLICT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"Apply failed with \d+ conflicts?: conflicts? with "(?<manager>[^"]+)""#));

/// Validation of the object's metadata. No user can cause it, since the member agent writes the ownerReferences.
static OWNER_WITHOUT_UID: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"metadata\.ownerReferences(?:\[\d+\])?\.uid: Invalid value: """#));

/// Invalid by another validation than that of immutable fields, or `BadRequest` of the decoder.
static INVALID: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"" is invalid: |cannot be handled as a |strict decoding error|failed to create typed patch object"#)
});

#[cfg(test)]
mod tests {
    use super::ApplyError;

    #[test]
    fn an_object_that_was_never_refused_has_no_reason() {
        assert_eq!(ApplyError::of("the object is already owned by some other sources(s)"), None);
        assert_eq!(ApplyError::of(""), None);
    }

    #[test]
    fn several_conflicts_have_the_first_manager() {
        let message = "Apply failed with 2 conflicts: conflicts with \"kubectl-edit\" using v1:\n- .data.a\n- .data.b";
        assert_eq!(ApplyError::of(message), Some(ApplyError::Conflict("kubectl-edit")));
    }

    #[test]
    fn a_quota_without_a_status_is_a_quota() {
        let message = "services \"x\" is forbidden: status unknown for quota: objects.small, resources: services";
        assert_eq!(ApplyError::of(message), Some(ApplyError::Quota("objects.small")));
        let message = "pods \"x\" is forbidden: failed quota: cpu: must specify limits.cpu for: app";
        assert_eq!(ApplyError::of(message), Some(ApplyError::Quota("cpu")));
    }
}
