//! Commands and options of the command line, with their help texts.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{FalseyValueParser, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fleet::bundle::SizeLimit;
use fleet::hollow::MOST_HOLLOW_MEMBERS;
use fleet::upgrade::UpgradeOrder;
use record::Product;
use strum::IntoEnumIterator;

use crate::accuracy::generator::MOST_DRILLS;
use crate::component_version::ArgoCdRequest;
use crate::fleet_source::options::{
    ContextOptions, FleetOptions, KubeFleetOption, MOST_MEMBERS, NewFleetOptions, ReadableFleetOptions, argocd_request,
    makers,
};
use crate::kubernetes_job::options::{JobRenderArgs, JobRunArgs, JobShardArgs};
use crate::selection::{ScenarioSelection, Shard};

/// Breaks real fleets on purpose, asserts what the real controllers report, and names the cause with its evidence and
/// remedy.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 fine; 1 a scenario failed or a finding was made; \
2 wrong usage or input; 3 the environment is at fault; 4 nothing was found, but not everything could be read; \
130 interrupted, after cleaning up."
)]
pub struct Cli {
    /// Use only ASCII characters
    #[arg(long, global = true, env = "FLEETDRILL_ASCII", hide_env = true, value_parser = FalseyValueParser::new())]
    pub ascii: bool,
    /// Configuration file; fleetdrill.toml in this directory or above it by default
    #[arg(long, global = true, value_name = "FILE", env = "FLEETDRILL_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,
    /// Command to run.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Run scenarios, by default on a new fleet that is ended after them
    Run(RunArgs),
    /// Run scenarios before, across and after an upgrade of KubeFleet or Argo CD, and report what differs
    Upgrade(UpgradeArgs),
    /// Run the shards of a suite as the Pods of a Job on a Kubernetes cluster, and merge their results into one report
    #[command(subcommand)]
    Job(JobCommand),
    /// Report recorded runs: merge shards and repetitions, compare them with earlier runs, write JUnit, JSON or HTML
    Report(ReportArgs),
    /// List scenarios with their failure codes and tags
    List(ListArgs),
    /// Start a fleet, or change the number of members of a running one
    Up(UpArgs),
    /// Show the fleets that are up
    Status(StatusArgs),
    /// End a fleet
    Down(DownArgs),
    /// Find the causes of failures in a fleet's objects, without changing anything
    Diagnose(DiagnoseArgs),
    /// Say which placement put an object on a member: its Work, binding, resource snapshot and overrides
    Who(WhoArgs),
    /// Explain a failure code: cause, evidence to look for, remedies, guide
    Explain(ExplainArgs),
    /// Show the statements of KubeFleet's guides, and whether each of them holds
    Guides(GuidesArgs),
    /// Save a fleet's objects, events and logs for a later diagnosis, without secrets
    Collect(CollectArgs),
    /// Look into what `fleetdrill collect` saved
    #[command(subcommand)]
    Bundle(BundleCommand),
    /// Score the diagnosis: break a new fleet in random ways, and compare what is found with what was done
    Accuracy(AccuracyArgs),
    /// Learn the failure modes by repairing them: a broken fleet, hints, and a check that says whether the repair holds
    #[command(subcommand)]
    Train(TrainCommand),
    /// List, build, add, export, import and remove the components of fleets
    #[command(subcommand)]
    Toolchain(ToolchainCommand),
    /// Show the settings of fleetdrill.toml, the environment and the command line, and the waivers
    Config(ConfigArgs),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the man pages into a directory
    Man {
        /// The directory, e.g. ~/.local/share/man/man1
        directory: PathBuf,
    },
}

/// `fleetdrill job`.
#[derive(Debug, Subcommand)]
pub enum JobCommand {
    /// Print the Job and its objects as YAML
    Render(JobRenderArgs),
    /// Create the Job, follow it, merge the results of its Pods into one report, and delete it
    Run(JobRunArgs),
    /// Run the shard of a Pod and publish its result
    #[command(hide = true)]
    Shard(JobShardArgs),
}

/// Selection of scenarios.
#[derive(Debug, Args)]
pub struct ScenarioOptions {
    /// Scenarios to select: part of the name of a scenario, a feature or its file, or a .feature file of your own; all by default
    #[arg(value_name = "NAME|FILE")]
    pub select: Vec<String>,
    /// Select only scenarios whose tags match this expression, e.g. '@drill and not @disruptive'
    #[arg(long, value_name = "EXPR")]
    pub tags: Option<String>,
    /// A directory with .feature files to use instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub features: Option<PathBuf>,
}

impl ScenarioOptions {
    /// Returns the selection, or one shard of it.
    #[must_use]
    pub fn selection(&self, shard: Option<Shard>) -> ScenarioSelection<'_> {
        let Self { select, tags, features } = self;
        let (tags, features) = (tags.as_deref(), features.as_deref());
        ScenarioSelection { select, tags, features, shard, durations: None }
    }
}

