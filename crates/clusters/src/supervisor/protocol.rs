//! Messages between a supervisor and its clients: one JSON value a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Name of the supervisor's Unix socket in the fleet's directory. It is the name of earlier versions, whose fleets are
/// ended through it.
pub(super) const SOCKET: &str = "keeper.sock";

/// Specification of a process to start. Its output goes to `logs/<name>.log` in the fleet's directory. Its environment
/// is `env` and, apart from that, only `PATH`, `HOME` and `TMPDIR`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// Name of the process, unique in its fleet, e.g. `member-1-kube-apiserver`.
    pub name: String,
    /// Path of the program.
    pub program: PathBuf,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Environment variables, as names and values.
    pub env: Vec<(String, String)>,
    /// Niceness of the process, from 0 (normal priority) to 19 (lowest).
    #[serde(default)]
    pub niceness: i32,
}

/// Shutdown hook: a command that a supervisor runs when the supervisor ends, with the supervisor's environment. A hook
/// ends what isn't a child process of the supervisor, such as containers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShutdownHook {
    /// Name of what the hook ends, e.g. `hub`. A new hook replaces an earlier one of the same name.
    pub name: String,
    /// Program, found in `PATH`, and its arguments.
    pub command: Vec<String>,
    /// Command that prints what is left. As long as it prints something, `command` is run again: an object whose
    /// creator was killed during the creation may appear a moment later.
    pub left: Vec<String>,
}

/// Commands that begin a fault and end it. A program is found in `PATH`; the commands have the supervisor's environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCommands {
    /// Program and arguments that begin the fault.
    pub begin: Vec<String>,
    /// Program and arguments that end it. They are run, too, if `begin` has failed halfway.
    pub end: Vec<String>,
}

/// Request to a supervisor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupervisorRequest {
    /// Start a process.
    Start(ProcessSpec),
    /// Kill a process and its group. The process can be started again by its name.
    Stop {
        /// Name of the process.
        name: String,
    },
    /// Kill a process and its group, and forget the process.
    Remove {
        /// Name of the process.
        name: String,
    },
    /// Start a process again that was stopped or has ended, with more arguments than before.
    StartAgain {
        /// Name of the process.
        name: String,
        /// Arguments to append to those of the process, now and for later starts.
        more: Vec<String>,
    },
    /// Replace a process with another of the same name. If the old process was stopped, the new one starts with the
    /// next [`SupervisorRequest::StartAgain`]. Otherwise the old process is killed and the new one starts now.
    Exchange(ProcessSpec),
    /// Replace the program of a process, as [`SupervisorRequest::Exchange`] does. The process keeps its arguments, also those of
    /// [`SupervisorRequest::StartAgain`], and its environment.
    ExchangeProgram {
        /// Name of the process.
        name: String,
        /// Path of the new program.
        program: PathBuf,
    },
    /// Give a process only a part of its processor time for as long as this connection is open. The answer is
    /// [`SupervisorResponse::Done`]. A client that ends, for whatever reason, leaves no throttled process behind.
    Throttle {
        /// Name of the process.
        name: String,
        /// Part of the time for which the process runs, in percent.
        percent: u8,
    },
    /// Shift the clock of a process for as long as this connection is open, also of one that is started under this name meanwhile. The answer
    /// is [`SupervisorResponse::Done`].
    ShiftClock {
        /// Name of the process.
        name: String,
        /// Seconds from the machine's clock; negative for a clock that is behind.
        seconds: i32,
    },
    /// Run a command now, and another one when this connection ends. The answer is [`SupervisorResponse::Done`] when the first has succeeded. For
    /// faults of what isn't a child process of the supervisor, such as a container.
    RunCommands(FaultCommands),
    /// List all processes, in the order in which they were first started.
    List,
    /// Reserve ports on 127.0.0.1 for as long as the fleet lives. The supervisor binds them with `SO_REUSEPORT` and
    /// `SO_REUSEADDR` and never listens on them. A program that sets one of these options, as programs in Go do, can
    /// bind them too; the system gives them to no other program.
    Reserve {
        /// Number of ports.
        count: usize,
    },
    /// Claim something of which there is one on this machine, for as long as the fleet lives. Refused while another fleet has it.
    Claim {
        /// Name of what is claimed.
        name: String,
    },
    /// Run a command when the fleet ends, after all processes have ended. All hooks run at the same time, each for a
    /// minute at most.
    AtEnd(ShutdownHook),
    /// Remove a shutdown hook.
    NotAtEnd {
        /// Name of the hook.
        name: String,
    },
    /// Keep the fleet from now on when the owner ends.
    Keep,
    /// End the fleet after this time, as [`SupervisorRequest::End`] does.
    EndAfter {
        /// Seconds from now.
        seconds: u64,
    },
    /// Kill all processes, run the shutdown hooks, remove the fleet's directory and end.
    End,
    /// Send one [`ProcessExit`] a line for each process that ends without having been stopped, and first for those that have
    /// already ended so.
    Watch,
}

/// Answer to a request.
#[derive(Clone, Debug, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SupervisorResponse {
    /// Confirmation of a request that has no other answer.
    Done,
    /// Answer to [`SupervisorRequest::List`].
    Processes(Vec<ProcessStatus>),
    /// Answer to [`SupervisorRequest::Reserve`].
    Ports(Vec<u16>),
    /// Reason for which a request was not carried out.
    Refused(String),
}

/// State of a process as its supervisor sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessStatus {
    /// Name of the process.
    pub name: String,
    /// Process id, while the process runs.
    pub pid: Option<u32>,
    /// Exit status or signal, if the process ended without having been stopped.
    pub exit: Option<String>,
}

/// Unexpected end of a process, which ended without having been stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessExit {
    /// Name of the process.
    pub name: String,
    /// Exit status or signal, e.g. `exit status: 1` or `signal: 9 (SIGKILL)`.
    pub status: String,
    /// Last lines of the process's log.
    pub log: String,
}
