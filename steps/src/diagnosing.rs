//! Steps about what the diagnosis says.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{then, when};
use diagnosis::{Evidence, Finding};
use tokio::time::Instant;

use crate::error::StepError;
use crate::params::{CodeParam, ObjectRef};
use crate::record::What;
use crate::scene::Scene;
use crate::wording;
use crate::world::World;

/// The diagnosis of the object has this code, and nothing that it finds in this scenario has another root. With a table
/// (columns `object`, `value`), its evidence names, in this order, these objects (kind and name, `{name}` filled in) with
/// values that contain these.
#[then(expr = "the diagnosis of {object} is {code}")]
async fn is(world: &mut World, object: ObjectRef, code: CodeParam, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let wanted = Wanted::new(scene, &object, code)?;
    wanted.check(scene, &diagnose(scene).await?, step)
}

/// The diagnosis of the object has this code for this member, and nothing has another root. The table is the same.
#[then(expr = "the diagnosis of {object} is {code} for {string}")]
async fn is_for(
    world: &mut World,
    object: ObjectRef,
    code: CodeParam,
    member: String,
    step: &Step,
) -> Result<(), StepError> {
    let scene = world.scene();
    let wanted = Wanted::new(scene, &object, code)?.on(scene, &member)?;
    wanted.check(scene, &diagnose(scene).await?, step)
}

/// The diagnosis of the object has the first code, hanging under a root that has the second, and nothing has another
/// root. The table is the same, about the first.
#[then(expr = "the diagnosis of {object} is {code}, because of {code}")]
async fn is_because_of(
    world: &mut World,
    object: ObjectRef,
    code: CodeParam,
    root: CodeParam,
    step: &Step,
) -> Result<(), StepError> {
    let scene = world.scene();
    let wanted = Wanted::new(scene, &object, code)?.because_of(root);
    wanted.check(scene, &diagnose(scene).await?, step)
}

/// The diagnosis of the object has the first code for this member, hanging under a root that has the second, and nothing
/// has another root. The table is the same, about the first.
#[then(expr = "the diagnosis of {object} is {code} for {string}, because of {code}")]
async fn is_for_because_of(
    world: &mut World,
    object: ObjectRef,
    code: CodeParam,
    member: String,
    root: CodeParam,
    step: &Step,
) -> Result<(), StepError> {
    let scene = world.scene();
    let wanted = Wanted::new(scene, &object, code)?.on(scene, &member)?.because_of(root);
    wanted.check(scene, &diagnose(scene).await?, step)
}

/// As without `within`, but what the diagnosis rests on, such as the age of a heartbeat, takes time. The table is the same.
#[then(expr = "within {int} seconds the diagnosis of {object} is {code}")]
async fn is_within(
    world: &mut World,
    seconds: u64,
    object: ObjectRef,
    code: CodeParam,
    step: &Step,
) -> Result<(), StepError> {
    let scene = world.scene();
    within(scene, seconds, Wanted::new(scene, &object, code)?, step).await
}

/// As without `within`, but what the diagnosis rests on takes time. The table is the same.
#[then(expr = "within {int} seconds the diagnosis of {object} is {code} for {string}")]
async fn is_for_within(
    world: &mut World,
    seconds: u64,
    object: ObjectRef,
    code: CodeParam,
    member: String,
    step: &Step,
) -> Result<(), StepError> {
    let scene = world.scene();
    within(scene, seconds, Wanted::new(scene, &object, code)?.on(scene, &member)?, step).await
}

/// As without `within`, but what the diagnosis rests on takes time. The table is the same.
#[then(expr = "within {int} seconds the diagnosis of {object} is {code} for {string}, because of {code}")]
async fn is_for_because_of_within(
    world: &mut World,
    seconds: u64,
    object: ObjectRef,
    code: CodeParam,
    member: String,
    root: CodeParam,
    step: &Step,
) -> Result<(), StepError> {
    let scene = world.scene();
    let wanted = Wanted::new(scene, &object, code)?.on(scene, &member)?.because_of(root);
    within(scene, seconds, wanted, step).await
}

/// The diagnosis finds nothing wrong with anything of this scenario.
#[then("the diagnosis finds nothing")]
#[when("the diagnosis finds nothing")]
async fn nothing(world: &mut World) -> Result<(), StepError> {
    let findings = diagnose(world.scene()).await?;
    if findings.is_empty() {
        return Ok(());
    }
    Err(StepError::Differs(format!("the diagnosis finds {}", list(&findings))))
}

/// Nothing tells when the diagnosis will change its mind: it reads the age of things, which no watch tells.
const PAUSE: Duration = Duration::from_secs(5);

