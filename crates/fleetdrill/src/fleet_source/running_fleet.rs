//! Fleets that are up on this machine.

use clusters::ability::ProviderAbility;
use clusters::error::last_lines;
use clusters::state_dir;
use fleet::Fleet;

use super::needs::FleetNeeds;
use super::needs::check_argocd_pods;
use super::profile::FleetProfile;
use super::progress::FleetBuilder;
use super::refusal;
use crate::component_version::{ArgoCdRequest, ComponentVersion};
use crate::error::CommandError;

/// A fleet that is up, with all its processes.
pub struct RunningFleet {
    /// The fleet.
    pub fleet: Fleet,
    kubefleet: ComponentVersion,
    members: usize,
    has_argocd_in_pods: bool,
}

impl RunningFleet {
    /// Opens a fleet by its name.
    ///
    /// # Errors
    /// Returns an error if there is none of that name, if it is just starting, or if one of its processes has ended.
    pub async fn open(name: &str) -> Result<Self, CommandError> {
        let fleet = open_whole(name).await?;
        Ok(Self {
            kubefleet: ComponentVersion::kubefleet(fleet.version()),
            members: fleet.members().await.len(),
            has_argocd_in_pods: fleet.has_argocd_in_pods().await,
            fleet,
        })
    }

    /// Checks that the fleet is of the requested version and provider.
    ///
    /// # Errors
    /// Returns an error if it isn't.
    pub fn check(&self, kubefleet: Option<&str>, provider: Option<&str>) -> Result<(), CommandError> {
        let Self { fleet, kubefleet: there, .. } = self;
        if let Some(requested) = kubefleet.filter(|requested| *requested != there.version) {
            let difference = format!("is up with KubeFleet {}, not {requested}", there.version);
            return Err(refusal::up_otherwise(fleet, &difference));
        }
        if let Some(requested) = provider.filter(|requested| *requested != fleet.provider()) {
            let difference = format!("is up with provider {}, not {requested}", fleet.provider());
            return Err(refusal::up_otherwise(fleet, &difference));
        }
        Ok(())
    }

    /// Adds what is needed and the fleet lacks; returns the versions of its components.
    ///
    /// # Errors
    /// Returns an error if a component can't be had, or if the fleet has Argo CD in another version than the requested one.
    pub async fn extend(
        &self,
        needs: &FleetNeeds,
        builder: &FleetBuilder,
    ) -> Result<Vec<ComponentVersion>, CommandError> {
        let fleet = &self.fleet;
        let mut versions = vec![self.kubefleet.clone()];
        if needs.pods && fleet.is_local() {
            let (programs, kwok) = builder.components.pods(&|event| builder.progress.build(event)).await?;
            fleet.allow_pods(programs).await?;
            versions.push(kwok);
        }
        if needs.network_faults && fleet.can(ProviderAbility::BreakNetworks) {
            let (program, version) = builder.components.toxiproxy(&|event| builder.progress.build(event)).await?;
            fleet.allow_network_faults(program).await?;
            versions.push(version);
        }
        if needs.argocd.is_requested() {
            start_argocd(fleet, &needs.argocd, builder).await?;
            versions.extend(fleet.argocd_version().await.map(ComponentVersion::argocd));
        }
        Ok(versions)
    }
}

/// Starts Argo CD, unless the fleet has it.
async fn start_argocd(fleet: &Fleet, request: &ArgoCdRequest, builder: &FleetBuilder) -> Result<(), CommandError> {
    if let Some(there) = fleet.argocd_version().await {
        return match request.version() {
            Some(requested) if requested != there => {
                Err(refusal::up_otherwise(fleet, &format!("has Argo CD {there}, not {requested}")))
            }
            _ => Ok(()),
        };
    }
    check_argocd_pods(request, fleet.provider(), fleet.can(ProviderAbility::LoadImages))?;
    let installation = builder.components.argocd_installation(request, &|event| builder.progress.build(event)).await?;
    let Some(installation) = installation else { return Ok(()) };
    builder.progress.phase("starting Argo CD on the hub");
    Ok(fleet.start_argocd(installation).await?)
}

impl FleetProfile for RunningFleet {
    fn provider(&self) -> &'static str {
        self.fleet.provider()
    }

    fn kubefleet(&self) -> &ComponentVersion {
        &self.kubefleet
    }

    fn members(&self) -> usize {
        self.members
    }

    fn has_argocd_in_pods(&self) -> bool {
        self.has_argocd_in_pods
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        self.fleet.can(ability)
    }
}

/// Opens a fleet that is up and whole.
pub(super) async fn open_whole(name: &str) -> Result<Fleet, CommandError> {
    let dir = state_dir::fleet(name)?;
    if state_dir::is_alive(&dir) && !dir.join("fleet.json").exists() {
        return Err(CommandError::usage(
            format!("fleet `{name}` is just starting"),
            Some(&format!("wait until `fleetdrill status {name}` shows its version")),
        ));
    }
    let fleet = Fleet::open(name).await?;
    let processes = fleet.supervisor().processes().await?;
    if let Some((process, how)) = processes.iter().find_map(|p| Some((&p.name, p.exit.as_ref()?))) {
        return Err(CommandError::Environment {
            message: format!(
                "fleet `{name}` is broken: {process} ended ({how}){}",
                last_lines(&fleet.supervisor().log_tail(process))
            ),
            hint: Some(format!("end it and start a new one: fleetdrill down {name} && fleetdrill up {name}")),
        });
    }
    Ok(fleet)
}
