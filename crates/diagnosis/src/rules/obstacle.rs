//! Reasons why the scheduler doesn't take a member for a placement, computed from the policy and the `MemberCluster` in the
//! scheduler's own order: affinity, eligibility, taints, topology spread (v0.1.2, `pkg/scheduler/profile`).
//!
//! A controller gives the reason only in a message, and only for some of the members.

use jiff::SignedDuration;

use super::clock::{self, ApiServerClock};
use super::fleet::FleetView;
use super::heartbeat::Heartbeat;
use super::spread::Spread;
use super::{matching, quantity};
use crate::object::{list_field, text_field};
use crate::{JsonFields, JsonRef, Object, conditions};

/// Time without a heartbeat, or as unhealthy, after which the scheduler takes a member for disconnected
/// (v0.1.2, `pkg/scheduler/clustereligibilitychecker`).
pub(super) const DISCONNECTION_LIMIT: SignedDuration = SignedDuration::from_mins(5);

/// Reason why the scheduler doesn't take a member. Later ones in this list are checked later, so that a member with one of them
/// is nearer to being taken.
#[derive(Clone, Debug)]
pub(super) enum Obstacle<'a> {
    /// Labels that the policy requires and the member lacks.
    Labels(Vec<LabelRequirement<'a>>),
    /// Properties that the policy requires and the member lacks.
    Properties(Vec<PropertyRequirement<'a>>),
    /// The member is leaving the fleet.
    Leaving,
    /// The member isn't connected to the fleet.
    Disconnected(Disconnection),
    /// A taint that the policy doesn't tolerate.
    Taint(JsonRef<'a>),
    /// A constraint that the member would violate.
    Spread(Spread<'a>),
}

/// Reason why the scheduler takes a member for disconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disconnection {
    /// The member's agent has never sent a heartbeat.
    NeverOnline,
    /// The last heartbeat is older than [`DISCONNECTION_LIMIT`].
    Silent(SignedDuration),
    /// Heartbeats arrive, and their time is older than [`DISCONNECTION_LIMIT`]: the agent's clock is behind by so much.
    Behind(SignedDuration),
    /// The agent hasn't joined.
    NotJoined,
    /// The agent has said for longer than [`DISCONNECTION_LIMIT`], or always, that the member isn't healthy.
    Unhealthy,
}

/// Label that a policy requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LabelRequirement<'a> {
    pub key: &'a str,
    operator: &'a str,
    values: Vec<&'a str>,
    /// Present value of the member's label.
    pub present: Option<&'a str>,
}

/// Property that a policy requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PropertyRequirement<'a> {
    pub name: &'a str,
    operator: &'a str,
    value: &'a str,
    /// Present value of the member's property.
    pub present: Option<&'a str>,
}

/// Prefix of the properties that are a member's resources, e.g. `resources.kubernetes-fleet.io/allocatable-cpu`.
const RESOURCE_PROPERTY_PREFIX: &str = "resources.kubernetes-fleet.io/";

impl<'a> Obstacle<'a> {
    /// Returns the first reason why a policy of type `PickN` or `PickAll` doesn't take a member; `None` if it takes the member.
    pub fn of(fleet: FleetView<'_>, policy: Option<JsonRef<'a>>, member: Object<'a>) -> Option<Self> {
        unmet_affinity(policy, member).or_else(|| Self::of_named(fleet, member)).or_else(|| untolerated(policy, member))
    }

    /// Returns the first reason why a policy that names a member, of type `PickFixed`, doesn't take it. Such a policy regards
    /// neither labels nor taints.
    pub fn of_named(fleet: FleetView<'_>, member: Object<'_>) -> Option<Self> {
        if member.deleted_at().is_some() {
            return Some(Self::Leaving);
        }
        disconnection(fleet, member).map(Self::Disconnected)
    }

    /// Returns how near a member with this obstacle is to being taken: the number of checks that it has passed, and the number of
    /// requirements that it doesn't meet.
    pub fn distance(&self) -> (u8, usize) {
        match self {
            Self::Spread(_) => (0, 1),
            Self::Taint(_) => (1, 1),
            Self::Disconnected(_) => (2, 1),
            Self::Leaving => (3, 1),
            Self::Properties(unmet) => (4, unmet.len()),
            Self::Labels(unmet) => (5, unmet.len()),
        }
    }
}

