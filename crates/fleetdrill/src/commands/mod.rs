//! What each command does, one file per command.

mod diagnose;
mod down;
mod list;
mod progress;
mod run;
mod status;
mod toolchain;
mod up;

use crate::cli::{Cli, Command};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_error;

/// Does what was asked and says how it ended. Errors are printed.
pub async fn execute(cli: Cli) -> Exit {
    let result = match cli.command {
        Command::Run(args) => run::run(args).await,
        Command::List(args) => list::list(&args),
        Command::Up(args) => interruptible(up::up(args)).await,
        Command::Status(args) => status::status(&args).await,
        Command::Down(args) => down::down(&args).await,
        Command::Diagnose(args) => interruptible(diagnose::diagnose(&args)).await,
        Command::Toolchain(args) => interruptible(toolchain::toolchain(args)).await,
    };
    match result {
        Ok(exit) => exit,
        Err(error) => {
            print_error(&error, error.hint().as_deref());
            error.exit()
        }
    }
}

/// Fires at Ctrl-C or a request to terminate.
pub(crate) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// A command that ends at an interrupt; what it had begun cleans up as it is dropped.
async fn interruptible(command: impl Future<Output = Result<Exit, CommandError>>) -> Result<Exit, CommandError> {
    tokio::select! {
        result = command => result,
        () = interrupted() => {
            eprintln!("interrupted");
            Ok(Exit::Interrupted)
        }
    }
}
