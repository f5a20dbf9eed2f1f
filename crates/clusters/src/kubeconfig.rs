//! Kubeconfigs for what fleetdrill makes: certificates and keys inside, so that one file is enough.

use base64::Engine as _;
use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, NamedAuthInfo, NamedCluster, NamedContext,
};
use kube::{Client, Config};

use crate::credentials;
use crate::error::ClusterError;

/// How to reach a cluster as its administrator.
#[derive(Clone, Debug)]
pub struct Access {
    /// The name of context, cluster and user.
    pub name: String,
    /// `https://127.0.0.1:PORT`.
    pub server: String,
    /// The CA's certificate, PEM.
    pub ca: String,
    /// The client certificate, PEM.
    pub certificate: String,
    /// Its key, PEM.
    pub key: String,
}

/// One kubeconfig with a context for each cluster; the first is the current one.
#[must_use]
pub fn kubeconfig(clusters: &[&Access]) -> Kubeconfig {
    let mut config = Kubeconfig {
        kind: Some("Config".into()),
        api_version: Some("v1".into()),
        current_context: clusters.first().map(|c| c.name.clone()),
        ..Kubeconfig::default()
    };
    for access in clusters {
        config.clusters.push(NamedCluster {
            name: access.name.clone(),
            cluster: Some(Cluster {
                server: Some(access.server.clone()),
                certificate_authority_data: Some(base64(&access.ca)),
                ..Cluster::default()
            }),
            ..NamedCluster::default()
        });
        config.auth_infos.push(NamedAuthInfo {
            name: access.name.clone(),
            auth_info: Some(AuthInfo {
                client_certificate_data: Some(base64(&access.certificate)),
                client_key_data: Some(base64(&access.key).into()),
                ..AuthInfo::default()
            }),
            ..NamedAuthInfo::default()
        });
        config.contexts.push(NamedContext {
            name: access.name.clone(),
            context: Some(Context {
                cluster: access.name.clone(),
                user: Some(access.name.clone()),
                ..Context::default()
            }),
            ..NamedContext::default()
        });
    }
    config
}

/// The kubeconfig as a file's text. It is JSON, which is YAML too: kubectl and every client library read it, and its
/// base64 needs no quoting rules.
#[must_use]
pub fn text(config: &Kubeconfig) -> String {
    serde_json::to_string_pretty(config).unwrap_or_default()
}

/// A client for one context of a kubeconfig.
///
/// # Errors
/// When the context doesn't exist or its credentials can't be used.
pub async fn client(config: Kubeconfig, context: &str) -> Result<Client, ClusterError> {
    let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(config, &options)
        .await
        .map_err(|e| ClusterError::Kubeconfig { cluster: context.to_owned(), source: Box::new(e) })?;
    let client = credentials::client(config).await;
    client.map_err(|e| ClusterError::Credentials { cluster: context.to_owned(), source: Box::new(e) })
}

/// Standard base64 with padding, as kubeconfigs and `HUB_CERTIFICATE_AUTHORITY` want it.
#[must_use]
pub fn base64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// What [`base64`] was made of, where it is text.
pub(crate) fn from_base64(data: &str) -> Option<String> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cluster_is_the_current_context() {
        let access = |name: &str| Access {
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
