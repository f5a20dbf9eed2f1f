//! `fleetdrill upgrade`.

use std::sync::Arc;
use std::time::Instant;

use clusters::agents::is_agent;
use clusters::supervisor::protocol::ProcessExit;
use fleet::argocd::{self, ArgoCdInstallation};
use fleet::capability::Capabilities;
use fleet::error::in_full;
use fleet::upgrade::{UpgradeOrder, UpgradeTarget};
use fleet::{Fleet, FleetError};
use jiff::Timestamp;
use record::{Product, RunRecord, ScenarioRecord};
use record::{UpgradeOrderRecord, UpgradeRecord, VersionChangeRecord};
use report::comparison::difference::DifferenceVerdict;
use report::run::{DetailLevel, Reporters, RunEvent, RunProgressDisplay, TerminalReporter, prepare, write_atomically};
use report::stderr_line;
use report::text::style::OutputLayout;
use report::upgrade::baseline::Baseline;
use report::upgrade::report::UpgradeReport;
use report::upgrade::{html, json, text};
use strum::IntoEnumIterator;

use super::Interrupts;
use crate::cli::{UpgradeArgs, UpgradePart};
use crate::command_progress::CommandProgress;
use crate::component_version::{ArgoCdRequest, ComponentVersion};
use crate::components::{ComponentSet, FleetToolchain};
use crate::continuous_diagnosis::DiagnosedFleet;
use crate::continuous_diagnosis::accounted_codes::AssertedConsequences;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::{BuiltFleet, ClusterSource, FleetBuilder, FleetNeeds, FleetPlan, NewFleet};
use crate::output::data;
use crate::run::{
    AfterFailure, ConcurrencyLimits, DiagnosedRun, Round, ScenarioLocation, ScenarioRunner, left_out,
    left_out_of_scale, order, sort,
};
use crate::run_seed::new_id;
use crate::selection::ScenarioSelection;
use crate::suite::Suite;
use crate::upgrade::fleet_upgrade;
use crate::upgrade::in_flight_scenarios::in_flight;

pub(super) async fn upgrade(args: UpgradeArgs) -> Result<CommandExitCode, CommandError> {
    let mut interrupts = Interrupts::listen();
    check_order(&args)?;
    let suite = Suite::load(&args.selection())?;
    let components = FleetToolchain::open()?;
    let (product, from) = args.before();
    let (kubefleet, needs) = match product {
        Product::KubeFleet => {
            components.kubefleet(Some(&args.to))?;
            (components.kubefleet(Some(from))?, FleetNeeds::of_suite(&suite, ArgoCdRequest::Default))
        }
        Product::ArgoCd => {
            components.argocd(Some(&args.to))?;
            let argocd = ArgoCdRequest::of_version(Some(from));
            (components.kubefleet(None)?, FleetNeeds { argocd, ..FleetNeeds::of_suite(&suite, ArgoCdRequest::Default) })
        }
    };
    let name = format!("upgrade-{}", new_id());
    let plan = FleetPlan { name, members: usize::from(args.members), clusters: ClusterSource::Local, kubefleet };
    let new_fleet = plan.check(&needs, &components).await?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?.unwrap_or_default();
    for path in [&args.json, &args.html].into_iter().flatten() {
        prepare(path)?;
    }
    let run = tokio::select! {
        run = UpgradeRun::prepare(&args, suite, components, new_fleet, &needs) => run?,
        () = interrupts.next() => {
            stderr_line!("interrupted");
            return Ok(CommandExitCode::Interrupted);
        }
    };
    let UpgradeResult { record, interrupted } = run.run_orders(&mut interrupts).await?;
    let report = UpgradeReport::of(&record, &baseline);
    if !(interrupted && record.is_empty()) {
        output(&args, &record, &report)?;
    }
    Ok(if interrupted { CommandExitCode::Interrupted } else { exit(report.cut_off.is_some(), report.verdict) })
}

/// Refuses orders of upgrade for Argo CD.
fn check_order(args: &UpgradeArgs) -> Result<(), CommandError> {
    if args.argocd.is_some() && !args.order.is_empty() {
        let hint = "leave it out: Argo CD runs on the hub only, and all of it is upgraded at once";
        return Err(CommandError::usage("--order is for KubeFleet, and --argocd upgrades Argo CD", Some(hint)));
    }
    Ok(())
}

/// Returns the exit code of an upgrade. Differences in the baseline don't count in its verdict.
fn exit(cut_off: bool, verdict: DifferenceVerdict) -> CommandExitCode {
    match verdict {
        _ if cut_off => CommandExitCode::Environment,
        DifferenceVerdict::Breaks => CommandExitCode::Found,
        DifferenceVerdict::Differs | DifferenceVerdict::Safe => CommandExitCode::Fine,
    }
}

