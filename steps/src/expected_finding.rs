//! Findings that a step of a feature asserts: in the feature's names, and in a scenario's real names.

use std::time::Duration;

use diagnosis::Finding;
use record::ObjectPath;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::objects::work_name;
use crate::params::{CodeParam, ObjectRef};
use crate::phrases::{FindingRelation, ForMember, WithinSeconds};

/// Diagnosis that a step asserts, in the feature's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertedDiagnosis {
    /// Subject of the finding.
    pub object: ObjectRef,
    /// Failure code.
    pub code: String,
    /// Member that the finding is about.
    pub member: Option<String>,
    /// Relation to a root, or to the update run that has made up for the failure.
    pub relation: FindingRelation,
    /// Time that the diagnosis may take, where the step grants one.
    pub within: Option<Duration>,
}

impl AssertedDiagnosis {
    /// Reads the parameters of the step, in the order of its expression.
    pub(crate) fn of_parameters(parameters: &[String]) -> Option<Self> {
        let [within, object, code, member, relation] = parameters else { return None };
        let within: WithinSeconds = within.parse().ok()?;
        let CodeParam(code) = code.parse().ok()?;
        let ForMember(member) = member.parse().ok()?;
        Some(Self {
            object: object.parse().ok()?,
            code,
            member,
            relation: relation.parse().ok()?,
            within: within.0.map(Duration::from_secs),
        })
    }

    /// Returns the code of the root that the finding hangs under; `None` where it is a root itself.
    #[must_use]
    pub fn root(&self) -> Option<&str> {
        match &self.relation {
            FindingRelation::BecauseOf(CodeParam(root)) => Some(root),
            FindingRelation::Root | FindingRelation::SupersededBy(_) => None,
        }
    }

    /// Replaces the feature's names by the real ones of a scenario whose steps have made the objects.
    ///
    /// # Errors
    /// Returns an error if the scenario hasn't made one of the objects, or if findings are never about the object.
    pub fn resolve(&self, context: &ScenarioContext) -> Result<ExpectedFinding, StepError> {
        let found = context.find(&self.object)?;
        let kind = found.kind.kind.to_owned();
        let name = match &self.object {
            ObjectRef::Placement(name) => context.placement(name)?.name,
            ObjectRef::UpdateRun(name) => context.run(name)?.name,
            ObjectRef::Member(member) => context.ledger.names.get(member)?,
            ObjectRef::Application(name) => context.application(name)?.name,
            ObjectRef::ApplicationSet(_) | ObjectRef::Eviction(_) | ObjectRef::Named { .. } => {
                found.name().unwrap_or_default().to_owned()
            }
            ObjectRef::HubAgent => clusters::agents::HUB_AGENT.to_owned(),
            ObjectRef::Work { placement, enveloped: false, .. } => work_name(&context.placement(placement)?),
            _ => {
                let text = "findings are about placements and their Works, update runs, evictions, members, applications and their sets, the hub-agent \
                            and objects that are given by their paths";
                return Err(StepError::Feature(text.into()));
            }
        };
        let member = self.member.as_ref().map(|member| context.ledger.names.get(member)).transpose()?;
        let (root, superseded_by) = match &self.relation {
            FindingRelation::Root => (None, None),
            FindingRelation::BecauseOf(CodeParam(root)) => (Some(root.clone()), None),
            FindingRelation::SupersededBy(run) => (None, Some(context.run(run)?.path())),
        };
        Ok(ExpectedFinding { code: self.code.clone(), kind, name, member, root, superseded_by })
    }
}

/// A finding that a step wants to see, and where it should stand among all of the scenario's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedFinding {
    /// Failure code.
    pub code: String,
    /// Kind of the subject.
    pub kind: String,
    /// Real name of the subject.
    pub name: String,
    /// Real name of the member that the finding is about; none where any member will do.
    pub member: Option<String>,
    /// The code of the root that it should hang under; none when it should be a root itself.
    pub root: Option<String>,
    /// The run that has made up for the failure; none when the finding should be as grave as its code.
    pub superseded_by: Option<ObjectPath>,
}

