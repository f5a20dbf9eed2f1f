//! Manifests of Argo CD, as its users install it: its `manifests/core-install.yaml`, what `helm template` or `kustomize build` prints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clusters::docker_images;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::processes::ArgoCdComponent;
use crate::error::FleetError;
use crate::kinds::CRD;

/// Last part of the name of Argo CD's image, without the tag.
const IMAGE: &str = "argocd";

/// File with manifests of Argo CD, and what was read from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgoCdManifests {
    /// File with the manifests, YAML documents.
    pub file: PathBuf,
    /// Version of Argo CD: the tag of its image in the manifests.
    pub version: String,
    /// `git`, for the repositories of scenarios.
    pub git: PathBuf,
}

impl ArgoCdManifests {
    /// Reads manifests. `git` is the program with which repositories are made.
    ///
    /// # Errors
    /// Returns an error if the file can't be read, isn't YAML, lacks a component that scenarios need, or if no image in it names a version
    /// of Argo CD.
    pub fn read(file: &Path, git: PathBuf) -> Result<Self, FleetError> {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let objects = objects(&file)?;
        let version = version(&objects).map_err(|why| FleetError::unreadable(file.display().to_string(), why))?;
        Ok(Self { file, version, git })
    }

    /// Objects in the file.
    pub(super) fn objects(&self) -> Result<Vec<Value>, FleetError> {
        objects(&self.file)
    }
}

fn objects(file: &Path) -> Result<Vec<Value>, FleetError> {
    let unreadable = |why: String| FleetError::unreadable(file.display().to_string(), why);
    let text = std::fs::read_to_string(file).map_err(|e| unreadable(e.to_string()))?;
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).map_err(|e| unreadable(e.to_string()))?;
    Ok(documents.into_iter().filter(|object| !object.is_null()).collect())
}

/// Returns the version of Argo CD that manifests install, or why they don't do.
fn version(objects: &[Value]) -> Result<String, String> {
    let needed = [ArgoCdComponent::Redis, ArgoCdComponent::RepoServer, ArgoCdComponent::Controller];
    for component in needed {
        let name = component.process();
        if !objects.iter().any(|object| is_workload(object) && object["metadata"]["name"] == name) {
            return Err(format!("no Deployment or StatefulSet {name} is among the manifests"));
        }
    }
    if !objects.iter().any(|object| object["kind"] == CRD.kind) {
        return Err("no CustomResourceDefinition is among the manifests".into());
    }
    let images = images(objects);
    let tags = images.iter().filter_map(|image| {
        let (name, tag) = docker_images::split(image);
        (name.rsplit('/').next() == Some(IMAGE)).then_some(tag)
    });
    let tags: BTreeSet<&str> = tags.collect();
    match tags.iter().copied().collect::<Vec<_>>()[..] {
        [tag] if tag.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) => {
            Ok(tag.to_owned())
        }
        [] => Err(format!("no image in it is called {IMAGE}, as Argo CD's is; images: {}", images.join(", "))),
        [tag] => Err(format!("the tag `{tag}` of Argo CD's image is no version like v3.5.7")),
        [..] => Err(format!("Argo CD's images have more than one version: {}", images.join(", "))),
    }
}

/// True for a Deployment or a `StatefulSet`.
pub(super) fn is_workload(object: &Value) -> bool {
    matches!(object["kind"].as_str(), Some("Deployment" | "StatefulSet"))
}

/// Returns the images of all workloads, each once.
pub(super) fn images(objects: &[Value]) -> Vec<String> {
    let pods = objects.iter().filter(|object| is_workload(object)).map(|object| &object["spec"]["template"]["spec"]);
    let containers = pods.flat_map(|pod| ["containers", "initContainers"].map(|field| &pod[field]));
    let images = containers.flat_map(|list| list.as_array().into_iter().flatten());
    let images: BTreeSet<String> = images.filter_map(|c| Some(c["image"].as_str()?.to_owned())).collect();
    images.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workload(kind: &str, name: &str, image: &str) -> Value {
        let pod = json!({
            "initContainers": [{"name": "init", "image": "quay.io/argoproj/argocd:v3.5.7"}],
            "containers": [{"name": name, "image": image}],
        });
        json!({"kind": kind, "metadata": {"name": name}, "spec": {"template": {"spec": pod}}})
    }

    fn all(image: &str) -> Vec<Value> {
        vec![
            json!({"kind": "CustomResourceDefinition", "metadata": {"name": "applications.argoproj.io"}}),
            workload("Deployment", "argocd-redis", "docker.io/library/redis:8"),
            workload("Deployment", "argocd-repo-server", image),
            workload("StatefulSet", "argocd-application-controller", image),
        ]
    }

    #[test]
    fn the_version_is_the_tag_of_the_image() {
        assert_eq!(version(&all("quay.io/argoproj/argocd:v3.5.7")), Ok("v3.5.7".to_owned()));
        assert_eq!(images(&all("quay.io/argoproj/argocd:v3.5.7")).len(), 2);
    }

    #[test]
    fn manifests_that_do_not_do_are_refused_with_the_reason() {
        let other = version(&all("quay.io/argoproj/argocd:v3.4.0")).expect_err("two versions");
        assert!(other.starts_with("Argo CD's images have more than one version: "), "{other}");
        let mut without = all("quay.io/argoproj/argocd:v3.5.7");
        without.pop();
        let why = "no Deployment or StatefulSet argocd-application-controller is among the manifests";
        assert_eq!(version(&without), Err(why.to_owned()));
        let mut without_crds = all("quay.io/argoproj/argocd:v3.5.7");
        without_crds.remove(0);
        assert_eq!(version(&without_crds), Err("no CustomResourceDefinition is among the manifests".to_owned()));
    }

    #[test]
    fn a_file_that_is_no_yaml_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("install.yaml");
        let refused = |text: &str| {
            std::fs::write(&file, text).expect("written");
            ArgoCdManifests::read(&file, "git".into()).expect_err("unreadable").to_string()
        };
        assert!(refused("a: [").contains("install.yaml"), "{}", refused("a: ["));
        assert!(refused("---\n").contains("no Deployment or StatefulSet argocd-redis"), "{}", refused("---\n"));
    }
}
