//! Chaos on fleetdrill itself: at moments that follow from a seed, a blow hits a command, its fleet's supervisor, a process of the fleet
//! or the disk, and it is checked what becomes of it.
//!
//! `make chaos` runs a series: `FLEETDRILL_CHAOS_KILLS` says how many blows, `FLEETDRILL_CHAOS_SEED` which, and
//! `FLEETDRILL_CHAOS_ONLY` takes only those whose command, target and fault have its words, e.g. `run keeper`. `FLEETDRILL_CHAOS_LEDGER` is
//! the path of the ledger; the series goes on where the ledger ends.
//!
//! `make soak` keeps a fleet up for `FLEETDRILL_SOAK_MINUTES`, and runs scenarios on it.
//!
//! Both run in a PID and a mount namespace of their own. So they can't hit anybody else's process, see each process that is
//! left, and leave nothing behind when they are killed.

#![expect(clippy::print_stdout, reason = "the table is the test's result, and blows take seconds")]

mod aftermath;
mod blow;
mod ledger;
#[path = "../command/proc.rs"]
#[expect(dead_code, reason = "shared with the command's other tests")]
mod proc;
mod processes;
mod series;
mod soak;
mod stage;
mod strike;
mod table;
mod tests;
mod verdict;

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

/// Number of blows of a series.
const KILLS: &str = "FLEETDRILL_CHAOS_KILLS";

/// Number of minutes for which a fleet stays up.
const SOAK: &str = "FLEETDRILL_SOAK_MINUTES";

/// Set in the namespaces of a series.
const INSIDE: &str = "FLEETDRILL_CHAOS_INSIDE";

fn main() -> ExitCode {
    let (kills, soak) = (std::env::var(KILLS).ok(), std::env::var(SOAK).ok());
    if std::env::var_os(INSIDE).is_some() {
        let done = match soak.as_deref() {
            Some(minutes) => soak::run(minutes),
            None => series::run(kills.as_deref().unwrap_or_default()),
        };
        return match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                println!("error: {why}");
                ExitCode::FAILURE
            }
        };
    }
    let tests = vec![
        Trial::test("a_seed_draws_the_same_blows", tests::a_seed_draws_the_same_blows),
        Trial::test("a_series_goes_on_where_its_ledger_ends", tests::a_series_goes_on_where_its_ledger_ends),
        Trial::test("the_table_counts_what_was_wrong", tests::the_table_counts_what_was_wrong),
        Trial::test("verdicts_tell_right_from_wrong", tests::verdicts_tell_right_from_wrong),
        Trial::test("a_growth_is_told_from_noise", tests::a_growth_is_told_from_noise),
        Trial::test("blows_do_no_harm", in_namespaces).with_ignored_flag(kills.is_none()),
        Trial::test("a_supervisor_does_not_grow", in_namespaces).with_ignored_flag(soak.is_none()),
    ];
    // The series prints as it goes, so it runs on the main thread.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..Arguments::from_args() }, tests).exit_code()
}

/// Runs the series in namespaces of its own. Their first process is a shell, which reaps the processes whose parents have ended.
fn in_namespaces() -> Result<(), Failed> {
    let program = std::env::current_exe()?;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["sh", "-c", "\"$0\"; exit $?"]).arg(program).env(INSIDE, "1");
    let status = command.status().map_err(|error| format!("`unshare` (of util-linux) is needed: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the series failed ({:?})", status.code().or(status.signal())).into())
    }
}
