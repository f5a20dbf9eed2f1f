//! What can be asked on the command line.

use std::path::PathBuf;

use clap::builder::{FalseyValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clusters::kind;

use fleet::bundle::SizeLimit;
use fleet::upgrade::Order;
use strum::IntoEnumIterator;

use crate::components::Clusters;
use crate::suite::{Selection, Suite, SuiteError};
use crate::train::exercise::Level;

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
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios on a fleet that is made for them and ended after them
    Run(Run),
    /// Run scenarios before, across and after an upgrade of KubeFleet, and report what differs
    Upgrade(Upgrade),
    /// List scenarios with their failure codes and tags
    List(List),
    /// Start a fleet to work with, or bring a running one to another number of members
    Up(Up),
    /// Show the fleets that are up
    Status(Status),
    /// End a fleet
    Down(Down),
    /// Name the cause of what a fleet's objects report, reading only
    Diagnose(Diagnose),
    /// Explain a failure code: cause, evidence to look for, remedies, guide
    Explain(Explain),
    /// Show what KubeFleet's guides say, statement by statement, and whether it is so
    Guides(Guides),
    /// Save what a fleet looks like for a later diagnosis: objects, events, logs, nothing secret
    Collect(Collect),
    /// Learn the failure modes by repairing them: a broken fleet, hints, and a check that says whether the repair holds
    #[command(subcommand)]
    Train(Train),
    /// The real components, by version
    #[command(subcommand)]
    Toolchain(Toolchain),
}

/// How many members a fleet has at most.
pub const MOST_MEMBERS: u8 = 20;

/// Which scenarios are meant.
#[derive(Debug, Args)]
pub struct Scenarios {
    /// Scenarios: a part of a scenario's or feature's name, or a .feature file of your own; all by default
    #[arg(value_name = "NAME|FILE")]
    pub select: Vec<String>,
    /// Only scenarios whose tags satisfy this, e.g. '@drill and not @disruptive'
    #[arg(long, value_name = "EXPR")]
    pub tags: Option<String>,
    /// A directory with .feature files to use instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub features: Option<PathBuf>,
}

impl Scenarios {
    /// The scenarios that are selected, or this part of them.
    ///
    /// # Errors
    /// When a feature can't be used or none is selected.
    pub fn load(&self, shard: Option<Shard>) -> Result<Suite, SuiteError> {
        let Self { select, tags, features } = self;
        Suite::load(&Selection { select, tags: tags.as_deref(), features: features.as_deref(), shard })
    }
}

/// `fleetdrill run`.
#[derive(Debug, Args)]
#[command(mut_arg("members", |arg| arg.value_name("N|PATTERN").help(MEMBERS_OF_RUN)))]
pub struct Run {
    /// The scenarios.
    #[command(flatten)]
    pub scenarios: Scenarios,
    /// KubeFleet's version; `fleetdrill toolchain list` shows them
    #[arg(long, value_name = "VERSION")]
    pub kubefleet: Option<String>,
    /// Argo CD's version, for scenarios that need it
    #[arg(long, value_name = "VERSION")]
    pub argocd: Option<String>,
    /// Where the clusters come from
    #[arg(long, value_name = "PROVIDER", default_value = "local")]
    pub provider: Provider,
    /// What clusters in Docker are made of.
    #[command(flatten)]
    pub images: Images,
    /// The contexts of a fleet that exists already.
    #[command(flatten)]
    pub contexts: Contexts,
    /// How many scenarios run at the same time; 32 by default, on real nodes (--provider kind) eight for each processor, two of them with nodes of their own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub jobs: Option<u8>,
    /// Wait out controllers' thresholds of minutes instead of moving a start time into the past
    #[arg(long)]
    pub real_time: bool,
    /// Run on a fleet that is up already, and leave it up
    #[arg(long, alias = "name", value_name = "NAME", conflicts_with_all = ["kubefleet", "argocd", "members"])]
    pub fleet: Option<String>,
    /// Leave the fleet up for a look
    #[arg(long, value_name = "WHEN", default_value = "never")]
    pub keep: Keep,
    /// Write a JUnit file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write everything that happened as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Where each failed scenario leaves a bundle, which `fleetdrill diagnose --from` reads
    #[arg(long, value_name = "DIR", default_value = "report/bundles")]
    pub bundles: PathBuf,
    /// Run the I-th of N equal parts, counted from 1
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Show for every scenario what was done and seen, not only for failed ones
    #[arg(long, short)]
    pub verbose: bool,
}