/// `fleetdrill run`.
#[expect(clippy::struct_excessive_bools, reason = "the options don't depend on each other")]
#[derive(Debug, Args)]
#[command(mut_arg("members", |arg| arg.value_name("N|PATTERN").help(MEMBERS_OF_RUN)))]
pub struct RunArgs {
    /// The scenarios.
    #[command(flatten)]
    pub scenarios: ScenarioOptions,
    /// Version of Argo CD, for scenarios that need it
    #[arg(long, value_name = "VERSION")]
    pub argocd: Option<String>,
    /// Install Argo CD from these manifests, in Pods on the hub of --provider kind: its core-install.yaml, or what `helm template` prints
    #[arg(long, value_name = "FILE", conflicts_with = "argocd")]
    pub argocd_manifests: Option<PathBuf>,
    /// The fleet, unless it is one that is up.
    #[command(flatten)]
    pub source: FleetOptions,
    /// Maximum number of scenarios that run at the same time; 32 by default, with --provider kind eight for each processor, of which two may have nodes of their own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub jobs: Option<u8>,
    /// Wait until controllers' thresholds of several minutes have passed, instead of moving start times into the past
    #[arg(long)]
    pub real_time: bool,
    /// Run on a fleet that is up already, and leave it up
    #[arg(long, alias = "name", value_name = "NAME", conflicts_with_all = ["kubefleet", "argocd", "argocd_manifests", "members"])]
    pub fleet: Option<String>,
    /// Deal the shards by the durations in an earlier run, instead of by the scenarios' tags; the same file for each shard
    #[arg(long, value_name = "RUN.JSON", requires = "shard")]
    pub shard_by: Vec<PathBuf>,
    /// Run only the scenarios that failed in an earlier run, of the selected ones; may be given several times
    #[arg(long, value_name = "RUN.JSON")]
    pub rerun: Vec<PathBuf>,
    /// Add a line about the run to a file, which `fleetdrill report` reads: seed, load, and each scenario's outcome and seconds
    #[arg(long, value_name = "FILE.jsonl")]
    pub ledger: Option<PathBuf>,
    /// Start the scenarios in the same order, and give objects the same names, as a run whose summary has this seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// End the run when the first scenario has failed; those that are running are interrupted
    #[arg(long)]
    pub fail_fast: bool,
    /// Run the scenarios N times in a row on the same fleet, and report those that pass only sometimes
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub repeat: u16,
    /// Pause when a scenario has failed, before its objects are deleted, until you press Enter; other scenarios go on
    #[arg(long, conflicts_with = "fail_fast")]
    pub pause_on_failure: bool,
    /// Don't diagnose the whole fleet once a second while the scenarios run; a failure that no scenario accounts for then fails nothing
    #[arg(long)]
    pub no_continuous_diagnosis: bool,
    /// Leave the fleet up after the run, to inspect it
    #[arg(long, value_name = "WHEN", default_value = "never")]
    pub keep: KeepPolicy,
    /// The files to write.
    #[command(flatten)]
    pub files: ReportFiles,
    /// Directory for the bundles of failed scenarios, which `fleetdrill diagnose --from` reads
    #[arg(long, value_name = "DIR", default_value = "report/bundles")]
    pub bundles: PathBuf,
    /// The part of the scenarios to run; all by default.
    #[command(flatten)]
    pub part: ScenarioPart,
    /// Show the steps and events of all scenarios, not only of failed ones
    #[arg(long, short)]
    pub verbose: bool,
}

/// Files that `fleetdrill run` and `fleetdrill report` write.
#[derive(Debug, Args)]
pub struct ReportFiles {
    /// Write a JUnit file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write everything that happened as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page that shows everything in a browser; it requests nothing. `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// `fleetdrill report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Files of `fleetdrill run --json` or `--ledger`: shards of one run, or repetitions of it
    #[arg(value_name = "RUN.JSON", required = true)]
    pub runs: Vec<PathBuf>,
    /// Earlier run to compare with; may be given several times. The exit code is 1 only if something is worse than in it
    #[arg(long, value_name = "RUN.JSON")]
    pub against: Vec<PathBuf>,
    /// The files to write.
    #[command(flatten)]
    pub files: ReportFiles,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
    /// Show the steps and events of all scenarios, not only of failed ones
    #[arg(long, short)]
    pub verbose: bool,
}

/// Part of the selected scenarios.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct ScenarioPart {
    /// Run the I-th of N equal parts, counted from 1
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Run the shortest scenarios that show each failure code, and a healthy one of each feature file
    #[arg(long)]
    pub one_per_code: bool,
}

const MEMBERS_OF_RUN: &str = "Number of members, 3 by default; with --provider existing, a pattern: all contexts that match it are \
    members, each with its context's name, e.g. 'aks-*'";

impl RunArgs {
    /// Request for Argo CD, for scenarios that need it.
    #[must_use]
    pub fn argocd_request(&self) -> ArgoCdRequest {
        let manifests = self.argocd_manifests.clone().map(ArgoCdRequest::Manifests);
        manifests.unwrap_or_else(|| ArgoCdRequest::of_version(self.argocd.as_deref()))
    }

    /// Number of members of a new fleet.
    #[must_use]
    pub fn member_count(&self) -> u8 {
        self.source.contexts.member_count().unwrap_or(3)
    }
}

