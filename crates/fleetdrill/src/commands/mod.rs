//! What each command does, one file per command.

mod collect;
mod diagnose;
mod down;
mod explain;
mod ground;
mod guides;
mod identity;
mod list;
mod members;
mod progress;
mod run;
mod status;
mod target;
mod toolchain;
mod train;
mod up;
mod upgrade;

use std::io::Write as _;

use clusters::error::last_lines;
use clusters::state_dir;
use clusters::stderr_line;
use fleet::Fleet;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::{Cli, Command};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_error;
use crate::output::stdout::{self, StderrStream};
use crate::output::style::use_ascii_only;

/// Does what was asked and says how it ended. Errors are printed.
pub async fn execute(cli: Cli) -> Exit {
    if cli.ascii {
        use_ascii_only();
    }
    let result = match cli.command {
        Command::Run(args) => run::run(args).await,
        Command::List(args) => list::list(&args),
        Command::Upgrade(args) => upgrade::upgrade(args).await,
        Command::Up(args) => up::up(args).await,
        Command::Status(args) => interruptible(status::status(&args)).await,
        Command::Down(args) => interruptible(down::down(&args)).await,
        Command::Diagnose(args) => interruptible(diagnose::diagnose(&args)).await,
        Command::Explain(args) => explain::explain(&args),
        Command::Guides(args) => guides::guides(&args),
        Command::Collect(args) => interruptible(collect::collect(&args)).await,
        Command::Train(args) => train::train(args).await,
        Command::Toolchain(args) => interruptible(toolchain::toolchain(args)).await,
    };
    let exit = match result {
        Ok(exit) => exit,
        Err(error) => {
            print_error(&error, error.hint().as_deref());
            error.exit()
        }
    };
    after_stdout(exit)
}

/// How a command ended, with what became of its output on stdout: what couldn't be written isn't fine.
fn after_stdout(exit: Exit) -> Exit {
    let Some(error) = stdout::failure() else { return exit };
    let error = CommandError::Stdout(error);
    print_error(&error, None);
    if matches!(exit, Exit::Fine | Exit::Found) { error.exit() } else { exit }
}

/// Prints what clap has to say: a help text or the version to stdout, an error to stderr.
#[must_use]
pub fn print_usage(error: &clap::Error) -> Exit {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        let _ = StderrStream.write_all(text.as_bytes());
        return Exit::Usage;
    }
    stdout::print_text(&text);
    after_stdout(Exit::Fine)
}

/// A Ctrl-C or a request to terminate. It is listened for from its making on, so that none gets lost between two steps of
/// a command.
pub(crate) struct Interrupts(Option<(Signal, Signal)>);

impl Interrupts {
    /// Begins to listen.
    pub(crate) fn listen() -> Self {
        Self(signal(SignalKind::interrupt()).ok().zip(signal(SignalKind::terminate()).ok()))
    }

    /// Fires at the next one; never where the system doesn't let us listen.
    pub(crate) async fn next(&mut self) {
        let Some((interrupt, terminate)) = &mut self.0 else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

/// A command that ends at an interrupt; what it had begun cleans up as it is dropped.
async fn interruptible(command: impl Future<Output = Result<Exit, CommandError>>) -> Result<Exit, CommandError> {
    let mut interrupts = Interrupts::listen();
    tokio::select! {
        result = command => result,
        () = interrupts.next() => {
            stderr_line!("interrupted");
            Ok(Exit::Interrupted)
        }
    }
}

/// A fleet that is up and whole.
async fn open_fleet(name: &str) -> Result<Fleet, CommandError> {
    let dir = state_dir::fleet(name)?;
    if state_dir::is_alive(&dir) && !dir.join("fleet.json").exists() {
        return Err(CommandError::Usage {
            message: format!("fleet `{name}` is just starting"),
            hint: Some(format!("wait until `fleetdrill status {name}` shows its version")),
        });
    }
    let fleet = Fleet::open(name).await?;
    let processes = fleet.keeper().processes().await?;
    if let Some((process, how)) = processes.iter().find_map(|p| Some((&p.name, p.exit.as_ref()?))) {
        return Err(CommandError::Environment {
            message: format!(
                "fleet `{name}` is broken: {process} ended ({how}){}",
                last_lines(&fleet.keeper().log_tail(process))
            ),
            hint: Some(format!("end it and start a new one: fleetdrill down {name} && fleetdrill up {name}")),
        });
    }
    Ok(fleet)
}

/// What runs on a fleet, in a few words.
fn versions(kubefleet: &str, argocd: Option<&str>) -> String {
    let argocd = argocd.map(|version| format!(", Argo CD {version}")).unwrap_or_default();
    format!("KubeFleet {kubefleet}{argocd}")
}
