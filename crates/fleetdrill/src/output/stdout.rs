//! Stdout: what commands print as their result.
//!
//! `println!` panics where stdout can't be written to. Here the first failure is kept until the command has ended, and
//! [`failure`] tells it then: a command whose result didn't get out must not end as if it had. A closed pipe is no failure:
//! whoever reads has enough.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// What became of stdout.
enum State {
    Open,
    /// The reader has gone.
    Closed,
    Failed(io::Error),
}

static STATE: Mutex<State> = Mutex::new(State::Open);

/// Prints a line to stdout, with the arguments of [`format!`]; never panics.
macro_rules! stdout_line {
    ($($argument:tt)*) => {
        $crate::output::stdout::print_line(::std::format_args!($($argument)*))
    };
}
pub(crate) use stdout_line;

/// Prints a text with its colours, or without them where nobody sees them.
pub fn print_text(text: &str) {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    if !matches!(*state, State::Open) {
        return;
    }
    let mut out = anstream::stdout();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        *state = if error.kind() == io::ErrorKind::BrokenPipe { State::Closed } else { State::Failed(error) };
    }
}

/// Prints a line, as [`print_text`] does.
pub fn print_line(text: fmt::Arguments<'_>) {
    print_text(&format!("{text}\n"));
}

/// The error of the first write that failed, once; none for a closed pipe.
pub fn failure() -> Option<io::Error> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *state, State::Closed) {
        State::Failed(error) => Some(error),
        other => {
            *state = other;
            None
        }
    }
}

/// Stdout as a stream for reporters. Its writes don't fail: [`failure`] tells what went wrong.
#[derive(Clone, Copy, Debug)]
pub struct StdoutStream;

impl Write for StdoutStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        print_text(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stderr as a stream for reporters, with colours where somebody sees them. Its writes don't fail: there is nowhere left to
/// report that to.
#[derive(Clone, Copy, Debug)]
pub struct StderrStream;

impl Write for StderrStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = anstream::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
