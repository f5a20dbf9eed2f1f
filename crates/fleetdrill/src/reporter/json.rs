//! The run's record as JSON, for scripts and for comparing runs.

use serde::Serialize;
use steps::record::RunRecord;

/// Grows when a field goes away or changes its meaning; new fields leave it as it is.
const SCHEMA: u32 = 2;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    #[serde(flatten)]
    run: &'a RunRecord,
}

/// The report, pretty-printed.
pub(super) fn to_json(run: &RunRecord) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let mut text = serde_json::to_string_pretty(&Report { schema: SCHEMA, run })?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::fixture;

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(to_json(&fixture::run()).unwrap());
    }

    #[test]
    fn versions_are_a_map_and_were_a_list() {
        let run = fixture::run();
        let mut report: serde_json::Value = serde_json::from_str(&to_json(&run).unwrap()).unwrap();
        assert_eq!(report["schema"], 2);
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
