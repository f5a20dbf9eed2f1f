//! Writes the run's record as JSON, for scripts and for comparing runs.

use record::RunRecord;
use schemars::JsonSchema;
use serde::Serialize;

use crate::text::escaped_json;

/// Grows when a field goes away or changes its meaning; new fields leave it as it is.
///
/// 3: a transition has `place`, an object that says where in the object the condition stands, instead of the text `part`; a loss has
/// `object`, `member` and `how` instead of a sentence; a wait that failed is an entry `wait_failed` with what was seen last.
pub const SCHEMA: u32 = 3;

/// A run: what each scenario did and saw, in the order in which it happened.
#[derive(JsonSchema, Serialize)]
struct JsonRunReport<'a> {
    /// Number of the schema.
    schema: u32,
    #[serde(flatten)]
    run: &'a RunRecord,
}

/// Returns the report as pretty-printed JSON.
pub(super) fn to_json(run: &RunRecord) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let text = serde_json::to_string_pretty(&JsonRunReport { schema: SCHEMA, run })?;
    Ok(escaped_json(text) + "\n")
}

/// Returns the report as JSON in one line, without a line end.
///
/// # Errors
/// Returns an error if a path isn't UTF-8.
pub fn to_line(run: &RunRecord) -> serde_json::Result<String> {
    serde_json::to_string(&JsonRunReport { schema: SCHEMA, run })
}

#[cfg(test)]
mod tests {
    use schemas::DocumentSchema;
    use serde_json::Value;

    use super::*;
    use crate::run::fixture;

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(to_json(&fixture::run()).unwrap());
    }

    const PUBLISHED: DocumentSchema = DocumentSchema { document: "run", number: SCHEMA };

    fn document(run: &RunRecord) -> Value {
        serde_json::from_str(&to_json(run).unwrap()).unwrap()
    }

    #[test]
    fn schema_is_published() {
        PUBLISHED.publish::<JsonRunReport<'_>>("Run of fleetdrill (`fleetdrill run --json`)");
        PUBLISHED.check_that_changes_are_noticed(&document(&fixture::run()));
        PUBLISHED.check(&document(&fixture::run_with_false_alarms()));
    }

    #[test]
    fn scenarios_of_real_runs_are_as_the_schema_says() {
        for name in ["member_namespace_failed", "member_leaves_and_joins", "preemption"] {
            PUBLISHED.check(&document(&RunRecord { scenarios: vec![fixture::real(name)], ..fixture::run() }));
        }
    }

    #[test]
    fn versions_are_a_map_and_were_a_list() {
        let run = fixture::run();
        let mut report = document(&run);
        assert_eq!(report["schema"], 3);
        assert_eq!(report["versions"]["kubefleet"], "v0.1.2");
        report["versions"] =
            serde_json::json!([["kubefleet", "v0.1.2"], ["kubernetes", "v1.36.3"], ["etcd", "v3.6.4"]]);
        assert_eq!(serde_json::from_value::<RunRecord>(report).unwrap().versions, run.versions);
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let run = fixture::run();
        assert_eq!(serde_json::from_str::<RunRecord>(&to_json(&run).unwrap()).unwrap(), run);
    }
}
