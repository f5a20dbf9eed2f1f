//! Phrases of steps: words that a step may leave out, and words that stand for one of several things.
//!
//! Names that end in `?` are of phrases that may be left out.

use std::convert::Infallible;
use std::str::FromStr;
use std::time::Duration;

use cucumber::Parameter;
use fleet::argocd::{ArgoCdComponent, KustomizeFault};
use fleet::network::NetworkFault;

use crate::params::{CodeParam, ComponentParam, quoted};

/// Returns the text between the quotes of a phrase, `"..."` or `'...'`.
fn inner(text: &str) -> Option<String> {
    let start = text.find(['"', '\''])?;
    let (quote, rest) = (text[start..].chars().next()?, &text[start + 1..]);
    Some(rest[..rest.rfind(quote)?].to_owned())
}

fn unknown(text: &str) -> String {
    format!("`{text}` is no phrase of this step")
}

/// Implements [`FromStr`] for a phrase whose regex admits only texts that can be parsed.
macro_rules! impl_from_str {
    ($phrase:ident, |$text:ident| $value:expr) => {
        impl FromStr for $phrase {
            type Err = Infallible;

            fn from_str($text: &str) -> Result<Self, Infallible> {
                Ok($value)
            }
        }
    };
}

/// `within 60 seconds `.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "(?:within [0-9]+ seconds )?", name = "within?")]
pub struct WithinSeconds(pub Option<u64>);

impl_from_str!(WithinSeconds, |text| Self(text.split(' ').nth(1).and_then(|seconds| seconds.parse().ok())));

/// ` for 15 seconds`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "(?: for [0-9]+ seconds)?", name = "for seconds?")]
pub struct ForSeconds(pub Option<u64>);

impl_from_str!(ForSeconds, |text| Self(text.split(' ').nth(2).and_then(|seconds| seconds.parse().ok())));

/// ` for "member-1"`.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"(?: for "[^"]+")?"#, name = "for member?")]
pub struct ForMember(pub Option<String>);

impl_from_str!(ForMember, |text| Self(inner(text)));

/// `, because of KF-MC-001`: the finding hangs under a root with this code. `, superseded by update run "again"`: the finding
/// is a notice, and names this run.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = r#"(?:, because of [A-Z]+-[A-Z]+-[0-9]+|, superseded by update run "[^"]+")?"#,
    name = "because of or superseded by?"
)]
pub enum FindingRelation {
    /// The finding is a root.
    Root,
    /// The finding hangs under a root with this code.
    BecauseOf(CodeParam),
    /// The finding is a notice, since this run has succeeded.
    SupersededBy(String),
}

impl std::str::FromStr for FindingRelation {
    type Err = <CodeParam as std::str::FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::Root);
        }
        match inner(text) {
            Some(run) => Ok(Self::SupersededBy(run)),
            None => text.rsplit(' ').next().unwrap_or_default().parse().map(Self::BecauseOf),
        }
    }
}

/// ` while placement "web" becomes available on "member-1"`, or ` while the hub-agent is restarted`.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = r#"(?: while placement "[^"]+" becomes available on "[^"]+"(?:, "[^"]+")*(?: and "[^"]+")?| while the hub-agent is restarted)?"#,
    name = "while?"
)]
pub enum Meanwhile {
    /// Nothing in particular: the diagnosis is made once.
    Nothing,
    /// A placement becomes available on members.
    Available(String, Vec<String>),
    /// The hub-agent is restarted.
    HubAgentRestarts,
}

impl_from_str!(Meanwhile, |text| match quoted(text).split_first() {
    Some((placement, members)) => Self::Available(placement.clone(), members.to_vec()),
    None if text.is_empty() => Self::Nothing,
    None => Self::HubAgentRestarts,
});

/// `, whose agent never comes`, or `, on a network that can fail`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "(?:, whose agent never comes|, on a network that can fail)?", name = "what is special?")]
pub enum OwnMember {
    /// It joins, and its agent reaches the hub directly.
    Plain,
    /// It is registered, and has neither a cluster nor an agent.
    WithoutAgent,
    /// It joins, and its agent reaches the hub over a proxy.
    OnNetwork,
}

impl_from_str!(OwnMember, |text| match text {
    "" => Self::Plain,
    text if text.contains("network") => Self::OnNetwork,
    _ => Self::WithoutAgent,
});

/// ` that takes 20 seconds`: the time for which its Pods have to be ready before it counts as available.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "(?: that takes [0-9]+ seconds)?", name = "that takes?")]
pub struct TakesSeconds(pub Option<u64>);

impl_from_str!(TakesSeconds, |text| Self(text.split(' ').nth(3).and_then(|seconds| seconds.parse().ok())));

/// `somebody's finalizer holds`, `somebody's finalizer releases`, or `somebody takes all finalizers off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = "somebody's finalizer holds|somebody's finalizer releases|somebody takes all finalizers off",
    name = "finalizer change"
)]
pub enum FinalizerChange {
    /// The object gets a finalizer.
    Holds,
    /// The finalizer is taken off.
    Releases,
    /// All finalizers are taken off, those of controllers, too.
    TakesAllOff,
}

