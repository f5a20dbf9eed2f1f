//! Update runs that end in failure: Succeeded False.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::draft::Draft;
use super::fleet::{Fleet, Placement, Run};
use super::preemption::Taken;
use super::{initialization, kubectl};
use crate::apply_strategy::is_default;
use crate::{Condition, Evidence};

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let failed = |run: &Run<'_>| run.condition("Succeeded").filter(|c| c.status == "False");
    fleet.runs().filter_map(|run| Some(cause(fleet, run, &failed(&run)?))).collect()
}

/// What the controller found changed under a run. It names only the first, and so do we.
struct Change {
    code: &'static str,
    /// How any version says it.
    pattern: Regex,
    /// Whether the objects show it, for wordings that aren't known.
    shows: fn(Fleet<'_>, Run<'_>) -> bool,
    /// Fields of the placement, the run and the latest policy snapshot that show it.
    placement: &'static [&'static str],
    run: &'static [&'static str],
    policy: &'static [&'static str],
}

static CHANGES: LazyLock<[Change; 5]> = LazyLock::new(|| {
    let pattern = |p: &str| Regex::new(&format!("(?i){p}")).expect("a valid pattern");
    [
        Change {
            code: "KF-UR-034",
            pattern: pattern("does not have an external rollout strategy"),
            shows: |fleet, run| run.placement(fleet).is_some_and(|p| !p.is_external()),
            placement: &["spec.strategy.type"],
            run: &[],
            policy: &[],
        },
        Change {
            code: "KF-UR-031",
            pattern: pattern("apply ?strategy .*outdated"),
            shows: |fleet, run| {
                let now = run.placement(fleet).and_then(|p| p.object.at("/spec/strategy/applyStrategy"));
                differ(now, run.object.at("/status/appliedStrategy"))
            },
            placement: &["spec.strategy.applyStrategy"],
            run: &["status.appliedStrategy"],
            policy: &[],
        },
        Change {
            code: "KF-UR-030",
            pattern: pattern("policy snapshot index .*outdated"),
            shows: |fleet, run| {
                let latest = run.policy_snapshot(fleet).and_then(|s| s.label(POLICY_INDEX));
                let used = run.object.str("/status/policySnapshotIndexUsed").filter(|i| !i.is_empty());
                latest.is_some() && used.is_some() && latest != used
            },
            placement: &["spec.policy"],
            run: &["status.policySnapshotIndexUsed"],
            policy: &[],
        },
        Change {
            code: "KF-UR-032",
            // Asked for more than there are, the placement isn't scheduled any more, and the message says that.
            pattern: pattern("cluster count .*outdated|number of selected bindings .*observed cluster count"),
            shows: |fleet, run| {
                let now = run.placement(fleet).and_then(|p| p.object.at("/spec/policy/numberOfClusters")?.as_i64());
                let then = run.object.at("/status/policyObservedClusterCount").and_then(Value::as_i64);
                now.is_some() && then.is_some() && now != then
            },
            placement: &["spec.policy.numberOfClusters"],
            run: &["status.policyObservedClusterCount"],
            policy: &["metadata.annotations"],
        },
        Change {
            code: "KF-UR-033",
            pattern: pattern(
                "(number of (stages|clusters)|cluster in the|stage name) .*changed|not placed in any stage|\
                 appears in more than one|sorting label .*not valid",
            ),
            shows: |fleet, run| {
                let spread = initialization::Spread::of(fleet, run);
                !spread.nowhere.is_empty() || !spread.twice.is_empty()
            },
            placement: &[],
            run: &[],
            policy: &[],
        },
    ]
});

/// On a policy snapshot: its index.
const POLICY_INDEX: &str = "kubernetes-fleet.io/policy-index";

fn cause(fleet: Fleet<'_>, run: Run<'_>, failed: &Condition) -> Draft {
    let at = failed.last_transition_time;
    if let Some(draft) = foreign_request(fleet, run, failed) {
        return draft;
    }
    let placement = fleet.placement_object(run.scope.placement(), run.object.namespace(), run.placement_name());
    // While a placement goes, its snapshots or bindings may go first, and then the message names those.
    if placement.is_none_or(|p| p.deleted_at().is_some()) || is_newer(placement, failed) {
        return placement_gone(fleet, run, failed);
    }
    if let Some(change) = CHANGES.iter().find(|c| c.pattern.is_match(&failed.message)) {
        return changed(fleet, run, failed, change);
    }
    if let Some(taken) = Taken::from(fleet, run, at) {
        return taken.draft(fleet, run, failed, at);
    }
    if let Some(change) = CHANGES.iter().find(|c| (c.shows)(fleet, run)) {
        return changed(fleet, run, failed, change);
    }
    let evidence = vec![fleet.quote().condition(run.object, failed)];
    let draft = Draft::new("KF-UR-039", run.subject(fleet, None, None), &names(fleet, run, failed), evidence);
    follows_placement(fleet, run, draft)
}

/// Where the placement asks for more than there is, that has to be mended first.
fn follows_placement(fleet: Fleet<'_>, run: Run<'_>, draft: Draft) -> Draft {
    match run.placement(fleet) {
        Some(placement) => draft.follows(placement.topic()),
        None => draft,
    }
}

/// The names that all texts here use.
fn names(fleet: Fleet<'_>, run: Run<'_>, failed: &Condition) -> Value {
    json!({
        "run": run.object.name(),
        "run_ref": run.reference(),
        "placement": run.placement_name(),
        "placement_ref": run.placement(fleet).map(|p| kubectl::reference(p.object)).unwrap_or_default(),
        "message": failed.message,
        "again": kubectl::again(fleet, run, None),
        "unrecorded": is_unrecorded(fleet, run),
    })
}

