//! The fleet that a run is on: one that is up, one that exists already, or one of its own.

use std::sync::Arc;
use std::time::Instant;

use clusters::keeper::Program;
use clusters::provider::Ability;
use clusters::stderr_line;
use clusters::toolchain::BuildEvent;
use fleet::Fleet;
use fleet::agents::Agents;
use fleet::capability::Capabilities;
use fleet::existing::Found;

use super::open_fleet;
use super::progress::stage_text;
use super::target::{contexts, unusable};
use super::up::IN_DOCKER;
use crate::cli::{Keep, Provider, Run};
use crate::components::{self, Clusters, Extras};
use crate::error::CommandError;
use crate::suite::Suite;

/// The fleet of a run, as far as it is there.
pub(super) struct Ground {
    place: Place,
    /// KubeFleet's version.
    version: String,
    /// Its programs; none where they run already.
    agents: Option<Agents>,
    /// How long a new fleet took from nothing to all joined, without building the components.
    seconds: f64,
    /// What it is made of: component and version.
    versions: Vec<(String, String)>,
}

/// Where it is.
enum Place {
    /// Up here.
    Up(Fleet),
    /// Of clusters that exist already.
    Existing(Box<Found>),
    /// Nowhere yet.
    New(Clusters),
}

/// A fleet to run on.
pub(super) struct Begun {
    pub(super) fleet: Fleet,
    /// What it is made of: component and version.
    pub(super) versions: Vec<(String, String)>,
    /// How long it took from nothing to all joined; 0 for one that was up.
    pub(super) fleet_seconds: f64,
}

impl Ground {
    /// The fleet that is asked for, as far as it is there. What is asked for and can't be had is told here, before anything is
    /// built.
    pub(super) async fn find(args: &Run, suite: &Suite, id: &str) -> Result<Self, CommandError> {
        check(args)?;
        let clusters = args.images.clusters(args.provider).map_err(|why| unusable(why, Some(IN_DOCKER)))?;
        let found = |place, version: String| {
            let versions = vec![("kubefleet".to_owned(), version.clone())];
            Self { place, version, agents: None, seconds: 0.0, versions }
        };
        if let Some(name) = &args.fleet {
            let fleet = open_fleet(name).await?;
            let version = fleet.version();
            return Ok(found(Place::Up(fleet), version));
        }
        if args.provider == Provider::Existing {
            let there = Found::by(&format!("run-{id}"), contexts(&args.contexts)?, &Program::this()?).await?;
            let version = running(&there, args.kubefleet.as_deref()).await?;
            return Ok(found(Place::Existing(Box::new(there)), version));
        }
        let clusters = clusters.unwrap_or(Clusters::Local);
        let version = components::kubefleet(args.kubefleet.as_deref())?;
        clusters.check().await?;
        if clusters.can(Ability::RunArgoCd) {
            extras(args, suite).check()?;
        }
        Ok(found(Place::New(clusters), version))
    }

    /// Whether the fleet is made for the run, with as many members as are asked for.
    pub(super) fn is_new(&self) -> bool {
        matches!(self.place, Place::New(_))
    }

    /// The provider's name.
    pub(super) fn provider(&self) -> &'static str {
        match &self.place {
            Place::Up(fleet) => fleet.provider(),
            Place::Existing(found) => found.provider(),
            Place::New(clusters) => clusters.provider(),
        }
    }

    /// KubeFleet's version.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Gets KubeFleet's programs, where they are needed, and gives what this version can do.
    pub(super) async fn capabilities(
        &mut self,
        build: &(dyn Fn(BuildEvent) + Send + Sync),
    ) -> Result<Capabilities, CommandError> {
        if let Place::Up(fleet) = &self.place {
            return Ok(fleet.capabilities());
        }
        let mut agents = components::ensure_agents(Some(&self.version), build).await?;
        if let Place::Existing(found) = &self.place {
            agents.capabilities = found.capabilities(&agents).await?;
        }
        Ok(self.agents.insert(agents).capabilities.clone())
    }

    /// Whether where it runs can do that.
    pub(super) fn can(&self, ability: Ability) -> bool {
        match &self.place {
            Place::Up(fleet) => fleet.can(ability),
            Place::Existing(found) => found.can(ability),
            Place::New(clusters) => clusters.can(ability),
        }
    }

    /// How many members it has.
    pub(super) async fn members(&self, args: &Run) -> usize {
        match &self.place {
            Place::Up(fleet) => fleet.members().await.len(),
            Place::Existing(found) => found.members(),
            Place::New(_) => usize::from(args.member_count()),
        }
    }

    /// Makes the fleet where it is a new one, and gives one that is up what the scenarios need and it hasn't.
    pub(super) async fn prepare(
        &mut self,
        args: &Run,
        id: &str,
        suite: &Suite,
        build: &(dyn Fn(BuildEvent) + Send + Sync),
        phase: impl Fn(&str) + Clone + Send + Sync + 'static,
    ) -> Result<(), CommandError> {
        match (&self.place, self.agents.take()) {
            (Place::Up(fleet), _) => extend(fleet, suite, &mut self.versions, build, &phase).await,
            (Place::New(clusters), Some(agents)) => {
                let components = components::ensure_rest(agents, clusters, extras(args, suite), build).await?;
                self.versions.clone_from(&components.versions);
                phase("starting the fleet");
                let started = Instant::now();
                let options =
                    components.options(format!("run-{id}"), usize::from(args.member_count()), Program::this()?);
                let fleet = Fleet::create(options, Arc::new(move |stage| phase(&stage_text(&stage)))).await?;
                self.seconds = started.elapsed().as_secs_f64();
                self.place = Place::Up(fleet);
                Ok(())
            }
            (_, agents) => {
                self.agents = agents;
                Ok(())
            }
        }
    }

    /// The fleet; one that exists already is taken for the run.
    pub(super) async fn begin(self, id: &str) -> Result<Begun, CommandError> {
        let fleet = match (self.place, self.agents) {
            (Place::Up(fleet), _) => fleet,
            (Place::Existing(found), Some(agents)) => {
                let fleet = found.take(format!("run-{id}"), id, agents).await?;
                stderr_line!("run {id}: should it be killed, remove what it has made with these contexts and");
                stderr_line!("  fleetdrill down --run {id}");
                fleet
            }
            (Place::Existing(_) | Place::New(_), _) => {
                return Err(CommandError::Environment { message: "the fleet isn't prepared".into(), hint: None });
            }
        };
        Ok(Begun { fleet, versions: self.versions, fleet_seconds: self.seconds })
    }
}

