//! What older versions of KubeFleet call otherwise.
//!
//! Features have the words of newer versions. Where a version does the same and says it otherwise, what a step looks for is
//! put into that version's own words: always the one or the other, by what the version can do. Where it does something else,
//! there is a scenario of its own.

use std::sync::LazyLock;

use diagnosis::APPLY_DEFAULTS;
use fleet::capability::{Capabilities, Capability};
use regex::Regex;

use crate::scene::Scene;

/// A piece of text that versions without a capability have otherwise.
struct Piece {
    lacking: Capability,
    newer: Regex,
    older: &'static str,
}

/// Pieces of messages and names, as they stand in features: names are in braces, `{release}`.
static PIECES: LazyLock<Vec<Piece>> = LazyLock::new(|| {
    // The time before namespaced placements (v0.14.0): each text names the one kind that there was.
    let one_scope = [
        ("cannot continue the updateRun", "cannot continue the ClusterStagedUpdateRun"),
        ("in the updateRun is outdated", "in the clusterStagedUpdateRun is outdated"),
        (r"\bupdateRun: ", "clusterStagedUpdateRun: "),
        ("parent placement ", "parent clusterResourcePlacement "),
        ("associated with the placement", "associated with the clusterResourcePlacement"),
        ("no resourceSnapshots with index", "no clusterResourceSnapshots with index"),
        ("found for placement `/", "found for clusterResourcePlacement `"),
        ("to-be-deleted bindings", "to-be-deleted clusterResourceBindings"),
        ("referenced updateStrategy not found: `", "referenced clusterStagedUpdateStrategy not found: "),
        // What it says less.
        ("(not placed in any stage), total .*", "$1"),
        ("(task [0-9]+) of type [A-Za-z]+ has wait", "$1 has wait"),
        (
            "the binding of the (updating cluster .*) in the stage `(.*)` is not up-to-date",
            "the $1 in the stage $2 does not match the cluster status",
        ),
        ("and see if there is a concurrent updateRun referencing the same", "does not match the cluster status"),
        ("and updating the same cluster", "does not match the cluster status"),
        // It takes the run for the stage, and doesn't say what it wants.
        (r"(\{.*\})` and stage `(.*)`, want target update run `", "$2` and stage `$1`"),
    ];
    let external = [
        (
            "no resource snapshot name is observed across clusters",
            "in the process of deciding whether to roll out the latest resources or not",
        ),
        ("roll out some version of the resources", "roll out the latest resources"),
    ];
    // Where stages have no other tasks, a request's name doesn't say that it comes after one.
    let after_only = [(r"(\{[^}]*\})-after-", "$1-")];
    let lacking = |lacking, pieces: &[(&str, &'static str)]| {
        let piece = |(newer, older): &(&str, &'static str)| Piece {
            lacking,
            newer: Regex::new(newer).expect("a valid pattern"),
            older,
        };
        pieces.iter().map(piece).collect::<Vec<_>>()
    };
    let mut pieces = lacking(Capability::NamespacedPlacements, &one_scope);
    pieces.extend(lacking(Capability::ExternalReported, &external));
    pieces.extend(lacking(Capability::BeforeStageTasks, &after_only));
    pieces
});

/// The columns of `kubectl get` and the short names that versions without them lack, or have otherwise.
const PROGRESSING: &str = "PROGRESSING";
const RUNS: (&str, &str) = ("csur", "crsur");

/// A message, a log line or a name in the version's words.
pub(crate) fn text(can: &Capabilities, text: &str) -> String {
    let pieces = PIECES.iter().filter(|piece| !can.can(piece.lacking));
    pieces.fold(text.to_owned(), |text, piece| piece.newer.replace_all(&text, piece.older).into_owned())
}

/// A condition's reason in the version's words.
pub(crate) fn reason(can: &Capabilities, reason: &str) -> String {
    let older = match reason {
        "RolloutControlledByExternalController" if !can.can(Capability::ExternalReported) => "RolloutStartedUnknown",
        "UpdateRunProgressing" if !can.can(Capability::RunProgress) => STARTED,
        same => same,
    };
    older.to_owned()
}

/// What an update run says of itself for as long as it is there, in versions without [`Capability::RunProgress`].
const STARTED: &str = "UpdateRunStarted";

/// What an update run's own Progressing is instead of False with that reason, in versions which never make it False: status
/// and reason, and no message.
pub(crate) fn progress(can: &Capabilities, reason: &str) -> Option<(&'static str, &'static str)> {
    let lacking = match reason {
        "UpdateRunWaiting" => Capability::WaitingRuns,
        "UpdateRunFailed" | "UpdateRunSucceeded" => Capability::RunProgress,
        _ => return None,
    };
    (!can.can(lacking)).then_some(("True", STARTED))
}

/// What a finding rests on, in the version's words. A run that waits says so where it can, and else its stage does.
pub(crate) fn evidence(can: &Capabilities, value: &str) -> String {
    match value {
        "UpdateRunWaiting" if !can.can(Capability::WaitingRuns) => "StageUpdatingWaiting".to_owned(),
        value => text(can, &reason(can, value)),
    }
}

/// A field's value in the version's words. Before namespaced placements (v0.14.0), an update run and the bindings that it has
/// updated have the apply strategy as it stands in the placement, without what that leaves out.
pub(crate) fn field(can: &Capabilities, path: &str, value: &str) -> String {
    let of_strategy = ["status.appliedStrategy.", "spec.applyStrategy."].iter().find_map(|p| path.strip_prefix(p));
    let default = of_strategy.is_some_and(|field| APPLY_DEFAULTS.contains(&(field, value)));
    let left_out = default && !can.can(Capability::NamespacedPlacements);
    if left_out { "absent".to_owned() } else { text(can, value) }
}

/// The name of the approval request `when` (`before` or `after`) a stage of a run.
pub(crate) fn request(can: &Capabilities, run: &str, when: &str, stage: &str) -> String {
    if can.can(Capability::BeforeStageTasks) { format!("{run}-{when}-{stage}") } else { format!("{run}-{stage}") }
}

/// What `kubectl get` calls a kind.
pub(crate) fn short_name<'a>(can: &Capabilities, name: &'a str) -> &'a str {
    if name == RUNS.0 && !can.can(Capability::RunColumns) { RUNS.1 } else { name }
}

