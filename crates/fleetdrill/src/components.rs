//! Components of fleets, out of the toolchain, which is opened once for a command.

use std::path::{Path, PathBuf};

use clusters::agents::HUB_AGENT;
use clusters::local::{ControlPlanePrograms, PodPrograms};
use clusters::provider_spec::ProviderSpec;
use clusters::supervisor::SupervisorProgram;
use fleet::agents::KubeFleetPrograms;
use fleet::{FleetCreateOptions, argocd};
use toolchain::{BuildEvent, InstalledComponent, ListedVersion, Toolchain, ToolchainError, system_program};

use crate::component_version::{ARGOCD, ArgoCdRequest, ComponentVersion, KUBEFLEET, KUBERNETES, KWOK, TOXIPROXY};
use crate::error::CommandError;

/// Programs of a control plane.
const CONTROL_PLANE: [&str; 3] = ["etcd", "kube-apiserver", "kube-controller-manager"];

/// Program of component `kubernetes` that pods need.
const SCHEDULER: &str = "kube-scheduler";

/// Program of component `kubernetes` that people use clusters with.
const KUBECTL: &str = "kubectl";

/// Program of KubeFleet for members.
const MEMBER_AGENT: &str = "member-agent";

/// Program of component `toxiproxy`.
const TOXIPROXY_SERVER: &str = "toxiproxy-server";

/// Component with the program that Argo CD renders kustomizations with.
const KUSTOMIZE: &str = "kustomize";

/// Component with the program that Argo CD renders charts with.
const HELM: &str = "helm";

/// Receiver of what the toolchain builds.
pub type BuildSink<'a> = &'a (dyn Fn(BuildEvent) + Send + Sync);

/// The toolchain, with what fleets need of it.
#[derive(Clone, Debug)]
pub struct FleetToolchain {
    toolchain: Toolchain,
}

/// Components of one fleet.
#[derive(Clone, Debug)]
pub struct ComponentSet {
    /// Programs or images of the clusters.
    pub recipe: ProviderSpec,
    /// Programs and CRDs of KubeFleet.
    pub agents: KubeFleetPrograms,
    /// Programs that play pods, where they were requested.
    pub pods: Option<PodPrograms>,
    /// Program that breaks the networks of members, where it was requested.
    pub toxiproxy: Option<PathBuf>,
    /// Argo CD, where it was requested.
    pub argocd: Option<argocd::ArgoCdInstallation>,
    /// Versions of the components.
    pub versions: Vec<ComponentVersion>,
}

impl ComponentSet {
    /// Returns the options of [`Fleet::create`](fleet::Fleet::create) for a fleet of these components.
    #[must_use]
    pub fn fleet_options(self, name: String, members: usize, supervisor: SupervisorProgram) -> FleetCreateOptions {
        let Self { recipe, agents, pods, toxiproxy, argocd, versions: _ } = self;
        let webhooks = false;
        FleetCreateOptions { name, members, recipe, agents, pods, argocd, toxiproxy, webhooks, supervisor }
    }
}

impl FleetToolchain {
    /// Opens the toolchain.
    ///
    /// # Errors
    /// Returns an error if its cache can't be found.
    pub fn open() -> Result<Self, CommandError> {
        Ok(Self { toolchain: Toolchain::open(None)? })
    }

    /// The toolchain itself, for commands about single components.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Returns KubeFleet in the requested version, or else in the default one.
    ///
    /// # Errors
    /// Returns an error if there is no such version.
    pub fn kubefleet(&self, requested: Option<&str>) -> Result<ComponentVersion, CommandError> {
        self.version(KUBEFLEET, requested)
    }

    /// Returns Argo CD in the requested version, or else in the default one.
    ///
    /// # Errors
    /// Returns an error if there is no such version.
    pub fn argocd(&self, requested: Option<&str>) -> Result<ComponentVersion, CommandError> {
        self.version(ARGOCD, requested)
    }

    /// Checks that Argo CD can be had, before anything is built: its version, and the system's redis-server and git; or its manifests.
    ///
    /// # Errors
    /// Returns an error if there is no such version, if the manifests won't do, or if the system lacks a program.
    pub fn check_argocd(&self, request: &ArgoCdRequest) -> Result<(), CommandError> {
        match request {
            ArgoCdRequest::No => {}
            ArgoCdRequest::Manifests(file) => drop(manifests(file)?),
            ArgoCdRequest::Default | ArgoCdRequest::Version(_) => {
                self.argocd(request.version())?;
                system_programs()?;
            }
        }
        Ok(())
    }

