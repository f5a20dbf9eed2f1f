//! Wording of older versions of KubeFleet.
//!
//! Features use the wording of newer versions. If an older version does the same but words it differently, a step
//! expects that version's own wording. A step never accepts both: the version's capabilities decide. If a version does
//! something else, there is a separate scenario for it.

use std::sync::LazyLock;

use diagnosis::APPLY_DEFAULTS;
use fleet::capability::{Capabilities, Capability};
use regex::Regex;

/// Piece of text that versions without a capability word differently.
struct OlderWording {
    lacking: Capability,
    newer: Regex,
    older: &'static str,
}

/// Pieces of messages and names, as they stand in features. Names are in braces: `{release}`.
static PIECES: LazyLock<Vec<OlderWording>> = LazyLock::new(|| {
    // Without namespaced placements (v0.14.0), each text names the only kind that exists.
    let one_scope = [
        ("cannot continue the updateRun", "cannot continue the ClusterStagedUpdateRun"),
        ("in the updateRun is outdated", "in the clusterStagedUpdateRun is outdated"),
        (r"\bupdateRun: ", "clusterStagedUpdateRun: "),
        ("parent placement ", "parent clusterResourcePlacement "),
        ("associated with the placement", "associated with the clusterResourcePlacement"),
        ("no resourceSnapshots with index", "no clusterResourceSnapshots with index"),
        ("found for placement `/", "found for clusterResourcePlacement `"),
        ("cannot select namespace-scoped resource", "is not a cluster scoped resource"),
        ("to-be-deleted bindings", "to-be-deleted clusterResourceBindings"),
        ("referenced updateStrategy not found: `", "referenced clusterStagedUpdateStrategy not found: "),
        // Messages that v0.14.0 words more briefly.
        ("(not placed in any stage), total .*", "$1"),
        ("(task [0-9]+) of type [A-Za-z]+ has wait", "$1 has wait"),
        (
            "the binding of the (updating cluster .*) in the stage `(.*)` is not up-to-date",
            "the $1 in the stage $2 does not match the cluster status",
        ),
        ("and see if there is a concurrent updateRun referencing the same", "does not match the cluster status"),
        ("and updating the same cluster", "does not match the cluster status"),
        // v0.14.0 swaps run and stage here, and omits the wanted run.
        (r"(\{.*\})` and stage `(.*)`, want target update run `", "$2` and stage `$1`"),
    ];
    let external = [
        (
            "no resource snapshot name is observed across clusters",
            "in the process of deciding whether to roll out the latest resources or not",
        ),
        ("roll out some version of the resources", "roll out the latest resources"),
    ];
    // Without comparisons in degraded mode, all failed comparisons have one short reason.
    let comparisons = [("FailedToReportDiff", "Failed")];
    // Without before-stage tasks, the name of an approval request doesn't contain `after`.
    let after_only = [(r"(\{[^}]*\})-after-", "$1-")];
    let mut pieces = Vec::new();
    for (lacking, texts) in [
        (Capability::NamespacedPlacements, &one_scope[..]),
        (Capability::ExternalReported, &external[..]),
        (Capability::DegradedComparison, &comparisons[..]),
        (Capability::BeforeStageTasks, &after_only[..]),
    ] {
        for (newer, older) in texts {
            pieces.push(OlderWording { lacking, newer: Regex::new(newer).expect("a valid pattern"), older });
        }
    }
    pieces
});

/// Names in the output of `kubectl get` that some versions lack or have in another form: a column, and the short name
/// of update runs.
const PROGRESSING: &str = "PROGRESSING";
const RUNS: (&str, &str) = ("csur", "crsur");

/// Rewords a message, a log line or a name for the version.
pub(crate) fn text(can: &Capabilities, text: &str) -> String {
    let pieces = PIECES.iter().filter(|piece| !can.can(piece.lacking));
    pieces.fold(text.to_owned(), |text, piece| piece.newer.replace_all(&text, piece.older).into_owned())
}

/// Rewords a condition's reason for the version.
pub(crate) fn reason(can: &Capabilities, reason: &str) -> String {
    let older = match reason {
        "RolloutControlledByExternalController" if !can.can(Capability::ExternalReported) => "RolloutStartedUnknown",
        "UpdateRunProgressing" if !can.can(Capability::RunProgress) => STARTED,
        same => return text(can, same),
    };
    older.to_owned()
}

/// Reason of an update run's Progressing condition during the run's whole life, in versions without
/// [`Capability::RunProgress`].
const STARTED: &str = "UpdateRunStarted";

/// Returns the status and reason that an update run's own Progressing condition has in place of False with `reason`, in
/// versions that never set it to False. The condition's message isn't compared then.
pub(crate) fn progress(can: &Capabilities, reason: &str) -> Option<(&'static str, &'static str)> {
    let lacking = match reason {
        "UpdateRunWaiting" => Capability::WaitingRuns,
        "UpdateRunFailed" | "UpdateRunSucceeded" => Capability::RunProgress,
        _ => return None,
    };
    (!can.can(lacking)).then_some(("True", STARTED))
}

/// Rewords a finding's evidence for the version. A waiting run reports itself that it waits if the version can do that;
/// otherwise the run's stage does.
pub(crate) fn evidence(can: &Capabilities, value: &str) -> String {
    match value {
        "UpdateRunWaiting" if !can.can(Capability::WaitingRuns) => "StageUpdatingWaiting".to_owned(),
        value => reason(can, value),
    }
}

