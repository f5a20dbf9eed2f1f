//! Steps about what the diagnosis says.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{then, when};
use diagnosis::Finding;
use record::{ObjectPath, RecordedEvent};
use tokio::time::Instant;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::needs::{StepRole, TableShape, needs};
use crate::objects::work_name;
use crate::params::{CodeParam, ObjectRef};
use crate::pauses::between_reads;
use crate::phrases::{BecauseOf, ForMember, SupersededBy, WhileAvailable, WithinSeconds};
use crate::placement_objects::available_on;
use crate::wording;
use crate::world::World;

/// Table of evidence.
const EVIDENCE: TableShape = TableShape { rows: "evidence", columns: &["object", "value"], optional: true };

/// The diagnosis of the object has this code, and nothing that it finds in this scenario has another root.
///
/// ` for "member-1"`: the code is about this member. `, because of KF-MC-001`: the finding hangs under a root that has the second code.
/// `, superseded by update run "again"`: the finding is a notice, because that run has made up for the failure.
/// Waits for a minute at most, because the diagnosis takes a state that is seconds old for one that passes. `within 200 seconds `: for a
/// diagnosis that rests on something which takes longer, such as the age of a heartbeat.
///
/// With a table (columns `object`, `value`), the finding's evidence names, in this order, these objects (kind and name, `{name}` filled
/// in) with values that contain these.
#[needs(role: Some(StepRole::AssertsDiagnosis), table: |_| Some(EVIDENCE))]
#[then(expr = "{within?}the diagnosis of {object} is {code}{for member?}{because of?}{superseded by?}")]
async fn is(
    world: &mut World,
    limit: WithinSeconds,
    object: ObjectRef,
    code: CodeParam,
    member: ForMember,
    root: BecauseOf,
    superseded: SupersededBy,
    step: &Step,
) -> Result<(), StepError> {
    let context = world.context();
    let wanted = ExpectedFinding::new(context, &object, code)?;
    let member = member.0.map(|member| context.ledger.names.get(&member)).transpose()?;
    let superseded_by = superseded.0.map(|run| Ok::<_, StepError>(context.run(&run)?.path())).transpose()?;
    let wanted = ExpectedFinding { member, root: root.0.map(|root| root.0), superseded_by, ..wanted };
    within(context, limit.0.map_or(limits::DIAGNOSED, Duration::from_secs), wanted, step).await
}

/// The diagnosis finds nothing wrong with anything of this scenario: neither a failure nor a notice, now.
///
/// ` while placement "web" becomes available on "member-1"`: diagnoses about every second until the placement says so and its resources are
/// there, and finds nothing any time.
#[then(expr = "the diagnosis finds nothing{while?}")]
#[when(expr = "the diagnosis finds nothing{while?}")]
async fn nothing(world: &mut World, meanwhile: WhileAvailable) -> Result<(), StepError> {
    let context = world.context();
    match meanwhile.0 {
        None => finds_nothing(context).await,
        Some((placement, members)) => {
            let always = async {
                loop {
                    finds_nothing(context).await?;
                    between_reads(PAUSE).await;
                }
            };
            tokio::select! {
                ended = available_on(context, &placement, &members) => ended,
                found = always => found,
            }
        }
    }
}

async fn finds_nothing(context: &ScenarioContext) -> Result<(), StepError> {
    let findings = diagnose(context).await?;
    if findings.is_empty() {
        return Ok(());
    }
    Err(StepError::Differs(format!("the diagnosis finds {}", list(&findings))))
}

/// Nothing tells when the diagnosis will change its mind: it reads the age of things, which no watch tells.
const PAUSE: Duration = Duration::from_secs(1);