/// Returns the labels, or else the properties, that a member lacks of the required affinity term that it nearly meets.
fn unmet_affinity<'a>(policy: Option<JsonRef<'a>>, member: Object<'a>) -> Option<Obstacle<'a>> {
    let path = "/affinity/clusterAffinity/requiredDuringSchedulingIgnoredDuringExecution/clusterSelectorTerms";
    let terms = policy?.pointer(path)?.as_array()?;
    let unmet = terms.iter().map(|term| (unmet_labels(term, member), unmet_properties(term, member)));
    let (labels, properties) = unmet.min_by_key(|(labels, properties)| (labels.len(), properties.len()))?;
    if !labels.is_empty() {
        return Some(Obstacle::Labels(labels));
    }
    (!properties.is_empty()).then_some(Obstacle::Properties(properties))
}

fn unmet_labels<'a>(term: JsonRef<'a>, member: Object<'a>) -> Vec<LabelRequirement<'a>> {
    let selector = term.get("labelSelector");
    let labels = selector.and_then(|s| s.get("matchLabels")).and_then(JsonRef::as_object).map(JsonFields::iter);
    let equal = labels.into_iter().flatten().map(|(key, value)| LabelRequirement {
        key,
        operator: "In",
        values: value.as_str().into_iter().collect(),
        present: member.label(key),
    });
    let expressions = selector.and_then(|s| s.get("matchExpressions")).and_then(JsonRef::as_array).unwrap_or_default();
    let expressed = expressions.iter().map(|expression| {
        let key = text_field(expression, "key");
        let values = list_field(expression, "values");
        LabelRequirement {
            key,
            operator: text_field(expression, "operator"),
            values: values.iter().filter_map(JsonRef::as_str).collect(),
            present: member.label(key),
        }
    });
    equal.chain(expressed).filter(|requirement| !requirement.is_met()).collect()
}

impl LabelRequirement<'_> {
    fn is_met(&self) -> bool {
        matching::is_met(self.operator, self.present, &self.values)
    }

    /// Returns the requirement as `kubectl get --selector` takes it, e.g. `env=prod`.
    pub fn selector(&self) -> String {
        match (self.operator, self.values.as_slice()) {
            ("In", [value]) => format!("{}={value}", self.key),
            ("In", values) => format!("{} in ({})", self.key, values.join(", ")),
            ("NotIn", [value]) => format!("{}!={value}", self.key),
            ("NotIn", values) => format!("{} notin ({})", self.key, values.join(", ")),
            ("Exists", _) => self.key.to_owned(),
            _ => format!("!{}", self.key),
        }
    }

    /// Returns the argument of `kubectl label` by which the member meets the requirement.
    pub fn change(&self) -> String {
        match (self.operator, self.values.first()) {
            ("In", Some(value)) => format!("{}={value}", self.key),
            ("Exists", _) => format!("{}=true", self.key),
            _ => format!("{}-", self.key),
        }
    }
}

fn unmet_properties<'a>(term: JsonRef<'a>, member: Object<'a>) -> Vec<PropertyRequirement<'a>> {
    let expressions = term.pointer("/propertySelector/matchExpressions").and_then(JsonRef::as_array);
    let required = expressions.unwrap_or_default().iter().map(|expression| {
        let name = text_field(expression, "name");
        let values = list_field(expression, "values");
        PropertyRequirement {
            name,
            operator: text_field(expression, "operator"),
            value: values.first().and_then(JsonRef::as_str).unwrap_or_default(),
            present: property(member, name),
        }
    });
    required.filter(|requirement| !requirement.is_met()).collect()
}

/// Returns a property of a member: a resource of its nodes, or one that its property provider reports.
fn property<'a>(member: Object<'a>, name: &str) -> Option<&'a str> {
    match resource(name) {
        Some((field, resource)) => member.at("/status/resourceUsage")?.get(field)?.get(resource)?.as_str(),
        None => member.at("/status/properties")?.get(name)?.get("value")?.as_str(),
    }
}

/// Returns the field of `status.resourceUsage` and the resource in it that a property stands for; `None` for another property.
fn resource(name: &str) -> Option<(&'static str, &str)> {
    let (capacity, resource) = name.strip_prefix(RESOURCE_PROPERTY_PREFIX)?.split_once('-')?;
    let field = match capacity {
        "total" => "capacity",
        "allocatable" => "allocatable",
        "available" => "available",
        _ => return None,
    };
    Some((field, resource))
}

