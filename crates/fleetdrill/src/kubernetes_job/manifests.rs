//! Objects of a Job, made from the kustomize base in `manifests/job`.

use serde_json::{Value, json};

use super::features_source::GitSource;
use super::options::JobOptions;

/// The rights of the Pods, several documents.
const RIGHTS: &str = include_str!("../../../../manifests/job/rights.yaml");

/// The Job.
const JOB: &str = include_str!("../../../../manifests/job/job.yaml");

/// Directory in the Pods that has the features.
const FEATURES: &str = "/features";

/// Directory in the Pods that has the durations of an earlier run.
const DURATIONS: &str = "/durations";

/// Key of the durations in their ConfigMap, and the name of their file.
const DURATIONS_FILE: &str = "run.json";

/// Objects of a Job.
#[derive(Clone, Debug)]
pub(crate) struct JobManifests {
    /// The Job.
    pub(crate) job: Value,
    /// All other objects: a ServiceAccount, its Role and RoleBinding, and a ConfigMap with durations if there are any.
    pub(crate) others: Vec<Value>,
}

impl JobManifests {
    /// Makes the objects. `durations` are those of [`super::durations::reduced`].
    ///
    /// # Errors
    /// Returns an error if the base isn't YAML, which a test excludes.
    pub(crate) fn new(
        name: &str,
        namespace: &str,
        options: &JobOptions,
        durations: Option<&str>,
    ) -> Result<Self, String> {
        let mut job: Value = serde_saphyr::from_str(JOB).map_err(|error| error.to_string())?;
        let mut others: Vec<Value> = serde_saphyr::from_multiple(RIGHTS).map_err(|error| error.to_string())?;
        job["spec"]["completions"] = json!(options.shards);
        job["spec"]["parallelism"] = json!(options.shards);
        let pod = &mut job["spec"]["template"]["spec"];
        pod["serviceAccountName"] = json!(name);
        let mut args = Vec::new();
        if options.features_configmap.is_some() || options.features_git.is_some() {
            let directory = options.features_git.as_ref().and_then(|git| git.directory.as_deref());
            let directory = directory.map(|directory| format!("{FEATURES}/{directory}"));
            args.extend(["--features".to_owned(), directory.unwrap_or_else(|| FEATURES.to_owned())]);
            add_features(pod, options);
        }
        if let Some(durations) = durations {
            args.extend(["--shard-by".to_owned(), format!("{DURATIONS}/{DURATIONS_FILE}")]);
            let source = format!("{name}-durations");
            add_volume(pod, "durations", DURATIONS, json!({"configMap": {"name": source}}));
            others.push(json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": source, "labels": job["metadata"]["labels"]},
                "data": {DURATIONS_FILE: durations},
            }));
        }
        let pod = &mut job["spec"]["template"]["spec"];
        let container = &mut pod["containers"][0];
        container["image"] = json!(options.image);
        append(&mut container["args"], args.into_iter().chain(options.run.iter().cloned()).map(Value::String));
        for variable in container["env"].as_array_mut().into_iter().flatten() {
            if variable["name"] == "FLEETDRILL_SHARDS" {
                variable["value"] = json!(options.shards.to_string());
            }
        }
        for (kind, quantities) in [("requests", &options.requests), ("limits", &options.limits)] {
            for (resource, quantity) in quantities {
                container["resources"][kind][resource] = json!(quantity);
            }
        }
        for object in others.iter_mut().chain([&mut job]) {
            rename(object, name, namespace);
        }
        Ok(Self { job, others })
    }

    /// Returns the objects as one stream of YAML documents.
    ///
    /// # Errors
    /// Returns an error if they can't be written as YAML.
    pub(crate) fn to_yaml(&self) -> Result<String, String> {
        let objects = self.others.iter().chain([&self.job]);
        let documents = objects.map(|object| serde_saphyr::to_string(object).map_err(|error| error.to_string()));
        Ok(documents.collect::<Result<Vec<_>, _>>()?.join("---\n"))
    }
}

/// Name of all objects in the base.
const BASE_NAME: &str = "fleetdrill";

/// Gives an object of the base, and what it refers to, the Job's name and namespace.
fn rename(object: &mut Value, name: &str, namespace: &str) {
    let paths = ["/metadata/name", "/roleRef/name", "/subjects/0/name"];
    for path in paths {
        if let Some(value) = object.pointer_mut(path).filter(|value| *value == BASE_NAME) {
            *value = json!(name);
        }
    }
    object["metadata"]["namespace"] = json!(namespace);
    if let Some(subject) = object.pointer_mut("/subjects/0") {
        subject["namespace"] = json!(namespace);
    }
}

/// Mounts the features into the Pod. Those of a git repository are cloned by an init container of the same image, which has git.
fn add_features(pod: &mut Value, options: &JobOptions) {
    let source = match &options.features_configmap {
        Some(name) => json!({"configMap": {"name": name}}),
        None => json!({"emptyDir": {}}),
    };
    add_volume(pod, "features", FEATURES, source);
    if let Some(GitSource { url, reference, .. }) = &options.features_git {
        let mut command = ["git", "clone", "--depth", "1"].map(ToOwned::to_owned).to_vec();
        command.extend(reference.iter().flat_map(|name| ["--branch".to_owned(), name.clone()]));
        command.extend(["--".to_owned(), url.clone(), FEATURES.to_owned()]);
        let container = &pod["containers"][0];
        pod["initContainers"] = json!([{
            "name": "features",
            "image": options.image,
            "command": command,
            "workingDir": "/tmp",
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
            "securityContext": container["securityContext"],
            "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}, {"name": "features", "mountPath": FEATURES}],
        }]);
    }
}

