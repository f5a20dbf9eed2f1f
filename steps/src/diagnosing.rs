//! Steps about what the diagnosis says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clusters::agents::HUB_AGENT;
use cucumber::gherkin::Step;
use cucumber::{then, when};
use diagnosis::{Diagnosis, Finding, InProgress, UnreadReason};
use record::RecordedEvent;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::expected_finding::{AssertedDiagnosis, ExpectedFinding, list};
use crate::limits;
use crate::needs::{StepRole, TableShape, needs};
use crate::params::{CodeParam, ObjectRef};
use crate::pauses::{between_reads, is_last_read};
use crate::phrases::{FindingRelation, ForMember, Meanwhile, WithinSeconds};
use crate::placement_objects::available_on;
use crate::wording;
use crate::world::World;

/// Table of evidence.
const EVIDENCE: TableShape = TableShape { rows: "evidence", columns: &["object", "value"], optional: true };

/// The diagnosis of the object has this code, and nothing that it finds in this scenario has another root.
///
/// ` for "member-1"`: the code is about this member. `, because of KF-MC-001`: the finding hangs under a root that has the second code.
/// `, superseded by update run "again"`: the finding is a notice, because that run has made up for the failure.
/// Waits for two minutes at most, because the diagnosis takes a state that is seconds old for one that passes. `within 200 seconds `: for a
/// diagnosis that rests on something which takes longer, such as the age of a heartbeat.
///
/// The diagnosis reads what it needs, as `fleetdrill diagnose` does. Of an object of a member, and of a Work, given by their paths, it reads
/// everything, as with `--read-all`.
///
/// With a table (columns `object`, `value`), the finding's evidence names, in this order, these objects (kind and name, `{name}` filled
/// in) with values that contain these.
#[needs(role: Some(StepRole::AssertsDiagnosis), table: |_| Some(EVIDENCE))]
#[then(expr = "{within?}the diagnosis of {object} is {code}{for member?}{because of or superseded by?}")]
async fn is(
    world: &mut World,
    limit: WithinSeconds,
    object: ObjectRef,
    code: CodeParam,
    member: ForMember,
    relation: FindingRelation,
    step: &Step,
) -> Result<(), StepError> {
    let context = world.context();
    let reads_everything = is_found_by_full_read(&object);
    let asserted = AssertedDiagnosis { object, code: code.0, member: member.0, relation, within: None };
    let wanted = asserted.resolve(context)?;
    within(context, limit.0.map_or(limits::DIAGNOSED, Duration::from_secs), wanted, reads_everything, step).await
}

/// True if a live diagnosis doesn't ask for an object: nothing on the hub leads to objects of members, and to Works without a placement.
fn is_found_by_full_read(object: &ObjectRef) -> bool {
    match object {
        ObjectRef::Named { member: None, path } => path.split('/').next() == Some(fleet::kinds::WORK.kind),
        ObjectRef::Named { .. } => true,
        _ => false,
    }
}

/// The diagnosis finds nothing wrong with anything of this scenario: neither a failure nor a notice, now.
///
/// ` while placement "web" becomes available on "member-1"`: diagnoses about every second until the placement says so and its resources are
/// there, and finds nothing any time. ` while the hub-agent is restarted`: stops the hub-agent until the diagnosis says that it is behind, starts it
/// again, diagnoses until it works and nothing is in progress any more, and finds nothing any time. For a fleet of hundreds of members: with
/// few, a hub-agent that has been silent for half a minute counts as stopped.
/// `within 200 seconds `: diagnoses until it finds nothing.
/// Fails if the hub didn't return all that the diagnosis asked for.
#[needs(role: Some(StepRole::AssertsNoFindings))]
#[then(expr = "{within?}the diagnosis finds nothing{while?}")]
#[when(expr = "{within?}the diagnosis finds nothing{while?}")]
async fn nothing(world: &mut World, limit: WithinSeconds, meanwhile: Meanwhile) -> Result<(), StepError> {
    let context = world.context();
    match meanwhile {
        Meanwhile::Nothing => {
            let deadline = Instant::now() + Duration::from_secs(limit.0.unwrap_or_default());
            // The last diagnosis is the one that is reported.
            while !is_last_read(deadline) && !context.diagnose().await?.is_empty() {
                between_reads(PAUSE).await;
            }
            finds_nothing(context).await.map(drop)
        }
        _ if limit.0.is_some() => Err(StepError::Feature("this step has a time limit or a `while`, not both".into())),
        Meanwhile::Available(placement, members) => {
            let always = async {
                loop {
                    finds_nothing(context).await?;
                    between_reads(PAUSE).await;
                }
            };
            tokio::select! {
                ended = available_on(context, &placement, &members, limits::AVAILABLE) => ended,
                found = always => found,
            }
        }
        Meanwhile::HubAgentRestarts => nothing_while_hub_agent_restarts(context).await,
    }
}

