//! Sources of the clusters of a new fleet: one variant for each provider that makes clusters.

use clusters::ability::ProviderAbility;
use clusters::agents::AgentImageSource;
use clusters::docker::{self, ClusterImageContents};
use clusters::kind;
use clusters::local;
use clusters::provider_spec::ProviderSpec;
use fleet::agents::KubeFleetPrograms;
use report::stderr_line;

use super::needs::FleetNeeds;
use super::options::{ImageOptions, NewFleetOptions, ProviderName};
use super::refusal;
use crate::component_version::ComponentVersion;
use crate::components::{BuildSink, ComponentSet, FleetToolchain};
use crate::error::CommandError;

/// Source of the clusters of a new fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterSource {
    /// Processes on this machine, from the toolchain's programs.
    Local,
    /// Containers with the toolchain's programs, and these images of KubeFleet's agents.
    Docker(AgentImageSource),
    /// Clusters of the kind program.
    Kind(kind::KindSetup),
}

impl ClusterSource {
    /// Returns the source that options name; none for a fleet that exists already.
    ///
    /// # Errors
    /// Returns an error if an option for images doesn't go with the provider.
    pub fn of_options(options: &NewFleetOptions) -> Result<Option<Self>, CommandError> {
        let images = &options.images;
        match options.provider {
            ProviderName::Local | ProviderName::Existing if *images != ImageOptions::default() => {
                Err(refusal::images_without_docker())
            }
            ProviderName::Docker if images.node_image.is_some() || images.chart.is_some() => {
                Err(refusal::images_without_kind())
            }
            ProviderName::Local => Ok(Some(Self::Local)),
            ProviderName::Docker => Ok(Some(Self::Docker(agent_images(images)))),
            ProviderName::Kind => Ok(Some(Self::Kind(kind::KindSetup {
                node_image: images.node_image.clone(),
                images: agent_images(images),
                charts: charts(images),
            }))),
            ProviderName::Existing => Ok(None),
        }
    }

    /// Name of the provider.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Docker(_) => "docker",
            Self::Kind(_) => "kind",
        }
    }

    /// True if the provider has an ability.
    #[must_use]
    pub fn can(&self, ability: ProviderAbility) -> bool {
        match self {
            Self::Local => local::can(ability),
            Self::Docker(_) => docker::can(ability),
            Self::Kind(_) => kind::can(ability),
        }
    }

    /// Checks that the machine has what the toolchain doesn't build.
    ///
    /// # Errors
    /// Returns an error if something is missing.
    pub async fn check(&self) -> Result<(), CommandError> {
        match self {
            Self::Local => Ok(clusters::machine::check()?),
            Self::Docker(_) => Ok(docker::check().await?),
            Self::Kind(setup) => {
                kind::check(setup.charts.as_ref()).await?;
                if let Some(warning) = kind::few_watches() {
                    stderr_line!("warning: {warning}");
                }
                Ok(())
            }
        }
    }

    /// Gets the components of a fleet with these agents, building those that the cache lacks.
    ///
    /// # Errors
    /// Returns an error if a version is unknown or can't be built, or if the system lacks a program.
    pub async fn components(
        &self,
        components: &FleetToolchain,
        agents: KubeFleetPrograms,
        needs: &FleetNeeds,
        sink: BuildSink<'_>,
    ) -> Result<ComponentSet, CommandError> {
        let kubefleet = ComponentVersion::kubefleet(&agents.version);
        let argocd = components.argocd_installation(&needs.argocd, sink).await?;
        let argocd_version = argocd.iter().map(|argocd| ComponentVersion::argocd(argocd.version()));
        let proxy = if needs.network_faults { Some(components.toxiproxy(sink).await?) } else { None };
        let (toxiproxy, proxy_version) = proxy.unzip();
        let last_versions = proxy_version.into_iter().chain(argocd_version);
        if let Self::Kind(setup) = self {
            // The nodes of kind have all programs that clusters and pods need.
            let recipe = ProviderSpec::Kind(setup.clone());
            let versions = std::iter::once(kubefleet).chain(last_versions).collect();
            return Ok(ComponentSet { recipe, agents, pods: None, toxiproxy, argocd, versions });
        }
        let (programs, kubernetes) = components.control_plane(sink).await?;
        let version = kubernetes.version.clone();
        let mut versions = vec![kubefleet, kubernetes];
        let mut set_pods = None;
        let recipe = if let Self::Docker(images) = self {
            // An image of clusters can't be changed later, so that it always contains the programs for pods.
            let (pods, kwok) = components.pods(sink).await?;
            versions.push(kwok);
            set_pods = Some(pods.clone());
            ProviderSpec::Docker(docker::DockerSetup {
                contents: ClusterImageContents { programs, pods, version },
                images: images.clone(),
            })
        } else {
            if needs.pods {
                let (pods, kwok) = components.pods(sink).await?;
                versions.push(kwok);
                set_pods = Some(pods);
            }
            ProviderSpec::Local(programs)
        };
        versions.extend(last_versions);
        Ok(ComponentSet { recipe, agents, pods: set_pods, toxiproxy, argocd, versions })
    }
}

/// Returns the images of KubeFleet's agents.
fn agent_images(options: &ImageOptions) -> AgentImageSource {
    if options.build_images {
        return AgentImageSource::Built;
    }
    AgentImageSource::Named {
        hub_agent: options.hub_agent_image.clone(),
        member_agent: options.member_agent_image.clone(),
    }
}

/// Returns KubeFleet's charts, where the agents are installed by them.
fn charts(options: &ImageOptions) -> Option<kind::Charts> {
    let dir = options.chart.as_ref()?;
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
    Some(kind::Charts { dir, refresh_token: options.refresh_token_image.clone() })
}
