//! What a [`Fleet`] can do with Argo CD.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use clusters::error::ClusterError;

use super::{Cli, Component, Programs, Repository, processes, server, start};
use crate::Fleet;
use crate::error::FleetError;
use crate::port::listens;

impl Fleet {
    /// Installs and starts Argo CD on the hub, with all members as its destinations. Does nothing when it runs already.
    ///
    /// # Errors
    /// When the hub has an Argo CD that isn't fleetdrill's, or a component doesn't start.
    pub async fn start_argocd(&self, programs: Programs) -> Result<(), FleetError> {
        let mut running = self.0.argocd.write().await;
        if running.is_some() {
            return Ok(());
        }
        let members = self.members().await;
        let clusters = members.values().map(|member| &member.cluster);
        start(&self.0.home, self.hub(), clusters, &programs).await?;
        *running = Some(programs);
        drop(running);
        self.save().await
    }

    /// Starts Argo CD's API server, unless it runs already, and says how the `argocd` command gets to it.
    ///
    /// # Errors
    /// When the fleet has no Argo CD, or the server doesn't start or lets nobody in.
    pub async fn start_argocd_server(&self) -> Result<Cli, FleetError> {
        // Held so that two don't start one.
        let running = self.0.argocd.write().await;
        let programs = running.as_ref().ok_or_else(|| FleetError::NoArgoCd(self.0.name.clone()))?;
        server::start(&self.0.home, self.hub(), programs).await
    }

    /// Argo CD's version; none on a fleet without it.
    pub async fn argocd_version(&self) -> Option<String> {
        self.0.argocd.read().await.as_ref().map(|programs| programs.version.clone())
    }

    /// Kills a component of Argo CD, as a crash does.
    ///
    /// # Errors
    /// When the fleet has no Argo CD.
    pub async fn stop_argocd(&self, component: Component) -> Result<(), FleetError> {
        self.argocd_programs().await?;
        Ok(self.keeper().stop(component.process()).await?)
    }

    /// Starts a component of Argo CD again that was stopped, and waits until it listens where others ask it.
    ///
    /// # Errors
    /// When the fleet has no Argo CD, or it can't be started.
    pub async fn start_argocd_again(&self, component: Component) -> Result<(), FleetError> {
        self.argocd_programs().await?;
        self.keeper().start_again(component.process()).await?;
        if component == Component::RepoServer {
            let port = processes::Place::of(&self.0.home).repo_server_port()?;
            listens(&self.0.home, component.process(), port).await?;
        }
        Ok(())
    }

    /// Starts a component of Argo CD anew, with these flags behind those that it has: of a flag that is there twice, the last
    /// counts. They stay with the component.
    ///
    /// # Errors
    /// When the fleet has no Argo CD, or it can't be started.
    pub async fn restart_argocd_with(&self, component: Component, flags: &[String]) -> Result<(), FleetError> {
        self.stop_argocd(component).await?;
        Ok(self.keeper().start_again_with(component.process(), flags).await?)
    }

    /// Makes an empty git repository of this name in the fleet's directory.
    ///
    /// # Errors
    /// When the fleet has no Argo CD, or git can't make it.
    pub async fn repository(&self, name: &str) -> Result<Repository, FleetError> {
        let git = self.argocd_programs().await?.git;
        let repositories = self.keeper().dir().join("repositories");
        clusters::state_dir::make_private(&repositories)?;
        Repository::create(&git, repositories.join(name)).await
    }

    /// Where the repo-server would have a tool of this name.
    #[must_use]
    pub fn tool_of_argocd(&self, name: &str) -> PathBuf {
        processes::tools(self.keeper().dir()).join(name)
    }

    /// Gives the repo-server kustomize under another name too.
    ///
    /// # Errors
    /// When the fleet has no Argo CD, or the link can't be made.
    pub async fn install_kustomize(&self, name: &str) -> Result<(), FleetError> {
        let (program, link) = (self.argocd_programs().await?.kustomize, self.tool_of_argocd(name));
        let linked = tokio::fs::symlink(program, &link).await;
        Ok(linked.map_err(|source| ClusterError::Io { action: "write", path: link, source })?)
    }

    /// Gives the repo-server kustomize under another name too, which waits for so many seconds before it begins.
    ///
    /// # Errors
    /// When the fleet has no Argo CD, or the program can't be written.
    pub async fn install_slow_kustomize(&self, name: &str, seconds: u64) -> Result<(), FleetError> {
        let (program, path) = (self.argocd_programs().await?.kustomize, self.tool_of_argocd(name));
        let script = format!("#!/bin/sh\nsleep {seconds}\nexec '{}' \"$@\"\n", program.display());
        let written = async {
            tokio::fs::write(&path, script).await?;
            tokio::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).await
        };
        Ok(written.await.map_err(|source| ClusterError::Io { action: "write", path: path.clone(), source })?)
    }

    async fn argocd_programs(&self) -> Result<Programs, FleetError> {
        let programs = self.0.argocd.read().await.clone();
        programs.ok_or_else(|| FleetError::NoArgoCd(self.0.name.clone()))
    }
}
