//! Certificates and SSH host keys of git servers that Argo CD trusts: each in a ConfigMap, [`CONFIG_MAP`] and [`KNOWN_HOSTS`], and the
//! directories in which the repo-server looks for them. A kubelet mounts the ones at the others, within a minute or two; here, where the repo-server is no
//! Pod, both are written.

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

/// ConfigMap with the SSH host keys that are known, under `ssh_known_hosts`, in the format of the file `known_hosts` of ssh.
pub const KNOWN_HOSTS: &str = "argocd-ssh-known-hosts-cm";

/// Key of [`KNOWN_HOSTS`], and name of the file.
const KNOWN_HOSTS_KEY: &str = "ssh_known_hosts";

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

/// Adds a line to the SSH host keys that Argo CD knows, or removes it.
pub(crate) async fn know(hub: &Cluster, place: &ArgoCdPaths, line: &str, known: bool) -> Result<(), FleetError> {
    let api = kinds::CONFIG_MAP.api(&hub.client, Some(NAMESPACE));
    let action = |verb: &str| FleetError::api(&hub.name, format!("{verb} ConfigMap/{KNOWN_HOSTS}"));
    let config_map = api.get(KNOWN_HOSTS).await.map_err(action("read"))?;
    let before = config_map.data["data"][KNOWN_HOSTS_KEY].as_str().unwrap_or_default();
    let others = before.lines().filter(|other| *other != line);
    let after: String = others.chain(known.then_some(line)).flat_map(|line| [line, "\n"]).collect();
    let patch = Patch::Merge(json!({"data": {KNOWN_HOSTS_KEY: after}}));
    api.patch(KNOWN_HOSTS, &PatchParams::default(), &patch).await.map_err(action("change"))?;
    Ok(replace_private(&place.dir("ssh").join(KNOWN_HOSTS_KEY), &after)?)
}
