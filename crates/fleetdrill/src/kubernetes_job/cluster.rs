//! The Job in its cluster: creating it with all its objects, reading it, and deleting it.

use std::path::Path;
use std::time::Duration;

use clusters::credentials;
use fleet::error::in_full;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Pod};
use kube::api::{ApiResource, DeleteParams, DynamicObject, ListParams, LogParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::GroupVersionKind;
use kube::{Api, Client, Config};
use serde_json::{Value, json};

use super::manifests::JobManifests;
use super::pods::ShardPod;
use super::results::{JOB_LABEL, owner};
use crate::error::CommandError;
use crate::hints;

/// Limit of the time for one answer of the API server.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Limit of the time until a deleted Job and its Pods are gone. A Pod ends its fleet first.
const DELETION_LIMIT: Duration = Duration::from_secs(120);

/// Label of the Pods of a Job.
const JOB_NAME: &str = "batch.kubernetes.io/job-name";

/// Container that runs the shard.
const CONTAINER: &str = "fleetdrill";

/// Number of lines of a log.
const LOG_LINES: i64 = 8;

/// Returns a client for the cluster that runs the Job, and the context's namespace.
///
/// # Errors
/// Returns an error if the kubeconfig or its context can't be used.
pub(crate) async fn connect(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
) -> Result<(Client, String), CommandError> {
    let read = kubeconfig.map_or_else(Kubeconfig::read, Kubeconfig::read_from);
    let hint = "name one with --kubeconfig FILE, and its context with --context CONTEXT";
    let unusable = |error: &dyn std::error::Error| {
        CommandError::usage(format!("there is no usable kubeconfig for the Job's cluster: {error}"), Some(hint))
    };
    let read = read.map_err(|error| unusable(&error))?;
    let options = KubeConfigOptions { context: context.map(ToOwned::to_owned), ..KubeConfigOptions::default() };
    let mut config = Config::from_custom_kubeconfig(read, &options).await.map_err(|error| unusable(&error))?;
    config.connect_timeout = Some(ANSWER_LIMIT);
    config.read_timeout = Some(ANSWER_LIMIT);
    let namespace = config.default_namespace.clone();
    let client = credentials::client(config).await.map_err(|error| CommandError::Environment {
        message: format!("failed to get credentials for the Job's cluster: {error}"),
        hint: hints::for_credentials(&error),
    })?;
    Ok((client, namespace))
}

/// A Job that was created.
pub(crate) struct CreatedJob {
    client: Client,
    namespace: String,
    /// Name of the Job.
    pub(crate) name: String,
    uid: String,
}

/// The Job and its Pods at one time.
pub(crate) struct JobLook {
    /// The Job; none if somebody has deleted it.
    pub(crate) job: Option<Job>,
    /// Its Pods.
    pub(crate) pods: Vec<Pod>,
}

impl CreatedJob {
    /// Creates the Job suspended, then all other objects, which the Job owns, and starts it. If the cluster refuses any of them, what was
    /// created is deleted again.
    ///
    /// # Errors
    /// Returns an error if the cluster refuses an object or doesn't answer.
    pub(crate) async fn create(
        client: Client,
        namespace: String,
        manifests: JobManifests,
    ) -> Result<Self, CommandError> {
        let JobManifests { mut job, others } = manifests;
        job["spec"]["suspend"] = json!(true);
        let created = create(&client, &namespace, job).await?;
        let name = created.metadata.name.unwrap_or_default();
        let job = Self { client, namespace, name, uid: created.metadata.uid.unwrap_or_default() };
        match job.complete(others).await {
            Ok(()) => Ok(job),
            Err(error) => {
                job.delete().await?;
                Err(error)
            }
        }
    }

    async fn complete(&self, others: Vec<Value>) -> Result<(), CommandError> {
        for mut object in others {
            object["metadata"]["ownerReferences"] = json!([owner(&self.name, &self.uid)]);
            create(&self.client, &self.namespace, object).await?;
        }
        let start = Patch::Merge(json!({"spec": {"suspend": false}}));
        let started = self.api::<Job>().patch(&self.name, &PatchParams::default(), &start).await;
        started.map(drop).map_err(|error| refused("Job", &error))
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Reads the Job and its Pods.
    ///
    /// # Errors
    /// Returns an error if the API server doesn't answer or refuses.
    pub(crate) async fn look(&self) -> Result<JobLook, kube::Error> {
        let job = self.api::<Job>().get_opt(&self.name).await?;
        let of_job = ListParams::default().labels(&format!("{JOB_NAME}={}", self.name));
        Ok(JobLook { job, pods: self.api::<Pod>().list(&of_job).await?.items })
    }

    /// Returns the last reason why the Job's controller can't create Pods, e.g. a quota; none if it can, or if events can't be read.
    pub(crate) async fn refusal_of_pods(&self) -> Option<String> {
        let fields = format!("involvedObject.uid={},reason=FailedCreate", self.uid);
        let events = self.api::<Event>().list(&ListParams::default().fields(&fields)).await.ok()?;
        events.items.into_iter().next_back()?.message
    }

    /// Returns the `ConfigMaps` with results.
    ///
    /// # Errors
    /// Returns an error if they can't be listed.
    pub(crate) async fn results(&self) -> Result<Vec<ConfigMap>, CommandError> {
        let of_job = ListParams::default().labels(&format!("{JOB_LABEL}={}", self.name));
        let listed = self.api::<ConfigMap>().list(&of_job).await.map_err(|error| refused("list of results", &error))?;
        let is_ours = |object: &ConfigMap| {
            object.metadata.owner_references.iter().flatten().any(|reference| reference.uid == self.uid)
        };
        Ok(listed.items.into_iter().filter(is_ours).collect())
    }

    /// Returns the last lines of the log of a Pod's container that failed, or else of the one that runs the shard; nothing if the log can't
    /// be read.
    pub(crate) async fn last_lines(&self, pod: &ShardPod) -> String {
        let container = pod.failed_container.as_deref().unwrap_or(CONTAINER);
        let params =
            LogParams { container: Some(container.to_owned()), tail_lines: Some(LOG_LINES), ..LogParams::default() };
        self.api::<Pod>().logs(&pod.name, &params).await.unwrap_or_default()
    }

    /// Deletes the Job, waits until it and its Pods are gone; the garbage collector deletes what it owns.
    ///
    /// # Errors
    /// Returns an error if the cluster refuses, or if the Job isn't gone in time.
    pub(crate) async fn delete(&self) -> Result<(), CommandError> {
        let api = self.api::<Job>();
        match api.delete(&self.name, &DeleteParams::foreground()).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
            Err(error) => return Err(self.left(&in_full(&error))),
        }
        let gone = async {
            while !matches!(api.get_metadata_opt(&self.name).await, Ok(None)) {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        };
        let limit = DELETION_LIMIT.as_secs();
        tokio::time::timeout(DELETION_LIMIT, gone)
            .await
            .map_err(|_| self.left(&format!("it isn't gone after {limit} s")))
    }

    fn left(&self, why: &str) -> CommandError {
        let Self { name, namespace, .. } = self;
        CommandError::Environment {
            message: format!("failed to delete Job {namespace}/{name}: {why}"),
            hint: Some(self.deletion()),
        }
    }

    /// Returns the command that deletes the Job with all that it owns.
    pub(crate) fn deletion(&self) -> String {
        format!("kubectl --namespace {} delete job {}", self.namespace, self.name)
    }

    /// Returns the command that shows the Job.
    pub(crate) fn display(&self) -> String {
        format!("kubectl --namespace {} get job,pod,configmap --selector {JOB_NAME}={}", self.namespace, self.name)
    }
}

/// Creates an object in a namespace.
async fn create(client: &Client, namespace: &str, object: Value) -> Result<DynamicObject, CommandError> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, version) = (text(&object["kind"]), text(&object["apiVersion"]));
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
    let object: DynamicObject =
        serde_json::from_value(object).map_err(|error| CommandError::usage(error.to_string(), None))?;
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource);
    api.create(&PostParams::default(), &object).await.map_err(|error| refused(&kind, &error))
}

