//! Client of a supervisor.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use rustix::process::{Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, watch};
use tokio_util::codec::{Framed, LinesCodec};

use super::children::{SHUTDOWN_HOOK_LIMIT, log_tail, process_id};
use super::protocol::{
    FaultCommands, ProcessExit, ProcessSpec, ProcessStatus, SOCKET, ShutdownHook, SupervisorRequest, SupervisorResponse,
};
use crate::error::{ClusterError, last_lines};
use crate::state_dir;

/// Path of a program that can run as a supervisor. Such a program calls [`super::serve`] for `supervisor serve DIR` and
/// [`super::exec`] for `supervisor exec ...`, as `fleetdrill` does.
#[derive(Clone, Debug)]
pub struct SupervisorProgram(pub PathBuf);

impl SupervisorProgram {
    /// Returns the program that is running now.
    ///
    /// # Errors
    /// Returns an error if the program's path can't be determined.
    pub fn this() -> Result<Self, ClusterError> {
        std::env::current_exe().map(Self).map_err(|e| ClusterError::Supervisor(e.to_string()))
    }
}

/// Client of one supervisor. Clones talk to the same supervisor.
#[derive(Clone, Debug)]
pub struct SupervisorClient {
    dir: PathBuf,
    /// Process of the supervisor, if this program started it.
    owned: Option<Arc<OwnedSupervisor>>,
}

/// Fault of a process, which ends when this value is dropped: it gets only a part of its processor time or none, or its clock is shifted.
#[derive(Debug)]
#[must_use = "the fault ends once this is dropped"]
pub struct ProcessFault {
    /// The supervisor keeps the fault up for as long as this connection is open.
    connection: Framed<UnixStream, LinesCodec>,
    /// Process that keeps the fault up.
    supervisor: Option<u32>,
}

impl ProcessFault {
    /// Ends the fault, and waits until it has ended. Dropping this value doesn't wait.
    ///
    /// # Errors
    /// Returns an error if a command that ends it fails, or the supervisor doesn't end it in time.
    pub async fn end(mut self) -> Result<(), ClusterError> {
        // An error means that the supervisor has closed the connection already.
        let _ = self.connection.get_mut().shutdown().await;
        match tokio::time::timeout(FAULT_LIMIT, self.connection.next()).await {
            Ok(Some(Ok(line))) => is_done(parse_response(&line)?, "end a fault".to_owned()),
            // It closes the connection when the fault has ended.
            Ok(_) => Ok(()),
            Err(_) => Err(ClusterError::SupervisorHangs { seconds: FAULT_LIMIT.as_secs(), process: self.supervisor }),
        }
    }
}

/// Supervisor process that this program started. Dropping this value ends the fleet, unless the fleet is kept, and
/// waits until the process has ended.
#[derive(Debug)]
struct OwnedSupervisor {
    dir: PathBuf,
    child: Mutex<Child>,
    kept: AtomicBool,
}

impl Drop for OwnedSupervisor {
    fn drop(&mut self) {
        if self.kept.load(Ordering::Relaxed) {
            return;
        }
        let child = self.child.get_mut();
        drop(child.stdin.take());
        // A supervisor that somebody has paused would never notice.
        signal(child.id(), Signal::CONT);
        wait_until_ended(child, END_LIMIT);
        if matches!(child.try_wait(), Ok(None)) {
            let _ = child.start_kill();
            wait_until_ended(child, KILLED_LIMIT);
            let _ = state_dir::remove_once(&self.dir);
        }
    }
}

/// Reason of a supervisor that can't write, not even its log.
const NO_SPACE: &str = "no space left on device";

/// True if the file system of a directory has no space left.
fn is_full(dir: &Path) -> bool {
    rustix::fs::statvfs(dir).is_ok_and(|disk| disk.f_bavail == 0)
}

/// Sends a signal to a process, if there is one; one that has ended already is no error.
fn signal(id: Option<u32>, signal: Signal) {
    if let Some(id) = process_id(id) {
        let _ = kill_process(id, signal);
    }
}

