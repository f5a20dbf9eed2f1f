//! Steps about fields of objects that are no conditions, as the guides show them in YAML.

use cucumber::gherkin::Step;
use cucumber::{given, then};
use fleet::observe::Verdict;
use serde_json::Value;

use crate::error::StepError;
use crate::limits;
use crate::params::ObjectRef;
use crate::scene::Scene;
use crate::tables;
use crate::wording;
use crate::world::World;

/// Waits until the object has all these values at the same moment. Columns: `field`, a path such as
/// `status.policySnapshotIndexUsed`, `metadata.labels.kubernetes-fleet.io/taskType` or `status.stagesStatus.0.stageName`,
/// and `value`: `{name}` stands for the real name of what the scenario calls so, `*` at the end for anything, `A or B` for
/// one of both, `absent` for no such field.
#[given(expr = "{object} has")]
#[then(expr = "{object} has")]
async fn has(world: &mut World, object: ObjectRef, step: &Step) -> Result<(), StepError> {
    let scene = world.scene();
    let wanted = table(scene, step)?;
    let found = scene.find(&object)?;
    let (hub, kind) = (scene.hub(), found.kind.kind);
    let said: Vec<String> = wanted.iter().map(|(field, value)| format!("{field} {value}")).collect();
    scene
        .wait(&hub, &found.watched, &said.join("; "), limits::REPORTED, |objects| match found.pick(objects) {
            None => Verdict::Pending(format!("there is no such {kind}")),
            Some(value) => check(&wanted, value),
        })
        .await?;
    Ok(())
}

fn table(scene: &Scene, step: &Step) -> Result<Vec<(String, String)>, StepError> {
    let rows = step.table.as_ref().map(|t| &t.rows[..]);
    let Some([header, rows @ ..]) = rows else {
        return Err(StepError::Feature("this step needs a table of fields".into()));
    };
    if header[..] != ["field", "value"] {
        return Err(StepError::Feature("the table of fields has the columns `field` and `value`".into()));
    }
    let can = scene.fleet.capabilities();
    let value = |row: &[String]| scene.names.fill(&wording::field(&can, &row[0], &row[1]));
    Ok(rows.iter().map(|row| (row[0].clone(), value(row))).collect())
}

fn check(wanted: &[(String, String)], object: &Value) -> Verdict {
    for (path, value) in wanted {
        let is = at(object, path).map(text);
        let fits = match &is {
            None => value == "absent",
            Some(is) => value != "absent" && tables::fits(is, value),
        };
        if !fits {
            let is = is.unwrap_or_else(|| "absent".into());
            return Verdict::Pending(format!("{path} is `{is}`, not `{value}`"));
        }
    }
    Verdict::Holds
}

/// The value at a path. Keys may have dots in them: the longest one that fits is taken.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return Some(value);
    }
    if let Value::Array(list) = value {
        let (index, rest) = path.split_once('.').unwrap_or((path, ""));
        return at(list.get(index.parse::<usize>().ok()?)?, rest);
    }
    let rest = |key: &String| path.strip_prefix(key.as_str()).filter(|r| r.is_empty() || r.starts_with('.'));
    let fitting = value.as_object()?.iter().filter_map(|(key, value)| Some((key, value, rest(key)?)));
    let (_, value, rest) = fitting.max_by_key(|(key, ..)| key.len())?;
    at(value, rest.trim_start_matches('.'))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{at, check};
    use fleet::observe::Verdict;

    #[test]
    fn a_path_leads_through_lists_and_keys_with_dots() {
        let object = json!({
            "metadata": {"labels": {"fleet.io/task": "after"}},
            "status": {"stages": [{"name": "one"}, {"name": "two"}], "count": 2},
        });
        assert_eq!(at(&object, "metadata.labels.fleet.io/task"), Some(&json!("after")));
        assert_eq!(at(&object, "status.stages.1.name"), Some(&json!("two")));
        assert_eq!(at(&object, "status.stages.2.name"), None);
        assert_eq!(at(&object, "status.coun"), None);
        let wanted = |value: &str| [("status.count".to_owned(), value.to_owned())];
        assert_eq!(check(&wanted("2"), &object), Verdict::Holds);
        assert_eq!(check(&wanted("absent"), &object), Verdict::Pending("status.count is `2`, not `absent`".into()));
        let absent = [("status.none".to_owned(), "absent".to_owned())];
        assert_eq!(check(&absent, &object), Verdict::Holds);
    }
}
