//! A scene that outlives its process: one command breaks a fleet, another looks at it later.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clusters::cluster::Cluster;
use fleet::argocd::Repository;
use fleet::webhook::Rule;
use fleet::{Fleet, FleetError, HUB, kinds};
use futures::future::try_join_all;
use kube::ResourceExt as _;
use kube::api::ListParams;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Made, Progress, Scene, SceneInfo};
use crate::deadline::Deadline;
use crate::error::StepError;
use crate::keeping::Kept;
use crate::limits;
use crate::names::Names;
use crate::objects::{Application, PARENT, Placement, UpdateRun};
use crate::placement::INDEX;
use crate::record::Recorder;

/// What a scene knows of what it has made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedScene {
    run: String,
    names: Names,
    placements: BTreeMap<String, Placement>,
    runs: BTreeMap<String, UpdateRun>,
    repositories: BTreeMap<String, Repository>,
    applications: BTreeMap<String, Application>,
    webhooks: BTreeMap<String, Rule>,
    settings: Vec<String>,
    made: Vec<SavedMade>,
    labels: BTreeMap<String, BTreeSet<String>>,
    own_members: Vec<String>,
    without_twins: BTreeSet<String>,
}

/// How many resource snapshots a placement has had: one more than the greatest index.
async fn snapshots(hub: &Cluster, placement: &Placement) -> Result<u32, StepError> {
    let api = placement.scope.resource_snapshot().api(&hub.client, placement.scope.namespace());
    let labelled = ListParams::default().labels(&format!("{PARENT}={}", placement.name));
    let failed = FleetError::api(&hub.name, format!("list the resource snapshots of {}", placement.name));
    let indexes = api.list(&labelled).await.map_err(failed)?.items.into_iter();
    let greatest = indexes.filter_map(|object| object.labels().get(INDEX)?.parse::<u32>().ok()).max();
    Ok(greatest.map_or(0, |index| index + 1))
}

/// An object that it made.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedMade {
    cluster: String,
    group: String,
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl SavedScene {
    /// Text with `{name}` replaced by the real name of what the scenario calls so, and `{repository:name}` by the directory of its
    /// git repository.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let with_directories = self.repositories.iter().fold(text.to_owned(), |text, (name, repository)| {
            text.replace(&format!("{{repository:{name}}}"), &repository.dir().display().to_string())
        });
        self.names.fill(&with_directories)
    }

    /// The directories of its git repositories.
    pub fn repositories(&self) -> impl Iterator<Item = &Path> {
        self.repositories.values().map(Repository::dir)
    }
}

impl Scene {
    /// What another process needs to go on with this scene.
    ///
    /// # Errors
    /// When the scene has a fleet of its own, which would have to be saved as well.
    pub fn save(&self) -> Result<SavedScene, StepError> {
        if self.owns_fleet {
            return Err(StepError::Feature("a scenario with a fleet of its own can't be gone on with later".into()));
        }
        let made = self.made.iter().map(|made| SavedMade {
            cluster: made.cluster.name.clone(),
            group: made.kind.group.into(),
            kind: made.kind.kind.into(),
            namespace: made.namespace.clone(),
            name: made.name.clone(),
        });
        Ok(SavedScene {
            run: self.info.run.clone(),
            names: self.names.clone(),
            placements: self.placements.clone(),
            runs: self.runs.clone(),
            repositories: self.repositories.clone(),
            applications: self.applications.clone(),
            webhooks: self.webhooks.clone(),
            settings: self.settings.clone(),
            made: made.collect(),
            labels: self.labels.clone(),
            own_members: self.own_members.clone(),
            without_twins: self.without_twins.clone(),
        })
    }

    /// Takes away what a saved scene has made on a fleet that stays, so that its scenario can be set up again there: update runs of its
    /// placements go whoever made them, and the MemberClusters that it shares with others get the fields back that they had `before`.
    /// All agents have to run ([`crate::start_stopped_agents`]).
    ///
    /// # Errors
    /// When the fleet doesn't answer, or a MemberCluster that others share is gone.
    pub async fn take_away(
        fleet: Fleet,
        mut saved: SavedScene,
        before: &Kept,
        recorder: Recorder,
        progress: Progress,
    ) -> Result<(), StepError> {
        let members = fleet.members().await;
        saved.made.retain(|made| made.cluster == HUB || members.contains_key(&made.cluster));
        saved.own_members.retain(|member| members.contains_key(member));
        saved.without_twins.clear();
        let mut scene = Self::restore(fleet, saved, recorder, progress).await?;
        scene.delete_runs().await?;
        scene.give_back_members(before).await?;
        // Argo CD can't compare applications while a definition goes, and those of the next scene have other names.
        drop(scene.strike(true).await);
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
                if placement.is_some_and(|name| self.placements.values().any(|placement| placement.name == name)) {
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
        saved: SavedScene,
        recorder: Recorder,
        progress: Progress,
    ) -> Result<Self, StepError> {
        let info = SceneInfo {
            run: saved.run,
            suffix: saved.names.suffix().to_owned(),
            real_time: false,
            deadline: Deadline::after(limits::SCENARIO),
            progress,
            upgrade: None,
        };
        let mut scene = Self::new(fleet, info, recorder).await;
        for made in saved.made {
            let Some(kind) = kinds::find(&made.group, &made.kind) else { continue };
            let cluster = match made.cluster.as_str() {
                HUB => scene.hub(),
                member => scene.fleet.member(member).await?.cluster,
            };
            scene.made.push(Made { cluster, kind, namespace: made.namespace, name: made.name });
        }
        scene.names = saved.names;
        scene.placements = saved.placements;
        scene.runs = saved.runs;
        scene.repositories = saved.repositories;
        scene.applications = saved.applications;
        scene.webhooks = saved.webhooks;
        scene.settings = saved.settings;
        scene.labels = saved.labels;
        scene.own_members = saved.own_members;
        // Somebody may have changed what they place since then.
        let counted: Vec<(String, u32)> = try_join_all(scene.placements.iter().map(async |(name, placement)| {
            Ok::<_, StepError>((name.clone(), snapshots(&scene.hub(), placement).await?))
        }))
        .await?;
        for (name, snapshots) in counted {
            scene.placements.entry(name).and_modify(|placement| placement.snapshots = snapshots);
        }
        let enveloped: Vec<String> = scene
            .placements
            .iter()
            .filter(|(_, placement)| saved.without_twins.contains(&placement.name))
            .map(|(name, _)| name.clone())
            .collect();
        for name in enveloped {
            scene.keep_one_work(&name);
        }
        Ok(scene)
    }
}