impl_from_str!(FinalizerChange, |text| match text {
    "somebody's finalizer holds" => Self::Holds,
    "somebody's finalizer releases" => Self::Releases,
    _ => Self::TakesAllOff,
});

/// `the ConfigMap of placement "web" on "member-1"`, `the binding of placement "web" for "member-1"`, `the hub's namespace of member "east"`,
/// `placement "web"`, `application "web"`, or `"ConfigMap/settings" on "member-1"`: in the namespace `{apps}`.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = r#"the ConfigMap of placement "[^"]+" on "[^"]+"|the binding of placement "[^"]+" for "[^"]+"|the hub's namespace of member "[^"]+"|(?:placement|application) "[^"]+"|"[^"]+" on "[^"]+""#,
    name = "held object"
)]
pub enum HeldObject {
    /// A placement.
    Placement(String),
    /// An Application of Argo CD.
    Application(String),
    /// ConfigMap that a placement has put on a member.
    Placed {
        /// The placement.
        placement: String,
        /// The member.
        member: String,
    },
    /// Binding of a placement for a member.
    Binding {
        /// The placement.
        placement: String,
        /// The member.
        member: String,
    },
    /// Namespace of a member on the hub, in which a ConfigMap has the finalizer.
    MemberNamespace(String),
    /// Object on a member, in the scenario's own namespace there.
    Deployed {
        /// Object, as `Kind/name`.
        object: String,
        /// The member.
        member: String,
    },
}

impl FromStr for HeldObject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match &quoted(text)[..] {
            [placement, member] if text.starts_with("the binding") => {
                Ok(Self::Binding { placement: placement.clone(), member: member.clone() })
            }
            [object, member] if text.starts_with('"') => {
                Ok(Self::Deployed { object: object.clone(), member: member.clone() })
            }
            [placement, member] => Ok(Self::Placed { placement: placement.clone(), member: member.clone() }),
            [name] if text.starts_with("placement") => Ok(Self::Placement(name.clone())),
            [name] if text.starts_with("application") => Ok(Self::Application(name.clone())),
            [member] => Ok(Self::MemberNamespace(member.clone())),
            _ => Err(unknown(text)),
        }
    }
}

/// ` and Argo CD`, ` and KubeFleet's webhooks`, or ` and 200 hollow members`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "(?: and Argo CD| and KubeFleet's webhooks| and [0-9]+ hollow members)?", name = "and what else?")]
pub enum FleetAddition {
    /// Nothing but a hub and members.
    Nothing,
    /// Argo CD on the hub.
    ArgoCd,
    /// KubeFleet's webhooks on the hub.
    Webhooks,
    /// This many hollow members.
    HollowMembers(usize),
}

impl_from_str!(FleetAddition, |text| match first_number(text) {
    Some(count) => Self::HollowMembers(count),
    None if text.is_empty() => Self::Nothing,
    None if text.contains("webhooks") => Self::Webhooks,
    None => Self::ArgoCd,
});

/// Returns the first word of a text that is a number.
fn first_number(text: &str) -> Option<usize> {
    text.split(' ').find_map(|word| word.parse().ok())
}

/// ` with ring "broad"`: the label by which stages of update runs select hollow members.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"(?: with ring "[^"]+")?"#, name = "with ring?")]
pub struct WithRing(pub Option<String>);

impl_from_str!(WithRing, |text| Self(inner(text)));

/// `placements are available`, or `update runs succeed`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "placements are available|update runs succeed", name = "outcome")]
pub enum CommonOutcome {
    /// All placements are available.
    Available,
    /// All update runs have succeeded.
    RunsSucceed,
}

impl_from_str!(CommonOutcome, |text| if text == "update runs succeed" { Self::RunsSucceed } else { Self::Available });

/// `the hub's API server`, or `the API server of member "east"`.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"the hub's API server|the API server of member "[^"]+""#, name = "API server")]
pub struct ApiServerRef {
    /// The member; none for the hub.
    pub member: Option<String>,
}

impl_from_str!(ApiServerRef, |text| Self { member: text.strip_prefix("the API server of member ").and_then(inner) });

/// `gets slow`, `is as fast as before`, `hangs`, `works on`, `stops`, or `starts again`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "gets slow|is as fast as before|hangs|works on|stops|starts again", name = "API server change")]
pub enum ApiServerState {
    /// It gets a part of its processor time only.
    Slow,
    /// Its process stays, and does nothing.
    Hangs,
    /// It has all of its processor time.
    Fast,
    /// Its process is killed.
    Stops,
    /// Its process is started again.
    Starts,
}

impl_from_str!(ApiServerState, |text| match text {
    "gets slow" => Self::Slow,
    "hangs" => Self::Hangs,
    "stops" => Self::Stops,
    "starts again" => Self::Starts,
    _ => Self::Fast,
});

/// `has an aggregated API that doesn't answer`, or `has that API no more`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "has an aggregated API that doesn't answer|has that API no more", name = "aggregated API change")]
pub struct AggregatedApiChange {
    /// True if the API server gets such an API.
    pub added: bool,
}

impl_from_str!(AggregatedApiChange, |text| Self { added: text.contains("aggregated") });

