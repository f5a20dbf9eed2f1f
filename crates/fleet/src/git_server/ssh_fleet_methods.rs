//! Methods of [`Fleet`] for its git server over SSH.

use std::path::PathBuf;

use clusters::state_dir;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, PrivateKey};

use crate::Fleet;
use crate::argocd::Repository;
use crate::error::FleetError;
use crate::port;

/// Name of the process of the git server for SSH.
const SSH: &str = "git-server-ssh";

/// Files of the private keys of the server for SSH and of its client.
const HOST_KEY: &str = "git-server-ssh.host-key";
const CLIENT_KEY: &str = "git-server-ssh.client-key";

impl Fleet {
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
}

fn ssh_key_error(name: &str, error: &russh::keys::ssh_key::Error) -> FleetError {
    FleetError::unreadable(format!("SSH key {name}"), error.to_string())
}
