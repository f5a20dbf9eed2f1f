//! What several runs say together, beside their merged record: for the page of the merged run.

use serde::Serialize;

use super::compare::{ComparedRuns, RunComparison, RunDifference};
use super::merge::FlakyScenario;
use crate::comparison::difference::DifferenceVerdict;
use crate::comparison::word_diff::{WordDiffPart, side_by_side};
use crate::html::finding_view::time;

/// What several runs say together. Empty for a single run that is compared with nothing.
#[derive(Clone, Debug, Default)]
pub struct RunChanges {
    /// Scenarios that passed in some of the runs and failed in others.
    pub flaky: Vec<FlakyScenario>,
    /// What has changed since earlier runs; `None` if no earlier run was given.
    pub comparison: Option<RunComparison>,
}

/// [`RunChanges`] as the page shows them.
#[derive(Serialize)]
pub(crate) struct RunChangesView<'a> {
    flaky: &'a [FlakyScenario],
    comparison: Option<ComparisonView<'a>>,
}

/// [`RunComparison`] as the page shows it.
#[derive(Serialize)]
struct ComparisonView<'a> {
    was: ComparedRunsView<'a>,
    is: ComparedRunsView<'a>,
    /// True if something doesn't work any more.
    is_worse: bool,
    comparison: &'a RunComparison,
    groups: Vec<VerdictView<'a>>,
}

/// [`ComparedRuns`] as the page shows them.
#[derive(Serialize)]
struct ComparedRunsView<'a> {
    id: &'a str,
    started_at: String,
    counts: String,
    versions: String,
}

/// Differences of one severity.
#[derive(Serialize)]
struct VerdictView<'a> {
    verdict: DifferenceVerdict,
    heading: &'static str,
    differences: Vec<DifferenceView<'a>>,
}

/// Difference with both of its texts split into parts.
#[derive(Serialize)]
struct DifferenceView<'a> {
    title: String,
    left: Vec<WordDiffPart>,
    right: Vec<WordDiffPart>,
    difference: &'a RunDifference,
}

impl<'a> RunChangesView<'a> {
    /// Makes the view.
    pub(crate) fn of(changes: &'a RunChanges) -> Self {
        Self { flaky: &changes.flaky, comparison: changes.comparison.as_ref().map(ComparisonView::of) }
    }
}

impl<'a> ComparisonView<'a> {
    fn of(comparison: &'a RunComparison) -> Self {
        let groups = DifferenceVerdict::WORST_FIRST.map(|verdict| VerdictView {
            verdict,
            heading: heading(verdict),
            differences: comparison.with_verdict(verdict).map(DifferenceView::of).collect(),
        });
        Self {
            was: ComparedRunsView::of(&comparison.before),
            is: ComparedRunsView::of(&comparison.after),
            is_worse: comparison.is_worse(),
            comparison,
            groups: groups.into_iter().filter(|group| !group.differences.is_empty()).collect(),
        }
    }
}

impl<'a> ComparedRunsView<'a> {
    fn of(runs: &'a ComparedRuns) -> Self {
        Self {
            id: &runs.id,
            started_at: time(runs.started_at),
            counts: runs.counts.to_string(),
            versions: runs.versions_text(),
        }
    }
}

impl<'a> DifferenceView<'a> {
    fn of(difference: &'a RunDifference) -> Self {
        let (left, right) = side_by_side(difference.was.as_deref(), difference.is.as_deref());
        Self { title: difference.title(), left, right, difference }
    }
}

/// Heading of the differences of a severity.
pub(super) fn heading(verdict: DifferenceVerdict) -> &'static str {
    match verdict {
        DifferenceVerdict::Breaks => "fails now",
        DifferenceVerdict::Differs => "differs",
        DifferenceVerdict::Safe => "is better",
    }
}
