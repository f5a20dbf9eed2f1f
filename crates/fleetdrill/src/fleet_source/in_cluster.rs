//! Kubeconfig of a Pod: the cluster that it runs on, with the credentials of its ServiceAccount.

use std::path::Path;

use kube::config::Kubeconfig;
use serde_json::json;

/// Name of the only context.
const CONTEXT: &str = "in-cluster";

/// Directory with the credentials of a Pod's ServiceAccount.
const MOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Returns the kubeconfig of the Pod that this process runs in; none outside Pods, and none in Pods without credentials.
pub(super) fn kubeconfig() -> Option<Kubeconfig> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    of(Path::new(MOUNT), &variable("KUBERNETES_SERVICE_HOST")?, &variable("KUBERNETES_SERVICE_PORT")?)
}

/// The token is read from its file again and again, because the kubelet renews it.
fn of(mount: &Path, host: &str, port: &str) -> Option<Kubeconfig> {
    let [token, authority] = ["token", "ca.crt"].map(|name| mount.join(name));
    if !token.is_file() {
        return None;
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let cluster = json!({"server": format!("https://{host}:{port}"), "certificate-authority": authority});
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": CONTEXT, "user": {"tokenFile": token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
        "current-context": CONTEXT,
    });
    serde_json::from_value(config).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_reads_its_own_cluster_with_the_token_of_its_service_account() {
        let mount = tempfile::tempdir().unwrap();
        assert!(of(mount.path(), "10.96.0.1", "443").is_none(), "the Pod has no credentials");
        std::fs::write(mount.path().join("token"), "t").unwrap();
        let server = |host: &str| {
            let config = of(mount.path(), host, "443").unwrap();
            assert_eq!(config.current_context.as_deref(), Some(CONTEXT));
            let user = config.auth_infos[0].auth_info.as_ref().unwrap();
            assert_eq!(user.token_file.as_deref().map(Path::new), Some(mount.path().join("token").as_path()));
            config.clusters[0].cluster.as_ref().unwrap().server.clone().unwrap()
        };
        assert_eq!(server("10.96.0.1"), "https://10.96.0.1:443");
        assert_eq!(server("fd00::1"), "https://[fd00::1]:443");
    }
}
