//! Reviews of access as Protobuf: clients in Go, such as kubectl, send them so. Only what the answer depends on is read.

use prost::{DecodeError, Message};
use serde_json::{Value, json};

/// First bytes of a Kubernetes object as Protobuf.
const MAGIC: &[u8] = b"k8s\0";

/// Envelope of an object: `Unknown` in `k8s.io/apimachinery/pkg/runtime/generated.proto`.
#[derive(Clone, PartialEq, Message)]
struct Unknown {
    #[prost(bytes = "vec", tag = "2")]
    raw: Vec<u8>,
}

/// `SelfSubjectAccessReview` in `k8s.io/api/authorization/v1/generated.proto`, as the messages below.
#[derive(Clone, PartialEq, Message)]
struct SelfSubjectAccessReview {
    #[prost(message, optional, tag = "2")]
    spec: Option<SelfSubjectAccessReviewSpec>,
}

#[derive(Clone, PartialEq, Message)]
struct SelfSubjectAccessReviewSpec {
    #[prost(message, optional, tag = "1")]
    resource_attributes: Option<Attributes>,
    #[prost(message, optional, tag = "2")]
    non_resource_attributes: Option<Attributes>,
}

/// `ResourceAttributes` and `NonResourceAttributes`, whose verbs have the same number.
#[derive(Clone, PartialEq, Message)]
struct Attributes {
    #[prost(string, tag = "2")]
    verb: String,
}

/// Returns the review as JSON; none if the body isn't a Kubernetes object as Protobuf.
pub(super) fn to_json(body: &[u8]) -> Option<Result<Value, DecodeError>> {
    body.strip_prefix(MAGIC).map(|envelope| {
        let review = SelfSubjectAccessReview::decode(Unknown::decode(envelope)?.raw.as_slice())?;
        let mut spec = json!({});
        let SelfSubjectAccessReviewSpec { resource_attributes, non_resource_attributes } =
            review.spec.unwrap_or_default();
        for (field, attributes) in
            [("resourceAttributes", resource_attributes), ("nonResourceAttributes", non_resource_attributes)]
        {
            if let Some(Attributes { verb }) = attributes {
                spec[field] = json!({"verb": verb});
            }
        }
        Ok(json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verb_is_read() {
        let spec = SelfSubjectAccessReviewSpec {
            resource_attributes: Some(Attributes { verb: "list".to_owned() }),
            non_resource_attributes: None,
        };
        let raw = SelfSubjectAccessReview { spec: Some(spec) }.encode_to_vec();
        let body = [MAGIC, &Unknown { raw }.encode_to_vec()].concat();
        let review = to_json(&body).expect("Protobuf").expect("a review");
        assert_eq!(review["spec"], json!({"resourceAttributes": {"verb": "list"}}));
        assert_eq!(review["kind"], "SelfSubjectAccessReview");
    }

    #[test]
    fn json_is_none_and_other_bytes_are_an_error() {
        assert!(to_json(b"{}").is_none());
        assert!(to_json(b"k8s\0\xff\xff").expect("Protobuf").is_err());
    }
}
