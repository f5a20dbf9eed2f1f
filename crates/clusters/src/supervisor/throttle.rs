//! Processes that get only a part of their processor time, as a container with a CPU limit does, or none.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::watch;

/// Length of a period. The kernel counts a container's CPU limit in periods of the same length (CFS quota).
const PERIOD: Duration = Duration::from_millis(100);

/// Pauses a process group for a part of each period, until the process has ended. `percent` is the part of the time for which the group
/// runs; with 0 it doesn't run at all, as a process that hangs. When the future is dropped, the group runs again.
pub(super) async fn throttle(group: Pid, percent: u8, mut gone: watch::Receiver<bool>) {
    let group = ThrottledGroup { group, gone: gone.clone() };
    if percent == 0 {
        group.signal(Signal::STOP);
        // An error means that the supervisor ends.
        let _ = gone.wait_for(|gone| *gone).await;
        return;
    }
    let runs = PERIOD * u32::from(percent.min(100)) / 100;
    while group.signal(Signal::STOP) {
        tokio::time::sleep(PERIOD.saturating_sub(runs)).await;
        group.signal(Signal::CONT);
        tokio::time::sleep(runs).await;
    }
}

/// Process group that runs again when this value is dropped.
struct ThrottledGroup {
    group: Pid,
    /// True once the process has ended and was reaped: its id may then be another process's.
    gone: watch::Receiver<bool>,
}

impl ThrottledGroup {
    /// Sends a signal. Returns false if the process has ended. The supervisor has one thread, so that the process isn't reaped between
    /// the check and the signal.
    fn signal(&self, signal: Signal) -> bool {
        !*self.gone.borrow() && kill_process_group(self.group, signal).is_ok()
    }
}

impl Drop for ThrottledGroup {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
    }
}
