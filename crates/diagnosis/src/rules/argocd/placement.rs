//! AR-SF-015: a placement that an application has applied to the hub and that failed on its way to a member. Argo CD
//! calls such an application Synced and Healthy, because it knows no health of placements.

use serde_json::json;

use super::application::{Application, Operation};
use super::destination::{instance, owner};
use super::wave;
use crate::rules::draft::Draft;
use crate::rules::fleet::Placement;
use crate::rules::scope::Scope;

pub(super) fn rule(application: Application<'_>) -> Vec<Draft> {
    let on_hub = application.destination().cluster.is_some_and(|c| c.name == application.fleet.hub.name);
    if !on_hub || application.operation() == Operation::Failed {
        return Vec::new();
    }
    let all = application.fleet.placements();
    all.filter(|p| is_of(application, *p)).map(|p| draft(application, p)).collect()
}

fn is_of(application: Application<'_>, placement: Placement<'_>) -> bool {
    let owner = owner(placement.object);
    owner == application.object.name() || owner == instance(application.object)
}

/// It stands only below what is wrong with the placement.
fn draft(application: Application<'_>, placement: Placement<'_>) -> Draft {
    let quote = application.quote();
    let tracking = format!("metadata.annotations[{}]", super::destination::TRACKING_ID);
    let id = super::destination::tracking_id(placement.object).unwrap_or_default();
    let evidence = vec![
        quote.field(application.object, "status.sync.status"),
        quote.field(application.object, "status.health.status"),
        quote.text(placement.object, &tracking, id.to_owned(), None),
    ];
    let kind = match placement.scope {
        Scope::Cluster => "ClusterResourcePlacement",
        Scope::Namespaced => "ResourcePlacement",
    };
    let names = json!({"placement": placement.full_name(), "placement_kind": kind});
    let draft = Draft::new("AR-SF-015", application.subject(), &super::names::with(application, &names), evidence);
    wave::topics(placement).into_iter().fold(draft.only_as_consequence(), Draft::follows)
}
