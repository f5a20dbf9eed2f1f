//! Lines on stderr, for people and for the logs of processes.
//!
//! `eprintln!` panics if stderr is a closed pipe or on a full disk, and a panic ends a command with a meaningless exit
//! code. [`stderr_line!`](crate::stderr_line) drops a line that can't be written: there is nowhere left to report it
//! to.

use std::fmt;
use std::io::{self, Write as _};

/// Writes a line to stderr, with the arguments of [`format!`]; never panics.
#[macro_export]
macro_rules! stderr_line {
    ($($argument:tt)*) => {
        $crate::stderr::write_line(::std::format_args!($($argument)*))
    };
}

/// Writes a line to stderr; a line that can't be written is dropped.
pub fn write_line(text: fmt::Arguments<'_>) {
    // One call, so that the lines of several threads don't mix.
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}