/// Whether a run has no apply strategy recorded, and its placement none of its own: v0.14.0 records what stands in the placement,
/// v0.1.2 that with the defaults.
fn is_unrecorded(fleet: Fleet<'_>, run: Run<'_>) -> bool {
    let now = |placement: Placement<'_>| is_default(placement.object.at("/spec/strategy/applyStrategy"));
    run.object.at("/status/appliedStrategy").is_none_or(Value::is_null) && run.placement(fleet).is_some_and(now)
}

/// KF-UR-002: the placement was deleted while the run was executing.
fn placement_gone(fleet: Fleet<'_>, run: Run<'_>, failed: &Condition) -> Draft {
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition(run.object, failed), quote.field(run.object, "spec.placementName")];
    let kind = run.scope.placement();
    evidence.push(match fleet.placement_object(kind, run.object.namespace(), run.placement_name()) {
        Some(placement) if placement.deleted_at().is_some() => quote.deletion(placement),
        Some(placement) => quote.field(placement, "metadata.creationTimestamp"),
        None => quote.absent(kind, run.object.namespace(), run.placement_name()),
    });
    Draft::new("KF-UR-002", run.subject(fleet, None, None), &names(fleet, run, failed), evidence)
}

/// Whether the placement of that name was made after the run had failed: it is another one.
fn is_newer(placement: Option<crate::Object<'_>>, failed: &Condition) -> bool {
    let created = placement.and_then(|p| p.created_at());
    created.zip(failed.last_transition_time).is_some_and(|(created, at)| created > at)
}

fn changed(fleet: Fleet<'_>, run: Run<'_>, failed: &Condition, change: &Change) -> Draft {
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition(run.object, failed)];
    evidence.extend(change.run.iter().map(|path| quote.field(run.object, path)));
    if let Some(placement) = run.placement(fleet) {
        evidence.extend(change.placement.iter().map(|path| quote.field(placement.object, path)));
    }
    if let Some(policy) = run.policy_snapshot(fleet) {
        if change.code == "KF-UR-030" {
            let index = policy.label(POLICY_INDEX).unwrap_or_default().to_owned();
            evidence.push(quote.text(policy, &format!("metadata.labels[{POLICY_INDEX}]"), index, None));
        }
        evidence.extend(change.policy.iter().map(|path| quote.field(policy, path)));
    }
    if change.code == "KF-UR-033" {
        evidence.extend(membership(fleet, run));
    }
    let draft = Draft::new(change.code, run.subject(fleet, None, None), &names(fleet, run, failed), evidence);
    if change.code == "KF-UR-032" { follows_placement(fleet, run, draft) } else { draft }
}

/// Which members the run has in its stages, and which its stages would choose now.
fn membership(fleet: Fleet<'_>, run: Run<'_>) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = Vec::new();
    for stage in run.stages() {
        let members: Vec<_> = stage.clusters().map(|c| c.member).collect();
        evidence.push(quote.text(run.object, &format!("{}.clusters", stage.path()), members.join(", "), None));
    }
    let spread = initialization::Spread::of(fleet, run);
    for member in spread.members {
        evidence.push(quote.field(member, "metadata.labels"));
    }
    evidence
}

/// KF-UR-041: a request of the name that the run wants was there before, for another run or stage.
fn foreign_request(fleet: Fleet<'_>, run: Run<'_>, failed: &Condition) -> Option<Draft> {
    static NAMED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("(?i)approval ?request .*is targeting").expect("a valid pattern"));
    let quote = fleet.quote();
    let (stage, request) = run
        .stages()
        .find_map(|stage| {
            let request = stage.requests().find_map(|name| {
                fleet.placement_object(run.scope.request(), run.object.namespace(), name).filter(|request| {
                    request.str("/spec/parentStageRollout") != Some(run.object.name())
                        || request.str("/spec/targetStage") != Some(stage.name)
                })
            });
            Some((stage, request?))
        })
        .map_or_else(
            || {
                // Somebody has deleted the request since; the message still tells.
                let stage = run.stages().find(|s| s.condition("Succeeded").is_some_and(|c| c.status == "False"));
                NAMED.is_match(&failed.message).then_some((stage, None))
            },
            |(stage, request)| {
                let at_fault = stage.condition("Succeeded").is_some_and(|c| c.status == "False");
                (at_fault || NAMED.is_match(&failed.message)).then_some((Some(stage), Some(request)))
            },
        )?;
    let mut evidence = vec![quote.condition(run.object, failed)];
    if let Some(request) = request {
        evidence.push(quote.field(request, "spec.parentStageRollout"));
        evidence.push(quote.field(request, "spec.targetStage"));
    }
    let stage_name = stage.map(|s| s.name);
    let names = json!({
        "run": run.object.name(),
        "stage": stage_name.unwrap_or_default(),
        "request": request.map(|r| r.path()).unwrap_or_default(),
        "request_ref": request.map(kubectl::reference).unwrap_or_default(),
        "other_run": request.and_then(|r| r.str("/spec/parentStageRollout")).unwrap_or_default(),
        "other_stage": request.and_then(|r| r.str("/spec/targetStage")).unwrap_or_default(),
        "again": kubectl::again(fleet, run, None),
    });
    Some(Draft::new("KF-UR-041", run.subject(fleet, stage_name, None), &names, evidence))
}

/// Whether two objects differ in a field that both have; what one lacks, it may have by default.
fn differ(a: Option<&Value>, b: Option<&Value>) -> bool {
    let (Some(Value::Object(a)), Some(Value::Object(b))) = (a, b) else { return false };
    a.iter().any(|(key, value)| b.get(key).is_some_and(|other| other != value))
}
