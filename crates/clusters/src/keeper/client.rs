//! The side of those who ask a keeper.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, watch};
use tokio_util::codec::{Framed, LinesCodec};

use super::children::log_tail;
use super::protocol::{Exit, Farewell, ProcessSpec, ProcessStatus, Request, Response};
use crate::error::{ClusterError, last_lines};
use crate::state_dir;

/// The program that can be a keeper: one that calls [`super::serve`] for `keeper serve DIR` and [`super::exec`] for
/// `keeper exec ...`. That is `fleetdrill` itself.
#[derive(Clone, Debug)]
pub struct Program(pub PathBuf);

impl Program {
    /// This very program.
    ///
    /// # Errors
    /// When its path can't be found out.
    pub fn this() -> Result<Self, ClusterError> {
        std::env::current_exe().map(Self).map_err(|e| ClusterError::Keeper(e.to_string()))
    }
}

/// A keeper that can be asked. Clones ask the same one.
#[derive(Clone, Debug)]
pub struct Keeper {
    dir: PathBuf,
    /// The keeper's process, when it is ours.
    owned: Option<Arc<Owned>>,
}

/// A keeper's process that is ours. Dropping it ends the fleet unless it was kept, and waits for that.
#[derive(Debug)]
struct Owned {
    child: Mutex<Child>,
    kept: AtomicBool,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if self.kept.load(Ordering::Relaxed) {
            return;
        }
        let child = self.child.get_mut();
        drop(child.stdin.take());
        wait_a_while(child);
    }
}

