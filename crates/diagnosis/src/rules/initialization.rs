//! Update runs that fail to begin: Initialized False.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Value, json};

use super::draft::{Draft, Topic};
use super::fleet::{CLUSTER, Fleet, Run};
use super::matching::selects;
use super::{kubectl, quote::Quote};
use crate::{Condition, Evidence, Object};

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let failed = |run: &Run<'_>| run.condition("Initialized").filter(|c| c.status == "False");
    fleet.runs().filter_map(|run| Some(cause(fleet, run, &failed(&run)?))).collect()
}

/// One thing that the controller checks before a run begins. It stops at the first that fails and names only that.
struct Check {
    code: &'static str,
    /// How any version says it; groups `stage`, `member` and `label` are read.
    pattern: Regex,
    /// Whether the objects show it, for wordings that aren't known.
    shows: fn(Fleet<'_>, Run<'_>) -> bool,
    evidence: fn(Fleet<'_>, Run<'_>, &Told) -> Vec<Evidence>,
}

/// What stands in the message only.
#[derive(Default)]
struct Told {
    stage: String,
    member: String,
    label: String,
}

fn check(
    code: &'static str,
    pattern: &str,
    shows: fn(Fleet<'_>, Run<'_>) -> bool,
    evidence: fn(Fleet<'_>, Run<'_>, &Told) -> Vec<Evidence>,
) -> Check {
    Check { code, pattern: Regex::new(&format!("(?i){pattern}")).expect("a valid pattern"), shows, evidence }
}

/// In the controller's order.
static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    vec![
        check("KF-UR-010", "parent .*placement not found", |f, r| r.placement(f).is_none(), placement),
        check(
            "KF-UR-011",
            "does not have an external rollout strategy",
            |f, r| r.placement(f).is_some_and(|p| !p.is_external()),
            |f, r, _| from_placement(f, r, &["spec.strategy.type"]),
        ),
        check(
            "KF-UR-012",
            "not fully scheduled|no latest policy snapshot|more than one .*latest policy snapshot",
            unscheduled,
            scheduling,
        ),
        check(
            "KF-UR-013",
            "no scheduled or to-be-deleted .*bindings",
            |f, r| r.placement(f).is_some_and(|p| p.clusters().next().is_none()),
            scheduling,
        ),
        check("KF-UR-014", "strategy not found", |f, r| r.strategy(f).is_none(), strategy),
        check("KF-UR-016", "stage: (?<stage>[a-z0-9]+).*wait (duration|time)", |f, r| wait_time(f, r).is_some(), tasks),
        check(
            "KF-UR-015",
            "stage tasks are invalid.*stage: (?<stage>[a-z0-9]+)|tasks? of the same type",
            |f, r| twice_the_same_task(f, r).is_some(),
            tasks,
        ),
        check("KF-UR-017", "label selector is invalid.*stage: (?<stage>[a-z0-9]+)", |_, _| false, selector),
        check(
            "KF-UR-018",
            "cluster `?(?<member>[a-z0-9.-]+)`? appears in more than one",
            |f, r| !Spread::of(f, r).twice.is_empty(),
            spread,
        ),
        check(
            "KF-UR-019",
            "sorting label `?(?<label>[^:`]*):[^`]*`? on cluster `?(?<member>[a-z0-9.-]+)",
            |_, _| false,
            sorting,
        ),
        check("KF-UR-020", "not placed in any stage", |f, r| !Spread::of(f, r).nowhere.is_empty(), spread),
        check(
            "KF-UR-021",
            "invalid resource ?snapshot index",
            |_, r| r.index_asked().is_some_and(|i| i.parse::<u64>().is_err()),
            |f, r, _| vec![f.quote().field(r.object, "spec.resourceSnapshotIndex")],
        ),
        check(
            "KF-UR-001",
            "no (cluster)?resource ?snapshots? with index",
            // The controller compares the label as it is written: `00` finds nothing although there is a 0.
            |f, r| r.index_asked().is_some_and(|i| !r.indices(f).contains(&i)),
            indices,
        ),
    ]
});

