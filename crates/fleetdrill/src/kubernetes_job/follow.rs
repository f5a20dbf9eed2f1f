//! Following a Job until it ends: progress, and reasons why Pods don't start, as soon as they are known.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use fleet::error::in_full;
use k8s_openapi::api::batch::v1::Job;
use report::stderr_line;
use report::text::clean_line;

use super::cluster::{CreatedJob, refused};
use super::pods::{PodState, ShardPods, StartProblem};
use crate::error::CommandError;

/// Time between two looks.
const INTERVAL: Duration = Duration::from_secs(2);

/// Time for which the API server may give no answer.
const SILENCE_LIMIT: Duration = Duration::from_secs(120);

/// Time after which a Job without any Pod is asked for the reason.
const FIRST_POD: Duration = Duration::from_secs(5);

/// Follows a Job until all of its shards have ended. What its Pods say is in `pods` then, also after an error.
///
/// # Errors
/// Returns an error if a Pod doesn't start within the limit, if Pods can't be created, if somebody deletes the Job, or if the API server
/// doesn't answer any more.
pub(crate) async fn follow(
    job: &CreatedJob,
    shards: usize,
    start_limit: Duration,
    pods: &mut ShardPods,
) -> Result<(), CommandError> {
    let began = Instant::now();
    let mut last_answer = began;
    let mut progress = String::new();
    let mut starts = StartWatch::new(start_limit);
    loop {
        match job.look().await {
            Ok(look) => {
                last_answer = Instant::now();
                let Some(seen) = look.job else { return Err(deleted(&job.name)) };
                pods.observe(&look.pods);
                let now = pods.progress(shards);
                if now != progress {
                    stderr_line!("{now}");
                    progress = now;
                }
                if has_ended(&seen) {
                    return Ok(());
                }
                starts.check(pods, Instant::now())?;
                if look.pods.is_empty() && began.elapsed() > FIRST_POD && pods.all().is_empty() {
                    check_creation(job, began.elapsed(), start_limit).await?;
                }
            }
            Err(error) if is_refusal(&error) => return Err(refused("list of Pods", &error)),
            Err(error) if last_answer.elapsed() > SILENCE_LIMIT => {
                let message = format!("the Job's cluster doesn't answer any more: {}", in_full(&error));
                return Err(CommandError::Environment { message, hint: None });
            }
            Err(error) => tracing::debug!("failed to read the Job: {}", in_full(&error)),
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Ends the command if no Pod could be created in time: a quota, an admission webhook or Pod Security refuses them.
async fn check_creation(job: &CreatedJob, waited: Duration, limit: Duration) -> Result<(), CommandError> {
    match job.refusal_of_pods().await {
        Some(why) => {
            let message = format!("the cluster refuses the Job's Pods: {}", clean_line(&why));
            Err(CommandError::usage(message, None))
        }
        None if waited > limit => {
            let message = format!("the Job has no Pods after {} s", limit.as_secs());
            let hint = "kubectl describe job says why; does the cluster's controller for Jobs run?".to_owned();
            Err(CommandError::Environment { message, hint: Some(hint) })
        }
        None => Ok(()),
    }
}

/// True if the credentials aren't sufficient, which waiting doesn't change.
fn is_refusal(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if [401, 403].contains(&status.code))
}

fn deleted(name: &str) -> CommandError {
    CommandError::Environment { message: format!("somebody has deleted Job {name}"), hint: None }
}

/// True if the Job's controller has finished with it.
fn has_ended(job: &Job) -> bool {
    let mut conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|c| ["Complete", "Failed"].contains(&c.type_.as_str()) && c.status == "True")
}

/// Watches how long Pods take to start.
struct StartWatch {
    limit: Duration,
    /// Time since which a Pod hasn't started, by its name.
    since: BTreeMap<String, Instant>,
    /// Pods with reasons that were told.
    told: BTreeSet<(String, String)>,
}

impl StartWatch {
    fn new(limit: Duration) -> Self {
        Self { limit, since: BTreeMap::new(), told: BTreeSet::new() }
    }

    /// Names the reasons that are new.
    ///
    /// # Errors
    /// Returns an error if a Pod can't start, or hasn't started in time.
    fn check(&mut self, pods: &ShardPods, now: Instant) -> Result<(), CommandError> {
        for pod in pods.all() {
            let PodState::Pending(problem) = &pod.state else { continue };
            let since = *self.since.entry(pod.name.clone()).or_insert(now);
            if let Some(StartProblem { reason, message }) = problem
                && self.told.insert((pod.name.clone(), reason.clone()))
            {
                let message = clean_line(message);
                stderr_line!("warning: shard {}: Pod {} doesn't start: {reason}: {message}", pod.shard, pod.name);
            }
            let is_hopeless = problem.as_ref().is_some_and(StartProblem::is_hopeless);
            if is_hopeless || now.duration_since(since) >= self.limit {
                return Err(not_started(pod.shard, &pod.name, problem.as_ref(), self.limit));
            }
        }
        Ok(())
    }
}

fn not_started(shard: usize, pod: &str, problem: Option<&StartProblem>, limit: Duration) -> CommandError {
    let (why, reason) = match problem {
        Some(StartProblem { reason, message }) => (format!("{reason}: {}", clean_line(message)), reason.as_str()),
        None => ("no reason is known".to_owned(), ""),
    };
    let message = match problem {
        Some(problem) if problem.is_hopeless() => format!("shard {shard} can't start, Pod {pod}: {why}"),
        _ => format!("shard {shard} hasn't started within {} s, Pod {pod}: {why}", limit.as_secs()),
    };
    let hint = match reason {
        "Unschedulable" => {
            "--requests cpu=1,memory=2Gi requests less, --shards makes fewer Pods, --start-limit waits longer"
        }
        "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName" | "ErrImageNeverPull" => {
            "--image names the image; the cluster's nodes must be able to pull it"
        }
        _ => "--start-limit waits longer; kubectl describe pod shows more, while --keep leaves the Job",
    };
    CommandError::Environment { message, hint: Some(hint.to_owned()) }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use serde_json::{Value, json};

    use super::*;

    fn pending(status: &Value) -> ShardPods {
        let pod = json!({"metadata": {"name": "drill-1-x", "uid": "u",
            "annotations": {"batch.kubernetes.io/job-completion-index": "1"}}, "status": status});
        let mut pods = ShardPods::default();
        pods.observe(&[serde_json::from_value::<Pod>(pod).unwrap()]);
        pods
    }

    fn waiting(reason: &str) -> ShardPods {
        let state = json!({"waiting": {"reason": reason, "message": "no such image"}});
        pending(&json!({"phase": "Pending", "containerStatuses": [
            {"name": "fleetdrill", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": state}]}))
    }

    fn unschedulable() -> ShardPods {
        pending(&json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/1 nodes are available: 1 Insufficient cpu."}]}))
    }

    #[test]
    fn a_pod_that_does_not_start_ends_the_command_after_the_limit() {
        let now = Instant::now();
        let after = |pods: &ShardPods, seconds: u64| {
            let mut watch = StartWatch::new(Duration::from_secs(60));
            watch.check(pods, now)?;
            watch.check(pods, now + Duration::from_secs(seconds))
        };
        assert!(after(&waiting("ImagePullBackOff"), 59).is_ok(), "a registry may answer again");
        let said = |pods: &ShardPods| {
            let error = after(pods, 60).unwrap_err();
            format!("{error}\n  {}", error.hint().unwrap_or_default())
        };
        let cases = [waiting("ImagePullBackOff"), unschedulable(), pending(&json!({"phase": "Pending"}))];
        insta::assert_snapshot!(cases.map(|pods| said(&pods)).join("\n"));
    }

    #[test]
    fn an_image_that_can_never_be_had_ends_the_command_at_once() {
        let checked = StartWatch::new(Duration::from_secs(60)).check(&waiting("InvalidImageName"), Instant::now());
        assert_eq!(
            checked.unwrap_err().to_string(),
            "shard 2 can't start, Pod drill-1-x: InvalidImageName: no such image"
        );
    }

    #[test]
    fn a_job_ends_with_its_last_condition() {
        let with = |kind: &str| {
            let job = json!({"status": {"conditions": [{"type": kind, "status": "True"}]}});
            has_ended(&serde_json::from_value(job).unwrap())
        };
        assert!(with("Complete") && with("Failed"));
        // Its Pods haven't all ended yet.
        assert!(!with("FailureTarget") && !with("SuccessCriteriaMet"));
    }
}