/// `hangs`, or `works on`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "hangs|works on", name = "hangs or works on")]
pub struct HangChange {
    /// True if it hangs.
    pub hangs: bool,
}

impl_from_str!(HangChange, |text| Self { hangs: text == "hangs" });

/// `10 minutes ahead`, `30 seconds behind`, or `right again`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "[0-9]+ (?:seconds?|minutes?) (?:ahead|behind)|right again", name = "ahead, behind or right")]
pub struct ClockShift {
    /// Seconds by which the clock is ahead, or behind if negative; 0 for the machine's clock.
    pub seconds: i32,
}

impl FromStr for ClockShift {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = text.split(' ').collect();
        let [number, unit, direction] = words[..] else { return Ok(Self { seconds: 0 }) };
        let factor = if unit.starts_with("minute") { 60 } else { 1 };
        let seconds = number.parse::<i32>().ok().and_then(|number| number.checked_mul(factor));
        let seconds =
            seconds.ok_or_else(|| format!("{number} {unit} is too much: a clock is shifted by 68 years at most"))?;
        Ok(Self { seconds: if direction == "ahead" { seconds } else { -seconds } })
    }
}

/// `loses its rights`, or `gets its rights back`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "loses its rights|gets its rights back", name = "loses or gets back its rights")]
pub struct RightsChange {
    /// True if it loses them.
    pub lost: bool,
}

impl_from_str!(RightsChange, |text| Self { lost: text == "loses its rights" });

/// `runs out of space`, `has space again`, `gets slow`, `is as fast as before`, or `is defragmented`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = "runs out of space|has space again|gets slow|is as fast as before|is defragmented",
    name = "etcd change"
)]
pub enum EtcdChange {
    /// Its quota is smaller than what it stores.
    OutOfSpace,
    /// It has its usual quota, and no alarm.
    Space,
    /// It gets a part of its processor time only.
    Slow,
    /// It has all of its processor time.
    Fast,
    /// It writes its file anew.
    Defragmented,
}

impl_from_str!(EtcdChange, |text| match text {
    "runs out of space" => Self::OutOfSpace,
    "has space again" => Self::Space,
    "gets slow" => Self::Slow,
    "is defragmented" => Self::Defragmented,
    _ => Self::Fast,
});

/// `expires in 90 seconds`, or `is renewed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "expires in [0-9]+ seconds|is renewed", name = "token change")]
pub struct TokenChange {
    /// Time after which it expires; none for a token that lasts.
    pub expires_in: Option<Duration>,
}

impl_from_str!(TokenChange, |text| Self {
    expires_in: text.split(' ').nth(2).and_then(|seconds| Some(Duration::from_secs(seconds.parse().ok()?)))
});

/// `is of a CA of its own`, or `is of the next CA`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "is of a CA of its own|is of the next CA", name = "certificate change")]
pub struct CertificateChange {
    /// True if a CA takes the place of another.
    pub next: bool,
}

impl_from_str!(CertificateChange, |text| Self { next: text.contains("next") });

/// Agents to which the hub shows a certificate: `members`, or `all agents`, the hub-agent, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "members|all agents", name = "members or all agents")]
pub struct CertificateAudience {
    /// True if the hub-agent is among them.
    pub with_hub_agent: bool,
}

impl_from_str!(CertificateAudience, |text| Self { with_hub_agent: text == "all agents" });

/// `takes one request at a time of`, or `takes all requests of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "takes one request at a time of|takes all requests of", name = "takes requests of")]
pub struct RequestLimitChange {
    /// True if it takes one request at a time.
    pub limited: bool,
}

impl_from_str!(RequestLimitChange, |text| Self { limited: text.contains("one request") });

/// `while it holds a Work`, or `by force`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "while it holds a Work|by force", name = "how")]
pub struct NamespaceDeletion {
    /// True if its finalizer is taken off as well.
    pub by_force: bool,
}

impl_from_str!(NamespaceDeletion, |text| Self { by_force: text == "by force" });

/// `the hub-agent`, `the agent of member "m"`, or `the agents of 30 hollow members`: of the first ones.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(regex = r#"the hub-agent|the agent of member "[^"]+"|the agents of [0-9]+ hollow members"#, name = "agent")]
pub enum AgentRef {
    /// KubeFleet's agent on the hub.
    Hub,
    /// Agent of a member.
    Member(String),
    /// Agents of this many hollow members, the first ones.
    Hollow(usize),
}

impl_from_str!(AgentRef, |text| match (inner(text), first_number(text)) {
    (Some(member), _) => Self::Member(member),
    (None, Some(count)) => Self::Hollow(count),
    (None, None) => Self::Hub,
});

/// `has left`, or `is still leaving after 10 seconds`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "has left|is still leaving after [0-9]+ seconds", name = "has left or is leaving")]
pub struct MemberDeparture {
    /// Seconds for which the member hasn't left; none if it has.
    pub leaving_for: Option<u64>,
}

impl_from_str!(MemberDeparture, |text| Self {
    leaving_for: text.split(' ').nth(4).and_then(|seconds| seconds.parse().ok())
});

