//! Steps about what an object on a member is, beside that it is there.

use cucumber::{given, then};
use fleet::FleetError;
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::Value;

use crate::destination::{NAMESPACE, known};
use crate::error::StepError;
use crate::scene::Scene;
use crate::world::World;

/// Where a Service has its address.
const CLUSTER_IP: &str = "/spec/clusterIP";

/// The second object (`Kind/name`, in the namespace `{apps}`) was created at least so many seconds after the first, by the API
/// server's clock.
#[then(expr = "{string} on {string} is at least {int} seconds younger than {string}")]
async fn is_younger(
    world: &mut World,
    younger: String,
    member: String,
    seconds: i64,
    older: String,
) -> Result<(), StepError> {
    let scene = world.scene();
    let mut times = Vec::new();
    for object in [&older, &younger] {
        let created = live(scene, &member, object).await?.creation_timestamp();
        times.push(created.map(|time| time.0.as_second()).unwrap_or_default());
    }
    let after = times[1] - times[0];
    scene.did(format!("{younger} was created {after} s after {older}"));
    if after >= seconds { Ok(()) } else { Err(StepError::Differs(format!("{younger} came {after} s after {older}"))) }
}

/// From here on, `{name}` stands for the address that the Service (`Service/name`, in the namespace `{apps}`) has now.
#[given(expr = "the clusterIP of {string} on {string} is called {string}")]
async fn is_called(world: &mut World, service: String, member: String, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let address = cluster_ip(scene, &member, &service).await?;
    scene.did(format!("{service} has the clusterIP {address}"));
    scene.names.call(&name, address);
    Ok(())
}

/// The Service (`Service/name`, in the namespace `{apps}`) has an address, and it isn't the one that was called so.
#[then(expr = "the clusterIP of {string} on {string} is another than {string}")]
async fn is_another(world: &mut World, service: String, member: String, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let (before, now) = (scene.names.get(&name)?, cluster_ip(scene, &member, &service).await?);
    scene.did(format!("{service} has the clusterIP {now}"));
    if now == before { Err(StepError::Differs(format!("{service} has {before} again"))) } else { Ok(()) }
}

async fn cluster_ip(scene: &Scene, member: &str, service: &str) -> Result<String, StepError> {
    let object = live(scene, member, service).await?;
    let address = object.data.pointer(CLUSTER_IP).and_then(Value::as_str);
    Ok(address.ok_or_else(|| StepError::Feature(format!("{service} has no clusterIP")))?.to_owned())
}

/// The object as it is now.
async fn live(scene: &Scene, member: &str, object: &str) -> Result<DynamicObject, StepError> {
    let (cluster, kind, name) = known(scene, member, object).await?;
    let namespace = scene.names.get(NAMESPACE)?;
    let failed = FleetError::api(&cluster.name, format!("read {object}"));
    Ok(kind.api(&cluster.client, Some(&namespace)).get(&name).await.map_err(failed)?)
}
