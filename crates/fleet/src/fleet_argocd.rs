//! Methods of [`Fleet`] for an Argo CD that runs already. [`Fleet::start_argocd`] is in `fleet.rs`, which calls it when
//! it creates a fleet.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use clusters::cluster::Cluster;
use clusters::error::ClusterError;

use crate::argocd::{
    self, ArgoCdCli, ArgoCdComponent, ArgoCdInstallation, ArgoCdPaths, ArgoCdPrograms, ComponentPods, DestinationFault,
    KustomizeFault, Repository,
};
use crate::error::FleetError;
use crate::fleet::Fleet;
use crate::hub_probe::PROBE;
use crate::observe::Observer;
use crate::port::listens;

impl Fleet {
    /// Starts Argo CD's API server unless it runs already. Returns what a user of the `argocd` command needs to reach
    /// it.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, the server doesn't start, or the login fails.
    pub async fn start_argocd_server(&self) -> Result<ArgoCdCli, FleetError> {
        // The lock keeps two callers from starting a server each.
        let running = self.0.argocd.write().await;
        let programs = self.programs_of(running.as_ref(), "start its API server, which its manifests may have")?;
        argocd::start_server(&self.0.home, self.hub(), programs).await
    }

    /// Starts Argo CD's ApplicationSet controller unless it was started before.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, or the controller doesn't start.
    pub async fn start_applicationset_controller(&self) -> Result<(), FleetError> {
        // The lock keeps two callers from starting a controller each.
        let running = self.0.argocd.write().await;
        match running.as_ref().ok_or_else(|| FleetError::NoArgoCd(self.0.name.clone()))? {
            ArgoCdInstallation::Processes(programs) => {
                argocd::start_applicationset_controller(&self.0.home, self.hub(), programs).await
            }
            // It runs from the start on, if the manifests have it.
            ArgoCdInstallation::Pods(_) => {
                ComponentPods::find(self.hub(), ArgoCdComponent::ApplicationSetController).await.map(drop)
            }
        }
    }

    /// True if Argo CD runs in Pods.
    pub async fn has_argocd_in_pods(&self) -> bool {
        self.0.argocd.read().await.as_ref().is_some_and(ArgoCdInstallation::has_pods)
    }

    /// Version of Argo CD; `None` on a fleet without Argo CD.
    pub async fn argocd_version(&self) -> Option<String> {
        self.0.argocd.read().await.as_ref().map(|argocd| argocd.version().to_owned())
    }

    /// Replaces Argo CD with another version, and waits until the new one compares an Application, unless a component was stopped on
    /// purpose that takes part in it.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, the API server refuses a CRD, or a component ends or doesn't work in time. Parts
    /// that are replaced by then stay replaced.
    pub(crate) async fn exchange_argocd(&self, to: &ArgoCdPrograms) -> Result<(), FleetError> {
        let mut running = self.0.argocd.write().await;
        self.programs_of(running.as_ref(), "replace it with another version")?;
        let exchanged = argocd::exchange(&self.0.home, self.hub(), to).await;
        *running = Some(ArgoCdInstallation::Processes(to.clone()));
        drop(running);
        self.save().await?;
        if exchanged? {
            self.argocd_compares().await?;
        }
        Ok(())
    }

    /// Waits until Argo CD compares an Application.
    pub(crate) async fn argocd_compares(&self) -> Result<(), FleetError> {
        let repository = self.repository(PROBE).await?;
        if repository.head().await.is_err() {
            repository.commit(&[("README", Some("No manifests.\n"))]).await?;
        }
        argocd::compares(self.hub(), &self.silent_observer(), &repository).await
    }

    /// Kills a component of Argo CD, as a crash does. In Pods, it is scaled to no Pod.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, or the hub refuses the change.
    pub async fn stop_argocd(&self, component: ArgoCdComponent) -> Result<(), FleetError> {
        match self.argocd().await? {
            ArgoCdInstallation::Processes(_) => Ok(self.supervisor().stop(component.process()).await?),
            ArgoCdInstallation::Pods(_) => {
                ComponentPods::find(self.hub(), component).await?.stop(&self.silent_observer()).await
            }
        }
    }

    /// Starts a stopped component of Argo CD again. Waits until the repo-server listens, if that is the component:
    /// other components connect to it. In Pods, each component is waited for.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, or the component can't be started.
    pub async fn start_argocd_again(&self, component: ArgoCdComponent) -> Result<(), FleetError> {
        if self.argocd().await?.has_pods() {
            let pods = ComponentPods::find(self.hub(), component).await?;
            return pods.start_again(&self.silent_observer()).await;
        }
        self.supervisor().start_again(component.process()).await?;
        if component == ArgoCdComponent::RepoServer {
            let port = ArgoCdPaths::of(&self.0.home).repo_server_port()?;
            listens(&self.0.home, component.process(), port).await?;
        }
        Ok(())
    }

    /// Restarts a component of Argo CD with these flags after its own. Of a flag that is given twice, the last one
    /// counts. The flags stay with the component.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, or the component can't be started.
    pub async fn restart_argocd_with(&self, component: ArgoCdComponent, flags: &[String]) -> Result<(), FleetError> {
        if self.argocd().await?.has_pods() {
            let pods = ComponentPods::find(self.hub(), component).await?;
            return pods.restart_with(flags, &self.silent_observer()).await;
        }
        self.stop_argocd(component).await?;
        Ok(self.supervisor().start_again_with(component.process(), flags).await?)
    }

