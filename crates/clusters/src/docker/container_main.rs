//! Main program of a cluster's container: fleetdrill, as the parent of the cluster's processes.
//!
//! An image from scratch has no other program that could start several processes. fleetdrill starts the processes of a
//! list, copies their output to the container's log with the process's name before each line, and ends when the first
//! of them ends: a control plane works only as a whole. A process that `container_control.rs` has stopped is no such end.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rustix::process::{Pid, Signal, getpid, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use super::container_control::{flags_file, stop_file, stopped_file};
use crate::supervisor::protocol::ProcessSpec;

/// Path of fleetdrill in the image.
pub(super) const PROGRAM: &str = "/fleetdrill";

/// Directory of a cluster's data in its container, in memory.
pub(super) const DATA: &str = "/data";

/// Hidden subcommand that makes fleetdrill run a list of processes in a container.
pub(super) const COMMAND: &str = "contained";

/// Output of the container's first process, which is the container's log. Processes that `docker exec` starts write to
/// it, too.
const LOG: &str = "/proc/1/fd/1";

/// Runs the processes of the list in this file until the first of them ends or a signal comes, and ends the container
/// with them. The log names the process that has ended.
#[must_use]
pub fn run(list: &Path) -> ExitCode {
    match processes(list).and_then(|processes| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(supervise(&processes))
    }) {
        Ok(()) => {}
        Err(error) => log().line("fleetdrill", &error.to_string()),
    }
    if !is_first() {
        // End the container's first process, which may already be ending by itself.
        let _ = Pid::from_raw(1).map(|first| kill_process(first, Signal::TERM));
    }
    ExitCode::FAILURE
}

fn processes(list: &Path) -> std::io::Result<Vec<ProcessSpec>> {
    Ok(serde_json::from_slice(&std::fs::read(list)?)?)
}

fn is_first() -> bool {
    getpid().as_raw_nonzero().get() == 1
}

async fn supervise(processes: &[ProcessSpec]) -> std::io::Result<()> {
    let log = log();
    let mut terminated = signal(SignalKind::terminate())?;
    let children = processes.iter().map(|spec| start(spec, &log)).collect::<std::io::Result<Vec<_>>>()?;
    let ends = children.into_iter().zip(processes.iter().cloned());
    let mut ends: FuturesUnordered<_> = ends.map(|(child, spec)| last_end(child, spec, &log)).collect();
    tokio::select! {
        Some(end) = ends.next() => log.line("fleetdrill", &end?),
        _ = terminated.recv() => {}
    }
    Ok(())
}

/// Interval at which a stopped process looks whether it is to start again.
const INTERVAL: Duration = Duration::from_millis(50);

/// Waits until a process ends without having been stopped on request, and says so. One that was stopped is started again when
/// [`stopped_file`] is gone.
async fn last_end(mut child: Child, mut spec: ProcessSpec, log: &Arc<ContainerLog>) -> std::io::Result<String> {
    let program = spec.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    loop {
        let status = child.wait().await?;
        let stopped = stopped_file(&program);
        if std::fs::rename(stop_file(&program), &stopped).is_err() {
            return Ok(format!("{} ended ({status})", spec.name));
        }
        log.line("fleetdrill", &format!("{} stopped", spec.name));
        while stopped.exists() {
            tokio::time::sleep(INTERVAL).await;
        }
        spec.args.extend(serde_json::from_slice::<Vec<String>>(&std::fs::read(flags_file(&program))?)?);
        child = start(&spec, log)?;
    }
}

fn start(spec: &ProcessSpec, log: &Arc<ContainerLog>) -> std::io::Result<Child> {
    // Start the process as the supervisor does: tied to the life of its parent, and with its own niceness.
    let mut child = Command::new("/proc/self/exe")
        .args(["supervisor", "exec", &std::process::id().to_string(), &spec.niceness.to_string()])
        .arg(&spec.program)
        .args(&spec.args)
        .envs(spec.env.iter().map(|(key, value)| (key, value)))
        .env("HOME", DATA)
        .current_dir(DATA)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| std::io::Error::other(format!("{}: {error}", spec.program.display())))?;
    let name = &spec.name;
    child.stdout.take().map(|out| tokio::spawn(copy(out, name.clone(), Arc::clone(log))));
    child.stderr.take().map(|out| tokio::spawn(copy(out, name.clone(), Arc::clone(log))));
    Ok(child)
}

async fn copy(from: impl AsyncRead + Unpin, name: String, log: Arc<ContainerLog>) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        log.line(&name, &line);
    }
}

/// Log of the container.
struct ContainerLog(Mutex<Box<dyn Write + Send>>);

fn log() -> Arc<ContainerLog> {
    let first = (!is_first()).then(|| OpenOptions::new().append(true).open(LOG).ok()).flatten();
    let out: Box<dyn Write + Send> = match first {
        Some(file) => Box::new(file),
        None => Box::new(std::io::stdout()),
    };
    Arc::new(ContainerLog(Mutex::new(out)))
}

impl ContainerLog {
    fn line(&self, name: &str, line: &str) {
        if let Ok(mut out) = self.0.lock() {
            // There is nowhere to report an error.
            let _ = writeln!(out, "{name}: {line}").and_then(|()| out.flush());
        }
    }
}