/// Adds a volume to the Pod, and mounts it in its first container.
fn add_volume(pod: &mut Value, name: &str, path: &str, source: Value) {
    let mut volume = json!({"name": name});
    if let (Value::Object(volume), Value::Object(source)) = (&mut volume, source) {
        volume.extend(source);
    }
    append(&mut pod["volumes"], [volume]);
    append(&mut pod["containers"][0]["volumeMounts"], [json!({"name": name, "mountPath": path})]);
}

fn append(list: &mut Value, more: impl IntoIterator<Item = Value>) {
    if let Value::Array(list) = list {
        list.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use k8s_openapi::api::batch::v1::Job;

    use super::*;
    use crate::cli::{Cli, CliCommand, JobCommand};
    use crate::kubernetes_job::options::IMAGE;

    fn manifests(line: &str, durations: Option<&str>) -> JobManifests {
        let words = shlex::split(&format!("fleetdrill job render {line}")).unwrap();
        let CliCommand::Job(JobCommand::Render(args)) = Cli::try_parse_from(words).unwrap().command else {
            panic!("{line}")
        };
        JobManifests::new("drill", args.job.namespace.as_deref().unwrap_or("default"), &args.job, durations).unwrap()
    }

    #[test]
    fn without_options_only_the_name_differs_from_the_base() {
        let JobManifests { mut job, .. } = manifests("", None);
        let base: Value = serde_saphyr::from_str(JOB).unwrap();
        assert_eq!(
            base["spec"]["template"]["spec"]["containers"][0]["image"], IMAGE,
            "the version of the base's image"
        );
        assert_eq!(job["metadata"]["namespace"], "default");
        let metadata = job["metadata"].as_object_mut().unwrap();
        metadata.remove("namespace");
        metadata["name"] = json!(BASE_NAME);
        job["spec"]["template"]["spec"]["serviceAccountName"] = json!(BASE_NAME);
        assert_eq!(job, base);
    }

    #[test]
    fn yaml_is_what_was_made_and_a_job() {
        let made = manifests("-- --tags '@drill and not @pods' --jobs 8", Some(r#"{"schema":3}"#));
        let read: Vec<Value> = serde_saphyr::from_multiple(&made.to_yaml().unwrap()).unwrap();
        let all: Vec<Value> = made.others.iter().cloned().chain([made.job.clone()]).collect();
        assert_eq!(read, all);
        let job: Job = serde_json::from_value(made.job.clone()).unwrap();
        assert_eq!(
            serde_json::to_value(job).unwrap()["spec"]["podFailurePolicy"],
            made.job["spec"]["podFailurePolicy"]
        );
    }

    #[test]
    fn with_everything() {
        let options = "--shards 5 --image example.com/fleetdrill:1 --namespace drills --requests cpu=4,memory=6Gi \
            --limits memory=9Gi --features-git https://example.com/drills.git#v1:fleet -- --tags @drill";
        insta::assert_snapshot!(manifests(options, Some(r#"{"schema":3}"#)).to_yaml().unwrap());
    }

    #[test]
    fn watch_and_report_have_the_documented_rights_and_options_that_exist() {
        let docs = include_str!("../../../../docs/own-fleet.md");
        let yaml = docs.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let documented: Value = serde_saphyr::from_str(yaml).unwrap();
        let files = [
            (
                include_str!("../../../../manifests/watch/rights.yaml"),
                include_str!("../../../../manifests/watch/deployment.yaml"),
            ),
            (
                include_str!("../../../../manifests/report/rights.yaml"),
                include_str!("../../../../manifests/report/cronjob.yaml"),
            ),
        ];
        for (rights, workload) in files {
            let rights: Vec<Value> = serde_saphyr::from_multiple(rights).unwrap();
            let role = rights.iter().find(|object| object["kind"] == "ClusterRole").unwrap();
            assert_eq!(role["rules"], documented["rules"]);
            let workload: Vec<Value> = serde_saphyr::from_multiple(workload).unwrap();
            let pods = ["/spec/template/spec", "/spec/jobTemplate/spec/template/spec"];
            let pod = pods.iter().find_map(|path| workload[0].pointer(path)).unwrap();
            assert_eq!(pod["containers"][0]["image"], IMAGE);
            let args = pod["containers"][0]["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
            let parsed = Cli::try_parse_from(std::iter::once("fleetdrill").chain(args));
            assert!(matches!(parsed.unwrap().command, CliCommand::Diagnose(_)));
        }
    }

    #[test]
    fn features_of_a_config_map() {
        let made = manifests("--features-configmap mine", None);
        let pod = &made.job["spec"]["template"]["spec"];
        let args = ["job", "shard", "--", "--features", "/features"];
        assert_eq!(pod["containers"][0]["args"], json!(args));
        let volumes = pod["volumes"].as_array().unwrap();
        assert_eq!(volumes.last(), Some(&json!({"name": "features", "configMap": {"name": "mine"}})));
        assert_eq!(pod.get("initContainers"), None);
    }
}