const MEMBERS_OF_RUN: &str = "How many members the fleet has, 3 by default; with --provider existing, the members: all contexts \
    that match a pattern, each by its context's name, e.g. 'aks-*'";

impl Run {
    /// How many members a new fleet gets.
    #[must_use]
    pub fn member_count(&self) -> u8 {
        match self.contexts.members {
            Some(Members::Count(count)) => count,
            Some(Members::Pattern(_)) | None => 3,
        }
    }
}

/// `fleetdrill upgrade`.
#[derive(Debug, Args)]
pub struct Upgrade {
    /// The scenarios.
    #[command(flatten)]
    pub scenarios: Scenarios,
    /// KubeFleet's version before
    #[arg(long, value_name = "VERSION")]
    pub from: String,
    /// KubeFleet's version after
    #[arg(long, value_name = "VERSION")]
    pub to: String,
    /// The order in which hub and members are upgraded; may be given several times, all three by default
    #[arg(long, value_name = "ORDER", value_parser = orders())]
    pub order: Vec<Order>,
    /// Go back to the version before as well
    #[arg(long)]
    pub back: bool,
    /// Only this part: scenarios before and after the upgrade, or scenarios in flight; both by default
    #[arg(long, value_name = "PART")]
    pub only: Option<UpgradePart>,
    /// How many members the fleet has
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_MEMBERS)))]
    pub members: u8,
    /// How many scenarios run at the same time before and after; in flight are all at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u8).range(1..))]
    pub jobs: u8,
    /// Write the differences and everything that happened as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the report as one HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// An earlier report as JSON: differences that it has are accepted
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// The format of what is printed
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    /// Where each failed scenario leaves a bundle, which `fleetdrill diagnose --from` reads
    #[arg(long, value_name = "DIR", default_value = "report/bundles")]
    pub bundles: PathBuf,
}

/// A part of `fleetdrill upgrade`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UpgradePart {
    /// The scenarios on the old version and on the upgraded fleet.
    BeforeAfter,
    /// The scenarios that are in the middle of things when the fleet is upgraded.
    InFlight,
}

fn orders() -> impl TypedValueParser<Value = Order> {
    PossibleValuesParser::new(Order::iter().map(|order| order.to_string())).try_map(|order| order.parse::<Order>())
}

/// `fleetdrill list`.
#[derive(Debug, Args)]
pub struct List {
    /// The scenarios.
    #[command(flatten)]
    pub scenarios: Scenarios,
    /// Show the steps that features can be written in, instead
    #[arg(long)]
    pub steps: bool,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}

/// `fleetdrill up`.
#[derive(Debug, Args)]
pub struct Up {
    /// The fleet's name
    #[arg(value_name = "NAME", default_value = "default")]
    pub name: String,
    /// The fleet's name as an option.
    #[command(flatten)]
    pub fleet: FleetOption,
    /// How many members it has; a fleet that is up already is brought to this number
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=i64::from(MOST_MEMBERS)))]
    pub members: u8,
    /// KubeFleet's version; `fleetdrill toolchain list` shows them
    #[arg(long, value_name = "VERSION")]
    pub kubefleet: Option<String>,
    /// Where its clusters come from
    #[arg(long, value_name = "PROVIDER", default_value = "local", value_parser = makers())]
    pub provider: Provider,
    /// What clusters in Docker are made of.
    #[command(flatten)]
    pub images: Images,
    /// Give its members pods: a scheduler, and KWOK as the kubelet; kind's nodes have real ones
    #[arg(long)]
    pub pods: bool,
    /// Run Argo CD on its hub, in this version or the default one, with the members as its destinations
    #[arg(long, value_name = "VERSION", num_args = 0..=1, default_missing_value = "", value_parser = argocd_version)]
    pub argocd: Option<String>,
    /// Run Argo CD with its API server, for the argocd command
    #[arg(long)]
    pub argocd_server: bool,
}

/// A fleet's name as an option, for commands that are about one fleet: `up --fleet web` is `up web`, so that `--fleet` names a fleet
/// on every command.
#[derive(Debug, Default, Args)]
pub struct FleetOption {
    #[arg(long, alias = "name", value_name = "NAME", hide = true, conflicts_with = "name")]
    fleet: Option<String>,
}

impl Up {
    /// The fleet's name.
    #[must_use]
    pub fn fleet_name(&self) -> &str {
        self.fleet.fleet.as_deref().unwrap_or(&self.name)
    }
}

