//! Requests to an API server, parsed from their paths and queries.

use std::borrow::Cow;

use http::Method;
use percent_encoding::percent_decode_str;

/// Request to the API server of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApiRequest {
    pub(super) method: Method,
    pub(super) route: Route,
    pub(super) query: ApiQuery,
    /// True if the client prefers a table, as `kubectl get` does.
    pub(super) as_table: bool,
    pub(super) body: Vec<u8>,
}

/// Part of the API that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Health,
    Version,
    /// `/api`: versions of the core group.
    CoreVersions,
    /// `/apis`: all other groups.
    Groups,
    /// `/apis/GROUP`.
    Group(String),
    /// `/api/v1` or `/apis/GROUP/VERSION`.
    Resources(GroupVersion),
    /// Objects of a resource, or one of them.
    Objects(ObjectsRoute),
    /// A path that no API server of this kind has.
    Unknown,
}

/// API group and version; the core group is the empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupVersion {
    pub(super) group: String,
    pub(super) version: String,
}

/// Path to objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectsRoute {
    pub(super) version: GroupVersion,
    pub(super) namespace: Option<String>,
    pub(super) plural: String,
    pub(super) name: Option<String>,
    pub(super) subresource: Option<String>,
}

/// Parameters of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ApiQuery(Vec<(String, String)>);

impl ApiQuery {
    pub(super) fn parse(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// Value of a parameter; `None` if it is absent or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// True if a parameter is set to a true value.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| matches!(value, "true" | "1"))
    }
}

impl Route {
    /// Parses a path below a cluster's root.
    pub(super) fn parse(path: &str) -> Self {
        let parts: Option<Vec<String>> = path.trim_matches('/').split('/').map(decoded).collect();
        let Some(parts) = parts else { return Self::Unknown };
        match &parts.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["healthz" | "livez" | "readyz", ..] => Self::Health,
            ["version"] => Self::Version,
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version, rest @ ..] => Self::below(&GroupVersion::new("", version), rest),
            ["apis", group, version, rest @ ..] => Self::below(&GroupVersion::new(group, version), rest),
            _ => Self::Unknown,
        }
    }

    fn below(version: &GroupVersion, rest: &[&str]) -> Self {
        let objects = |namespace: Option<&str>, plural: &str, name: Option<&str>, subresource: Option<&str>| {
            Self::Objects(ObjectsRoute {
                version: version.clone(),
                namespace: namespace.map(str::to_owned),
                plural: plural.to_owned(),
                name: name.map(str::to_owned),
                subresource: subresource.map(str::to_owned),
            })
        };
        match *rest {
            [] => Self::Resources(version.clone()),
            ["namespaces", namespace, plural] => objects(Some(namespace), plural, None, None),
            ["namespaces", namespace, plural, name] => objects(Some(namespace), plural, Some(name), None),
            ["namespaces", namespace, plural, name, sub] => objects(Some(namespace), plural, Some(name), Some(sub)),
            [plural] => objects(None, plural, None, None),
            [plural, name] => objects(None, plural, Some(name), None),
            [plural, name, sub] => objects(None, plural, Some(name), Some(sub)),
            _ => Self::Unknown,
        }
    }
}

impl GroupVersion {
    pub(super) fn new(group: &str, version: &str) -> Self {
        Self { group: group.to_owned(), version: version.to_owned() }
    }

    /// Group and version as `apiVersion` has them.
    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// True if the first type that the client accepts is a table.
pub(super) fn prefers_table(accept: &str) -> bool {
    let first = accept.split(',').next().unwrap_or_default();
    let mut parameters = first.split(';').map(str::trim);
    parameters.next() == Some("application/json") && {
        let parameters: Vec<&str> = parameters.collect();
        ["as=Table", "v=v1", "g=meta.k8s.io"].iter().all(|wanted| parameters.contains(wanted))
    }
}

fn decoded(part: &str) -> Option<String> {
    percent_decode_str(part).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(path: &str) -> ObjectsRoute {
        match Route::parse(path) {
            Route::Objects(route) => route,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn paths_of_objects_are_parsed() {
        let route = |version, namespace: Option<&str>, plural: &str, name: Option<&str>, subresource: Option<&str>| {
            ObjectsRoute {
                version,
                namespace: namespace.map(str::to_owned),
                plural: plural.to_owned(),
                name: name.map(str::to_owned),
                subresource: subresource.map(str::to_owned),
            }
        };
        let (core, apps) = (GroupVersion::new("", "v1"), GroupVersion::new("apps", "v1"));
        for (path, expected) in [
            ("/api/v1/pods", route(core.clone(), None, "pods", None, None)),
            ("/api/v1/namespaces", route(core.clone(), None, "namespaces", None, None)),
            ("/api/v1/namespaces/web", route(core.clone(), None, "namespaces", Some("web"), None)),
            ("/api/v1/namespaces/web/pods", route(core.clone(), Some("web"), "pods", None, None)),
            ("/api/v1/namespaces/web/pods/a/log", route(core, Some("web"), "pods", Some("a"), Some("log"))),
            (
                "/apis/apps/v1/namespaces/web/deployments/a%3Ab",
                route(apps, Some("web"), "deployments", Some("a:b"), None),
            ),
        ] {
            assert_eq!(objects(path), expected, "{path}");
        }
    }

    #[test]
    fn other_paths_are_discovery_or_unknown() {
        assert_eq!(Route::parse("/apis/apps/v1"), Route::Resources(GroupVersion::new("apps", "v1")));
        assert_eq!(Route::parse("/apis/apps"), Route::Group("apps".into()));
        assert_eq!(Route::parse("/readyz/ping"), Route::Health);
        for path in ["/", "/openapi/v2", "/openapi/v3", "/api/v1/namespaces/a/pods/b/log/more", "/api/v1/%ff"] {
            assert_eq!(Route::parse(path), Route::Unknown, "{path}");
        }
    }

    #[test]
    fn kubectl_get_prefers_a_table_and_others_do_not() {
        assert!(prefers_table("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"));
        for accept in ["application/json", "*/*", "", "application/json;as=Table;v=v1beta1;g=meta.k8s.io"] {
            assert!(!prefers_table(accept), "{accept}");
        }
    }

    #[test]
    fn parameters_are_decoded() {
        let query = ApiQuery::parse("watch=1&labelSelector=a%3Db%2Cc+in+%28d%29&fieldSelector=");
        assert!(query.is_set("watch") && !query.is_set("follow"));
        assert_eq!(query.get("labelSelector"), Some("a=b,c in (d)"));
        assert_eq!(query.get("fieldSelector"), None);
    }
}
