//! An upgrade's report as JSON: for scripts, and for `--baseline` later.

use serde::Serialize;

use super::record::UpgradeRecord;
use super::report::Report;
use crate::reporter::ReportError;

/// Grows when a field goes away or changes its meaning; new fields leave it as it is.
///
/// 2: a scenario in flight that fails and wasn't tried without an upgrade breaks (`before`: `not_tried`), where 1 said that it had
/// failed without an upgrade as well; `counts.safe` counts only what was tried.
const SCHEMA: u32 = 2;

#[derive(Serialize)]
struct Whole<'a> {
    schema: u32,
    #[serde(flatten)]
    report: &'a Report,
    record: &'a UpgradeRecord,
}

/// The report, and all that was seen.
///
/// # Errors
/// When it can't be put into JSON: a bug.
pub fn render(record: &UpgradeRecord, report: &Report) -> Result<String, ReportError> {
    let text = serde_json::to_string_pretty(&Whole { schema: SCHEMA, report, record });
    text.map(|text| text + "\n").map_err(|source| ReportError::Format { format: "JSON", source: source.into() })
}