/// A run of the scenarios across upgrades, with everything that is built for it.
struct UpgradeRun<'a> {
    args: &'a UpgradeArgs,
    suite: Suite,
    components: FleetToolchain,
    /// The fleet of the old version, which is started once for each order.
    old: BuiltFleet,
    /// The new version.
    new: UpgradeTarget,
}

/// Record of the upgrades, until they ended or were cut short.
struct UpgradeResult {
    record: UpgradeRecord,
    interrupted: bool,
}

/// Scenarios of a suite, parted by what a fleet can run.
struct FilteredSuite {
    /// Scenarios that the fleet can run.
    suite: Suite,
    /// Scenarios that it can't run, with the reason.
    left_out: Vec<ScenarioRecord>,
    /// Order of all scenarios.
    order: Vec<ScenarioLocation>,
}

impl FilteredSuite {
    /// Parts a suite for a fleet, under an upgrade or without one.
    fn of(mut suite: Suite, fleet: &Fleet, upgraded: bool) -> Self {
        let order = order(&suite);
        let mut left_out = left_out(&mut suite, &fleet.version(), &fleet.capabilities(), false, upgraded);
        left_out.extend(left_out_of_scale(&mut suite, &ScenarioSelection::default()));
        Self { suite, left_out, order }
    }
}

impl<'a> UpgradeRun<'a> {
    /// Builds the components that the cache lacks.
    async fn prepare(
        args: &'a UpgradeArgs,
        suite: Suite,
        components: FleetToolchain,
        fleet: NewFleet,
        needs: &FleetNeeds,
    ) -> Result<Self, CommandError> {
        let builder = FleetBuilder { components, progress: Arc::new(CommandProgress::stderr()) };
        let old = fleet.probe(&builder).await?.build(needs, &builder).await?;
        let new = new_version(args, &builder).await?;
        Ok(Self { args, suite, components: builder.components, old, new })
    }

    /// The old version, for the way back.
    fn old_version(&self) -> Option<UpgradeTarget> {
        let ComponentSet { agents, argocd, .. } = &self.old.components;
        match self.new.product() {
            Product::KubeFleet => Some(UpgradeTarget::KubeFleet(agents.clone())),
            Product::ArgoCd => {
                argocd.as_ref().and_then(ArgoCdInstallation::programs).cloned().map(UpgradeTarget::ArgoCd)
            }
        }
    }

    /// The orders of upgrade to try.
    fn orders(&self) -> Vec<UpgradeOrder> {
        match self.new.product() {
            Product::ArgoCd => vec![UpgradeOrder::AtOnce],
            Product::KubeFleet if self.args.order.is_empty() => UpgradeOrder::iter().collect(),
            Product::KubeFleet => self.args.order.clone(),
        }
    }

    /// Name of its fleets.
    fn fleet_name(&self) -> &str {
        self.old.name()
    }

    /// Runs the orders one after the other. An error or an interrupt that cuts them short stands in the record, beside what was
    /// seen until then.
    ///
    /// # Errors
    /// Returns an error that came before anything was seen.
    async fn run_orders(&self, interrupts: &mut Interrupts) -> Result<UpgradeResult, CommandError> {
        let (started_at, started) = (Timestamp::now(), Instant::now());
        let mut before = None;
        let (mut orders, mut cut_off, mut interrupted) = (Vec::new(), None, false);
        for order in self.orders() {
            let ended = tokio::select! {
                ended = self.on_a_fleet(order, &mut before, &mut orders) => Some(ended),
                () = interrupts.next() => None,
            };
            match ended {
                Some(Ok(())) => continue,
                // There are no results to report yet.
                Some(Err(error)) if before.is_none() && orders.is_empty() => {
                    clusters::state_dir::wait_until_gone(self.fleet_name()).await;
                    return Err(error);
                }
                Some(Err(error)) => cut_off = Some(in_full(&error)),
                None => {
                    stderr_line!("interrupted: ending what was started");
                    interrupted = true;
                    cut_off = Some("interrupted".into());
                }
            }
            clusters::state_dir::wait_until_gone(self.fleet_name()).await;
            break;
        }
        let record = UpgradeRecord {
            fleetdrill: env!("CARGO_PKG_VERSION").into(),
            product: self.new.product(),
            from: self.args.before().1.to_owned(),
            to: self.args.to.clone(),
            started_at,
            seconds: started.elapsed().as_secs_f64(),
            before: before.unwrap_or_else(|| self.empty(self.args.before().1)),
            orders,
            cut_off,
        };
        Ok(UpgradeResult { record, interrupted })
    }

    /// Starts a fleet of the old version.
    async fn start_fleet(&self) -> Result<Fleet, CommandError> {
        let progress = Arc::new(CommandProgress::stderr());
        self.old.start(&FleetBuilder { components: self.components.clone(), progress }).await
    }

