//! A command that runs while a test does something to it.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::process::Signal;

use crate::place::{Said, until_or};
use crate::proc;

/// A running command, which is killed when it is dropped.
pub struct Running {
    child: Child,
    stdout: Stream,
    stderr: Stream,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        let stdout = Stream::read(child.stdout.take().expect("piped"));
        let stderr = Stream::read(child.stderr.take().expect("piped"));
        Self { child, stdout, stderr }
    }

    /// Standard output as far as it has come.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        proc::kill(self.id(), signal);
    }

    /// Waits until the command ends.
    #[track_caller]
    pub fn end(mut self) -> Said {
        let status = until_or(
            "the command ends",
            || self.child.try_wait().expect("it is ours"),
            || format!("stderr:\n{}", self.stderr.text()),
        );
        Said { code: status.code(), stdout: self.stdout.read_to_its_end(), stderr: self.stderr.read_to_its_end() }
    }

    /// Waits until a text appears on the command's stderr, and returns the text behind it.
    #[track_caller]
    pub fn until_it_says(&mut self, part: &str) -> String {
        until_or(
            &format!("the command says `{part}`"),
            || {
                self.still_runs();
                self.stderr.text().split_once(part).map(|(_, rest)| rest.to_owned())
            },
            String::new,
        )
    }

    /// Fails if the command has ended already.
    #[track_caller]
    pub fn still_runs(&mut self) {
        if let Some(status) = self.child.try_wait().expect("it is ours") {
            panic!("the command ended ({status}):\n{}", self.stderr.read_to_its_end());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Output of the command, read in the background so that the command never blocks.
struct Stream {
    text: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Stream {
    fn read(mut from: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&text);
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                into.lock().unwrap_or_else(PoisonError::into_inner).extend(&buffer[..n]);
            }
        });
        Self { text, thread: Some(thread) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn read_to_its_end(&mut self) -> String {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.text()
    }
}
