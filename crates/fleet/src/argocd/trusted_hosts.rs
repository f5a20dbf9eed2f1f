//! Certificates of git servers that Argo CD trusts: ConfigMap [`CONFIG_MAP`], and the directory in which the repo-server looks for them. A
//! kubelet mounts the one at the other, within a minute or two; here, where the repo-server is no Pod, both are written.

use std::fs;

use clusters::cluster::Cluster;
use clusters::error::ClusterError;
use clusters::state_dir::replace_private;
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
    let file = place.dir("tls").join(host);
    let Some(certificate) = certificate else {
        return match fs::remove_file(&file) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(ClusterError::Io { action: "delete", path: file, source }.into())
            }
            _ => Ok(()),
        };
    };
    Ok(replace_private(&file, certificate)?)
}
