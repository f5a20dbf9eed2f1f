//! Steps about backups of clusters.

use cucumber::{given, when};
use diagnosis::kubefleet::RESOURCE_INDEX;
use fleet::{FleetError, kinds};
use kube::ResourceExt as _;
use kube::api::ListParams;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::objects::PARENT;
use crate::phrases::{BackupChange, DestinationRef};
use crate::placement_objects::SETTINGS;
use crate::world::World;

/// `is backed up`: takes a backup of what a member or the hub stores in its etcd, all objects but events. `is restored from its backup`: stops
/// its API server, puts back all objects as they were, removes those that are newer, and starts the API server again. Revisions count on, as
/// after `etcdutl snapshot restore --bump-revision --mark-compacted`. The member, or the fleet, must be the scenario's own.
#[needs(ability: |_| Some(ProviderAbility::RestoreClusters))]
#[given(expr = "{destination} {is backed up or restored}")]
#[when(expr = "{destination} {is backed up or restored}")]
async fn backup(world: &mut World, destination: DestinationRef, change: BackupChange) -> Result<(), StepError> {
    let context = world.context();
    let cluster = context.own_cluster(destination.member.as_deref(), "the hub is").await?;
    if !change.restores {
        context.fleet.back_up(&cluster).await?;
        context.did(format!("backup of {} taken", cluster.name));
        return Ok(());
    }
    context.fleet.restore(&cluster).await?;
    context.induced(format!("{} restored from its backup", cluster.name));
    if cluster.name == fleet::HUB { recount(context).await } else { Ok(()) }
}

/// Takes note of what the hub has of the placements now: later steps wait for the next revision and the next snapshot.
async fn recount(context: &mut ScenarioContext) -> Result<(), StepError> {
    let hub = context.hub();
    for (name, mut placement) in context.ledger.placements.clone() {
        let read = kinds::CONFIG_MAP.api(&hub.client, Some(&placement.content)).get_opt(SETTINGS).await;
        let read =
            read.map_err(FleetError::api(&hub.name, format!("read ConfigMap/{}/{SETTINGS}", placement.content)))?;
        // What is newer than the backup is gone.
        let Some(revision) = read.as_ref().and_then(|object| object.data.pointer("/data/revision")?.as_str()) else {
            continue;
        };
        placement.revision = revision.parse().unwrap_or_default();
        let labels = ListParams::default().labels(&format!("{PARENT}={}", placement.name));
        let snapshots = placement.scope.resource_snapshot().api(&hub.client, placement.scope.namespace());
        let snapshots = snapshots.list_metadata(&labels).await;
        let snapshots = snapshots.map_err(FleetError::api(&hub.name, "list resource snapshots"))?.items;
        let indexes =
            snapshots.iter().filter_map(|snapshot| snapshot.labels().get(RESOURCE_INDEX)?.parse::<u32>().ok());
        placement.snapshots = indexes.max().map_or(0, |index| index + 1);
        context.ledger.placements.insert(name, placement);
    }
    Ok(())
}
