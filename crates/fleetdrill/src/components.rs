//! The programs that a fleet is made of, out of the toolchain.

use std::path::PathBuf;

use clusters::docker::{self, Contents};
use clusters::images::Images;
use clusters::keeper::Program;
use clusters::kind;
use clusters::local::{PodPrograms, Programs};
use clusters::provider::{Ability, Recipe};
use clusters::stderr_line;
use clusters::toolchain::{BuildEvent, Installed, Listed, Toolchain, ToolchainError, system_program};
use fleet::agents::Agents;
use fleet::{Options, argocd};

use crate::error::CommandError;

/// The control planes' programs that every fleet needs.
const CONTROL_PLANE: [&str; 3] = ["etcd", "kube-apiserver", "kube-controller-manager"];

/// What pods need of component `kubernetes`.
const SCHEDULER: &str = "kube-scheduler";

/// What people use clusters with, of component `kubernetes`.
const KUBECTL: &str = "kubectl";

/// KubeFleet's component.
const KUBEFLEET: &str = "kubefleet";

/// KubeFleet's programs.
const AGENTS: [&str; 2] = ["hub-agent", "member-agent"];

/// Argo CD's component and its one program.
const ARGOCD: &str = "argocd";

/// What Argo CD renders with, components with one program each.
const KUSTOMIZE: &str = "kustomize";
/// As [`KUSTOMIZE`].
const HELM: &str = "helm";

/// Where the clusters of a new fleet come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clusters {
    /// Processes on this machine, of the toolchain's programs.
    Local,
    /// Containers of the toolchain's programs, and of these images of KubeFleet's agents.
    Docker(Images),
    /// The kind program.
    Kind(kind::Setup),
}

impl Clusters {
    /// The provider's name.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Docker(_) => "docker",
            Self::Kind(_) => "kind",
        }
    }

    /// Whether the provider can do that.
    #[must_use]
    pub fn can(&self, ability: Ability) -> bool {
        match self {
            Self::Local => true,
            Self::Docker(_) => docker::can(ability),
            Self::Kind(_) => kind::can(ability),
        }
    }

    /// Sees that what isn't of the toolchain is there.
    ///
    /// # Errors
    /// When it isn't.
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
}

/// What a fleet is made of, and in which versions.
#[derive(Clone, Debug)]
pub struct Components {
    /// What its clusters are made of.
    pub recipe: Recipe,
    /// KubeFleet's programs and CRDs.
    pub agents: Agents,
    /// What pods need, when it was asked for.
    pub pods: Option<PodPrograms>,
    /// Argo CD's programs, when it was asked for.
    pub argocd: Option<argocd::Programs>,
    /// Component and version.
    pub versions: Vec<(String, String)>,
}

impl Components {
    /// What a fleet of them is made by.
    #[must_use]
    pub fn options(self, name: String, members: usize, keeper: Program) -> Options {
        let Self { recipe, agents, pods, argocd, versions: _ } = self;
        Options { name, members, recipe, agents, pods, argocd, keeper }
    }
}

/// What a fleet has beside KubeFleet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// What pods need.
    pub pods: bool,
    /// Argo CD: in this version, or without one in the default one.
    pub argocd: Option<Option<&'a str>>,
}

impl Extras<'_> {
    /// Sees that what is asked for can be had, as far as that shows before anything is built: that the version is one, and that
    /// the system has what it needs of it.
    ///
    /// # Errors
    /// When there is no such version, or the system lacks a program.
    pub fn check(self) -> Result<(), CommandError> {
        self.argocd.map_or(Ok(()), |version| check_argocd(&Toolchain::open(None)?, version).map(drop))
    }
}

/// The version of KubeFleet that is meant: the one that was asked for, or else the default one.
///
/// # Errors
/// When there is none of that name.
pub fn kubefleet(asked: Option<&str>) -> Result<String, CommandError> {
    let toolchain = Toolchain::open(None)?;
    let version = match asked {
        Some(version) => version,
        None => toolchain.default_version(KUBEFLEET)?,
    };
    toolchain.check(KUBEFLEET, version)?;
    Ok(version.to_owned())
}

