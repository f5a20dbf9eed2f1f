//! Steps that look as a person does, with `kubectl get`.

use cucumber::gherkin::Step;
use cucumber::then;
use diagnosis::Object;
use fleet::kinds;
use fleet::kubectl_table::Table;
use fleet::observe::Verdict;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::params::ObjectRef;
use crate::pauses::read_until_as_expected;
use crate::wording;
use crate::world::World;

/// Compares the output of `kubectl get` for the object (given as e.g. `"kubectl get csur"`) with the table: the table's header is all
/// columns, the table's only row the object's cells. `{name}` stands for the real name of what the scenario calls so, `*` at the end of a
/// cell for anything, `A or B` for one of both.
#[then(expr = "{string} shows {object}")]
async fn shows(world: &mut World, command: String, object: ObjectRef, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let found = context.find(&object)?;
    let cluster = context.cluster_of(&found).await?;
    let held = context
        .wait(&cluster, &found.watched, "the object is there", limits::REPORTED, |objects| match found.pick(objects) {
            Some(_) => Verdict::Holds,
            None => Verdict::Pending("no such object".into()),
        })
        .await?;
    let name = found.pick(&held.objects).map(|o| Object::new(o).name().to_owned()).unwrap_or_default();
    let word = wording::short_name(&context.fleet.capabilities(), word(&command)?);
    let called = fleet::kubectl_table::kind_called(&cluster, found.kind, word).await?;
    if called.as_deref() != Some(found.kind.kind) {
        let called = called.unwrap_or_else(|| "nothing".into());
        return Err(StepError::Differs(format!("`{command}` gets {called}, not {}", found.kind.kind)));
    }
    let namespace = found.watched.namespace.as_deref();
    read_until_as_expected(limits::REPORTED, async || {
        let table = fleet::kubectl_table::get(&cluster, found.kind, namespace, Some(&name)).await?;
        compare(context, &command, &table, step)
    })
    .await
}

/// Compares the output of `kubectl get pods` or `kubectl get deployments` on a member, in the namespace that the placement places, with
/// the table: the table's header is all columns, and one of the objects there must have the row's cells.
#[then(expr = "{string} on {string} shows of placement {string}")]
async fn shows_on(
    world: &mut World,
    command: String,
    member: String,
    placement: String,
    step: &Step,
) -> Result<(), StepError> {
    let context = world.context();
    let placement = context.placement(&placement)?;
    let cluster = context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster;
    let kind = match word(&command)? {
        "pods" => kinds::POD,
        "deploy" | "deployment" | "deployments" => kinds::DEPLOYMENT,
        other => return Err(StepError::Feature(format!("`{other}` is nothing that a placement puts on members"))),
    };
    read_until_as_expected(limits::REPORTED, async || {
        let table = fleet::kubectl_table::get(&cluster, kind, Some(&placement.content), None).await?;
        compare(context, &command, &table, step)
    })
    .await
}

fn word(command: &str) -> Result<&str, StepError> {
    let word = command.strip_prefix("kubectl get ").filter(|w| !w.contains(' '));
    word.ok_or_else(|| StepError::Feature(format!("`{command}` is no command like `kubectl get csur`")))
}

fn compare(context: &ScenarioContext, command: &str, table: &Table, step: &Step) -> Result<(), StepError> {
    let rows = step.table.as_ref().map(|t| &t.rows[..]);
    let Some([header, row]) = rows else {
        return Err(StepError::Feature("this step needs a table of columns with one row".into()));
    };
    let can = context.fleet.capabilities();
    let shown: Vec<usize> = (0..header.len()).filter(|column| wording::has_column(&can, &header[*column])).collect();
    if cells(header, &shown) != table.columns {
        return Err(StepError::Differs(format!("`{command}` shows the columns {}", table.columns.join(" "))));
    }
    let row: Vec<String> = cells(row, &shown).iter().map(|cell| context.words(cell)).collect();
    if table.rows.iter().any(|cells| cells.iter().zip(&row).all(|(is, wanted)| fits(is, wanted))) {
        return Ok(());
    }
    let shown: Vec<String> = table.rows.iter().map(|cells| cells.join(" | ")).collect();
    Err(StepError::Differs(format!(
        "`{command}` shows {}",
        if shown.is_empty() { "nothing".into() } else { shown.join("; ") }
    )))
}

/// Returns true if a value is the wanted one, or one of several (`A or B`); `*` at the end stands for anything.
pub(crate) fn fits(is: &str, wanted: &str) -> bool {
    fits_one(is, wanted) || wanted.split(" or ").any(|wanted| fits_one(is, wanted))
}

fn fits_one(is: &str, wanted: &str) -> bool {
    wanted.strip_suffix('*').map_or(is == wanted, |start| is.starts_with(start))
}

fn cells(row: &[String], columns: &[usize]) -> Vec<String> {
    columns.iter().filter_map(|column| row.get(*column).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{fits, word};

    #[test]
    fn a_star_is_anything_and_or_is_one_of_both() {
        assert!(fits("web-m-0f3c", "web-m-*") && fits("", "*") && fits("True", "True"));
        assert!(fits("A", "A or B") && fits("B", "A or B") && fits("A or B", "A or B") && !fits("C", "A or B"));
        assert!(!fits("web", "web-m-*") && !fits("True", "") && !fits("", "True"));
    }

    #[test]
    fn commands_are_as_people_type_them() {
        assert_eq!(word("kubectl get csur").expect("a command"), "csur");
        assert!(word("kubectl describe csur").is_err() && word("kubectl get csur x").is_err());
    }
}