    /// Tries one order on a fleet of its own; the first time also runs the scenarios before the upgrade. Results are
    /// kept, whatever fails later.
    async fn on_a_fleet(
        &self,
        order: UpgradeOrder,
        before: &mut Option<RunRecord>,
        orders: &mut Vec<UpgradeOrderRecord>,
    ) -> Result<(), CommandError> {
        let fleet = self.start_fleet().await?;
        let seen = async {
            if before.is_none() && self.args.only != Some(UpgradePart::InFlight) {
                stderr_line!("the scenarios on {} {}", self.new.product().name(), self.args.before().1);
                *before = Some(self.peaceful(&fleet).await?);
            }
            self.order(&fleet, order).await
        };
        let seen = seen.await;
        // An error of the order matters more than an error at the end of its fleet.
        let ended = fleet.end().await;
        clusters::state_dir::wait_until_gone(fleet.name()).await;
        orders.push(seen?);
        Ok(ended?)
    }

    /// Tries one order on a fleet of the old version.
    async fn order(&self, fleet: &Fleet, order: UpgradeOrder) -> Result<UpgradeOrderRecord, CommandError> {
        let (product, version) = (self.new.product().name(), self.new.version());
        stderr_line!("upgrading to {product} {version}, {order}");
        let forth = self.pass(fleet, order, &self.new).await?;
        let mut record = UpgradeOrderRecord { order, forth, after: None, back: None };
        if record.forth.error.is_some() {
            return Ok(record);
        }
        if self.args.only != Some(UpgradePart::InFlight) {
            stderr_line!("the scenarios on {product} {version}, upgraded {order}");
            record.after = Some(self.peaceful(fleet).await?);
        }
        if let Some(old) = self.old_version().filter(|_| self.args.back) {
            stderr_line!("back to {product} {}, {order}", old.version());
            record.back = Some(self.pass(fleet, order, &old).await?);
        }
        Ok(record)
    }

    /// Runs all scenarios that the fleet's version supports, without an upgrade.
    async fn peaceful(&self, fleet: &Fleet) -> Result<RunRecord, CommandError> {
        let (run, broken) = self.run(fleet, FilteredSuite::of(self.suite.clone(), fleet, false), None).await?;
        // The results of scenarios that lost their fleet mean nothing.
        broken.map_or(Ok(run), |exit| Err(FleetError::Broken { exit }.into()))
    }

    /// Upgrades or downgrades the fleet, with all scenarios in flight that its current version supports.
    async fn pass(
        &self,
        fleet: &Fleet,
        order: UpgradeOrder,
        to: &UpgradeTarget,
    ) -> Result<VersionChangeRecord, CommandError> {
        let from = self.running_version(fleet).await;
        let suite = match self.args.only {
            Some(UpgradePart::BeforeAfter) => Suite { features: Vec::new() },
            Some(UpgradePart::InFlight) | None => in_flight(&self.suite, to.product()),
        };
        let part = FilteredSuite::of(suite, fleet, true);
        let upgrade = steps::shared_upgrade::Upgrade::new(order, to.clone(), part.suite.scenarios().count());
        let (ran, (phases, error)) = tokio::join!(
            self.run(fleet, part, Some(upgrade.clone())),
            fleet_upgrade::go(fleet, &upgrade, &|text: &str| stderr_line!("{text}"))
        );
        let (run, broken) = ran?;
        let error = match error.or(broken.map(|exit| FleetError::Broken { exit })) {
            Some(error) if is_the_upgrade_s(&error) => Some(in_full(&error)),
            Some(error) => return Err(error.into()),
            None => None,
        };
        Ok(VersionChangeRecord {
            id: run.id,
            from,
            to: to.version().to_owned(),
            phases,
            error,
            scenarios: run.scenarios,
            continuous_diagnosis: run.continuous_diagnosis,
        })
    }

