//! Steps about the conditions of whatever object, as the guides show them.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::{Condition, JsonList, JsonRef, Object};
use fleet::capability::Capabilities;
use fleet::objects::path_in_entry;
use fleet::observe::{Verdict, WatchedObjects};
use record::ConditionPlace;

use crate::application;
use crate::context::ScenarioContext;
use crate::data_table::{DataTable, DataTableRow};
use crate::error::StepError;
use crate::limits;
use crate::needs::{StepCall, TableShape, needs};
use crate::object_lookup::ObjectLookup;
use crate::params::ObjectRef;
use crate::phrases::ForSeconds;
use crate::wording;
use crate::world::World;

/// Table of conditions.
const CONDITIONS: TableShape = TableShape {
    rows: "conditions",
    columns: &["on", "condition", "status", "reason", "message", "observedGeneration"],
    optional: false,
};

/// An Application has a table of its own.
fn table_of(call: &StepCall<'_>) -> Option<TableShape> {
    match call.parameter()? {
        ObjectRef::Application(_) => Some(application::FIELDS),
        _ => Some(CONDITIONS),
    }
}

/// Member of the entries in a placement's status that have no `clusterName`, as in [`ConditionPlace::Member`].
const UNNAMED: &str = "(none)";

/// Row of a table of conditions.
#[derive(Clone, Debug)]
struct ExpectedCondition {
    /// Place in the object: empty for the object itself, a member, `stage S`, `stage S, member M`, or `manifest Kind/name`.
    place: ConditionPlace,
    type_: String,
    status: String,
    reason: Option<String>,
    /// A part of the message.
    message: Option<String>,
    /// The generation, when it isn't the object's own.
    observed_generation: Option<i64>,
}

/// Waits until the object has all the conditions of the table at the same moment. Columns: `on` (empty: the object
/// itself; a member in a placement; `(none)`: an entry of a placement without a cluster's name, for one that wasn't chosen; `stage S`
/// or `stage S, member` in a run; `manifest Kind/name` or `manifest Kind/namespace/name` in a Work), `condition` (a placement's own types go
/// without their prefix), `status`, and where wanted `reason`, `message` (a part of it; `{name}` stands for the real name
/// of what the scenario calls so) and `observedGeneration` (`stale` for 0; without the column it must be the object's
/// generation). A status of `absent` means that there is no such condition.
///
/// An application has a table of its own. Columns: `field` and `value`. Fields: `sync` and `health`; `phase`, `message`,
/// `revision` (`latest` or `an earlier one` of its repository's commits) and `retries` of its last operation; and the type of
/// one of its conditions, such as `ComparisonError`, for that condition's message. Of messages it is a part; `absent` means
/// that there is none.
///
/// ` for 15 seconds`: watches that the object goes on to have all of it for that long. For a state that nothing will change and nothing
/// explains, such as a run that waits for an approval that was given wrongly. Not for applications.
#[needs(table: table_of)]
#[given(expr = "{object} reports{for seconds?}")]
#[when(expr = "{object} reports{for seconds?}")]
#[then(expr = "{object} reports{for seconds?}")]
async fn reports(world: &mut World, object: ObjectRef, time: ForSeconds, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    if let ObjectRef::Application(name) = &object {
        return application::reports(context, name, step).await;
    }
    let expected = tables(context, &object, step)?;
    let found = context.find(&object)?;
    let cluster = context.cluster_of(&found).await?;
    let (watched, expectation) = (&found.watched, expectation(&expected[0]));
    // The watch may not have seen yet what a step before has just written.
    context
        .wait(&cluster, watched, &expectation, limits::REPORTED, |objects| check(&found, &expected, objects))
        .await?;
    let Some(seconds) = time.0 else { return Ok(()) };
    let time = Duration::from_secs(seconds);
    context.stays(&cluster, watched, &expectation, time, |objects| check(&found, &expected, objects)).await
}

/// Returns the expected conditions in the words of the version that runs. For an update run that was made before KubeFleet was upgraded,
/// the result also has them in the older version's words: a run that had ended keeps those.
fn tables(
    context: &ScenarioContext,
    object: &ObjectRef,
    step: &Step,
) -> Result<Vec<Vec<ExpectedCondition>>, StepError> {
    let now = context.fleet.capabilities();
    let mut tables = vec![table(context, &now, step)?];
    if let ObjectRef::UpdateRun(name) = object {
        let then = context.run(name)?.made_under;
        if then != now {
            tables.push(table(context, &then, step)?);
        }
    }
    Ok(tables)
}

