//! Steps about Argo CD's projects.

use cucumber::gherkin::Step;
use cucumber::given;
use fleet::{argocd, kinds};
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::repository::document;
use crate::world::World;

/// Makes an AppProject with the step's text (YAML) as its spec. An Application is in it by `'{"project": "{name}"}'` in its spec.
#[given(expr = "a project {string} with")]
async fn with(world: &mut World, name: String, step: &Step) -> Result<(), StepError> {
    let context: &mut ScenarioContext = world.context();
    let text = document(context, step)?;
    let real = context.ledger.names.make(&name);
    let spec: Value =
        serde_saphyr::from_str(&text).map_err(|e| StepError::Feature(format!("this spec is no YAML: {e}")))?;
    let object = json!({"metadata": {"name": real}, "spec": spec});
    context.make(kinds::APP_PROJECT, Some(argocd::NAMESPACE), object).await?;
    context.did(format!("AppProject/{real} made"));
    Ok(())
}
