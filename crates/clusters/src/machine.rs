//! Checks of this machine for local clusters: the limit of open files and the loopback interface.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::ClusterError;

/// Number of open files that a process of a local fleet needs. etcd needs the most: 326 with a hub and three members,
/// about 80 for each cluster (Kubernetes v1.36.3). Larger fleets need more; the highest limit that this process may set
/// is usually enough for them.
pub const OPEN_FILES: u64 = 512;

/// Time limit for a connection over loopback.
const LOOPBACK_LIMIT: Duration = Duration::from_secs(5);

/// Raises this process's limit of open files, which its children inherit, to the highest possible value, and checks
/// that local clusters can run here.
///
/// # Errors
/// Returns an error if the limit is too low, or loopback is down.
pub fn check() -> Result<(), ClusterError> {
    enough_files(raise_open_files())?;
    loopback().map_err(ClusterError::Loopback)
}

/// Raises this process's limit of open files to the highest value that it may set. A command that asks hundreds of
/// clusters needs a connection for each.
pub fn allow_many_connections() {
    raise_open_files();
}

/// Raises the limit of open files to the highest value that this process may set, and returns the limit; `None` means
/// that there is no limit.
fn raise_open_files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        // macOS refuses values above a limit of its own.
        Err(_) => current,
    }
}

fn enough_files(limit: Option<u64>) -> Result<(), ClusterError> {
    match limit {
        Some(limit) if limit < OPEN_FILES => Err(ClusterError::FewFiles { limit, needed: OPEN_FILES }),
        _ => Ok(()),
    }
}

/// Connects to a listener of this process on 127.0.0.1.
fn loopback() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    TcpStream::connect_timeout(&listener.local_addr()?, LOOPBACK_LIMIT).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{OPEN_FILES, enough_files};

    #[test]
    fn few_open_files_are_named() {
        assert!(enough_files(None).is_ok() && enough_files(Some(OPEN_FILES)).is_ok());
        let error = enough_files(Some(256)).expect_err("too few");
        assert_eq!(error.to_string(), "a process may have 256 open files here, and local clusters need 512");
    }
}
