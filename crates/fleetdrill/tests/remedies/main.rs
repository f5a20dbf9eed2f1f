//! Tests of the remedies that findings print: their commands are pasted into a shell on a real fleet, the fleet has to recover, and a
//! fresh change has to go through.
//!
//! `remedies.yaml` has what a person decides. The test on a fleet is run where `FLEETDRILL_REMEDIES_AGE` says for how many seconds
//! the faults last before (`make remedies`, and `make test-long` with ten minutes); `FLEETDRILL_REMEDIES_ONLY` names the codes
//! to try, separated by commas, and `FLEETDRILL_REMEDIES_KUBEFLEET` the version.

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
use fleetdrill::component_version::ArgoCdRequest;
use fleetdrill::components::FleetToolchain;
use fleetdrill::fleet_source::{ClusterSource, FleetBuilder, FleetNeeds, FleetPlan, FleetProgress};
use fleetdrill::run_seed::new_id;
use fleetdrill::selection::ScenarioSelection;
use fleetdrill::suite::{Suite, codes};
use fleetdrill::train::solution::ShellSetup;
use fleetdrill::train::step_runner;
use fleetdrill::train::verify::shell_setup;
use futures::future::join_all;
use libtest_mimic::{Arguments, Failed, Trial as Test};
use steps::World;
use tokio::sync::{Semaphore, watch};

use crate::outcome::{Outcome, RemedyResult};
use crate::table::{CodeRow, RemedyRow, RemedyTable};
use crate::trial::{Trial, TrialFleet};

/// Seconds that faults last before their remedies are run.
const AGE: &str = "FLEETDRILL_REMEDIES_AGE";

/// Codes to try.
const ONLY: &str = "FLEETDRILL_REMEDIES_ONLY";

/// Version of KubeFleet; the default one without it.
const KUBEFLEET: &str = "FLEETDRILL_REMEDIES_KUBEFLEET";

/// Number of trials that run steps or commands at the same time.
const BUSY: usize = 6;

/// Number of trials at the same time that have a member of their own.
const WITH_MEMBERS: usize = 6;

/// Beginning of the codes whose faults need Argo CD.
const ARGOCD_FAMILIES: &str = "AR-";

/// Members of the fleet.
const MEMBERS: usize = 3;

fn main() -> ExitCode {
    let age = std::env::var(AGE).ok();
    let tests = vec![
        Test::test("the_table_has_every_remedy", the_table_has_every_remedy),
        Test::test("the_table_has_valid_steps", the_table_has_valid_steps),
        Test::test("the_table_names_scenarios_with_their_codes", the_table_names_scenarios_with_their_codes),
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
        let of_remedies = row
            .remedies
            .iter()
            .flat_map(|remedy| [&remedy.first, &remedy.then].into_iter().chain(&remedy.more).chain(&remedy.fresh));
        own.chain(of_remedies).collect::<Vec<_>>()
    });
    for step in texts.flat_map(|text| table::steps(text)) {
        if !vocabulary.find(&step).is_ok_and(|found| found.is_some()) {
            return Err(format!("no step is defined like this: {}", step.value).into());
        }
    }
    Ok(())
}

fn the_table_names_scenarios_with_their_codes() -> Result<(), Failed> {
    let suite = Suite::load(&ScenarioSelection::default())?;
    let has = |code: &str, start: &str| {
        let mut named = suite.scenarios().filter(|(_, scenario)| scenario.name.starts_with(start));
        named.any(|(feature, scenario)| codes(feature, scenario).any(|tagged| tagged == code))
    };
    let table = table::table();
    let named = table.iter().flat_map(|(code, row)| {
        let of_remedies = row.remedies.iter().filter_map(|remedy| remedy.scenario.as_deref());
        of_remedies.chain(Some(row.scenario.as_str())).map(move |start| (code, start))
    });
    let wrong = named.filter(|(code, start)| !start.is_empty() && !has(code, start));
    let wrong: Vec<String> = wrong.map(|(code, start)| format!("no scenario of {code} begins with: {start}")).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
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
    let table = table::table();
    let needs_argocd = table.keys().any(|code| code.starts_with(ARGOCD_FAMILIES) && is_wanted(code));
    let argocd = if needs_argocd { ArgoCdRequest::of_version(None) } else { ArgoCdRequest::No };
    let needs = FleetNeeds { pods: true, network_faults: true, argocd };
    let version = std::env::var(KUBEFLEET).ok().filter(|version| !version.is_empty());
    let run = new_id();
    let plan = FleetPlan {
        name: format!("remedies-{run}"),
        members: MEMBERS,
        clusters: ClusterSource::Local,
        kubefleet: builder.components.kubefleet(version.as_deref()).expect("a version"),
    };
    let name = plan.name.clone();
    let probed = plan.check(&needs, &builder.components).await.expect("a plan").probe(&builder).await.expect("agents");
    let catalogue = DrillCatalogue::new(&suite, &probed.agents.capabilities, probed.profile());
    let built = probed.build(&needs, &builder).await.expect("components");
    let program = SupervisorProgram(PathBuf::from(env!("CARGO_BIN_EXE_fleetdrill")));
    let options = built.components.clone().fleet_options(name, MEMBERS, program);
    let fleet = Fleet::create(options, Arc::new(|_| {})).await.expect("a fleet");
    let mut shell = shell_setup(&fleet, &builder.components).await.expect("an environment");
    shell.program_dirs.push(kubectl.parent().expect("a directory").to_owned());
    let results = on_fleet(&fleet, &run, &table, &catalogue, shell, dir.path(), age).await;
    fleet.end().await.expect("the fleet ends");
    results
}

