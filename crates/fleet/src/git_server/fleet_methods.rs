//! Methods of [`Fleet`] for its git server.

use clusters::supervisor::SupervisorProgram;
use clusters::supervisor::protocol::ProcessSpec;

use crate::Fleet;
use crate::argocd::Repository;
use crate::error::FleetError;
use crate::port::{self, listens};

/// Name of the git server's process.
const PROCESS: &str = "git-server";

/// File with the server's port, in the fleet's directory: another command may have started the server.
const PORT: &str = "git-server.port";

impl Fleet {
    /// Serves a repository over HTTP with a new password. Starts the git server unless it runs. Returns the repository with its new URL.
    ///
    /// # Errors
    /// Returns an error if the fleet has no Argo CD, the password can't be written, or the server doesn't start.
    pub async fn serve_repository(&self, repository: &Repository) -> Result<Repository, FleetError> {
        repository.change_password()?;
        let port = self.git_server_port(repository).await?;
        Ok(repository.served_by(port))
    }

    /// Returns the port on which the git server listens, and starts the server unless it runs.
    async fn git_server_port(&self, repository: &Repository) -> Result<u16, FleetError> {
        let _turn = self.0.git_server.lock().await;
        let supervisor = self.supervisor();
        let file = supervisor.dir().join(PORT);
        if supervisor.processes().await?.iter().any(|p| p.name == PROCESS && p.pid.is_some()) {
            return port::read(&file);
        }
        let [port] = supervisor.reserve().await?;
        let paths = [self.repositories_dir(), repository.git().to_owned()].map(|path| path.display().to_string());
        let args = ["git".to_owned(), "serve".into(), port.to_string()].into_iter().chain(paths);
        port::write(&file, port)?;
        let spec = ProcessSpec {
            name: PROCESS.into(),
            program: SupervisorProgram::this()?.0,
            args: args.collect(),
            ..ProcessSpec::default()
        };
        supervisor.start(spec).await?;
        listens(&self.0.home, PROCESS, port).await?;
        Ok(port)
    }
}
