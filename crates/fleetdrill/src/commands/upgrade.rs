//! `fleetdrill upgrade`.

use std::sync::Arc;
use std::time::Instant;

use clusters::keeper::Program;
use clusters::keeper::protocol::Exit as ProcessExit;
use clusters::provider::is_agent;
use clusters::stderr_line;
use fleet::agents::Agents;
use fleet::capability::Capabilities;
use fleet::error::in_full;
use fleet::upgrade::Order;
use fleet::{Fleet, FleetError};
use jiff::Timestamp;
use steps::record::{RunRecord, ScenarioRecord};
use strum::IntoEnumIterator;

use super::Interrupts;
use super::progress::{Progress as Line, stage_text};
use super::run::{left_out, new_id};
use crate::cli::{Upgrade, UpgradePart};
use crate::components::{self, Clusters, Components, Extras};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::data;
use crate::output::style::Look;
use crate::reporter::{Detail, Event, Progress, Reporters, Terminal, prepare, write_atomically};
use crate::run::{Engine, Jobs, Key, RunReporters, order, sort};
use crate::suite::Suite;
use crate::upgrade::baseline::Baseline;
use crate::upgrade::in_flight::in_flight;
use crate::upgrade::passage;
use crate::upgrade::record::{OrderRecord, Passage, UpgradeRecord};
use crate::upgrade::report::Report;
use crate::upgrade::{html, json, text};

pub(super) async fn upgrade(args: Upgrade) -> Result<Exit, CommandError> {
    let mut interrupts = Interrupts::listen();
    let suite = args.scenarios.load(None)?;
    let extras = Extras { pods: suite.needs_pods(), argocd: suite.needs_argocd().then_some(None) };
    for version in [&args.from, &args.to] {
        components::kubefleet(Some(version))?;
    }
    extras.check()?;
    clusters::machine::check()?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?.unwrap_or_default();
    for path in [&args.json, &args.html].into_iter().flatten() {
        prepare(path)?;
    }
    let ground = tokio::select! {
        ground = Ground::prepare(&args, suite, extras) => ground?,
        () = interrupts.next() => {
            stderr_line!("interrupted");
            return Ok(Exit::Interrupted);
        }
    };
    let Seen { record, interrupted } = ground.see(&mut interrupts).await?;
    let report = Report::of(&record, &baseline);
    if !(interrupted && record.is_empty()) {
        output(&args, &record, &report)?;
    }
    Ok(if interrupted { Exit::Interrupted } else { report.exit() })
}

/// What an upgrade needs, gathered once.
struct Ground<'a> {
    args: &'a Upgrade,
    /// Its fleets' name.
    name: String,
    suite: Suite,
    old: Components,
    new: Agents,
}

/// How far it came.
struct Seen {
    record: UpgradeRecord,
    interrupted: bool,
}

/// The scenarios that a fleet can run.
struct Part {
    suite: Suite,
    /// Those that it can't, with the reason.
    left_out: Vec<ScenarioRecord>,
    /// The order of them all.
    order: Vec<Key>,
}

impl Part {
    /// The scenarios of a suite, under an upgrade or without one.
    fn of(mut suite: Suite, fleet: &Fleet, upgraded: bool) -> Self {
        let order = order(&suite);
        let left_out = left_out(&mut suite, &fleet.version(), &fleet.capabilities(), false, upgraded);
        Self { suite, left_out, order }
    }
}

impl<'a> Ground<'a> {
    /// Builds what isn't there.
    async fn prepare(args: &'a Upgrade, suite: Suite, extras: Extras<'_>) -> Result<Self, CommandError> {
        let line = Line::stderr();
        let build = |event| line.build(&event);
        let old = components::ensure(Some(&args.from), &Clusters::Local, extras, &build).await?;
        let new = components::ensure_agents(Some(&args.to), &build).await?;
        line.finish();
        Ok(Self { args, name: format!("upgrade-{}", new_id()), suite, old, new })
    }

