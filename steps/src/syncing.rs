//! Steps about syncing Applications, as the user of the `argocd` command does.

use std::time::Duration;

use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::FleetError;
use fleet::argocd::{self, Request};
use fleet::observe::Verdict;
use serde_json::Value;

use crate::application::{latest, stays, wait};
use crate::error::StepError;
use crate::limits;
use crate::noticing::{begins, refresh, sync_judged_by_an_old_hook, terminate};
use crate::params::ComponentParam;
use crate::scene::Scene;
use crate::world::World;

/// How a sync can end.
const FINAL: [&str; 3] = ["Succeeded", "Failed", "Error"];

/// Asks for a sync to the repository's latest commit, as `argocd app sync` does, and doesn't wait for its end.
#[given(expr = "application {string} syncs")]
#[when(expr = "application {string} syncs")]
async fn syncs(world: &mut World, name: String) -> Result<(), StepError> {
    sync(world.scene(), &name, "").await
}

/// As without it, with these flags of `argocd app sync`: `--force`, `--replace`, `--server-side`, `--prune`, `--dry-run`,
/// `--retry-limit=N`; and `--sync-option NAME=VALUE`, which the command takes for the Application alone.
#[when(expr = "application {string} syncs with {string}")]
async fn syncs_with(world: &mut World, name: String, flags: String) -> Result<(), StepError> {
    sync(world.scene(), &name, &flags).await
}

/// Waits until the sync to the repository's latest commit has succeeded.
#[given(expr = "the sync of application {string} succeeds")]
#[when(expr = "the sync of application {string} succeeds")]
#[then(expr = "the sync of application {string} succeeds")]
async fn succeeds(world: &mut World, name: String) -> Result<(), StepError> {
    ends(world.scene(), &name, "Succeeded").await
}

/// Waits until the sync to the repository's latest commit has ended with the phase Failed: it was begun, and something in
/// it failed.
#[then(expr = "the sync of application {string} fails")]
async fn fails(world: &mut World, name: String) -> Result<(), StepError> {
    ends(world.scene(), &name, "Failed").await
}

/// Waits until the sync to the repository's latest commit has ended with the phase Error: there was nothing to begin with.
#[then(expr = "the sync of application {string} ends in an error")]
async fn ends_in_an_error(world: &mut World, name: String) -> Result<(), StepError> {
    ends(world.scene(), &name, "Error").await
}

/// Waits until a sync runs, and watches that it goes on to run for that long.
#[then(expr = "the sync of application {string} still runs after {int} seconds")]
async fn still_runs(world: &mut World, name: String, seconds: u64) -> Result<(), StepError> {
    runs_on(world.scene(), &name, seconds, "").await
}

/// Waits until the running sync says this, and watches that it goes on to run and to say so for that long.
#[then(expr = "the sync of application {string} still runs after {int} seconds: {string}")]
async fn still_says(world: &mut World, name: String, seconds: u64, message: String) -> Result<(), StepError> {
    runs_on(world.scene(), &name, seconds, &message).await
}

async fn runs_on(scene: &Scene, name: &str, seconds: u64, message: &str) -> Result<(), StepError> {
    let message = scene.names.fill(message);
    let runs = |object: Object<'_>| {
        let phase = object.str("/status/operationState/phase").unwrap_or("absent");
        let said = object.str("/status/operationState/message").unwrap_or_default();
        match phase {
            "Running" if said.contains(&message) => Verdict::Holds,
            phase if FINAL.contains(&phase) => Verdict::Never(format!("it has ended: {phase}: {said}")),
            phase => Verdict::Pending(format!("it is {phase}: {said}")),
        }
    };
    let expectation = format!("the sync runs: {message}");
    wait(scene, name, &expectation, limits::SYNCED, runs).await?;
    stays(scene, name, &expectation, Duration::from_secs(seconds), runs).await
}

/// Asks for the end of the running sync, as `argocd app terminate-op` does, and waits for it.
#[when(expr = "the sync of application {string} is terminated")]
async fn is_terminated(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    scene.remedied(format!("argocd app terminate-op {}", scene.application(&name)?.name));
    terminate(scene, &name).await
}

/// Asks for the end of the sync, and waits for it; one that has ended by itself meanwhile is no error.
#[when(expr = "the sync of application {string} is ended, if it still runs")]
async fn is_ended(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    scene.did(format!("argocd app terminate-op {}", scene.application(&name)?.name));
    match terminate(scene, &name).await {
        Err(StepError::Fleet(FleetError::Idle(_))) => Ok(()),
        ended => ended,
    }
}

/// Asks for a comparison, as `argocd app get --refresh` does, and waits until it is done.
#[given(expr = "application {string} is refreshed")]
#[when(expr = "application {string} is refreshed")]
async fn is_refreshed(world: &mut World, name: String) -> Result<(), StepError> {
    refresh(world.scene(), &name, false).await
}

/// How often a user asks before giving up: three failures of a commit count, and two questions may get one answer.
const REFRESHES: usize = 10;

/// Asks for comparisons, one after another, until one of the Application's conditions has this text; ten at most.
#[when(expr = "application {string} is refreshed until it reports {string}")]
async fn is_refreshed_until(world: &mut World, name: String, text: String) -> Result<(), StepError> {
    let scene = world.scene();
    let mut last = Vec::new();
    for _ in 0..REFRESHES {
        refresh(scene, &name, false).await?;
        wait(scene, &name, "it is seen", limits::SYNCED, |object| {
            last = argocd::conditions(&object).into_iter().map(|(_, message)| message.to_owned()).collect();
            Verdict::Holds
        })
        .await?;
        if last.iter().any(|message| message.contains(&text)) {
            return Ok(());
        }
    }
    Err(StepError::Differs(format!("after {REFRESHES} comparisons it reports {}", last.join("; "))))
}