/// Whether `kubectl get` shows such a column of an update run.
pub(crate) fn has_column(can: &Capabilities, column: &str) -> bool {
    column != PROGRESSING || can.can(Capability::RunColumns)
}

impl Scene {
    /// A text of a feature in the words of the fleet's version, and with the real names of what the scenario calls so.
    pub(crate) fn words(&self, text: &str) -> String {
        self.names.fill(&self::text(&self.fleet.capabilities(), text))
    }
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
        assert_eq!(field(&all(), "status.appliedStrategy.whenToApply", "Always"), "Always");
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
        // A state that it doesn't have is nothing that it calls otherwise.
        assert_eq!(progress(&none(), "UpdateRunStuck"), None);
        assert_eq!(evidence(&none(), "UpdateRunWaiting"), "StageUpdatingWaiting");
        assert_eq!(field(&none(), "status.appliedStrategy.whenToApply", "Always"), "absent");
        assert_eq!(field(&none(), "status.appliedStrategy.whenToApply", "IfNotDrifted"), "IfNotDrifted");
        assert_eq!(field(&none(), "metadata.name", "{release}-after-staging"), "{release}-staging");
        assert_eq!(request(&none(), "r", "after", "s"), "r-s");
        assert!(short_name(&none(), "csur") == "crsur" && !has_column(&none(), PROGRESSING));
        assert!(short_name(&none(), "crb") == "crb" && has_column(&none(), "AGE"));
    }
}