fn cause(fleet: Fleet<'_>, run: Run<'_>, failed: &Condition) -> Draft {
    let said = CHECKS.iter().find_map(|c| Some((c, told(&c.pattern.captures(&failed.message)?))));
    let shown = || CHECKS.iter().find(|c| (c.shows)(fleet, run)).map(|c| (c, Told::default()));
    let mut evidence = vec![fleet.quote().condition(run.object, failed)];
    let (code, told) = match said.or_else(shown) {
        Some((check, told)) => {
            evidence.extend((check.evidence)(fleet, run, &told));
            (check.code, told)
        }
        None => ("KF-UR-029", Told::default()),
    };
    let indices = run.indices(fleet);
    let latest = indices.last().copied().unwrap_or_default();
    let spread = Spread::of(fleet, run);
    let listed = |members: &[Object<'_>]| members.iter().map(Object::name).collect::<Vec<_>>().join(", ");
    let names = json!({
        "run": run.object.name(),
        "run_ref": run.reference(),
        "message": failed.message,
        "placement": run.placement_name(),
        "placement_ref": kubectl::resource(
            super::fleet::PLACEMENT, run.scope.placement(), run.object.namespace(), run.placement_name()
        ),
        "rollout": run.placement(fleet).map(super::fleet::Placement::rollout).unwrap_or_default(),
        "scheduled": run.placement(fleet).and_then(|p| p.condition("Scheduled")).is_some_and(|c| c.status == "True"),
        "chosen": run.placement(fleet).is_some_and(|p| p.clusters().next().is_some()),
        "strategy": run.strategy_name(),
        "strategy_ref": kubectl::resource(
            super::fleet::PLACEMENT, run.scope.strategy(), run.object.namespace(), run.strategy_name()
        ),
        "was_there": strategy_was_there(fleet, run),
        "stage": told.stage,
        "member": if told.member.is_empty() { listed(&spread.twice) } else { told.member.clone() },
        "label": told.label,
        "nowhere": listed(&spread.nowhere),
        "asked": run.index_asked().unwrap_or_default(),
        "indices": indices,
        "latest": latest,
        "again": kubectl::again(fleet, run, None),
        "again_latest": kubectl::again(fleet, run, Some(latest)),
    });
    let draft = Draft::new(code, run.subject(fleet, None, None), &names, evidence);
    match code {
        "KF-UR-012" | "KF-UR-013" => draft.follows(Topic::Placement {
            namespace: run.object.namespace().map(str::to_owned),
            name: run.placement_name().to_owned(),
        }),
        _ => draft,
    }
}

fn told(captures: &Captures<'_>) -> Told {
    let group = |name| captures.name(name).map(|m| m.as_str().to_owned()).unwrap_or_default();
    Told { stage: group("stage"), member: group("member"), label: group("label") }
}

/// How the members that a placement has chosen fall into a run's stages, by their labels as they are now.
pub(super) struct Spread<'a> {
    /// Those that the placement has chosen.
    pub members: Vec<Object<'a>>,
    /// Those of them that no stage chooses.
    pub nowhere: Vec<Object<'a>>,
    /// Those of them that more than one stage chooses.
    pub twice: Vec<Object<'a>>,
}

impl<'a> Spread<'a> {
    /// By the strategy that the run has taken over, or else by the one that it names.
    pub fn of(fleet: Fleet<'a>, run: Run<'a>) -> Self {
        let stages = run.stage_specs(fleet);
        let members: Vec<_> = fleet
            .hub
            .of_kind(CLUSTER, "MemberCluster")
            .filter(|m| run.binding(fleet, m.name()).is_some_and(|b| b.deleted_at().is_none()))
            .collect();
        let times = |m: &&Object<'_>| stages.iter().filter(|s| selects(s.get("labelSelector"), **m)).count();
        let known = !stages.is_empty();
        let nowhere = members.iter().filter(|m| known && times(m) == 0).copied().collect();
        let twice = members.iter().filter(|m| times(m) > 1).copied().collect();
        Self { members, nowhere, twice }
    }
}

fn from_placement(fleet: Fleet<'_>, run: Run<'_>, paths: &[&str]) -> Vec<Evidence> {
    let placement = run.placement(fleet);
    placement.iter().flat_map(|p| paths.iter().map(|path| fleet.quote().field(p.object, path))).collect()
}

fn placement(fleet: Fleet<'_>, run: Run<'_>, _: &Told) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = vec![quote.field(run.object, "spec.placementName")];
    if run.placement(fleet).is_none() {
        evidence.push(quote.absent(run.scope.placement(), run.object.namespace(), run.placement_name()));
    }
    evidence
}

fn unscheduled(fleet: Fleet<'_>, run: Run<'_>) -> bool {
    let snapshot = run.policy_snapshot(fleet).and_then(|s| s.current_condition("Scheduled"));
    let placement = run.placement(fleet).and_then(|p| p.condition("Scheduled"));
    snapshot.or(placement).is_some_and(|c| c.status != "True")
}

fn scheduling(fleet: Fleet<'_>, run: Run<'_>, _: &Told) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = from_placement(fleet, run, &["spec.policy"]);
    if let Some(placement) = run.placement(fleet) {
        evidence.extend(placement.condition("Scheduled").map(|c| quote.condition(placement.object, &c)));
    }
    if let Some(snapshot) = run.policy_snapshot(fleet) {
        evidence.extend(snapshot.current_condition("Scheduled").map(|c| quote.condition(snapshot, &c)));
    }
    evidence
}

fn strategy(fleet: Fleet<'_>, run: Run<'_>, _: &Told) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = vec![quote.field(run.object, "spec.stagedRolloutStrategyName")];
    match run.strategy(fleet) {
        Some(strategy) => {
            evidence.push(quote.field(strategy, CREATED));
            evidence.push(quote.field(run.object, CREATED));
        }
        None => evidence.push(quote.absent(run.scope.strategy(), run.object.namespace(), run.strategy_name())),
    }
    evidence
}