    /// Goes through the orders one after the other. What cuts them short ends up in the record, beside what was seen until then;
    /// it is an error only where that is nothing.
    async fn see(&self, interrupts: &mut Interrupts) -> Result<Seen, CommandError> {
        let (started_at, started) = (Timestamp::now(), Instant::now());
        let mut before = None;
        let (mut orders, mut cut_off, mut interrupted) = (Vec::new(), None, false);
        let asked = if self.args.order.is_empty() { Order::iter().collect() } else { self.args.order.clone() };
        for order in asked {
            let ended = tokio::select! {
                ended = self.on_a_fleet(order, &mut before, &mut orders) => Some(ended),
                () = interrupts.next() => None,
            };
            match ended {
                Some(Ok(())) => continue,
                // Nothing to report yet.
                Some(Err(error)) if before.is_none() && orders.is_empty() => {
                    clusters::state_dir::wait_until_gone(&self.name).await;
                    return Err(error);
                }
                Some(Err(error)) => cut_off = Some(in_full(&error)),
                None => {
                    stderr_line!("interrupted: ending what was started");
                    interrupted = true;
                    cut_off = Some("interrupted".into());
                }
            }
            clusters::state_dir::wait_until_gone(&self.name).await;
            break;
        }
        let record = UpgradeRecord {
            fleetdrill: env!("CARGO_PKG_VERSION").into(),
            from: self.args.from.clone(),
            to: self.args.to.clone(),
            started_at,
            seconds: started.elapsed().as_secs_f64(),
            before: before.unwrap_or_else(|| self.empty(&self.args.from)),
            orders,
            cut_off,
        };
        Ok(Seen { record, interrupted })
    }

    /// A fleet of the old version.
    async fn fleet(&self) -> Result<Fleet, CommandError> {
        let line = Line::stderr();
        let members = usize::from(self.args.members);
        let options = self.old.clone().options(self.name.clone(), members, Program::this()?);
        line.say("starting the fleet");
        let line = Arc::new(line);
        let told = Arc::clone(&line);
        Ok(Fleet::create(options, Arc::new(move |stage| told.say(&stage_text(&stage)))).await?)
    }

    /// One order on a fleet of its own, the first with the scenarios before it. Whatever fails, what was seen until then stays.
    async fn on_a_fleet(
        &self,
        order: Order,
        before: &mut Option<RunRecord>,
        orders: &mut Vec<OrderRecord>,
    ) -> Result<(), CommandError> {
        let fleet = self.fleet().await?;
        let seen = async {
            if before.is_none() && self.args.only != Some(UpgradePart::InFlight) {
                stderr_line!("the scenarios on KubeFleet {}", self.args.from);
                *before = Some(self.peaceful(&fleet).await?);
            }
            self.order(&fleet, order).await
        };
        let seen = seen.await;
        // What went wrong matters more than that its fleet can't be ended.
        let ended = fleet.end().await;
        clusters::state_dir::wait_until_gone(fleet.name()).await;
        orders.push(seen?);
        Ok(ended?)
    }

    /// One order on a fleet of the old version.
    async fn order(&self, fleet: &Fleet, order: Order) -> Result<OrderRecord, CommandError> {
        stderr_line!("upgrading to KubeFleet {}, {order}", self.new.version);
        let forth = self.pass(fleet, order, &self.new).await?;
        let mut record = OrderRecord { order, forth, after: None, back: None };
        if record.forth.error.is_some() {
            return Ok(record);
        }
        if self.args.only != Some(UpgradePart::InFlight) {
            stderr_line!("the scenarios on KubeFleet {}, upgraded {order}", self.new.version);
            record.after = Some(self.peaceful(fleet).await?);
        }
        if self.args.back {
            stderr_line!("back to KubeFleet {}, {order}", self.old.agents.version);
            record.back = Some(self.pass(fleet, order, &self.old.agents).await?);
        }
        Ok(record)
    }

    /// All scenarios that the fleet's version can run, without an upgrade.
    async fn peaceful(&self, fleet: &Fleet) -> Result<RunRecord, CommandError> {
        let (run, broken) = self.run(fleet, Part::of(self.suite.clone(), fleet, false), None).await?;
        // Of scenarios that lost their fleet, nothing can be said.
        broken.map_or(Ok(run), |exit| Err(FleetError::Broken { exit }.into()))
    }