/// `fleetdrill upgrade`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("before").required(true).args(["from", "argocd"])))]
pub struct UpgradeArgs {
    /// The scenarios.
    #[command(flatten)]
    pub scenarios: ScenarioOptions,
    /// Version of KubeFleet before the upgrade
    #[arg(long, value_name = "VERSION")]
    pub from: Option<String>,
    /// Version of Argo CD before the upgrade; upgrades Argo CD instead of KubeFleet, with the scenarios tagged @argocd unless --tags
    /// selects others
    #[arg(long, value_name = "VERSION")]
    pub argocd: Option<String>,
    /// Version after the upgrade, of KubeFleet, or of Argo CD with --argocd
    #[arg(long, value_name = "VERSION")]
    pub to: String,
    /// Order in which hub and members are upgraded; may be given several times, all three by default; for KubeFleet only
    #[arg(long, value_name = "ORDER", value_parser = orders())]
    pub order: Vec<UpgradeOrder>,
    /// Downgrade to the old version again afterwards
    #[arg(long)]
    pub back: bool,
    /// Run only this part: scenarios before and after the upgrade, or scenarios in flight, which are in progress while the
    /// fleet is upgraded; both by default
    #[arg(long, value_name = "PART")]
    pub only: Option<UpgradePart>,
    /// Number of members
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_MEMBERS)))]
    pub members: u8,
    /// Maximum number of scenarios that run at the same time before and after the upgrade; scenarios in flight all run at
    /// the same time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u8).range(1..))]
    pub jobs: u8,
    /// Write the differences and everything that happened as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the report as one HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// JSON report of an earlier upgrade; the differences in it are accepted
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Don't diagnose the whole fleet once a second meanwhile; a failure that no fault accounts for is no difference then
    #[arg(long)]
    pub no_continuous_diagnosis: bool,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
    /// Directory for the bundles of failed scenarios, which `fleetdrill diagnose --from` reads
    #[arg(long, value_name = "DIR", default_value = "report/bundles")]
    pub bundles: PathBuf,
}

/// Tags of the scenarios that an upgrade of Argo CD runs, unless others are given.
const ARGOCD_SCENARIOS: &str = "@argocd";

impl UpgradeArgs {
    /// Product to upgrade, and its version before the upgrade.
    #[must_use]
    pub fn before(&self) -> (Product, &str) {
        match &self.argocd {
            Some(version) => (Product::ArgoCd, version),
            // One of the two is given: clap refuses anything else.
            None => (Product::KubeFleet, self.from.as_deref().unwrap_or_default()),
        }
    }

    /// Returns the selection of scenarios.
    #[must_use]
    pub fn selection(&self) -> ScenarioSelection<'_> {
        let mut selection = self.scenarios.selection(None);
        if self.argocd.is_some() {
            selection.tags = selection.tags.or(Some(ARGOCD_SCENARIOS));
        }
        selection
    }
}

/// A part of `fleetdrill upgrade`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UpgradePart {
    /// Scenarios on the old version, and again on the upgraded fleet
    BeforeAfter,
    /// Scenarios that are in progress while the fleet is upgraded
    InFlight,
}

fn orders() -> impl TypedValueParser<Value = UpgradeOrder> {
    PossibleValuesParser::new(UpgradeOrder::iter().map(|order| order.to_string()))
        .try_map(|order| order.parse::<UpgradeOrder>())
}

/// `fleetdrill list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The scenarios.
    #[command(flatten)]
    pub scenarios: ScenarioOptions,
    /// List the steps that features can use, instead of scenarios
    #[arg(long)]
    pub steps: bool,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
}

/// `fleetdrill up`.
#[derive(Debug, Args)]
#[command(mut_arg("provider", |arg| arg.value_parser(makers()).help("Provider of the clusters")))]
pub struct UpArgs {
    /// The fleet's name
    #[arg(value_name = "NAME", default_value = "default")]
    pub name: String,
    /// The fleet's name as an option.
    #[command(flatten)]
    pub fleet: FleetOption,
    /// Number of members; a running fleet is changed to this number
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_MEMBERS)))]
    pub members: u8,
    /// Number of members without clusters, whose agents one process plays; a running fleet is changed to this number. Only
    /// with --provider local
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u16).range(0..=i64::from(MOST_HOLLOW_MEMBERS)))]
    pub hollow_members: Option<u16>,
    /// Options for a fleet that isn't up yet.
    #[command(flatten)]
    pub new: NewFleetOptions,
    /// Simulate pods on the members, with a scheduler and with KWOK as the kubelet; kind's nodes run real pods anyway
    #[arg(long)]
    pub pods: bool,
    /// Run Argo CD on the hub, in this version or the default one, with the members as its destinations
    #[arg(long, value_name = "VERSION", num_args = 0..=1, default_missing_value = "", value_parser = argocd_request)]
    pub argocd: Option<ArgoCdRequest>,
    /// Install Argo CD from these manifests, in Pods on the hub of --provider kind: its core-install.yaml, or what `helm template` prints
    #[arg(long, value_name = "FILE", conflicts_with = "argocd")]
    pub argocd_manifests: Option<PathBuf>,
    /// Run Argo CD's API server as well, which the argocd command needs
    #[arg(long, conflicts_with = "argocd_manifests")]
    pub argocd_server: bool,
}