/// ` with strategy External`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "(?: with strategy External)?", name = "with strategy External?")]
pub struct WithExternal(pub bool);

impl_from_str!(WithExternal, |text| Self(!text.is_empty()));

/// Members that a placement selects: `"member-1" and "member-2"` by a label of theirs (policy PickAll), `2 of "member-1" and "member-2"`
/// (policy PickN; more than there are can't be had), `by name "member-1"` (policy PickFixed; a name that nothing has in this scenario is
/// a member that doesn't exist), `60 hollow members` (the first ones, policy PickAll), or `no member`.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = r#"no member|[0-9]+ hollow members|(?:[0-9]+ of |by name )?"[^"]+"(?:, "[^"]+")*(?: and "[^"]+")?"#,
    name = "selection"
)]
pub enum MemberSelection {
    /// Members with the placement's label.
    Labelled(Vec<String>),
    /// Number of members to select from these, which have the placement's label.
    Count(usize, Vec<String>),
    /// Members by their names.
    Named(Vec<String>),
    /// This many hollow members, the first ones.
    Hollow(usize),
}

impl FromStr for MemberSelection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let members = quoted(text);
        Ok(match text.split(' ').next() {
            Some("by") => Self::Named(members),
            Some(count) if text.ends_with(" hollow members") => Self::Hollow(count.parse().map_err(|_| unknown(text))?),
            Some(count) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                Self::Count(count.parse().map_err(|_| unknown(text))?, members)
            }
            _ => Self::Labelled(members),
        })
    }
}

/// `instead`, or `too`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "instead|too", name = "instead or too")]
pub enum SelectionChange {
    /// In place of those that were selected.
    Instead,
    /// Besides those that were selected.
    Too,
}

impl_from_str!(SelectionChange, |text| if text == "instead" { Self::Instead } else { Self::Too });

/// ` and applies with '...'`: an apply strategy, as JSON.
#[derive(Clone, Debug, Parameter)]
#[param(regex = "(?: and applies with '[^']*')?", name = "and applies with?")]
pub struct AndAppliesWith(pub Option<String>);

impl_from_str!(AndAppliesWith, |text| Self(inner(text)));

/// `, where its namespace isn't`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "(?:, where its namespace isn't)?", name = "where its namespace isn't?")]
pub struct WithoutNamespace(pub bool);

impl_from_str!(WithoutNamespace, |text| Self(!text.is_empty()));

/// `policy`, or `apply strategy`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "policy|apply strategy", name = "setting")]
pub enum PlacementSetting {
    /// The policy, in a way that makes a new policy snapshot.
    Policy,
    /// The placement's apply strategy.
    ApplyStrategy,
}

impl_from_str!(PlacementSetting, |text| if text == "policy" { Self::Policy } else { Self::ApplyStrategy });

/// `, which is refused with "..."`: the API server refuses it, with this in its message.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"(?:, which is refused with "[^"]*")?"#, name = "which is refused with?")]
pub struct RefusedWith(pub Option<String>);

impl_from_str!(RefusedWith, |text| Self(inner(text)));

/// ` in a ResourceEnvelope`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "(?: in a ResourceEnvelope)?", name = "in a ResourceEnvelope?")]
pub struct InEnvelope(pub bool);

impl FromStr for InEnvelope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(Self(false)),
            " in a ResourceEnvelope" => Ok(Self(true)),
            _ => Err(unknown(text)),
        }
    }
}

/// `gets image "..."`, or `is scaled to zero`.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"gets image "[^"]*"|is scaled to zero"#, name = "Deployment change")]
pub enum DeploymentChange {
    /// Another image.
    Image(String),
    /// No replicas.
    ScaledToZero,
}

impl_from_str!(DeploymentChange, |text| inner(text).map_or(Self::ScaledToZero, Self::Image));

/// `runs`, or `waits with "..."`: the reason for which its container waits.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"runs|waits with "[^"]*""#, name = "Pod state")]
pub enum PodState {
    /// Ready Pod.
    Runs,
    /// Reason for which the Pod's container waits.
    Waits(String),
}

impl_from_str!(PodState, |text| inner(text).map_or(Self::Runs, Self::Waits));

/// `placement "web"`, or `a placement that doesn't exist, beside placement "web",`: in the scope of that one.
#[derive(Clone, Debug, Parameter)]
#[param(
    regex = r#"placement "[^"]+"|a placement that doesn't exist, beside placement "[^"]+","#,
    name = "placement of run"
)]
pub struct PlacementOfRun {
    /// The placement that is there.
    pub name: String,
    /// True if the run is to name one that isn't.
    pub missing: bool,
}

impl FromStr for PlacementOfRun {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = quoted(text).pop().ok_or_else(|| unknown(text))?;
        Ok(Self { name, missing: text.starts_with("a placement that doesn't exist") })
    }
}

/// `strategy "careful"`, or `a strategy that doesn't exist`.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"strategy "[^"]+"|a strategy that doesn't exist"#, name = "strategy")]
pub struct StrategyRef(pub Option<String>);

impl_from_str!(StrategyRef, |text| Self(text.starts_with("strategy ").then(|| inner(text)).flatten()));

