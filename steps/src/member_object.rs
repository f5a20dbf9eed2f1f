//! Steps about what an object on a member is, beside that it is there.

use cucumber::{given, then};
use fleet::FleetError;
use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::Value;

use crate::context::ScenarioContext;
use crate::destination::{NAMESPACE, known};
use crate::error::StepError;
use crate::phrases::AddressUse;
use crate::world::World;

/// JSON pointer to a Service's address.
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
    let context = world.context();
    let mut times = Vec::new();
    for object in [&older, &younger] {
        let created = live(context, &member, object).await?.creation_timestamp();
        times.push(created.map(|time| time.0.as_second()).unwrap_or_default());
    }
    let after = times[1] - times[0];
    context.did(format!("{younger} was created {after} s after {older}"));
    if after >= seconds { Ok(()) } else { Err(StepError::Differs(format!("{younger} came {after} s after {older}"))) }
}

/// `called`: from here on, `{name}` stands for the address that the Service (`Service/name`, in the namespace `{apps}`) has now. `another
/// than`: the Service has an address, and it isn't the one that was called so.
#[given(expr = "the clusterIP of {string} on {string} is {called or another than} {string}")]
#[then(expr = "the clusterIP of {string} on {string} is {called or another than} {string}")]
async fn address_is(
    world: &mut World,
    service: String,
    member: String,
    is: AddressUse,
    name: String,
) -> Result<(), StepError> {
    let context = world.context();
    let address = cluster_ip(context, &member, &service).await?;
    context.did(format!("{service} has the clusterIP {address}"));
    if is.called {
        context.ledger.names.call(&name, address);
        return Ok(());
    }
    let before = context.ledger.names.get(&name)?;
    if address == before { Err(StepError::Differs(format!("{service} has {before} again"))) } else { Ok(()) }
}

async fn cluster_ip(context: &ScenarioContext, member: &str, service: &str) -> Result<String, StepError> {
    let object = live(context, member, service).await?;
    let address = object.data.pointer(CLUSTER_IP).and_then(Value::as_str);
    Ok(address.ok_or_else(|| StepError::Feature(format!("{service} has no clusterIP")))?.to_owned())
}

/// Reads the object's present state.
async fn live(context: &ScenarioContext, member: &str, object: &str) -> Result<DynamicObject, StepError> {
    let (cluster, kind, name) = known(context, member, object).await?;
    let namespace = context.ledger.names.get(NAMESPACE)?;
    let failed = FleetError::api(&cluster.name, format!("read {object}"));
    Ok(kind.api(&cluster.client, Some(&namespace)).get(&name).await.map_err(failed)?)
}
