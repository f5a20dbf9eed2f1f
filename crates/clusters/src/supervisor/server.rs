//! Supervisor's side of the protocol.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use rustix::process::{Pid, kill_process_group};
use socket2::{Domain, Socket, Type};
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, broadcast, watch};
use tokio_util::codec::{Framed, LinesCodec};

use super::protocol::{
    FaultCommands, ProcessExit, ProcessSpec, ProcessStatus, SOCKET, ShutdownHook, SupervisorRequest, SupervisorResponse,
};
use super::{children, clock, throttle};
use crate::state_dir;
use crate::stderr_line;

/// Runs a supervisor for the fleet in `dir` until the fleet ends. Prints `ready` once the supervisor accepts requests.
#[must_use]
pub fn serve(dir: &Path) -> ExitCode {
    // A session of its own: a Ctrl-C in the owner's terminal is for the owner to handle.
    let _ = rustix::process::setsid();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // One thread: the kernel sends the parent death signal when the *thread* that started a child ends.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(run(dir));
            // A read of standard input may block for as long as the owner lives.
            runtime.shutdown_background();
            result
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            stderr_line!("error: the supervisor of {} failed: {error}", dir.display());
            ExitCode::from(3)
        }
    }
}

async fn run(dir: &Path) -> std::io::Result<()> {
    let mut lock = OpenOptions::new().write(true).open(dir.join(state_dir::LOCK))?;
    lock.try_lock().map_err(|_| std::io::Error::other("another supervisor holds this fleet"))?;
    writeln!(lock, "{}", std::process::id())?;
    std::fs::create_dir(dir.join("logs"))?;
    let listener = UnixListener::bind(dir.join(SOCKET))?;
    let supervisor = Arc::new(Supervisor::new(dir));
    // An owner that no longer reads has died; `watch_owner` notices that.
    let _ = std::io::stdout().write_all(b"ready\n");

    tokio::spawn(watch_owner(Arc::clone(&supervisor)));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => { tokio::spawn(answer(Arc::clone(&supervisor), stream)); }
            () = supervisor.end.notified() => break,
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => {}
        }
    }
    supervisor.end_all().await;
    let removed = state_dir::remove(dir).await;
    // Leak the lock, so that the kernel releases it when this process exits. Until then, a process that still finds the
    // directory sees a running fleet, and `state_dir::FleetEndDetector` takes the released lock for the end of this process.
    std::mem::forget(lock);
    removed?;
    Ok(())
}

/// Ends the fleet when the owner's end of standard input closes, unless the fleet is to be kept.
async fn watch_owner(supervisor: Arc<Supervisor>) {
    let mut buffer = [0; 64];
    let mut stdin = tokio::io::stdin();
    while stdin.read(&mut buffer).await.is_ok_and(|n| n > 0) {}
    if !supervisor.lock().kept {
        supervisor.end.notify_one();
    }
}

struct Supervisor {
    dir: PathBuf,
    inner: Mutex<SupervisorState>,
    exits: broadcast::Sender<ProcessExit>,
    end: Notify,
}

#[derive(Default)]
struct SupervisorState {
    kept: bool,
    processes: Vec<Process>,
    /// Shifted clocks, by the names of their processes.
    clocks: BTreeMap<String, ShiftedClock>,
    /// Number of shifts so far.
    shifts: u64,
    ports: Vec<Socket>,
    claims: Vec<UnixDatagram>,
    shutdown_hooks: Vec<ShutdownHook>,
}

/// Clock of a process that is shifted.
#[derive(Clone, Copy)]
struct ShiftedClock {
    /// Number of the shift. A later one of the same process replaces this one.
    number: u64,
    seconds: i32,
}

struct Process {
    spec: ProcessSpec,
    pid: Option<u32>,
    exit: Option<ProcessExit>,
    /// True if the process is being stopped on request; its end isn't reported then.
    stopping: bool,
    kill: Arc<Notify>,
    /// Turns true once the process has ended and was reaped.
    gone: watch::Receiver<bool>,
}

