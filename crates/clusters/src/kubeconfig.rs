//! Kubeconfigs of the clusters that fleetdrill creates. Certificates and keys are inside, so that one file is enough.

use base64::Engine as _;
use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, NamedAuthInfo, NamedCluster, NamedContext,
};
use kube::{Client, Config};

use crate::credentials;
use crate::error::ClusterError;

/// Administrator's access to a cluster.
#[derive(Clone, Debug)]
pub struct AdminAccess {
    /// Name of the context, the cluster and the user.
    pub name: String,
    /// Address of the API server, `https://127.0.0.1:PORT`.
    pub server: String,
    /// Certificate of the cluster's CA, PEM.
    pub ca: String,
    /// Client certificate of the administrator, PEM.
    pub certificate: String,
    /// Key of the client certificate, PEM.
    pub key: String,
}

/// Access to a cluster with a token.
#[derive(Clone, Debug)]
pub struct TokenAccess {
    /// Name of the context, the cluster and the user.
    pub name: String,
    /// Address of the API server.
    pub server: String,
    /// Certificate of the cluster's CA, PEM.
    pub ca: String,
    /// The token.
    pub token: String,
}

/// Creates a kubeconfig with a context for each cluster; the first is the current context.
#[must_use]
pub fn kubeconfig(clusters: &[&AdminAccess]) -> Kubeconfig {
    let mut config = empty();
    for access in clusters {
        let user = AuthInfo {
            client_certificate_data: Some(base64(&access.certificate)),
            client_key_data: Some(base64(&access.key).into()),
            ..AuthInfo::default()
        };
        add_context(&mut config, &access.name, &access.server, &access.ca, user);
    }
    config
}

/// Creates a kubeconfig like [`kubeconfig`], with tokens in place of client certificates.
#[must_use]
pub fn with_tokens(clusters: &[TokenAccess]) -> Kubeconfig {
    let mut config = empty();
    for access in clusters {
        let user = AuthInfo { token: Some(access.token.clone().into()), ..AuthInfo::default() };
        add_context(&mut config, &access.name, &access.server, &access.ca, user);
    }
    config
}

fn empty() -> Kubeconfig {
    Kubeconfig { kind: Some("Config".into()), api_version: Some("v1".into()), ..Kubeconfig::default() }
}

/// Adds a context, a cluster and a user of the same name. The first one becomes the current context.
fn add_context(config: &mut Kubeconfig, name: &str, server: &str, ca: &str, user: AuthInfo) {
    config.current_context.get_or_insert_with(|| name.to_owned());
    config.clusters.push(NamedCluster {
        name: name.to_owned(),
        cluster: Some(Cluster {
            server: Some(server.to_owned()),
            certificate_authority_data: Some(base64(ca)),
            ..Cluster::default()
        }),
        ..NamedCluster::default()
    });
    config.auth_infos.push(NamedAuthInfo { name: name.to_owned(), auth_info: Some(user), ..NamedAuthInfo::default() });
    config.contexts.push(NamedContext {
        name: name.to_owned(),
        context: Some(Context { cluster: name.to_owned(), user: Some(name.to_owned()), ..Context::default() }),
        ..NamedContext::default()
    });
}

/// Returns the text of a kubeconfig file as JSON, which is YAML too: kubectl and every client library read JSON, and
/// base64 needs no quoting in it.
#[must_use]
pub fn text(config: &Kubeconfig) -> String {
    serde_json::to_string_pretty(config).unwrap_or_default()
}

/// Creates a client for one context of a kubeconfig.
///
/// # Errors
/// Returns an error if the context doesn't exist, or its credentials can't be used.
pub async fn client(config: Kubeconfig, context: &str) -> Result<Client, ClusterError> {
    let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(config, &options)
        .await
        .map_err(|e| ClusterError::Kubeconfig { cluster: context.to_owned(), source: Box::new(e) })?;
    let client = credentials::client(config).await;
    client.map_err(|e| ClusterError::Credentials { cluster: context.to_owned(), source: Box::new(e) })
}

/// Encodes text as base64 with padding, as kubeconfigs and `HUB_CERTIFICATE_AUTHORITY` require.
#[must_use]
pub fn base64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// Decodes base64; `None` if the data isn't base64 of a text.
pub(crate) fn from_base64(data: &str) -> Option<String> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cluster_is_the_current_context() {
        let access = |name: &str| AdminAccess {
            name: name.into(),
            server: "https://127.0.0.1:1".into(),
            ca: "ca".into(),
            certificate: "certificate".into(),
            key: "key".into(),
        };
        let (hub, member) = (access("hub"), access("member-1"));
        insta::assert_snapshot!(text(&kubeconfig(&[&hub, &member])));
    }
}
