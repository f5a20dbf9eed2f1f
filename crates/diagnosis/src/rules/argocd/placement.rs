//! AR-SF-015: an Application has applied a placement to the hub, and the placement failed on its way to a member. Argo
//! CD calls such an Application Synced and Healthy, because it has no health check for placements.

use serde_json::json;

use super::application::{ApplicationView, OperationState};
use super::destination::{owning_application, qualified_name};
use super::wave;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::fleet::PlacementView;
use crate::rules::scope::KindScope;

pub(super) fn rule(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    let on_hub = application.destination().cluster.is_some_and(|c| c.name == application.fleet.hub.name);
    if !on_hub || application.operation_state() == OperationState::Failed {
        return Vec::new();
    }
    let all = application.fleet.placements();
    all.filter(|p| is_applied_by(application, *p)).map(|p| draft(application, p)).collect()
}

fn is_applied_by(application: ApplicationView<'_>, placement: PlacementView<'_>) -> bool {
    let owner = owning_application(placement.object);
    owner == application.object.name() || owner == qualified_name(application.object)
}

/// Creates the finding, which is shown only as a consequence of the placement's own finding.
fn draft(application: ApplicationView<'_>, placement: PlacementView<'_>) -> FindingDraft {
    let quote = application.quote();
    let tracking = format!("metadata.annotations[{}]", super::destination::TRACKING_ID);
    let id = super::destination::tracking_id(placement.object).unwrap_or_default();
    let evidence = vec![
        quote.field(application.object, "status.sync.status"),
        quote.field(application.object, "status.health.status"),
        quote.text(placement.object, &tracking, id.to_owned(), None),
    ];
    let kind = match placement.scope {
        KindScope::Cluster => "ClusterResourcePlacement",
        KindScope::Namespaced => "ResourcePlacement",
    };
    let names = json!({"placement": placement.full_name(), "placement_kind": kind});
    let draft = application.draft_beside_sync(RuleCode::AR_SF_015, &names, evidence);
    wave::placement_parts(placement).into_iter().fold(draft.only_as_consequence(), FindingDraft::depends_on)
}