impl PropertyRequirement<'_> {
    fn is_met(&self) -> bool {
        let values = self.present.and_then(quantity::parse).zip(quantity::parse(self.value));
        values.is_some_and(|(present, wanted)| match self.operator {
            "Gt" => present > wanted,
            "Ge" => present >= wanted,
            "Eq" => present.total_cmp(&wanted).is_eq(),
            "Ne" => present.total_cmp(&wanted).is_ne(),
            "Lt" => present < wanted,
            "Le" => present <= wanted,
            _ => false,
        })
    }

    /// Returns the requirement in words, e.g. `kubernetes-fleet.io/node-count >= 3`.
    pub fn text(&self) -> String {
        let operator = match self.operator {
            "Gt" => ">",
            "Ge" => ">=",
            "Eq" => "=",
            "Ne" => "!=",
            "Lt" => "<",
            "Le" => "<=",
            other => other,
        };
        format!("{} {operator} {}", self.name, self.value)
    }

    /// Returns the field path of the property in the `MemberCluster`.
    pub fn path(&self) -> String {
        match resource(self.name) {
            Some((field, resource)) => format!("status.resourceUsage.{field}[{resource}]"),
            None => format!("status.properties[{}]", self.name),
        }
    }
}

fn disconnection(fleet: FleetView<'_>, member: Object<'_>) -> Option<Disconnection> {
    let agents = member.list("/status/agentStatus");
    let Some(agent) = agents.iter().find(|agent| text_field(*agent, "type") == "MemberAgent") else {
        return Some(Disconnection::NeverOnline);
    };
    let heard = text_field(agent, "lastReceivedHeartbeat").parse().ok();
    let silence = heard.map_or(SignedDuration::MAX, |heard| fleet.age(heard));
    if silence > DISCONNECTION_LIMIT {
        let behind = Heartbeat::of(fleet, member)
            .filter(|heartbeat| heartbeat.age <= DISCONNECTION_LIMIT)
            .and_then(|heartbeat| heartbeat.clock_difference())
            .filter(|difference| clock::is_wrong(*difference));
        match behind {
            // The scheduler compares the heartbeat with the hub-agent's clock, which agrees with it.
            Some(_) if ApiServerClock::is_wrong(fleet) => {}
            Some(behind) => return Some(Disconnection::Behind(behind.abs())),
            None => return Some(Disconnection::Silent(silence)),
        }
    }
    let of_agent = conditions(Some(agent));
    let condition = |type_: &str| of_agent.iter().find(|condition| condition.type_ == type_);
    if condition("Joined").is_none_or(|joined| joined.status != "True") {
        return Some(Disconnection::NotJoined);
    }
    let is_healthy = condition("Healthy").is_some_and(|healthy| {
        let since = healthy.last_transition_time.map_or(SignedDuration::ZERO, |since| fleet.age(since));
        healthy.status == "True" || since <= DISCONNECTION_LIMIT
    });
    (!is_healthy).then_some(Disconnection::Unhealthy)
}

/// Returns the first taint of a member that a policy doesn't tolerate.
fn untolerated<'a>(policy: Option<JsonRef<'a>>, member: Object<'a>) -> Option<Obstacle<'a>> {
    let tolerations =
        policy.and_then(|policy| policy.get("tolerations")).and_then(JsonRef::as_array).unwrap_or_default();
    let tolerated = |taint: JsonRef<'_>| {
        tolerations.iter().any(|toleration| {
            let [key, value, effect] = ["key", "value", "effect"].map(|field| text_field(toleration, field));
            let same_key = key == text_field(taint, "key");
            let fits = match text_field(toleration, "operator") {
                "Exists" => key.is_empty() || same_key,
                _ => same_key && value == text_field(taint, "value"),
            };
            fits && (effect.is_empty() || effect == text_field(taint, "effect"))
        })
    };
    member.list("/spec/taints").iter().find(|taint| !tolerated(*taint)).map(Obstacle::Taint)
}

/// Returns a taint as `kubectl` prints it: `key=value:NoSchedule`.
pub(super) fn taint_text(taint: JsonRef<'_>) -> String {
    let [key, value, effect] = ["key", "value", "effect"].map(|field| text_field(taint, field));
    let equals = if value.is_empty() { "" } else { "=" };
    format!("{key}{equals}{value}:{effect}")
}
