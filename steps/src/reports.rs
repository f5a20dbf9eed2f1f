//! Steps about the conditions of whatever object, as the guides show them.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::{Condition, Object};
use fleet::capability::Capabilities;
use fleet::observe::{Objects, Verdict};
use serde_json::Value;

use crate::application;
use crate::data_table::{DataTable, Row};
use crate::error::StepError;
use crate::limits;
use crate::objects::Found;
use crate::params::ObjectRef;
use crate::scene::Scene;
use crate::wording;
use crate::world::World;

/// The columns of a table of conditions.
pub(crate) const COLUMNS: [&str; 6] = ["on", "condition", "status", "reason", "message", "observedGeneration"];

/// One row of a table of conditions.
#[derive(Clone, Debug)]
struct Expected {
    /// Where in the object: empty for the object itself, a member, `stage S`, or `stage S, member M`.
    place: Place,
    type_: String,
    status: String,
    reason: Option<String>,
    /// A part of the message.
    message: Option<String>,
    /// The generation, when it isn't the object's own.
    observed_generation: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Object,
    Member(String),
    Stage(String),
    StageMember { stage: String, member: String },
}

/// Waits until the object has all the conditions of the table at the same moment. Columns: `on` (empty: the object
/// itself; a member in a placement; `stage S` or `stage S, member` in a run), `condition` (a placement's own types go
/// without their prefix), `status`, and where wanted `reason`, `message` (a part of it; `{name}` stands for the real name
/// of what the scenario calls so) and `observedGeneration` (`stale` for 0; without the column it must be the object's
/// generation). A status of `absent` means that there is no such condition.
///
/// An application has a table of its own. Columns: `field` and `value`. Fields: `sync` and `health`; `phase`, `message`,
/// `revision` (`latest` or `an earlier one` of its repository's commits) and `retries` of its last operation; and the type of
/// one of its conditions, such as `ComparisonError`, for that condition's message. Of messages it is a part; `absent` means
/// that there is none.
#[given(expr = "{object} reports")]
#[when(expr = "{object} reports")]
#[then(expr = "{object} reports")]
async fn reports(world: &mut World, object: ObjectRef, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    if let ObjectRef::Application(name) = &object {
        return application::reports(scene, name, step).await;
    }
    let expected = tables(scene, &object, step)?;
    let found = scene.find(&object)?;
    let hub = scene.hub();
    let expectation = expectation(&expected[0]);
    scene
        .wait(&hub, &found.watched, &expectation, limits::REPORTED, |objects| check(&found, &expected, objects))
        .await?;
    Ok(())
}

/// Waits until the object has all the conditions of the table, and watches that it goes on to have them for that long. For a state that nothing will
/// change and nothing explains, such as a run that waits for an approval that was given wrongly.
#[given(expr = "{object} goes on reporting for {int} seconds")]
#[then(expr = "{object} goes on reporting for {int} seconds")]
async fn goes_on(world: &mut World, object: ObjectRef, seconds: u64, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let expected = tables(scene, &object, step)?;
    let found = scene.find(&object)?;
    let (hub, time) = (scene.hub(), Duration::from_secs(seconds));
    let (watched, expectation) = (&found.watched, expectation(&expected[0]));
    // The watch may not have seen yet what a step before has just written.
    scene.wait(&hub, watched, &expectation, limits::REPORTED, |objects| check(&found, &expected, objects)).await?;
    scene.stays(&hub, watched, &expectation, time, |objects| check(&found, &expected, objects)).await
}

/// What is expected, in the words of the version that runs; and of an update run that was made before KubeFleet was upgraded in the
/// older version's words as well: one that had ended keeps them.
fn tables(scene: &Scene, object: &ObjectRef, step: &Step) -> Result<Vec<Vec<Expected>>, StepError> {
    let now = scene.fleet.capabilities();
    let mut tables = vec![table(scene, &now, step)?];
    if let ObjectRef::UpdateRun(name) = object {
        let then = scene.run(name)?.made_under;
        if then != now {
            tables.push(table(scene, &then, step)?);
        }
    }
    Ok(tables)
}

fn table(scene: &Scene, can: &Capabilities, step: &Step) -> Result<Vec<Expected>, StepError> {
    DataTable::of(step, "conditions", &COLUMNS)?.rows().map(|row| self::row(scene, can, &row)).collect()
}

