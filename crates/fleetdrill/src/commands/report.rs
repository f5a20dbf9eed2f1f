//! `fleetdrill report`.

use record::RunRecord;
use report::run::{Reporters, RunEvent, RunProgressDisplay};
use report::runs::changes::RunChanges;
use report::runs::compare::RunComparison;
use report::runs::json::RunsReport;
use report::runs::merge::{MergeError, MergedRuns};
use report::runs::text;
use report::text::style::OutputLayout;

use super::run::{exit_of_record, finish};
use crate::cli::{OutputFormat, ReportArgs, ReportFiles};
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::output::data;
use crate::run_file;

pub(super) fn report(args: &ReportArgs) -> Result<CommandExitCode, CommandError> {
    args.files.check()?;
    if args.files.on_stdout() > 0 && args.output != OutputFormat::Text {
        let message = "a report on standard output leaves no place for --output".into();
        return Err(CommandError::Usage { message, hint: Some("give the report a file".into()) });
    }
    let runs = merge(&run_file::read_all(&args.runs)?)?;
    let earlier = run_file::read_all(&args.against)?;
    let comparison = if earlier.is_empty() { None } else { Some(RunComparison::of(&merge(&earlier)?, &runs)) };
    let exit = match &comparison {
        Some(comparison) if comparison.is_worse() => CommandExitCode::Found,
        Some(_) => CommandExitCode::Fine,
        None => exit_of_record(&runs.record),
    };
    let changes = RunChanges { flaky: runs.flaky(), comparison };
    if args.output != OutputFormat::Text {
        args.files.requested().try_for_each(|file| file.write_with(&runs.record, &changes))?;
        data::print(args.output, &RunsReport::of(&runs, changes.comparison.as_ref()));
        return Ok(exit);
    }
    let look = OutputLayout::from_locale();
    let mut reporters = reporters(&args.files, args.verbose, &runs.record)?;
    let said = [
        text::flaky(&changes.flaky, look),
        changes.comparison.as_ref().map(|comparison| text::comparison(comparison, look)).unwrap_or_default(),
    ];
    reporters.set_changes(changes);
    let exit = finish(reporters, &runs.record, exit);
    // A report on stdout stands there alone.
    if args.files.on_stdout() == 0 {
        said.iter().filter(|text| !text.is_empty()).for_each(|text| data::print_text(&format!("\n{text}")));
    }
    Ok(exit)
}

/// Merges runs.
pub(super) fn merge(runs: &[RunRecord]) -> Result<MergedRuns, CommandError> {
    MergedRuns::of(runs).map_err(|error| {
        let hint = match error {
            MergeError::Versions { .. } | MergeError::Providers { .. } => {
                Some("compare them: report NEW --against OLD")
            }
            MergeError::SameRun(_) | MergeError::NoRun => None,
        };
        CommandError::usage(error.to_string(), hint)
    })
}

/// Returns the reporters, which have been told of the scenarios to show: those that failed, or all.
pub(super) fn reporters(files: &ReportFiles, verbose: bool, record: &RunRecord) -> Result<Reporters, CommandError> {
    let mut reporters = files.reporters(OutputLayout::from_locale(), verbose, RunProgressDisplay::hidden())?;
    for scenario in &record.scenarios {
        if verbose || scenario.outcome.is_failure() {
            reporters.event(&RunEvent::ScenarioFinished(scenario))?;
        }
    }
    Ok(reporters)
}
