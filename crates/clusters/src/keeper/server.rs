//! The keeper's own side.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use socket2::{Domain, Socket, Type};
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, broadcast, watch};
use tokio_util::codec::{Framed, LinesCodec};

use super::children;
use super::protocol::{Exit, Farewell, ProcessSpec, ProcessStatus, Request, Response};
use crate::state_dir;
use crate::stderr_line;

/// Runs a keeper for the fleet in `dir` until it ends. Prints `ready` once it can be asked.
#[must_use]
pub fn serve(dir: &Path) -> ExitCode {
    // A session of its own: a Ctrl-C in the owner's terminal is the owner's business.
    let _ = rustix::process::setsid();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // One thread: the kernel sends the parent death signal when the *thread* ends that started a child.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(run(dir));
            // A read of standard input may be under way for as long as the owner lives.
            runtime.shutdown_background();
            result
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            stderr_line!("error: the keeper of {} failed: {error}", dir.display());
            ExitCode::from(3)
        }
    }
}

async fn run(dir: &Path) -> std::io::Result<()> {
    let mut lock = OpenOptions::new().write(true).open(dir.join(state_dir::LOCK))?;
    lock.try_lock().map_err(|_| std::io::Error::other("another keeper holds this fleet"))?;
    writeln!(lock, "{}", std::process::id())?;
    std::fs::create_dir(dir.join("logs"))?;
    let listener = UnixListener::bind(dir.join("keeper.sock"))?;
    let keeper = Arc::new(State::new(dir));
    // An owner that no longer reads has died; `watch_owner` notices.
    let _ = std::io::stdout().write_all(b"ready\n");

    tokio::spawn(watch_owner(Arc::clone(&keeper)));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => { tokio::spawn(answer(Arc::clone(&keeper), stream)); }
            () = keeper.end.notified() => break,
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => {}
        }
    }
    keeper.end_all().await;
    let removed = state_dir::remove(dir);
    // The lock goes with the process: whoever finds the directory before that sees a fleet that is still up, and whoever
    // waits for the end of the process waits for the lock.
    std::mem::forget(lock);
    removed?;
    Ok(())
}

/// Ends the fleet when the owner's end of standard input closes, unless the fleet is to be kept.
async fn watch_owner(keeper: Arc<State>) {
    let mut buffer = [0; 64];
    let mut stdin = tokio::io::stdin();
    while stdin.read(&mut buffer).await.is_ok_and(|n| n > 0) {}
    if !keeper.lock().kept {
        keeper.end.notify_one();
    }
}

struct State {
    dir: PathBuf,
    inner: Mutex<Inner>,
    exits: broadcast::Sender<Exit>,
    end: Notify,
}

#[derive(Default)]
struct Inner {
    kept: bool,
    processes: Vec<Process>,
    ports: Vec<Socket>,
    farewells: Vec<Farewell>,
}

struct Process {
    spec: ProcessSpec,
    pid: Option<u32>,
    exit: Option<Exit>,
    /// Set by whoever stops it, so that its end isn't reported.
    stopping: bool,
    kill: Arc<Notify>,
    /// True once it has ended and is reaped.
    gone: watch::Receiver<bool>,
}