impl Status {
    /// The fleet's name; none for all fleets.
    #[must_use]
    pub fn fleet_name(&self) -> Option<&str> {
        self.fleet.fleet.as_deref().or(self.name.as_deref())
    }
}

impl Down {
    /// The fleet's name.
    #[must_use]
    pub fn fleet_name(&self) -> &str {
        self.fleet.fleet.as_deref().unwrap_or(&self.name)
    }
}

/// Parses the value of `up --argocd`: a version, or nothing. A fleet's name that follows `--argocd` would be taken for one.
fn argocd_version(text: &str) -> Result<String, String> {
    let is_version = text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if text.is_empty() || is_version {
        return Ok(text.to_owned());
    }
    Err(format!("a version begins with v and a digit; a fleet's name stands before it: fleetdrill up {text} --argocd"))
}

/// `fleetdrill status`.
#[derive(Debug, Args)]
pub struct Status {
    /// A fleet's name; all by default
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The fleet's name as an option.
    #[command(flatten)]
    pub fleet: FleetOption,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}

/// `fleetdrill down`.
#[derive(Debug, Args)]
pub struct Down {
    /// The fleet's name
    #[arg(value_name = "NAME", default_value = "default")]
    pub name: String,
    /// The fleet's name as an option.
    #[command(flatten)]
    pub fleet: FleetOption,
    /// End all fleets, and remove what dead ones left behind
    #[arg(long, conflicts_with_all = ["name", "fleet"])]
    pub all: bool,
    /// Remove what this run, which has died, left on a fleet that existed before it (--provider existing)
    #[arg(long, value_name = "RUN", conflicts_with_all = ["name", "fleet", "all"])]
    pub run: Option<String>,
    /// That fleet.
    #[command(flatten)]
    pub contexts: Contexts,
}

/// `fleetdrill diagnose`.
#[derive(Debug, Args)]
pub struct Diagnose {
    /// One object, e.g. `clusterresourceplacement/web`, `csur/release-7`, `sur/apps/release-7`, `membercluster/east` or
    /// `application/web`; all by default
    #[arg(value_name = "KIND/NAME")]
    pub object: Option<String>,
    /// The object's namespace; any by default
    #[arg(long, short, value_name = "NAMESPACE", requires = "object")]
    pub namespace: Option<String>,
    /// The fleet.
    #[command(flatten)]
    pub target: Target,
    /// A bundle that `fleetdrill collect` or a failed scenario left, instead of a fleet
    #[arg(
        long,
        value_name = "BUNDLE",
        conflicts_with_all = ["fleet", "kubeconfig", "hub", "member", "members_from", "members"]
    )]
    pub from: Option<PathBuf>,
    /// How large the files of a bundle may be together, in MiB; reading takes up to five times as much memory
    #[arg(
        long,
        value_name = "MIB",
        env = "FLEETDRILL_FROM_LIMIT",
        hide_env_values = true,
        default_value_t = SizeLimit::DEFAULT_MEBIBYTES
    )]
    pub from_limit: u64,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: DiagnoseFormat,
    /// What ends the command with another exit code than 0; several, separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "failure,incomplete")]
    pub fail_on: Vec<FailOn>,
}

/// How a diagnosis comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiagnoseFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For programs and people
    Yaml,
    /// For a ticket
    Markdown,
}

/// What ends `fleetdrill diagnose` with another exit code than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A notice or a failure was found: exit code 1
    Notice,
    /// A failure was found: exit code 1
    Failure,
    /// Not everything could be read: exit code 4, unless it is 1 already
    Incomplete,
}

/// Which fleet a command reads.
#[derive(Debug, Args)]
pub struct Target {
    /// A fleet that `fleetdrill up` made; without it, and without contexts, the fleet that is up here, unless KUBECONFIG is set
    #[arg(long, alias = "name", value_name = "NAME", conflicts_with_all = ["kubeconfig", "hub", "member", "members_from", "members"])]
    pub fleet: Option<String>,
    /// Its contexts.
    #[command(flatten)]
    pub contexts: Contexts,
}

/// Contexts of a fleet that exists already.
#[derive(Debug, Default, Args)]
pub struct Contexts {
    /// The kubeconfig that has the contexts; KUBECONFIG or ~/.kube/config by default
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The hub's context; the current one by default
    #[arg(long, value_name = "CONTEXT")]
    pub hub: Option<String>,
    /// A member by the name of its MemberCluster, with its context where that has another name; may be given several times
    #[arg(long, value_name = "NAME[=CONTEXT]")]
    pub member: Vec<String>,
    /// A file with members, one NAME or NAME=CONTEXT on a line; # begins a comment
    #[arg(long, value_name = "FILE")]
    pub members_from: Option<PathBuf>,
    /// All contexts but the hub's that match a pattern, each a member by its context's name, e.g. 'aks-*'
    #[arg(long, value_name = "PATTERN")]
    pub members: Option<Members>,
}

