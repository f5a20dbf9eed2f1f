//! A scene that outlives its process: one command breaks a fleet, another looks at it later.

use std::collections::{BTreeMap, BTreeSet};

use clusters::cluster::Cluster;
use fleet::argocd::Repository;
use fleet::webhook::Rule;
use fleet::{Fleet, FleetError, HUB, kinds};
use futures::future::try_join_all;
use kube::ResourceExt as _;
use kube::api::ListParams;
use serde::{Deserialize, Serialize};

use super::{Made, Progress, Scene, SceneInfo};
use crate::deadline::Deadline;
use crate::error::StepError;
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
    /// Text with `{name}` replaced by the real name of what the scenario calls so.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        self.names.fill(text)
    }

    /// Where its git repositories are, by their names in the feature.
    pub fn repositories(&self) -> impl Iterator<Item = String> {
        self.repositories.values().map(Repository::url)
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