/// ` at snapshot index "..."`, whatever it is.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"(?: at snapshot index "[^"]*")?"#, name = "at snapshot index?")]
pub struct AtIndex(pub Option<String>);

impl_from_str!(AtIndex, |text| Self(inner(text)));

/// ` in state "..."`: a `spec.state`; ` in no state`: without the field.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(regex = r#"(?: in state "[^"]*"| in no state)?"#, name = "in state?")]
pub enum InState {
    /// The feature doesn't say, and the run is to go on at once.
    Going,
    /// A state by its name.
    Named(String),
    /// The run is created without the field.
    Without,
}

impl_from_str!(InState, |text| match inner(text) {
    Some(state) => Self::Named(state),
    None if text.is_empty() => Self::Going,
    None => Self::Without,
});

/// `put into`, or `taken out of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "put into|taken out of", name = "put into or taken out of")]
pub enum StageMove {
    /// The member gets the stage's label.
    PutInto,
    /// The member loses the stage's label.
    TakenOutOf,
}

impl_from_str!(StageMove, |text| if text == "put into" { Self::PutInto } else { Self::TakenOutOf });

/// ` before the hub-agent would have looked at it`, or ` by itself at the hub-agent's second look`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(
    regex = "(?: before the hub-agent would have looked at it| by itself at the hub-agent's second look)?",
    name = "at which look?"
)]
pub enum ReconcileTiming {
    /// At any time.
    Any,
    /// Sooner than the hub-agent's next periodic reconcile.
    BeforeNext,
    /// At the second periodic reconcile from now.
    Second,
}

impl FromStr for ReconcileTiming {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim_start().split(' ').next() {
            Some("") => Ok(Self::Any),
            Some("before") => Ok(Self::BeforeNext),
            Some("by") => Ok(Self::Second),
            _ => Err(unknown(text)),
        }
    }
}

/// `approved`; `approved with a stale observedGeneration`, as a script does that leaves it out: it is then 0, and the hub-agent ignores the
/// approval without a sign; or `refused`: the condition Approved is False.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "approved|approved with a stale observedGeneration|refused", name = "answer")]
pub enum RequestAnswer {
    /// True, with the request's own generation.
    Approved,
    /// True, with observedGeneration 0.
    ApprovedStale,
    /// False.
    Refused,
}

impl FromStr for RequestAnswer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "approved" => Ok(Self::Approved),
            "approved with a stale observedGeneration" => Ok(Self::ApprovedStale),
            "refused" => Ok(Self::Refused),
            _ => Err(unknown(text)),
        }
    }
}

/// `for another run`, or `and approved`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "for another run|and approved", name = "for another run or approved")]
pub struct EarlyRequest {
    /// True if it is for the run's own stage, and approved.
    pub approved: bool,
}

impl_from_str!(EarlyRequest, |text| Self { approved: text == "and approved" });

/// `becomes` for a change that goes wrong, `is corrected to` for a repair.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "becomes|is corrected to", name = "becomes or is corrected to")]
pub struct FileChange {
    /// True if it repairs something.
    pub repairs: bool,
}

impl_from_str!(FileChange, |text| Self { repairs: text == "is corrected to" });

/// `vanishes`, or `is back`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "vanishes|is back", name = "vanishes or is back")]
pub struct RepositoryMove {
    /// True if it is moved away.
    pub vanishes: bool,
}

impl_from_str!(RepositoryMove, |text| Self { vanishes: text == "vanishes" });

/// `no application`, `application "a"`, or `applications "a" and "b"`.
#[derive(Clone, Debug, Parameter)]
#[param(
    regex = r#"no application|application "[^"]+"|applications "[^"]+"(?:, "[^"]+")* and "[^"]+""#,
    name = "generated applications"
)]
pub struct GeneratedApplications(pub Vec<String>);

impl_from_str!(GeneratedApplications, |text| Self(quoted(text)));

/// `"member-1"`, or `the hub`.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#""[^"]+"|the hub"#, name = "destination")]
pub struct DestinationRef {
    /// The member; none for the hub.
    pub member: Option<String>,
}

impl_from_str!(DestinationRef, |text| Self { member: inner(text) });

/// `is backed up`, or `is restored from its backup`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "is backed up|is restored from its backup", name = "is backed up or restored")]
pub struct BackupChange {
    /// True if it is restored.
    pub restores: bool,
}

impl_from_str!(BackupChange, |text| Self { restores: text.contains("restored") });

/// ` with '...'`, as JSON.
#[derive(Clone, Debug, Parameter)]
#[param(regex = "(?: with '[^']*')?", name = "with spec?")]
pub struct WithSpec(pub Option<String>);

impl_from_str!(WithSpec, |text| Self(inner(text)));

/// ` with "..."`.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"(?: with "[^"]*")?"#, name = "with flags?")]
pub struct WithFlags(pub Option<String>);

impl_from_str!(WithFlags, |text| Self(inner(text)));

/// `succeeds`; `fails`: the sync began, and something in it failed (phase Failed); or `ends in an error`: there was nothing to begin with
/// (phase Error).
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "succeeds|fails|ends in an error", name = "end")]
pub struct SyncEnd {
    /// Phase of the operation.
    pub phase: &'static str,
}

