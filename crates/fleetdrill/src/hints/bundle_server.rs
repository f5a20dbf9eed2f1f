//! Hints for bundles that can't be served.

use fleet::bundle_server::BundleServerError;

use super::for_cluster;

/// Returns a hint, where one can be given.
#[must_use]
pub fn for_bundle_server(error: &BundleServerError) -> Option<String> {
    match error {
        BundleServerError::NotLoopback(_) => {
            Some("leave out --listen; a bundle may have what isn't for others on the network".into())
        }
        BundleServerError::Listen { .. } => {
            Some("give another port with --listen 127.0.0.1:PORT; without it, the system chooses a free one".into())
        }
        BundleServerError::KubeconfigExists(_) => Some("give another file with --kubeconfig, or none".into()),
        BundleServerError::Write { .. } => {
            Some("name a file in a directory that you may write to with --kubeconfig, or set TMPDIR".into())
        }
        BundleServerError::Certificates(error) => for_cluster(error),
        BundleServerError::Tls(_) => None,
    }
}