    /// Gets the requested Argo CD, if one is requested: programs, building those that the cache lacks, or manifests.
    ///
    /// # Errors
    /// Returns the errors of [`Self::argocd_programs`], or an error if the manifests won't do.
    pub async fn argocd_installation(
        &self,
        request: &ArgoCdRequest,
        sink: BuildSink<'_>,
    ) -> Result<Option<argocd::ArgoCdInstallation>, CommandError> {
        Ok(match request {
            ArgoCdRequest::No => None,
            ArgoCdRequest::Manifests(file) => Some(argocd::ArgoCdInstallation::Pods(manifests(file)?)),
            ArgoCdRequest::Default | ArgoCdRequest::Version(_) => {
                let programs = self.argocd_programs(request.version(), sink).await?;
                Some(argocd::ArgoCdInstallation::Processes(programs))
            }
        })
    }

    /// Gets KubeFleet's agents, building those that the cache lacks, and finds out what they can do.
    ///
    /// # Errors
    /// Returns an error if they can't be built.
    pub async fn agents(
        &self,
        kubefleet: &ComponentVersion,
        sink: BuildSink<'_>,
    ) -> Result<KubeFleetPrograms, CommandError> {
        let version = kubefleet.version.clone();
        let installed = self.toolchain.ensure(KUBEFLEET, &version, &[HUB_AGENT, MEMBER_AGENT], sink).await?;
        let (hub_agent, member_agent) = (program(&installed, HUB_AGENT)?, program(&installed, MEMBER_AGENT)?);
        // Other CRDs there aren't KubeFleet's own, or belong to an earlier API; the agents run without them.
        let crds = installed.crds().iter().filter(|file| is_kubefleet(file)).cloned().collect();
        Ok(KubeFleetPrograms::probe(version, hub_agent, member_agent, crds).await?)
    }

    /// Gets the programs of control planes, building those that the cache lacks.
    ///
    /// # Errors
    /// Returns an error if they can't be built.
    pub async fn control_plane(
        &self,
        sink: BuildSink<'_>,
    ) -> Result<(ControlPlanePrograms, ComponentVersion), CommandError> {
        let kubernetes = self.version(KUBERNETES, None)?;
        let installed = self.toolchain.ensure(KUBERNETES, &kubernetes.version, &CONTROL_PLANE, sink).await?;
        let programs = ControlPlanePrograms {
            etcd: program(&installed, "etcd")?,
            apiserver: program(&installed, "kube-apiserver")?,
            controller_manager: program(&installed, "kube-controller-manager")?,
        };
        Ok((programs, kubernetes))
    }

    /// Gets the programs that play pods, building those that the cache lacks, and KWOK's version.
    ///
    /// # Errors
    /// Returns an error if they can't be built.
    pub async fn pods(&self, sink: BuildSink<'_>) -> Result<(PodPrograms, ComponentVersion), CommandError> {
        let (kubernetes, kwok) = (self.version(KUBERNETES, None)?, self.version(KWOK, None)?);
        let players = self.toolchain.ensure(KWOK, &kwok.version, &[KWOK], sink).await?;
        let planes = self.toolchain.ensure(KUBERNETES, &kubernetes.version, &[SCHEDULER], sink).await?;
        let programs = PodPrograms { scheduler: program(&planes, SCHEDULER)?, kwok: program(&players, KWOK)? };
        Ok((programs, kwok))
    }

    /// Gets Toxiproxy, building it where the cache lacks it, and its version.
    ///
    /// # Errors
    /// Returns an error if it can't be built.
    pub async fn toxiproxy(&self, sink: BuildSink<'_>) -> Result<(PathBuf, ComponentVersion), CommandError> {
        let toxiproxy = self.version(TOXIPROXY, None)?;
        let installed = self.toolchain.ensure(TOXIPROXY, &toxiproxy.version, &[TOXIPROXY_SERVER], sink).await?;
        Ok((program(&installed, TOXIPROXY_SERVER)?, toxiproxy))
    }

    /// Gets the toolchain's `kubectl`, building it where the cache lacks it.
    ///
    /// # Errors
    /// Returns an error if it can't be built.
    pub async fn kubectl(&self, sink: BuildSink<'_>) -> Result<PathBuf, CommandError> {
        let kubernetes = self.version(KUBERNETES, None)?;
        let installed = self.toolchain.ensure(KUBERNETES, &kubernetes.version, &[KUBECTL], sink).await?;
        Ok(program(&installed, KUBECTL)?)
    }

    /// Returns the toolchain's `kubectl`, where the PATH has none and the cache has one.
    #[must_use]
    pub fn kubectl_beside_path(&self) -> Option<PathBuf> {
        if system_program(KUBECTL, KUBECTL, "a trainee").is_ok() {
            return None;
        }
        let listed = self.toolchain.list();
        Some(listed.iter().find(|listed| has_kubectl(listed))?.folder.join("bin").join(KUBECTL))
    }