/// What `--members` says: how many members to make, or which contexts are members'.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// How many, 1 to [`MOST_MEMBERS`].
    Count(u8),
    /// A pattern that contexts' names match.
    Pattern(String),
}

impl std::str::FromStr for Members {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<u64>() {
            Ok(count) => match u8::try_from(count).ok().filter(|count| (1..=MOST_MEMBERS).contains(count)) {
                Some(count) => Ok(Self::Count(count)),
                None => Err(format!("{count} is not in 1..={MOST_MEMBERS}")),
            },
            Err(_) => Ok(Self::Pattern(text.to_owned())),
        }
    }
}

impl Contexts {
    /// Whether none of them was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kubeconfig.is_none() && self.hub.is_none() && !self.names_members()
    }

    /// Whether members were given in any way.
    #[must_use]
    pub fn names_members(&self) -> bool {
        let pattern = matches!(self.members, Some(Members::Pattern(_)));
        !self.member.is_empty() || self.members_from.is_some() || pattern
    }
}

/// `fleetdrill collect`.
#[derive(Debug, Args)]
pub struct Collect {
    /// The fleet.
    #[command(flatten)]
    pub target: Target,
    /// Where to write it: a directory, or a file that ends with .tar.gz; fleetdrill-bundle-FLEET-TIME by default
    #[arg(long, short_alias = 'o', alias = "output", value_name = "PATH", value_parser = bundle_path)]
    pub bundle: Option<PathBuf>,
}

/// Parses the path of `collect --bundle`.
fn bundle_path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("a path can't be empty".into()) } else { Ok(PathBuf::from(text)) }
}

/// `fleetdrill explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// A failure code, e.g. KF-WS-001; all of them in a line each without it
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}

/// `fleetdrill guides`.
#[derive(Debug, Args)]
pub struct Guides {
    /// A guide, with all its statements; a summary of all guides without it, a few lines for each
    #[arg(value_name = "GUIDE")]
    pub guide: Option<String>,
    /// Show the statements of all guides
    #[arg(long, conflicts_with = "guide")]
    pub all: bool,
    /// What this run has shown (its `run --json`), instead of what is known of each version; may be given several times,
    /// for the parts of one
    #[arg(long, value_name = "RUN.JSON")]
    pub from: Vec<PathBuf>,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: GuidesFormat,
}

/// How coverage comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GuidesFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// What differs, for the guides' authors
    Markdown,
    /// What guides/measured/VERSION.yaml keeps of the run that --from names
    Measured,
}