fn table(context: &ScenarioContext, can: &Capabilities, step: &Step) -> Result<Vec<ExpectedCondition>, StepError> {
    DataTable::of(step, &CONDITIONS)?.rows().map(|row| self::row(context, can, &row)).collect()
}

fn row(context: &ScenarioContext, can: &Capabilities, row: &DataTableRow<'_>) -> Result<ExpectedCondition, StepError> {
    let names = &context.ledger.names;
    let observed_generation = match row.cell("observedGeneration").map(|cell| names.fill(cell)).as_deref() {
        None => None,
        Some("stale") => Some(0),
        Some(number) => Some(number.parse().map_err(|_| {
            StepError::Feature(format!("observedGeneration `{number}` is neither a number nor `stale`"))
        })?),
    };
    let expected = ExpectedCondition {
        place: place(context, &row.cell("on").map(|cell| names.fill(cell)).unwrap_or_default())?,
        type_: names.fill(row.needed("condition")?),
        status: names.fill(row.needed("status")?),
        reason: row.cell("reason").map(|reason| wording::reason(can, reason)),
        message: row.cell("message").map(|message| names.fill(&wording::text(can, message))),
        observed_generation,
    };
    let of_run = expected.type_ == "Progressing" && expected.place == ConditionPlace::Object;
    let instead = expected.reason.as_deref().filter(|_| of_run).and_then(|reason| wording::progress(can, reason));
    Ok(match instead {
        Some((status, reason)) => {
            ExpectedCondition { status: status.to_owned(), reason: Some(reason.to_owned()), message: None, ..expected }
        }
        None => expected,
    })
}

fn place(context: &ScenarioContext, text: &str) -> Result<ConditionPlace, StepError> {
    if let Some(object) = text.strip_prefix("manifest ") {
        return Ok(ConditionPlace::Manifest { resource: object.into() });
    }
    let Some(rest) = text.strip_prefix("stage ") else {
        return Ok(if text.is_empty() {
            ConditionPlace::Object
        } else {
            ConditionPlace::Member { member: member(context, text)? }
        });
    };
    Ok(match rest.split_once(", ") {
        Some((stage, member)) => {
            ConditionPlace::StageMember { stage: stage.into(), member: context.ledger.names.get(member)? }
        }
        None => ConditionPlace::Stage { stage: rest.into() },
    })
}

/// Returns a member's real name, or [`UNNAMED`].
fn member(context: &ScenarioContext, text: &str) -> Result<String, StepError> {
    if text == UNNAMED { Ok(text.to_owned()) } else { context.ledger.names.get(text) }
}

fn expectation(expected: &[ExpectedCondition]) -> String {
    expected.iter().map(expectation_of_row).collect::<Vec<_>>().join("; ")
}

fn expectation_of_row(e: &ExpectedCondition) -> String {
    let on = if e.place.is_object() { String::new() } else { format!("{}: ", e.place) };
    format!("{on}{} {} {}", e.type_, e.status, e.reason.as_deref().unwrap_or_default()).trim_end().to_owned()
}

/// Returns `Holds` if one of the tables holds, and otherwise the verdict on the first table.
fn check(found: &ObjectLookup, tables: &[Vec<ExpectedCondition>], objects: &WatchedObjects) -> Verdict {
    let mut verdicts = tables.iter().map(|expected| check_one(found, expected, objects)).collect::<Vec<_>>();
    let holds = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Holds));
    if holds { Verdict::Holds } else { verdicts.swap_remove(0) }
}

fn check_one(found: &ObjectLookup, expected: &[ExpectedCondition], objects: &WatchedObjects) -> Verdict {
    let Some(value) = found.pick(objects) else {
        return Verdict::Pending(format!("there is no such {}", found.kind.kind));
    };
    let object = Object::new(value);
    for row in expected {
        if let Err(what) = row_holds(found, row, object) {
            return match final_word(object) {
                Some(end) if row.place == ConditionPlace::Object => Verdict::Never(format!("{end}, but {what}")),
                _ => Verdict::Pending(what),
            };
        }
    }
    Verdict::Holds
}

