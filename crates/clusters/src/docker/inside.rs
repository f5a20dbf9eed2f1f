//! What a cluster's container runs: fleetdrill, as the parent of the cluster's processes.
//!
//! An image from scratch has nothing else that could start two programs. It starts those of a list, writes what they log to the
//! container's own log, each line with its program's name, and ends when the first of them does: a control plane lives as a whole.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rustix::process::{Pid, Signal, getpid, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::keeper::protocol::ProcessSpec;

/// Where the program is in its image.
pub(super) const PROGRAM: &str = "/fleetdrill";

/// How it is told to be this.
pub(super) const COMMAND: &str = "contained";

/// The log of the container, whoever is asked: what is started later isn't its first process.
const LOG: &str = "/proc/1/fd/1";

/// Runs the processes of the list in this file until the first of them ends, or a signal comes. What it was is in the log; the
/// container ends with it.
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
        // The container's first process; it may be ending by itself.
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
    let mut children = processes.iter().map(|spec| start(spec, &log)).collect::<std::io::Result<Vec<_>>>()?;
    let mut ends: FuturesUnordered<_> =
        children.iter_mut().zip(processes).map(async |(child, spec)| (&spec.name, child.wait().await)).collect();
    tokio::select! {
        Some((name, status)) = ends.next() => log.line("fleetdrill", &format!("{name} ended ({})", status?)),
        _ = terminated.recv() => {}
    }
    Ok(())
}

fn start(spec: &ProcessSpec, log: &Arc<Log>) -> std::io::Result<Child> {
    let failed = |error: std::io::Error| std::io::Error::other(format!("{}: {error}", spec.program.display()));
    // As the keeper starts its own: tied to the life of its parent, and with its niceness.
    let mut child = Command::new("/proc/self/exe")
        .args(["keeper", "exec", &std::process::id().to_string(), &spec.niceness.to_string()])
        .arg(&spec.program)
        .args(&spec.args)
        .envs(spec.env.iter().map(|(key, value)| (key, value)))
        .env("HOME", super::DATA)
        .current_dir(super::DATA)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let name = &spec.name;
    child.stdout.take().map(|out| tokio::spawn(copy(out, name.clone(), Arc::clone(log))));
    child.stderr.take().map(|out| tokio::spawn(copy(out, name.clone(), Arc::clone(log))));
    Ok(child)
}

async fn copy(from: impl AsyncRead + Unpin, name: String, log: Arc<Log>) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        log.line(&name, &line);
    }
}

/// The container's log.
struct Log(Mutex<Box<dyn Write + Send>>);

fn log() -> Arc<Log> {
    let first = (!is_first()).then(|| OpenOptions::new().append(true).open(LOG).ok()).flatten();
    let out: Box<dyn Write + Send> = match first {
        Some(file) => Box::new(file),
        None => Box::new(std::io::stdout()),
    };
    Arc::new(Log(Mutex::new(out)))
}

impl Log {
    fn line(&self, name: &str, line: &str) {
        if let Ok(mut out) = self.0.lock() {
            // Nobody can be told of it.
            let _ = writeln!(out, "{name}: {line}").and_then(|()| out.flush());
        }
    }
}
