//! Backups of a cluster: all keys that etcd has below the cluster's prefix.
//!
//! A restored etcd counts its revisions on from the present one, as after `etcdutl snapshot restore --bump-revision --mark-compacted`. That is
//! what Kubernetes' documentation asks for: with revisions that go back, clients would keep newer objects in their informer caches.

use std::io::{Error, Result};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::gateway::ask;
use crate::kubeconfig::base64;

/// Keys that are read at once.
const PAGE: usize = 500;

/// Operations of a transaction; etcd's default limit is 128.
const OPERATIONS: usize = 100;

/// Key and value, both in base64, as the gateway has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeyValue {
    key: String,
    value: String,
}

/// All that etcd has of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EtcdBackup(Vec<KeyValue>);

/// Reads all keys with this prefix, but those that end by themselves, such as events.
pub(crate) async fn back_up(socket: &Path, prefix: &str) -> Result<EtcdBackup> {
    let (mut from, mut keys) = (base64(prefix), Vec::new());
    // All pages are of one revision.
    let mut revision = None;
    loop {
        let request = json!({"key": from, "range_end": base64(&end_of(prefix)), "limit": PAGE, "revision": revision});
        let mut answer = ask(socket, "/v3/kv/range", &request).await?;
        revision = revision.or_else(|| answer.pointer("/header/revision").cloned());
        let page = answer["kvs"].take();
        let page = page.as_array().map(Vec::as_slice).unwrap_or_default();
        for pair in page.iter().filter(|pair| pair.get("lease").is_none()) {
            let text = |field: &str| pair[field].as_str().unwrap_or_default().to_owned();
            keys.push(KeyValue { key: text("key"), value: text("value") });
        }
        match page.last().and_then(|pair| pair["key"].as_str()) {
            // The key behind a key is the key and a zero byte.
            Some(last) if answer["more"] == json!(true) => from = followed_by_zero(last)?,
            _ => return Ok(EtcdBackup(keys)),
        }
    }
}

/// Makes etcd have what it had below this prefix. Nobody may use the cluster meanwhile.
pub(crate) async fn restore(socket: &Path, prefix: &str, backup: &EtcdBackup) -> Result<()> {
    let delete = json!({"key": base64(prefix), "range_end": base64(&end_of(prefix))});
    ask(socket, "/v3/kv/deleterange", &delete).await?;
    for pairs in backup.0.chunks(OPERATIONS) {
        let puts: Vec<Value> = pairs.iter().map(|pair| json!({"request_put": pair})).collect();
        ask(socket, "/v3/kv/txn", &json!({"success": puts})).await?;
    }
    Ok(())
}

/// Returns the first text behind all texts with this prefix, which ends in `/`.
fn end_of(prefix: &str) -> String {
    let without = prefix.strip_suffix('/').unwrap_or(prefix);
    // 0 is the byte behind /.
    format!("{without}0")
}

fn followed_by_zero(key: &str) -> Result<String> {
    let text = crate::kubeconfig::from_base64(key).ok_or_else(|| Error::other("a key is no UTF-8"))?;
    Ok(base64(&format!("{text}\0")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_the_keys_of_one_cluster() {
        let end = end_of("/hub-40125/");
        assert!("/hub-40125/registry/pods/a" < end.as_str());
        assert!("/hub-40126/registry/pods/a" > end.as_str());
    }

    #[test]
    fn the_next_page_begins_behind_the_last_key() {
        assert_eq!(followed_by_zero(&base64("/a/b")).unwrap(), base64("/a/b\0"));
    }
}