/// Gets KubeFleet's agents, in this version or the default one, building them where they aren't there, and finds out what they
/// can do.
///
/// # Errors
/// When the version is unknown or can't be built.
pub async fn ensure_agents(
    asked: Option<&str>,
    progress: &(dyn Fn(BuildEvent) + Send + Sync),
) -> Result<Agents, CommandError> {
    let version = kubefleet(asked)?;
    let installed = Toolchain::open(None)?.ensure(KUBEFLEET, &version, &AGENTS, progress).await?;
    let (hub_agent, member_agent) = (program(&installed, "hub-agent")?, program(&installed, "member-agent")?);
    // The others there aren't KubeFleet's own, or those of an API before; the agents run without them.
    let crds = installed.crds().iter().filter(|f| is_kubefleet(f)).cloned().collect();
    Ok(Agents::probe(version, hub_agent, member_agent, crds).await?)
}

/// Gets the programs for a fleet, building what isn't there; what pods and Argo CD need only when `extras` says so.
///
/// # Errors
/// When a version is unknown or can't be built, or the system lacks a program.
pub async fn ensure(
    kubefleet: Option<&str>,
    clusters: &Clusters,
    extras: Extras<'_>,
    progress: &(dyn Fn(BuildEvent) + Send + Sync),
) -> Result<Components, CommandError> {
    extras.check()?;
    // The shorter build comes first: what is wrong with it is told at once, not after ten minutes.
    let agents = ensure_agents(kubefleet, progress).await?;
    ensure_rest(agents, clusters, extras, progress).await
}

/// As [`ensure`], for agents that are there.
///
/// # Errors
/// When a version is unknown or can't be built, or the system lacks a program.
pub async fn ensure_rest(
    agents: Agents,
    clusters: &Clusters,
    extras: Extras<'_>,
    progress: &(dyn Fn(BuildEvent) + Send + Sync),
) -> Result<Components, CommandError> {
    let kubefleet = (KUBEFLEET.to_owned(), agents.version.clone());
    if let Clusters::Kind(setup) = clusters {
        // Its nodes have all that clusters and pods need.
        let recipe = Recipe::Kind(setup.clone());
        return Ok(Components { recipe, agents, pods: None, argocd: None, versions: vec![kubefleet] });
    }
    let toolchain = Toolchain::open(None)?;
    let kubernetes = toolchain.default_version("kubernetes")?.to_owned();
    let planes = toolchain.ensure("kubernetes", &kubernetes, &CONTROL_PLANE, progress).await?;
    let programs = Programs {
        etcd: program(&planes, "etcd")?,
        apiserver: program(&planes, "kube-apiserver")?,
        controller_manager: program(&planes, "kube-controller-manager")?,
    };
    let mut versions = vec![kubefleet, ("kubernetes".to_owned(), kubernetes.clone())];
    // Nothing can be put into the image of clusters later.
    let pods = if extras.pods || matches!(clusters, Clusters::Docker(_)) {
        let (pods, kwok) = ensure_pods(progress).await?;
        versions.push(kwok);
        Some(pods)
    } else {
        None
    };
    let argocd = match extras.argocd {
        Some(version) => {
            let argocd = ensure_argocd(version, progress).await?;
            versions.push(("argocd".to_owned(), argocd.version.clone()));
            Some(argocd)
        }
        None => None,
    };
    let recipe = match (clusters, pods.clone()) {
        (Clusters::Docker(images), Some(pods)) => {
            let contents = Contents { programs, pods, version: kubernetes };
            Recipe::Docker(docker::Setup { contents, images: images.clone() })
        }
        _ => Recipe::Local(programs),
    };
    Ok(Components { recipe, agents, pods, argocd, versions })
}

/// Gets the toolchain's `kubectl`, building it where it isn't there.
///
/// # Errors
/// When it can't be built.
pub async fn ensure_kubectl(progress: &(dyn Fn(BuildEvent) + Send + Sync)) -> Result<PathBuf, CommandError> {
    let toolchain = Toolchain::open(None)?;
    let version = toolchain.default_version("kubernetes")?.to_owned();
    Ok(program(&toolchain.ensure("kubernetes", &version, &[KUBECTL], progress).await?, KUBECTL)?)
}

/// The toolchain's `kubectl`, where the PATH has none and the toolchain has built one.
///
/// # Errors
/// When the toolchain can't be opened.
pub fn kubectl_beside_path() -> Result<Option<PathBuf>, CommandError> {
    if system_program(KUBECTL, KUBECTL, "a trainee").is_ok() {
        return Ok(None);
    }
    let listed = Toolchain::open(None)?.list();
    let built = |listed: &&Listed| listed.component == "kubernetes" && listed.installed.iter().any(|p| p == KUBECTL);
    Ok(listed.iter().find(built).map(|listed| listed.folder.join("bin").join(KUBECTL)))
}

