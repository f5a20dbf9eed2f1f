//! The files of written bundles are as the schemas in docs/schemas say.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use diagnosis::PodLog;
use flate2::read::MultiGzDecoder;
use schemars::JsonSchema;
use schemas::DocumentSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::manifest::PLAIN_SCHEMA;
use super::tests::written;
use super::{BundleManifest, SCHEMA};

const OBJECTS: DocumentSchema = DocumentSchema { document: "bundle-objects", number: 1 };
const LOGS: DocumentSchema = DocumentSchema { document: "bundle-logs", number: 1 };

/// Object as the API server returned it, without secrets. `managedFields` have no `fieldsV1`.
#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct KubernetesObject {
    /// Group and version.
    api_version: String,
    /// Kind.
    kind: String,
    metadata: Metadata,
    /// Fields of the kind, e.g. `spec` and `status`.
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// Metadata of an object.
#[derive(JsonSchema, Serialize)]
struct Metadata {
    /// Name.
    name: String,
    /// Namespace; absent for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// Further fields, e.g. `labels` and `generation`.
    #[serde(flatten)]
    more: Map<String, Value>,
}

fn manifest(number: u32) -> DocumentSchema {
    DocumentSchema { document: "bundle", number }
}

/// Checks all JSON files of a bundle, and returns how many there are of them.
///
/// # Panics
/// Panics if a file has another form.
pub(super) fn check_files(bundle: &Path) -> usize {
    let contents = document(&bundle.join("bundle.json"));
    let number = contents["schema"].as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number");
    manifest(number).check_that_changes_are_noticed(&contents);
    let mut checked = 1;
    for cluster in fs::read_dir(bundle.join("clusters")).expect("the clusters") {
        for file in fs::read_dir(cluster.expect("a cluster").path()).expect("its files") {
            let path = file.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            match name.trim_end_matches(".gz") {
                "objects.json" | "events.json" => OBJECTS.check(&document(&path)),
                "logs.json" => LOGS.check(&document(&path)),
                other => panic!("no schema for {other}"),
            }
            checked += 1;
        }
    }
    checked
}

fn document(path: &Path) -> Value {
    let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    let read = if path.extension().is_some_and(|ending| ending == "gz") {
        MultiGzDecoder::new(file).read_to_string(&mut text)
    } else {
        file.read_to_string(&mut text)
    };
    read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn schema_is_published() {
    for number in [PLAIN_SCHEMA, SCHEMA] {
        manifest(number).publish::<BundleManifest>("Table of contents of a bundle (`bundle.json`)");
    }
    OBJECTS.publish::<Vec<KubernetesObject>>("Objects of a cluster in a bundle (`objects.json` and `events.json`)");
    LOGS.publish::<Vec<PodLog>>("Ends of logs of Pods in a bundle (`logs.json`)");
    let (_dir, path) = written("b");
    assert_eq!(check_files(&path), 1 + 3 + 1 + 1, "bundle.json, objects, logs of Pods and events");
}
