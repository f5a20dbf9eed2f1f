//! Backups of a fleet's clusters, and what comes of them: a cluster that has its objects of some time ago.

use std::path::PathBuf;

use clusters::cluster::Cluster;

use crate::error::FleetError;
use crate::fleet::Fleet;

impl Fleet {
    /// Takes a backup of a cluster, in place of an earlier one: all its objects but events, which end by themselves.
    ///
    /// # Errors
    /// Returns an error if the provider can't, or the backup can't be written.
    pub async fn back_up(&self, cluster: &Cluster) -> Result<(), FleetError> {
        Ok(self.0.provider.back_up(cluster, &self.backup_file(cluster)).await?)
    }

    /// Restores a cluster from its backup. Its API server is stopped meanwhile.
    ///
    /// # Errors
    /// Returns an error if the provider can't, there is no backup of the cluster, or the API server doesn't get ready.
    pub async fn restore(&self, cluster: &Cluster) -> Result<(), FleetError> {
        Ok(self.0.provider.restore(cluster, &self.backup_file(cluster)).await?)
    }

    fn backup_file(&self, cluster: &Cluster) -> PathBuf {
        self.supervisor().dir().join(format!("{}.backup.json", cluster.name))
    }
}