impl_from_str!(SyncEnd, |text| Self {
    phase: match text {
        "succeeds" => "Succeeded",
        "fails" => "Failed",
        _ => "Error",
    },
});

/// `: "..."`: a part of its message.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"(?:: "[^"]*")?"#, name = "with message?")]
pub struct WithMessage(pub Option<String>);

impl_from_str!(WithMessage, |text| Self(inner(text)));

/// `, if it still runs`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "(?:, if it still runs)?", name = "if it still runs?")]
pub struct IfItStillRuns(pub bool);

impl_from_str!(IfItStillRuns, |text| Self(!text.is_empty()));

/// `refreshed`, or `hard-refreshed`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "refreshed|hard-refreshed", name = "refreshed")]
pub struct RefreshKind {
    /// True if manifests are rendered again.
    pub hard: bool,
}

impl_from_str!(RefreshKind, |text| Self { hard: text == "hard-refreshed" });

/// ` until it reports "..."` in one of its conditions, or ` until it is well`: Synced and Healthy.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"(?: until it reports "[^"]*"| until it is well)?"#, name = "until?")]
pub enum RefreshUntil {
    /// A single comparison.
    Once,
    /// Until a condition has this text.
    Reports(String),
    /// Until it is Synced and Healthy.
    Well,
}

impl_from_str!(RefreshUntil, |text| match inner(text) {
    Some(report) => Self::Reports(report),
    None if text.is_empty() => Self::Once,
    None => Self::Well,
});

/// `takes 20 seconds`, or `is killed as it renders`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "takes [0-9]+ seconds|is killed as it renders", name = "takes time or is killed")]
pub struct ToolFault(pub KustomizeFault);

impl_from_str!(ToolFault, |text| Self(match text.split(' ').find_map(|word| word.parse().ok()) {
    Some(seconds) => KustomizeFault::Slow(seconds),
    None => KustomizeFault::Killed,
}));

/// `is killed`, `is started again`, or `is restarted with "--flag=value"`: with these flags beside its own; of a flag that it has already,
/// these count.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"is killed|is started again|is restarted with "[^"]*""#, name = "component change")]
pub enum ComponentChange {
    /// End of the component's process by a signal.
    Killed,
    /// Start after a kill.
    Started,
    /// Restart with these flags.
    Restarted(String),
}

impl_from_str!(ComponentChange, |text| match inner(text) {
    Some(flags) => Self::Restarted(flags),
    None if text == "is killed" => Self::Killed,
    None => Self::Started,
});

/// `is`, or `is not`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "is|is not", name = "is or is not")]
pub struct IsOrNot(pub bool);

impl_from_str!(IsOrNot, |text| Self(text == "is"));

/// `only these rights`, or `all rights`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "only these rights|all rights", name = "rights")]
pub struct Rights {
    /// True if it may do everything.
    pub all: bool,
}

impl_from_str!(Rights, |text| Self { all: text == "all rights" });

/// `has a revoked token`, `has another CA`, `is gone`, `is there twice`, `lacks its label`, or `is as it was`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = "has a revoked token|has another CA|is gone|is there twice|lacks its label|is as it was",
    name = "registration change"
)]
pub enum RegistrationChange {
    /// The member no longer accepts the token.
    TokenRevoked,
    /// The Secret has another CA than the member's.
    OtherCa,
    /// There is no Secret.
    Gone,
    /// There are two Secrets.
    Twice,
    /// The Secret lacks the label of clusters.
    Unlabelled,
    /// The faults are undone.
    Restored,
}

impl_from_str!(RegistrationChange, |text| match text {
    "has a revoked token" => Self::TokenRevoked,
    "has another CA" => Self::OtherCa,
    "is gone" => Self::Gone,
    "is there twice" => Self::Twice,
    "lacks its label" => Self::Unlabelled,
    _ => Self::Restored,
});

/// `member "east"`, `repository "web"`, or `its redis`.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(regex = r#"member "[^"]+"|repository "[^"]+"|its redis"#, name = "what Argo CD reaches")]
pub enum ReachedByArgoCd {
    /// The API server of the member with this name.
    Member(String),
    /// The git server of the repository with this name.
    Repository(String),
    /// Redis, the cache of Argo CD's components.
    Redis,
}

impl_from_str!(ReachedByArgoCd, |text| match text.split_once(' ') {
    Some(("member", member)) => Self::Member(inner(member).unwrap_or_default()),
    Some(("repository", repository)) => Self::Repository(inner(repository).unwrap_or_default()),
    _ => Self::Redis,
});

/// `member "east" and the hub`, `Argo CD and member "east"`, `Argo CD and repository "web"`, or `Argo CD and its redis`.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = r#"member "[^"]+" and the hub|Argo CD and member "[^"]+"|Argo CD and repository "[^"]+"|Argo CD and its redis"#,
    name = "network"
)]
pub enum NetworkLinkRef {
    /// Between the agent of the member with this name and the hub.
    MemberToHub(String),
    /// Between Argo CD and what it reaches.
    ArgoCd(ReachedByArgoCd),
}