/// A fleet's name as an option, for commands that are about one fleet: `up --fleet web` is `up web`, so that `--fleet` names a fleet
/// on every command.
#[derive(Debug, Default, Args)]
pub struct FleetOption {
    #[arg(long, alias = "name", value_name = "NAME", hide = true, conflicts_with = "name")]
    fleet: Option<String>,
}

impl UpArgs {
    /// Request for Argo CD; its API server needs it.
    #[must_use]
    pub fn argocd_request(&self) -> ArgoCdRequest {
        if let Some(file) = &self.argocd_manifests {
            return ArgoCdRequest::Manifests(file.clone());
        }
        let without_version = if self.argocd_server { ArgoCdRequest::Default } else { ArgoCdRequest::No };
        self.argocd.clone().unwrap_or(without_version)
    }

    /// The fleet's name.
    #[must_use]
    pub fn fleet_name(&self) -> &str {
        self.fleet.fleet.as_deref().unwrap_or(&self.name)
    }
}

impl StatusArgs {
    /// The fleet's name; none for all fleets.
    #[must_use]
    pub fn fleet_name(&self) -> Option<&str> {
        self.fleet.fleet.as_deref().or(self.name.as_deref())
    }
}

impl DownArgs {
    /// The fleet's name.
    #[must_use]
    pub fn fleet_name(&self) -> &str {
        self.fleet.fleet.as_deref().unwrap_or(&self.name)
    }
}

/// `fleetdrill status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// A fleet's name; all by default
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The fleet's name as an option.
    #[command(flatten)]
    pub fleet: FleetOption,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
}

/// `fleetdrill down`.
#[derive(Debug, Args)]
pub struct DownArgs {
    /// The fleet's name
    #[arg(value_name = "NAME", default_value = "default")]
    pub name: String,
    /// The fleet's name as an option.
    #[command(flatten)]
    pub fleet: FleetOption,
    /// End all fleets, and remove what is left of fleets that were killed
    #[arg(long, conflicts_with_all = ["name", "fleet"])]
    pub all: bool,
    /// Remove what this run left on an existing fleet (--provider existing) when it was killed
    #[arg(long, value_name = "RUN", conflicts_with_all = ["name", "fleet", "all"])]
    pub run: Option<String>,
    /// Contexts of the existing fleet.
    #[command(flatten)]
    pub contexts: ContextOptions,
}

/// `fleetdrill diagnose`.
#[expect(clippy::struct_excessive_bools, reason = "the options don't depend on each other")]
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    /// Object to diagnose, e.g. `clusterresourceplacement/web`, `csur/release-7`, `sur/apps/release-7`, `membercluster/east` or
    /// `application/web`; all by default
    #[arg(value_name = "KIND/NAME")]
    pub object: Option<String>,
    /// The object's namespace; any by default
    #[arg(long, short, value_name = "NAMESPACE", requires = "object")]
    pub namespace: Option<String>,
    /// The fleet.
    #[command(flatten)]
    pub target: ReadableFleetOptions,
    /// Bundle of `fleetdrill collect` or of a failed scenario, to diagnose instead of a fleet
    #[arg(
        long,
        value_name = "BUNDLE",
        conflicts_with_all = ["fleet", "kubeconfig", "hub", "member", "members_from", "members"]
    )]
    pub from: Option<PathBuf>,
    /// Maximum size of all files of a bundle together, in MiB; reading takes up to five times as much memory
    #[arg(
        long,
        value_name = "MIB",
        env = "FLEETDRILL_FROM_LIMIT",
        hide_env_values = true,
        default_value_t = SizeLimit::DEFAULT_MEBIBYTES
    )]
    pub from_limit: u64,
    /// Read everything from all clusters, as `collect` does, instead of what the diagnosis needs
    #[arg(long, conflicts_with = "from")]
    pub read_all: bool,
    /// Time that each cluster has for all its answers, in seconds; what hasn't come by then is named as not read
    #[arg(long, value_name = "SECONDS", default_value_t = fleet::snapshot::DEFAULT_LIMIT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: DiagnoseFormat,
    /// Also write a page that shows the diagnosis in a browser; it requests nothing
    #[arg(long, value_name = "FILE", conflicts_with = "show_values")]
    pub html: Option<PathBuf>,
    /// Print evidence, all remedies and all objects in progress, also if there are several findings
    #[arg(long, short)]
    pub verbose: bool,
    /// Print the values of drifts on the hub and on the member, which are withheld otherwise; only on a terminal
    #[arg(long, conflicts_with = "from")]
    pub show_values: bool,
    /// Diagnose again and again, and print what is new and what is gone, until Ctrl-C; as text, or with -o json one object on each line
    #[arg(long, conflicts_with_all = ["from", "html", "show_values"])]
    pub watch: bool,
    /// Time between two diagnoses of --watch, in seconds
    #[arg(long, value_name = "SECONDS", requires = "watch", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub interval: u64,
    /// Serve the metrics of --watch at http://ADDRESS:PORT/metrics, e.g. 127.0.0.1:9190
    #[arg(long, value_name = "ADDRESS:PORT", requires = "watch")]
    pub metrics: Option<SocketAddr>,
    /// Results that end the command with another exit code than 0, separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "failure,incomplete")]
    pub fail_on: Vec<FailOn>,
}

