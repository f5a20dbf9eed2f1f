//! Methods of [`Fleet`] for its git servers.

use std::path::PathBuf;

use clusters::state_dir;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, PrivateKey};

use crate::Fleet;
use crate::argocd::Repository;
use crate::error::FleetError;
use crate::local_server::LocalServer;
use crate::port;

/// Name of the process of the git server for HTTP.
const HTTP: &str = "git-server";

/// Name of the process of the git server for HTTPS.
const HTTPS: &str = "git-server-tls";

/// Name of the process of the git server for SSH.
const SSH: &str = "git-server-ssh";

/// Files of the private keys of the server for SSH and of its client.
const HOST_KEY: &str = "git-server-ssh.host-key";
const CLIENT_KEY: &str = "git-server-ssh.client-key";

impl Fleet {
    /// Serves a repository over HTTP with a new password. Starts the git server unless it runs. Returns the repository with its new URL.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, the password can't be written, or the server doesn't start.
    pub async fn serve_repository(&self, repository: &Repository) -> Result<Repository, FleetError> {
        repository.change_password()?;
        let port = self.git_server(HTTP, "serve", repository, || Ok(Vec::new())).await?;
        Ok(repository.served_at(&format!("http://127.0.0.1:{port}")))
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

    /// Serves a repository over SSH, for whoever has [`Fleet::ssh_client_key`]. `host` is the name of this machine in the URL, `localhost` or
    /// `127.0.0.1`. Argo CD trusts the server's host key after [`Fleet::trust_host_key`] only.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, a file can't be written, or the server doesn't start.
    pub async fn serve_repository_over_ssh(
        &self,
        repository: &Repository,
        host: &str,
    ) -> Result<Repository, FleetError> {
        let keys = || [HOST_KEY, CLIENT_KEY].map(|name| self.new_ssh_key(name)).into_iter().collect();
        let port = self.git_server(SSH, "serve-ssh", repository, keys).await?;
        Ok(repository.served_at(&format!("ssh://git@{host}:{port}")))
    }

    /// Returns the private key for which the git server for SSH serves repositories, in OpenSSH's format.
    ///
    /// # Errors
    /// Returns an error if no repository is served over SSH.
    pub fn ssh_client_key(&self) -> Result<String, FleetError> {
        let file = self.supervisor().dir().join(CLIENT_KEY);
        std::fs::read_to_string(&file)
            .map_err(|error| FleetError::unreadable(file.display().to_string(), error.to_string()))
    }

    /// Returns the line of a file of known hosts with the host key of the git server for SSH, for this name of this machine.
    ///
    /// # Errors
    /// Returns an error if no repository is served over SSH.
    pub(crate) fn known_host(&self, host: &str) -> Result<String, FleetError> {
        let dir = self.supervisor().dir();
        let port = port::read(&dir.join(format!("{SSH}.port")))?;
        let key = PrivateKey::read_openssh_file(dir.join(HOST_KEY)).and_then(|key| key.public_key().to_openssh());
        let key = key.map_err(|error| ssh_key_error(HOST_KEY, &error))?;
        Ok(format!("[{host}]:{port} {key}"))
    }

    /// Writes a new private key into the fleet's directory, and returns its file.
    fn new_ssh_key(&self, name: &str) -> Result<PathBuf, FleetError> {
        let file = self.supervisor().dir().join(name);
        let key =
            PrivateKey::random(&mut rand::rng(), Algorithm::Ed25519).and_then(|key| key.to_openssh(LineEnding::LF));
        state_dir::replace_private(&file, &key.map_err(|error| ssh_key_error(name, &error))?)?;
        Ok(file)
    }

    /// Starts the git server of this process name unless it runs, and returns its port. `more` are its arguments after the port, the
    /// repositories and git.
    async fn git_server(
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

fn ssh_key_error(name: &str, error: &russh::keys::ssh_key::Error) -> FleetError {
    FleetError::unreadable(format!("SSH key {name}"), error.to_string())
}