/// Time limit for a supervisor's end: the limit of its shutdown hooks, and some seconds for its processes and its
/// directory.
const END_LIMIT: Duration = SHUTDOWN_HOOK_LIMIT.saturating_add(Duration::from_secs(10));

/// Time limit for an answer. A supervisor answers at once, except to requests that stop a process: it waits until the process is gone.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Time limit for a fault to begin or to end. Some need a command, which may start a container.
const FAULT_LIMIT: Duration = Duration::from_secs(120);

/// Time limit for a supervisor to start.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Time limit until a killed supervisor is gone.
const KILLED_LIMIT: Duration = Duration::from_secs(1);

/// Waits for a process that is about to end, and blocks the thread: a fleet that is said to have ended must not be seen any more, and
/// what is dropped can't wait in any other way. [`SupervisorClient::end`] waits without blocking.
fn wait_until_ended(child: &mut Child, limit: Duration) {
    let end = Instant::now() + limit;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl SupervisorClient {
    /// Starts a supervisor for a new fleet in `dir`, which must not exist yet. The fleet lives as long as this program
    /// does, or longer after [`SupervisorClient::keep`].
    ///
    /// # Errors
    /// Returns an error if the directory can't be created or the supervisor doesn't start.
    pub async fn spawn(program: &SupervisorProgram, dir: &Path) -> Result<Self, ClusterError> {
        let socket = dir.join(SOCKET);
        // The supervisor would say so only in its log.
        SocketAddr::from_pathname(&socket).map_err(|source| ClusterError::Socket { path: socket, source })?;
        state_dir::create(dir)?;
        let mut unready = StartingSupervisorGuard { dir, child: None };
        let log = dir.join("supervisor.log");
        let err = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&log);
        let err = err.map_err(ClusterError::io("write", &log))?;
        let child = Command::new(&program.0)
            .args(["supervisor", "serve"])
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(err)
            .spawn()
            .map_err(|e| ClusterError::Supervisor(format!("{}: {e}", program.0.display())))?;
        let mut ready = String::new();
        if let Some(stdout) = unready.child.insert(child).stdout.take() {
            let mut stdout = BufReader::new(stdout);
            if tokio::time::timeout(START_LIMIT, stdout.read_line(&mut ready)).await.is_err() {
                let why = format!("it didn't start within {} s", START_LIMIT.as_secs());
                return Err(ClusterError::Supervisor(why));
            }
        }
        if ready.trim() != "ready" {
            let why = if is_full(dir) { NO_SPACE.to_owned() } else { log_tail(&log) };
            return Err(ClusterError::Supervisor(format!("it didn't start{}", last_lines(&why))));
        }
        let child = unready.child.take();
        let owned = child.map(|child| {
            Arc::new(OwnedSupervisor { dir: dir.to_owned(), child: Mutex::new(child), kept: AtomicBool::new(false) })
        });
        std::mem::forget(unready);
        Ok(Self { dir: dir.to_owned(), owned })
    }

    /// Returns the client for the supervisor of a running fleet. Nothing is sent yet.
    ///
    /// # Errors
    /// Returns an error if no supervisor holds `dir`.
    pub fn connect(dir: &Path) -> Result<Self, ClusterError> {
        if !state_dir::is_alive(dir) {
            let name = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            return Err(ClusterError::NoSuchFleet(name));
        }
        Ok(Self { dir: dir.to_owned(), owned: None })
    }

    /// The fleet's directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the path of a process's log.
    #[must_use]
    pub fn log(&self, process: &str) -> PathBuf {
        self.dir.join("logs").join(format!("{process}.log"))
    }

    /// Returns all that a process has logged.
    ///
    /// # Errors
    /// Returns an error if the log can't be read.
    pub async fn read_log(&self, process: &str) -> Result<String, ClusterError> {
        let path = self.log(process);
        let read = tokio::fs::read(&path).await.map_err(ClusterError::io("read", &path))?;
        Ok(String::from_utf8_lossy(&read).into_owned())
    }

    /// Returns the end of a process's log, at most 15 lines.
    #[must_use]
    pub fn log_tail(&self, process: &str) -> String {
        log_tail(&self.log(process))
    }

    /// Starts a process.
    ///
    /// # Errors
    /// Returns an error if a process of this name runs already, or the program can't be started.
    pub async fn start(&self, spec: ProcessSpec) -> Result<(), ClusterError> {
        let action = format!("start {}", spec.name);
        self.done(SupervisorRequest::Start(spec), action).await
    }

    /// Kills a process and waits until it is gone. Stopping a process that doesn't run is no error.
    ///
    /// # Errors
    /// Returns an error if the supervisor has no process of this name.
    pub async fn stop(&self, name: &str) -> Result<(), ClusterError> {
        self.done(SupervisorRequest::Stop { name: name.to_owned() }, format!("stop {name}")).await
    }

    /// Kills a process and forgets it, so that [`SupervisorClient::processes`] no longer shows it.
    ///
    /// # Errors
    /// Returns an error if the supervisor has no process of this name.
    pub async fn remove(&self, name: &str) -> Result<(), ClusterError> {
        self.done(SupervisorRequest::Remove { name: name.to_owned() }, format!("remove {name}")).await
    }

    /// Starts a process again with the arguments that it had before.
    ///
    /// # Errors
    /// Returns an error if the process runs, or the supervisor has no process of this name.
    pub async fn start_again(&self, name: &str) -> Result<(), ClusterError> {
        self.start_again_with(name, &[]).await
    }

    /// Starts a process again, with `more` appended to its arguments.
    ///
    /// # Errors
    /// Returns an error if the process runs, or the supervisor has no process of this name.
    pub async fn start_again_with(&self, name: &str, more: &[String]) -> Result<(), ClusterError> {
        let request = SupervisorRequest::StartAgain { name: name.to_owned(), more: more.to_vec() };
        self.done(request, format!("start {name} again")).await
    }

    /// Replaces a process with another of the same name. If the old process was stopped, the new one starts with the
    /// next [`SupervisorClient::start_again`]. Otherwise the old process is killed and the new one starts now.
    ///
    /// # Errors
    /// Returns an error if the supervisor has no process of this name, or the program can't be started.
    pub async fn exchange(&self, spec: ProcessSpec) -> Result<(), ClusterError> {
        let action = format!("exchange {}", spec.name);
        self.done(SupervisorRequest::Exchange(spec), action).await
    }

    /// Replaces the program of a process as [`SupervisorClient::exchange`] does. The process keeps its arguments, also those of
    /// [`SupervisorClient::start_again_with`], and its environment.
    ///
    /// # Errors
    /// Returns an error if the supervisor has no process of this name, or the program can't be started.
    pub async fn exchange_program(&self, name: &str, program: &Path) -> Result<(), ClusterError> {
        let request = SupervisorRequest::ExchangeProgram { name: name.to_owned(), program: program.to_owned() };
        self.done(request, format!("exchange {name}")).await
    }

    /// Returns all processes, in the order in which they were first started.
    ///
    /// # Errors
    /// Returns an error if the supervisor doesn't answer.
    pub async fn processes(&self) -> Result<Vec<ProcessStatus>, ClusterError> {
        match self.ask(SupervisorRequest::List).await? {
            SupervisorResponse::Processes(list) => Ok(list),
            other => Err(ClusterError::Supervisor(format!("unexpected answer `{other}`"))),
        }
    }

    /// Reserves ports on 127.0.0.1 for as long as the fleet lives.
    ///
    /// # Errors
    /// Returns an error if the system has no free port.
    pub async fn reserve<const N: usize>(&self) -> Result<[u16; N], ClusterError> {
        match self.ask(SupervisorRequest::Reserve { count: N }).await? {
            SupervisorResponse::Ports(ports) => ports.try_into().map_err(|ports: Vec<u16>| {
                ClusterError::Supervisor(format!("it reserved {} ports, not {N}", ports.len()))
            }),
            SupervisorResponse::Refused(reason) => {
                Err(ClusterError::Refused { action: "reserve ports".into(), reason })
            }
            other => Err(ClusterError::Supervisor(format!("unexpected answer `{other}`"))),
        }
    }

    /// Claims something of which there is one on this machine, for as long as the fleet lives. Waits while another fleet has it, for
    /// `limit` at most.
    ///
    /// # Errors
    /// Returns an error if another fleet still has it after that time.
    pub async fn claim(&self, name: &str, limit: Duration) -> Result<(), ClusterError> {
        let started = Instant::now();
        loop {
            let request = SupervisorRequest::Claim { name: name.to_owned() };
            match self.done(request, format!("claim {name}")).await {
                Err(ClusterError::Refused { .. }) if started.elapsed() < limit => {
                    tokio::time::sleep(CLAIM_INTERVAL).await;
                }
                claimed => return claimed,
            }
        }
    }

    /// Registers a shutdown hook: a command that runs when the fleet ends, after all its processes have ended.
    ///
    /// # Errors
    /// Returns an error if the supervisor doesn't answer.
    pub async fn at_end(&self, shutdown_hook: ShutdownHook) -> Result<(), ClusterError> {
        let action = format!("end {} with the fleet", shutdown_hook.name);
        self.done(SupervisorRequest::AtEnd(shutdown_hook), action).await
    }

    /// Removes the shutdown hook of this name.
    ///
    /// # Errors
    /// Returns an error if the supervisor doesn't answer.
    pub async fn not_at_end(&self, name: &str) -> Result<(), ClusterError> {
        self.done(SupervisorRequest::NotAtEnd { name: name.to_owned() }, format!("forget the end of {name}")).await
    }

    /// Lets the fleet outlive this program.
    ///
    /// # Errors
    /// Returns an error if the supervisor doesn't answer.
    pub async fn keep(&self) -> Result<(), ClusterError> {
        self.done(SupervisorRequest::Keep, "keep the fleet".into()).await?;
        if let Some(owned) = &self.owned {
            owned.kept.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Makes the fleet end by itself after this time, in whole seconds.
    ///
    /// # Errors
    /// Returns an error if the supervisor doesn't answer.
    pub async fn end_after(&self, time: Duration) -> Result<(), ClusterError> {
        self.done(SupervisorRequest::EndAfter { seconds: time.as_secs() }, "set the fleet's end".into()).await
    }

    /// Ends the fleet and waits until nothing of it is left. A supervisor that is paused goes on for that, and one that doesn't answer is
    /// killed: the fleet's processes end with it.
    ///
    /// # Errors
    /// Returns an error if the supervisor can't be reached.
    pub async fn end(&self) -> Result<(), ClusterError> {
        let end = state_dir::FleetEndDetector::of(&self.dir);
        let supervisor = state_dir::supervisor_id(&self.dir);
        signal(supervisor, Signal::CONT);
        let ended = async {
            match self.done(SupervisorRequest::End, "end the fleet".into()).await {
                // It was killed, and its processes with it: their directory is all that is left.
                Err(_) if !state_dir::is_alive(&self.dir) => {}
                answer => answer?,
            }
            match &self.owned {
                Some(owned) => drop(owned.child.lock().await.wait().await),
                None => {
                    // A supervisor that is killed while it ends the fleet leaves the directory behind; stop waiting in that
                    // case.
                    while !end.is_reached() && (state_dir::is_held(&self.dir) || !self.dir.exists()) {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                }
            }
            Ok::<_, ClusterError>(())
        };
        match tokio::time::timeout(END_LIMIT, ended).await {
            Ok(Err(ClusterError::SupervisorHangs { .. })) | Err(_) => signal(supervisor, Signal::KILL),
            Ok(ended) => ended?,
        }
        // A supervisor that was killed leaves its directory, which the list of fleets removes.
        if self.dir.exists() { state_dir::fleets().await.map(drop) } else { Ok(()) }
    }

    /// Watches for processes that end without having been stopped; the channel's value is the first of them. The end of
    /// the supervisor itself is reported as the process `supervisor`.
    ///
    /// # Errors
    /// Returns an error if the supervisor can't be reached.
    pub async fn watch(&self) -> Result<watch::Receiver<Option<ProcessExit>>, ClusterError> {
        let mut lines = self.open().await?;
        say(&mut lines, &SupervisorRequest::Watch).await?;
        let (sender, receiver) = watch::channel(None);
        let dir = self.dir.clone();
        tokio::spawn(async move {
            while let Some(Ok(line)) = lines.next().await {
                let Ok(exit) = serde_json::from_str::<ProcessExit>(&line) else { continue };
                sender.send_if_modified(|first| {
                    if first.is_none() {
                        *first = Some(exit);
                        true
                    } else {
                        false
                    }
                });
            }
            let gone = ProcessExit {
                name: "supervisor".into(),
                status: "gone".into(),
                log: log_tail(&dir.join("supervisor.log")),
            };
            sender.send_if_modified(|first| {
                if first.is_none() {
                    *first = Some(gone);
                    true
                } else {
                    false
                }
            });
        });
        Ok(receiver)
    }

    /// Gives a process only a part of its processor time, `percent` of it, until the returned value is dropped or this program ends. The
    /// process is paused for the rest of each 100 ms, as a container with a CPU limit is.
    ///
    /// # Errors
    /// Returns an error if the supervisor has no process of this name, or the process doesn't run.
    pub async fn throttle(&self, name: &str, percent: u8) -> Result<ProcessFault, ClusterError> {
        self.begin(SupervisorRequest::Throttle { name: name.to_owned(), percent }, format!("throttle {name}")).await
    }

    /// Shifts the clock of a process by a number of seconds, counted from the machine's clock, until the returned value is dropped or this program
    /// ends. A process that is started under this name meanwhile has the same clock.
    ///
    /// # Errors
    /// Returns an error if the supervisor has no process of this name, the process doesn't run, or the kernel doesn't allow it. It is
    /// possible on Linux for x86-64.
    pub async fn shift_clock(&self, name: &str, seconds: i32) -> Result<ProcessFault, ClusterError> {
        let request = SupervisorRequest::ShiftClock { name: name.to_owned(), seconds };
        self.begin(request, format!("shift the clock of {name}")).await
    }

    /// Runs a command that begins a fault of `what`, and another one that ends it when the returned value is dropped or this program ends.
    ///
    /// # Errors
    /// Returns an error if the first command fails. The other one is run then, too.
    pub async fn run_commands(&self, what: &str, commands: FaultCommands) -> Result<ProcessFault, ClusterError> {
        self.begin(SupervisorRequest::RunCommands(commands), format!("begin a fault of {what}")).await
    }

    /// Begins a fault that lasts for as long as the connection is open.
    async fn begin(&self, request: SupervisorRequest, action: String) -> Result<ProcessFault, ClusterError> {
        let mut connection = self.open().await?;
        say(&mut connection, &request).await?;
        is_done(self.hear(&mut connection, FAULT_LIMIT).await?, action)?;
        Ok(ProcessFault { connection, supervisor: state_dir::supervisor_id(&self.dir) })
    }

    async fn done(&self, request: SupervisorRequest, action: String) -> Result<(), ClusterError> {
        is_done(self.ask(request).await?, action)
    }

    async fn ask(&self, request: SupervisorRequest) -> Result<SupervisorResponse, ClusterError> {
        let mut lines = self.open().await?;
        say(&mut lines, &request).await?;
        self.hear(&mut lines, ANSWER_LIMIT).await
    }

    /// Reads one answer, within a time limit.
    async fn hear(
        &self,
        lines: &mut Framed<UnixStream, LinesCodec>,
        limit: Duration,
    ) -> Result<SupervisorResponse, ClusterError> {
        match tokio::time::timeout(limit, hear(lines)).await {
            Ok(answer) => answer,
            Err(_) => Err(ClusterError::SupervisorHangs {
                seconds: limit.as_secs(),
                process: state_dir::supervisor_id(&self.dir),
            }),
        }
    }

    async fn open(&self) -> Result<Framed<UnixStream, LinesCodec>, ClusterError> {
        let socket = self.dir.join(SOCKET);
        let started = Instant::now();
        loop {
            match UnixStream::connect(&socket).await {
                Ok(stream) => return Ok(Framed::new(stream, LinesCodec::new())),
                // The socket of a supervisor that was just started appears a moment later than the fleet's directory.
                Err(error) if error.kind() == ErrorKind::NotFound && started.elapsed() < SOCKET_LIMIT => {
                    if !state_dir::is_alive(&self.dir) {
                        return Err(ClusterError::Supervisor("it has ended".into()));
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => return Err(ClusterError::Supervisor(error.to_string())),
            }
        }
    }
}

/// Interval between two attempts to claim what another fleet has.
const CLAIM_INTERVAL: Duration = Duration::from_millis(500);

/// Time limit for a supervisor that is just starting to create its socket.
const SOCKET_LIMIT: Duration = Duration::from_secs(5);

/// Guard for a new fleet whose supervisor isn't ready yet and has no processes. When dropped, it kills the supervisor
/// and removes the fleet's directory: a supervisor that failed or was killed during its start can't remove the
/// directory itself.
struct StartingSupervisorGuard<'a> {
    dir: &'a Path,
    child: Option<Child>,
}

impl Drop for StartingSupervisorGuard<'_> {
    fn drop(&mut self) {
        // Errors are ignored: the function that drops this guard returns an error of its own, or was interrupted.
        if let Some(child) = &mut self.child {
            let _ = child.start_kill();
            wait_until_ended(child, KILLED_LIMIT);
        }
        let _ = state_dir::remove_once(self.dir);
    }
}

async fn say(lines: &mut Framed<UnixStream, LinesCodec>, request: &SupervisorRequest) -> Result<(), ClusterError> {
    let line = serde_json::to_string(request).map_err(|e| ClusterError::Supervisor(e.to_string()))?;
    lines.send(line).await.map_err(|e| ClusterError::Supervisor(e.to_string()))
}

/// Reads one answer.
async fn hear(lines: &mut Framed<UnixStream, LinesCodec>) -> Result<SupervisorResponse, ClusterError> {
    match lines.next().await {
        Some(Ok(line)) => parse_response(&line),
        Some(Err(error)) => Err(ClusterError::Supervisor(error.to_string())),
        None => Err(ClusterError::Supervisor("it ended".into())),
    }
}

fn parse_response(line: &str) -> Result<SupervisorResponse, ClusterError> {
    serde_json::from_str(line).map_err(|e| ClusterError::Supervisor(e.to_string()))
}

/// Checks that a request was carried out that has no other answer.
fn is_done(response: SupervisorResponse, action: String) -> Result<(), ClusterError> {
    match response {
        SupervisorResponse::Done => Ok(()),
        SupervisorResponse::Refused(reason) => Err(ClusterError::Refused { action, reason }),
        other => Err(ClusterError::Supervisor(format!("unexpected answer `{other}`"))),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use tokio::process::Command;

    use super::{END_LIMIT, SHUTDOWN_HOOK_LIMIT, wait_until_ended};

    #[tokio::test]
    async fn a_drop_waits_no_longer_than_its_limit() {
        assert!(END_LIMIT > SHUTDOWN_HOOK_LIMIT, "what a supervisor runs at its end would be cut off");
        let mut child = Command::new("sleep").arg("600").kill_on_drop(true).spawn().expect("a process");
        let started = Instant::now();
        wait_until_ended(&mut child, Duration::from_millis(20));
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        assert!(child.try_wait().expect("can be asked").is_none(), "it runs on");
    }
}
