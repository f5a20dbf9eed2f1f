//! Steps about aggregated APIs: those that an API server asks another server for.

use cucumber::{given, when};
use fleet::kinds::ResourceKind;
use fleet::objects;
use record::{Action, ObjectPath};
use serde_json::json;

use crate::error::StepError;
use crate::phrases::{AggregatedApiChange, ApiServerRef};
use crate::world::World;

const GROUP: &str = "unserved.fleetdrill.dev";

const VERSION: &str = "v1";

const API_SERVICE: ResourceKind = ResourceKind {
    group: "apiregistration.k8s.io",
    version: "v1",
    kind: "APIService",
    plural: "apiservices",
    namespaced: false,
};

/// `has an aggregated API that doesn't answer`: makes an `APIService` for `v1.unserved.fleetdrill.dev` whose Service doesn't exist, as a metrics server
/// that was deleted leaves its own. The API server doesn't list all its APIs then. `has that API no more`: deletes it. Only on a member of the
/// scenario's own; for the hub, with a fleet of its own.
#[given(expr = "{API server} {aggregated API change}")]
#[when(expr = "{API server} {aggregated API change}")]
async fn aggregated_api(world: &mut World, server: ApiServerRef, change: AggregatedApiChange) -> Result<(), StepError> {
    let context = world.context();
    let cluster = context.own_cluster(server.member.as_deref(), "the hub's API server is").await?;
    let name = format!("{VERSION}.{GROUP}");
    let path = ObjectPath::new(API_SERVICE.kind, None, &name);
    if change.added {
        let spec = json!({
            "group": GROUP, "version": VERSION, "groupPriorityMinimum": 100, "versionPriority": 100,
            "insecureSkipTLSVerify": true,
            "service": {"namespace": "default", "name": "unserved", "port": 443},
        });
        context.make_on(&cluster, API_SERVICE, None, json!({"metadata": {"name": name}, "spec": spec})).await?;
        context.induced(Action::new(format!("{path} made on {}, which nobody serves", cluster.name)).on(path));
    } else {
        objects::delete(&cluster, API_SERVICE, None, &name).await?;
        context.remedied(Action::new(format!("{path} deleted on {}", cluster.name)).on(path));
    }
    Ok(())
}
