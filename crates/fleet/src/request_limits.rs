//! Limits of an agent's requests to the hub's API server, by API Priority and Fairness: what is more gets 429.
//!
//! A priority level without a share takes one request at a time (Kubernetes 1.36): where none is executing, the next one is served.

use serde_json::{Value, json};

use crate::error::FleetError;
use crate::faults::HUB_AGENT_ACCOUNTS;
use crate::fleet::Fleet;
use crate::kinds::ResourceKind;
use crate::member::{SYSTEM, identity};
use crate::objects::{apply, delete};

const GROUP: &str = "flowcontrol.apiserver.k8s.io";

const FLOW_SCHEMA: ResourceKind =
    ResourceKind { group: GROUP, version: "v1", kind: "FlowSchema", plural: "flowschemas", namespaced: false };

const PRIORITY_LEVEL: ResourceKind = ResourceKind {
    group: GROUP,
    version: "v1",
    kind: "PriorityLevelConfiguration",
    plural: "prioritylevelconfigurations",
    namespaced: false,
};

/// Name of the `FlowSchema` and of the `PriorityLevelConfiguration`.
const NAME: &str = "fleetdrill";

/// Precedence of the `FlowSchema`: that of the lowest number counts, and the API server's own begin at 1.
const PRECEDENCE: u32 = 2;

impl Fleet {
    /// Has the hub's API server, which is restarted for it, take one request at a time of a member's agent, or of the hub-agent without a
    /// member, and refuse what is more.
    ///
    /// # Errors
    /// Returns an error if the provider can't set priorities, or the hub refuses a request.
    pub async fn limit_requests(&self, member: Option<&str>) -> Result<(), FleetError> {
        self.0.provider.set_priorities(&self.hub().name).await?;
        self.limit_requests_beside(member, None).await
    }

    /// Takes the limit of [`Fleet::limit_requests`], or of [`Fleet::flood_requests`], back.
    ///
    /// # Errors
    /// Returns an error if the hub refuses the request.
    pub async fn free_requests(&self) -> Result<(), FleetError> {
        delete(self.hub(), FLOW_SCHEMA, None, NAME).await
    }

    /// Does what [`Fleet::limit_requests`] does, at an API server that sets priorities already. Requests of a user `other` count among those of
    /// the agent.
    pub(crate) async fn limit_requests_beside(
        &self,
        member: Option<&str>,
        other: Option<&str>,
    ) -> Result<(), FleetError> {
        let hub = self.hub();
        let accounts =
            member.map_or_else(|| HUB_AGENT_ACCOUNTS.map(str::to_owned).to_vec(), |member| vec![identity(member)]);
        apply(hub, PRIORITY_LEVEL, &priority_level()).await?;
        apply(hub, FLOW_SCHEMA, &flow_schema(&accounts, other)).await
    }
}

fn priority_level() -> Value {
    json!({
        "apiVersion": PRIORITY_LEVEL.api_version(), "kind": PRIORITY_LEVEL.kind, "metadata": {"name": NAME},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0,
            "limitResponse": {"type": "Reject"},
        }},
    })
}

/// Returns the `FlowSchema` for all requests of these `ServiceAccount`s in [`SYSTEM`], and of a user.
fn flow_schema(accounts: &[String], user: Option<&str>) -> Value {
    let subject =
        |account: &String| json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": SYSTEM, "name": account}});
    let user = user.map(|name| json!({"kind": "User", "user": {"name": name}}));
    let subjects: Vec<Value> = accounts.iter().map(subject).chain(user).collect();
    let everything = ["*"];
    json!({
        "apiVersion": FLOW_SCHEMA.api_version(), "kind": FLOW_SCHEMA.kind, "metadata": {"name": NAME},
        "spec": {
            "matchingPrecedence": PRECEDENCE,
            "priorityLevelConfiguration": {"name": NAME},
            "rules": [{
                "subjects": subjects,
                "resourceRules": [{
                    "verbs": everything, "apiGroups": everything, "resources": everything, "namespaces": everything,
                    "clusterScope": true,
                }],
                "nonResourceRules": [{"verbs": everything, "nonResourceURLs": everything}],
            }],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_for_these_users_and_leads_to_the_level_without_a_share() {
        let (schema, level) = (flow_schema(&["hub-agent".to_owned()], Some("other")), priority_level());
        assert_eq!(schema["spec"]["priorityLevelConfiguration"]["name"], level["metadata"]["name"]);
        let subjects = &schema["spec"]["rules"][0]["subjects"];
        let account = json!({"namespace": SYSTEM, "name": "hub-agent"});
        let user = json!({"kind": "User", "user": {"name": "other"}});
        assert_eq!(subjects, &json!([{"kind": "ServiceAccount", "serviceAccount": account}, user]));
    }
}