/// Asks for comparisons, one after another, until the Application is Synced and Healthy; ten at most. For what Argo CD doesn't
/// see by itself, such as the first objects of a new kind.
#[when(expr = "application {string} is refreshed until it is well")]
async fn is_refreshed_until_well(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let mut last = String::new();
    for _ in 0..REFRESHES {
        refresh(scene, &name, false).await?;
        wait(scene, &name, "it is seen", limits::SYNCED, |object| {
            let is = |pointer: &str| object.str(pointer).unwrap_or("absent");
            last = format!("{} and {}", is("/status/sync/status"), is("/status/health/status"));
            Verdict::Holds
        })
        .await?;
        if last == "Synced and Healthy" {
            return Ok(());
        }
    }
    Err(StepError::Differs(format!("after {REFRESHES} comparisons it is {last}")))
}

/// Asks for a comparison with manifests that are rendered again, as `argocd app get --hard-refresh` does, and waits until it
/// is done.
#[when(expr = "application {string} is hard-refreshed")]
async fn is_hard_refreshed(world: &mut World, name: String) -> Result<(), StepError> {
    refresh(world.scene(), &name, true).await
}

/// Kills a component of Argo CD. All scenarios on the fleet would feel it: have a fleet of its own.
#[when(expr = "the {component} of Argo CD is killed")]
async fn is_killed(world: &mut World, component: ComponentParam) -> Result<(), StepError> {
    let scene = world.scene();
    scene.fleet.stop_argocd(component.0).await?;
    scene.induced(format!("{} killed", component.0.process()));
    Ok(())
}

/// Starts a component of Argo CD again that was killed.
#[when(expr = "the {component} of Argo CD is started again")]
async fn is_started_again(world: &mut World, component: ComponentParam) -> Result<(), StepError> {
    let scene = world.scene();
    scene.fleet.start_argocd_again(component.0).await?;
    scene.remedied(format!("{} started again", component.0.process()));
    Ok(())
}

async fn sync(scene: &mut Scene, name: &str, flags: &str) -> Result<(), StepError> {
    let application = scene.application(name)?;
    let request = Request { revision: latest(scene, name).await?, ..request(flags)? };
    let hub = scene.hub();
    scene.follow(&hub, &application.watched());
    scene.wrote(&argocd::sync(&hub, &application.name, &request).await?);
    let flags = if flags.is_empty() { String::new() } else { format!(" {flags}") };
    scene.did(format!("argocd app sync {}{flags}", application.name));
    begins(scene, name).await
}

/// Waits for the end of the sync to the latest commit, which must be this one.
async fn ends(scene: &mut Scene, name: &str, wanted: &str) -> Result<(), StepError> {
    let latest = latest(scene, name).await?;
    let expectation = format!("the sync of Application/{} ends with {wanted}", scene.application(name)?.name);
    loop {
        let mut last = Value::Null;
        let waited = wait(scene, name, &expectation, limits::SYNCED, |object| {
            let verdict = ended(object, &latest, wanted);
            if matches!(verdict, Verdict::Never(_)) {
                last = object.value().clone();
            }
            verdict
        })
        .await;
        let another_end = wanted == "Succeeded" && !last.is_null();
        if !another_end || !sync_judged_by_an_old_hook(scene, name, &last).await? {
            return waited;
        }
    }
}

fn ended(object: Object<'_>, latest: &str, wanted: &str) -> Verdict {
    let at = |key: &str| object.str(&format!("/status/operationState/{key}")).unwrap_or_default();
    if at("operation/sync/revision") != latest {
        return Verdict::Pending("the last operation wasn't to the latest commit".into());
    }
    let (phase, message) = (at("phase"), at("message"));
    if object.at("/operation").is_some() || !FINAL.contains(&phase) {
        return Verdict::Pending(format!("it is {phase}: {message}"));
    }
    if phase == wanted { Verdict::Holds } else { Verdict::Never(format!("it has ended with {phase}: {message}")) }
}

/// What flags of `argocd app sync` ask for.
fn request(flags: &str) -> Result<Request, StepError> {
    let mut request = Request::default();
    let mut option = |option: &str| request.options.get_or_insert_default().push(option.to_owned());
    let (mut force, mut prune, mut dry_run, mut retry_limit) = (false, false, false, None);
    let mut words = flags.split_whitespace();
    while let Some(word) = words.next() {
        match word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value))) {
            ("--force", None) => force = true,
            ("--prune", None) => prune = true,
            ("--dry-run", None) => dry_run = true,
            ("--replace", None) => option("Replace=true"),
            ("--server-side", None) => option("ServerSideApply=true"),
            ("--retry-limit", Some(limit)) => {
                let wrong = |_| StepError::Feature(format!("`{word}` has no number"));
                retry_limit = Some(limit.parse().map_err(wrong)?);
            }
            ("--sync-option", None) => match words.next() {
                Some(value) if value.contains('=') => option(value),
                _ => return Err(StepError::Feature("--sync-option needs an option like Validate=false".into())),
            },
            _ => {
                return Err(StepError::Feature(format!(
                    "`{word}` is not a flag of `argocd app sync` that this step knows"
                )));
            }
        }
    }
    Ok(Request { force, prune, dry_run, retry_limit, ..request })
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
