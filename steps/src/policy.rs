//! Steps about the policy by which a placement chooses members.

use cucumber::when;
use fleet::hollow::hollow_name;
use record::Action;
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::phrases::MemberSelection;
use crate::placement_objects::{noticed, patch_spec};
use crate::selected_members::{SelectedMembers, affinity, pick_all, pick_named};
use crate::world::World;

/// Policy of a new placement.
pub(crate) enum Policy {
    /// All members with the placement's label.
    PickAll(Vec<String>),
    /// Number of members to select from these, which have the placement's label.
    PickN(usize, Vec<String>),
    /// Members by their real names, and, of these, the members that there are.
    PickFixed(Vec<String>, Vec<String>),
    /// This many hollow members, the first ones, by their names.
    PickHollow(usize),
}

impl Policy {
    pub fn new(context: &ScenarioContext, selection: &MemberSelection) -> Self {
        match selection {
            MemberSelection::Labelled(members) => Self::PickAll(members.clone()),
            MemberSelection::Count(count, members) => Self::PickN(*count, members.clone()),
            MemberSelection::Named(members) => {
                let existing = members.iter().filter(|m| context.ledger.names.get(m).is_ok()).cloned().collect();
                Self::PickFixed(real_names(context, members), existing)
            }
            MemberSelection::Hollow(count) => Self::PickHollow(*count),
        }
    }

    /// Members that get the placement's label; none where the policy names its members.
    pub fn members(&self) -> &[String] {
        match self {
            Self::PickAll(members) | Self::PickN(_, members) | Self::PickFixed(_, members) => members,
            Self::PickHollow(_) => &[],
        }
    }

    /// True if there are as many members as it asks for.
    pub fn can_be_had(&self) -> bool {
        match self {
            Self::PickAll(_) | Self::PickHollow(_) => true,
            Self::PickN(count, members) => *count <= members.len(),
            Self::PickFixed(names, existing) => names.len() == existing.len(),
        }
    }

    /// `spec.policy` of the placement.
    pub fn spec(&self, choice: &SelectedMembers) -> Value {
        match self {
            Self::PickAll(_) => pick_all(choice),
            Self::PickN(count, _) => {
                json!({"placementType": "PickN", "numberOfClusters": count, "affinity": affinity(choice)})
            }
            Self::PickFixed(names, _) => json!({"placementType": "PickFixed", "clusterNames": names}),
            Self::PickHollow(count) => pick_named(&(1..=*count).map(hollow_name).collect::<Vec<_>>()),
        }
    }
}

/// Changes the names in a PickFixed policy. Waits until the hub-agent has seen it.
pub(crate) async fn name_instead(context: &ScenarioContext, name: &str, members: &[String]) -> Result<(), StepError> {
    let p = patch_spec(context, name, json!({"policy": {"clusterNames": real_names(context, members)}})).await?;
    let sentence = format!("{} names {} instead", p.kind_and_name(), members.join(", "));
    context.remedied(Action::new(sentence).on(p.path()));
    noticed(context, name).await
}

/// Real names of members; a name that nothing has in this scenario is used as it stands.
fn real_names(context: &ScenarioContext, members: &[String]) -> Vec<String> {
    members.iter().map(|m| context.ledger.names.get(m).unwrap_or_else(|_| m.clone())).collect()
}

/// Changes the number of members that a PickN policy asks for. Waits until the hub-agent has seen it.
#[when(expr = "placement {string} asks for {int} members")]
async fn asks_for(world: &mut World, name: String, count: usize) -> Result<(), StepError> {
    let context = world.context();
    let p = patch_spec(context, &name, json!({"policy": {"numberOfClusters": count}})).await?;
    let sentence = format!("{}: spec.policy.numberOfClusters changed to {count}", p.kind_and_name());
    context.did(Action::new(sentence).on(p.path()));
    noticed(context, &name).await
}
