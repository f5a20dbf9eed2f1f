//! Resolution of a request for a fleet, before anything is built or started.

use super::cluster_source::ClusterSource;
use super::external_fleet::ExternalFleet;
use super::needs::FleetNeeds;
use super::new_fleet::{FleetPlan, NewFleet};
use super::options::{FleetOptions, ProviderName};
use super::profile::FleetProfile;
use super::refusal;
use super::running_fleet::RunningFleet;
use super::user::FleetUser;
use crate::components::FleetToolchain;
use crate::error::CommandError;

/// Request of a command that breaks things on a fleet.
pub struct FleetRequest<'a> {
    /// Name of the fleet, or of the directory that one has here that exists already.
    pub name: String,
    /// Id of the run.
    pub run: &'a str,
    /// Options on the command line.
    pub options: &'a FleetOptions,
    /// Number of members of a new fleet.
    pub members: usize,
    /// Needs beside KubeFleet.
    pub needs: FleetNeeds,
    /// User of the fleet.
    pub user: FleetUser<'a>,
}

/// A fleet that can be had, and its facts.
pub enum ResolvedFleet {
    /// A fleet to be made.
    New(NewFleet),
    /// A fleet that is up.
    Running(RunningFleet),
    /// A fleet that exists already.
    External(Box<ExternalFleet>),
}

impl ResolvedFleet {
    /// Facts of the fleet.
    #[must_use]
    pub fn profile(&self) -> &dyn FleetProfile {
        match self {
            Self::New(fleet) => fleet,
            Self::Running(fleet) => fleet,
            Self::External(fleet) => &**fleet,
        }
    }
}

/// Finds the requested fleet, as far as it is there.
///
/// # Errors
/// Returns an error if options contradict each other, if a version is unknown, or if the fleet can't be had or won't do.
pub async fn resolve(request: FleetRequest<'_>, components: &FleetToolchain) -> Result<ResolvedFleet, CommandError> {
    let FleetRequest { name, run, options, members, needs, user } = request;
    check_options(options, &user)?;
    let clusters = ClusterSource::of_options(&options.new)?;
    if let FleetUser::Run { up: Some(up), .. } = user {
        return Ok(ResolvedFleet::Running(RunningFleet::open(up).await?));
    }
    let kubefleet = options.new.version.named();
    let Some(clusters) = clusters else {
        let fleet = ExternalFleet::find(name, run, &options.contexts, kubefleet, components).await?;
        user.check_abilities(fleet.provider(), |ability| fleet.can(ability))?;
        user.check_members(fleet.members())?;
        return Ok(ResolvedFleet::External(Box::new(fleet)));
    };
    user.check_abilities(clusters.provider(), |ability| clusters.can(ability))?;
    let kubefleet = components.kubefleet(kubefleet)?;
    let plan = FleetPlan { name, members, clusters, kubefleet };
    Ok(ResolvedFleet::New(plan.check(&needs, components).await?))
}

/// Checks that options go with the provider.
fn check_options(options: &FleetOptions, user: &FleetUser<'_>) -> Result<(), CommandError> {
    let (provider, contexts) = (options.new.provider, &options.contexts);
    if provider != ProviderName::Existing && !contexts.is_empty() {
        return Err(refusal::contexts_of_new_fleet(user.plural()));
    }
    if provider == ProviderName::Existing && (contexts.hub.is_none() || !contexts.names_members()) {
        return Err(refusal::missing_contexts(user.plural()));
    }
    let FleetUser::Run { up, names_argocd, keeps } = user else { return Ok(()) };
    match provider {
        ProviderName::Docker | ProviderName::Kind if up.is_some() => Err(refusal::not_in_docker()),
        ProviderName::Existing if up.is_some() || *names_argocd || *keeps => Err(refusal::not_on_external_fleet()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, CliCommand};
    use crate::suite::Suite;

    fn options(more: &str) -> FleetOptions {
        let line = format!("fleetdrill run {more}");
        match Cli::try_parse_from(line.split_whitespace()).map(|cli| cli.command) {
            Ok(CliCommand::Run(args)) => args.source,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn refusal(more: &str, user: &FleetUser<'_>) -> Option<(String, Option<String>)> {
        check_options(&options(more), user).err().map(|error| (error.to_string(), error.hint()))
    }

    #[test]
    fn runs_and_exercises_are_refused_in_the_same_words() {
        let suite = Suite { features: Vec::new() };
        let run = FleetUser::Run { up: None, names_argocd: false, keeps: false };
        let exercise = FleetUser::Exercise { name: "red", suite: &suite };
        for (more, expected) in [
            ("", None),
            ("--members 2", None),
            ("--hub hub", Some("--kubeconfig, --hub and --member are for a fleet that already exists")),
            (
                "--provider existing --hub hub",
                Some("--provider existing needs the contexts of the hub and of one member at least"),
            ),
            ("--provider existing --hub hub --member east", None),
        ] {
            let (by_run, by_exercise) = (refusal(more, &run), refusal(more, &exercise));
            assert_eq!(by_run.as_ref().map(|(message, _)| message.as_str()), expected, "{more}");
            let in_words_of_exercises = by_run.map(|(message, hint)| {
                (message, hint.map(|hint| hint.replace("scenarios break things", "exercises break things")))
            });
            assert_eq!(by_exercise, in_words_of_exercises, "{more}");
        }
    }

    #[test]
    fn a_run_on_a_fleet_that_is_up_is_local() {
        let existing = "--provider existing --hub hub --member east";
        for (up, names_argocd, keeps, more, is_refused) in [
            (Some("web"), false, false, "", false),
            (Some("web"), false, false, "--provider kind", true),
            (None, true, false, "--provider docker", false),
            (None, false, true, "--provider docker", false),
            (None, false, true, existing, true),
            (None, true, false, existing, true),
            (None, false, false, existing, false),
        ] {
            let user = FleetUser::Run { up, names_argocd, keeps };
            assert_eq!(refusal(more, &user).is_some(), is_refused, "{more} {names_argocd} {keeps}");
        }
    }
}
