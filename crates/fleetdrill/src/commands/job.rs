//! `fleetdrill job`: the shards of a suite as the Pods of a Job.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use backon::{ConstantBuilder, Retryable as _};
use clusters::state_dir;
use fleet::error::in_full;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::{Api, Client, Config};
use record::{PodEnd, RunRecord};
use report::stderr_line;
use report::text::clean_line;
use tempfile::TempDir;

use super::report::{merge, reporters};
use super::run::{exit_of_record, finish};
use super::{Interrupts, run};
use crate::cli::JobCommand;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::kubernetes_job::cluster::{self, CreatedJob};
use crate::kubernetes_job::follow::follow;
use crate::kubernetes_job::manifests::JobManifests;
use crate::kubernetes_job::options::{JobOptions, JobRenderArgs, JobRunArgs, JobShardArgs};
use crate::kubernetes_job::pods::{PodState, ShardPods};
use crate::kubernetes_job::results::{self, ResultSource};
use crate::kubernetes_job::{durations, run_options};
use crate::output::{data, print_error};
use crate::run_file;
use crate::run_seed::new_id;
use crate::selection::Shard;

/// Name of a rendered Job.
const DEFAULT_NAME: &str = "fleetdrill";

/// Namespace of a rendered Job.
const DEFAULT_NAMESPACE: &str = "default";

/// Number of tries to publish a part of a result, and the time between two of them.
const PUBLISH: (usize, Duration) = (6, Duration::from_secs(5));

pub(super) async fn job(command: JobCommand) -> Result<CommandExitCode, CommandError> {
    match command {
        JobCommand::Render(args) => render(&args),
        JobCommand::Run(args) => run_job(&args).await,
        JobCommand::Shard(args) => shard(&args).await,
    }
}

fn render(args: &JobRenderArgs) -> Result<CommandExitCode, CommandError> {
    run_options::check(&args.job)?;
    let name = args.job.job_name.as_deref().unwrap_or(DEFAULT_NAME);
    let namespace = args.job.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    data::print_text(
        &manifests(name, namespace, &args.job)?.to_yaml().map_err(|error| CommandError::usage(error, None))?,
    );
    Ok(CommandExitCode::Fine)
}

/// Makes the Job's objects.
fn manifests(name: &str, namespace: &str, options: &JobOptions) -> Result<JobManifests, CommandError> {
    let durations = durations::reduced(&run_file::read_all(&options.shard_by)?)?;
    JobManifests::new(name, namespace, options, durations.as_deref()).map_err(|error| CommandError::usage(error, None))
}

async fn run_job(args: &JobRunArgs) -> Result<CommandExitCode, CommandError> {
    let mut interrupts = Interrupts::listen();
    args.files.check()?;
    args.files.requested().try_for_each(|file| file.prepare())?;
    let name = args.job.job_name.clone().unwrap_or_else(|| format!("{DEFAULT_NAME}-{}", new_id()));
    run_options::check(&args.job)?;
    let (client, namespace) = cluster::connect(args.kubeconfig.as_deref(), args.context.as_deref()).await?;
    let namespace = args.job.namespace.clone().unwrap_or(namespace);
    let manifests = manifests(&name, &namespace, &args.job)?;
    // Not interruptible: what a half-made Job has would stay.
    let job = CreatedJob::create(client, namespace, manifests).await?;
    stderr_line!("Job {} is created; should this command be killed, delete the Job:", job.name);
    stderr_line!("  {}", job.deletion());
    let mut pods = ShardPods::default();
    let shards = usize::from(args.job.shards);
    let ended = tokio::select! {
        ended = collect(&job, shards, Duration::from_secs(args.start_limit), &mut pods) => ended.map(Some),
        () = interrupts.next() => Ok(None),
    };
    if args.keep {
        stderr_line!("the Job stays: {}", job.display());
    } else {
        stderr_line!("deleting Job {}", job.name);
        job.delete().await?;
    }
    let Some(ended) = ended? else {
        stderr_line!("interrupted");
        return Ok(CommandExitCode::Interrupted);
    };
    report(args, &pods, ended)
}

/// What a Job that has ended leaves.
struct EndedJob {
    /// Records of the shards, by their numbers.
    records: BTreeMap<usize, RunRecord>,
    /// Shards without a result, each with the last lines of its Pod's log.
    missing: Vec<(usize, String)>,
}

/// Follows a Job to its end and reads its results.
async fn collect(
    job: &CreatedJob,
    shards: usize,
    start_limit: Duration,
    pods: &mut ShardPods,
) -> Result<EndedJob, CommandError> {
    follow(job, shards, start_limit, pods).await?;
    let records = results::of_objects(&job.results().await?)
        .map_err(|error| CommandError::Environment { message: error.to_string(), hint: None })?;
    let mut missing = Vec::new();
    for shard in (1..=shards).filter(|shard| !records.contains_key(shard)) {
        let log = match pods.last_of(shard) {
            Some(pod) => job.last_lines(pod).await,
            None => String::new(),
        };
        missing.push((shard, log));
    }
    Ok(EndedJob { records, missing })
}

