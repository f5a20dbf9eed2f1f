//! Certificates of git servers that Argo CD trusts: ConfigMap [`CONFIG_MAP`], and the directory in which the repo-server looks for them. A
//! kubelet mounts the one at the other, within a minute or two; here, where the repo-server is no Pod, both are written.

use std::fs;
use std::path::PathBuf;

use clusters::cluster::Cluster;
use clusters::error::ClusterError;
use clusters::state_dir::write_private;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::{ArgoCdPaths, NAMESPACE};
use crate::error::FleetError;
use crate::kinds;

/// ConfigMap with a key for each host, whose value is the PEM of certificates that a server at this host may have or be signed by.
pub const CONFIG_MAP: &str = "argocd-tls-certs-cm";

/// Lets Argo CD trust servers at a host whose certificates this certificate signed; without one, as few as before.
pub(crate) async fn trust(
    hub: &Cluster,
    place: &ArgoCdPaths,
    host: &str,
    certificate: Option<&str>,
) -> Result<(), FleetError> {
    let patch = Patch::Merge(json!({"data": {host: certificate}}));
    let patched =
        kinds::CONFIG_MAP.api(&hub.client, Some(NAMESPACE)).patch(CONFIG_MAP, &PatchParams::default(), &patch).await;
    patched.map_err(FleetError::api(&hub.name, format!("change ConfigMap/{CONFIG_MAP}")))?;
    let (file, new) = (place.dir("tls").join(host), place.dir("tmp").join(format!("tls-{host}")));
    let io = |action: &'static str, path: PathBuf| move |source| ClusterError::Io { action, path, source };
    match certificate {
        Some(certificate) => {
            write_private(&new, certificate)?;
            fs::rename(&new, &file).map_err(io("write", file))?;
        }
        None => match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("delete", file)(error))?,
            _ => {}
        },
    }
    Ok(())
}