impl_from_str!(NetworkLinkRef, |text| if let Some(reached) = text.strip_prefix("Argo CD and ") {
    Self::ArgoCd(reached.parse().unwrap_or_else(|never| match never {}))
} else {
    let member = text.strip_prefix("member ").and_then(|text| text.strip_suffix(" and the hub"));
    Self::MemberToHub(member.and_then(inner).unwrap_or_default())
});

/// `loses everything`, `loses what the agent sends` (or `Argo CD`), `loses what the hub sends` (or `the server`), `takes 2000 ms longer each
/// way, give or take 500 ms`, `passes 4 kB/s`, `closes each connection after 100 kB`, `resets connections`, `refuses connections`, or `works again`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = "loses everything|loses what (?:the agent|Argo CD) sends|loses what the (?:hub|server) sends|\
             takes [0-9]+ ms longer each way, give or take [0-9]+ ms|passes [0-9]+ kB/s|\
             closes each connection after [0-9]+ kB|resets connections|refuses connections|works again",
    name = "network change"
)]
pub struct NetworkChange(pub Option<NetworkFault>);

impl_from_str!(NetworkChange, |text| {
    let mut numbers = text.split(' ').filter_map(|word| word.parse::<u32>().ok());
    let mut number = || numbers.next().unwrap_or_default();
    let milliseconds = |count: u32| Duration::from_millis(count.into());
    Self(match text.split(' ').next().unwrap_or_default() {
        "loses" if text.ends_with("everything") => Some(NetworkFault::LosesAll),
        "loses" if text.contains("the agent") || text.contains("Argo CD") => Some(NetworkFault::LosesRequests),
        "loses" => Some(NetworkFault::LosesAnswers),
        "takes" => Some(NetworkFault::Delays { by: milliseconds(number()), jitter: milliseconds(number()) }),
        "passes" => Some(NetworkFault::Slows { kilobytes_per_second: number() }),
        "closes" => Some(NetworkFault::Closes { kilobytes: number() }),
        "resets" => Some(NetworkFault::Resets),
        "refuses" => Some(NetworkFault::Refuses),
        _ => None,
    })
});

/// `called`, or `another than`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "called|another than", name = "called or another than")]
pub struct AddressUse {
    /// True if the address gets a name.
    pub called: bool,
}

impl_from_str!(AddressUse, |text| Self { called: text == "called" });

/// `HTTP and asks for a password`, `HTTPS at localhost and asks for a password`, or `SSH at localhost and asks for a key`; `127.0.0.1` for
/// `localhost`.
#[derive(Clone, Debug, Parameter)]
#[param(
    regex = r"HTTP and asks for a password|HTTPS at (?:localhost|127\.0\.0\.1) and asks for a password|SSH at (?:localhost|127\.0\.0\.1) and asks for a key",
    name = "HTTP, HTTPS or SSH"
)]
pub enum GitTransport {
    /// HTTP.
    Http,
    /// HTTPS, with the host in the URL.
    Https(String),
    /// SSH, with the host in the URL.
    Ssh(String),
}

impl_from_str!(GitTransport, |text| {
    let host = |protocol: &str| Some(text.strip_prefix(protocol)?.split(' ').next().unwrap_or_default().to_owned());
    match (host("HTTPS at "), host("SSH at ")) {
        (Some(host), _) => Self::Https(host),
        (_, Some(host)) => Self::Ssh(host),
        _ => Self::Http,
    }
});

/// `gets the new password`, `trusts the certificate`, or `trusts the host key`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(
    regex = "gets the new password|trusts the certificate|trusts the host key",
    name = "gets the new password or trusts the certificate or the host key"
)]
pub enum AccessChange {
    /// Argo CD gets the repository's password.
    Password,
    /// The authority of the server's certificate is trusted.
    Certificate,
    /// The server's SSH host key is known.
    HostKey,
}

impl_from_str!(AccessChange, |text| match text {
    "trusts the certificate" => Self::Certificate,
    "trusts the host key" => Self::HostKey,
    _ => Self::Password,
});

/// `lacks`, or `gets`.
#[derive(Clone, Copy, Debug, Parameter)]
#[param(regex = "lacks|gets", name = "lacks or gets")]
pub struct ToolChange {
    /// True if the tool is installed.
    pub installed: bool,
}

impl_from_str!(ToolChange, |text| Self { installed: text == "gets" });

/// `the hub-agent`, `the agent of member "m"`; or `the redis of Argo CD`, `the repo-server of Argo CD`, `the application-controller of
/// Argo CD` or `the applicationset-controller of Argo CD`.
#[derive(Clone, Debug, Parameter)]
#[param(
    regex = r#"the hub-agent|the agent of member "[^"]+"|the (?:redis|repo-server|application-controller|applicationset-controller) of Argo CD"#,
    name = "process"
)]
pub enum LogOwner {
    /// KubeFleet's hub-agent.
    HubAgent,
    /// Agent of a member.
    MemberAgent(String),
    /// A component of Argo CD.
    ArgoCd(ArgoCdComponent),
}