const CREATED: &str = "metadata.creationTimestamp";

/// Whether the strategy isn't younger than the run that doesn't find it. The times have whole seconds.
fn strategy_was_there(fleet: Fleet<'_>, run: Run<'_>) -> bool {
    let strategy = run.strategy(fleet).and_then(|strategy| strategy.created_at());
    strategy.zip(run.object.created_at()).is_some_and(|(strategy, run)| strategy <= run)
}

/// A field of a stage of the strategy.
fn stage_field(quote: Quote<'_>, strategy: Object<'_>, stage: &Value, field: &str) -> Evidence {
    let name = stage.get("name").and_then(Value::as_str).unwrap_or_default();
    let value = stage.get(field).map_or_else(|| "(absent)".to_owned(), Value::to_string);
    quote.text(strategy, &format!("spec.stages[{name}].{field}"), value, None)
}

/// A field of the stage that the message names, or of all stages where it names none.
fn stage_fields(fleet: Fleet<'_>, run: Run<'_>, told: &Told, field: &str) -> Vec<Evidence> {
    let Some(strategy) = run.strategy(fleet) else { return Vec::new() };
    let stages = strategy.list("/spec/stages").iter();
    let named = stages.filter(|s| told.stage.is_empty() || s.get("name").and_then(Value::as_str) == Some(&told.stage));
    named.map(|s| stage_field(fleet.quote(), strategy, s, field)).collect()
}

fn tasks(fleet: Fleet<'_>, run: Run<'_>, told: &Told) -> Vec<Evidence> {
    stage_fields(fleet, run, told, "afterStageTasks")
}

fn selector(fleet: Fleet<'_>, run: Run<'_>, told: &Told) -> Vec<Evidence> {
    stage_fields(fleet, run, told, "labelSelector")
}

fn sorting(fleet: Fleet<'_>, run: Run<'_>, told: &Told) -> Vec<Evidence> {
    let mut evidence = stage_fields(fleet, run, told, "sortingLabelKey");
    let member = fleet.hub.object(CLUSTER, "MemberCluster", None, &told.member);
    evidence.extend(member.map(|m| fleet.quote().field(m, "metadata.labels")));
    evidence
}

fn spread(fleet: Fleet<'_>, run: Run<'_>, told: &Told) -> Vec<Evidence> {
    let mut evidence = stage_fields(fleet, run, told, "labelSelector");
    let Spread { nowhere, twice, .. } = Spread::of(fleet, run);
    let named = fleet.hub.object(CLUSTER, "MemberCluster", None, &told.member);
    let at_fault = named.map_or_else(|| [nowhere, twice].concat(), |m| vec![m]);
    evidence.extend(at_fault.iter().map(|m| fleet.quote().field(*m, "metadata.labels")));
    evidence
}

fn indices(fleet: Fleet<'_>, run: Run<'_>, _: &Told) -> Vec<Evidence> {
    let quote = fleet.quote();
    let indices = run.indices(fleet);
    let listed = Evidence {
        object: format!("{} of {}", run.scope.resource_snapshot(), run.placement_name()),
        path: "metadata.labels[kubernetes-fleet.io/resource-index]".to_owned(),
        value: if indices.is_empty() { "(none)".to_owned() } else { indices.join(", ") },
        ..quote.field(run.object, "spec.placementName")
    };
    vec![quote.field(run.object, "spec.resourceSnapshotIndex"), listed]
}

/// The type of a task that a stage has twice.
fn twice_the_same_task(fleet: Fleet<'_>, run: Run<'_>) -> Option<String> {
    run.strategy(fleet)?.list("/spec/stages").iter().find_map(|stage| {
        let tasks = stage.get("afterStageTasks")?.as_array()?;
        let types: Vec<_> = tasks.iter().filter_map(|t| t.get("type")?.as_str()).collect();
        let twice = types.iter().enumerate().find(|(i, t)| types[..*i].contains(t))?;
        Some((*twice.1).to_owned())
    })
}

/// A wait of no length.
fn wait_time<'a>(fleet: Fleet<'a>, run: Run<'a>) -> Option<&'a str> {
    run.strategy(fleet)?.list("/spec/stages").iter().find_map(|stage| {
        let tasks = stage.get("afterStageTasks")?.as_array()?;
        let waits = tasks.iter().filter(|t| t.get("type").and_then(Value::as_str) == Some("TimedWait"));
        waits.filter_map(|t| t.get("waitTime")?.as_str()).find(|w| w.starts_with('-') || is_nothing(w))
    })
}

/// Whether a duration such as `0s` or `0h0m` is no time at all.
fn is_nothing(duration: &str) -> bool {
    !duration.contains(|c: char| c.is_ascii_digit() && c != '0')
}