/// Hint for a user whose rights aren't sufficient.
const RIGHTS: &str = "it needs create, get, patch and delete on jobs; create on serviceaccounts, roles and rolebindings; create and list \
    on configmaps; list on pods: docs/on-kubernetes.md";

/// Error about an object that the cluster refuses, with the API server's message.
pub(crate) fn refused(what: &str, error: &kube::Error) -> CommandError {
    let kube::Error::Api(status) = error else {
        let message = format!("the Job's cluster doesn't answer: {}", in_full(error));
        return CommandError::Environment { message, hint: None };
    };
    let message = format!("the cluster refuses the {what} ({}): {}", status.code, status.message);
    match status.code {
        401 => CommandError::usage(message, Some("the credentials aren't valid, or no longer")),
        403 if status.message.contains("cannot") => CommandError::usage(message, Some(RIGHTS)),
        409 => CommandError::usage(message, Some("give another name with --job-name, or delete the old one")),
        400..=499 => CommandError::usage(message, None),
        _ => CommandError::Environment { message, hint: None },
    }
}

#[cfg(test)]
mod tests {
    use http::{Request, Response, StatusCode};
    use kube::client::Body;
    use tower::{BoxError, service_fn};

    use super::*;
    use crate::exit::CommandExitCode;

    fn status(code: u16, message: &str) -> kube::Error {
        let status =
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message});
        kube::Error::Api(Box::new(serde_json::from_value(status).unwrap()))
    }

    #[test]
    fn a_refusal_has_the_servers_message_and_the_exit_code_of_its_cause() {
        let said = |error: &kube::Error| {
            let error = refused("Job", error);
            let hint = error.hint().unwrap_or_default();
            format!("{:?} {error}\n  {hint}", error.exit())
        };
        let cases = [
            status(403, r#"jobs.batch is forbidden: User "me" cannot create resource "jobs""#),
            status(403, "jobs.batch \"x\" is forbidden: exceeded quota: small, requested: count/jobs.batch=1"),
            status(400, "admission webhook \"policy.example.com\" denied the request: images come from example.com"),
            status(409, "jobs.batch \"x\" already exists"),
            status(500, "failed calling webhook"),
        ];
        insta::assert_snapshot!(cases.map(|error| said(&error)).join("\n"));
        assert_eq!(refused("Job", &status(503, "")).exit(), CommandExitCode::Environment);
    }

    /// Requests that an API server got, each with its method and path.
    type Requests = std::sync::Arc<std::sync::Mutex<Vec<String>>>;

    /// Client of an API server that refuses the Role.
    fn refusing(requests: &Requests) -> Client {
        let requests = requests.clone();
        let service = service_fn(move |request: Request<Body>| {
            let line = format!("{} {}", request.method(), request.uri().path());
            requests.lock().unwrap().push(line.clone());
            let (code, body) = if line.ends_with("/roles") {
                let status =
                    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "message": "no"});
                (StatusCode::FORBIDDEN, status)
            } else if line.starts_with("GET ") {
                let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                    "reason": "NotFound", "message": "gone"});
                (StatusCode::NOT_FOUND, status)
            } else {
                let object =
                    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "drill", "uid": "u"}});
                (StatusCode::OK, object)
            };
            let answer = Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap();
            async move { Ok::<_, BoxError>(answer) }
        });
        Client::new(service, "drills")
    }

    #[tokio::test]
    async fn nothing_is_left_of_a_job_of_which_one_object_is_refused() {
        let requests = Requests::default();
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "drill"}, "spec": {}});
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "drill"}});
        let manifests = JobManifests { job, others: vec![role] };
        let created = CreatedJob::create(refusing(&requests), "drills".to_owned(), manifests).await;
        assert_eq!(created.err().unwrap().to_string(), "the cluster refuses the Role (403): no");
        let jobs = "/apis/batch/v1/namespaces/drills/jobs";
        let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/drills/roles";
        let expected = [
            format!("POST {jobs}"),
            format!("POST {roles}"),
            format!("DELETE {jobs}/drill"),
            format!("GET {jobs}/drill"),
        ];
        assert_eq!(*requests.lock().unwrap(), expected);
    }
}