impl FromStr for LogOwner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let component = text.strip_prefix("the ").and_then(|text| text.strip_suffix(" of Argo CD"));
        match component {
            None if text == "the hub-agent" => Ok(Self::HubAgent),
            None if text.starts_with("the agent") => inner(text).map(Self::MemberAgent).ok_or_else(|| unknown(text)),
            Some(component) => {
                component.parse().map(|ComponentParam(component)| Self::ArgoCd(component)).map_err(|_| unknown(text))
            }
            None => Err(unknown(text)),
        }
    }
}

/// ` in a line with "..."`, or ` in no line with "..."`.
#[derive(Clone, Debug, Parameter)]
#[param(regex = r#"(?: in (?:a|no) line with "[^"]*")?"#, name = "in a line with?")]
pub enum LogLineFilter {
    /// Any line.
    Any,
    /// A line with this text too.
    Also(String),
    /// This text in none of the lines.
    Never(String),
}

impl_from_str!(LogLineFilter, |text| match inner(text) {
    None => Self::Any,
    Some(with) if text.starts_with(" in a ") => Self::Also(with),
    Some(with) => Self::Never(with),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_that_is_left_out_says_nothing() {
        assert_eq!("".parse::<WithinSeconds>().map(|within| within.0), Ok(None));
        assert_eq!("within 60 seconds ".parse::<WithinSeconds>().map(|within| within.0), Ok(Some(60)));
        assert_eq!(" for \"east\"".parse::<ForMember>().map(|on| on.0), Ok(Some("east".into())));
        assert_eq!("".parse::<ForMember>().map(|on| on.0), Ok(None));
        let relation = |text: &str| text.parse::<FindingRelation>().expect("a phrase");
        assert_eq!(relation(", because of KF-MC-001"), FindingRelation::BecauseOf(CodeParam("KF-MC-001".into())));
        assert_eq!(relation(", superseded by update run \"again\""), FindingRelation::SupersededBy("again".into()));
        assert_eq!(relation(""), FindingRelation::Root);
        assert_eq!("".parse(), Ok(Meanwhile::Nothing));
        assert_eq!(" while the hub-agent is restarted".parse(), Ok(Meanwhile::HubAgentRestarts));
        assert_eq!(
            " while placement \"web\" becomes available on \"a\" and \"b\"".parse(),
            Ok(Meanwhile::Available("web".into(), vec!["a".into(), "b".into()]))
        );
        assert_eq!(" that takes 20 seconds".parse::<TakesSeconds>().map(|takes| takes.0), Ok(Some(20)));
        assert_eq!("".parse::<TakesSeconds>().map(|takes| takes.0), Ok(None));
        assert_eq!(" with '{\"a\": \"b\"}'".parse::<WithSpec>().map(|spec| spec.0), Ok(Some("{\"a\": \"b\"}".into())));
    }

    #[test]
    fn an_apostrophe_is_no_quote() {
        let missing: PlacementOfRun =
            "a placement that doesn't exist, beside placement \"web\",".parse().expect("a phrase");
        assert!(missing.missing && missing.name == "web");
        assert_eq!("a strategy that doesn't exist".parse::<StrategyRef>().map(|strategy| strategy.0), Ok(None));
    }

    #[test]
    fn a_selection_says_by_which_policy() {
        let of = |text: &str| text.parse::<MemberSelection>().expect("a selection");
        assert_eq!(of("no member"), MemberSelection::Labelled(vec![]));
        assert_eq!(of("\"a\" and \"b\""), MemberSelection::Labelled(vec!["a".into(), "b".into()]));
        assert_eq!(of("3 of \"a\" and \"b\""), MemberSelection::Count(3, vec!["a".into(), "b".into()]));
        assert_eq!(of("by name \"a\""), MemberSelection::Named(vec!["a".into()]));
        assert_eq!(of("60 hollow members"), MemberSelection::Hollow(60));
    }

    #[test]
    fn shifts_of_clocks_are_read_in_seconds() {
        let seconds = |text: &str| text.parse::<ClockShift>().map(|shift| shift.seconds);
        assert_eq!(seconds("10 minutes ahead"), Ok(600));
        assert_eq!(seconds("1 minute behind"), Ok(-60));
        assert_eq!(seconds("30 seconds behind"), Ok(-30));
        assert_eq!(seconds("right again"), Ok(0));
        let error = "99999999 minutes is too much: a clock is shifted by 68 years at most";
        assert_eq!(seconds("99999999 minutes ahead"), Err(error.to_owned()));
    }

    #[test]
    fn numbers_of_hollow_members_are_read() {
        let agent = |text: &str| text.parse::<AgentRef>().expect("a phrase");
        assert_eq!(agent("the agents of 30 hollow members"), AgentRef::Hollow(30));
        assert_eq!(agent("the agent of member \"m 1\""), AgentRef::Member("m 1".into()));
        assert_eq!(agent("the hub-agent"), AgentRef::Hub);
        let addition = |text: &str| text.parse::<FleetAddition>().expect("a phrase");
        assert_eq!(addition(" and 200 hollow members"), FleetAddition::HollowMembers(200));
        assert_eq!((addition(" and Argo CD"), addition("")), (FleetAddition::ArgoCd, FleetAddition::Nothing));
    }
}
