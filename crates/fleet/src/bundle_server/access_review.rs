//! Reviews of access, which clients ask for before they show something.

use serde_json::{Value, json};

use super::protobuf_review;
use super::status::ApiError;

/// Verbs that a bundle answers.
const VERBS: [&str; 3] = ["get", "list", "watch"];

/// Answers a `SelfSubjectAccessReview`: whoever has the token may read everything, and change nothing.
pub(super) fn answer(body: &[u8]) -> Result<Value, ApiError> {
    let mut review: Value = match protobuf_review::to_json(body) {
        Some(review) => review.map_err(|error| ApiError::BadRequest(format!("the review isn't Protobuf: {error}")))?,
        None => serde_json::from_slice(body)
            .map_err(|error| ApiError::BadRequest(format!("the review isn't JSON: {error}")))?,
    };
    if !review.is_object() {
        return Err(ApiError::BadRequest("the review is no object".to_owned()));
    }
    let attributes = ["resourceAttributes", "nonResourceAttributes"];
    let verb = attributes.iter().find_map(|field| review["spec"][field]["verb"].as_str()).unwrap_or_default();
    let allowed = VERBS.contains(&verb);
    let mut status = json!({"allowed": allowed});
    if !allowed {
        status["reason"] = ApiError::ReadOnly.to_string().into();
    }
    review["status"] = status;
    Ok(review)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_is_allowed_and_nothing_else() {
        let answered = |attributes: &str, verb: &str| {
            let review = json!({"kind": "SelfSubjectAccessReview", "spec": {attributes: {"verb": verb}}});
            answer(review.to_string().as_bytes()).expect("an answer")["status"].clone()
        };
        for verb in VERBS {
            assert_eq!(answered("resourceAttributes", verb), json!({"allowed": true}), "{verb}");
        }
        for verb in ["delete", "*", ""] {
            assert_eq!(answered("resourceAttributes", verb)["allowed"], false, "{verb}");
        }
        assert_eq!(answered("nonResourceAttributes", "get")["allowed"], true);
        assert!(answer(b"[]").is_err() && answer(b"{").is_err());
    }
}