/// Rewords the value of a field of an object of this kind for the version. Before namespaced placements (v0.14.0), an update run and the
/// bindings that the run has updated have the apply strategy of the placement, without defaults for fields that the placement omits, and
/// a policy snapshot has the number of clusters in an annotation only.
pub(crate) fn field(can: &Capabilities, kind: &str, path: &str, value: &str) -> String {
    let is_number = kind == "ClusterSchedulingPolicySnapshot" && path == "spec.policy.numberOfClusters";
    let of_strategy = ["status.appliedStrategy.", "spec.applyStrategy."].iter().find_map(|p| path.strip_prefix(p));
    let default = of_strategy.is_some_and(|field| APPLY_DEFAULTS.contains(&(field, value)));
    let left_out = (default || is_number) && !can.can(Capability::NamespacedPlacements);
    if left_out { "absent".to_owned() } else { text(can, value) }
}

/// Returns the name of the approval request `when` (`before` or `after`) a stage of a run.
pub(crate) fn request(can: &Capabilities, run: &str, when: &str, stage: &str) -> String {
    if can.can(Capability::BeforeStageTasks) { format!("{run}-{when}-{stage}") } else { format!("{run}-{stage}") }
}

/// Returns the short name of a kind for `kubectl get`.
pub(crate) fn short_name<'a>(can: &Capabilities, name: &'a str) -> &'a str {
    if name == RUNS.0 && !can.can(Capability::RunColumns) { RUNS.1 } else { name }
}

/// Returns true if `kubectl get` shows this column for an update run.
pub(crate) fn has_column(can: &Capabilities, column: &str) -> bool {
    column != PROGRESSING || can.can(Capability::RunColumns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Capabilities {
        Capabilities::default()
    }

    fn all() -> Capabilities {
        Capability::all().collect()
    }

    #[test]
    fn a_version_that_can_do_it_all_has_the_features_own_words() {
        for piece in [
            "no resourceSnapshots with index `7` found for placement `/{web}`",
            "{release}-after-staging",
            "updateRun: {release}",
            "not placed in any stage, total 1, showing up to 10: member-2",
        ] {
            assert_eq!(text(&all(), piece), piece);
        }
        assert_eq!(reason(&all(), "UpdateRunProgressing"), "UpdateRunProgressing");
        assert_eq!(progress(&all(), "UpdateRunWaiting"), None);
        assert_eq!(evidence(&all(), "UpdateRunWaiting"), "UpdateRunWaiting");
        assert_eq!(field(&all(), "ClusterStagedUpdateRun", "status.appliedStrategy.whenToApply", "Always"), "Always");
        assert_eq!(request(&all(), "r", "after", "s"), "r-after-s");
        assert!(short_name(&all(), "csur") == "csur" && has_column(&all(), PROGRESSING));
    }

    #[test]
    fn an_older_version_has_its_own() {
        for (newer, older) in [
            (
                "no resourceSnapshots with index `7` found for placement `/{web}`",
                "no clusterResourceSnapshots with index `7` found for clusterResourcePlacement `{web}`",
            ),
            ("{release}-after-staging", "{release}-staging"),
            ("resourceSnapshotIndex: 1, updateRun: {new}", "resourceSnapshotIndex: 1, clusterStagedUpdateRun: {new}"),
            ("updateRun: {release}", "clusterStagedUpdateRun: {release}"),
            (
                "some clusters are not placed in any stage, total 1, showing up to 10: a",
                "some clusters are not placed in any stage",
            ),
            ("task 0 of type TimedWait has wait duration <= 0", "task 0 has wait duration <= 0"),
            (
                "the binding of the updating cluster `{east}` in the stage `staging` is not up-to-date",
                "the updating cluster `{east}` in the stage staging does not match the cluster status",
            ),
            ("{other}` and stage `staging`, want target update run `", "staging` and stage `{other}`"),
            ("parent placement not found", "parent clusterResourcePlacement not found"),
            ("nothing that is called otherwise", "nothing that is called otherwise"),
        ] {
            assert_eq!(text(&none(), newer), older);
        }
        assert_eq!(reason(&none(), "UpdateRunProgressing"), "UpdateRunStarted");
        assert_eq!(progress(&none(), "UpdateRunFailed"), Some(("True", "UpdateRunStarted")));
        // An older version doesn't have this state, so there is no older wording for it.
        assert_eq!(progress(&none(), "UpdateRunStuck"), None);
        assert_eq!(evidence(&none(), "UpdateRunWaiting"), "StageUpdatingWaiting");
        assert_eq!(field(&none(), "ClusterStagedUpdateRun", "status.appliedStrategy.whenToApply", "Always"), "absent");
        assert_eq!(
            field(&none(), "ClusterStagedUpdateRun", "status.appliedStrategy.whenToApply", "IfNotDrifted"),
            "IfNotDrifted"
        );
        let number = "spec.policy.numberOfClusters";
        assert_eq!(field(&none(), "ClusterSchedulingPolicySnapshot", number, "2"), "absent");
        assert_eq!(field(&none(), "ClusterResourcePlacement", number, "2"), "2");
        assert_eq!(
            field(&none(), "ClusterStagedUpdateRun", "metadata.name", "{release}-after-staging"),
            "{release}-staging"
        );
        assert_eq!(request(&none(), "r", "after", "s"), "r-s");
        assert!(short_name(&none(), "csur") == "crsur" && !has_column(&none(), PROGRESSING));
        assert!(short_name(&none(), "crb") == "crb" && has_column(&none(), "AGE"));
    }
}
