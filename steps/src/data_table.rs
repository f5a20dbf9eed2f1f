//! Gherkin's data tables: rows of cells under a header of columns that the step knows.

use cucumber::gherkin::Step;

use crate::error::StepError;
use crate::needs::TableShape;

impl TableShape {
    /// Returns what is wrong with a step's table; nothing where the table is right, or may be left out and is.
    #[must_use]
    pub fn problem(&self, step: &Step) -> Option<String> {
        if self.optional && step.table.is_none() {
            return None;
        }
        DataTable::of(step, self).err().map(|error| error.to_string())
    }
}

/// A step's table.
pub(crate) struct DataTable<'a> {
    header: &'a [String],
    rows: &'a [Vec<String>],
}

/// Row of a step's table.
pub(crate) struct DataTableRow<'a> {
    header: &'a [String],
    cells: &'a [String],
}

impl<'a> DataTable<'a> {
    /// Returns the table that a step has.
    ///
    /// # Errors
    /// When there is none, it is empty, or a column is another one.
    pub fn of(step: &'a Step, shape: &TableShape) -> Result<Self, StepError> {
        let TableShape { rows: what, columns, .. } = shape;
        let table = step.table.as_ref();
        let table = table.ok_or_else(|| StepError::Feature(format!("this step needs a table of {what}")))?;
        let [header, rows @ ..] = &table.rows[..] else {
            return Err(StepError::Feature(format!("the table of {what} is empty")));
        };
        if let Some(unknown) = header.iter().find(|h| !columns.contains(&h.as_str())) {
            let columns = columns.join(", ");
            return Err(StepError::Feature(format!("the table has a column `{unknown}`; there are: {columns}")));
        }
        Ok(Self { header, rows })
    }

    /// Rows of the table, without the header.
    pub fn rows(&self) -> impl Iterator<Item = DataTableRow<'a>> + use<'a> {
        let header = self.header;
        self.rows.iter().map(move |cells| DataTableRow { header, cells })
    }
}

impl<'a> DataTableRow<'a> {
    /// Returns the cell of a column; `None` if the cell is empty or there is no such column.
    pub fn cell(&self, column: &str) -> Option<&'a str> {
        let at = self.header.iter().position(|h| h == column)?;
        self.cells.get(at).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    /// Returns the cell of a column that each row must have.
    ///
    /// # Errors
    /// When the cell is empty or there is no such column.
    pub fn needed(&self, column: &str) -> Result<&'a str, StepError> {
        self.cell(column).ok_or_else(|| StepError::Feature(format!("a row has no `{column}`")))
    }
}

#[cfg(test)]
mod tests {
    use crate::needs::needs;

    fn told(step: &str) -> Option<String> {
        let text = format!("Feature: f\n  Scenario: s\n    Then {step}\n");
        let feature = cucumber::gherkin::Feature::parse(text, cucumber::gherkin::GherkinEnv::default());
        let step = &feature.expect("a feature").scenarios[0].steps[0];
        needs(step).table?.problem(step)
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
