//! Steps about what the diagnosis says.

use cucumber::gherkin::Step;
use cucumber::{then, when};
use diagnosis::Finding;

use crate::error::StepError;
use crate::params::{CodeParam, ObjectRef};
use crate::record::What;
use crate::scene::Scene;
use crate::world::World;

/// The diagnosis of the object has this code. With a table (columns `object`, `value`), its evidence names these
/// objects (kind and name, `{name}` filled in) with values that contain these.
#[then(expr = "the diagnosis of {object} is {code}")]
async fn is(world: &mut World, object: ObjectRef, code: CodeParam, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let findings = diagnose(scene).await?;
    finding(scene, &findings, &object, &code.0, None, step)
}

/// The diagnosis of the object has this code for this member. The table is the same.
#[then(expr = "the diagnosis of {object} is {code} for {string}")]
async fn is_for(
    world: &mut World,
    object: ObjectRef,
    code: CodeParam,
    member: String,
    step: &Step,
) -> Result<(), StepError> {
    let scene = world.scene();
    let member = scene.names.get(&member)?;
    let findings = diagnose(scene).await?;
    finding(scene, &findings, &object, &code.0, Some(&member), step)
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

async fn diagnose(scene: &Scene) -> Result<Vec<Finding>, StepError> {
    let findings = scene.diagnose().await?;
    scene.recorder.add(What::Diagnosed { findings: findings.clone() });
    Ok(findings)
}

fn finding(
    scene: &Scene,
    findings: &[Finding],
    object: &ObjectRef,
    code: &str,
    member: Option<&str>,
    step: &Step,
) -> Result<(), StepError> {
    let found = scene.find(object)?;
    let all = findings.iter().flat_map(Finding::flatten);
    let name = match object {
        ObjectRef::Placement(name) => scene.placement(name)?.name,
        ObjectRef::UpdateRun(name) => scene.run(name)?.name,
        ObjectRef::MemberNamespace(member) => scene.names.get(member)?,
        ObjectRef::ApprovalRequest { run, when, stage } => format!("{}-{when}-{stage}", scene.run(run)?.name),
        ObjectRef::Binding { .. } => return Err(StepError::Feature("findings are about placements and runs".into())),
    };
    let matching = all.filter(|f| f.code.0 == code && f.subject.name == name);
    let matching = matching.filter(|f| member.is_none_or(|m| f.subject.member.as_deref() == Some(m)));
    let Some(finding) = matching.into_iter().next() else {
        let wanted =
            format!("{code} for {}/{name}{}", found.kind.kind, member.map(|m| format!(" ({m})")).unwrap_or_default());
        return Err(StepError::Differs(format!("the diagnosis has no {wanted}; it finds {}", list(findings))));
    };
    evidence(scene, finding, step)
}

fn evidence(scene: &Scene, finding: &Finding, step: &Step) -> Result<(), StepError> {
    let Some(table) = &step.table else { return Ok(()) };
    let [header, rows @ ..] = &table.rows[..] else { return Ok(()) };
    if header[..] != ["object", "value"] {
        return Err(StepError::Feature("the table of evidence has the columns `object` and `value`".into()));
    }
    for row in rows {
        let (object, value) = (scene.names.fill(&row[0]), scene.names.fill(&row[1]));
        if !finding.evidence.iter().any(|e| e.object.contains(&object) && e.value.contains(&value)) {
            return Err(StepError::Differs(format!("{} doesn't rest on {object} with `{value}`", finding.code)));
        }
    }
    Ok(())
}

fn list(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing".into();
    }
    let one = |f: &Finding| format!("{} {}: {}", f.code, f.subject, f.cause);
    findings.iter().map(one).collect::<Vec<_>>().join("; ")
}