/// Writes one report of all shards. A shard without a result makes the run one whose environment is at fault.
fn report(args: &JobRunArgs, pods: &ShardPods, ended: EndedJob) -> Result<CommandExitCode, CommandError> {
    let EndedJob { records, missing } = ended;
    let mut exit = CommandExitCode::Fine;
    if !records.is_empty() {
        let mut record = merge(&records.into_values().collect::<Vec<_>>())?.record;
        record.repeated_shards = pods.repeated();
        exit = finish(reporters(&args.files, args.verbose, &record)?, &record, exit_of_record(&record));
    }
    for (shard, log) in missing {
        let (error, of_shard) = no_result(shard, pods);
        print_error(&error, error.hint().as_deref());
        log.lines().for_each(|line| stderr_line!("  {}", clean_line(line)));
        exit = if exit == CommandExitCode::Environment { exit } else { of_shard };
    }
    Ok(exit)
}

/// Error about a shard without a result, with its exit code: wrong options stay wrong input.
fn no_result(shard: usize, pods: &ShardPods) -> (CommandError, CommandExitCode) {
    let Some(pod) = pods.last_of(shard) else {
        let message = format!("shard {shard} has no result: it never had a Pod");
        return (CommandError::Environment { message, hint: None }, CommandExitCode::Environment);
    };
    let why = match &pod.state {
        PodState::Ended(end) => end.to_string(),
        _ => "published nothing that is complete".to_owned(),
    };
    let message = format!("shard {shard} has no result: Pod {} {why}", pod.name);
    match pod.state {
        PodState::Ended(PodEnd::Exited { code: 2 }) => (CommandError::usage(message, None), CommandExitCode::Usage),
        PodState::Ended(PodEnd::OutOfMemory) => {
            let hint = Some("--limits memory=16Gi allows more, and more --shards need less each".to_owned());
            (CommandError::Environment { message, hint }, CommandExitCode::Environment)
        }
        _ => (CommandError::Environment { message, hint: None }, CommandExitCode::Environment),
    }
}

/// Runs the shard of a Pod. The Pod succeeds as soon as its result is published, also if scenarios failed: they are in the result, and
/// another try would have another one.
async fn shard(args: &JobShardArgs) -> Result<CommandExitCode, CommandError> {
    let shard = Shard { index: args.index + 1, of: args.shards };
    if shard.index > shard.of {
        let message = format!("the Job has more completions than shards: index {} of {}", args.index, args.shards);
        return Err(CommandError::usage(message, Some("give FLEETDRILL_SHARDS the number of the Job's completions")));
    }
    let mut options = run_options::parse(&args.run, shard)?;
    let directory = writable_directory()?;
    let file = directory.path().join("run.json");
    options.files.json = Some(file.clone());
    let exit = run::run(options).await?;
    if ![CommandExitCode::Fine, CommandExitCode::Found].contains(&exit) {
        return Ok(exit);
    }
    let failed = |why: String| CommandError::Environment {
        message: format!("failed to publish the result: {why}"),
        hint: Some("the Pod's ServiceAccount needs create on configmaps: manifests/job/rights.yaml".to_owned()),
    };
    let json = std::fs::read(&file).map_err(|error| failed(error.to_string()))?;
    let source = ResultSource { job: &args.job, job_uid: &args.job_uid, pod: &args.pod, shard: shard.index };
    let objects = results::to_objects(source, &json).map_err(|error| failed(error.to_string()))?;
    let config = Config::incluster().map_err(|error| failed(error.to_string()))?;
    let client = Client::try_from(config).map_err(|error| failed(in_full(&error)))?;
    for object in &objects {
        publish(&client, object).await.map_err(|error| failed(in_full(&error)))?;
    }
    stderr_line!("published the result of shard {} of {}", shard.index, shard.of);
    Ok(CommandExitCode::Fine)
}

/// Creates one part of a result. An API server that doesn't answer is asked again.
async fn publish(client: &Client, object: &ConfigMap) -> Result<(), kube::Error> {
    let api = Api::<ConfigMap>::default_namespaced(client.clone());
    let (tries, pause) = PUBLISH;
    let attempts = ConstantBuilder::default().with_delay(pause).with_max_times(tries - 1);
    let created = (async || api.create(&PostParams::default(), object).await)
        .retry(attempts)
        .when(|error| !matches!(error, kube::Error::Api(_)));
    match created.await {
        // The answer to an earlier try was lost.
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        created => created.map(drop),
    }
}

/// Returns a temporary directory, if a Pod can write where a fleet writes: its root file system is read-only.
///
/// # Errors
/// Returns an error if a volume is missing.
fn writable_directory() -> Result<TempDir, CommandError> {
    let hint = Some("mount an emptyDir at /tmp and at ~/.local, as manifests/job/job.yaml does");
    let unwritable = |directory: &Path, error: &dyn std::error::Error| {
        let message = format!("a fleet needs to write to {}, which fails: {error}", directory.display());
        CommandError::usage(message, hint)
    };
    let state = state_dir::root().map_err(|error| CommandError::usage(in_full(&error), hint))?;
    tempfile::tempfile_in(&state).map_err(|error| unwritable(&state, &error))?;
    tempfile::tempdir().map_err(|error| unwritable(&std::env::temp_dir(), &error))
}