/// Output format of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiagnoseFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For programs and people
    #[value(alias = "yml")]
    Yaml,
    /// For a ticket
    Markdown,
    /// For a dashboard: metrics that Prometheus reads
    Prometheus,
}

/// Result that ends `fleetdrill diagnose` with another exit code than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A notice or a failure was found: exit code 1
    Notice,
    /// A failure was found: exit code 1
    Failure,
    /// Not everything could be read: exit code 4, unless it is 1 already
    Incomplete,
}

/// `fleetdrill collect`.
#[derive(Debug, Args)]
pub struct CollectArgs {
    /// The fleet.
    #[command(flatten)]
    pub target: ReadableFleetOptions,
    /// Path of the bundle: a directory, or a file that ends with .tar.gz; fleetdrill-bundle-FLEET-TIME by default
    #[arg(long, short_alias = 'o', alias = "output", value_name = "PATH", value_parser = bundle_path)]
    pub bundle: Option<PathBuf>,
    /// Size on disk, in MiB, at which the bundle ends; what is missing then is named, and the exit code is 4
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Time for the objects of all clusters, in seconds, and once more for events and logs; a member has at most 60 of it
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: u64,
}

/// `fleetdrill bundle`.
#[derive(Debug, Subcommand)]
pub enum BundleCommand {
    /// Serve a bundle's objects, events and logs to kubectl, k9s and other clients, read-only, until Ctrl-C
    Serve(BundleServeArgs),
}

/// `fleetdrill bundle serve`.
#[derive(Debug, Args)]
pub struct BundleServeArgs {
    /// Bundle of `fleetdrill collect` or of a failed scenario
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// File for the kubeconfig, which has a context for each cluster and is removed at the end; in a temporary directory by default
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Address to listen on, which must be 127.0.0.1; port 0 is a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Maximum size of all files of a bundle together, in MiB; reading takes up to five times as much memory
    #[arg(
        long,
        value_name = "MIB",
        env = "FLEETDRILL_FROM_LIMIT",
        hide_env_values = true,
        default_value_t = SizeLimit::DEFAULT_MEBIBYTES
    )]
    pub from_limit: u64,
}

/// Parses the path of `collect --bundle`.
fn bundle_path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("a path can't be empty".into()) } else { Ok(PathBuf::from(text)) }
}

/// `fleetdrill who`.
#[derive(Debug, Args)]
pub struct WhoArgs {
    /// Object on the member, named as for kubectl, e.g. `configmap/settings`, `deploy/web/app` or `widgets.example.com/w`
    #[arg(value_name = "KIND/NAME")]
    pub object: String,
    /// Name of the member's MemberCluster, with its context if that has another name
    #[arg(long, value_name = "NAME[=CONTEXT]")]
    pub member: String,
    /// The object's namespace; `default` by default
    #[arg(long, short, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// A fleet that `fleetdrill up` made; without it, and without a kubeconfig, the fleet that is up on this machine, unless KUBECONFIG is set
    #[arg(long, alias = "name", value_name = "NAME", conflicts_with_all = ["kubeconfig", "hub"])]
    pub fleet: Option<String>,
    /// The kubeconfig that has the contexts; KUBECONFIG or ~/.kube/config by default
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The hub's context; the current one by default
    #[arg(long, visible_alias = "context", value_name = "CONTEXT")]
    pub hub: Option<String>,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
}

impl WhoArgs {
    /// Returns the options of the fleet, without the member.
    #[must_use]
    pub fn target(&self) -> ReadableFleetOptions {
        let contexts =
            ContextOptions { kubeconfig: self.kubeconfig.clone(), hub: self.hub.clone(), ..ContextOptions::default() };
        ReadableFleetOptions { fleet: self.fleet.clone(), contexts }
    }
}

/// `fleetdrill config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
    /// Command line whose settings are shown, without `fleetdrill`, e.g. `run --members 5`; nothing is run. All settings by default
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command_line: Vec<OsString>,
}

/// `fleetdrill explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Failure code, e.g. KF-WS-001; without it, all codes are listed, one per line
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
}

/// `fleetdrill guides`.
#[derive(Debug, Args)]
pub struct GuidesArgs {
    /// Guide to show with all its statements; without it, a summary of all guides
    #[arg(value_name = "GUIDE")]
    pub guide: Option<String>,
    /// Show the statements of all guides
    #[arg(long, conflicts_with = "guide")]
    pub all: bool,
    /// Show the results of this run, a file of `run --json`, instead of the known results of each version; may be given
    /// several times, for the shards of one run
    #[arg(long, value_name = "RUN.JSON")]
    pub from: Vec<PathBuf>,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: GuidesFormat,
}

