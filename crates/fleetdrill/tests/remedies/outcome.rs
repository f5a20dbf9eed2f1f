//! What becomes of a remedy, and the table that is printed at the end.

use std::time::Duration;

/// What came of a remedy.
#[derive(Debug)]
pub enum Outcome {
    /// Everything recovered within the promised time, and a fresh change went through.
    Holds { promised: Duration, measured: Duration },
    /// The commands only read, and succeeded.
    Reads,
    /// The failure has passed by itself before the remedy was run, as the finding says.
    Passed,
    /// Everything recovered later than promised.
    Late { promised: Duration, measured: Duration },
    /// Something was still wrong when the limit passed.
    DoesNotHelp { promised: Duration, limit: Duration, why: String },
    /// A command or a fresh change failed.
    Fails { why: String },
    /// The fault couldn't be induced or wasn't diagnosed.
    NotInduced { why: String },
    /// The remedy isn't run.
    NotRun { why: String },
}

/// Result of a remedy.
#[derive(Debug)]
pub struct RemedyResult {
    /// Failure code.
    pub code: String,
    /// Number of the remedy in the catalogue, from 1.
    pub number: usize,
    /// What came of it.
    pub outcome: Outcome,
}

impl RemedyResult {
    /// True if the remedy is as it should be.
    pub fn is_good(&self) -> bool {
        matches!(self.outcome, Outcome::Holds { .. } | Outcome::Reads | Outcome::Passed | Outcome::NotRun { .. })
    }

    /// Row of the table.
    pub fn line(&self) -> String {
        let seconds = |time: &Duration| format!("{:.0}", time.as_secs_f64());
        let (promised, measured, verdict) = match &self.outcome {
            Outcome::Holds { promised, measured } => {
                (seconds(promised), format!("{:.1}", measured.as_secs_f64()), "holds".into())
            }
            Outcome::Late { promised, measured } => (seconds(promised), seconds(measured), "LATE".into()),
            Outcome::Reads => (String::new(), String::new(), "reads".into()),
            Outcome::Passed => (String::new(), String::new(), "passed by itself".into()),
            Outcome::DoesNotHelp { promised, limit, why } => {
                (seconds(promised), format!("> {}", seconds(limit)), format!("DOES NOT HELP: {why}"))
            }
            Outcome::Fails { why } => (String::new(), String::new(), format!("FAILS: {why}")),
            Outcome::NotInduced { why } => (String::new(), String::new(), format!("NOT INDUCED: {why}")),
            Outcome::NotRun { why } => (String::new(), String::new(), format!("not run: {why}")),
        };
        format!("{:<10} {:>2} {promised:>9} {measured:>9}  {verdict}", self.code, self.number)
    }
}

/// Table of all results.
pub fn table(results: &[RemedyResult], age: Duration) -> String {
    let head = format!("{:<10} {:>2} {:>9} {:>9}  faults {} s old", "code", "#", "promised", "measured", age.as_secs());
    let lines = results.iter().map(RemedyResult::line);
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}