async fn within(scene: &Scene, seconds: u64, wanted: Wanted, step: &Step) -> Result<(), StepError> {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        let findings = scene.diagnose().await?;
        let checked = wanted.check(scene, &findings, step);
        let late = Instant::now() > deadline;
        if checked.is_ok() || late {
            scene.recorder.add(What::Diagnosed { findings });
            return checked.map_err(|e| StepError::Differs(format!("after {seconds} s: {e}")));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn diagnose(scene: &Scene) -> Result<Vec<Finding>, StepError> {
    let findings = scene.diagnose().await?;
    scene.recorder.add(What::Diagnosed { findings: findings.clone() });
    Ok(findings)
}

/// A finding that a step wants to see, and where it should stand among all of the scenario's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wanted {
    code: String,
    kind: String,
    name: String,
    member: Option<String>,
    /// The code of the root that it should hang under; none when it should be a root itself.
    root: Option<String>,
}

impl Wanted {
    fn new(scene: &Scene, object: &ObjectRef, code: CodeParam) -> Result<Self, StepError> {
        let kind = scene.find(object)?.kind.kind.to_owned();
        let name = match object {
            ObjectRef::Placement(name) => scene.placement(name)?.name,
            ObjectRef::UpdateRun(name) => scene.run(name)?.name,
            ObjectRef::Member(member) => scene.names.get(member)?,
            ObjectRef::Application(name) => scene.application(name)?.name,
            _ => {
                let text = "findings are about placements, update runs, members and applications";
                return Err(StepError::Feature(text.into()));
            }
        };
        Ok(Self { code: code.0, kind, name, ..Self::default() })
    }

    fn on(self, scene: &Scene, member: &str) -> Result<Self, StepError> {
        Ok(Self { member: Some(scene.names.get(member)?), ..self })
    }

    fn because_of(self, root: CodeParam) -> Self {
        Self { root: Some(root.0), ..self }
    }

    fn check(&self, scene: &Scene, findings: &[Finding], step: &Step) -> Result<(), StepError> {
        let finding = self.among(findings).map_err(StepError::Differs)?;
        evidence(scene, finding, step)
    }

    /// The finding, when it and all roots are as wanted.
    fn among<'a>(&self, findings: &'a [Finding]) -> Result<&'a Finding, String> {
        let root_code = self.root.as_ref().unwrap_or(&self.code);
        let found = |root: &'a Finding| root.flatten().find(|f| self.is(f)).map(|f| (root, f));
        let all: Vec<_> = findings.iter().filter_map(found).collect();
        let Some((root, finding)) = all.iter().find(|(root, _)| root.code.0 == *root_code).or(all.first()).copied()
        else {
            return Err(format!("the diagnosis has no {self}; it finds {}", list(findings)));
        };
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

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} for {}/{}", self.code, self.kind, self.name)?;
        self.member.as_ref().map_or(Ok(()), |member| write!(f, " ({member})"))
    }
}

fn evidence(scene: &Scene, finding: &Finding, step: &Step) -> Result<(), StepError> {
    let Some(table) = &step.table else { return Ok(()) };
    let [header, rows @ ..] = &table.rows[..] else { return Ok(()) };
    if header[..] != ["object", "value"] {
        return Err(StepError::Feature("the table of evidence has the columns `object` and `value`".into()));
    }
    // Each row from where the one before was found, and that one too: two rows may be about the same evidence. The order is
    // the one in which a person would follow it.
    let mut left = &finding.evidence[..];
    let can = scene.fleet.capabilities();
    for row in rows {
        let (object, value) = (scene.words(&row[0]), scene.names.fill(&wording::evidence(&can, &row[1])));
        let fits = |e: &Evidence| e.object.contains(&object) && e.value.contains(&value);
        if let Some(place) = left.iter().position(fits) {
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

    use super::Wanted;

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

    fn wanted(code: &str, kind: &str, name: &str, root: Option<&str>) -> Wanted {
        let [code, kind, name] = [code, kind, name].map(str::to_owned);
        Wanted { code, kind, name, member: Some("east".into()), root: root.map(str::to_owned) }
    }

    #[test]
    fn a_root_must_be_the_only_one_and_what_follows_must_hang_under_it() {
        let run = finding("KF-UR-006", "Run", "r", &[]);
        let web = finding("KF-AP-001", "Placement", "web", std::slice::from_ref(&run));
        let silent = finding("KF-MC-001", "MemberCluster", "east", &[web]);
        let one = findings(std::slice::from_ref(&silent));
        assert!(wanted("KF-MC-001", "MemberCluster", "east", None).among(&one).is_ok());
        assert!(wanted("KF-UR-006", "Run", "r", Some("KF-MC-001")).among(&one).is_ok());

        let error = |w: Wanted, f: &[Finding]| w.among(f).expect_err("not as wanted");
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
