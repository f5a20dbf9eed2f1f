//! Answers to requests.

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::cluster::{ServedBundle, ServedCluster};
use super::request::{ApiRequest, GroupVersion, ObjectsRoute, Route};
use super::resource::ServedResource;
use super::selector::ObjectSelector;
use super::status::ApiError;
use super::table::TableMaker;
use super::{access_review, discovery, log};
use crate::kinds::POD;

/// Answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ApiResponse {
    pub(super) status: StatusCode,
    /// Text that clients print as a warning.
    pub(super) warning: Option<String>,
    pub(super) body: ResponseBody,
}

/// Content of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ResponseBody {
    Json(Value),
    Text(String),
    /// Events of a watch, which stays open without further events for this many seconds, or until the client ends it.
    Watch {
        events: Vec<Value>,
        seconds: Option<u64>,
    },
}

impl ApiResponse {
    fn json(value: Value) -> Self {
        Self { status: StatusCode::OK, warning: None, body: ResponseBody::Json(value) }
    }
}

impl From<ApiError> for ApiResponse {
    fn from(error: ApiError) -> Self {
        Self { status: error.code(), ..Self::json(error.status()) }
    }
}

impl ServedBundle {
    /// Answers a request to the cluster with this context. Ages are those at the time `now`.
    pub(super) fn answer(&self, context: &str, request: &ApiRequest, now: Timestamp) -> ApiResponse {
        let cluster = self.cluster(context).ok_or(ApiError::NoResource);
        cluster.and_then(|cluster| answered(cluster, request, now)).unwrap_or_else(ApiResponse::from)
    }
}

fn answered(cluster: &ServedCluster, request: &ApiRequest, now: Timestamp) -> Result<ApiResponse, ApiError> {
    if request.method != Method::GET {
        return review(request);
    }
    match &request.route {
        Route::Health => {
            Ok(ApiResponse { status: StatusCode::OK, warning: None, body: ResponseBody::Text("ok".into()) })
        }
        Route::Version => Ok(ApiResponse::json(discovery::version())),
        Route::CoreVersions => Ok(ApiResponse::json(discovery::core_versions())),
        Route::Groups => Ok(ApiResponse::json(discovery::groups(cluster))),
        Route::Group(name) => discovery::group(cluster, name).map(ApiResponse::json),
        Route::Resources(version) => {
            if let Some(why) = &cluster.snapshot.unreachable {
                return Err(ApiError::ClusterUnread(why.clone()));
            }
            discovery::resources(cluster, version).map(ApiResponse::json)
        }
        Route::Objects(route) => objects(cluster, request, route, now),
        Route::Unknown => Err(ApiError::NoResource),
    }
}

/// Answers a review of access; nothing else can be posted.
fn review(request: &ApiRequest) -> Result<ApiResponse, ApiError> {
    let Route::Objects(ObjectsRoute { version, namespace: None, plural, name: None, .. }) = &request.route else {
        return Err(ApiError::ReadOnly);
    };
    let is_review = *version == GroupVersion::new("authorization.k8s.io", "v1") && plural == "selfsubjectaccessreviews";
    if request.method != Method::POST || !is_review {
        return Err(ApiError::ReadOnly);
    }
    let review = access_review::answer(&request.body)?;
    Ok(ApiResponse { status: StatusCode::CREATED, ..ApiResponse::json(review) })
}

fn objects(
    cluster: &ServedCluster,
    request: &ApiRequest,
    route: &ObjectsRoute,
    now: Timestamp,
) -> Result<ApiResponse, ApiError> {
    let resource = cluster.resource(&route.version, &route.plural)?;
    let objects = cluster.objects(resource, route);
    let warning = match (&resource.missing, objects.is_empty()) {
        (Some(why), true) => return Err(ApiError::NotInBundle { resource: resource.full_name(), why: why.clone() }),
        (Some(why), false) => Some(format!("not all {} are in the bundle: {why}", resource.full_name())),
        (None, _) => None,
    };
    let value = |object: &diagnosis::Object<'_>| with_type(object.value().to_value(), resource);
    let maker = request.as_table.then(|| TableMaker::new(resource, request, now));
    if let Some(name) = &route.name {
        let found = objects.iter().find(|object| object.name() == name);
        let object = found.map(value).ok_or_else(|| ApiError::not_found(resource, name))?;
        return match route.subresource.as_deref() {
            None => Ok(ApiResponse::json(match maker {
                Some(maker) => maker.table(&[object], None),
                None => object,
            })),
            Some("log") if resource.plural == POD.plural && resource.version.group.is_empty() => {
                let text = log::of_pod(cluster, &object, &request.query)?;
                Ok(ApiResponse { status: StatusCode::OK, warning: None, body: ResponseBody::Text(text) })
            }
            Some(_) => Err(ApiError::NoResource),
        };
    }
    let selector = ObjectSelector::parse(&request.query)?;
    let selected: Vec<Value> = objects.iter().map(value).filter(|object| selector.matches(object)).collect();
    if request.query.is_set("watch") {
        return Ok(ApiResponse {
            status: StatusCode::OK,
            warning: None,
            body: watch(cluster, resource, request, selected, maker.as_ref()),
        });
    }
    let list = match maker {
        Some(maker) => maker.table(&selected, Some(&cluster.resource_version)),
        None => json!({
            "kind": format!("{}List", resource.kind), "apiVersion": resource.version.api_version(),
            "metadata": {"resourceVersion": cluster.resource_version}, "items": selected,
        }),
    };
    Ok(ApiResponse { warning, ..ApiResponse::json(list) })
}

/// Sets the type of an object, which events in a bundle may lack.
fn with_type(mut object: Value, resource: &ServedResource) -> Value {
    if object.is_object() {
        object["apiVersion"] = resource.version.api_version().into();
        object["kind"] = resource.kind.clone().into();
    }
    object
}

/// Returns a watch: all objects as added, unless the client has seen a list already.
fn watch(
    cluster: &ServedCluster,
    resource: &ServedResource,
    request: &ApiRequest,
    selected: Vec<Value>,
    maker: Option<&TableMaker>,
) -> ResponseBody {
    let sends_initial = request.query.is_set("sendInitialEvents");
    let has_list = request.query.get("resourceVersion").is_some_and(|version| version != "0") && !sends_initial;
    let added = |object: Value| {
        let object = match maker {
            Some(maker) => maker.table(&[object], None),
            None => object,
        };
        json!({"type": "ADDED", "object": object})
    };
    let mut events: Vec<Value> = if has_list { Vec::new() } else { selected.into_iter().map(added).collect() };
    if sends_initial {
        events.push(json!({"type": "BOOKMARK", "object": {
            "kind": resource.kind, "apiVersion": resource.version.api_version(),
            "metadata": {"resourceVersion": cluster.resource_version,
                "annotations": {"k8s.io/initial-events-end": "true"}},
        }}));
    }
    let seconds = request.query.get("timeoutSeconds").and_then(|seconds| seconds.parse().ok());
    ResponseBody::Watch { events, seconds }
}