/// Output format of the guides' coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GuidesFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// Differences, for the guides' authors
    Markdown,
    /// Results of the runs that --from names, as guides/measured/VERSION.yaml keeps them
    Measured,
}

/// `fleetdrill accuracy`.
#[derive(Debug, Args)]
pub struct AccuracyArgs {
    /// Seed of the drills: the same seed gives the same drills; a random one by default
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Number of drills
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DRILLS)))]
    pub drills: u32,
    /// Run only the drill with this number, as it is in any run of its seed
    #[arg(long, value_name = "K", requires = "seed", conflicts_with = "drills", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DRILLS)))]
    pub drill: Option<u32>,
    /// Print the drills instead of running them
    #[arg(long)]
    pub list: bool,
    /// Version of KubeFleet.
    #[command(flatten)]
    pub version: KubeFleetOption,
    /// Number of members that scenarios share
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_MEMBERS)))]
    pub members: u8,
    /// Maximum number of drills that run at the same time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    pub jobs: u8,
    /// Directory for the bundles of wrong findings and missed causes, which `fleetdrill diagnose --from` reads
    #[arg(long, value_name = "DIR", default_value = "report/accuracy")]
    pub bundles: PathBuf,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
}

/// `fleetdrill toolchain`.
#[derive(Debug, Subcommand)]
pub enum ToolchainCommand {
    /// List the available versions, and which of them are in the cache
    List {
        /// The output's format
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        output: OutputFormat,
    },
    /// Build all components that fleets need, or one component
    Install {
        /// Component, e.g. `kubefleet`; by default all that fleets need, also for pods and Argo CD
        component: Option<String>,
        /// Version of the component; the default version if left out
        version: Option<String>,
    },
    /// Register a build of your own, e.g. of a version that fleetdrill can't build
    Add {
        /// The component, e.g. `kubefleet`
        component: String,
        /// Version name for your build, e.g. `v0.3.1`
        version: String,
        /// Programs, each with its name in the component and its file, e.g. `hub-agent=./bin/hub-agent`
        #[arg(value_name = "NAME=FILE", required = true)]
        programs: Vec<String>,
        /// The directory with the version's CRDs
        #[arg(long, value_name = "DIR")]
        crds: Option<PathBuf>,
        /// Register it even if fleetdrill can build this version itself
        #[arg(long)]
        force: bool,
    },
    /// Write built components to a file, for CI, for a colleague or for a machine without Go
    Export {
        /// File to write; .tar.gz
        file: PathBuf,
        /// Versions to write; by default the default versions of all components
        #[arg(value_name = "COMPONENT=VERSION")]
        versions: Vec<String>,
    },
    /// Put the components of an exported file into the cache
    Import {
        /// The file, or the address from which its owner gives it away, with --sha256; `-` is standard input
        #[arg(value_name = "FILE|URL")]
        file: PathBuf,
        /// SHA-256 that the file must have, in hexadecimal digits; required for an address
        #[arg(long, value_name = "HEX")]
        sha256: Option<String>,
    },
    /// Remove a version from the cache
    Remove {
        /// The component
        component: String,
        /// The version
        version: String,
    },
}

/// `fleetdrill train`.
#[derive(Debug, Subcommand)]
pub enum TrainCommand {
    /// Show the exercises, without giving their causes away
    List {
        /// Directory of the exercises.
        #[command(flatten)]
        from: ExerciseDirectory,
        /// The output's format
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        output: OutputFormat,
    },
    /// Start a fleet, break it, and print the page that a night shift would get
    Start(TrainStartArgs),
    /// Print the page again, with the time that has passed
    Status(SessionName),
    /// Give the next of three hints: where to look, which field, what it means
    Hint(SessionName),
    /// Name the cause, with a failure code or in words
    Diagnose {
        /// The cause, e.g. `KF-WS-001` or `the namespace is terminating`; `nothing` if nothing is broken
        #[arg(value_name = "CODE|WORDS", required = true)]
        answer: Vec<String>,
        /// The running exercise.
        #[command(flatten)]
        running: SessionName,
    },
    /// Restart an agent, as `kubectl rollout restart` does if the agent is a Deployment
    Restart {
        /// `hub-agent`, or the name of the member whose agent is restarted
        #[arg(value_name = "AGENT")]
        agent: String,
        /// The running exercise.
        #[command(flatten)]
        running: SessionName,
    },
    /// Check the repair: the symptom is gone and stays gone, nothing else is lost, and a new change takes effect
    Check(SessionName),
    /// Break the fleet again, as at the start of the exercise; the time continues, and the score shows the reset
    Reset(SessionName),
    /// Show the evidence and the commands, and end the exercise; its fleet stays up for inspection
    Solution(SessionName),
    /// End the exercise and its fleet
    Stop(SessionName),
    /// Show the scores of several exercises and people in one table
    Report {
        /// Files with scores, or directories of them; those kept on this machine by default
        #[arg(value_name = "FILE|DIR")]
        scores: Vec<PathBuf>,
        /// The output's format
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        output: OutputFormat,
    },
    /// Tell what was seen and done in an exercise that has ended, and when
    Debrief {
        /// File with the score of the exercise; the last one on this machine by default
        #[arg(value_name = "FILE")]
        score: Option<PathBuf>,
        /// Write a page for a browser instead; it requests nothing
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
    },
    /// Test exercises: the printed solution must pass the check, doing nothing and the wrong repairs must fail it
    Verify(TrainVerifyArgs),
}