/// Stops the hub-agent until a diagnosis says that it is behind, and starts it again. Diagnoses until it works and everything is well.
async fn nothing_while_hub_agent_restarts(context: &ScenarioContext) -> Result<(), StepError> {
    context.check_own_fleet("the hub-agent is")?;
    let (works, deadline) = (AtomicBool::new(false), Instant::now() + limits::CAUGHT_UP);
    context.fleet.stop_hub_agent().await?;
    context.induced("hub-agent stopped");
    let is_named = Notify::new();
    let restart = async {
        is_named.notified().await;
        context.fleet.restart_hub_agent().await?;
        works.store(true, Ordering::Relaxed);
        context.remedied("hub-agent restarted");
        Ok(())
    };
    let diagnose = async {
        let mut lags = Vec::new();
        for count in 1.. {
            // A diagnosis counts if the hub-agent works when it begins.
            let worked = works.load(Ordering::Relaxed);
            let last = is_last_read(deadline);
            let in_progress = finds_nothing(context).await?;
            if let Some(hub_agent) = in_progress.iter().find(|state| state.subject.name == HUB_AGENT) {
                lags.push(hub_agent.seconds.unwrap_or_default());
                is_named.notify_one();
            }
            if worked && in_progress.is_empty() {
                let (behind, lag) = (lags.len(), lags.into_iter().max().unwrap_or_default());
                context.did(format!(
                    "{behind} of {count} diagnoses said that the hub-agent is behind, by {lag} s at most"
                ));
                break;
            }
            if last {
                let subjects: Vec<String> = in_progress.iter().map(|state| state.subject.to_string()).collect();
                return Err(StepError::Differs(if lags.is_empty() {
                    "the diagnosis doesn't say that the hub-agent is behind".into()
                } else {
                    format!("in progress are still: {}", subjects.join(", "))
                }));
            }
            between_reads(PAUSE).await;
        }
        Ok(())
    };
    futures::future::try_join(restart, diagnose).await.map(drop)
}

/// Diagnoses once and finds nothing. Returns what is in progress.
async fn finds_nothing(context: &ScenarioContext) -> Result<Vec<InProgress>, StepError> {
    let began = Instant::now();
    let snapshot = context.fleet.needed_snapshot().await?;
    let Diagnosis { findings, in_progress } = context.examine(&snapshot);
    context.recorder.add(RecordedEvent::Diagnosed { findings: findings.clone() });
    if !findings.is_empty() {
        return Err(StepError::Differs(format!("the diagnosis finds {}", list(&findings))));
    }
    let took = began.elapsed();
    if took > WORTH_TELLING {
        context.did(format!("the diagnosis took {:.1} s", took.as_secs_f64()));
    }
    let unread = snapshot.hub().into_iter().flat_map(|hub| &hub.unread);
    match unread.into_iter().find(|unread| unread.reason != UnreadReason::NotServed) {
        Some(unread) => {
            let (resource, why) = (&unread.resource, &unread.message);
            Err(StepError::Differs(format!("the diagnosis finds nothing, but the hub didn't return {resource}: {why}")))
        }
        None => Ok(in_progress),
    }
}

/// Time from which on the report says how long a diagnosis took.
const WORTH_TELLING: Duration = Duration::from_secs(3);

/// Nothing tells when the diagnosis will change its mind: it reads the age of things, which no watch tells.
const PAUSE: Duration = Duration::from_secs(1);

async fn within(
    context: &ScenarioContext,
    limit: Duration,
    wanted: ExpectedFinding,
    reads_everything: bool,
    step: &Step,
) -> Result<(), StepError> {
    let deadline = Instant::now() + limit;
    loop {
        let last = is_last_read(deadline);
        let findings = if reads_everything {
            context.findings_in(&*context.fleet.snapshot().await?)
        } else {
            context.diagnose().await?
        };
        let checked = check(&wanted, context, &findings, step);
        if checked.is_ok() || last {
            context.recorder.add(RecordedEvent::Diagnosed { findings });
            return checked.map_err(|e| match e {
                StepError::Differs(text) => StepError::Differs(format!("after {} s: {text}", limit.as_secs())),
                other => other,
            });
        }
        between_reads(PAUSE).await;
    }
}

/// Checks that the findings have the wanted one, at its place among the others, and with the table's evidence.
fn check(
    wanted: &ExpectedFinding,
    context: &ScenarioContext,
    findings: &[Finding],
    step: &Step,
) -> Result<(), StepError> {
    let finding = wanted.among(findings).map_err(StepError::Differs)?;
    evidence(context, finding, step)
}

fn evidence(context: &ScenarioContext, finding: &Finding, step: &Step) -> Result<(), StepError> {
    let Some(table) = &step.table else { return Ok(()) };
    let [header, rows @ ..] = &table.rows[..] else { return Ok(()) };
    if header[..] != ["object", "value"] {
        return Err(StepError::Feature("the table of evidence has the columns `object` and `value`".into()));
    }
    // Each row from where the one before was found, and that one too: two rows may be about the same evidence. The order is
    // the one in which a person would follow it.
    let mut left = &finding.evidence[..];
    let can = context.fleet.capabilities();
    for row in rows {
        let (object, value) = (context.words(&row[0]), context.ledger.fill(&wording::evidence(&can, &row[1])));
        let place = left.iter().position(|e| e.object.to_string().contains(&object) && e.value.contains(&value));
        if let Some(place) = place {
            left = &left[place..];
        } else {
            let there: Vec<String> = finding.evidence.iter().map(|e| format!("{}: {}", e.object, e.value)).collect();
            let what = format!("{object} with `{value}`, or not in this order; it rests on {}", there.join("; "));
            return Err(StepError::Differs(format!("{} doesn't rest on {what}", finding.code)));
        }
    }
    Ok(())
}
