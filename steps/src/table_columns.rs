//! Columns of tables, checked before a scenario begins: the same columns that the steps themselves insist on.

use std::sync::LazyLock;

use cucumber::gherkin::Step;
use regex::Regex;

use crate::data_table::DataTable;
use crate::{application, reports, results, update_run, workload};

/// The table that steps of one shape take.
struct TableShape {
    /// What the step's text matches.
    text: Regex,
    /// What the rows are.
    what: &'static str,
    /// The columns there are.
    columns: &'static [&'static str],
    /// Whether the step can do without a table.
    optional: bool,
}

/// The first shape that fits a step's text counts.
static TABLES: LazyLock<Vec<TableShape>> = LazyLock::new(|| {
    let table = |text: &str, what, columns, optional| {
        Regex::new(text).ok().map(|text| TableShape { text, what, columns, optional })
    };
    [
        table("^a staged update strategy \"", "stages", &update_run::COLUMNS[..], false),
        table("^application \"[^\"]*\" reports$", "fields", &application::FIELD_COLUMNS, false),
        table(" reports$| goes on reporting for [0-9]+ seconds$", "conditions", &reports::COLUMNS, false),
        table("^placement \"[^\"]*\" lists as failed$", "failed objects", &workload::COLUMNS, false),
        table(
            "^the sync of application \"[^\"]*\" reports of its resources$",
            "resources",
            &results::SYNC_COLUMNS,
            false,
        ),
        table("^application \"[^\"]*\" lists its resources$", "resources", &results::LIST_COLUMNS, false),
        table(
            "(?:^| )(?:placement|update run|application|member|stage|for) \"[^\"]*\" has$",
            "fields",
            &["field", "value"],
            false,
        ),
        table("^(?:within [0-9]+ seconds )?the diagnosis of .* is [A-Z]", "evidence", &["object", "value"], true),
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// What is wrong with a step's table, for people; nothing where the table is right or nothing is known of it.
#[must_use]
pub fn problem(step: &Step) -> Option<String> {
    let table = TABLES.iter().find(|table| table.text.is_match(&step.value))?;
    if table.optional && step.table.is_none() {
        return None;
    }
    DataTable::of(step, table.what, table.columns).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::problem;

    fn told(step: &str) -> Option<String> {
        let text = format!("Feature: f\n  Scenario: s\n    Then {step}\n");
        let feature = cucumber::gherkin::Feature::parse(text, cucumber::gherkin::GherkinEnv::default());
        problem(&feature.expect("a feature").scenarios[0].steps[0])
    }

    #[test]
    fn a_column_that_there_is_none_of_is_named() {
        let columns = "on, condition, status, reason, message, observedGeneration";
        assert_eq!(
            told("update run \"r\" reports\n      | on | condition | state |\n      | | Succeeded | True |"),
            Some(format!("the table has a column `state`; there are: {columns}"))
        );
        assert_eq!(told("update run \"r\" reports"), Some("this step needs a table of conditions".to_owned()));
        assert_eq!(
            told("application \"a\" reports\n      | on | value |\n      | x | y |"),
            Some("the table has a column `on`; there are: field, value".to_owned())
        );
        assert_eq!(
            told("the diagnosis of update run \"r\" is KF-UR-001\n      | objects | value |\n      | x | y |"),
            Some("the table has a column `objects`; there are: object, value".to_owned())
        );
    }

    #[test]
    fn other_steps_are_left_alone() {
        assert_eq!(told("the diagnosis of update run \"r\" is KF-UR-001"), None);
        assert_eq!(told("\"kubectl get csur\" shows update run \"r\"\n      | NAME |\n      | {r} |"), None);
        assert_eq!(told("placement \"web\" becomes available on \"member-1\""), None);
    }
}
