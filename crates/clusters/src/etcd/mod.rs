//! What fleetdrill asks of a fleet's etcd: to disarm its alarms, to defragment its file, and to give and take back all that it has of a cluster.

mod alarm;
mod backup;
mod defragmentation;
mod gateway;

pub(crate) use alarm::disarm;
pub(crate) use backup::{EtcdBackup, back_up, restore};
pub(crate) use defragmentation::defragment;