/// The version of KubeFleet that a fleet runs which exists already.
pub(super) async fn running(there: &Found, asked: Option<&str>) -> Result<String, CommandError> {
    let version = match asked {
        Some(version) => Some(version.to_owned()),
        None => there.version().await?,
    };
    let Some(version) = version else {
        return Err(unusable(
            "which version of KubeFleet the hub runs can't be found out: it has no Deployment hub-agent whose image has it \
             as its tag",
            Some("say it with --kubefleet VERSION: what scenarios expect goes by it"),
        ));
    };
    components::kubefleet(Some(&version))
}

/// Sees that the options fit the provider.
fn check(args: &Run) -> Result<(), CommandError> {
    let usage = |message: &str, hint: &str| Err(unusable(message, Some(hint)));
    let contexts = "--provider existing --hub CONTEXT --member NAME=CONTEXT";
    match args.provider {
        Provider::Local | Provider::Docker | Provider::Kind if !args.contexts.is_empty() => {
            let hint = format!("to run scenarios on such a fleet: {contexts}");
            usage("--kubeconfig, --hub and --member are for a fleet that already exists", &hint)
        }
        Provider::Docker | Provider::Kind if args.fleet.is_some() || args.argocd.is_some() => usage(
            "--fleet and --argocd go with --provider local only",
            "a run with --provider docker or kind makes a fleet of its own; Argo CD runs on local fleets only",
        ),
        Provider::Existing if args.contexts.hub.is_none() || !args.contexts.names_members() => {
            let hint = format!("scenarios break things on purpose, so nothing is guessed: {contexts}");
            usage("--provider existing needs the contexts of the hub and of one member at least", &hint)
        }
        Provider::Existing if args.fleet.is_some() || args.argocd.is_some() || args.keep != Keep::Never => usage(
            "--fleet, --argocd and --keep are for fleets that fleetdrill makes",
            "what a run makes on a fleet that already exists is always removed; failed scenarios leave a bundle",
        ),
        _ => Ok(()),
    }
}

/// What the suite needs beside KubeFleet.
fn extras<'a>(args: &'a Run, suite: &Suite) -> Extras<'a> {
    Extras { pods: suite.needs_pods(), argocd: suite.needs_argocd().then_some(args.argocd.as_deref()) }
}

/// Gives a fleet that is up what the scenarios need and it hasn't.
async fn extend(
    fleet: &Fleet,
    suite: &Suite,
    versions: &mut Vec<(String, String)>,
    build: &(dyn Fn(BuildEvent) + Send + Sync),
    phase: &impl Fn(&str),
) -> Result<(), CommandError> {
    if suite.needs_pods() && fleet.is_local() {
        let (programs, kwok) = components::ensure_pods(build).await?;
        fleet.allow_pods(programs).await?;
        versions.push(kwok);
    }
    if suite.needs_argocd() {
        if fleet.argocd_version().await.is_none() {
            let programs = components::ensure_argocd(None, build).await?;
            phase("starting Argo CD on the hub");
            fleet.start_argocd(programs).await?;
        }
        versions.extend(fleet.argocd_version().await.map(|version| ("argocd".to_owned(), version)));
    }
    Ok(())
}
