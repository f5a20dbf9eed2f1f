//! The typed parameters of steps.

use std::convert::Infallible;
use std::str::FromStr;

use cucumber::Parameter;
use fleet::argocd::ArgoCdComponent;

/// Members, each in double quotes: `"member-1"`, `"member-1" and "member-2"`, `"a", "b" and "c"`.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(regex = r#""[^"]+"(?:, "[^"]+")*(?: and "[^"]+")?"#, name = "members")]
pub struct Members(pub Vec<String>);

impl FromStr for Members {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(quoted(text)))
    }
}

/// An object that a scenario made or that a controller made for it:
/// `placement "p"`, `update run "r"`, `the binding of placement "p" for "m"`,
/// `the Work of placement "p" for "m"`, `the Work of the envelope of placement "p" for "m"`,
/// `the second Work of the envelope of placement "p" for "m"`, `the policy snapshots of placement "p"`,
/// `the approval request of update run "r" before|after stage "s"`, `member "m"`, `the hub's namespace of member "m"`,
/// `the RoleBinding of member "m" on the hub`, `the ServiceAccount of member "m" on the hub`,
/// `the policy on the hub that refuses the Works of placement "p"`, `eviction "e"`, `the disruption budget of placement "p"`,
/// `the hub-agent`, `application "a"`, `application set "s"`, `project "p"`; or any other by its path: `object "Kind/namespace/name" of "m"`, `object "Kind/name" of the hub`.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(
    regex = r#"placement "[^"]+"|update run "[^"]+"|the binding of placement "[^"]+" for "[^"]+"|the Work of (?:the envelope of )?placement "[^"]+" for "[^"]+"|the approval request of update run "[^"]+" (?:before|after) stage "[^"]+"|the second Work of the envelope of placement "[^"]+" for "[^"]+"|the policy snapshots of placement "[^"]+"|the (?:RoleBinding|ServiceAccount) of member "[^"]+" on the hub|the policy on the hub that refuses the Works of placement "[^"]+"|eviction "[^"]+"|the disruption budget of placement "[^"]+"|the hub's namespace of member "[^"]+"|the hub-agent|member "[^"]+"|application (?:set )?"[^"]+"|project "[^"]+"|object "[^"]+" of (?:the hub|"[^"]+")"#,
    name = "object"
)]
pub enum ObjectRef {
    /// A placement.
    Placement(String),
    /// An update run.
    UpdateRun(String),
    /// A placement's binding for a member.
    Binding {
        /// The placement.
        placement: String,
        /// The member.
        member: String,
    },
    /// A Work: the resources of a placement that the hub gives a member.
    Work {
        /// The placement.
        placement: String,
        /// The member.
        member: String,
        /// True if the Work was made of the placement's envelope.
        enveloped: bool,
    },
    /// Second Work that a scenario has made of a placement's envelope.
    SecondWork {
        /// The placement.
        placement: String,
        /// The member.
        member: String,
    },
    /// All policy snapshots of a placement.
    PolicySnapshots(String),
    /// RoleBinding of a member's identity in the member's namespace on the hub.
    RoleBinding(String),
    /// ServiceAccount that the member's agent is on the hub.
    ServiceAccount(String),
    /// ValidatingAdmissionPolicy that refuses a placement's Works.
    RefusingPolicy(String),
    /// Eviction of a placement from a member.
    Eviction(String),
    /// Disruption budget of a placement.
    DisruptionBudget(String),
    /// A project of Argo CD.
    Project(String),
    /// A stage's approval request.
    ApprovalRequest {
        /// The run.
        run: String,
        /// `before` or `after`.
        when: &'static str,
        /// The stage.
        stage: String,
    },
    /// KubeFleet's agent on the hub.
    HubAgent,
    /// A member's namespace on the hub.
    MemberNamespace(String),
    /// A member's MemberCluster.
    Member(String),
    /// An Application of Argo CD.
    Application(String),
    /// An ApplicationSet of Argo CD.
    ApplicationSet(String),
    /// Any object, by its path.
    Named {
        /// `Kind/namespace/name`, or `Kind/name` for a kind without namespaces.
        path: String,
        /// The member; none for the hub.
        member: Option<String>,
    },
}

