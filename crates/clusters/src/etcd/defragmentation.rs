//! Defragmentation of etcd: it writes its file anew, without the space of what was deleted, and answers nothing meanwhile.

use std::path::Path;

use serde_json::json;

use super::gateway::ask;
use crate::error::ClusterError;

/// Defragments the etcd at a socket, as `etcdctl defrag` does, and waits for the end.
pub(crate) async fn defragment(socket: &Path) -> Result<(), ClusterError> {
    let done = ask(socket, "/v3/maintenance/defragment", &json!({})).await;
    done.map(drop).map_err(ClusterError::Defragmentation)
}
