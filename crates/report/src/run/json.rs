//! Writes the run's record as JSON, for scripts and for comparing runs.

use record::RunRecord;
use serde::Serialize;

/// Grows when a field goes away or changes its meaning; new fields leave it as it is.
///
/// 3: a transition has `place`, an object that says where in the object the condition stands, instead of the text `part`; a loss has
/// `object`, `member` and `how` instead of a sentence; a wait that failed is an entry `wait_failed` with what was seen last.
pub const SCHEMA: u32 = 3;

#[derive(Serialize)]
struct JsonRunReport<'a> {
    schema: u32,
    #[serde(flatten)]
    run: &'a RunRecord,
}

/// Returns the report as pretty-printed JSON.
pub(super) fn to_json(run: &RunRecord) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let mut text = serde_json::to_string_pretty(&JsonRunReport { schema: SCHEMA, run })?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(to_json(&fixture::run()).unwrap());
    }

    #[test]
    fn versions_are_a_map_and_were_a_list() {
        let run = fixture::run();
        let mut report: serde_json::Value = serde_json::from_str(&to_json(&run).unwrap()).unwrap();
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