impl ExpectedFinding {
    /// The finding, when it and all roots are as wanted.
    pub(crate) fn among<'a>(&self, findings: &'a [Finding]) -> Result<&'a Finding, String> {
        let root_code = self.root.as_ref().unwrap_or(&self.code);
        let all = findings.iter().filter_map(|root| Some((root, root.flatten().find(|f| self.is(f))?)));
        let all: Vec<_> = all.collect();
        let Some((root, finding)) = all.iter().find(|(root, _)| root.code.0 == *root_code).or(all.first()).copied()
        else {
            return Err(format!("the diagnosis has no {self}; it finds {}", list(findings)));
        };
        let is_notice = !finding.severity.is_failure();
        if finding.superseded_by != self.superseded_by || (self.superseded_by.is_some() && !is_notice) {
            let by = finding.superseded_by.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
            return Err(format!("{self} is superseded by {by}, and its severity is {:?}", finding.severity));
        }
        let is_root = std::ptr::eq(root, finding);
        match (&self.root, is_root) {
            (None, false) => return Err(format!("{self} isn't the root: it hangs under {}", one(root))),
            (Some(wanted), true) => return Err(format!("{self} is a root and doesn't hang under {wanted}")),
            _ if root.code.0 != *root_code => {
                return Err(format!("{self} doesn't hang under {root_code}, but under {}", one(root)));
            }
            _ => {}
        }
        let others: Vec<Finding> = findings.iter().filter(|f| f.code.0 != *root_code).cloned().collect();
        if others.is_empty() {
            return Ok(finding);
        }
        Err(format!("besides {self} there are other roots: {}", list(&others)))
    }

    /// True if a finding has the code and the subject, wherever it stands.
    #[must_use]
    pub fn is(&self, finding: &Finding) -> bool {
        let subject = &finding.subject;
        finding.code.0 == self.code
            && subject.kind == self.kind
            && subject.name == self.name
            && self.member.as_ref().is_none_or(|m| subject.member.as_ref() == Some(m))
    }
}

impl std::fmt::Display for ExpectedFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} for {}/{}", self.code, self.kind, self.name)?;
        self.member.as_ref().map_or(Ok(()), |member| write!(f, " ({member})"))
    }
}

/// Findings in one line, for error messages.
pub(crate) fn list(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing".into();
    }
    findings.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn one(finding: &Finding) -> String {
    format!("{} {}: {}", finding.code, finding.subject, finding.cause)
}

#[cfg(test)]
mod tests {
    use diagnosis::Finding;
    use serde_json::{Value, json};

    use super::ExpectedFinding;

    fn finding(code: &str, kind: &str, name: &str, consequences: &[Value]) -> Value {
        json!({
            "code": code, "title": "", "cause": "", "evidence": [], "remedies": [],
            "subject": {"cluster": "hub", "kind": kind, "name": name, "member": "east"},
            "consequences": consequences,
        })
    }

    fn findings(values: &[Value]) -> Vec<Finding> {
        values.iter().map(|v| serde_json::from_value(v.clone()).expect("a finding")).collect()
    }

    fn wanted(code: &str, kind: &str, name: &str, root: Option<&str>) -> ExpectedFinding {
        let [code, kind, name] = [code, kind, name].map(str::to_owned);
        let (member, root) = (Some("east".to_owned()), root.map(str::to_owned));
        ExpectedFinding { code, kind, name, member, root, superseded_by: None }
    }

    #[test]
    fn a_root_must_be_the_only_one_and_what_follows_must_hang_under_it() {
        let run = finding("KF-UR-006", "Run", "r", &[]);
        let web = finding("KF-AP-001", "Placement", "web", std::slice::from_ref(&run));
        let silent = finding("KF-MC-001", "MemberCluster", "east", &[web]);
        let one = findings(std::slice::from_ref(&silent));
        assert!(wanted("KF-MC-001", "MemberCluster", "east", None).among(&one).is_ok());
        assert!(wanted("KF-UR-006", "Run", "r", Some("KF-MC-001")).among(&one).is_ok());

        let error = |w: ExpectedFinding, f: &[Finding]| w.among(f).expect_err("not as wanted");
        let not_root = error(wanted("KF-AP-001", "Placement", "web", None), &one);
        assert!(not_root.contains("isn't the root: it hangs under KF-MC-001"), "{not_root}");
        let wrong_root = error(wanted("KF-AP-001", "Placement", "web", Some("KF-WS-001")), &one);
        assert!(wrong_root.contains("doesn't hang under KF-WS-001, but under KF-MC-001"), "{wrong_root}");
        let is_root = error(wanted("KF-MC-001", "MemberCluster", "east", Some("KF-WS-001")), &one);
        assert!(is_root.contains("is a root and doesn't hang under KF-WS-001"), "{is_root}");
        let absent = error(wanted("KF-MC-002", "MemberCluster", "east", None), &one);
        assert!(absent.contains("the diagnosis has no KF-MC-002 for MemberCluster/east (east)"), "{absent}");

        let two = findings(&[silent, finding("KF-SC-001", "Placement", "other", &[])]);
        let other = error(wanted("KF-MC-001", "MemberCluster", "east", None), &two);
        assert!(other.contains("there are other roots: KF-SC-001 Placement/other (east)"), "{other}");
    }
}