impl FromStr for ObjectRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = quoted(text).into_iter();
        let mut name = || names.next().ok_or_else(|| format!("no name in `{text}`"));
        Ok(if text.starts_with("placement") {
            Self::Placement(name()?)
        } else if text.starts_with("update run") {
            Self::UpdateRun(name()?)
        } else if text.starts_with("the binding") {
            Self::Binding { placement: name()?, member: name()? }
        } else if text.starts_with("the Work") {
            let enveloped = text.starts_with("the Work of the envelope");
            Self::Work { placement: name()?, member: name()?, enveloped }
        } else if text.starts_with("the second Work") {
            Self::SecondWork { placement: name()?, member: name()? }
        } else if text.starts_with("the policy snapshots") {
            Self::PolicySnapshots(name()?)
        } else if text.starts_with("the policy on the hub") {
            Self::RefusingPolicy(name()?)
        } else if text.starts_with("the RoleBinding") {
            Self::RoleBinding(name()?)
        } else if text.starts_with("the ServiceAccount") {
            Self::ServiceAccount(name()?)
        } else if text.starts_with("eviction") {
            Self::Eviction(name()?)
        } else if text.starts_with("the disruption budget") {
            Self::DisruptionBudget(name()?)
        } else if text.starts_with("the approval") {
            let when = if text.contains("\" before stage \"") { "before" } else { "after" };
            Self::ApprovalRequest { run: name()?, when, stage: name()? }
        } else if text == "the hub-agent" {
            Self::HubAgent
        } else if text.starts_with("the hub's") {
            Self::MemberNamespace(name()?)
        } else if text.starts_with("application set") {
            Self::ApplicationSet(name()?)
        } else if text.starts_with("application") {
            Self::Application(name()?)
        } else if text.starts_with("project") {
            Self::Project(name()?)
        } else if text.starts_with("object") {
            Self::Named { path: name()?, member: names.next() }
        } else if text.starts_with("member") {
            Self::Member(name()?)
        } else {
            return Err(format!("`{text}` is no object"));
        })
    }
}

/// `a placement` or `a cluster-scoped placement` (ClusterResourcePlacement, with its runs, strategies and approval
/// requests), or `a namespaced placement` (ResourcePlacement, likewise).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "a placement|a cluster-scoped placement|a namespaced placement", name = "placement")]
pub struct NewPlacement {
    /// True for a ResourcePlacement.
    pub namespaced: bool,
}

impl FromStr for NewPlacement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "a placement" | "a cluster-scoped placement" => Ok(Self { namespaced: false }),
            "a namespaced placement" => Ok(Self { namespaced: true }),
            _ => Err(format!("`{text}` is no new placement")),
        }
    }
}

/// A word that is meant as a failure code, e.g. `KF-WS-001`. A wrong one, such as `KF-WS-01`, is a parameter as well: the check of
/// features names the nearest code.
#[derive(Clone, Debug, PartialEq, Eq, Parameter)]
#[param(regex = r"[A-Z]+-[A-Z]+-[0-9]+", name = "code")]
pub struct CodeParam(pub String);

impl FromStr for CodeParam {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('-').collect();
        match parts[..] {
            [system, area, number] if is_upper(system) && is_upper(area) && number.parse::<u32>().is_ok() => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(format!("`{text}` is no failure code")),
        }
    }
}

fn is_upper(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase())
}

/// A component of Argo CD: `redis`, `repo-server`, `application-controller` or `applicationset-controller`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[param(regex = "redis|repo-server|application-controller|applicationset-controller", name = "component")]
pub struct ComponentParam(pub ArgoCdComponent);

impl FromStr for ComponentParam {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(match text {
            "redis" => ArgoCdComponent::Redis,
            "repo-server" => ArgoCdComponent::RepoServer,
            "applicationset-controller" => ArgoCdComponent::ApplicationSetController,
            _ => ArgoCdComponent::Controller,
        }))
    }
}

/// The texts between double quotes.
pub(crate) fn quoted(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_listed_as_in_prose() {
        let members: Members = r#""a", "b" and "c""#.parse().expect("members");
        assert_eq!(members.0, ["a", "b", "c"]);
    }

    #[test]
    fn objects_are_named_as_in_the_guides() {
        let parse = |text: &str| text.parse::<ObjectRef>().expect("an object");
        assert_eq!(parse(r#"placement "p""#), ObjectRef::Placement("p".into()));
        assert_eq!(
            parse(r#"the binding of placement "p" for "m""#),
            ObjectRef::Binding { placement: "p".into(), member: "m".into() }
        );
        assert_eq!(
            parse(r#"the approval request of update run "r" before stage "s""#),
            ObjectRef::ApprovalRequest { run: "r".into(), when: "before", stage: "s".into() }
        );
        assert_eq!(parse(r#"the hub's namespace of member "m""#), ObjectRef::MemberNamespace("m".into()));
        assert_eq!(parse(r#"member "m""#), ObjectRef::Member("m".into()));
        assert_eq!(parse(r#"eviction "e""#), ObjectRef::Eviction("e".into()));
        assert_eq!(parse(r#"the disruption budget of placement "p""#), ObjectRef::DisruptionBudget("p".into()));
        assert_eq!(parse(r#"application "a""#), ObjectRef::Application("a".into()));
        assert_eq!(parse("the hub-agent"), ObjectRef::HubAgent);
        assert_eq!(
            parse(r#"object "Pod/apps/web" of "m""#),
            ObjectRef::Named { path: "Pod/apps/web".into(), member: Some("m".into()) }
        );
        assert_eq!(
            parse(r#"object "Namespace/apps" of the hub"#),
            ObjectRef::Named { path: "Namespace/apps".into(), member: None }
        );
        assert_eq!(
            parse(r#"the Work of the envelope of placement "p" for "m""#),
            ObjectRef::Work { placement: "p".into(), member: "m".into(), enveloped: true }
        );
    }
}
