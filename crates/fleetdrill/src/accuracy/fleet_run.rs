//! Runs drills on a fleet: a few at a time, while the whole fleet is looked at.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use fleet::{Fleet, FleetError};
use futures::{StreamExt as _, stream};
use report::accuracy::drill::{DrillResult, WrongFinding};
use steps::World;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::catalogue::DrillCatalogue;
use super::drill_run::DrillRunner;
use super::generator::Drill;
use super::judge::NobodysJudge;
use crate::continuous_diagnosis::looks::{self, Look};
use crate::continuous_diagnosis::owners::Suffixes;
use crate::error::CommandError;
use crate::run::{BundleSaver, PACE};

/// A fleet with drills to be run on it.
pub struct AccuracyFleet<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// Id of the run.
    pub run: &'a str,
    /// Seed of the drills.
    pub seed: u64,
    /// What the drills are made of.
    pub catalogue: &'a DrillCatalogue,
    /// Maximum number of drills at the same time.
    pub jobs: usize,
    /// Directory of the bundles of wrong findings.
    pub bundles: &'a Path,
}

/// Results of the drills that have ended so far.
#[derive(Default)]
pub struct FinishedDrills(Mutex<FinishedParts>);

#[derive(Default)]
struct FinishedParts {
    results: Vec<DrillResult>,
    nobodys: Vec<WrongFinding>,
}

impl FinishedDrills {
    fn lock(&self) -> MutexGuard<'_, FinishedParts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the results, and the wrong findings about objects of no drill.
    #[must_use]
    pub fn take(&self) -> (Vec<DrillResult>, Vec<WrongFinding>) {
        let mut parts = self.lock();
        (std::mem::take(&mut parts.results), std::mem::take(&mut parts.nobodys))
    }
}

impl AccuracyFleet<'_> {
    /// Runs drills, and adds each to `finished` when it ends. Calls `tell` with each result, the number of drills that have
    /// ended, and the number of all drills.
    ///
    /// # Errors
    /// Returns an error if a process of the fleet ends, or if the hub doesn't answer any more.
    pub async fn run(
        &self,
        drills: &[Drill],
        finished: &FinishedDrills,
        tell: impl Fn(&DrillResult, usize, usize),
    ) -> Result<(), CommandError> {
        let (sender, receiver) = watch::channel(None);
        let bundles = BundleSaver::new(self.bundles);
        let mut exits = self.fleet.first_exit();
        let broken = async {
            match exits.wait_for(Option::is_some).await {
                Ok(exit) => exit.clone(),
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.drills(drills, &bundles, finished, &receiver, tell) => Ok(()),
            error = looks::look(self.fleet, &sender) => Err(error.into()),
            () = self.judge_nobodys(receiver.clone(), &bundles, finished) => Ok(()),
            exit = broken => match exit {
                Some(exit) => Err(FleetError::Broken { exit }.into()),
                None => Ok(()),
            },
        }
    }

    async fn drills(
        &self,
        drills: &[Drill],
        bundles: &BundleSaver,
        finished: &FinishedDrills,
        looks: &watch::Receiver<Option<Arc<Look>>>,
        tell: impl Fn(&DrillResult, usize, usize),
    ) {
        let vocabulary = World::vocabulary();
        let mut pace = tokio::time::interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let runner = DrillRunner {
            fleet: self.fleet,
            run: self.run,
            seed: self.seed,
            catalogue: self.catalogue,
            vocabulary: &vocabulary,
            suffixes: Suffixes::new(self.run),
            pace: &tokio::sync::Mutex::new(pace),
            bundles,
            looks: looks.clone(),
        };
        let mut results = stream::iter(drills).map(|drill| runner.run(drill)).buffer_unordered(self.jobs);
        let mut ended = 0;
        while let Some(result) = results.next().await {
            ended += 1;
            tell(&result, ended, drills.len());
            finished.lock().results.push(result);
        }
    }

    /// Judges what is said about objects of no scenario. Never ends.
    async fn judge_nobodys(
        &self,
        mut looks: watch::Receiver<Option<Arc<Look>>>,
        bundles: &BundleSaver,
        finished: &FinishedDrills,
    ) {
        let mut judge = NobodysJudge::new(Suffixes::new(self.run));
        let begun = Instant::now();
        while looks.changed().await.is_ok() {
            let Some(look) = looks.borrow_and_update().clone() else { continue };
            let known = judge.look(look.at.saturating_duration_since(begun).as_secs_f64(), &look.findings);
            let new = judge.count() - known;
            if new > 0 {
                let about = format!("seed {}: wrong findings about objects of no drill", self.seed);
                let name = format!("seed-{}-nobodys-{}", self.seed, known + 1);
                if let Some(path) = bundles.save(look.bundle(self.fleet, about), &name).await {
                    (known..known + new).for_each(|n| judge.add_bundle(n, path.clone()));
                }
            }
            finished.lock().nobodys = judge.wrong();
        }
        std::future::pending::<()>().await;
    }
}
