//! Reads processes and their sockets from `/proc`.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// Ids and command lines of processes that have `dir` in their command line or environment, or work in it.
pub fn belonging_to(dir: &Path) -> Vec<(u32, String)> {
    let dir = dir.as_os_str().as_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("Linux").flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // A process may end meanwhile. A zombie has an empty command line.
        let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let place = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let mentions = |text: &[u8]| text.windows(dir.len()).any(|part| part == dir);
        if !line.is_empty() && [&line, &environment, place.as_os_str().as_bytes()].into_iter().any(mentions) {
            found.push((id, String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned()));
        }
    }
    found
}

/// Sends a signal; a process that has ended already is no error.
pub fn kill(id: u32, signal: Signal) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(id, signal);
    }
}

/// TCP addresses on which a process listens, in the kernel's format: `0100007F:1F90` for 127.0.0.1:8080.
pub fn listens_on(id: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let sockets: HashSet<String> = files
        .filter_map(|file| {
            fs::read_link(file.path()).ok()?.to_str()?.strip_prefix("socket:[")?.strip_suffix(']').map(str::to_owned)
        })
        .collect();
    let mut addresses = Vec::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{id}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let [_, local, _, "0A", _, _, _, _, _, inode, ..] = fields[..]
                && sockets.contains(inode)
            {
                addresses.push(local.to_owned());
            }
        }
    }
    addresses
}

/// State of a process as the kernel abbreviates it: `T` for a stopped one, `S` for one that sleeps; `None` if there is no such process.
pub fn state(id: u32) -> Option<char> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before it is in brackets and may have any character.
    text.rsplit_once(") ")?.1.chars().next()
}