    /// Runs scenarios on the fleet; during an upgrade all at the same time.
    async fn run(
        &self,
        fleet: &Fleet,
        FilteredSuite { suite, left_out, order }: FilteredSuite,
        upgrade: Option<steps::shared_upgrade::Upgrade>,
    ) -> Result<(RunRecord, Option<ProcessExit>), CommandError> {
        let started = Instant::now();
        let mut record = self.empty(&self.running_version(fleet).await);
        record.id = new_id();
        record.capabilities = fleet.capabilities();
        record.scenarios = left_out;
        let scenarios = suite.scenarios().count();
        let mut reporters = reporters();
        reporters.event(&RunEvent::RunStarted { scenarios })?;
        let engine = ScenarioRunner {
            seed: None,
            fleet: fleet.clone(),
            run: record.id.clone(),
            round: Round::ONLY,
            bundles: self.args.bundles.clone(),
            jobs: ConcurrencyLimits::all(if upgrade.is_some() {
                scenarios.max(1)
            } else {
                usize::from(self.args.jobs)
            }),
            real_time: false,
            after_failure: AfterFailure::Continue,
            pause: None,
            keep_failed: false,
            fleet_stays: true,
            upgrade,
            diagnosed: self.diagnosed()?,
        };
        let ended = engine.run(&suite, reporters, std::future::pending()).await;
        record.scenarios.extend(ended.scenarios);
        record.continuous_diagnosis = ended.continuous_diagnosis;
        sort(&mut record.scenarios, &order);
        record.seconds = started.elapsed().as_secs_f64();
        if let Some(reporters) = ended.reporters {
            for error in reporters.finish(&record) {
                crate::output::print_error(&error, None);
            }
        }
        Ok((record, ended.broken))
    }

    /// Parameters of the continuous diagnosis; none if it is off.
    fn diagnosed(&self) -> Result<Option<DiagnosedRun>, CommandError> {
        if self.args.no_continuous_diagnosis {
            return Ok(None);
        }
        Ok(Some(DiagnosedRun {
            fleet: DiagnosedFleet::OfRun,
            asserted: AssertedConsequences::of_all_features(&self.suite)?,
            versions_change: true,
        }))
    }

    /// Version of the upgraded product that runs on the fleet.
    async fn running_version(&self, fleet: &Fleet) -> String {
        fleet.version_of(self.new.product()).await.unwrap_or_default()
    }

    /// Returns the record of a run that has no scenarios yet, with the upgraded product in this version.
    fn empty(&self, version: &str) -> RunRecord {
        let component = self.new.product().component();
        let mut versions = self.old.components.versions.clone();
        for one in versions.iter_mut().filter(|one| one.component == component) {
            version.clone_into(&mut one.version);
        }
        RunRecord {
            id: String::new(),
            fleetdrill: env!("CARGO_PKG_VERSION").into(),
            versions: ComponentVersion::pairs(&versions),
            capabilities: Capabilities::default(),
            provider: "local".into(),
            started_at: Timestamp::now(),
            seconds: 0.0,
            fleet_seconds: 0.0,
            scenarios: Vec::new(),
            continuous_diagnosis: None,
            repeated_shards: Vec::new(),
            seed: None,
            load: None,
        }
    }
}

/// Gets the new version, building what the cache lacks.
async fn new_version(args: &UpgradeArgs, builder: &FleetBuilder) -> Result<UpgradeTarget, CommandError> {
    let (components, to) = (&builder.components, Some(args.to.as_str()));
    Ok(match args.before().0 {
        Product::KubeFleet => {
            let to = components.kubefleet(to)?;
            UpgradeTarget::KubeFleet(components.agents(&to, &|event| builder.progress.build(event)).await?)
        }
        Product::ArgoCd => {
            UpgradeTarget::ArgoCd(components.argocd_programs(to, &|event| builder.progress.build(event)).await?)
        }
    })
}

/// True if the new version is to blame for an upgrade that failed, and not the machine.
fn is_the_upgrade_s(error: &FleetError) -> bool {
    match error {
        FleetError::Broken { exit } => is_agent(&exit.name) || argocd::is_process(&exit.name),
        error => !error.is_environment(),
    }
}

/// Returns reporters that print progress to stderr only, because stdout is for the report.
fn reporters() -> Reporters {
    Reporters::new(TerminalReporter::stderr(
        OutputLayout::from_locale(),
        DetailLevel::Compact,
        RunProgressDisplay::auto(),
    ))
}

/// Writes the report to the requested files, and prints it.
fn output(args: &UpgradeArgs, record: &UpgradeRecord, report: &UpgradeReport) -> Result<(), CommandError> {
    if let Some(path) = &args.json {
        write_atomically(path, json::render(record, report)?.as_bytes())?;
    }
    if let Some(path) = &args.html {
        write_atomically(path, html::render(record, report)?.as_bytes())?;
    }
    match args.output {
        crate::cli::OutputFormat::Text => data::print_text(&text::render(report, OutputLayout::from_locale())),
        format => data::print(format, report),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upgrade_that_was_cut_off_is_the_environment_s_fault() {
        assert_eq!(exit(true, DifferenceVerdict::Safe), CommandExitCode::Environment);
        assert_eq!(exit(true, DifferenceVerdict::Breaks), CommandExitCode::Environment);
        assert_eq!(exit(false, DifferenceVerdict::Breaks), CommandExitCode::Found);
        assert_eq!(exit(false, DifferenceVerdict::Differs), CommandExitCode::Fine);
        assert_eq!(exit(false, DifferenceVerdict::Safe), CommandExitCode::Fine);
    }
}