async fn within(
    context: &ScenarioContext,
    limit: Duration,
    wanted: ExpectedFinding,
    step: &Step,
) -> Result<(), StepError> {
    let deadline = Instant::now() + limit;
    loop {
        let findings = context.diagnose().await?;
        let checked = wanted.check(context, &findings, step);
        let late = Instant::now() > deadline;
        if checked.is_ok() || late {
            context.recorder.add(RecordedEvent::Diagnosed { findings });
            return checked.map_err(|e| match e {
                StepError::Differs(text) => StepError::Differs(format!("after {} s: {text}", limit.as_secs())),
                other => other,
            });
        }
        between_reads(PAUSE).await;
    }
}

async fn diagnose(context: &ScenarioContext) -> Result<Vec<Finding>, StepError> {
    let findings = context.diagnose().await?;
    context.recorder.add(RecordedEvent::Diagnosed { findings: findings.clone() });
    Ok(findings)
}

/// A finding that a step wants to see, and where it should stand among all of the scenario's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ExpectedFinding {
    code: String,
    kind: String,
    name: String,
    member: Option<String>,
    /// The code of the root that it should hang under; none when it should be a root itself.
    root: Option<String>,
    /// The run that has made up for the failure; none when the finding should be as grave as its code.
    superseded_by: Option<ObjectPath>,
}

impl ExpectedFinding {
    fn new(context: &ScenarioContext, object: &ObjectRef, code: CodeParam) -> Result<Self, StepError> {
        let kind = context.find(object)?.kind.kind.to_owned();
        let name = match object {
            ObjectRef::Placement(name) => context.placement(name)?.name,
            ObjectRef::UpdateRun(name) => context.run(name)?.name,
            ObjectRef::Member(member) => context.ledger.names.get(member)?,
            ObjectRef::Application(name) => context.application(name)?.name,
            ObjectRef::HubAgent => clusters::agents::HUB_AGENT.to_owned(),
            ObjectRef::Work { placement, enveloped: false, .. } => work_name(&context.placement(placement)?),
            _ => {
                let text = "findings are about placements and their Works, update runs, members, applications and the hub-agent";
                return Err(StepError::Feature(text.into()));
            }
        };
        Ok(Self { code: code.0, kind, name, ..Self::default() })
    }

    fn check(&self, context: &ScenarioContext, findings: &[Finding], step: &Step) -> Result<(), StepError> {
        let finding = self.among(findings).map_err(StepError::Differs)?;
        evidence(context, finding, step)
    }

    /// The finding, when it and all roots are as wanted.
    fn among<'a>(&self, findings: &'a [Finding]) -> Result<&'a Finding, String> {
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

    fn is(&self, finding: &Finding) -> bool {
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

fn evidence(context: &ScenarioContext, finding: &Finding, step: &Step) -> Result<(), StepError> {
    let Some(table) = &step.table else { return Ok(()) };
    let [header, rows @ ..] = &table.rows[..] else { return Ok(()) };
    if header[..] != ["object", "value"] {
        return Err(StepError::Feature("the table of evidence has the columns `object` and `value`".into()));
    }
    // Each row from where the one before was found, and that one too: two rows may be about the same evidence. The order is
    // the one in which a person would follow it.
    let mut left = &finding.evidence[..];
    let can = context.fleet.capabilities();
    for row in rows {
        let (object, value) = (context.words(&row[0]), context.ledger.names.fill(&wording::evidence(&can, &row[1])));
        let place = left.iter().position(|e| e.object.to_string().contains(&object) && e.value.contains(&value));
        if let Some(place) = place {
            left = &left[place..];
        } else {
            let there: Vec<String> = finding.evidence.iter().map(|e| format!("{}: {}", e.object, e.value)).collect();
            let what = format!("{object} with `{value}`, or not in this order; it rests on {}", there.join("; "));
            return Err(StepError::Differs(format!("{} doesn't rest on {what}", finding.code)));
        }
    }
    Ok(())
}

fn list(findings: &[Finding]) -> String {
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
        ExpectedFinding { code, kind, name, member: Some("east".into()), root: root.map(str::to_owned) }
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
