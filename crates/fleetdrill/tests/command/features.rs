//! Features for tests: short ones, and ones that go on until they are interrupted.

use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};

use crate::place::{Place, until_or};
use crate::running::Running;

/// Writes a feature with one scenario that passes, and returns its path.
pub fn quick(place: &Place) -> String {
    let text = "Feature: quick

  Scenario: quick
    Given a placement \"web\" has put its resources on \"member-1\"
    Then the diagnosis finds nothing
";
    place.write("quick.feature", text)
}

/// Writes a feature with scenarios that take ten minutes, and returns its path.
pub fn endless(place: &Place, scenarios: usize) -> String {
    let scenario = |n| {
        format!(
            "
  Scenario: endless {n}
    Given a placement \"web\" has put its resources on \"member-1\"
    Then placement \"web\" reports for 600 seconds
      | condition | status | reason                    |
      | Scheduled | True   | SchedulingPolicyFulfilled |
"
        )
    };
    let text = (1..=scenarios).fold("Feature: endless\n".to_owned(), |text, n| text + &scenario(n));
    place.write("endless.feature", &text)
}

/// Waits until a run's scenarios have started: this many placements are available on the hub.
#[track_caller]
pub fn until_placements(place: &Place, running: &mut Running, count: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    until_or(
        "scenarios are under way",
        || {
            running.still_runs();
            (runtime.block_on(available(place)) >= count).then_some(())
        },
        || format!("left: {:#?}", place.left()),
    );
}

async fn available(place: &Place) -> usize {
    let fleets = std::fs::read_dir(place.state()).into_iter().flatten().flatten();
    let Some(kubeconfig) = fleets.map(|fleet| fleet.path().join("kubeconfig")).find(|path| path.exists()) else {
        return 0;
    };
    let Ok(kubeconfig) = kube::config::Kubeconfig::read_from(kubeconfig) else { return 0 };
    let Ok(client) = clusters::kubeconfig::client(kubeconfig, "hub").await else { return 0 };
    let kind = GroupVersionKind::gvk("placement.kubernetes-fleet.io", "v1beta1", "ClusterResourcePlacement");
    let api: Api<DynamicObject> = Api::all_with(client, &ApiResource::from_gvk(&kind));
    let placements = api.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default();
    let is_available = |placement: &&DynamicObject| {
        let conditions = placement.data.pointer("/status/conditions").and_then(|c| c.as_array());
        conditions
            .into_iter()
            .flatten()
            .any(|c| c["type"] == "ClusterResourcePlacementAvailable" && c["status"] == "True")
    };
    placements.iter().filter(is_available).count()
}