/// Directory of exercises.
#[derive(Debug, Args)]
pub struct ExerciseDirectory {
    /// A directory with exercises of your own (.yaml) instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub exercises: Option<PathBuf>,
}

/// An exercise that is running.
#[derive(Debug, Args)]
pub struct SessionName {
    /// Name that the exercise was started with; needed if several are running
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

/// `fleetdrill train start`.
#[derive(Debug, Args)]
pub struct TrainStartArgs {
    /// The exercise; `fleetdrill train list` shows them
    #[arg(value_name = "EXERCISE", required_unless_present = "random", conflicts_with = "random")]
    pub exercise: Option<String>,
    /// Choose an exercise at random
    #[arg(long)]
    pub random: bool,
    /// Choose only exercises of this level, with --random
    #[arg(long, value_name = "LEVEL", requires = "random")]
    pub level: Option<ExerciseLevel>,
    /// Name for the commands that follow, if several exercises run at once; the exercise's own name by default
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Name of the trainee, for the score; the user's name by default
    #[arg(long, value_name = "WHO", env = "USER", hide_env = true, default_value = "somebody")]
    pub trainee: String,
    /// Number of hours after which a forgotten exercise ends itself
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=72))]
    pub hours: u8,
    /// Directory of the exercises.
    #[command(flatten)]
    pub from: ExerciseDirectory,
    /// The fleet.
    #[command(flatten)]
    pub source: FleetOptions,
}

/// Level of an exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExerciseLevel {
    /// The guide has the answer, and the object says it.
    Beginner,
    /// Several objects have to be looked at.
    Intermediate,
    /// The symptom leads astray, or there is more than one cause.
    Expert,
}

/// `fleetdrill train verify`.
#[derive(Debug, Args)]
pub struct TrainVerifyArgs {
    /// The exercises; all by default
    #[arg(value_name = "EXERCISE")]
    pub names: Vec<String>,
    /// Directory of the exercises.
    #[command(flatten)]
    pub from: ExerciseDirectory,
    /// Version of KubeFleet.
    #[command(flatten)]
    pub version: KubeFleetOption,
    /// Try only the printed solutions: quicker, and doesn't show that the check fails without a repair
    #[arg(long)]
    pub solutions: bool,
    /// Maximum number of tries that run at the same time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u8).range(1..))]
    pub jobs: u8,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: OutputFormat,
}

/// Cases in which the fleet is left up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeepPolicy {
    /// Never
    Never,
    /// If a scenario failed
    Failed,
    /// Always
    Always,
}

/// Output format of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For programs and people
    #[value(alias = "yml")]
    Yaml,
}

/// Returns the names of all formats that a command's `--output` takes.
#[must_use]
pub fn format_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    names.extend(names_of::<OutputFormat>());
    names.extend(names_of::<DiagnoseFormat>());
    names.extend(names_of::<GuidesFormat>());
    names
}