/// Waits for a process that is about to end, for a little longer than what it runs at its end may take. A fleet that is said to
/// have ended must not be seen any more, and what is dropped can't wait in any other way.
fn wait_a_while(child: &mut Child) {
    for _ in 0..14_000 {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Keeper {
    /// Starts a keeper for a new fleet in `dir`, which must not exist yet. The fleet lives as long as this program does,
    /// or until [`Keeper::keep`].
    ///
    /// # Errors
    /// When the directory can't be made or the keeper doesn't start.
    pub async fn spawn(program: &Program, dir: &Path) -> Result<Self, ClusterError> {
        state_dir::create(dir)?;
        let mut unready = Unready { dir, child: None };
        let log = dir.join("keeper.log");
        let err = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&log);
        let err = err.map_err(ClusterError::io("write", &log))?;
        let child = Command::new(&program.0)
            .args(["keeper", "serve"])
            .arg(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(err)
            .spawn()
            .map_err(|e| ClusterError::Keeper(format!("{}: {e}", program.0.display())))?;
        let mut ready = String::new();
        if let Some(stdout) = unready.child.insert(child).stdout.take() {
            let _ = BufReader::new(stdout).read_line(&mut ready).await;
        }
        if ready.trim() != "ready" {
            return Err(ClusterError::Keeper(format!("it didn't start{}", last_lines(&log_tail(&log)))));
        }
        let owned = |child| Arc::new(Owned { child: Mutex::new(child), kept: AtomicBool::new(false) });
        let owned = unready.child.take().map(owned);
        std::mem::forget(unready);
        Ok(Self { dir: dir.to_owned(), owned })
    }

    /// The keeper of a fleet that is up.
    ///
    /// # Errors
    /// When no keeper lives in `dir`.
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

    /// The path of a process's log.
    #[must_use]
    pub fn log(&self, process: &str) -> PathBuf {
        self.dir.join("logs").join(format!("{process}.log"))
    }

    /// What a process has logged.
    ///
    /// # Errors
    /// When its log can't be read.
    pub async fn read_log(&self, process: &str) -> Result<String, ClusterError> {
        let path = self.log(process);
        let read = tokio::fs::read(&path).await.map_err(ClusterError::io("read", &path))?;
        Ok(String::from_utf8_lossy(&read).into_owned())
    }

    /// The end of a process's log, at most 15 lines.
    #[must_use]
    pub fn log_tail(&self, process: &str) -> String {
        log_tail(&self.log(process))
    }

    /// Starts a process.
    ///
    /// # Errors
    /// When one of that name runs, or the program can't be started.
    pub async fn start(&self, spec: ProcessSpec) -> Result<(), ClusterError> {
        let action = format!("start {}", spec.name);
        self.done(Request::Start(spec), action).await
    }

    /// Kills a process and waits until it is gone; no error when it doesn't run.
    ///
    /// # Errors
    /// When there never was one of that name.
    pub async fn stop(&self, name: &str) -> Result<(), ClusterError> {
        self.done(Request::Stop { name: name.to_owned() }, format!("stop {name}")).await
    }

    /// Kills a process and forgets it, so that [`Keeper::processes`] no longer shows it.
    ///
    /// # Errors
    /// When there never was one of that name.
    pub async fn remove(&self, name: &str) -> Result<(), ClusterError> {
        self.done(Request::Remove { name: name.to_owned() }, format!("remove {name}")).await
    }

    /// Starts a process again as it was started first.
    ///
    /// # Errors
    /// When it runs, or there never was one of that name.
    pub async fn start_again(&self, name: &str) -> Result<(), ClusterError> {
        self.start_again_with(name, &[]).await
    }

    /// Starts a process again with these arguments behind those that it has.
    ///
    /// # Errors
    /// When it runs, or there never was one of that name.
    pub async fn start_again_with(&self, name: &str, more: &[String]) -> Result<(), ClusterError> {
        let request = Request::StartAgain { name: name.to_owned(), more: more.to_vec() };
        self.done(request, format!("start {name} again")).await
    }

    /// Makes another process of one, under its name: it is killed and the other started, or, where it was stopped, the other
    /// is what will be started again.
    ///
    /// # Errors
    /// When there never was one of that name, or the program can't be started.
    pub async fn exchange(&self, spec: ProcessSpec) -> Result<(), ClusterError> {
        let action = format!("exchange {}", spec.name);
        self.done(Request::Exchange(spec), action).await
    }

    /// All processes.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn processes(&self) -> Result<Vec<ProcessStatus>, ClusterError> {
        match self.ask(Request::List).await? {
            Response::Processes(list) => Ok(list),
            other => Err(ClusterError::Keeper(format!("unexpected answer `{other}`"))),
        }
    }

    /// Reserves ports on 127.0.0.1 for the fleet's life.
    ///
    /// # Errors
    /// When the system gives none.
    pub async fn reserve<const N: usize>(&self) -> Result<[u16; N], ClusterError> {
        match self.ask(Request::Reserve { count: N }).await? {
            Response::Ports(ports) => ports
                .try_into()
                .map_err(|ports: Vec<u16>| ClusterError::Keeper(format!("it reserved {} ports, not {N}", ports.len()))),
            Response::Refused(reason) => Err(ClusterError::Refused { action: "reserve ports".into(), reason }),
            other => Err(ClusterError::Keeper(format!("unexpected answer `{other}`"))),
        }
    }

    /// Has a command run when the fleet ends, after all its processes.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn at_end(&self, farewell: Farewell) -> Result<(), ClusterError> {
        let action = format!("end {} with the fleet", farewell.name);
        self.done(Request::AtEnd(farewell), action).await
    }

    /// Forgets such a command.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn not_at_end(&self, name: &str) -> Result<(), ClusterError> {
        self.done(Request::NotAtEnd { name: name.to_owned() }, format!("forget the end of {name}")).await
    }

    /// Lets the fleet outlive this program.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn keep(&self) -> Result<(), ClusterError> {
        self.done(Request::Keep, "keep the fleet".into()).await?;
        if let Some(owned) = &self.owned {
            owned.kept.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Has the fleet end by itself after a time, counted in whole seconds.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn end_after(&self, time: Duration) -> Result<(), ClusterError> {
        self.done(Request::EndAfter { seconds: time.as_secs() }, "set the fleet's end".into()).await
    }

    /// Ends the fleet and waits until nothing of it is left.
    ///
    /// # Errors
    /// When the keeper doesn't answer.
    pub async fn end(&self) -> Result<(), ClusterError> {
        let end = state_dir::End::of(&self.dir);
        self.done(Request::End, "end the fleet".into()).await?;
        match &self.owned {
            Some(owned) => drop(owned.child.lock().await.wait().await),
            None => {
                // A keeper that dies over it leaves its directory.
                while !end.is_reached() && (state_dir::is_alive(&self.dir) || !self.dir.exists()) {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
        Ok(())
    }

    /// Processes that end without having been stopped: the channel's value is the first of them. A keeper that dies
    /// itself is reported as `keeper`.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub async fn watch(&self) -> Result<watch::Receiver<Option<Exit>>, ClusterError> {
        let mut lines = self.open().await?;
        say(&mut lines, &Request::Watch).await?;
        let (sender, receiver) = watch::channel(None);
        let dir = self.dir.clone();
        tokio::spawn(async move {
            while let Some(Ok(line)) = lines.next().await {
                let Ok(exit) = serde_json::from_str::<Exit>(&line) else { continue };
                sender.send_if_modified(|first| {
                    if first.is_none() {
                        *first = Some(exit);
                        true
                    } else {
                        false
                    }
                });
            }
            let gone = Exit { name: "keeper".into(), status: "gone".into(), log: log_tail(&dir.join("keeper.log")) };
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

    async fn done(&self, request: Request, action: String) -> Result<(), ClusterError> {
        match self.ask(request).await? {
            Response::Done => Ok(()),
            Response::Refused(reason) => Err(ClusterError::Refused { action, reason }),
            other => Err(ClusterError::Keeper(format!("unexpected answer `{other}`"))),
        }
    }

    async fn ask(&self, request: Request) -> Result<Response, ClusterError> {
        let mut lines = self.open().await?;
        say(&mut lines, &request).await?;
        match lines.next().await {
            Some(Ok(line)) => serde_json::from_str(&line).map_err(|e| ClusterError::Keeper(e.to_string())),
            Some(Err(error)) => Err(ClusterError::Keeper(error.to_string())),
            None => Err(ClusterError::Keeper("it ended".into())),
        }
    }

    async fn open(&self) -> Result<Framed<UnixStream, LinesCodec>, ClusterError> {
        let socket = self.dir.join("keeper.sock");
        let started = Instant::now();
        loop {
            match UnixStream::connect(&socket).await {
                Ok(stream) => return Ok(Framed::new(stream, LinesCodec::new())),
                // A keeper that has just been started makes its socket a moment later than its directory.
                Err(error) if error.kind() == ErrorKind::NotFound && started.elapsed() < SOCKET_LIMIT => {
                    if !state_dir::is_alive(&self.dir) {
                        return Err(ClusterError::Keeper("it has ended".into()));
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => return Err(ClusterError::Keeper(error.to_string())),
            }
        }
    }
}

/// How long a keeper that is just starting may take until it has its socket.
const SOCKET_LIMIT: Duration = Duration::from_secs(5);

/// A new fleet whose keeper isn't ready yet, and so has no processes. A keeper removes its directory itself; one that
/// didn't start, or was killed while it did, can't.
struct Unready<'a> {
    dir: &'a Path,
    child: Option<Child>,
}

impl Drop for Unready<'_> {
    fn drop(&mut self) {
        // There is nobody to tell of errors: whoever drops it has one of its own, or was interrupted.
        if let Some(child) = &mut self.child {
            let _ = child.start_kill();
            wait_a_while(child);
        }
        let _ = state_dir::remove(self.dir);
    }
}

async fn say(lines: &mut Framed<UnixStream, LinesCodec>, request: &Request) -> Result<(), ClusterError> {
    let line = serde_json::to_string(request).map_err(|e| ClusterError::Keeper(e.to_string()))?;
    lines.send(line).await.map_err(|e| ClusterError::Keeper(e.to_string()))
}
