//! Steps about what an Application says of each of its resources.

use cucumber::gherkin::Step;
use cucumber::then;
use diagnosis::{JsonList, JsonRef};
use fleet::observe::Verdict;

use crate::application_waits::{unless_final, wait};
use crate::context::ScenarioContext;
use crate::data_table::DataTable;
use crate::error::StepError;
use crate::limits;
use crate::needs::{TableShape, needs};
use crate::world::World;

/// Table of resources in a sync's result.
const SYNC_RESOURCES: TableShape =
    TableShape { rows: "resources", columns: &["resource", "status", "hook", "phase", "message"], optional: false };

/// Table of resources in an Application's list.
const LISTED_RESOURCES: TableShape =
    TableShape { rows: "resources", columns: &["resource", "status", "health", "message"], optional: false };

/// Waits until the Application has an entry for each of these resources in the result of its last operation. Columns:
/// `resource` (kind and name, `{name}` filled in), and where wanted `status`, `hook`, `phase` (which the API calls
/// hookPhase) and `message` (a part of it). A status of `absent` means that there is no entry; `empty` that it is empty.
#[needs(table: |_| Some(SYNC_RESOURCES))]
#[then(expr = "the sync of application {string} reports of its resources")]
async fn of_its_resources(world: &mut World, name: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let rows = rows(context, step, &SYNC_RESOURCES)?;
    let expectation = format!("the sync reports of {}", resources(&rows));
    wait(context, &name, &expectation, limits::SYNCED, |object| {
        let results = object.list("/status/operationState/syncResult/resources");
        let wrong = rows.iter().find_map(|(resource, cells)| result_holds(results, resource, cells).err());
        wrong.map_or(Verdict::Holds, |what| unless_final(object, what))
    })
    .await
}

/// Waits until the Application's own list, `status.resources`, has these resources. Columns: `resource` (kind and name, `{name}`
/// filled in), and where wanted `status` (of the comparison), `health` and `message`, each told in full, or `absent`.
#[needs(table: |_| Some(LISTED_RESOURCES))]
#[then(expr = "application {string} lists its resources")]
async fn lists(world: &mut World, name: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let rows = rows(context, step, &LISTED_RESOURCES)?;
    let expectation = format!("the Application lists {}", resources(&rows));
    wait(context, &name, &expectation, limits::SYNCED, |object| {
        let listed = object.list("/status/resources");
        let wrong = rows.iter().find_map(|(resource, cells)| entry_holds(listed, resource, cells).err());
        wrong.map_or(Verdict::Holds, Verdict::Pending)
    })
    .await
}

/// A row of a table: the resource, and the other columns with their cells.
type ResourceRow = (String, Vec<(&'static str, String)>);

/// Returns the table's rows with real names. The first column is that of the resource.
fn rows(context: &ScenarioContext, step: &Step, table: &TableShape) -> Result<Vec<ResourceRow>, StepError> {
    let mut rows = Vec::new();
    for row in DataTable::of(step, table)?.rows() {
        let resource = context.ledger.names.fill(row.needed("resource")?);
        let cells = table.columns[1..].iter().filter_map(|c| Some((*c, context.ledger.names.fill(row.cell(c)?))));
        rows.push((resource, cells.collect()));
    }
    Ok(rows)
}

fn resources(rows: &[ResourceRow]) -> String {
    rows.iter().map(|(resource, _)| resource.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the entry of a resource, which is given by kind and name.
fn entry<'a>(entries: JsonList<'a>, resource: &str) -> Option<JsonRef<'a>> {
    entries.iter().find(|entry| format!("{}/{}", text(*entry, "kind"), text(*entry, "name")) == resource)
}

fn text<'a>(entry: JsonRef<'a>, key: &str) -> &'a str {
    entry.get(key).and_then(JsonRef::as_str).unwrap_or_default()
}

fn entry_holds(entries: JsonList<'_>, resource: &str, cells: &[(&str, String)]) -> Result<(), String> {
    let entry = entry(entries, resource).ok_or_else(|| format!("there is no entry for {resource}"))?;
    for (column, wanted) in cells {
        let pointer = if *column == "health" { "/health/status" } else { &format!("/{column}") };
        let is = entry.pointer(pointer).and_then(JsonRef::as_str).unwrap_or("absent");
        if is != wanted {
            return Err(format!("the {column} of {resource} is `{is}`, not `{wanted}`"));
        }
    }
    Ok(())
}

fn result_holds(results: JsonList<'_>, resource: &str, cells: &[(&str, String)]) -> Result<(), String> {
    let Some(result) = entry(results, resource) else {
        let absent = cells.iter().any(|(column, cell)| *column == "status" && cell == "absent");
        return if absent { Ok(()) } else { Err(format!("there is no entry for {resource}")) };
    };
    for (column, wanted) in cells {
        let key = match *column {
            "hook" => "hookType",
            "phase" => "hookPhase",
            column => column,
        };
        let is = text(result, key);
        let fits = match (*column, wanted.as_str()) {
            (_, "empty") => is.is_empty(),
            ("message", wanted) => is.contains(wanted),
            (_, wanted) => is == wanted,
        };
        if !fits {
            return Err(format!("the {column} of {resource} is `{is}`, not `{wanted}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{entry_holds, result_holds};

    #[test]
    fn a_resource_is_found_by_kind_and_name() {
        let results = [json!({"kind": "Job", "name": "migrate", "hookType": "PreSync", "hookPhase": "Failed"})];
        let cells = |column: &'static str, cell: &str| [(column, cell.to_owned())];
        assert!(result_holds(results[..].into(), "Job/migrate", &cells("phase", "Failed")).is_ok());
        assert!(result_holds(results[..].into(), "Job/migrate", &cells("status", "empty")).is_ok());
        assert!(result_holds(results[..].into(), "Job/other", &cells("status", "absent")).is_ok());
        let error = result_holds(results[..].into(), "Job/migrate", &cells("hook", "Sync")).expect_err("another");
        assert_eq!(error, "the hook of Job/migrate is `PreSync`, not `Sync`");
    }

    #[test]
    fn what_an_entry_does_not_have_is_absent() {
        let entries =
            [json!({"kind": "Ingress", "name": "web", "status": "Synced", "health": {"status": "Progressing"}})];
        let cells = |column: &'static str, cell: &str| [(column, cell.to_owned())];
        assert!(entry_holds(entries[..].into(), "Ingress/web", &cells("health", "Progressing")).is_ok());
        assert!(entry_holds(entries[..].into(), "Ingress/web", &cells("message", "absent")).is_ok());
        let error = entry_holds(entries[..].into(), "Ingress/web", &cells("status", "absent")).expect_err("it has one");
        assert_eq!(error, "the status of Ingress/web is `Synced`, not `absent`");
        assert!(entry_holds(entries[..].into(), "Ingress/other", &[]).is_err());
    }
}