async fn on_fleet(
    fleet: &Fleet,
    run: &str,
    table: &RemedyTable,
    catalogue: &DrillCatalogue,
    shell: ShellSetup,
    dir: &Path,
    age: Duration,
) -> Vec<RemedyResult> {
    let vocabulary = World::vocabulary();
    let (sender, looks) = watch::channel(None);
    let trial_fleet = TrialFleet {
        fleet,
        run,
        shell,
        dir: dir.to_owned(),
        age,
        vocabulary: &vocabulary,
        busy: Semaphore::new(BUSY),
        members: Semaphore::new(WITH_MEMBERS),
        looks,
    };
    trial_fleet.write_editor();
    let (trials, mut results) = planned(table, catalogue);
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
        for group in of_code(row) {
            let (scenario, more) = induction(row, &group);
            match fault(code, scenario, catalogue) {
                Some(fault) => trials.push(Trial { code, row, fault, more, remedies: group }),
                None => results.extend(group.into_iter().map(|n| RemedyResult {
                    code: code.clone(),
                    number: n + 1,
                    outcome: match &row.not_on_version {
                        Some(why) => Outcome::NotRun { why: why.clone() },
                        None => Outcome::NotInduced { why: "no scenario has this fault".into() },
                    },
                })),
            }
        }
    }
    (trials, results)
}

/// True if the remedies of a code are to be tried.
fn is_wanted(code: &str) -> bool {
    let only = std::env::var(ONLY).unwrap_or_default();
    only.is_empty() || only.split(',').any(|wanted| wanted == code)
}

/// Returns the indices of the remedies of each trial: one trial for each remedy that repairs. Those that only read belong to the
/// first trial with the same fault.
fn of_code(row: &CodeRow) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let run = || row.remedies.iter().enumerate().filter(|(_, remedy)| remedy.not_run.is_none());
    groups.extend(run().filter(|(_, remedy)| remedy.acts()).map(|(n, _)| vec![n]));
    for (n, _) in run().filter(|(_, remedy)| !remedy.acts()).collect::<Vec<_>>().into_iter().rev() {
        match groups.iter_mut().find(|group| induction(row, group) == induction(row, &[n])) {
            Some(group) => group.insert(0, n),
            None => groups.push(vec![n]),
        }
    }
    groups
}

/// Returns the beginning of the name of the scenario that induces the fault of some remedies, and the steps after it.
fn induction<'a>(row: &'a CodeRow, remedies: &[usize]) -> (&'a str, &'a str) {
    let remedy = remedies.first().map(|n| &row.remedies[*n]);
    let own = |field: fn(&RemedyRow) -> &Option<String>| remedy.and_then(|remedy| field(remedy).as_deref());
    (own(|remedy| &remedy.scenario).unwrap_or(&row.scenario), own(|remedy| &remedy.more).unwrap_or(&row.more))
}

/// Returns the first fault with a code, or with the code as its cause where no fault has it, of the scenarios whose names begin like
/// this.
fn fault<'a>(code: &str, scenario: &str, catalogue: &'a DrillCatalogue) -> Option<&'a FaultCase> {
    let of_scenario = || catalogue.faults.iter().filter(|fault| fault.place.name.starts_with(scenario));
    let has_code = |fault: &&FaultCase| fault.diagnoses.iter().any(|asserted| asserted.code == code);
    let has_cause = |fault: &&FaultCase| fault.diagnoses.iter().any(|asserted| asserted.root() == Some(code));
    of_scenario().find(has_code).or_else(|| of_scenario().find(has_cause))
}
