//! Steps that look for objects on the hub as a person does: `kubectl get` with a selector, a namespace or a name.

use cucumber::gherkin::Step;
use cucumber::then;
use fleet::kubectl_table::{self, GetRequest, Table};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::kubectl_get::fits;
use crate::limits;
use crate::pauses::read_until_as_expected;
use crate::world::World;

/// Compares what `kubectl get KIND [NAME] [-n NAMESPACE] [-l SELECTOR] [--show-labels]` prints on the hub with the table: the table's
/// header is all columns, and its rows are all rows, in any order. `{name}` stands for the real name of what the scenario calls so, in the
/// command too; `*` at the end of a cell for anything, `A or B` for one of both. The kind is one of KubeFleet's, at the version that
/// kubectl asks for.
#[then(expr = "{string} on the hub prints")]
async fn prints(world: &mut World, command: String, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let hub = context.hub();
    let words = GetWords::parse(&context.ledger.names.fill(&command))?;
    let resource = kubectl_table::resource_called(&hub, &words.kind).await?;
    let resource =
        resource.ok_or_else(|| StepError::Differs(format!("the hub has no resource called `{}`", words.kind)))?;
    read_until_as_expected(limits::REPORTED, async || {
        let table = kubectl_table::request(&hub, &resource, &words.request).await?;
        compare(context, &command, &table, step)
    })
    .await
}

/// Words of a `kubectl get` command.
#[derive(Debug, PartialEq, Eq)]
struct GetWords {
    /// Plural, singular or short name of the kind.
    kind: String,
    /// Objects that the command asks for.
    request: GetRequest,
}

impl GetWords {
    fn parse(command: &str) -> Result<Self, StepError> {
        let unknown = || StepError::Feature(format!("`{command}` is no command like `kubectl get crb -l KEY=VALUE`"));
        let mut words = command.strip_prefix("kubectl get ").ok_or_else(unknown)?.split(' ');
        let mut parsed = Self { kind: words.next().unwrap_or_default().to_owned(), request: GetRequest::default() };
        while let Some(word) = words.next() {
            let request = &mut parsed.request;
            match word {
                "-n" => request.namespace = Some(words.next().ok_or_else(unknown)?.to_owned()),
                "-l" => request.selector = Some(words.next().ok_or_else(unknown)?.to_owned()),
                "--show-labels" => request.labels = true,
                name if !name.starts_with('-') && request.name.is_none() => request.name = Some(name.to_owned()),
                _ => return Err(unknown()),
            }
        }
        Ok(parsed)
    }
}

fn compare(context: &ScenarioContext, command: &str, table: &Table, step: &Step) -> Result<(), StepError> {
    let wanted = step.table.as_ref().and_then(|t| t.rows.split_first());
    let Some((header, rows)) = wanted else {
        return Err(StepError::Feature("this step needs a table of all columns and rows".into()));
    };
    if *header != table.columns {
        return Err(StepError::Differs(format!("`{command}` prints the columns {}", table.columns.join(" "))));
    }
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| context.words(cell)).collect()).collect();
    let has_wanted = rows.iter().all(|wanted| table.rows.iter().any(|printed| is_row(printed, wanted)));
    let has_no_other = table.rows.iter().all(|printed| rows.iter().any(|wanted| is_row(printed, wanted)));
    if rows.len() == table.rows.len() && has_wanted && has_no_other {
        return Ok(());
    }
    let printed: Vec<String> = table.rows.iter().map(|cells| cells.join(" | ")).collect();
    let printed = if printed.is_empty() { "nothing".into() } else { printed.join("; ") };
    Err(StepError::Differs(format!("`{command}` prints {printed}")))
}

/// True if a printed row has the wanted cells.
fn is_row(printed: &[String], wanted: &[String]) -> bool {
    printed.iter().zip(wanted).all(|(is, wanted)| fits(is, wanted))
}

#[cfg(test)]
mod tests {
    use super::{GetRequest, GetWords};

    #[test]
    fn commands_are_as_people_type_them() {
        let parsed = GetWords::parse("kubectl get work -n fleet-member-m -l kubernetes-fleet.io/parent-CRP=web");
        let request = GetRequest {
            namespace: Some("fleet-member-m".into()),
            selector: Some("kubernetes-fleet.io/parent-CRP=web".into()),
            ..GetRequest::default()
        };
        assert_eq!(parsed.expect("a command"), GetWords { kind: "work".into(), request });
        let parsed = GetWords::parse("kubectl get membercluster m --show-labels").expect("a command");
        assert_eq!((parsed.request.name.as_deref(), parsed.request.labels), (Some("m"), true));
        for wrong in ["kubectl describe crp", "kubectl get crp -o yaml", "kubectl get crp -n", "kubectl get crp a b"] {
            assert!(GetWords::parse(wrong).is_err(), "{wrong}");
        }
    }
}
