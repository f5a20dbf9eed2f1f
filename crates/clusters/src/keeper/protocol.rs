//! What is said to a keeper and what it answers: one JSON value a line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A process to start. Its output goes to `logs/<name>.log` in the fleet's directory, its environment is `env` and
/// nothing else but `PATH`, `HOME` and `TMPDIR`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// Unique in its fleet, e.g. `member-1-kube-apiserver`.
    pub name: String,
    /// The program's path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment.
    pub env: Vec<(String, String)>,
    /// How far it stands back for other processes: 0 (not at all) to 19.
    #[serde(default)]
    pub niceness: i32,
}

/// A command that a keeper runs when it ends, in its own environment: what isn't a process of its own has to be ended by
/// somebody, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Farewell {
    /// What it ends, e.g. `hub`; a second one of that name replaces the first.
    pub name: String,
    /// The program, looked for in `PATH`, and its arguments.
    pub command: Vec<String>,
    /// A command that prints what is left. As long as it prints something, the other one is run again: what was being made when its
    /// maker was killed may come a moment later.
    pub left: Vec<String>,
}

/// What can be asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Start a process.
    Start(ProcessSpec),
    /// Kill a process (and its group); it may be started again by its name.
    Stop {
        /// The process's name.
        name: String,
    },
    /// Kill a process (and its group) and forget it.
    Remove {
        /// The process's name.
        name: String,
    },
    /// Start a process again that was stopped or died, as it was, with more arguments.
    StartAgain {
        /// The process's name.
        name: String,
        /// What follows its arguments from now on.
        more: Vec<String>,
    },
    /// Make another process of one, under its name: it is killed and the other started, or, where it was stopped, the other is
    /// what will be started again.
    Exchange(ProcessSpec),
    /// All processes, in the order in which they were first started.
    List,
    /// Reserve ports on 127.0.0.1 for as long as the fleet lives. They are bound with `SO_REUSEPORT` and never listened
    /// on, and with `SO_REUSEADDR`: a program that sets one of them too, as Go's do, can bind them, another program isn't
    /// given them.
    Reserve {
        /// How many.
        count: usize,
    },
    /// Run a command when the fleet ends, after all processes; all of them at the same time, each for a minute at most.
    AtEnd(Farewell),
    /// Forget such a command.
    NotAtEnd {
        /// Its name.
        name: String,
    },
    /// Outlive the owner from now on.
    Keep,
    /// End by itself after so many seconds, as if asked to.
    EndAfter {
        /// Seconds from now.
        seconds: u64,
    },
    /// Kill everything, remove the directory and end.
    End,
    /// Send an [`Exit`] a line for each process that ends without having been stopped, starting with those that have.
    Watch,
}

/// The answer to a request.
#[derive(Clone, Debug, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Response {
    /// It was done.
    Done,
    /// To [`Request::List`].
    Processes(Vec<ProcessStatus>),
    /// To [`Request::Reserve`].
    Ports(Vec<u16>),
    /// It was not done, and why.
    Refused(String),
}

/// A process as the keeper sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessStatus {
    /// Its name.
    pub name: String,
    /// Its id, while it runs.
    pub pid: Option<u32>,
    /// How it ended, when it ended without having been stopped.
    pub exit: Option<String>,
}

/// A process ended without having been stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The process's name.
    pub name: String,
    /// E.g. `exit status: 1` or `signal: 9 (SIGKILL)`.
    pub status: String,
    /// The end of its log.
    pub log: String,
}
