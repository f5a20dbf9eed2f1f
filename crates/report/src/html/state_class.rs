//! Colours of states in drawings, as CSS classes.

use record::DELETION;

/// Kind whose states aren't called True, False and Unknown.
const APPLICATION: &str = "Application";

/// Returns the class of a state: `true`, `false` or `unknown`. A condition of KubeFleet has it by its status. Of an Application, `true` is
/// what an operator wants, `false` is a failure or a difference, and `unknown` is neither; its own conditions are errors and warnings,
/// which count as failures while they are there.
pub(super) fn class(kind: &str, condition: &str, status: &str) -> &'static str {
    match (kind, condition, status) {
        (APPLICATION, "sync", "Synced")
        | (APPLICATION, "health", "Healthy")
        | (APPLICATION, "operation", "Succeeded")
        | (APPLICATION, "result", "Synced" | "Pruned" | "") => "true",
        (APPLICATION, "sync", "OutOfSync")
        | (APPLICATION, "health", "Degraded" | "Missing")
        | (APPLICATION, "operation", "Failed" | "Error")
        | (APPLICATION, "result", "SyncFailed") => "false",
        (APPLICATION, "sync" | "health" | "operation" | "result" | DELETION, _) => "unknown",
        (APPLICATION, _, "True") | (_, _, "False") => "false",
        (_, _, "True") => "true",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn an_application_says_in_words_how_it_is() {
        for (condition, status, expected) in [
            ("sync", "Synced", "true"),
            ("sync", "Unknown", "unknown"),
            ("health", "Progressing", "unknown"),
            ("operation", "Error", "false"),
            ("ComparisonError", "True", "false"),
        ] {
            assert_eq!(class("Application", condition, status), expected, "{condition} {status}");
        }
        assert_eq!(class("ClusterResourcePlacement", "Applied", "True"), "true");
        assert_eq!(class("ClusterResourcePlacement", "Applied", "False"), "false");
    }
}