/// Gets Argo CD, in this version or the default one, and what it renders with, building what isn't there.
///
/// # Errors
/// When the version is unknown or can't be built, or the system has no redis-server or git.
pub async fn ensure_argocd(
    version: Option<&str>,
    progress: &(dyn Fn(BuildEvent) + Send + Sync),
) -> Result<argocd::Programs, CommandError> {
    let toolchain = Toolchain::open(None)?;
    let (redis, git) = check_argocd(&toolchain, version)?;
    let [argocd, kustomize, helm] = build_argocd(version, progress).await?;
    if argocd.crds().is_empty() {
        return Err(without_crds(argocd.version()));
    }
    Ok(argocd::Programs {
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

/// Builds Argo CD and what it renders with, where they aren't there.
///
/// # Errors
/// When the version is unknown or can't be built.
pub async fn build_argocd(
    version: Option<&str>,
    progress: &(dyn Fn(BuildEvent) + Send + Sync),
) -> Result<[Installed; 3], CommandError> {
    let toolchain = Toolchain::open(None)?;
    let argocd = argocd_version(&toolchain, version)?;
    // The shorter builds come first.
    let kustomize = toolchain.ensure(KUSTOMIZE, toolchain.default_version(KUSTOMIZE)?, &[KUSTOMIZE], progress).await?;
    let helm = toolchain.ensure(HELM, toolchain.default_version(HELM)?, &[HELM], progress).await?;
    Ok([toolchain.ensure(ARGOCD, &argocd, &[ARGOCD], progress).await?, kustomize, helm])
}

/// Sees that the version is one and that the system has what Argo CD needs of it: redis-server and git.
fn check_argocd(toolchain: &Toolchain, version: Option<&str>) -> Result<(PathBuf, PathBuf), CommandError> {
    argocd_version(toolchain, version)?;
    let redis = system_program("redis-server", "redis-server", "Argo CD")?;
    Ok((redis, system_program("git", "git", "Argo CD")?))
}

/// Somebody's own build that was registered with the program alone.
fn without_crds(version: &str) -> CommandError {
    CommandError::Usage {
        message: format!("argocd {version} was registered without CRDs, and a fleet needs them"),
        hint: Some(format!(
            "register it again with them, which are in manifests/crds of its source: \
             `fleetdrill toolchain add argocd {version} argocd=PATH --crds DIR`"
        )),
    }
}

/// Sees that there is such a version of Argo CD.
///
/// # Errors
/// When there is none.
pub fn check_argocd_version(asked: &str) -> Result<(), CommandError> {
    argocd_version(&Toolchain::open(None)?, Some(asked)).map(drop)
}

fn argocd_version(toolchain: &Toolchain, asked: Option<&str>) -> Result<String, CommandError> {
    let version = match asked {
        Some(version) => version,
        None => toolchain.default_version(ARGOCD)?,
    };
    toolchain.check(ARGOCD, version)?;
    Ok(version.to_owned())
}

/// Gets the programs that pods need, building what isn't there; and KWOK with its version.
///
/// # Errors
/// When they can't be built.
pub async fn ensure_pods(
    progress: &(dyn Fn(BuildEvent) + Send + Sync),
) -> Result<(PodPrograms, (String, String)), CommandError> {
    let toolchain = Toolchain::open(None)?;
    let kubernetes = toolchain.default_version("kubernetes")?;
    let kwok = toolchain.default_version("kwok")?;
    let players = toolchain.ensure("kwok", kwok, &["kwok"], progress).await?;
    let planes = toolchain.ensure("kubernetes", kubernetes, &[SCHEDULER], progress).await?;
    let programs = PodPrograms { scheduler: program(&planes, SCHEDULER)?, kwok: program(&players, "kwok")? };
    Ok((programs, ("kwok".to_owned(), kwok.to_owned())))
}

fn program(installed: &Installed, name: &str) -> Result<PathBuf, ToolchainError> {
    installed.program(name).map(ToOwned::to_owned).ok_or_else(|| ToolchainError::UnknownProgram {
        component: installed.component().to_owned(),
        version: installed.version().to_owned(),
        program: name.to_owned(),
        known: Vec::new(),
    })
}

fn is_kubefleet(file: &std::path::Path) -> bool {
    file.file_name().is_some_and(|n| n.to_string_lossy().contains("kubernetes-fleet.io"))
}