    /// Takes the fleet to a version with all scenarios in flight that the version it has can run.
    async fn pass(&self, fleet: &Fleet, order: Order, to: &Agents) -> Result<Passage, CommandError> {
        let from = fleet.version();
        let suite = match self.args.only {
            Some(UpgradePart::BeforeAfter) => Suite { features: Vec::new() },
            Some(UpgradePart::InFlight) | None => in_flight(&self.suite),
        };
        let part = Part::of(suite, fleet, true);
        let upgrade = steps::upgrade::Upgrade::new(order, to.clone(), part.suite.scenarios().count());
        let told = |text: &str| stderr_line!("{text}");
        let (ran, (phases, error)) =
            tokio::join!(self.run(fleet, part, Some(upgrade.clone())), passage::go(fleet, &upgrade, &told));
        let (run, broken) = ran?;
        let error = match error.or(broken.map(|exit| FleetError::Broken { exit })) {
            Some(error) if is_the_upgrade_s(&error) => Some(in_full(&error)),
            Some(error) => return Err(error.into()),
            None => None,
        };
        Ok(Passage { id: run.id, from, to: to.version.clone(), phases, error, scenarios: run.scenarios })
    }

    /// Runs scenarios on the fleet; with an upgrade under them, all at the same time.
    async fn run(
        &self,
        fleet: &Fleet,
        Part { suite, left_out, order }: Part,
        upgrade: Option<steps::upgrade::Upgrade>,
    ) -> Result<(RunRecord, Option<ProcessExit>), CommandError> {
        let started = Instant::now();
        let mut record = self.empty(&fleet.version());
        record.id = new_id();
        record.capabilities = fleet.capabilities();
        record.scenarios = left_out;
        let scenarios = suite.scenarios().count();
        let mut reporters = reporters();
        reporters.event(&Event::RunStarted { scenarios })?;
        let engine = Engine {
            fleet: fleet.clone(),
            run: record.id.clone(),
            bundles: self.args.bundles.clone(),
            jobs: Jobs::all(if upgrade.is_some() { scenarios.max(1) } else { usize::from(self.args.jobs) }),
            real_time: false,
            keep_failed: false,
            fleet_stays: true,
            upgrade,
        };
        let ended = engine.run(&suite, reporters, std::future::pending()).await;
        record.scenarios.extend(ended.scenarios);
        sort(&mut record.scenarios, &order);
        record.seconds = started.elapsed().as_secs_f64();
        if let Some(reporters) = ended.reporters {
            for error in reporters.finish(&record) {
                crate::output::print_error(&error, None);
            }
        }
        Ok((record, ended.broken))
    }

    fn empty(&self, version: &str) -> RunRecord {
        let mut versions = self.old.versions.clone();
        for (component, of) in &mut versions {
            if component == "kubefleet" {
                version.clone_into(of);
            }
        }
        RunRecord {
            id: String::new(),
            fleetdrill: env!("CARGO_PKG_VERSION").into(),
            versions,
            capabilities: Capabilities::default(),
            provider: "local".into(),
            started_at: Timestamp::now(),
            seconds: 0.0,
            fleet_seconds: 0.0,
            scenarios: Vec::new(),
        }
    }
}

/// Whether an upgrade that came no further is to blame for it, and not the machine.
fn is_the_upgrade_s(error: &FleetError) -> bool {
    match error {
        FleetError::Broken { exit } => is_agent(&exit.name),
        error => !error.is_environment(),
    }
}

/// All of it is progress here: stdout is the report's.
fn reporters() -> RunReporters {
    Reporters::new(Terminal::stderr(Look::from_locale(), Detail::Compact, Progress::auto()))
}

/// Writes the report into the files that were asked for, and prints it.
fn output(args: &Upgrade, record: &UpgradeRecord, report: &Report) -> Result<(), CommandError> {
    if let Some(path) = &args.json {
        write_atomically(path, json::render(record, report)?.as_bytes())?;
    }
    if let Some(path) = &args.html {
        write_atomically(path, html::render(record, report)?.as_bytes())?;
    }
    match args.output {
        crate::cli::Format::Text => data::print_text(&text::render(report, Look::from_locale())),
        format => data::print(format, report),
    }
    Ok(())
}
