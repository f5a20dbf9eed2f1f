//! Steps about fields of objects that are no conditions, as the guides show them in YAML.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use fleet::observe::{Verdict, WatchedObjects};
use fleet::origin::{self, OriginReader};
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::application::FIELDS;
use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::kubectl_get;
use crate::limits;
use crate::needs::needs;
use crate::params::ObjectRef;
use crate::pauses::read_until_as_expected;
use crate::phrases::{ForSeconds, RefusedWith};
use crate::wording;
use crate::world::World;

/// Waits until the object has all these values at the same moment. Columns: `field`, a path such as
/// `status.policySnapshotIndexUsed`, `metadata.labels.kubernetes-fleet.io/taskType` or `status.stagesStatus.0.stageName`,
/// and `value`: `{name}` stands for the real name of what the scenario calls so, `*` at the end for anything, `A or B` for
/// one of both, `absent` for no such field. In a list, `name=settings` stands for the entry that has this value in this field:
/// `status.placementStatuses.clusterName=member-1.driftedPlacements`.
///
/// ` for 15 seconds`: watches that the object goes on to have them all for that long.
#[needs(table: |_| Some(FIELDS))]
#[given(expr = "{object} has{for seconds?}")]
#[then(expr = "{object} has{for seconds?}")]
async fn has(world: &mut World, object: ObjectRef, time: ForSeconds, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let found = context.find(&object)?;
    let wanted = table(context, found.kind.kind, step)?;
    let (cluster, kind) = (context.cluster_of(&found).await?, found.kind.kind);
    let said: Vec<String> = wanted.iter().map(|(field, value)| format!("{field} {value}")).collect();
    let holds = |objects: &WatchedObjects| match found.pick(objects) {
        None => Verdict::Pending(format!("there is no such {kind}")),
        Some(value) => check(&wanted, value),
    };
    let expectation = said.join("; ");
    context.wait(&cluster, &found.watched, &expectation, limits::REPORTED, holds).await?;
    let Some(seconds) = time.0 else { return Ok(()) };
    context.stays(&cluster, &found.watched, &expectation, Duration::from_secs(seconds), holds).await
}

/// Compares what `fleetdrill who` finds about an object, `object "Kind/namespace/name" of "member-1"`, with the table. Columns: `field`, a
/// path in the JSON of `who -o json` such as `placedBy.0.placement`, and `value` as for `has`.
#[needs(table: |_| Some(FIELDS))]
#[then(expr = "the origin of {object} has")]
async fn origin_has(world: &mut World, object: ObjectRef, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let found = context.find(&object)?;
    let wanted = table(context, found.kind.kind, step)?;
    let name = found.name().ok_or_else(|| StepError::Feature("only an object with a name has an origin".into()))?;
    let cluster = context.cluster_of(&found).await?;
    let reader =
        OriginReader { hub: context.hub().client, member: cluster.client.clone(), member_name: cluster.name.clone() };
    let called = if found.kind.group.is_empty() {
        found.kind.kind.to_owned()
    } else {
        format!("{}.{}", found.kind.kind, found.kind.group)
    };
    let kind = origin::kind_called(&cluster.name, &cluster.client, &called).await?;
    let kind = kind.ok_or_else(|| StepError::Differs(format!("{} serves no kind {called}", cluster.name)))?;
    let namespace = found.watched.namespace.as_deref();
    read_until_as_expected(limits::REPORTED, async || {
        let origin = reader.find(&kind, namespace, name).await?;
        let origin = serde_json::to_value(origin).unwrap_or_default();
        match check(&wanted, &origin) {
            Verdict::Holds => Ok(()),
            Verdict::Pending(why) | Verdict::Never(why) => Err(StepError::Differs(why)),
        }
    })
    .await
}

/// Changes the object's spec (JSON merge patch), as a repair. After a change of a member's `heartbeatPeriodSeconds`, the hub-agent creates
/// again what is missing in the member's namespace.
#[given(expr = "{object} gets {string}{which is refused with?}")]
#[when(expr = "{object} gets {string}{which is refused with?}")]
#[then(expr = "{object} gets {string}{which is refused with?}")]
async fn gets(world: &mut World, object: ObjectRef, spec: String, refused: RefusedWith) -> Result<(), StepError> {
    let context = world.context();
    let found = context.find(&object)?;
    let name = found.name().ok_or_else(|| StepError::Feature("only an object with a name can be changed".into()))?;
    let patch = json!({"spec": context.json(&spec)?});
    let namespace = found.watched.namespace.as_deref();
    let patched = context.patch_on(&context.cluster_of(&found).await?, found.kind, namespace, name, patch).await;
    if let Some(why) = refused.0 {
        return context.refused(patched, &why);
    }
    patched?;
    let path = ObjectPath::new(found.kind.kind, namespace, name);
    context.remedied(Action::new(format!("{}/{name} got {spec}", found.kind.kind)).on(path));
    Ok(())
}

fn table(context: &ScenarioContext, kind: &str, step: &Step) -> Result<Vec<(String, String)>, StepError> {
    let rows = step.table.as_ref().map(|t| &t.rows[..]);
    let Some([header, rows @ ..]) = rows else {
        return Err(StepError::Feature("this step needs a table of fields".into()));
    };
    if header[..] != ["field", "value"] {
        return Err(StepError::Feature("the table of fields has the columns `field` and `value`".into()));
    }
    let can = context.fleet.capabilities();
    let rows = rows.iter().map(|row| {
        let value = wording::field(&can, kind, &row[0], &row[1]);
        (context.ledger.names.fill(&row[0]), context.ledger.names.fill(&value))
    });
    Ok(rows.collect())
}

fn check(wanted: &[(String, String)], object: &Value) -> Verdict {
    for (path, value) in wanted {
        let is = at(object, path).map(text);
        let fits = match &is {
            None => value == "absent",
            Some(is) => value != "absent" && kubectl_get::fits(is, value),
        };
        if !fits {
            let is = is.unwrap_or_else(|| "absent".into());
            return Verdict::Pending(format!("{path} is `{is}`, not `{value}`"));
        }
    }
    Verdict::Holds
}

/// Returns the value at a path. Keys may contain dots; the longest key that fits is taken. In a list, a place is an index, or `field=value` of
/// the entry.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return Some(value);
    }
    if let Value::Array(list) = value {
        let (place, rest) = path.split_once('.').unwrap_or((path, ""));
        let entry = match place.split_once('=') {
            Some((field, wanted)) => list.iter().find(|entry| entry.get(field).is_some_and(|is| text(is) == wanted)),
            None => list.get(place.parse::<usize>().ok()?),
        };
        return at(entry?, rest);
    }
    let fitting = value.as_object()?.iter().filter_map(|(key, value)| {
        let rest = path.strip_prefix(key.as_str()).filter(|r| r.is_empty() || r.starts_with('.'))?;
        Some((key, value, rest))
    });
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
        assert_eq!(at(&object, "status.stages.name=two.name"), Some(&json!("two")));
        assert_eq!(at(&object, "status.stages.name=three.name"), None);
        assert_eq!(at(&object, "status.coun"), None);
        let wanted = |value: &str| [("status.count".to_owned(), value.to_owned())];
        assert_eq!(check(&wanted("2"), &object), Verdict::Holds);
        assert_eq!(check(&wanted("absent"), &object), Verdict::Pending("status.count is `2`, not `absent`".into()));
        let absent = [("status.none".to_owned(), "absent".to_owned())];
        assert_eq!(check(&absent, &object), Verdict::Holds);
    }
}
