//! Tests of the remedies that findings print: their commands are pasted into a shell on a real fleet, the fleet has to recover, and a
//! fresh change has to go through.
//!
//! `remedies.yaml` has what a person decides. The test on a fleet is run where `FLEETDRILL_REMEDIES_AGE` says for how many seconds
//! the faults last before (`make remedies`, and `make test-long` with ten minutes); `FLEETDRILL_REMEDIES_ONLY` names the codes
//! to try, separated by commas.

#![expect(clippy::print_stdout, reason = "the table is the test's result, and trials take minutes")]

mod looks;
mod outcome;
mod table;
mod trial;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clusters::supervisor::SupervisorProgram;
use fleet::Fleet;
use fleetdrill::accuracy::{DrillCatalogue, FaultCase};
use fleetdrill::components::FleetToolchain;
use fleetdrill::fleet_source::{ClusterSource, FleetBuilder, FleetNeeds, FleetPlan, FleetProgress};
use fleetdrill::run::new_id;
use fleetdrill::selection::ScenarioSelection;
use fleetdrill::suite::Suite;
use fleetdrill::train::step_runner;
use futures::future::join_all;
use libtest_mimic::{Arguments, Failed, Trial as Test};
use steps::World;
use tokio::sync::{Semaphore, watch};

use crate::outcome::{Outcome, RemedyResult};
use crate::table::{CodeRow, RemedyTable};
use crate::trial::{Trial, TrialFleet};

/// Seconds that faults last before their remedies are run.
const AGE: &str = "FLEETDRILL_REMEDIES_AGE";

/// Codes to try.
const ONLY: &str = "FLEETDRILL_REMEDIES_ONLY";

/// Number of trials that run steps or commands at the same time.
const BUSY: usize = 8;

/// Number of trials at the same time that have a member of their own.
const WITH_MEMBERS: usize = 6;

/// Members of the fleet.
const MEMBERS: usize = 3;

fn main() -> ExitCode {
    let age = std::env::var(AGE).ok();
    let tests = vec![
        Test::test("the_table_has_every_remedy", the_table_has_every_remedy),
        Test::test("the_table_has_valid_steps", the_table_has_valid_steps),
        Test::test("printed_remedies_hold", printed_remedies_hold).with_ignored_flag(age.is_none()),
    ];
    // Trials print as they end, so they run on the main thread.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..Arguments::from_args() }, tests).exit_code()
}

fn the_table_has_every_remedy() -> Result<(), Failed> {
    let gaps = table::gaps(&table::table());
    if gaps.is_empty() { Ok(()) } else { Err(gaps.join("\n").into()) }
}

fn the_table_has_valid_steps() -> Result<(), Failed> {
    let vocabulary = World::vocabulary();
    let table = table::table();
    let texts = table.values().flat_map(|row| {
        let own = [Some(&row.more), row.fresh.as_ref()].into_iter().flatten();
        let of_remedies =
            row.remedies.iter().flat_map(|remedy| [&remedy.first, &remedy.then].into_iter().chain(&remedy.fresh));
        own.chain(of_remedies).collect::<Vec<_>>()
    });
    for step in texts.flat_map(|text| table::steps(text)) {
        if !vocabulary.find(&step).is_ok_and(|found| found.is_some()) {
            return Err(format!("no step is defined like this: {}", step.value).into());
        }
    }
    Ok(())
}

fn printed_remedies_hold() -> Result<(), Failed> {
    let age = std::env::var(AGE).unwrap_or_else(|_| "0".into());
    let age = Duration::from_secs(age.parse().map_err(|_| format!("{AGE}={age}: a number of seconds"))?);
    let runtime = tokio::runtime::Runtime::new()?;
    let results = runtime.block_on(step_runner::quietly(tried(age)));
    println!("{}", outcome::table(&results, age));
    let bad = results.iter().filter(|result| !result.is_good()).count();
    if bad == 0 { Ok(()) } else { Err(format!("{bad} of {} remedies aren't as they should be", results.len()).into()) }
}

/// Progress of the fleet's start.
struct Printed;

impl FleetProgress for Printed {
    fn build(&self, event: toolchain::BuildEvent) {
        println!("{event}");
    }

    fn phase(&self, text: &str) {
        println!("{text}");
    }
}

