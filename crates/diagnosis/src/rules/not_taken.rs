//! Members that a policy doesn't take for the same kind of reason: the text, the evidence and the commands about them.

use serde_json::{Value, json};

use super::code::RuleCode;
use super::draft::AffectedPart;
use super::evidence_source::EvidenceSource;
use super::fleet::{FleetView, PlacementView};
use super::kubectl;
use super::obstacle::{
    DISCONNECTION_LIMIT, Disconnection, LabelRequirement, Obstacle, PropertyRequirement, taint_text,
};
use super::shortage::{NotTaken, Shortage, policy_names};
use crate::command::{KubectlVerb, RemedyCommand};
use crate::kubefleet::IS_LATEST_SNAPSHOT;
use crate::object::text_field;
use crate::{Evidence, HUB, JsonRef, Object};

/// Number of members that a finding names and quotes.
const MAX_NAMED_MEMBERS: usize = 3;

/// Members with obstacles of one code.
pub(super) struct Group<'a> {
    pub code: RuleCode,
    /// Members, the nearest to being taken first.
    pub members: Vec<NotTaken<'a>>,
}

/// Groups members by the code of their obstacle, as many groups as it takes to find the missing members, the nearest first. Of
/// members that lack labels, only those that lack the fewest: a policy means them rather than all the others.
pub(super) fn by_code<'a>(shortage: &Shortage<'a>, missing: usize) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (taken, not_taken) in shortage.not_taken.iter().enumerate() {
        let code = code(&not_taken.obstacle);
        match groups.last_mut().filter(|group| group.code == code) {
            Some(group) => {
                let as_near = |last: &NotTaken<'_>| last.obstacle.distance() == not_taken.obstacle.distance();
                if taken >= missing && !group.members.last().is_some_and(as_near) {
                    break;
                }
                group.members.push(not_taken.clone());
            }
            None if taken >= missing => break,
            None => groups.push(Group { code, members: vec![not_taken.clone()] }),
        }
    }
    groups
}

/// Returns the code for members with an obstacle.
fn code(obstacle: &Obstacle<'_>) -> RuleCode {
    match obstacle {
        Obstacle::Labels(_) => RuleCode::KF_SC_004,
        Obstacle::Taint(_) => RuleCode::KF_SC_005,
        Obstacle::Disconnected(_) => RuleCode::KF_SC_006,
        Obstacle::Leaving => RuleCode::KF_SC_007,
        Obstacle::Spread(_) => RuleCode::KF_SC_008,
        Obstacle::Properties(_) => RuleCode::KF_SC_009,
    }
}

