//! Stdout, where commands print their results.
//!
//! `println!` panics if stdout can't be written to. This module keeps the first error until the command ends, when
//! [`failure`] returns it: a command must not succeed if its result was lost. A closed pipe is no failure, because its
//! reader has read enough.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use super::terminal::harmless;

/// State of stdout.
enum StdoutState {
    Open,
    /// The reader has closed the pipe.
    Closed,
    Failed(io::Error),
}

static STATE: Mutex<StdoutState> = Mutex::new(StdoutState::Open);

/// Prints a line to stdout, with the arguments of [`format!`]; never panics.
#[macro_export]
macro_rules! stdout_line {
    ($($argument:tt)*) => {
        $crate::text::stdout::print_line(::std::format_args!($($argument)*))
    };
}

/// Prints a text, with its colours if stdout shows them, and without anything that would steer a terminal ([`harmless`]).
pub fn print_text(text: &str) {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    if !matches!(*state, StdoutState::Open) {
        return;
    }
    let mut out = anstream::stdout();
    if let Err(error) = out.write_all(harmless(text).as_bytes()).and_then(|()| out.flush()) {
        *state =
            if error.kind() == io::ErrorKind::BrokenPipe { StdoutState::Closed } else { StdoutState::Failed(error) };
    }
}

/// Prints a line, as [`print_text`] does.
pub fn print_line(text: fmt::Arguments<'_>) {
    print_text(&format!("{text}\n"));
}

/// Returns the error of the first failed write, once; `None` for a closed pipe.
pub fn failure() -> Option<io::Error> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *state, StdoutState::Closed) {
        StdoutState::Failed(error) => Some(error),
        other => {
            *state = other;
            None
        }
    }
}

/// Stdout as a stream for reporters. Its writes return no error: [`failure`] returns the first one.
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