/// `fleetdrill toolchain`.
#[derive(Debug, Subcommand)]
pub enum Toolchain {
    /// List the versions that there are, and which of them are in the cache
    List {
        /// The output's format
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        output: Format,
    },
    /// Build what fleets need, or one component
    Install {
        /// A component, e.g. `kubefleet`; all that fleets need, pods and Argo CD included, by default
        component: Option<String>,
        /// Its version; the default one without it
        version: Option<String>,
    },
    /// Register a build of your own, e.g. of a version that fleetdrill can't build
    Add {
        /// The component, e.g. `kubefleet`
        component: String,
        /// The version that it will be asked for by, e.g. `v0.3.1`
        version: String,
        /// The programs: each its name in the component and its file, e.g. `hub-agent=./bin/hub-agent`
        #[arg(value_name = "NAME=FILE", required = true)]
        programs: Vec<String>,
        /// The directory with the version's CRDs
        #[arg(long, value_name = "DIR")]
        crds: Option<PathBuf>,
        /// Use it instead of a version that could be built
        #[arg(long)]
        force: bool,
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
pub enum Train {
    /// Show the exercises, without giving their causes away
    List {
        /// Where they are.
        #[command(flatten)]
        from: Exercises,
        /// The output's format
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        output: Format,
    },
    /// Start a fleet, break it, and print the page that a night shift would get
    Start(TrainStart),
    /// Repeat the page, with the time gone by
    Status(Going),
    /// Give the next of three hints: where to look, which field, what it means
    Hint(Going),
    /// Say what the cause is: a failure code, or words
    Diagnose {
        /// The cause, e.g. `KF-WS-001` or `the namespace is terminating`; `nothing` where nothing is broken
        #[arg(value_name = "CODE|WORDS", required = true)]
        answer: Vec<String>,
        /// Which one.
        #[command(flatten)]
        going: Going,
    },
    /// Restart an agent, as `kubectl rollout restart` does where it is a Deployment
    Restart {
        /// `hub-agent`, or the member whose agent is meant
        #[arg(value_name = "AGENT")]
        agent: String,
        /// Which one.
        #[command(flatten)]
        going: Going,
    },
    /// Judge the repair: the symptom is gone and stays gone, nothing else is, and a fresh change goes through
    Check(Going),
    /// Set the exercise up again on its fleet, as it was at the page; the clock goes on, and the score has the reset
    Reset(Going),
    /// Show the evidence and the commands, and end the exercise; its fleet stays up for a look
    Solution(Going),
    /// End the exercise and its fleet
    Stop(Going),
    /// Put the scores of several exercises and people side by side
    Report {
        /// Files with scores, or directories of them; those kept on this machine by default
        #[arg(value_name = "FILE|DIR")]
        scores: Vec<PathBuf>,
        /// The output's format
        #[arg(long, short, value_name = "FORMAT", default_value = "text")]
        output: Format,
    },
    /// Try exercises out: the printed solution has to pass the check, doing nothing and the wrong repairs mustn't
    Verify(TrainVerify),
}

/// Where exercises are.
#[derive(Debug, Args)]
pub struct Exercises {
    /// A directory with exercises of one's own (.yaml) instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub exercises: Option<PathBuf>,
}

/// An exercise that is running.
#[derive(Debug, Args)]
pub struct Going {
    /// The exercise, by the name that it was started with; needed where several are running
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

/// `fleetdrill train start`.
#[derive(Debug, Args)]
pub struct TrainStart {
    /// The exercise; `fleetdrill train list` shows them
    #[arg(value_name = "EXERCISE", required_unless_present = "random", conflicts_with = "random")]
    pub exercise: Option<String>,
    /// Any of them
    #[arg(long)]
    pub random: bool,
    /// With --random: only of this level
    #[arg(long, value_name = "LEVEL", requires = "random")]
    pub level: Option<Level>,
    /// Call it so, where several run at once; the exercise's own name by default
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Who does it, for the score; the user's name by default
    #[arg(long, value_name = "WHO", env = "USER", hide_env = true, default_value = "somebody")]
    pub trainee: String,
    /// After how many hours a forgotten exercise ends itself
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=72))]
    pub hours: u8,
    /// Where the exercises are.
    #[command(flatten)]
    pub from: Exercises,
    /// KubeFleet's version; `fleetdrill toolchain list` shows them
    #[arg(long, value_name = "VERSION")]
    pub kubefleet: Option<String>,
    /// Where its clusters come from
    #[arg(long, value_name = "PROVIDER", default_value = "local")]
    pub provider: Provider,
    /// What clusters in Docker are made of.
    #[command(flatten)]
    pub images: Images,
    /// The contexts of a fleet that exists already.
    #[command(flatten)]
    pub contexts: Contexts,
}

/// `fleetdrill train verify`.
#[derive(Debug, Args)]
pub struct TrainVerify {
    /// The exercises; all by default
    #[arg(value_name = "EXERCISE")]
    pub names: Vec<String>,
    /// Where they are.
    #[command(flatten)]
    pub from: Exercises,
    /// KubeFleet's version; `fleetdrill toolchain list` shows them
    #[arg(long, value_name = "VERSION")]
    pub kubefleet: Option<String>,
    /// How many tries go on at the same time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u8).range(1..))]
    pub jobs: u8,
    /// The output's format
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}

/// Where clusters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Provider {
    /// Processes on this machine
    Local,
    /// Containers, one for each cluster and one for each of KubeFleet's agents
    Docker,
    /// Clusters that the program kind makes in Docker, with real nodes; KubeFleet's agents as Deployments
    Kind,
    /// A fleet that already exists, of clusters that somebody has marked as disposable: --hub, --member
    Existing,
}

/// The providers that make clusters.
fn makers() -> impl TypedValueParser<Value = Provider> {
    let makers = Provider::value_variants().iter().filter(|provider| **provider != Provider::Existing);
    PossibleValuesParser::new(makers.filter_map(ValueEnum::to_possible_value))
        .map(|name| Provider::from_str(&name, false).unwrap_or(Provider::Local))
}