impl<'a> Group<'a> {
    fn named(&self) -> impl Iterator<Item = &NotTaken<'a>> {
        self.members.iter().take(MAX_NAMED_MEMBERS)
    }

    /// Returns the reason for each member in words, with the number of those that aren't named.
    pub fn reasons(&self) -> String {
        let mut reasons: Vec<_> =
            self.named().map(|n| format!("{} {}", n.member.name(), reason(&n.obstacle))).collect();
        if self.members.len() > MAX_NAMED_MEMBERS {
            reasons.push(format!("{} more", self.members.len() - MAX_NAMED_MEMBERS));
        }
        reasons.join(", ")
    }

    /// Quotes the fields of the members that show the reason, and what the scheduler has noted about them.
    pub fn evidence(&self, fleet: FleetView<'_>, placement: PlacementView<'_>) -> Vec<Evidence> {
        let snapshots = fleet.index.policy_snapshots(placement.key());
        let latest = snapshots.into_iter().find(|snapshot| snapshot.label(IS_LATEST_SNAPSHOT) == Some("true"));
        let of_member = |not_taken: &NotTaken<'_>| {
            let mut evidence = shown_by(fleet.quote(), not_taken);
            evidence.extend(latest.and_then(|snapshot| decision(fleet.quote(), snapshot, not_taken.member.name())));
            evidence
        };
        self.named().flat_map(of_member).collect()
    }

    /// Adds the names that the catalogue's texts need beside those of each placement.
    pub fn add_names(&self, placement: PlacementView<'_>, names: &mut Value) {
        let refs: Vec<_> = self.named().map(|n| kubectl::reference(n.member)).collect();
        names["reasons"] = self.reasons().into();
        names["members"] = self.named().map(|n| n.member.name()).collect::<Vec<_>>().join(", ").into();
        names["member_refs"] = json!(refs);
        names["without"] = json!(self.without(placement));
        names["remedy"] = json!(self.commands(placement));
        names["untaint"] = json!(self.named().filter_map(untaint).collect::<Vec<_>>());
    }

    /// Returns the parts of the fleet whose findings explain the obstacle.
    pub fn parts(&self) -> impl Iterator<Item = AffectedPart> {
        let lost = [RuleCode::KF_SC_006, RuleCode::KF_SC_007].contains(&self.code);
        self.members.iter().filter(move |_| lost).flat_map(|not_taken| {
            let member = not_taken.member.name().to_owned();
            [AffectedPart::Member(member.clone()), AffectedPart::MemberNamespace(member)]
        })
    }

    /// Returns the command by which the placement asks for the members that it has got and no others; empty if it has none.
    fn without(&self, placement: PlacementView<'_>) -> Vec<RemedyCommand> {
        let found = placement.clusters().count();
        let mut policy = json!({"numberOfClusters": found});
        if placement.object.str("/spec/policy/placementType") == Some("PickFixed") {
            let is_left_out = |name: &&str| self.members.iter().any(|n| n.member.name() == *name);
            let names: Vec<_> = policy_names(placement).filter(|name| !is_left_out(name)).collect();
            if names.is_empty() {
                return Vec::new();
            }
            policy = json!({"clusterNames": names});
        }
        if found == 0 {
            return Vec::new();
        }
        let patch = json!({"spec": {"policy": policy}});
        vec![kubectl::patch_command(kubectl::reference(placement.object), &patch)]
    }

    /// Returns the commands that remove the obstacle.
    fn commands(&self, placement: PlacementView<'_>) -> Vec<RemedyCommand> {
        let patch_policy = |policy: Value| {
            kubectl::patch_command(kubectl::reference(placement.object), &json!({"spec": {"policy": policy}}))
        };
        let list = |field: &str| placement.object.list(field).iter().map(JsonRef::to_value).collect::<Vec<_>>();
        match self.code {
            RuleCode::KF_SC_004 => self.named().filter_map(label).collect(),
            RuleCode::KF_SC_005 => {
                let mut tolerations = list("/spec/policy/tolerations");
                for taint in self.named().filter_map(|n| taint_of(&n.obstacle)) {
                    let toleration = toleration_of(taint);
                    if !tolerations.contains(&toleration) {
                        tolerations.push(toleration);
                    }
                }
                vec![patch_policy(json!({"tolerations": tolerations}))]
            }
            RuleCode::KF_SC_008 => {
                let violated: Vec<_> = self.members.iter().filter_map(|n| spread_key(&n.obstacle)).collect();
                let mut constraints = list("/spec/policy/topologySpreadConstraints");
                for constraint in &mut constraints {
                    if constraint["topologyKey"].as_str().is_some_and(|key| violated.contains(&key)) {
                        constraint["whenUnsatisfiable"] = "ScheduleAnyway".into();
                    }
                }
                vec![patch_policy(json!({"topologySpreadConstraints": constraints}))]
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the reason in words, as it follows the member's name.
fn reason(obstacle: &Obstacle<'_>) -> String {
    match obstacle {
        Obstacle::Labels(unmet) => format!("lacks {}", joined(unmet.iter().map(LabelRequirement::selector))),
        Obstacle::Properties(unmet) => {
            let one = |p: &PropertyRequirement<'_>| format!("has {} and not {}", present(p), p.text());
            joined(unmet.iter().map(one))
        }
        Obstacle::Leaving => "is leaving the fleet".to_owned(),
        Obstacle::Disconnected(disconnection) => match disconnection {
            Disconnection::NeverOnline => "has never been online".to_owned(),
            Disconnection::Silent(age) if age.as_mins() < 24 * 60 => {
                format!("has sent no heartbeat for {} min", age.as_mins())
            }
            Disconnection::Silent(_) => "has sent no heartbeat for more than a day".to_owned(),
            Disconnection::Behind(behind) => {
                format!("sends heartbeats of {} min ago, by the clock of its agent", behind.as_mins())
            }
            Disconnection::NotJoined => "hasn't joined".to_owned(),
            Disconnection::Unhealthy => {
                format!("hasn't been healthy for more than {} min", DISCONNECTION_LIMIT.as_mins())
            }
        },
        Obstacle::Taint(taint) => format!("has the taint {}", taint_text(*taint)),
        Obstacle::Spread(spread) => {
            let (other, least) = spread.smallest;
            let (key, domain) = (spread.key, spread.domain);
            format!(
                "would be one too many in {key}={domain}, which has {}, while {key}={other} has {least}",
                spread.count
            )
        }
    }
}

fn present<'a>(property: &PropertyRequirement<'a>) -> &'a str {
    property.present.unwrap_or("no value")
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(" and ")
}

/// Quotes the fields of a member that show its obstacle.
fn shown_by(quote: EvidenceSource<'_>, not_taken: &NotTaken<'_>) -> Vec<Evidence> {
    let member = not_taken.member;
    let or_absent = |value: Option<&str>| value.unwrap_or("(absent)").to_owned();
    match &not_taken.obstacle {
        Obstacle::Labels(unmet) => {
            let label = |l: &LabelRequirement<'_>| {
                quote.text(member, &format!("metadata.labels[{}]", l.key), or_absent(l.present), None)
            };
            unmet.iter().map(label).collect()
        }
        Obstacle::Properties(unmet) => {
            unmet.iter().map(|p| quote.text(member, &p.path(), or_absent(p.present), None)).collect()
        }
        Obstacle::Leaving => vec![quote.deletion(member)],
        Obstacle::Disconnected(disconnection) => vec![agent_evidence(quote, member, *disconnection)],
        Obstacle::Taint(_) => vec![quote.field(member, "spec.taints")],
        Obstacle::Spread(spread) => {
            let path = format!("metadata.labels[{}]", spread.key);
            vec![quote.text(member, &path, spread.domain.to_owned(), None)]
        }
    }
}

