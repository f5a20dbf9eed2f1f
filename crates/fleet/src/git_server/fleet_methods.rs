//! Methods of [`Fleet`] for its git server.

use crate::Fleet;
use crate::argocd::Repository;
use crate::error::FleetError;
use crate::local_server::LocalServer;

/// Name of the git server's process.
const PROCESS: &str = "git-server";

/// File with the server's port, in the fleet's directory.
const PORT: &str = "git-server.port";

impl Fleet {
    /// Serves a repository over HTTP with a new password. Starts the git server unless it runs. Returns the repository with its new URL.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, the password can't be written, or the server doesn't start.
    pub async fn serve_repository(&self, repository: &Repository) -> Result<Repository, FleetError> {
        repository.change_password()?;
        let port_file = self.supervisor().dir().join(PORT);
        let server = LocalServer {
            process: PROCESS,
            command: ["git", "serve"],
            port_file: &port_file,
            turn: &self.0.git_server,
        };
        let paths = [self.repositories_dir(), repository.git().to_owned()];
        let args = || Ok(paths.map(|path| path.display().to_string()).into());
        Ok(repository.served_by(self.local_server(server, args).await?))
    }
}