impl Supervisor {
    fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), inner: Mutex::default(), exits: broadcast::channel(64).0, end: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, SupervisorState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.dir.join("logs").join(format!("{name}.log"))
    }

    fn start(self: &Arc<Self>, spec: ProcessSpec) -> Result<(), String> {
        let mut inner = self.lock();
        let known = inner.processes.iter().position(|p| p.spec.name == spec.name);
        if known.is_some_and(|i| inner.processes[i].pid.is_some()) {
            return Err(format!("{} runs already", spec.name));
        }
        let mut child = children::start(&spec, &self.dir, &self.log(&spec.name)).map_err(|e| e.to_string())?;
        let kill = Arc::new(Notify::new());
        let (reaped, gone) = watch::channel(false);
        let (name, pid) = (spec.name.clone(), child.id());
        let process = Process { spec, pid, exit: None, stopping: false, kill: Arc::clone(&kill), gone };
        match known {
            Some(i) => inner.processes[i] = process,
            None => inner.processes.push(process),
        }
        let shift = inner.clocks.get(&name).copied();
        drop(inner);
        if let (Some(clock), Some(process)) = (shift, children::process_id(pid)) {
            let name = name.clone();
            tokio::spawn(async move {
                if let Err(error) = clock::shift(process, clock.seconds).await {
                    stderr_line!("error: failed to shift the clock of {name}: {error}");
                }
            });
        }

        let state = Arc::clone(self);
        tokio::spawn(async move {
            let status = tokio::select! {
                status = child.wait() => status,
                () = kill.notified() => { children::kill_group(pid); child.wait().await }
            };
            // Processes that the child started itself end with it.
            children::kill_group(pid);
            let status = status.map_or_else(|e| e.to_string(), |s| s.to_string());
            state.ended(&name, status);
            reaped.send_replace(true);
        });
        Ok(())
    }

    fn ended(&self, name: &str, status: String) {
        let mut inner = self.lock();
        let Some(process) = inner.processes.iter_mut().find(|p| p.spec.name == name) else { return };
        process.pid = None;
        if process.stopping {
            return;
        }
        let exit = ProcessExit { name: name.to_owned(), status, log: children::log_tail(&self.log(name)) };
        process.exit = Some(exit.clone());
        drop(inner);
        // An error means that nobody is watching.
        let _ = self.exits.send(exit);
    }

    async fn stop(&self, name: &str) -> Result<(), String> {
        let mut gone = {
            let mut inner = self.lock();
            let process = inner.processes.iter_mut().find(|p| p.spec.name == name);
            let process = process.ok_or_else(|| format!("there is no process {name}"))?;
            if process.pid.is_none() {
                return Ok(());
            }
            process.stopping = true;
            process.kill.notify_one();
            process.gone.clone()
        };
        // The sender sends `true` before it is dropped, so there is no error to handle.
        let _ = gone.wait_for(|gone| *gone).await;
        Ok(())
    }

    async fn exchange(self: &Arc<Self>, spec: ProcessSpec) -> Result<(), String> {
        let stopped = {
            let mut inner = self.lock();
            let process = inner.processes.iter_mut().find(|p| p.spec.name == spec.name);
            let process = process.ok_or_else(|| format!("there is no process {}", spec.name))?;
            let stopped = process.pid.is_none() && process.exit.is_none();
            if stopped {
                process.spec = spec.clone();
            }
            stopped
        };
        if stopped {
            return Ok(());
        }
        self.stop(&spec.name).await?;
        self.start(spec)
    }

    async fn exchange_program(self: &Arc<Self>, name: &str, program: PathBuf) -> Result<(), String> {
        let spec = self.spec(name)?;
        self.exchange(ProcessSpec { program, ..spec }).await
    }

    /// Returns the specification of a process, whether it runs or not.
    fn spec(&self, name: &str) -> Result<ProcessSpec, String> {
        let spec = self.lock().processes.iter().find(|p| p.spec.name == name).map(|p| p.spec.clone());
        spec.ok_or_else(|| format!("there is no process {name}"))
    }

    /// Returns the process group of a running process, and the receiver that turns true once the process has ended.
    fn running(&self, name: &str) -> Result<(Pid, watch::Receiver<bool>), String> {
        let inner = self.lock();
        let process = inner.processes.iter().find(|p| p.spec.name == name);
        let process = process.ok_or_else(|| format!("there is no process {name}"))?;
        let group = children::process_id(process.pid);
        let group = group.ok_or_else(|| format!("{name} doesn't run"))?;
        Ok((group, process.gone.clone()))
    }

    /// Shifts the clock of a process, now and at later starts. Returns the number of the shift.
    async fn shift_clock(&self, name: &str, seconds: i32) -> Result<u64, String> {
        let (process, _) = self.running(name)?;
        clock::shift(process, seconds).await.map_err(|error| error.to_string())?;
        let mut inner = self.lock();
        inner.shifts += 1;
        let number = inner.shifts;
        inner.clocks.insert(name.to_owned(), ShiftedClock { number, seconds });
        Ok(number)
    }

    /// Gives a process the machine's clock, unless its clock was shifted again since the shift of this number. One that has ended needs nothing.
    async fn restore_clock(&self, name: &str, number: u64) {
        {
            let mut inner = self.lock();
            if inner.clocks.get(name).is_none_or(|clock| clock.number != number) {
                return;
            }
            inner.clocks.remove(name);
        }
        if let Ok((process, _)) = self.running(name)
            && let Err(error) = clock::shift(process, 0).await
        {
            stderr_line!("error: failed to restore the clock of {name}: {error}");
        }
    }

    async fn remove(&self, name: &str) -> Result<(), String> {
        self.stop(name).await?;
        self.lock().processes.retain(|p| p.spec.name != name || p.pid.is_some());
        Ok(())
    }

    async fn end_all(&self) {
        let names: Vec<String> = self.lock().processes.iter().map(|p| p.spec.name.clone()).collect();
        futures::future::join_all(names.iter().map(|name| self.stop(name))).await;
        let shutdown_hooks = std::mem::take(&mut self.lock().shutdown_hooks);
        futures::future::join_all(shutdown_hooks.iter().map(children::run_shutdown_hook)).await;
    }

    /// Holds a claim until this process ends.
    fn claim(&self, name: &str) -> Result<(), String> {
        match bind_claim(name) {
            Ok(socket) => {
                self.lock().claims.push(socket);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => Err(format!("another fleet has {name}")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn at_end(&self, shutdown_hook: ShutdownHook) {
        let mut inner = self.lock();
        inner.shutdown_hooks.retain(|known| known.name != shutdown_hook.name);
        inner.shutdown_hooks.push(shutdown_hook);
    }

    fn reserve(&self, count: usize) -> std::io::Result<Vec<u16>> {
        let mut inner = self.lock();
        let mut ports = Vec::with_capacity(count);
        let mut lost = 0;
        while ports.len() < count {
            // The system chooses a free port for a listener without options. Only then is the port bound with
            // SO_REUSEPORT; otherwise the system might choose the same port for two reservations.
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.set_reuse_port(true)?;
            // Listeners of Go programs, such as Argo CD's and KWOK's, set SO_REUSEADDR only.
            socket.set_reuse_address(true)?;
            match socket.bind(&free.into()) {
                Ok(()) => {
                    inner.ports.push(socket);
                    ports.push(free.port());
                }
                // The system gave the port to another program in the meantime.
                Err(error) if error.kind() == ErrorKind::AddrInUse && lost < 100 => lost += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(ports)
    }
}

/// Binds an abstract socket, whose name only one process in a network namespace can have. The kernel frees the name with the process.
#[cfg(target_os = "linux")]
fn bind_claim(name: &str) -> std::io::Result<UnixDatagram> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::SocketAddr;

    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(format!("fleetdrill/{name}"))?)
}

#[cfg(not(target_os = "linux"))]
fn bind_claim(_: &str) -> std::io::Result<UnixDatagram> {
    Err(std::io::Error::other("only Linux has abstract sockets"))
}

async fn answer(supervisor: Arc<Supervisor>, stream: UnixStream) {
    let mut lines = Framed::new(stream, LinesCodec::new());
    while let Some(Ok(line)) = lines.next().await {
        let response = match serde_json::from_str(&line) {
            Ok(SupervisorRequest::Watch) => return tell_exits(&supervisor, &mut lines).await,
            Ok(SupervisorRequest::Throttle { name, percent }) => {
                return throttle_while_connected(&supervisor, &mut lines, &name, percent).await;
            }
            Ok(SupervisorRequest::ShiftClock { name, seconds }) => {
                return shift_clock_while_connected(&supervisor, &mut lines, &name, seconds).await;
            }
            Ok(SupervisorRequest::RunCommands(commands)) => {
                return run_commands_while_connected(&mut lines, &commands).await;
            }
            Ok(request) => handle(&supervisor, request).await,
            Err(error) => SupervisorResponse::Refused(error.to_string()),
        };
        if send(&mut lines, &response).await.is_err() {
            return;
        }
    }
}

fn done(result: Result<(), String>) -> SupervisorResponse {
    result.map_or_else(SupervisorResponse::Refused, |()| SupervisorResponse::Done)
}

async fn handle(supervisor: &Arc<Supervisor>, request: SupervisorRequest) -> SupervisorResponse {
    match request {
        SupervisorRequest::Start(spec) => done(supervisor.start(spec)),
        SupervisorRequest::Stop { name } => done(supervisor.stop(&name).await),
        SupervisorRequest::Remove { name } => done(supervisor.remove(&name).await),
        SupervisorRequest::StartAgain { name, more } => {
            let spec = supervisor.spec(&name);
            done(spec.and_then(|spec| supervisor.start(ProcessSpec { args: [spec.args, more].concat(), ..spec })))
        }
        SupervisorRequest::Exchange(spec) => done(supervisor.exchange(spec).await),
        SupervisorRequest::ExchangeProgram { name, program } => done(supervisor.exchange_program(&name, program).await),
        SupervisorRequest::List => {
            let inner = supervisor.lock();
            let statuses = inner.processes.iter().map(|p| ProcessStatus {
                name: p.spec.name.clone(),
                pid: p.pid,
                exit: p.exit.as_ref().map(|e| e.status.clone()),
            });
            SupervisorResponse::Processes(statuses.collect())
        }
        SupervisorRequest::Reserve { count } => supervisor
            .reserve(count)
            .map_or_else(|e| SupervisorResponse::Refused(e.to_string()), SupervisorResponse::Ports),
        SupervisorRequest::Claim { name } => done(supervisor.claim(&name)),
        SupervisorRequest::AtEnd(shutdown_hook) => {
            supervisor.at_end(shutdown_hook);
            SupervisorResponse::Done
        }
        SupervisorRequest::NotAtEnd { name } => {
            supervisor.lock().shutdown_hooks.retain(|known| known.name != name);
            SupervisorResponse::Done
        }
        SupervisorRequest::Keep => {
            supervisor.lock().kept = true;
            SupervisorResponse::Done
        }
        SupervisorRequest::EndAfter { seconds } => {
            let supervisor = Arc::clone(supervisor);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                supervisor.end.notify_one();
            });
            SupervisorResponse::Done
        }
        SupervisorRequest::End => {
            supervisor.end.notify_one();
            SupervisorResponse::Done
        }
        SupervisorRequest::Watch
        | SupervisorRequest::Throttle { .. }
        | SupervisorRequest::ShiftClock { .. }
        | SupervisorRequest::RunCommands(_) => {
            let why = "watch, throttle, shift_clock and run_commands are not requests with one answer";
            SupervisorResponse::Refused(why.into())
        }
    }
}

/// Throttles a process until the client closes the connection or the process ends.
async fn throttle_while_connected(
    supervisor: &Supervisor,
    lines: &mut Framed<UnixStream, LinesCodec>,
    name: &str,
    percent: u8,
) {
    let (group, gone) = match supervisor.running(name) {
        Ok(running) => running,
        Err(reason) => return send(lines, &SupervisorResponse::Refused(reason)).await.unwrap_or_default(),
    };
    if send(lines, &SupervisorResponse::Done).await.is_err() {
        return;
    }
    tokio::select! {
        () = throttle::throttle(group, kill_process_group, percent, gone) => (),
        // The client sends nothing more.
        _ = lines.next() => (),
    }
}

/// Shifts the clock of a process until the client closes the connection.
async fn shift_clock_while_connected(
    supervisor: &Supervisor,
    lines: &mut Framed<UnixStream, LinesCodec>,
    name: &str,
    seconds: i32,
) {
    let number = match supervisor.shift_clock(name, seconds).await {
        Ok(number) => number,
        Err(reason) => return send(lines, &SupervisorResponse::Refused(reason)).await.unwrap_or_default(),
    };
    if send(lines, &SupervisorResponse::Done).await.is_ok() {
        // The client sends nothing more.
        let _ = lines.next().await;
    }
    supervisor.restore_clock(name, number).await;
}

/// Runs the command that begins a fault, and the one that ends it when the client closes the connection.
async fn run_commands_while_connected(lines: &mut Framed<UnixStream, LinesCodec>, commands: &FaultCommands) {
    let begun = children::run_checked(&commands.begin).await;
    let is_begun = begun.is_ok();
    if send(lines, &done(begun)).await.is_ok() && is_begun {
        // The client sends nothing more.
        let _ = lines.next().await;
    }
    let ended = children::run_checked(&commands.end).await;
    if let Err(error) = &ended {
        stderr_line!("error: failed to end a fault: {error}");
    }
    if is_begun {
        // A client that has dropped the fault doesn't wait for it.
        let _ = send(lines, &done(ended)).await;
    }
}

async fn tell_exits(supervisor: &Supervisor, lines: &mut Framed<UnixStream, LinesCodec>) {
    let mut exits = supervisor.exits.subscribe();
    let before: Vec<ProcessExit> = supervisor.lock().processes.iter().filter_map(|p| p.exit.clone()).collect();
    for exit in &before {
        if send(lines, exit).await.is_err() {
            return;
        }
    }
    loop {
        let exit = tokio::select! {
            exit = exits.recv() => exit,
            // The client sends nothing more: it has closed the connection, which would stay open here until the next exit.
            _ = lines.next() => return,
        };
        match exit {
            Ok(exit) if before.contains(&exit) => {}
            Ok(exit) if send(lines, &exit).await.is_ok() => {}
            _ => return,
        }
    }
}

async fn send<T: serde::Serialize>(lines: &mut Framed<UnixStream, LinesCodec>, value: &T) -> Result<(), ()> {
    let line = serde_json::to_string(value).map_err(drop)?;
    lines.send(line).await.map_err(drop)
}
