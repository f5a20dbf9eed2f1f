//! Steps about syncing Applications, as the user of the `argocd` command does.

use std::time::Duration;

use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::FleetError;
use fleet::argocd::{self, SyncRequest};
use fleet::observe::Verdict;
use record::Action;
use serde_json::Value;

use crate::application::latest;
use crate::application_waits::{stays, wait};
use crate::argocd_retries::{begins, refresh, sync_judged_by_an_old_hook, terminate};
use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::phrases::{IfItStillRuns, RefreshKind, RefreshUntil, SyncEnd, WithFlags, WithMessage};
use crate::world::World;

/// Phases in which a sync has ended.
const FINAL: [&str; 3] = ["Succeeded", "Failed", "Error"];

/// Asks for a sync to the repository's latest commit, as `argocd app sync` does, and doesn't wait for its end. Flags of `argocd app sync`:
/// `--force`, `--replace`, `--server-side`, `--prune`, `--dry-run`, `--retry-limit=N`; and `--sync-option NAME=VALUE`, which the command
/// takes for the Application alone.
#[given(expr = "application {string} syncs{with flags?}")]
#[when(expr = "application {string} syncs{with flags?}")]
async fn syncs(world: &mut World, name: String, flags: WithFlags) -> Result<(), StepError> {
    sync(world.context(), &name, &flags.0.unwrap_or_default()).await
}

/// Waits until the sync to the repository's latest commit has ended like this.
#[given(expr = "the sync of application {string} {end}")]
#[when(expr = "the sync of application {string} {end}")]
#[then(expr = "the sync of application {string} {end}")]
async fn ends_with(world: &mut World, name: String, end: SyncEnd) -> Result<(), StepError> {
    ends(world.context(), &name, end.phase).await
}

/// Waits until a sync runs, and says this where the step has a text, and watches that it goes on so for that long.
#[then(expr = "the sync of application {string} still runs after {int} seconds{with message?}")]
async fn still_runs(world: &mut World, name: String, seconds: u64, message: WithMessage) -> Result<(), StepError> {
    runs_on(world.context(), &name, seconds, &message.0.unwrap_or_default()).await
}

async fn runs_on(context: &ScenarioContext, name: &str, seconds: u64, message: &str) -> Result<(), StepError> {
    let message = context.ledger.names.fill(message);
    let expectation = format!("the sync runs: {message}");
    wait(context, name, &expectation, limits::SYNCED, |object| runs(object, &message)).await?;
    stays(context, name, &expectation, Duration::from_secs(seconds), |object| runs(object, &message)).await
}

/// Holds while a sync runs whose message has this text.
fn runs(object: Object<'_>, text: &str) -> Verdict {
    let phase = object.str("/status/operationState/phase").unwrap_or("absent");
    let message = of_operation(object, "message");
    match phase {
        "Running" if message.contains(text) => Verdict::Holds,
        phase if FINAL.contains(&phase) => Verdict::Never(format!("it has ended: {phase}: {message}")),
        phase => Verdict::Pending(format!("it is {phase}: {message}")),
    }
}

/// Returns a field of an Application's last operation; empty if absent.
fn of_operation<'a>(object: Object<'a>, field: &str) -> &'a str {
    object.str(&format!("/status/operationState/{field}")).unwrap_or_default()
}

/// Asks for the end of the running sync, as `argocd app terminate-op` does, and waits for it. With `, if it still runs` a sync that has ended
/// by itself is no error.
#[when(expr = "the sync of application {string} is terminated{if it still runs?}")]
async fn is_terminated(world: &mut World, name: String, only_if: IfItStillRuns) -> Result<(), StepError> {
    let context = world.context();
    let application = context.application(&name)?;
    let action = Action::new(format!("argocd app terminate-op {}", application.name)).on(application.path());
    if !only_if.0 {
        context.remedied(action);
        return terminate(context, &name).await;
    }
    context.did(action);
    match terminate(context, &name).await {
        Err(StepError::Fleet(FleetError::Idle(_))) => Ok(()),
        ended => ended,
    }
}

/// Asks for a comparison, as `argocd app get --refresh` does, and waits until it is done; `hard-refreshed`, with manifests that are rendered
/// again, as `--hard-refresh` does. With `until`, asks again until the Application says so; ten times at most. For what Argo CD doesn't see
/// by itself, such as the first objects of a new kind.
#[given(expr = "application {string} is {refreshed}{until?}")]
#[when(expr = "application {string} is {refreshed}{until?}")]
async fn is_refreshed(
    world: &mut World,
    name: String,
    kind: RefreshKind,
    until: RefreshUntil,
) -> Result<(), StepError> {
    let context = world.context();
    match until {
        RefreshUntil::Once => refresh(context, &name, kind.hard).await,
        RefreshUntil::Reports(text) => refresh_until_reported(context, &name, kind.hard, &text).await,
        RefreshUntil::Well => refresh_until_well(context, &name, kind.hard).await,
    }
}

/// Maximum number of comparisons that a user asks for: three failures of a commit count, and two requests may get one answer.
const REFRESHES: usize = 10;

async fn refresh_until_reported(
    context: &mut ScenarioContext,
    name: &str,
    hard: bool,
    text: &str,
) -> Result<(), StepError> {
    let mut last = Vec::new();
    for _ in 0..REFRESHES {
        refresh(context, name, hard).await?;
        wait(context, name, "it is seen", limits::SYNCED, |object| {
            last = argocd::conditions(&object).into_iter().map(|(_, message)| message.to_owned()).collect();
            Verdict::Holds
        })
        .await?;
        if last.iter().any(|message| message.contains(text)) {
            return Ok(());
        }
    }
    Err(StepError::Differs(format!("after {REFRESHES} comparisons it reports {}", last.join("; "))))
}