fn row_holds(found: &ObjectLookup, row: &ExpectedCondition, object: Object<'_>) -> Result<(), String> {
    if row.place == (ConditionPlace::Member { member: UNNAMED.to_owned() }) {
        return unnamed_row_holds(row, object);
    }
    let (holder, prefix) = match &row.place {
        ConditionPlace::Object => (object.at("/status"), found.prefix),
        ConditionPlace::Member { member } => (by(object.list("/status/placementStatuses"), "clusterName", member), ""),
        ConditionPlace::Stage { stage } => (by(object.list("/status/stagesStatus"), "stageName", stage), ""),
        ConditionPlace::StageMember { stage, member } => {
            let stage = by(object.list("/status/stagesStatus"), "stageName", stage);
            let clusters = stage.and_then(|s| s.get("clusters")).and_then(JsonRef::as_array);
            (clusters.and_then(|c| by(c, "clusterName", member)), "")
        }
        ConditionPlace::Manifest { resource } => {
            let manifests = object.list("/status/manifestConditions");
            let of = |m: &JsonRef<'_>| m.get("identifier").map(path_in_entry).as_ref() == Some(resource);
            (manifests.iter().find(of), "")
        }
        // The table has no syntax for them.
        ConditionPlace::FailedPlacement { .. } | ConditionPlace::SyncResult { .. } => (None, ""),
    };
    let type_ = format!("{prefix}{}", row.type_);
    let condition = diagnosis::conditions(holder).into_iter().find(|c| c.type_ == type_);
    match (condition, row.status.as_str()) {
        (None, "absent") => Ok(()),
        (Some(c), "absent") => Err(format!("{type_} is there: {} {}", c.status, c.reason)),
        (None, _) => Err(format!("{type_} isn't there")),
        (Some(c), _) => condition_holds(row, &c, object.generation()),
    }
}

/// Checks a row about clusters that weren't chosen: one of their entries must have the condition.
fn unnamed_row_holds(row: &ExpectedCondition, object: Object<'_>) -> Result<(), String> {
    let entries = object.list("/status/placementStatuses").iter().filter(|entry| entry.get("clusterName").is_none());
    let conditions: Vec<_> = entries.flat_map(|entry| diagnosis::conditions(Some(entry))).collect();
    let mut of_type = conditions.iter().filter(|condition| condition.type_ == row.type_).peekable();
    match (of_type.peek(), row.status.as_str()) {
        (None, "absent") => Ok(()),
        (Some(c), "absent") => Err(format!("{} is there: {} {}", row.type_, c.status, c.reason)),
        (None, _) => Err(format!("no entry without a cluster's name has {}", row.type_)),
        (Some(_), _) => {
            let results: Vec<_> = of_type.map(|c| condition_holds(row, c, object.generation())).collect();
            if results.iter().any(Result::is_ok) { Ok(()) } else { results.into_iter().next().unwrap_or(Ok(())) }
        }
    }
}

fn condition_holds(row: &ExpectedCondition, c: &Condition, generation: i64) -> Result<(), String> {
    if c.status != row.status {
        return differs(c, "status", &format!("{} {}", c.status, c.reason), &row.status);
    }
    if let Some(reason) = row.reason.as_ref().filter(|r| **r != c.reason) {
        return differs(c, "reason", &c.reason, reason);
    }
    if let Some(message) = row.message.as_ref().filter(|m| !c.message.contains(m.as_str())) {
        return differs(c, "message", &c.message, message);
    }
    // What a controller of Kubernetes itself writes, such as a namespace's conditions, has no observedGeneration. A manifest's is
    // the generation of the object on the member.
    let known = generation > 0 && !matches!(row.place, ConditionPlace::Manifest { .. });
    let want = row.observed_generation.or(known.then_some(generation));
    match want {
        Some(want) if c.observed_generation != want => {
            differs(c, "observedGeneration", &c.observed_generation.to_string(), &want.to_string())
        }
        _ => Ok(()),
    }
}

fn differs(condition: &Condition, what: &str, is: &str, want: &str) -> Result<(), String> {
    Err(format!("{}'s {what} is `{is}`, not `{want}`", condition.type_))
}

fn by<'a>(list: JsonList<'a>, key: &str, value: &str) -> Option<JsonRef<'a>> {
    list.iter().find(|v| v.get(key).and_then(JsonRef::as_str) == Some(value))
}

/// An update run that has ended at its present generation won't say anything else.
fn final_word(object: Object<'_>) -> Option<String> {
    if !object.kind().ends_with("StagedUpdateRun") {
        return None;
    }
    let ended = ["Succeeded", "Initialized"].map(|type_| object.current_condition(type_));
    let ended =
        ended.into_iter().flatten().find(|c| c.type_ == "Succeeded" && c.status != "Unknown" || c.status == "False");
    ended.map(|c| format!("the run has ended with {} {} {}", c.type_, c.status, c.reason))
}
