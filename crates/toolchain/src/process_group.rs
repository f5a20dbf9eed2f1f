//! Process group that ends with the process that created it.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

/// A process group whose members are killed when this value is dropped, and also when this process dies in any other
/// way.
///
/// The group's leader is a shell that waits on a pipe for the end of this process: `kill -9` runs no destructor, and a
/// parent-death signal would reach `go` alone, not the compilers that `go` starts. As long as the leader isn't reaped,
/// the system gives the group's id to no other process, so killing by this id is safe.
pub(crate) struct ProcessGroup {
    leader: Child,
}

impl ProcessGroup {
    pub fn new() -> io::Result<Self> {
        let leader = Command::new("/bin/sh")
            .args(["-c", "read line; kill -KILL 0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { leader })
    }

    /// The group's id, for [`tokio::process::Command::process_group`].
    pub fn id(&self) -> i32 {
        Pid::from_child(&self.leader).as_raw_nonzero().get()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // Both can fail only if the leader has already ended. Then there is nothing to do.
        let _ = kill_process_group(Pid::from_child(&self.leader), Signal::KILL);
        let _ = self.leader.wait();
    }
}