fn agent_evidence(quote: EvidenceSource<'_>, member: Object<'_>, disconnection: Disconnection) -> Evidence {
    let agents = member.list("/status/agentStatus");
    let agent = agents.iter().find(|agent| text_field(*agent, "type") == "MemberAgent");
    let Some(agent) = agent else {
        return quote.text(member, "status.agentStatus", "(absent)".to_owned(), None);
    };
    let path = "status.agentStatus[MemberAgent]";
    let type_ = match disconnection {
        Disconnection::NeverOnline | Disconnection::Silent(_) | Disconnection::Behind(_) => {
            let heard = text_field(agent, "lastReceivedHeartbeat");
            return quote.text(member, &format!("{path}.lastReceivedHeartbeat"), heard.to_owned(), heard.parse().ok());
        }
        Disconnection::NotJoined => "Joined",
        Disconnection::Unhealthy => "Healthy",
    };
    let condition = crate::conditions(Some(agent)).into_iter().find(|condition| condition.type_ == type_);
    let (value, at) = condition.map_or_else(
        || ("(absent)".to_owned(), None),
        |c| (format!("{}={} {}: {}", c.type_, c.status, c.reason, c.message), c.last_transition_time),
    );
    quote.text(member, &format!("{path}.conditions[{type_}]"), value, at)
}

/// Quotes what the scheduler has noted about a member in the placement's latest policy snapshot. The list has twenty members
/// that weren't taken at most (v0.1.2).
fn decision(quote: EvidenceSource<'_>, snapshot: Object<'_>, member: &str) -> Option<Evidence> {
    let decisions = snapshot.list("/status/targetClusters");
    let decision = decisions.iter().find(|decision| text_field(*decision, "clusterName") == member)?;
    let path = format!("status.targetClusters[{member}].reason");
    Some(quote.text(snapshot, &path, text_field(decision, "reason").to_owned(), None))
}

/// Returns the command that gives a member the labels that it lacks.
fn label(not_taken: &NotTaken<'_>) -> Option<RemedyCommand> {
    let Obstacle::Labels(unmet) = &not_taken.obstacle else { return None };
    let overwrite = unmet.iter().any(|l| l.present.is_some()).then(|| "--overwrite".to_owned());
    let changes = unmet.iter().map(LabelRequirement::change);
    let words = kubectl::reference(not_taken.member).into_iter().chain(changes).chain(overwrite);
    Some(RemedyCommand::kubectl(HUB, KubectlVerb::Label, words))
}

/// Returns the command that takes the taint off a member and leaves its others.
fn untaint(not_taken: &NotTaken<'_>) -> Option<RemedyCommand> {
    let taint = taint_of(&not_taken.obstacle)?.to_value();
    let taints = not_taken.member.list("/spec/taints").iter().map(JsonRef::to_value);
    let others: Vec<_> = taints.filter(|other| *other != taint).collect();
    Some(kubectl::patch_command(kubectl::reference(not_taken.member), &json!({"spec": {"taints": others}})))
}

fn taint_of<'a>(obstacle: &Obstacle<'a>) -> Option<JsonRef<'a>> {
    match obstacle {
        Obstacle::Taint(taint) => Some(*taint),
        _ => None,
    }
}

fn spread_key<'a>(obstacle: &Obstacle<'a>) -> Option<&'a str> {
    match obstacle {
        Obstacle::Spread(spread) => Some(spread.key),
        _ => None,
    }
}

/// Returns the toleration of exactly this taint.
fn toleration_of(taint: JsonRef<'_>) -> Value {
    let [key, value, effect] = ["key", "value", "effect"].map(|field| text_field(taint, field));
    if value.is_empty() {
        json!({"key": key, "operator": "Exists", "effect": effect})
    } else {
        json!({"key": key, "operator": "Equal", "value": value, "effect": effect})
    }
}
