//! Alarms of etcd. An etcd that has run out of space raises one, and takes no writes until the alarm is disarmed, whatever space it has then.

use std::io::{Error, Result};
use std::path::Path;
use std::time::Duration;

use backon::{ConstantBuilder, Retryable as _};
use serde_json::json;

use super::gateway::ask;
use crate::error::ClusterError;

/// Path of the gateway for alarms.
const ALARM: &str = "/v3/maintenance/alarm";

/// Interval between two attempts.
const INTERVAL: Duration = Duration::from_millis(200);

/// Attempts in 30 s. An etcd that was just started takes about a second.
const ATTEMPTS: usize = 150;

/// Disarms all alarms of the etcd at a socket as soon as etcd answers, as `etcdctl alarm disarm` does: asks for the alarms, and takes back
/// each one.
pub(crate) async fn disarm(socket: &Path) -> std::result::Result<(), ClusterError> {
    let attempts = ConstantBuilder::new().with_delay(INTERVAL).with_max_times(ATTEMPTS);
    let disarmed = (|| disarm_once(socket)).retry(attempts).await;
    disarmed.map_err(|error| ClusterError::Supervisor(format!("etcd doesn't disarm its alarms: {error}")))
}

/// Disarms the alarms that there are. Returns an error if there were any.
async fn disarm_once(socket: &Path) -> Result<()> {
    let answer = ask(socket, ALARM, &json!({"action": "GET"})).await?;
    let alarms = answer["alarms"].as_array().cloned().unwrap_or_default();
    for alarm in &alarms {
        let request = json!({"action": "DEACTIVATE", "memberID": alarm["memberID"], "alarm": alarm["alarm"]});
        ask(socket, ALARM, &request).await?;
    }
    if alarms.is_empty() { Ok(()) } else { Err(Error::other("there are still alarms")) }
}
