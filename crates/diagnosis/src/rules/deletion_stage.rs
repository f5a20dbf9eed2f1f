//! Update runs whose deletion stage doesn't end.

use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, UpdateRunView};
use super::foreign_finalizer::part_of_binding;
use super::kubectl;
use super::outcome::DELETION_LIMIT;
use crate::Condition;
use crate::object::{conditions_of_type, text_field};

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let unfinished = fleet.runs().filter(|run| !run.is_finished());
    unfinished.flat_map(|run| deleting_clusters(run).filter_map(move |cluster| waits(fleet, run, &cluster))).collect()
}

/// Member in a run's deletion stage whose binding isn't gone yet.
struct DeletingCluster<'a> {
    member: &'a str,
    started: Condition,
}

fn deleting_clusters(run: UpdateRunView<'_>) -> impl Iterator<Item = DeletingCluster<'_>> {
    run.object.list("/status/deletionStageStatus/clusters").iter().filter_map(|cluster| {
        let of_type = |type_: &str| conditions_of_type(Some(cluster), type_).find(|c| c.status == "True");
        let started = of_type("Started").filter(|_| of_type("Succeeded").is_none())?;
        Some(DeletingCluster { member: text_field(cluster, "clusterName"), started })
    })
}

/// KF-DL-003: the run waits in its deletion stage for a binding that doesn't go.
fn waits(fleet: FleetView<'_>, run: UpdateRunView<'_>, cluster: &DeletingCluster<'_>) -> Option<FindingDraft> {
    if fleet.age(cluster.started.last_transition_time?) < DELETION_LIMIT {
        return None;
    }
    let bindings = fleet.index.bindings(run.placement_key(), cluster.member);
    let binding = bindings.into_iter().find(|binding| binding.deleted_at().is_some())?;
    let quote = fleet.quote();
    let path = format!("status.deletionStageStatus.clusters[{}].conditions[Started]", cluster.member);
    let value = format!("{} ({})", cluster.started.status, cluster.started.reason);
    let evidence = vec![
        quote.text(run.object, &path, value, cluster.started.last_transition_time),
        quote.deletion(binding),
        quote.field(binding, "metadata.finalizers"),
    ];
    let finalizers: Vec<_> = binding.finalizers().collect();
    let names = json!({
        "run": run.object.name(),
        "member": cluster.member,
        "binding": binding.path().to_string(),
        "binding_ref": kubectl::reference(binding),
        "finalizers": finalizers,
        "is_explained": false,
    });
    let about = run.subject(fleet, None, Some(cluster.member));
    let draft = FindingDraft::new(RuleCode::KF_DL_003, about, &names, evidence)
        .with_texts_if_explained(&names)
        .depends_on(AffectedPart::HubAgent)
        .depends_on(AffectedPart::MemberNamespace(cluster.member.to_owned()))
        .depends_on(part_of_binding(binding));
    Some(draft)
}
