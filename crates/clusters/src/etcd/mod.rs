//! What fleetdrill asks of a fleet's etcd: to disarm its alarms, to defragment its file, and to give and take back all that it has of a cluster.

mod alarm;
mod backup;
mod defragmentation;
mod gateway;

pub(crate) use alarm::disarm;
pub(crate) use backup::{EtcdBackup, back_up, restore};
pub(crate) use defragmentation::defragment;

/// Space for etcd, in bytes, that is less than a hub with KubeFleet's CRDs uses.
const TOO_SMALL_QUOTA: u32 = 1 << 20;

/// Returns the flag of etcd that limits its space to less than a hub uses, or takes the limit back. Of two equal flags the last one counts.
pub(crate) fn quota_flag(limited: bool) -> String {
    // 0 stands for etcd's default.
    format!("--quota-backend-bytes={}", if limited { TOO_SMALL_QUOTA } else { 0 })
}
