//! Commands, one file per command.

mod accuracy;
mod bundle;
mod collect;
mod completions;
mod config;
mod diagnose;
mod down;
mod explain;
mod guides;
mod job;
mod list;
mod report;
mod run;
mod status;
mod toolchain;
mod train;
mod up;
mod upgrade;
mod who;

use ::report::stderr_line;
use ::report::text::style::use_ascii_only;
use ::report::text::{stderr, stdout};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::CliCommand;
use crate::config::{Invocation, InvocationError};
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::output::print_error;

/// Runs the command and returns its exit code. Prints errors.
pub async fn execute(Invocation { cli, configuration }: Invocation) -> CommandExitCode {
    if cli.ascii {
        use_ascii_only();
    }
    let result = match cli.command {
        CliCommand::Run(args) => run::run(args).await,
        CliCommand::Job(command) => job::job(command).await,
        CliCommand::Report(args) => report::report(&args),
        CliCommand::List(args) => list::list(&args),
        CliCommand::Upgrade(args) => upgrade::upgrade(args).await,
        CliCommand::Up(args) => up::up(args).await,
        CliCommand::Status(args) => interruptible(status::status(&args)).await,
        CliCommand::Down(args) => interruptible(down::down(&args)).await,
        CliCommand::Diagnose(args) => interruptible(diagnose::diagnose(&args, &configuration.waivers)).await,
        CliCommand::Who(args) => interruptible(who::who(args)).await,
        CliCommand::Explain(args) => explain::explain(&args),
        CliCommand::Guides(args) => guides::guides(&args),
        CliCommand::Collect(args) => interruptible(collect::collect(&args)).await,
        CliCommand::Bundle(command) => bundle::bundle(command).await,
        CliCommand::Accuracy(args) => accuracy::accuracy(args).await,
        CliCommand::Train(args) => train::train(args).await,
        CliCommand::Toolchain(args) => interruptible(toolchain::toolchain(args)).await,
        CliCommand::Config(args) => config::config(&args, configuration, today()),
        CliCommand::Completions { shell } => Ok(completions::completions(shell)),
        CliCommand::Man { directory } => completions::man(&directory),
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

/// Returns the exit code of a command, taking its output into account: a command whose output couldn't be written
/// doesn't succeed.
fn after_stdout(exit: CommandExitCode) -> CommandExitCode {
    let Some(error) = stdout::failure() else { return exit };
    let error = CommandError::Stdout(error);
    print_error(&error, None);
    if matches!(exit, CommandExitCode::Fine | CommandExitCode::Found) { error.exit() } else { exit }
}

/// Returns the day in UTC.
fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// Prints why a command line or its configuration was refused, or the help text that was asked for.
#[must_use]
pub fn print_refusal(error: InvocationError) -> CommandExitCode {
    match error {
        InvocationError::Usage(error) => print_usage(&error),
        InvocationError::Config(error) => {
            let error = CommandError::from(error);
            print_error(&error, error.hint().as_deref());
            error.exit()
        }
    }
}

/// Prints clap's message: a help text or the version to stdout, an error to stderr.
#[must_use]
pub fn print_usage(error: &clap::Error) -> CommandExitCode {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        stderr::print_text(&text);
        return CommandExitCode::Usage;
    }
    stdout::print_text(&text);
    after_stdout(CommandExitCode::Fine)
}

/// Ctrl-C and requests to terminate. Signals are caught from `listen` on, so that none is lost between two steps of a
/// command.
pub(crate) struct Interrupts(Option<(Signal, Signal)>);

impl Interrupts {
    /// Starts to catch signals.
    pub(crate) fn listen() -> Self {
        Self(signal(SignalKind::interrupt()).ok().zip(signal(SignalKind::terminate()).ok()))
    }

    /// Waits for the next signal; forever if signals can't be caught.
    pub(crate) async fn next(&mut self) {
        let Some((interrupt, terminate)) = &mut self.0 else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

/// Runs a command that ends at an interrupt; what the command has started is cleaned up when its future is dropped.
async fn interruptible(
    command: impl Future<Output = Result<CommandExitCode, CommandError>>,
) -> Result<CommandExitCode, CommandError> {
    let mut interrupts = Interrupts::listen();
    tokio::select! {
        result = command => result,
        () = interrupts.next() => {
            stderr_line!("interrupted");
            Ok(CommandExitCode::Interrupted)
        }
    }
}

/// Returns the versions on a fleet in a few words.
fn versions(kubefleet: &str, argocd: Option<&str>) -> String {
    let argocd = argocd.map(|version| format!(", Argo CD {version}")).unwrap_or_default();
    format!("KubeFleet {kubefleet}{argocd}")
}

/// Returns what follows the names of a fleet's members if the fleet has hollow members, too.
fn hollow_members(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", 1 hollow member (no cluster: a process plays its agent)".to_owned(),
        _ => format!(", {count} hollow members (no clusters: a process plays their agents)"),
    }
}
