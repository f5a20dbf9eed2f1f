//! Report of an upgrade as JSON, for scripts and for a later `--baseline`.

use record::UpgradeRecord;
use schemars::JsonSchema;
use serde::Serialize;

use super::report::UpgradeReport;
use crate::run::ReportError;
use crate::text::escaped_json;

/// Grows when a field goes away or changes its meaning; new fields leave it as it is.
///
/// 2: a scenario in flight that fails and wasn't tried without an upgrade breaks (`before`: `not_tried`), where 1 said that it had
/// failed without an upgrade as well; `counts.safe` counts only what was tried.
///
/// 3: the entries of scenarios are those of schema 3 of `run --json`.
pub(super) const SCHEMA: u32 = 3;

/// Differences that scenarios show before, across and after an upgrade, with all that they were made of.
#[derive(JsonSchema, Serialize)]
pub(super) struct JsonUpgradeReport<'a> {
    #[serde(flatten)]
    report: &'a UpgradeReport,
    /// The runs and changes of version that the differences were made of; absent in the output of `--output json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a UpgradeRecord>,
}

/// Returns the report with the whole record.
///
/// # Errors
/// Returns an error if the report can't be converted to JSON: a bug.
pub fn render(record: &UpgradeRecord, report: &UpgradeReport) -> Result<String, ReportError> {
    let text = serde_json::to_string_pretty(&JsonUpgradeReport { report, record: Some(record) });
    text.map(|text| escaped_json(text) + "\n")
        .map_err(|source| ReportError::Format { format: "JSON", source: source.into() })
}
