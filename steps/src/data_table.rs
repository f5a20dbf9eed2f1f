//! Gherkin's data tables: rows of cells under a header of columns that the step knows.

use cucumber::gherkin::Step;

use crate::error::StepError;

/// A step's table.
pub(crate) struct DataTable<'a> {
    header: &'a [String],
    rows: &'a [Vec<String>],
}

/// One of its rows.
pub(crate) struct Row<'a> {
    header: &'a [String],
    cells: &'a [String],
}

impl<'a> DataTable<'a> {
    /// The table of `what` that a step has, each of whose columns is one of `columns`.
    ///
    /// # Errors
    /// When there is none, it is empty, or a column is another one.
    pub fn of(step: &'a Step, what: &str, columns: &[&str]) -> Result<Self, StepError> {
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

    /// Its rows, without the header.
    pub fn rows(&self) -> impl Iterator<Item = Row<'a>> + use<'a> {
        let header = self.header;
        self.rows.iter().map(move |cells| Row { header, cells })
    }
}

impl<'a> Row<'a> {
    /// What stands under a column; nothing where the cell is empty or there is no such column.
    pub fn cell(&self, column: &str) -> Option<&'a str> {
        let at = self.header.iter().position(|h| h == column)?;
        self.cells.get(at).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    /// What stands under a column that no row can do without.
    ///
    /// # Errors
    /// When nothing does.
    pub fn needed(&self, column: &str) -> Result<&'a str, StepError> {
        self.cell(column).ok_or_else(|| StepError::Feature(format!("a row has no `{column}`")))
    }
}
