//! What fleetdrill does with processes in containers: commands that `docker exec` runs inside a cluster's container, because an image from scratch
//! has no shell, and the processes belong to another user than fleetdrill's; and those that run in a container of their own (`processes.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::signal::unix::SignalKind;
use tokio::sync::watch;

use super::container_main::{DATA, PROGRAM};
use crate::control_plane;
use crate::etcd::{self, EtcdBackup};
use crate::{stderr_line, supervisor};

/// Hidden subcommand that makes fleetdrill run a [`ControlCommand`] in a container.
const COMMAND: &str = "container-control";

/// Time limit for a process that is killed or started.
const LIMIT: Duration = Duration::from_secs(20);

/// Interval at which the processes are listed during a wait.
const INTERVAL: Duration = Duration::from_millis(20);

/// Command inside a container. Programs are named by their files, e.g. `kube-apiserver`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ControlCommand {
    /// Stop a program without ending the container.
    Stop { program: String },
    /// Start a stopped program again, with more flags after its own, now and for later starts.
    Start { program: String, flags: Vec<String> },
    /// Pause a program: it runs, and does nothing.
    Pause { program: String },
    /// Let a paused program go on.
    Resume { program: String },
    /// Disarm the alarms of etcd.
    DisarmEtcd,
    /// Print what etcd stores under a prefix, as JSON.
    BackUp { prefix: String },
    /// Make etcd store what a file has under a prefix, and nothing else.
    Restore { prefix: String, file: PathBuf },
    /// Shift the clock of a process; 0 gives it the machine's clock. Only in a container that may write the process's memory.
    ShiftClock { process: Pid, seconds: i32 },
    /// Give a process only a part of its processor time until it ends, or this command is terminated.
    Throttle { process: Pid, percent: u8 },
    /// Defragment etcd.
    DefragmentEtcd,
}

impl ControlCommand {
    /// Returns the command line inside the container.
    pub(super) fn words(&self) -> Vec<String> {
        let (name, arguments): (_, Vec<String>) = match self {
            Self::Stop { program } => ("stop", vec![program.clone()]),
            Self::Start { program, flags } => ("start", std::iter::once(program).chain(flags).cloned().collect()),
            Self::Pause { program } => ("pause", vec![program.clone()]),
            Self::Resume { program } => ("resume", vec![program.clone()]),
            Self::DisarmEtcd => ("disarm-etcd", Vec::new()),
            Self::BackUp { prefix } => ("back-up", vec![prefix.clone()]),
            Self::Restore { prefix, file } => ("restore", vec![prefix.clone(), file.display().to_string()]),
            Self::ShiftClock { process, seconds } => {
                ("shift-clock", vec![process.as_raw_nonzero().to_string(), seconds.to_string()])
            }
            Self::Throttle { process, percent } => {
                ("throttle", vec![process.as_raw_nonzero().to_string(), percent.to_string()])
            }
            Self::DefragmentEtcd => ("defragment-etcd", Vec::new()),
        };
        [PROGRAM, COMMAND, name].into_iter().map(str::to_owned).chain(arguments).collect()
    }

    /// Reads the words after [`COMMAND`].
    fn parse(words: &[String]) -> Option<Self> {
        let (name, arguments) = words.split_first()?;
        Some(match (name.as_str(), arguments) {
            ("stop", [program]) => Self::Stop { program: program.clone() },
            ("start", [program, flags @ ..]) => Self::Start { program: program.clone(), flags: flags.to_vec() },
            ("pause", [program]) => Self::Pause { program: program.clone() },
            ("resume", [program]) => Self::Resume { program: program.clone() },
            ("disarm-etcd", []) => Self::DisarmEtcd,
            ("back-up", [prefix]) => Self::BackUp { prefix: prefix.clone() },
            ("restore", [prefix, file]) => Self::Restore { prefix: prefix.clone(), file: file.into() },
            ("shift-clock", [process, seconds]) => {
                Self::ShiftClock { process: Pid::from_raw(process.parse().ok()?)?, seconds: seconds.parse().ok()? }
            }
            ("throttle", [process, percent]) => {
                Self::Throttle { process: Pid::from_raw(process.parse().ok()?)?, percent: percent.parse().ok()? }
            }
            ("defragment-etcd", []) => Self::DefragmentEtcd,
            _ => return None,
        })
    }