async fn refresh_until_well(context: &mut ScenarioContext, name: &str, hard: bool) -> Result<(), StepError> {
    let mut last = String::new();
    for _ in 0..REFRESHES {
        refresh(context, name, hard).await?;
        wait(context, name, "it is seen", limits::SYNCED, |object| {
            let sync = object.str("/status/sync/status").unwrap_or("absent");
            let health = object.str("/status/health/status").unwrap_or("absent");
            last = format!("{sync} and {health}");
            Verdict::Holds
        })
        .await?;
        if last == "Synced and Healthy" {
            return Ok(());
        }
    }
    Err(StepError::Differs(format!("after {REFRESHES} comparisons it is {last}")))
}

async fn sync(context: &mut ScenarioContext, name: &str, flags: &str) -> Result<(), StepError> {
    let application = context.application(name)?;
    let request = SyncRequest { revision: latest(context, name).await?, ..request(flags)? };
    let hub = context.hub();
    context.follow(&hub, &application.watched());
    context.wrote(&argocd::sync(&hub, &application.name, &request).await?);
    let flags = if flags.is_empty() { String::new() } else { format!(" {flags}") };
    let sentence = format!("argocd app sync {}{flags}", application.name);
    context.did(Action::new(sentence).on(application.path()));
    begins(context, name).await
}

/// Waits for the end of the sync to the latest commit, which must be this one.
async fn ends(context: &mut ScenarioContext, name: &str, wanted: &str) -> Result<(), StepError> {
    let latest = latest(context, name).await?;
    let expectation = format!("the sync of Application/{} ends with {wanted}", context.application(name)?.name);
    loop {
        let mut last = Value::Null;
        let waited = wait(context, name, &expectation, limits::SYNCED, |object| {
            let verdict = ended(object, &latest, wanted);
            if matches!(verdict, Verdict::Never(_)) {
                last = object.value().to_value();
            }
            verdict
        })
        .await;
        let another_end = wanted == "Succeeded" && !last.is_null();
        if !another_end || !sync_judged_by_an_old_hook(context, name, &last).await? {
            return waited;
        }
    }
}

fn ended(object: Object<'_>, latest: &str, wanted: &str) -> Verdict {
    if of_operation(object, "operation/sync/revision") != latest {
        return Verdict::Pending("the last operation wasn't to the latest commit".into());
    }
    let (phase, message) = (of_operation(object, "phase"), of_operation(object, "message"));
    if object.at("/operation").is_some() || !FINAL.contains(&phase) {
        return Verdict::Pending(format!("it is {phase}: {message}"));
    }
    if phase == wanted { Verdict::Holds } else { Verdict::Never(format!("it has ended with {phase}: {message}")) }
}

/// Parses flags of `argocd app sync`.
fn request(flags: &str) -> Result<SyncRequest, StepError> {
    let mut options = Vec::new();
    let (mut force, mut prune, mut dry_run, mut retry_limit) = (false, false, false, None);
    let mut words = flags.split_whitespace();
    while let Some(word) = words.next() {
        match word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value))) {
            ("--force", None) => force = true,
            ("--prune", None) => prune = true,
            ("--dry-run", None) => dry_run = true,
            ("--replace", None) => options.push("Replace=true".to_owned()),
            ("--server-side", None) => options.push("ServerSideApply=true".to_owned()),
            ("--retry-limit", Some(limit)) => {
                let limit = limit.parse().map_err(|_| StepError::Feature(format!("`{word}` has no number")));
                retry_limit = Some(limit?);
            }
            ("--sync-option", None) => match words.next() {
                Some(value) if value.contains('=') => options.push(value.to_owned()),
                _ => return Err(StepError::Feature("--sync-option needs an option like Validate=false".into())),
            },
            _ => {
                return Err(StepError::Feature(format!(
                    "`{word}` is not a flag of `argocd app sync` that this step knows"
                )));
            }
        }
    }
    let options = if options.is_empty() { None } else { Some(options) };
    Ok(SyncRequest { force, prune, dry_run, retry_limit, options, ..SyncRequest::default() })
}

#[cfg(test)]
mod tests {
    use diagnosis::Object;
    use fleet::observe::Verdict;
    use serde_json::json;

    use super::{ended, request};

    #[test]
    fn flags_are_those_of_the_command() {
        let asked = request("--force --replace --retry-limit=2 --sync-option Validate=false").expect("flags");
        assert!(asked.force && !asked.prune && asked.retry_limit == Some(2));
        assert_eq!(asked.options, Some(vec!["Replace=true".to_owned(), "Validate=false".to_owned()]));
        assert_eq!(request("").expect("none").options, None);
        for wrong in ["--forse", "--retry-limit=x", "--sync-option", "--sync-option x", "force"] {
            assert!(request(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn another_end_is_the_end_of_waiting_and_another_commit_s_is_not() {
        let application = |phase: &str, revision: &str| {
            json!({"status": {"operationState": {
                "phase": phase, "message": "m", "operation": {"sync": {"revision": revision}},
            }}})
        };
        let is = |phase: &str, revision: &str| ended(Object::new(&application(phase, revision)), "new", "Succeeded");
        assert_eq!(is("Succeeded", "new"), Verdict::Holds);
        assert!(matches!(is("Failed", "new"), Verdict::Never(_)));
        assert!(matches!(is("Running", "new"), Verdict::Pending(_)));
        assert!(matches!(is("Failed", "old"), Verdict::Pending(_)));
    }
}