    /// Gets Argo CD, in this version or the default one, and the programs that it renders with, building those that the cache lacks.
    ///
    /// # Errors
    /// Returns an error if the version is unknown or can't be built, or if the system has no redis-server or git.
    pub async fn argocd_programs(
        &self,
        requested: Option<&str>,
        sink: BuildSink<'_>,
    ) -> Result<argocd::ArgoCdPrograms, CommandError> {
        self.argocd(requested)?;
        let SystemPrograms { redis, git } = system_programs()?;
        let [argocd, kustomize, helm] = self.build_argocd(requested, sink).await?;
        if argocd.crds().is_empty() {
            return Err(without_crds(argocd.version()));
        }
        Ok(argocd::ArgoCdPrograms {
            version: argocd.version().to_owned(),
            argocd: program(&argocd, ARGOCD)?,
            redis,
            kustomize: program(&kustomize, KUSTOMIZE)?,
            helm: program(&helm, HELM)?,
            git,
            crds: argocd.crds().to_vec(),
            rights: argocd.asset("rbac").to_vec(),
        })
    }

    /// Builds Argo CD and the programs that it renders with, where the cache lacks them.
    ///
    /// # Errors
    /// Returns an error if the version is unknown or can't be built.
    pub async fn build_argocd(
        &self,
        requested: Option<&str>,
        sink: BuildSink<'_>,
    ) -> Result<[InstalledComponent; 3], CommandError> {
        let argocd = self.argocd(requested)?;
        let toolchain = &self.toolchain;
        let of_argocd = |other| toolchain.version_with((ARGOCD, &argocd.version), other);
        // The shorter builds come first.
        let kustomize = toolchain.ensure(KUSTOMIZE, of_argocd(KUSTOMIZE)?, &[KUSTOMIZE], sink).await?;
        let helm = toolchain.ensure(HELM, of_argocd(HELM)?, &[HELM], sink).await?;
        Ok([toolchain.ensure(ARGOCD, &argocd.version, &[ARGOCD], sink).await?, kustomize, helm])
    }

    /// Returns a component in the requested version, or else in the default one, where the toolchain has that version.
    fn version(&self, component: &'static str, requested: Option<&str>) -> Result<ComponentVersion, CommandError> {
        let version = match requested {
            Some(version) => version,
            None => self.toolchain.default_version(component)?,
        };
        self.toolchain.check(component, version)?;
        Ok(ComponentVersion { component, version: version.to_owned() })
    }
}

/// Programs of the system that Argo CD needs.
struct SystemPrograms {
    redis: PathBuf,
    git: PathBuf,
}

/// Finds the programs of the system that Argo CD needs.
fn system_programs() -> Result<SystemPrograms, ToolchainError> {
    let redis = system_program("redis-server", "redis-server", "Argo CD")?;
    Ok(SystemPrograms { redis, git: system_program("git", "git", "Argo CD")? })
}

/// Reads manifests of Argo CD.
fn manifests(file: &Path) -> Result<argocd::ArgoCdManifests, CommandError> {
    let git = system_program("git", "git", "the repositories of scenarios")?;
    argocd::ArgoCdManifests::read(file, git).map_err(|error| CommandError::Usage {
        message: error.to_string(),
        hint: Some(
            "--argocd-manifests takes what installs Argo CD: its core-install.yaml, or what `helm template` prints"
                .into(),
        ),
    })
}

/// Refuses somebody's own build of Argo CD that was registered with the program alone.
fn without_crds(version: &str) -> CommandError {
    CommandError::Usage {
        message: format!("argocd {version} was registered without CRDs, and a fleet needs them"),
        hint: Some(format!(
            "register it again with them, which are in manifests/crds of its source: \
             `fleetdrill toolchain add argocd {version} argocd=PATH --crds DIR`"
        )),
    }
}

/// True if a version of `kubernetes` has its `kubectl` in the cache.
fn has_kubectl(listed: &ListedVersion) -> bool {
    listed.component == KUBERNETES && listed.installed.iter().any(|program| program == KUBECTL)
}

fn program(installed: &InstalledComponent, name: &str) -> Result<PathBuf, ToolchainError> {
    installed.program(name).map(ToOwned::to_owned).ok_or_else(|| ToolchainError::UnknownProgram {
        component: installed.component().to_owned(),
        version: installed.version().to_owned(),
        program: name.to_owned(),
        known: Vec::new(),
    })
}

fn is_kubefleet(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().contains("kubernetes-fleet.io"))
}