/// What clusters in Docker are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Images {
    /// The nodes' image for --provider kind; kind's own by default
    #[arg(long, value_name = "IMAGE")]
    pub node_image: Option<String>,
    /// The hub-agent's image for --provider docker and kind; the published one of KubeFleet's version by default
    #[arg(long, value_name = "IMAGE")]
    pub hub_agent_image: Option<String>,
    /// The member-agent's image for --provider docker and kind; the published one of KubeFleet's version by default
    #[arg(long, value_name = "IMAGE")]
    pub member_agent_image: Option<String>,
    /// Build the agents' images of the toolchain's programs for --provider docker and kind: no registry is needed
    #[arg(long, conflicts_with_all = ["hub_agent_image", "member_agent_image"])]
    pub build_images: bool,
    /// KubeFleet's charts for --provider kind, rendered by helm: the directory that has hub-agent and member-agent
    #[arg(long, value_name = "DIR")]
    pub chart: Option<PathBuf>,
    /// The refresh-token image that the member-agent's chart needs; the published one of KubeFleet's version by default
    #[arg(long, value_name = "IMAGE", requires = "chart")]
    pub refresh_token_image: Option<String>,
}

impl Images {
    /// What is wrong with these options where clusters aren't in Docker.
    const ELSEWHERE: &str =
        "--node-image, --hub-agent-image, --member-agent-image, --build-images and --chart are for clusters in Docker";

    /// What clusters of this provider are made of; nothing of one that makes none.
    ///
    /// # Errors
    /// When an option doesn't go with it, in a sentence.
    pub fn clusters(&self, provider: Provider) -> Result<Option<Clusters>, &'static str> {
        match provider {
            Provider::Local | Provider::Existing if *self != Self::default() => Err(Self::ELSEWHERE),
            Provider::Docker if self.node_image.is_some() || self.chart.is_some() => {
                Err("--node-image and --chart go with --provider kind")
            }
            Provider::Local => Ok(Some(Clusters::Local)),
            Provider::Docker => Ok(Some(Clusters::Docker(self.agents()))),
            Provider::Kind => {
                let refresh_token = self.refresh_token_image.clone();
                let charts = self.chart.as_ref().map(|dir| {
                    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
                    kind::Charts { dir, refresh_token }
                });
                Ok(Some(Clusters::Kind(kind::Setup {
                    node_image: self.node_image.clone(),
                    images: self.agents(),
                    charts,
                })))
            }
            Provider::Existing => Ok(None),
        }
    }

    /// Where the agents' images come from.
    fn agents(&self) -> clusters::images::Images {
        if self.build_images {
            return clusters::images::Images::Built;
        }
        let (hub_agent, member_agent) = (self.hub_agent_image.clone(), self.member_agent_image.clone());
        clusters::images::Images::Named { hub_agent, member_agent }
    }
}

/// When to leave the fleet up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// Never
    Never,
    /// When a scenario failed
    Failed,
    /// Always
    Always,
}

/// How data comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// For programs and people
    Yaml,
}

/// The I-th of N parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a shard: write it as I/N with I from 1 to N, e.g. 1/4");
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        let (index, of) = (index.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
        if index == 0 || index > of { Err(wrong()) } else { Ok(Self { index, of }) }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, CommandFactory, Parser};

    use super::{Cli, Command as Parsed, Shard};

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
            Parsed::Run(args) => args.fleet,
            other => panic!("{other:?} is about no fleet"),
        }
    }

    #[test]
    fn every_command_takes_a_fleet_by_the_same_option() {
        let takes_a_fleet = having(|arg| arg.get_id() == "fleet");
        assert_eq!(takes_a_fleet, ["run", "up", "status", "down", "diagnose", "collect"]);
        for command in takes_a_fleet {
            for option in ["--fleet web", "--fleet=web", "--name web"] {
                let line = format!("fleetdrill {command} {option}");
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
        let without = ["train list", "train report", "train verify"];
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
            Ok(Parsed::Run(args)) => args.argocd,
            other => panic!("{line}: {other:?}"),
        };
        for command in ["run", "up", "up web"] {
            for sign in [" ", "="] {
                let line = format!("fleetdrill {command} --argocd{sign}v3.1");
                assert_eq!(version(&line).as_deref(), Some("v3.1"), "{line}");
            }
        }
        assert_eq!(version("fleetdrill up web --argocd").as_deref(), Some(""), "the default version");
        assert_eq!(version("fleetdrill up --argocd --pods").as_deref(), Some(""));
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

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, of: 4 }));
        for bad in ["0/4", "5/4", "4", "a/b"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
