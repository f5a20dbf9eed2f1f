//! Starting, killing and watching a keeper's children.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::protocol::ProcessSpec;

/// How many lines of a log an [`super::protocol::Exit`] carries.
const LOG_LINES: usize = 15;

/// Becomes the program given by `args` (parent's id, program, its arguments), tied to the life of its parent.
///
/// The keeper starts every child through this: the parent death signal has to be set by the child itself, between fork
/// and exec, which safe Rust has no place for. It survives the exec.
#[must_use]
pub fn exec(args: &[String]) -> ExitCode {
    let [parent, program, args @ ..] = args else {
        eprintln!("error: keeper exec takes a process id and a program");
        return ExitCode::from(2);
    };
    #[cfg(target_os = "linux")]
    {
        if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
            eprintln!("error: failed to set the parent death signal: {error}");
            return ExitCode::from(3);
        }
        // The parent may have died before the signal was set; then nobody would send it.
        let parent_now = rustix::process::getppid().map(Pid::as_raw_nonzero).map(|p| p.get().to_string());
        if parent_now.as_deref() != Some(parent) {
            return ExitCode::from(3);
        }
    }
    let _ = parent;
    let error = std::process::Command::new(program).args(args).exec();
    eprintln!("error: failed to start {program}: {error}");
    ExitCode::from(3)
}

/// Starts a child in a process group of its own, its output appended to `log`.
pub(super) fn start(spec: &ProcessSpec, dir: &Path, log: &Path) -> std::io::Result<Child> {
    let out = OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
    let mut command = Command::new(own_program()?);
    command
        .arg("keeper")
        .arg("exec")
        .arg(std::process::id().to_string())
        .arg(&spec.program)
        .args(&spec.args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("TMPDIR", dir)
        .envs(spec.env.iter().map(|(k, v)| (k, v)))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .process_group(0);
    command.spawn()
}

/// This program, even when its file has been replaced meanwhile.
fn own_program() -> std::io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// Kills a child's whole group at once. Nothing that a fleet's process holds is worth a grace: its data is removed with
/// it, and hub-agent never ends by SIGTERM (v0.1.2).
pub(super) fn kill_group(id: Option<u32>) {
    let group = id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may have ended by itself in this moment.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// The last lines of a log, at most 4 KiB of them.
pub(crate) fn log_tail(log: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = std::fs::File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(16 * 1024)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let Ok(text) = read() else { return String::from("(no log)") };
    let mut lines: VecDeque<String> = VecDeque::new();
    for line in text.lines() {
        lines.push_back(line.chars().take(400).collect());
        if lines.len() > LOG_LINES {
            lines.pop_front();
        }
    }
    Vec::from(lines).join("\n")
}