fn row(scene: &Scene, can: &Capabilities, row: &Row<'_>) -> Result<Expected, StepError> {
    let cell = |name: &str| row.cell(name).map(|cell| scene.names.fill(cell));
    let needed = |name: &str| row.needed(name).map(|cell| scene.names.fill(cell));
    let observed_generation = match cell("observedGeneration").as_deref() {
        None => None,
        Some("stale") => Some(0),
        Some(number) => {
            let wrong =
                |_| StepError::Feature(format!("observedGeneration `{number}` is neither a number nor `stale`"));
            Some(number.parse().map_err(wrong)?)
        }
    };
    let expected = Expected {
        place: place(scene, &cell("on").unwrap_or_default())?,
        type_: needed("condition")?,
        status: needed("status")?,
        reason: row.cell("reason").map(|reason| wording::reason(can, reason)),
        message: row.cell("message").map(|message| scene.names.fill(&wording::text(can, message))),
        observed_generation,
    };
    let of_run = expected.type_ == "Progressing" && expected.place == Place::Object;
    let instead = expected.reason.as_deref().filter(|_| of_run).and_then(|reason| wording::progress(can, reason));
    Ok(match instead {
        Some((status, reason)) => {
            Expected { status: status.to_owned(), reason: Some(reason.to_owned()), message: None, ..expected }
        }
        None => expected,
    })
}

fn place(scene: &Scene, text: &str) -> Result<Place, StepError> {
    let Some(rest) = text.strip_prefix("stage ") else {
        return Ok(if text.is_empty() { Place::Object } else { Place::Member(scene.names.get(text)?) });
    };
    Ok(match rest.split_once(", ") {
        Some((stage, member)) => Place::StageMember { stage: stage.into(), member: scene.names.get(member)? },
        None => Place::Stage(rest.into()),
    })
}

fn expectation(expected: &[Expected]) -> String {
    let one = |e: &Expected| {
        let on = match &e.place {
            Place::Object => String::new(),
            Place::Member(member) => format!("{member}: "),
            Place::Stage(stage) => format!("stage {stage}: "),
            Place::StageMember { stage, member } => format!("stage {stage}, {member}: "),
        };
        format!("{on}{} {} {}", e.type_, e.status, e.reason.as_deref().unwrap_or_default()).trim_end().to_owned()
    };
    expected.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Whether one of the tables holds; where none does, what the first one says.
fn check(found: &Found, tables: &[Vec<Expected>], objects: &Objects) -> Verdict {
    let mut verdicts = tables.iter().map(|expected| check_one(found, expected, objects)).collect::<Vec<_>>();
    let holds = verdicts.iter().any(|verdict| matches!(verdict, Verdict::Holds));
    if holds { Verdict::Holds } else { verdicts.swap_remove(0) }
}

fn check_one(found: &Found, expected: &[Expected], objects: &Objects) -> Verdict {
    let Some(value) = found.pick(objects) else {
        return Verdict::Pending(format!("there is no such {}", found.kind.kind));
    };
    let object = Object::new(value);
    for row in expected {
        if let Err(what) = row_holds(found, row, object) {
            return match final_word(object) {
                Some(end) if row.place == Place::Object => Verdict::Never(format!("{end}, but {what}")),
                _ => Verdict::Pending(what),
            };
        }
    }
    Verdict::Holds
}

fn row_holds(found: &Found, row: &Expected, object: Object<'_>) -> Result<(), String> {
    let (holder, prefix) = match &row.place {
        Place::Object => (object.at("/status"), found.prefix),
        Place::Member(member) => (by(object.list("/status/placementStatuses"), "clusterName", member), ""),
        Place::Stage(stage) => (by(object.list("/status/stagesStatus"), "stageName", stage), ""),
        Place::StageMember { stage, member } => {
            let stage = by(object.list("/status/stagesStatus"), "stageName", stage);
            let clusters = stage.and_then(|s| s.get("clusters")).and_then(Value::as_array);
            (clusters.and_then(|c| by(c, "clusterName", member)), "")
        }
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

fn condition_holds(row: &Expected, c: &Condition, generation: i64) -> Result<(), String> {
    let differs = |what: &str, is: &str, want: &str| Err(format!("{}'s {what} is `{is}`, not `{want}`", c.type_));
    if c.status != row.status {
        return differs("status", &format!("{} {}", c.status, c.reason), &row.status);
    }
    if let Some(reason) = row.reason.as_ref().filter(|r| **r != c.reason) {
        return differs("reason", &c.reason, reason);
    }
    if let Some(message) = row.message.as_ref().filter(|m| !c.message.contains(m.as_str())) {
        return differs("message", &c.message, message);
    }
    // What a controller of Kubernetes itself writes, such as a namespace's conditions, has no observedGeneration.
    let want = row.observed_generation.or((generation > 0).then_some(generation));
    match want {
        Some(want) if c.observed_generation != want => {
            differs("observedGeneration", &c.observed_generation.to_string(), &want.to_string())
        }
        _ => Ok(()),
    }
}

fn by<'a>(list: &'a [Value], key: &str, value: &str) -> Option<&'a Value> {
    list.iter().find(|v| v.get(key).and_then(Value::as_str) == Some(value))
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
