//! Methods of [`Fleet`] for its git servers over HTTP and HTTPS.

use std::path::PathBuf;

use clusters::cluster::HUB;

use crate::Fleet;
use crate::argocd::Repository;
use crate::error::FleetError;
use crate::local_server::LocalServer;

/// Name of the process of the git server for HTTP.
const HTTP: &str = "git-server";

/// Name of the process of the git server for Pods.
const PODS: &str = "git-server-pods";

/// Name of the process of the git server for HTTPS.
const HTTPS: &str = "git-server-tls";

impl Fleet {
    /// Serves a repository over HTTP with a new password. Starts the git server unless it runs. Returns the repository with its new URL.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, the password can't be written, or the server doesn't start.
    pub async fn serve_repository(&self, repository: &Repository) -> Result<Repository, FleetError> {
        repository.change_password()?;
        if self.argocd().await?.has_pods() {
            return self.serve_to_pods(repository).await;
        }
        let port = self.git_server(HTTP, "serve", repository, || Ok(Vec::new())).await?;
        Ok(repository.served_at(&format!("http://127.0.0.1:{port}")))
    }

    /// Serves a repository over HTTP to the Pods of the fleet's clusters, without a password unless it has one. Starts the git server unless
    /// it runs. Returns the repository with its new URL.
    pub(crate) async fn serve_to_pods(&self, repository: &Repository) -> Result<Repository, FleetError> {
        let address = self.0.provider.machine_address(HUB).await?;
        let port = self.git_server(PODS, "serve-pods", repository, || Ok(vec![address.to_string().into()])).await?;
        Ok(repository.served_at(&format!("http://{address}:{port}")))
    }

    /// Serves a repository over HTTPS with a new password, as [`Fleet::serve_repository`] does over HTTP. `host` is the name of this machine in
    /// the URL, `localhost` or `127.0.0.1`. The server's certificate is signed by the fleet's CA, which Argo CD trusts after
    /// [`Fleet::trust_host`] only.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, a file can't be written, or the server doesn't start.
    pub async fn serve_repository_securely(
        &self,
        repository: &Repository,
        host: &str,
    ) -> Result<Repository, FleetError> {
        repository.change_password()?;
        let certificate_and_key = || {
            let serving = self.0.home.serving_certificate(HTTPS)?;
            Ok(vec![serving.certificate_file, serving.key_file])
        };
        let port = self.git_server(HTTPS, "serve", repository, certificate_and_key).await?;
        Ok(repository.served_at(&format!("https://{host}:{port}")))
    }

    /// Starts the git server of this process name unless it runs, and returns its port. `more` are its arguments after the port, the
    /// repositories and git.
    pub(super) async fn git_server(
        &self,
        process: &str,
        command: &str,
        repository: &Repository,
        more: impl FnOnce() -> Result<Vec<PathBuf>, FleetError>,
    ) -> Result<u16, FleetError> {
        let port_file = self.supervisor().dir().join(format!("{process}.port"));
        let server =
            LocalServer { process, command: ["git", command], port_file: &port_file, turn: &self.0.git_server };
        let args = || {
            let paths = [self.repositories_dir(), repository.git().to_owned()];
            let paths = paths.into_iter().chain(more()?);
            Ok(paths.map(|path| path.display().to_string()).collect())
        };
        self.local_server(server, args).await
    }
}
