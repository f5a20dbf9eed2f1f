//! What a [`Fleet`] can do with its webhook.

use std::path::{Path, PathBuf};

use clusters::error::ClusterError;
use clusters::keeper::Program;
use clusters::keeper::protocol::ProcessSpec;
use clusters::kubeconfig::base64;
use clusters::state_dir;
use clusters::state_dir::write_private;
use serde_json::{Value, json};

use super::Rule;
use crate::Fleet;
use crate::error::FleetError;
use crate::port::{self, listens};

/// The name of the webhook's process, and of its directory in the fleet's.
pub const PROCESS: &str = "admission-webhook";

impl Fleet {
    /// Sets a rule of the fleet's webhook, a new one or one that is there, which counts at once. Starts the webhook unless it
    /// runs. Returns the `clientConfig` by which a webhook's configuration asks for it.
    ///
    /// # Errors
    /// When the name can't be a path, the file can't be written, or the webhook doesn't start.
    pub async fn set_webhook_rule(&self, name: &str, rule: &Rule) -> Result<Value, FleetError> {
        let dir = self.keeper().dir().join(PROCESS);
        write_rule(&dir, name, rule)?;
        let port = self.webhook_port(&dir).await?;
        Ok(json!({"url": format!("https://127.0.0.1:{port}/{name}"), "caBundle": base64(self.0.home.ca())}))
    }

    /// The webhook's port, on which it listens. Another command may have started it, so that the port stands in a file.
    async fn webhook_port(&self, dir: &Path) -> Result<u16, FleetError> {
        let _turn = self.0.webhook.lock().await;
        let file = dir.join("port");
        let keeper = self.keeper();
        if keeper.processes().await?.iter().any(|p| p.name == PROCESS && p.pid.is_some()) {
            return port::read(&file);
        }
        let [port] = keeper.reserve().await?;
        let serving = self.0.home.serving_certificate(PROCESS)?;
        let path = |path: &Path| path.display().to_string();
        let args = [port.to_string(), path(&serving.certificate_file), path(&serving.key_file), path(dir)];
        port::write(&file, port)?;
        let spec = ProcessSpec {
            name: PROCESS.into(),
            program: Program::this()?.0,
            args: ["webhook", "serve"].map(ToOwned::to_owned).into_iter().chain(args).collect(),
            ..ProcessSpec::default()
        };
        keeper.start(spec).await?;
        listens(&self.0.home, PROCESS, port).await?;
        Ok(port)
    }
}

/// The file of a rule. The name is part of a URL that comes from outside.
pub(super) fn rule_file(dir: &Path, name: &str) -> Result<PathBuf, FleetError> {
    state_dir::check_name(name)?;
    Ok(dir.join(format!("{name}.json")))
}

/// Written beside and renamed: the webhook may be asked at any moment.
fn write_rule(dir: &Path, name: &str, rule: &Rule) -> Result<(), FleetError> {
    state_dir::make_private(dir)?;
    let file = rule_file(dir, name)?;
    let new = file.with_extension("new");
    write_private(&new, &serde_json::to_string(rule).unwrap_or_default())?;
    Ok(std::fs::rename(&new, &file).map_err(io("write", &file))?)
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ClusterError {
    let path = path.to_owned();
    move |source| ClusterError::Io { action, path, source }
}