    async fn run(&self) -> std::io::Result<()> {
        let socket = control_plane::etcd_socket(Path::new(DATA));
        match self {
            Self::Stop { program } => {
                fs::write(stop_file(program), "")?;
                signal(program, Signal::KILL)?;
                until(|| stopped_file(program).exists(), || format!("{program} hasn't ended")).await
            }
            Self::Start { program, flags } => {
                fs::write(flags_file(program), serde_json::to_vec(flags)?)?;
                fs::remove_file(stopped_file(program))?;
                until(|| !processes(program).is_empty(), || format!("{program} hasn't started")).await
            }
            Self::Pause { program } => signal(program, Signal::STOP),
            Self::Resume { program } => signal(program, Signal::CONT),
            Self::DisarmEtcd => etcd::disarm(&socket).await.map_err(std::io::Error::other),
            Self::BackUp { prefix } => {
                let backup = etcd::back_up(&socket, prefix).await?;
                serde_json::to_writer(std::io::stdout().lock(), &backup).map_err(Into::into)
            }
            Self::Restore { prefix, file } => {
                let backup: EtcdBackup = serde_json::from_slice(&fs::read(file)?)?;
                etcd::restore(&socket, prefix, &backup).await
            }
            Self::ShiftClock { process, seconds: 0 } if test_kill_process(*process).is_err() => Ok(()),
            Self::ShiftClock { process, seconds } => supervisor::shift_clock(*process, *seconds).await,
            Self::Throttle { process, percent } => {
                let mut terminated = tokio::signal::unix::signal(SignalKind::terminate())?;
                let (_running, gone) = watch::channel(false);
                tokio::select! {
                    () = supervisor::throttle(*process, kill_process, *percent, gone) => (),
                    _ = terminated.recv() => (),
                }
                Ok(())
            }
            Self::DefragmentEtcd => etcd::defragment(&socket).await.map_err(std::io::Error::other),
        }
    }
}

/// Runs a command inside a cluster's container; `words` are those after `container-control`.
#[must_use]
pub fn control(words: &[String]) -> ExitCode {
    let Some(command) = ControlCommand::parse(words) else {
        stderr_line!("error: `{}` is no command inside a container", words.join(" "));
        return ExitCode::FAILURE;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(command.run())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            stderr_line!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// File that asks the program's parent not to take its end for the end of the container.
pub(super) fn stop_file(program: &str) -> PathBuf {
    Path::new(DATA).join(format!("{program}.stop"))
}

/// File that [`stop_file`] is renamed to when the program has ended. The program is started again when it is gone.
pub(super) fn stopped_file(program: &str) -> PathBuf {
    Path::new(DATA).join(format!("{program}.stopped"))
}

/// File with the flags of a program's next start after its own, as a JSON list.
pub(super) fn flags_file(program: &str) -> PathBuf {
    Path::new(DATA).join(format!("{program}.flags"))
}

/// Sends a signal to a program's process.
fn signal(program: &str, signal: Signal) -> std::io::Result<()> {
    let processes = processes(program);
    if processes.is_empty() {
        return Err(std::io::Error::other(format!("{program} doesn't run")));
    }
    Ok(processes.into_iter().try_for_each(|process| kill_process(process, signal))?)
}

/// Waits until something holds.
async fn until(holds: impl Fn() -> bool, otherwise: impl FnOnce() -> String) -> std::io::Result<()> {
    let started = Instant::now();
    while !holds() {
        if started.elapsed() > LIMIT {
            return Err(std::io::Error::other(format!("{} after {} s", otherwise(), LIMIT.as_secs())));
        }
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(())
}

/// Returns the container's processes that run this program.
fn processes(program: &str) -> Vec<Pid> {
    let all = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let of_program = all.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let file = fs::read_link(entry.path().join("exe")).ok()?;
        (file.file_name()? == program).then(|| Pid::from_raw(id))?
    });
    of_program.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_into_a_container_is_read_there() {
        let program = || "etcd".to_owned();
        let commands = [
            ControlCommand::Stop { program: program() },
            ControlCommand::Start { program: program(), flags: vec!["--a=1".into(), "--b=2".into()] },
            ControlCommand::Start { program: program(), flags: Vec::new() },
            ControlCommand::Pause { program: program() },
            ControlCommand::Resume { program: program() },
            ControlCommand::DisarmEtcd,
            ControlCommand::BackUp { prefix: "/hub/".into() },
            ControlCommand::Restore { prefix: "/hub/".into(), file: "/fleet/backup.json".into() },
            ControlCommand::ShiftClock { process: Pid::INIT, seconds: -600 },
            ControlCommand::Throttle { process: Pid::INIT, percent: 10 },
            ControlCommand::DefragmentEtcd,
        ];
        for command in commands {
            let words = command.words();
            assert_eq!(words[..2], [PROGRAM, COMMAND]);
            assert_eq!(ControlCommand::parse(&words[2..]), Some(command));
        }
        assert_eq!(ControlCommand::parse(&["stop".to_owned()]), None);
    }
}
