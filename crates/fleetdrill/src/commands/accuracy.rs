//! `fleetdrill accuracy`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use clusters::state_dir;
use fleet::Fleet;
use rand::RngExt as _;
use report::accuracy::drill::DrillResult;
use report::accuracy::{AccuracyReport, AccuracyRun, plan_text, text};
use report::stderr_line;
use report::text::style::OutputLayout;

use super::Interrupts;
use crate::accuracy::generator::Drill;
use crate::accuracy::{AccuracyFleet, DrillCatalogue, FinishedDrills};
use crate::cli::{AccuracyArgs, OutputFormat};
use crate::command_progress::CommandProgress;
use crate::component_version::ArgoCdRequest;
use crate::components::FleetToolchain;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::{ClusterSource, FleetBuilder, FleetNeeds, FleetPlan, ProbedNewFleet};
use crate::output::data;
use crate::run_seed::new_id;
use crate::selection::ScenarioSelection;
use crate::suite::Suite;
use crate::train::step_runner;

/// Drills with what they are made of.
struct PlannedDrills {
    catalogue: DrillCatalogue,
    drills: Vec<Drill>,
    /// Facts for the report.
    run: AccuracyRun,
}

pub(super) async fn accuracy(args: AccuracyArgs) -> Result<CommandExitCode, CommandError> {
    let mut interrupts = Interrupts::listen();
    let suite = Suite::load(&ScenarioSelection::default())?;
    let id = new_id();
    let name = format!("accuracy-{id}");
    let progress = Arc::new(CommandProgress::stderr());
    let builder = FleetBuilder { components: FleetToolchain::open()?, progress: Arc::clone(&progress) as _ };
    let needs = FleetNeeds::of_suite(&suite, ArgoCdRequest::Default);
    let (planned, probed) = tokio::select! {
        planned = plan(&args, &suite, &needs, name.clone(), &builder) => planned?,
        () = interrupts.next() => return Ok(CommandExitCode::Interrupted),
    };
    if args.list {
        progress.finish();
        list(&args, &planned);
        return Ok(CommandExitCode::Fine);
    }
    let (finished, started) = (FinishedDrills::default(), Instant::now());
    let ran = async {
        let fleet = probed.build(&needs, &builder).await?.start(&builder).await?;
        run(&args, &id, &fleet, &planned, &finished, &progress).await?;
        Ok(fleet.end().await?)
    };
    let ended = tokio::select! {
        ended = step_runner::quietly(ran) => ended,
        () = interrupts.next() => {
            progress.finish();
            stderr_line!("interrupted: ending the fleet");
            state_dir::wait_until_gone(&name).await;
            print(&args, &report(planned.run, &finished, started));
            return Ok(CommandExitCode::Interrupted);
        }
    };
    progress.finish();
    state_dir::wait_until_gone(&name).await;
    let report = report(planned.run, &finished, started);
    // What was scored until an error is worth reading, too.
    if ended.is_ok() || report.drills > 0 {
        print(&args, &report);
    }
    ended.map(|()| if report.is_good() { CommandExitCode::Fine } else { CommandExitCode::Found })
}

/// Makes the drills for a version of KubeFleet, whose agents are built for that.
async fn plan(
    args: &AccuracyArgs,
    suite: &Suite,
    needs: &FleetNeeds,
    name: String,
    builder: &FleetBuilder,
) -> Result<(PlannedDrills, ProbedNewFleet), CommandError> {
    let kubefleet = builder.components.kubefleet(args.version.named())?;
    let version = kubefleet.version.clone();
    let plan = FleetPlan { name, members: usize::from(args.members), clusters: ClusterSource::Local, kubefleet };
    let probed = plan.check(needs, &builder.components).await?.probe(builder).await?;
    let catalogue = DrillCatalogue::new(suite, &probed.agents.capabilities, probed.profile());
    if catalogue.faults.is_empty() {
        return Err(CommandError::usage(format!("no scenario has a fault for KubeFleet {version}"), None));
    }
    let seed = args.seed.unwrap_or_else(|| u64::from(rand::rng().random::<u32>()));
    let numbers = args.drill.map_or(1..=args.drills, |only| only..=only);
    let run = AccuracyRun {
        seed,
        fleetdrill: env!("CARGO_PKG_VERSION").into(),
        kubefleet: version,
        members: usize::from(args.members),
        jobs: usize::from(args.jobs),
        fault_cases: catalogue.faults.len(),
        healthy_cases: catalogue.healthy.len(),
        left_out: catalogue.left_out.clone(),
        seconds: 0.0,
    };
    let drills = numbers.map(|number| Drill::new(&catalogue, seed, number)).collect();
    Ok((PlannedDrills { catalogue, drills, run }, probed))
}

fn list(args: &AccuracyArgs, planned: &PlannedDrills) {
    let plans: Vec<_> = planned.drills.iter().map(|drill| drill.plan(&planned.catalogue)).collect();
    match args.output {
        OutputFormat::Text => data::print_text(&plan_text(planned.run.seed, &plans, OutputLayout::from_locale().width)),
        format => data::print(format, &plans),
    }
}

async fn run(
    args: &AccuracyArgs,
    id: &str,
    fleet: &Fleet,
    planned: &PlannedDrills,
    finished: &FinishedDrills,
    progress: &CommandProgress,
) -> Result<(), CommandError> {
    let PlannedDrills { catalogue, drills, run } = planned;
    let jobs = usize::from(args.jobs);
    let accuracy = AccuracyFleet { fleet, run: id, seed: run.seed, catalogue, jobs, bundles: &args.bundles };
    progress.say(&format!("seed {}, drills: {}", run.seed, drills.len()));
    accuracy.run(drills, finished, |drill, ended, all| progress.say(&said(drill, ended, all))).await
}

/// Describes a drill in one line.
fn said(drill: &DrillResult, ended: usize, all: usize) -> String {
    let causes = || drill.faults.iter().flat_map(|fault| &fault.causes);
    let codes: Vec<&str> = causes().map(|cause| cause.code.as_str()).collect();
    let found = causes().filter(|cause| cause.found).count();
    let not_induced = drill.faults.iter().filter(|fault| fault.not_induced.is_some()).count();
    let mut text =
        format!("{ended} of {all}: drill {}, {:.0} s, {found} of {} found", drill.number, drill.seconds, codes.len());
    for (count, what) in
        [(drill.wrong.len(), "wrong"), (drill.symptoms.len(), "symptoms"), (not_induced, "not induced")]
    {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    if codes.is_empty() { text } else { format!("{text} ({})", codes.join(", ")) }
}

fn report(run: AccuracyRun, finished: &FinishedDrills, started: Instant) -> AccuracyReport {
    let (results, nobodys) = finished.take();
    AccuracyReport::new(AccuracyRun { seconds: started.elapsed().as_secs_f64(), ..run }, results, nobodys)
}

fn print(args: &AccuracyArgs, report: &AccuracyReport) {
    match args.output {
        OutputFormat::Text => data::print_text(&text(report, OutputLayout::from_locale())),
        format => data::print(format, report),
    }
}
