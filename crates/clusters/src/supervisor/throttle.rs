//! Processes that get only a part of their processor time, as a container with a CPU limit does, or none.

use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::sync::watch;

/// Length of a period. The kernel counts a container's CPU limit in periods of the same length (CFS quota).
const PERIOD: Duration = Duration::from_millis(100);

/// Function that sends a signal to a process, or to its process group.
pub(crate) type Kill = fn(Pid, Signal) -> rustix::io::Result<()>;

/// Pauses a process for a part of each period, until it has ended. `percent` is the part of the time for which it runs; with 0 it doesn't run at all,
/// as a process that hangs. When the future is dropped, the process runs again. `kill` tells if all of its process group is meant.
pub(crate) async fn throttle(process: Pid, kill: Kill, percent: u8, mut gone: watch::Receiver<bool>) {
    let process = ThrottledProcess { process, kill, gone: gone.clone() };
    if percent == 0 {
        process.signal(Signal::STOP);
        // An error means that the supervisor ends.
        let _ = gone.wait_for(|gone| *gone).await;
        return;
    }
    let runs = PERIOD * u32::from(percent.min(100)) / 100;
    while process.signal(Signal::STOP) {
        tokio::time::sleep(PERIOD.saturating_sub(runs)).await;
        process.signal(Signal::CONT);
        tokio::time::sleep(runs).await;
    }
}

/// Process that runs again when this value is dropped.
struct ThrottledProcess {
    process: Pid,
    kill: Kill,
    /// True once the process has ended and was reaped: its id may then be another process's.
    gone: watch::Receiver<bool>,
}

impl ThrottledProcess {
    /// Sends a signal. Returns false if the process has ended. The supervisor has one thread, so that the process isn't reaped between
    /// the check and the signal.
    fn signal(&self, signal: Signal) -> bool {
        !*self.gone.borrow() && (self.kill)(self.process, signal).is_ok()
    }
}

impl Drop for ThrottledProcess {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
    }
}
