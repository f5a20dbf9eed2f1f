//! `fleetdrill completions` and `fleetdrill man`.

use std::path::Path;

use ::report::text::stdout::StdoutStream;
use clap_complete::{Shell, generate};
use report::stderr_line;

use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::help;

/// Name of the program that shells complete.
const PROGRAM: &str = "fleetdrill";

pub(super) fn completions(shell: Shell) -> CommandExitCode {
    generate(shell, &mut help::command(), PROGRAM, &mut StdoutStream);
    CommandExitCode::Fine
}

pub(super) fn man(directory: &Path) -> Result<CommandExitCode, CommandError> {
    let failed = |error: std::io::Error| CommandError::Usage {
        message: format!("failed to write the man pages to {}: {error}", directory.display()),
        hint: None,
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(help::command(), directory).map_err(failed)?;
    stderr_line!("the man pages are in {}: man -l {}", directory.display(), directory.join("fleetdrill.1").display());
    Ok(CommandExitCode::Fine)
}
