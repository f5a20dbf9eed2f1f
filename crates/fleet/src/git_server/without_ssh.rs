//! Methods of [`Fleet`] for its git server over SSH, in a build without feature `ssh`: each returns an error that says so.

use crate::Fleet;
use crate::argocd::Repository;
use crate::error::FleetError;

impl Fleet {
    /// Returns an error: this build has no git server for SSH.
    ///
    /// # Errors
    /// Returns an error always.
    #[expect(clippy::unused_async, reason = "the method with feature `ssh` is asynchronous")]
    pub async fn serve_repository_over_ssh(&self, _: &Repository, _: &str) -> Result<Repository, FleetError> {
        Err(FleetError::WithoutSsh)
    }

    /// Returns an error: this build has no git server for SSH.
    ///
    /// # Errors
    /// Returns an error always.
    pub fn ssh_client_key(&self) -> Result<String, FleetError> {
        Err(FleetError::WithoutSsh)
    }

    /// Returns an error: this build has no git server for SSH.
    #[expect(clippy::unused_self, reason = "the method with feature `ssh` reads the fleet's directory")]
    pub(crate) fn known_host(&self, _: &str) -> Result<String, FleetError> {
        Err(FleetError::WithoutSsh)
    }
}