impl State {
    fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), inner: Mutex::default(), exits: broadcast::channel(64).0, end: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
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
        drop(inner);

        let state = Arc::clone(self);
        tokio::spawn(async move {
            let status = tokio::select! {
                status = child.wait() => status,
                () = kill.notified() => { children::kill_group(pid); child.wait().await }
            };
            // What it had started itself goes with it.
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
        let exit = Exit { name: name.to_owned(), status, log: children::log_tail(&self.log(name)) };
        process.exit = Some(exit.clone());
        drop(inner);
        // Nobody may be watching.
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
        // The sender goes only after it has said so.
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

    async fn remove(&self, name: &str) -> Result<(), String> {
        self.stop(name).await?;
        self.lock().processes.retain(|p| p.spec.name != name || p.pid.is_some());
        Ok(())
    }

    async fn end_all(&self) {
        let names: Vec<String> = self.lock().processes.iter().map(|p| p.spec.name.clone()).collect();
        futures::future::join_all(names.iter().map(|name| self.stop(name))).await;
        let farewells = std::mem::take(&mut self.lock().farewells);
        futures::future::join_all(farewells.iter().map(children::bid)).await;
    }

    fn at_end(&self, farewell: Farewell) {
        let mut inner = self.lock();
        inner.farewells.retain(|known| known.name != farewell.name);
        inner.farewells.push(farewell);
    }

    fn reserve(&self, count: usize) -> std::io::Result<Vec<u16>> {
        let mut inner = self.lock();
        let mut ports = Vec::with_capacity(count);
        let mut lost = 0;
        while ports.len() < count {
            // The system gives a free port to a plain listener; only then is it shared, or two reservations with
            // SO_REUSEPORT might be given the same one.
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.set_reuse_port(true)?;
            // Go's listeners set only this one, as Argo CD's and KWOK's do.
            socket.set_reuse_address(true)?;
            match socket.bind(&free.into()) {
                Ok(()) => {
                    inner.ports.push(socket);
                    ports.push(free.port());
                }
                // Another program was given the port in between.
                Err(error) if error.kind() == ErrorKind::AddrInUse && lost < 100 => lost += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(ports)
    }
}

async fn answer(keeper: Arc<State>, stream: UnixStream) {
    let mut lines = Framed::new(stream, LinesCodec::new());
    while let Some(Ok(line)) = lines.next().await {
        let response = match serde_json::from_str(&line) {
            Ok(Request::Watch) => return tell_exits(&keeper, &mut lines).await,
            Ok(request) => handle(&keeper, request).await,
            Err(error) => Response::Refused(error.to_string()),
        };
        if send(&mut lines, &response).await.is_err() {
            return;
        }
    }
}

async fn handle(keeper: &Arc<State>, request: Request) -> Response {
    let done = |result: Result<(), String>| result.map_or_else(Response::Refused, |()| Response::Done);
    match request {
        Request::Start(spec) => done(keeper.start(spec)),
        Request::Stop { name } => done(keeper.stop(&name).await),
        Request::Remove { name } => done(keeper.remove(&name).await),
        Request::StartAgain { name, more } => {
            let spec = keeper.lock().processes.iter().find(|p| p.spec.name == name).map(|p| p.spec.clone());
            let spec = spec.ok_or_else(|| format!("there is no process {name}"));
            done(spec.and_then(|spec| keeper.start(ProcessSpec { args: [spec.args, more].concat(), ..spec })))
        }
        Request::Exchange(spec) => done(keeper.exchange(spec).await),
        Request::List => {
            let inner = keeper.lock();
            let status = |p: &Process| ProcessStatus {
                name: p.spec.name.clone(),
                pid: p.pid,
                exit: p.exit.as_ref().map(|e| e.status.clone()),
            };
            Response::Processes(inner.processes.iter().map(status).collect())
        }
        Request::Reserve { count } => {
            keeper.reserve(count).map_or_else(|e| Response::Refused(e.to_string()), Response::Ports)
        }
        Request::AtEnd(farewell) => {
            keeper.at_end(farewell);
            Response::Done
        }
        Request::NotAtEnd { name } => {
            keeper.lock().farewells.retain(|known| known.name != name);
            Response::Done
        }
        Request::Keep => {
            keeper.lock().kept = true;
            Response::Done
        }
        Request::EndAfter { seconds } => {
            let keeper = Arc::clone(keeper);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                keeper.end.notify_one();
            });
            Response::Done
        }
        Request::End => {
            keeper.end.notify_one();
            Response::Done
        }
        Request::Watch => Response::Refused("watch is not a request with one answer".into()),
    }
}

async fn tell_exits(keeper: &State, lines: &mut Framed<UnixStream, LinesCodec>) {
    let mut exits = keeper.exits.subscribe();
    let before: Vec<Exit> = keeper.lock().processes.iter().filter_map(|p| p.exit.clone()).collect();
    for exit in &before {
        if send(lines, exit).await.is_err() {
            return;
        }
    }
    while let Ok(exit) = exits.recv().await {
        if !before.contains(&exit) && send(lines, &exit).await.is_err() {
            return;
        }
    }
}

async fn send<T: serde::Serialize>(lines: &mut Framed<UnixStream, LinesCodec>, value: &T) -> Result<(), ()> {
    let line = serde_json::to_string(value).map_err(drop)?;
    lines.send(line).await.map_err(drop)
}
