//! Answers of the API server about an object that an admission webhook or policy denies.

use std::sync::LazyLock;

use regex::Regex;

use crate::rules::pattern::{group, pattern};

static WEBHOOK_DENIED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"(?s)admission webhook "(?<webhook>[^"]+)" denied the request(?::| without explanation)?\s*(?<why>.*)"#)
});
static UNREACHABLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?s)failed calling webhook "(?<webhook>[^"]+)":?\s*(?<why>.*)"#));
static POLICY_DENIED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?s)ValidatingAdmissionPolicy '(?<policy>[^']+)' with binding '(?<binding>[^']+)' denied request:?\s*(?<why>.*)",
    )
});

/// Denial of a resource by an admission webhook or policy, with the reason in the API server's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum AdmissionDenial<'a> {
    Webhook { name: &'a str, why: &'a str },
    Unreachable { name: &'a str, why: &'a str },
    Policy { name: &'a str, binding: &'a str, why: &'a str },
}

/// Reads a denial from the API server's message; `None` if the message is about something else.
pub(in crate::rules) fn read_denial(message: &str) -> Option<AdmissionDenial<'_>> {
    if let Some(found) = WEBHOOK_DENIED.captures(message) {
        return Some(AdmissionDenial::Webhook { name: group(&found, "webhook"), why: group(&found, "why") });
    }
    if let Some(found) = POLICY_DENIED.captures(message) {
        let (name, binding) = (group(&found, "policy"), group(&found, "binding"));
        return Some(AdmissionDenial::Policy { name, binding, why: group(&found, "why") });
    }
    let found = UNREACHABLE.captures(message)?;
    Some(AdmissionDenial::Unreachable { name: group(&found, "webhook"), why: group(&found, "why") })
}

#[cfg(test)]
mod tests {
    use super::{AdmissionDenial, read_denial};

    #[test]
    fn webhooks_and_policies_are_told_apart_and_so_is_one_that_is_down() {
        let denied = r#"admission webhook "w.example.com" denied the request: no: latest"#;
        assert_eq!(read_denial(denied), Some(AdmissionDenial::Webhook { name: "w.example.com", why: "no: latest" }));
        let policy =
            "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
        assert_eq!(read_denial(policy), Some(AdmissionDenial::Policy { name: "p", binding: "b", why: "no" }));
        let down =
            r#"Internal error occurred: failed calling webhook "w": failed to call webhook: Post "https://x": refused"#;
        let why = r#"failed to call webhook: Post "https://x": refused"#;
        assert_eq!(read_denial(down), Some(AdmissionDenial::Unreachable { name: "w", why }));
        assert_eq!(read_denial("Deployment.apps \"web\" is invalid"), None);
    }
}
