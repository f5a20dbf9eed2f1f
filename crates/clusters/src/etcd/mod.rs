//! What fleetdrill asks of a fleet's etcd: to disarm its alarms, to defragment its file, and to give and take back all that it has of a cluster.

mod alarm;
mod backup;
mod defragmentation;
mod gateway;

/// Space for etcd, in bytes, that is less than a hub with KubeFleet's CRDs uses.
pub(crate) const TOO_SMALL_QUOTA: u32 = 1 << 20;

pub(crate) use alarm::disarm;
pub(crate) use backup::{EtcdBackup, back_up, restore};
pub(crate) use defragmentation::defragment;
