//! Stderr, where commands print progress, warnings and errors.
//!
//! Nothing here returns an error: there is no stream left to report it to.

use std::fmt;
use std::io::{self, Write};

use super::terminal::harmless;

/// Prints a line to stderr, with the arguments of [`format!`]; never panics.
#[macro_export]
macro_rules! stderr_line {
    ($($argument:tt)*) => {
        $crate::text::stderr::print_line(::std::format_args!($($argument)*))
    };
}

/// Prints a text, with its colours if stderr shows them, and without anything that would steer a terminal ([`harmless`]).
pub fn print_text(text: &str) {
    // One call, so that the lines of several threads don't mix.
    let _ = anstream::stderr().write_all(harmless(text).as_bytes());
}

/// Prints a line, as [`print_text`] does.
pub fn print_line(text: fmt::Arguments<'_>) {
    print_text(&format!("{text}\n"));
}

/// Stderr as a stream for reporters.
#[derive(Clone, Copy, Debug)]
pub struct StderrStream;

impl Write for StderrStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        print_text(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