/// Returns the names and aliases of an option's values.
fn names_of<V: ValueEnum>() -> Vec<String> {
    let values = V::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    values.flat_map(|value| value.get_name_and_aliases().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, CommandFactory, Parser};

    use super::{Cli, CliCommand as Parsed};
    use crate::component_version::ArgoCdRequest;

    /// Every command that can be called, with its names from the top: `train start`.
    fn commands(command: &Command, above: &str) -> Vec<(String, Command)> {
        let path = |sub: &Command| format!("{above} {}", sub.get_name()).trim().to_owned();
        command
            .get_subcommands()
            .flat_map(|sub| {
                let below = commands(sub, &path(sub));
                if below.is_empty() { vec![(path(sub), sub.clone())] } else { below }
            })
            .collect()
    }

    /// The names of the commands that have an argument of some kind.
    fn having(is_meant: impl Fn(&Arg) -> bool) -> Vec<String> {
        let all = commands(&Cli::command(), "");
        all.into_iter().filter(|(_, command)| command.get_arguments().any(&is_meant)).map(|(path, _)| path).collect()
    }

    fn value_name(arg: &Arg) -> Option<&str> {
        arg.get_value_names().and_then(|names| names.first()).map(clap::builder::Str::as_str)
    }

    /// The name of the fleet that a command line means.
    fn fleet(line: &str) -> Option<String> {
        let words = shlex::split(line).expect("a command line");
        match Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}")).command {
            Parsed::Up(args) => Some(args.fleet_name().to_owned()),
            Parsed::Status(args) => args.fleet_name().map(ToOwned::to_owned),
            Parsed::Down(args) => Some(args.fleet_name().to_owned()),
            Parsed::Diagnose(args) => args.target.fleet,
            Parsed::Collect(args) => args.target.fleet,
            Parsed::Who(args) => args.fleet,
            Parsed::Run(args) => args.fleet,
            other => panic!("{other:?} is about no fleet"),
        }
    }

    #[test]
    fn every_command_takes_a_fleet_by_the_same_option() {
        let takes_a_fleet = having(|arg| arg.get_id() == "fleet");
        assert_eq!(takes_a_fleet, ["run", "up", "status", "down", "diagnose", "who", "collect"]);
        for command in takes_a_fleet {
            for option in ["--fleet web", "--fleet=web", "--name web"] {
                let needed = if command == "who" { " --member east cm/settings" } else { "" };
                let line = format!("fleetdrill {command} {option}{needed}");
                assert_eq!(fleet(&line).as_deref(), Some("web"), "{line}");
            }
        }
        for command in ["up", "status", "down"] {
            assert_eq!(
                fleet(&format!("fleetdrill {command} web")).as_deref(),
                Some("web"),
                "what it is about comes first"
            );
            let both = Cli::try_parse_from(["fleetdrill", command, "web", "--fleet", "other"]);
            assert!(both.is_err(), "{command} names two fleets");
        }
        assert_eq!(
            ["up", "down"].map(|c| fleet(&format!("fleetdrill {c}"))),
            [Some("default".into()), Some("default".into())]
        );
        assert_eq!(fleet("fleetdrill status"), None);
    }

    #[test]
    fn every_command_takes_an_exercise_by_the_same_option() {
        let shown = |arg: &Arg| arg.get_long() == Some("name") && !arg.is_hide_set();
        let named = having(shown);
        assert!(named.iter().all(|path| path.starts_with("train ")), "`--name` is an exercise's: {named:?}");
        // The others are about no exercise that goes on.
        let without = ["train list", "train report", "train debrief", "train verify"];
        let train: Vec<String> = having(|_| true).into_iter().filter(|path| path.starts_with("train ")).collect();
        let expected: Vec<&String> = train.iter().filter(|path| !without.contains(&path.as_str())).collect();
        assert_eq!(named.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn output_is_a_format_on_every_command_and_a_file_has_an_option_of_its_own() {
        for (path, command) in commands(&Cli::command(), "") {
            for arg in command.get_arguments() {
                let is_output = arg.get_long() == Some("output") || arg.get_short() == Some('o');
                assert_eq!(is_output, value_name(arg) == Some("FORMAT"), "{path}: {arg}");
                if is_output {
                    let names = super::format_names();
                    assert!(arg.get_possible_values().iter().all(|value| names.contains(value.get_name())), "{path}");
                    let values: Vec<String> =
                        arg.get_possible_values().iter().map(|v| v.get_name().to_owned()).collect();
                    assert_eq!((arg.get_long(), arg.get_short()), (Some("output"), Some('o')), "{path}");
                    assert!(
                        ["text", "json"].iter().all(|v| values.iter().any(|value| value == v)),
                        "{path}: {values:?}"
                    );
                }
                // A format's name as an option takes a file.
                if let Some(format @ ("json" | "html" | "junit")) = arg.get_long() {
                    assert_eq!(value_name(arg), Some("FILE"), "{path} --{format}");
                }
            }
        }
        let bundle = |line: &str| match Cli::try_parse_from(line.split(' ')).map(|cli| cli.command) {
            Ok(Parsed::Collect(args)) => args.bundle.map(|path| path.display().to_string()),
            other => panic!("{other:?}"),
        };
        for line in [
            "fleetdrill collect --bundle b.tar.gz",
            "fleetdrill collect -o b.tar.gz",
            "fleetdrill collect --output b.tar.gz",
        ] {
            assert_eq!(bundle(line).as_deref(), Some("b.tar.gz"), "{line}");
        }
    }

    #[test]
    fn a_version_of_argo_cd_may_follow_a_space_or_an_equals_sign() {
        let version = |line: &str| match Cli::try_parse_from(line.split(' ')).map(|cli| cli.command) {
            Ok(Parsed::Up(args)) => args.argocd,
            Ok(Parsed::Run(args)) => args.argocd.map(ArgoCdRequest::Version),
            other => panic!("{line}: {other:?}"),
        };
        for command in ["run", "up", "up web"] {
            for sign in [" ", "="] {
                let line = format!("fleetdrill {command} --argocd{sign}v3.1");
                assert_eq!(version(&line), Some(ArgoCdRequest::Version("v3.1".into())), "{line}");
            }
        }
        assert_eq!(version("fleetdrill up web --argocd"), Some(ArgoCdRequest::Default));
        assert_eq!(version("fleetdrill up --argocd --pods"), Some(ArgoCdRequest::Default));
        let name = Cli::try_parse_from(["fleetdrill", "up", "--argocd", "web"]).unwrap_err().to_string();
        assert!(name.contains("fleetdrill up web --argocd"), "{name}");
    }

    #[test]
    fn ascii_is_for_every_command() {
        for line in ["fleetdrill --ascii explain", "fleetdrill explain --ascii", "fleetdrill train list --ascii"] {
            assert!(Cli::try_parse_from(line.split(' ')).is_ok_and(|cli| cli.ascii), "{line}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