    /// Returns all that a component of Argo CD has logged; in Pods, all that its present Pods have.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, or the log can't be read.
    pub async fn argocd_log(&self, component: ArgoCdComponent) -> Result<String, FleetError> {
        match self.argocd().await? {
            ArgoCdInstallation::Processes(_) => {
                let path = self.supervisor().log(component.process());
                let read = tokio::fs::read(&path).await;
                let log = read.map_err(|source| ClusterError::Io { action: "read", path, source })?;
                Ok(String::from_utf8_lossy(&log).into_owned())
            }
            ArgoCdInstallation::Pods(_) => ComponentPods::find(self.hub(), component).await?.log().await,
        }
    }

    fn silent_observer(&self) -> Observer {
        Observer::silent(self.first_exit())
    }

    /// Brings a fault upon what Argo CD knows of a member.
    ///
    /// # Errors
    /// Returns an error if the member or the hub refuses the request.
    pub async fn break_destination(&self, member: &Cluster, fault: DestinationFault) -> Result<(), FleetError> {
        // The certificate of a server isn't a CA.
        let other = self.0.home.serving_certificate("argocd-repo-server")?.certificate;
        argocd::break_destination(self.hub(), &self.argocd().await?.reached(member), fault, &other).await
    }

    /// Undoes all faults of [`Fleet::break_destination`].
    ///
    /// # Errors
    /// Returns an error if the member or the hub refuses the request.
    pub async fn restore_destination(&self, member: &Cluster) -> Result<(), FleetError> {
        argocd::restore_destination(self.hub(), &self.argocd().await?.reached(member)).await
    }

    /// Creates an empty git repository of this name in the fleet's directory. Argo CD reads it there, or from the fleet's git server, which
    /// asks Pods for no password.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, git fails, or the git server doesn't start.
    pub async fn repository(&self, name: &str) -> Result<Repository, FleetError> {
        let argocd = self.argocd().await?;
        let repositories = self.repositories_dir();
        clusters::state_dir::make_private(&repositories)?;
        let repository = Repository::create(argocd.git(), repositories.join(name)).await?;
        if argocd.has_pods() { self.serve_to_pods(&repository).await } else { Ok(repository) }
    }

    /// Lets Argo CD trust servers at a host that have certificates of the fleet's CA, or no longer.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, the hub refuses the change, or a file can't be written.
    pub async fn trust_host(&self, host: &str, trusts: bool) -> Result<(), FleetError> {
        self.argocd_programs("trust a certificate at once").await?;
        let home = &self.0.home;
        argocd::trust(self.hub(), &ArgoCdPaths::of(home), host, trusts.then(|| home.ca())).await
    }

    /// Lets Argo CD know the host key of the fleet's git server for SSH, for this name of this machine, or no longer.
    ///
    /// # Errors
    /// Returns an error if no repository is served over SSH, the hub refuses the change, or a file can't be written.
    pub async fn trust_host_key(&self, host: &str, trusts: bool) -> Result<(), FleetError> {
        self.argocd_programs("trust a host key at once").await?;
        let line = self.known_host(host)?;
        // All known hosts are one text.
        let _turn = self.0.git_server.lock().await;
        argocd::know(self.hub(), &ArgoCdPaths::of(&self.0.home), &line, trusts).await
    }

    /// Directory of the fleet's git repositories.
    pub(crate) fn repositories_dir(&self) -> PathBuf {
        self.supervisor().dir().join("repositories")
    }

    /// Path at which the repo-server looks for a tool of this name.
    #[must_use]
    pub fn tool_of_argocd(&self, name: &str) -> PathBuf {
        argocd::tools(self.supervisor().dir()).join(name)
    }

    /// Gives the repo-server kustomize under one more name, also in place of a faulty one.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, or the link can't be made.
    pub async fn install_kustomize(&self, name: &str) -> Result<(), FleetError> {
        let program = self.argocd_programs("change its kustomize").await?.kustomize;
        ArgoCdPaths::of(&self.0.home).link_tool(name, &program)
    }

    /// Gives the repo-server kustomize under one more name. This kustomize has a fault.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, or the program can't be written.
    pub async fn install_faulty_kustomize(&self, name: &str, fault: KustomizeFault) -> Result<(), FleetError> {
        let (program, path) =
            (self.argocd_programs("change its kustomize").await?.kustomize, self.tool_of_argocd(name));
        let before = match fault {
            KustomizeFault::Slow(seconds) => format!("sleep {seconds}"),
            KustomizeFault::Killed => "[ \"$1\" = build ] && kill -KILL $$".to_owned(),
        };
        let script = format!("#!/bin/sh\n{before}\nexec '{}' \"$@\"\n", program.display());
        let written = async {
            tokio::fs::write(&path, script).await?;
            tokio::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).await
        };
        Ok(written.await.map_err(|source| ClusterError::Io { action: "write", path: path.clone(), source })?)
    }

    /// Installation of Argo CD on this fleet.
    pub(crate) async fn argocd(&self) -> Result<ArgoCdInstallation, FleetError> {
        let argocd = self.0.argocd.read().await.clone();
        argocd.ok_or_else(|| FleetError::NoArgoCd(self.0.name.clone()))
    }

    /// Programs of Argo CD. `action` is what needs them, e.g. "change its kustomize".
    pub(crate) async fn argocd_programs(&self, action: &'static str) -> Result<ArgoCdPrograms, FleetError> {
        self.programs_of(self.0.argocd.read().await.as_ref(), action).cloned()
    }

    fn programs_of<'a>(
        &self,
        argocd: Option<&'a ArgoCdInstallation>,
        action: &'static str,
    ) -> Result<&'a ArgoCdPrograms, FleetError> {
        match argocd.ok_or_else(|| FleetError::NoArgoCd(self.0.name.clone()))? {
            ArgoCdInstallation::Processes(programs) => Ok(programs),
            ArgoCdInstallation::Pods(_) => Err(FleetError::ArgoCdInPods(action)),
        }
    }
}
