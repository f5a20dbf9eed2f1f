//! Options of `fleetdrill job`.

use std::path::PathBuf;

use clap::Args;

use super::features_source::GitSource;
use crate::cli::ReportFiles;

/// Image that fleetdrill is published as, in this version.
pub const IMAGE: &str = concat!("ghcr.io/fleetdrill/fleetdrill:", env!("CARGO_PKG_VERSION"));

/// The Job.
#[derive(Debug, Args)]
pub struct JobOptions {
    /// Number of shards, each a Pod
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=200))]
    pub shards: u16,
    /// Image of fleetdrill
    #[arg(long, value_name = "IMAGE", default_value = IMAGE)]
    pub image: String,
    /// Name of the Job and of all its objects; `render` takes fleetdrill and `run` a new name by default
    #[arg(long, value_name = "NAME")]
    pub job_name: Option<String>,
    /// Namespace; `render` takes default and `run` the context's by default
    #[arg(long, short, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// A ConfigMap with .feature files to use instead of the built-in ones
    #[arg(long, value_name = "NAME", conflicts_with = "features_git")]
    pub features_configmap: Option<String>,
    /// A git repository with .feature files to use instead of the built-in ones, with a branch or a tag, and a directory in it
    #[arg(long, value_name = "URL[#[REF][:DIR]]")]
    pub features_git: Option<GitSource>,
    /// Resources that each Pod requests, e.g. cpu=2,memory=4Gi
    #[arg(long, value_name = "RESOURCE=QUANTITY", value_delimiter = ',', value_parser = quantity)]
    pub requests: Vec<(String, String)>,
    /// Resources that each Pod is limited to, e.g. memory=8Gi
    #[arg(long, value_name = "RESOURCE=QUANTITY", value_delimiter = ',', value_parser = quantity)]
    pub limits: Vec<(String, String)>,
    /// Deal the shards by the durations in an earlier run, instead of by the scenarios' tags, so that they end together
    #[arg(long, value_name = "RUN.JSON")]
    pub shard_by: Vec<PathBuf>,
    /// Options of `fleetdrill run` for each shard, after --
    #[arg(last = true, value_name = "RUN OPTIONS", allow_hyphen_values = true)]
    pub run: Vec<String>,
}

/// `fleetdrill job render`.
#[derive(Debug, Args)]
pub struct JobRenderArgs {
    /// The Job.
    #[command(flatten)]
    pub job: JobOptions,
}

/// `fleetdrill job run`.
#[derive(Debug, Args)]
pub struct JobRunArgs {
    /// The Job.
    #[command(flatten)]
    pub job: JobOptions,
    /// The kubeconfig; KUBECONFIG or ~/.kube/config by default
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the cluster that runs the Job; the current one by default
    #[arg(long, value_name = "CONTEXT")]
    pub context: Option<String>,
    /// Seconds that a Pod may take to start, with the pull of the image
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    pub start_limit: u64,
    /// Leave the Job and its results in the cluster
    #[arg(long)]
    pub keep: bool,
    /// The files to write.
    #[command(flatten)]
    pub files: ReportFiles,
    /// Show the steps and events of all scenarios, not only of failed ones
    #[arg(long, short)]
    pub verbose: bool,
}

/// `fleetdrill job shard`, which is the command of the Pods. The Job's controller and `manifests/job/job.yaml` set the variables.
#[derive(Debug, Args)]
pub struct JobShardArgs {
    /// Index of the shard, from 0
    #[arg(long, value_name = "INDEX", env = "JOB_COMPLETION_INDEX", hide_env_values = true)]
    pub index: usize,
    /// Number of shards
    #[arg(long, value_name = "N", env = "FLEETDRILL_SHARDS", hide_env_values = true)]
    pub shards: usize,
    /// Name of the Pod
    #[arg(long, value_name = "NAME", env = "POD_NAME", hide_env_values = true)]
    pub pod: String,
    /// Name of the Job
    #[arg(long, value_name = "NAME", env = "JOB_NAME", hide_env_values = true)]
    pub job: String,
    /// UID of the Job, which owns the results
    #[arg(long, value_name = "UID", env = "JOB_UID", hide_env_values = true)]
    pub job_uid: String,
    /// Options of `fleetdrill run`, after --
    #[arg(last = true, value_name = "RUN OPTIONS", allow_hyphen_values = true)]
    pub run: Vec<String>,
}

/// Parses `RESOURCE=QUANTITY`. The API server checks the quantity.
fn quantity(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((resource, quantity)) if !resource.is_empty() && !quantity.is_empty() => {
            Ok((resource.to_owned(), quantity.to_owned()))
        }
        _ => Err(format!("`{text}` is no resource with its quantity: write it as cpu=2")),
    }
}
