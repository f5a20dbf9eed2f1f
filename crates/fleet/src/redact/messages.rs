//! Messages that the diagnosis reads are the same after redaction, so that no rule misses a fact.

use std::fs;
use std::path::{Path, PathBuf};

use super::Redactor;

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Lines of files below a directory of the repository.
fn lines(dir: &str) -> Vec<String> {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(dir));
    assert!(!files.is_empty(), "{dir}");
    let texts = files.into_iter().filter_map(|file| fs::read_to_string(file).ok());
    texts.flat_map(|text| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn messages_in_the_tests_of_rules_are_kept() {
    let redactor = Redactor::default();
    let mut changed = Vec::new();
    for line in ["crates/diagnosis/tests", "crates/diagnosis/src/rules", "features"].into_iter().flat_map(lines) {
        // Source code escapes quotes.
        for line in [line.replace("\\\"", "\""), line] {
            if redactor.text(&line) != line {
                changed.push(format!("{line}\n  {}", redactor.text(&line)));
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn messages_about_secrets_are_readable() {
    for message in [
        r#"MountVolume.SetUp failed for volume "token" : secret "web-token" not found"#,
        "Error: couldn't find key password in Secret web/db",
        r#"secrets "db-password" is forbidden: User "system:serviceaccount:web:app" cannot get resource "secrets" in API group """#,
        "the server has asked for the client to provide credentials (Unauthorized): token expired",
        r#"Failed to pull image "registry.example:5000/web:1.2@sha256:0f3c8f6a63ac5b1a": not found"#,
        r#"failed to generate token: ServiceAccount "app" not found"#,
        "Unable to retrieve some image pull secrets (registry-token); attempting to pull the image may not succeed.",
        r#"Get "https://10.0.0.1:6443/api/v1/secrets?limit=500": x509: certificate signed by unknown authority"#,
        r#"Deployment.apps "web" is invalid: spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.key: Required value"#,
        "rpc error: code = Unknown desc = authentication required: Repository not found.",
        "spec.template.spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type",
        "Flag --authentication-kubeconfig=/etc/kubernetes/scheduler.conf is set, --authorization-mode=RBAC,Node",
        "ssh://git@git.example.com/web.git: permission denied",
    ] {
        assert_eq!(Redactor::default().text(message), message);
    }
}
