//! A scene that outlives its process: one command breaks a fleet, another looks at it later.

use std::path::Path;

use fleet::argocd::Repository;
use fleet::{Fleet, FleetError, HUB, kinds};
use futures::future::try_join_all;
use kube::ResourceExt as _;
use kube::api::ListParams;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ledger::Ledger;
use super::{ScenarioContext, ScenarioInfo, WaitNotice};
use crate::deadline::Deadline;
use crate::error::StepError;
use crate::limits;
use crate::objects::latest_snapshot;
use crate::recorder::Recorder;
use crate::survival_baseline::SurvivalBaseline;

/// A scenario's ledger, and the run that it belongs to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedScenario {
    run: String,
    #[serde(flatten)]
    ledger: Ledger,
}

impl SavedScenario {
    /// Text with `{name}` replaced by the real name of what the scenario calls so, `{repository:name}` by the directory of its
    /// git repository, and `{url:name}` by its URL.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        self.ledger.fill(text)
    }

    /// The directories of its git repositories.
    pub fn repositories(&self) -> impl Iterator<Item = &Path> {
        self.ledger.repositories.values().map(Repository::dir)
    }
}

impl ScenarioContext {
    /// Returns the data that another process needs to go on with this scene.
    ///
    /// # Errors
    /// When the scene has a fleet of its own, which would have to be saved as well.
    pub fn save(&self) -> Result<SavedScenario, StepError> {
        if self.owns_fleet {
            return Err(StepError::Feature("a scenario with a fleet of its own can't be gone on with later".into()));
        }
        Ok(SavedScenario { run: self.info.run.clone(), ledger: self.ledger.clone() })
    }

    /// Takes away what a saved scene has made on a fleet that stays, so that its scenario can be set up again there: update runs of its
    /// placements go whoever made them, and the MemberClusters that it shares with others get the fields back that they had `before`.
    /// All agents have to run ([`crate::start_stopped_agents`]).
    ///
    /// # Errors
    /// When the fleet doesn't answer, or a MemberCluster that others share is gone.
    pub async fn take_away(
        fleet: Fleet,
        mut saved: SavedScenario,
        before: &SurvivalBaseline,
        recorder: Recorder,
        progress: WaitNotice,
    ) -> Result<(), StepError> {
        let members = fleet.members().await;
        saved.ledger.made.retain(|made| made.cluster == HUB || members.contains_key(&made.cluster));
        saved.ledger.own_members.retain(|member| members.contains_key(member));
        saved.ledger.without_twins.clear();
        let mut context = Self::restore(fleet, saved, recorder, progress).await?;
        context.delete_runs().await?;
        context.give_back_members(before).await?;
        // Argo CD can't compare applications while a definition goes, and those of the next scene have other names.
        drop(context.cleanup(true).await);
        Ok(())
    }

    /// Deletes all update runs of the scene's placements.
    async fn delete_runs(&self) -> Result<(), StepError> {
        let hub = self.hub();
        for kind in [kinds::CLUSTER_RUN, kinds::RUN] {
            let runs = match kind.api(&hub.client, None).list(&ListParams::default()).await {
                Ok(runs) => runs.items,
                // A version that doesn't have the kind.
                Err(kube::Error::Api(status)) if status.code == 404 => continue,
                Err(error) => return Err(FleetError::api("hub", format!("list {}", kind.plural))(error).into()),
            };
            for run in runs {
                let placement = run.data.pointer("/spec/placementName").and_then(Value::as_str);
                if placement.is_some_and(|name| self.ledger.placements.values().any(|placement| placement.name == name))
                {
                    self.delete(kind, run.namespace().as_deref(), &run.name_any()).await?;
                }
            }
        }
        Ok(())
    }

    /// Goes on with a scene on the fleet that it was on. What the controllers make twice of an envelope is looked for again
    /// from here on.
    ///
    /// # Errors
    /// When a member that it had is no longer there.
    pub async fn restore(
        fleet: Fleet,
        saved: SavedScenario,
        recorder: Recorder,
        progress: WaitNotice,
    ) -> Result<Self, StepError> {
        let info = ScenarioInfo {
            run: saved.run,
            suffix: saved.ledger.names.suffix().to_owned(),
            real_time: false,
            deadline: Deadline::after(limits::SCENARIO),
            progress,
            upgrade: None,
        };
        let mut context = Self::new(fleet, info, recorder).await;
        context.ledger = saved.ledger;
        // A member that is gone can't be looked at or emptied.
        for made in &context.ledger.made {
            if made.cluster != HUB {
                context.fleet.member(&made.cluster).await?;
            }
        }
        // Somebody may have changed what they place since then.
        let latest: Vec<(String, Option<u32>)> =
            try_join_all(context.ledger.placements.iter().map(async |(name, placement)| {
                Ok::<_, StepError>((name.clone(), latest_snapshot(&context.hub(), placement).await?))
            }))
            .await?;
        for (name, latest) in latest {
            let snapshots = latest.map_or(0, |index| index + 1);
            context.ledger.placements.entry(name).and_modify(|placement| placement.snapshots = snapshots);
        }
        let without_twins = std::mem::take(&mut context.ledger.without_twins);
        let all = context.ledger.placements.iter();
        let enveloped = all.filter(|(_, placement)| without_twins.contains(&placement.name));
        let enveloped: Vec<String> = enveloped.map(|(name, _)| name.clone()).collect();
        for name in enveloped {
            context.keep_one_work(&name);
        }
        Ok(context)
    }
}
