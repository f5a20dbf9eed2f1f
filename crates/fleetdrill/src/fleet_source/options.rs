//! Options on the command line that say which fleet a command works on. A leaf: nothing here knows the rest of fleetdrill.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::members_from::MembersFrom;
use crate::component_version::ArgoCdRequest;

/// Number of members that a fleet has at most.
pub const MOST_MEMBERS: u8 = 20;

/// Fleet that a command makes, or that exists already.
#[derive(Debug, Args)]
pub struct FleetOptions {
    /// Options for a new fleet.
    #[command(flatten)]
    pub new: NewFleetOptions,
    /// Contexts of a fleet that exists already.
    #[command(flatten)]
    pub contexts: ContextOptions,
}

/// Fleet that a command makes.
#[derive(Debug, Args)]
pub struct NewFleetOptions {
    /// Version of KubeFleet.
    #[command(flatten)]
    pub version: KubeFleetOption,
    /// Provider of the clusters
    #[arg(long, value_name = "PROVIDER", default_value = "local")]
    pub provider: ProviderName,
    /// Images of clusters in Docker.
    #[command(flatten)]
    pub images: ImageOptions,
}

/// KubeFleet's version.
#[derive(Debug, Default, Args)]
pub struct KubeFleetOption {
    /// Version of KubeFleet; `fleetdrill toolchain list` shows the available ones
    #[arg(long, value_name = "VERSION")]
    pub kubefleet: Option<String>,
}

impl KubeFleetOption {
    /// The version, if one was named.
    #[must_use]
    pub fn named(&self) -> Option<&str> {
        self.kubefleet.as_deref()
    }
}

/// Name of a provider of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProviderName {
    /// Processes on this machine
    Local,
    /// Containers, one for each cluster and one for each of KubeFleet's agents
    Docker,
    /// Clusters that the program kind makes in Docker, with real nodes; KubeFleet's agents as Deployments
    Kind,
    /// A fleet that already exists, of clusters that are marked as disposable; --hub and --member name them
    Existing,
}

/// Returns a parser of the names of providers that make clusters.
pub fn makers() -> impl TypedValueParser<Value = ProviderName> {
    let makers = ProviderName::value_variants().iter().filter(|provider| **provider != ProviderName::Existing);
    PossibleValuesParser::new(makers.filter_map(ValueEnum::to_possible_value))
        .map(|name| ProviderName::from_str(&name, false).unwrap_or(ProviderName::Local))
}

/// Images and charts of clusters in Docker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ImageOptions {
    /// The nodes' image for --provider kind; kind's own by default
    #[arg(long, value_name = "IMAGE")]
    pub node_image: Option<String>,
    /// The hub-agent's image for --provider docker and kind; the published one of KubeFleet's version by default
    #[arg(long, value_name = "IMAGE")]
    pub hub_agent_image: Option<String>,
    /// The member-agent's image for --provider docker and kind; the published one of KubeFleet's version by default
    #[arg(long, value_name = "IMAGE")]
    pub member_agent_image: Option<String>,
    /// Build the agents' images from the toolchain's programs, for --provider docker and kind; no registry is needed
    #[arg(long, conflicts_with_all = ["hub_agent_image", "member_agent_image"])]
    pub build_images: bool,
    /// KubeFleet's charts for --provider kind, rendered by helm: the directory that has hub-agent and member-agent
    #[arg(long, value_name = "DIR")]
    pub chart: Option<PathBuf>,
    /// The refresh-token image that the member-agent's chart needs; the published one of KubeFleet's version by default
    #[arg(long, value_name = "IMAGE", requires = "chart")]
    pub refresh_token_image: Option<String>,
}

/// Parses the value of `up --argocd`: a version, or nothing. A fleet's name that follows `--argocd` would be taken for one.
///
/// # Errors
/// Returns what is wrong with a value that is no version.
pub fn argocd_request(text: &str) -> Result<ArgoCdRequest, String> {
    if text.is_empty() {
        return Ok(ArgoCdRequest::Default);
    }
    if text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Ok(ArgoCdRequest::Version(text.to_owned()));
    }
    Err(format!("a version begins with v and a digit; a fleet's name stands before it: fleetdrill up {text} --argocd"))
}

/// Fleet that a command reads.
#[derive(Debug, Args)]
pub struct ReadableFleetOptions {
    /// A fleet that `fleetdrill up` made; without it, and without contexts, the fleet that is up on this machine, unless KUBECONFIG is set
    #[arg(long, alias = "name", value_name = "NAME", conflicts_with_all = ["kubeconfig", "hub", "member", "members_from", "members"])]
    pub fleet: Option<String>,
    /// Contexts of the fleet.
    #[command(flatten)]
    pub contexts: ContextOptions,
}

/// Contexts of a fleet that exists already.
#[derive(Debug, Default, Args)]
pub struct ContextOptions {
    /// The kubeconfig that has the contexts; KUBECONFIG or ~/.kube/config by default
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The hub's context; the current one by default
    #[arg(long, visible_alias = "context", value_name = "CONTEXT")]
    pub hub: Option<String>,
    /// Name of a member's MemberCluster, with its context if that has another name; may be given several times
    #[arg(long, value_name = "NAME[=CONTEXT]")]
    pub member: Vec<String>,
    /// Many members: a file with one NAME or NAME=CONTEXT on a line; or for diagnose and collect a directory with one kubeconfig
    /// for each (east.yaml), a template of contexts for all MemberClusters ('aks-{name}'), or clusterprofiles[=TEMPLATE]
    #[arg(long, value_name = "FROM")]
    pub members_from: Option<MembersFrom>,
    /// All contexts but the hub's that match a pattern, each a member by its context's name, e.g. 'aks-*'
    #[arg(long, value_name = "PATTERN")]
    pub members: Option<MembersValue>,
}

/// Value of `--members`: the number of members of a new fleet, or the contexts of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembersValue {
    /// Number of members, 1 to [`MOST_MEMBERS`].
    Count(u8),
    /// Pattern that the contexts' names match.
    Pattern(String),
}

impl FromStr for MembersValue {
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

impl ContextOptions {
    /// True if no option was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kubeconfig.is_none() && self.hub.is_none() && !self.names_members()
    }

    /// True if members were given in any way.
    #[must_use]
    pub fn names_members(&self) -> bool {
        let pattern = matches!(self.members, Some(MembersValue::Pattern(_)));
        !self.member.is_empty() || self.members_from.is_some() || pattern
    }

    /// Number of members, if `--members` gives one.
    #[must_use]
    pub fn member_count(&self) -> Option<u8> {
        match self.members {
            Some(MembersValue::Count(count)) => Some(count),
            Some(MembersValue::Pattern(_)) | None => None,
        }
    }
}
