//! Methods of [`Fleet`] for its webhook.

use std::path::{Path, PathBuf};

use clusters::kubeconfig::base64;
use clusters::state_dir;
use clusters::state_dir::replace_private;
use serde_json::{Value, json};

use super::RequiredLabelRule;
use crate::Fleet;
use crate::error::FleetError;
use crate::local_server::LocalServer;

/// Name of the webhook's process, and of its directory in the fleet's directory.
pub const PROCESS: &str = "admission-webhook";

impl Fleet {
    /// Adds or changes a rule of the fleet's webhook, with effect at once. Starts the webhook unless it runs. Returns
    /// the `clientConfig` for a webhook configuration that uses the rule.
    ///
    /// # Errors
    /// Returns an error if the name can't be part of a path, the file can't be written, or the webhook doesn't start.
    pub async fn set_webhook_rule(&self, name: &str, rule: &RequiredLabelRule) -> Result<Value, FleetError> {
        let dir = self.supervisor().dir().join(PROCESS);
        write_rule(&dir, name, rule)?;
        let port_file = dir.join("port");
        let server = LocalServer {
            process: PROCESS,
            command: ["webhook", "serve"],
            port_file: &port_file,
            turn: &self.0.webhook,
        };
        let args = || {
            let serving = self.0.home.serving_certificate(PROCESS)?;
            let paths = [&serving.certificate_file, &serving.key_file, &dir];
            Ok(paths.map(|path| path.display().to_string()).into())
        };
        let port = self.local_server(server, args).await?;
        Ok(json!({"url": format!("https://127.0.0.1:{port}/{name}"), "caBundle": base64(self.0.home.ca())}))
    }
}

/// Path of a rule's file. Checks the rule's name, which is part of a URL that comes from outside.
pub(super) fn rule_file(dir: &Path, name: &str) -> Result<PathBuf, FleetError> {
    state_dir::check_name(name)?;
    Ok(dir.join(format!("{name}.json")))
}

/// Writes a rule, which the webhook may read at any moment.
fn write_rule(dir: &Path, name: &str, rule: &RequiredLabelRule) -> Result<(), FleetError> {
    state_dir::make_private(dir)?;
    let file = rule_file(dir, name)?;
    Ok(replace_private(&file, &serde_json::to_string(rule).unwrap_or_default())?)
}