/// Starts a fleet and tries all remedies.
async fn tried(age: Duration) -> Vec<RemedyResult> {
    let dir = tempfile::Builder::new().prefix("fleetdrill-test-").tempdir().expect("a directory");
    let suite = Suite::load(&ScenarioSelection::default()).expect("usable features");
    let components = FleetToolchain::open().expect("the toolchain");
    let kubectl = components.kubectl(&|event| println!("{event}")).await.expect("kubectl");
    let builder = FleetBuilder { components, progress: Arc::new(Printed) };
    let needs = FleetNeeds { pods: true, ..FleetNeeds::default() };
    let run = new_id();
    let plan = FleetPlan {
        name: format!("remedies-{run}"),
        members: MEMBERS,
        clusters: ClusterSource::Local,
        kubefleet: builder.components.kubefleet(None).expect("a version"),
    };
    let name = plan.name.clone();
    let probed = plan.check(&needs, &builder.components).await.expect("a plan").probe(&builder).await.expect("agents");
    let catalogue = DrillCatalogue::new(&suite, &probed.agents.capabilities, probed.profile());
    let built = probed.build(&needs, &builder).await.expect("components");
    let program = SupervisorProgram(PathBuf::from(env!("CARGO_BIN_EXE_fleetdrill")));
    let options = built.components.clone().fleet_options(name, MEMBERS, program);
    let fleet = Fleet::create(options, Arc::new(|_| {})).await.expect("a fleet");
    let results = on_fleet(&fleet, &run, &catalogue, kubectl.parent().expect("a directory"), dir.path(), age).await;
    fleet.end().await.expect("the fleet ends");
    results
}

async fn on_fleet(
    fleet: &Fleet,
    run: &str,
    catalogue: &DrillCatalogue,
    kubectl: &Path,
    dir: &Path,
    age: Duration,
) -> Vec<RemedyResult> {
    let (table, vocabulary) = (table::table(), World::vocabulary());
    let (sender, looks) = watch::channel(None);
    let trial_fleet = TrialFleet {
        fleet,
        run,
        kubectl: kubectl.to_owned(),
        dir: dir.to_owned(),
        age,
        vocabulary: &vocabulary,
        busy: Semaphore::new(BUSY),
        members: Semaphore::new(WITH_MEMBERS),
        looks,
    };
    trial_fleet.write_editor();
    let (trials, mut results) = planned(&table, catalogue);
    println!("{} trials", trials.len());
    let all = join_all(trials.iter().enumerate().map(|(number, trial)| trial_fleet.run(trial, number)));
    tokio::select! {
        all = all => results.extend(all.into_iter().flatten()),
        () = looks::look(fleet, &sender) => {}
    }
    results.sort_by(|a, b| (&a.code, a.number).cmp(&(&b.code, b.number)));
    results
}

/// Returns the trials, and the results of remedies that aren't run.
fn planned<'a>(table: &'a RemedyTable, catalogue: &'a DrillCatalogue) -> (Vec<Trial<'a>>, Vec<RemedyResult>) {
    let only = std::env::var(ONLY).unwrap_or_default();
    let is_wanted = |code: &str| only.is_empty() || only.split(',').any(|wanted| wanted == code);
    let (mut trials, mut results) = (Vec::new(), Vec::new());
    for (code, row) in table.iter().filter(|(code, _)| is_wanted(code)) {
        let count = diagnosis::entry(code).map_or(0, diagnosis::CatalogueEntry::remedy_count);
        let not_run = |number: usize, why: &str| RemedyResult {
            code: code.clone(),
            number,
            outcome: Outcome::NotRun { why: why.to_owned() },
        };
        if let Some(why) = &row.not_run {
            results.extend((1..=count).map(|number| not_run(number, why)));
            continue;
        }
        let rows = row.remedies.iter().enumerate();
        results.extend(rows.filter_map(|(n, remedy)| Some(not_run(n + 1, remedy.not_run.as_ref()?))));
        match fault(code, row, catalogue) {
            Some(fault) => trials.extend(of_code(code, row, fault)),
            None => results.extend((1..=count).map(|number| RemedyResult {
                code: code.clone(),
                number,
                outcome: Outcome::NotInduced { why: "no scenario has this fault".into() },
            })),
        }
    }
    (trials, results)
}

/// Returns a trial for each remedy that repairs; those that only read belong to the first.
fn of_code<'a>(code: &'a str, row: &'a CodeRow, fault: &'a FaultCase) -> Vec<Trial<'a>> {
    let numbers = |acts: bool| {
        let rows = row.remedies.iter().enumerate();
        rows.filter(move |(_, remedy)| remedy.not_run.is_none() && remedy.acts() == acts).map(|(n, _)| n)
    };
    let mut groups: Vec<Vec<usize>> = numbers(true).map(|n| vec![n]).collect();
    let reads: Vec<usize> = numbers(false).collect();
    match groups.first_mut() {
        Some(first) => drop(first.splice(0..0, reads)),
        None if reads.is_empty() => {}
        None => groups.push(reads),
    }
    groups.into_iter().map(|remedies| Trial { code, row, fault, remedies }).collect()
}

/// Returns the fault that a row names.
fn fault<'a>(code: &str, row: &CodeRow, catalogue: &'a DrillCatalogue) -> Option<&'a FaultCase> {
    let has_code = |fault: &&FaultCase| fault.diagnoses.iter().any(|asserted| asserted.code == code);
    let mut faults = catalogue.faults.iter().filter(has_code);
    faults.find(|fault| fault.place.name.starts_with(&row.scenario))
}
