//! Members whose names are the hub's: by a template of contexts, by a directory of kubeconfigs, by the hub's
//! `ClusterProfiles`.
//!
//! A member for which there is no access isn't read, and is named. That isn't an error: of hundreds of members, some
//! are always just coming or going.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleet::kinds::{MEMBER_CLUSTER, ResourceKind};
use fleet::pages::{self, ListQuery};
use fleet::{FleetError, HUB};
use kube::Client;
use kube::config::Kubeconfig;
use report::text::some_names;
use serde_json::Value;
use tokio::time::{Duration, Instant};

use super::contexts::{self, ContextTable};
use super::members_from::{ContextTemplate, MembersFrom};
use crate::error::CommandError;

/// Time limit for the list of the hub's members.
const LIMIT: Duration = Duration::from_secs(60);

/// Names that a warning quotes.
const QUOTED: usize = 10;

/// `ClusterProfiles`, which KubeFleet's hub-agent writes for joined members, under their names
/// (pkg/controllers/clusterinventory/clusterprofile, v0.1.2 and v0.3.1).
const CLUSTER_PROFILE: ResourceKind = ResourceKind {
    group: "multicluster.x-k8s.io",
    version: "v1alpha1",
    kind: "ClusterProfile",
    plural: "clusterprofiles",
    namespaced: true,
};

/// Label of a `ClusterProfile` with the name of the program that manages it.
const MANAGED_BY_KUBEFLEET: &str = "x-k8s.io/cluster-manager=KubeFleet";

/// Access to a member.
#[derive(Clone, Debug)]
pub(super) struct MemberContext {
    /// Kubeconfig with the context.
    pub(super) kubeconfig: Kubeconfig,
    /// Name of the context.
    pub(super) context: String,
    /// File of the kubeconfig, if it isn't the one that all members share.
    pub(super) file: Option<PathBuf>,
}

/// Members that can't be read, by the reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NotRead(BTreeMap<String, Vec<String>>);

impl NotRead {
    fn add(&mut self, why: impl Into<String>, name: &str) {
        self.0.entry(why.into()).or_default().push(name.to_owned());
    }

    /// Describes the members in one line for each reason.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(why, names)| {
            let members =
                if names.len() == 1 { "1 member isn't".to_owned() } else { format!("{} members aren't", names.len()) };
            format!("{members} read: {why}: {}", some_names(names, QUOTED))
        })
    }
}

/// Members with access, and those without.
#[derive(Debug, Default)]
pub(super) struct HubMembers {
    pub(super) members: BTreeMap<String, MemberContext>,
    pub(super) not_read: NotRead,
}

/// True if the members' names are asked from the hub.
pub(super) fn asks_hub(from: &MembersFrom) -> bool {
    match from {
        MembersFrom::Path(path) => path.is_dir(),
        MembersFrom::Template(_) | MembersFrom::ClusterProfiles(_) => true,
    }
}

/// Finds the members. `named` are those that other options name: their names and contexts are taken.
///
/// # Errors
/// Returns an error if the hub doesn't give the names, or if there is access to no member at all.
pub(super) async fn find(
    from: &MembersFrom,
    hub: &Client,
    shared: &ContextTable<'_>,
    hub_context: &str,
    named: &BTreeMap<String, String>,
) -> Result<HubMembers, CommandError> {
    let is_free = |name: &str| !named.contains_key(name);
    let found = match from {
        MembersFrom::Path(directory) => {
            let names = names(&listed(hub, MEMBER_CLUSTER, None).await?);
            of_directory(directory, &names)?
        }
        MembersFrom::Template(template) => {
            let names = names(&listed(hub, MEMBER_CLUSTER, None).await?);
            let members = names.iter().filter(|name| is_free(name)).map(|name| (name.as_str(), template.context(name)));
            let why = format!("the kubeconfig has no context `{}` for it", template.as_str());
            of_contexts(members, &why, shared, hub_context)
        }
        MembersFrom::ClusterProfiles(template) => {
            let profiles = listed(hub, CLUSTER_PROFILE, Some(MANAGED_BY_KUBEFLEET)).await?;
            of_profiles(&profiles, template, shared, hub_context, is_free)
        }
    };
    let HubMembers { mut members, not_read } = found;
    members.retain(|name, _| is_free(name));
    if members.is_empty() && named.is_empty() {
        return Err(nobody(from, shared, &not_read));
    }
    Ok(HubMembers { members, not_read })
}

fn nobody(from: &MembersFrom, shared: &ContextTable<'_>, not_read: &NotRead) -> CommandError {
    let why = not_read.lines().next();
    let message = match from {
        MembersFrom::Path(path) => format!("{} has no kubeconfig of a member of this hub", path.display()),
        MembersFrom::Template(template) => format!("no member of the hub has a context `{}`", template.as_str()),
        MembersFrom::ClusterProfiles(_) => "no ClusterProfile of the hub has a context".to_owned(),
    };
    let contexts = format!("the kubeconfig has: {}", shared.some_names());
    let hint = match from {
        MembersFrom::Path(_) => "name each file after its member's MemberCluster, e.g. east.yaml".to_owned(),
        _ => contexts,
    };
    CommandError::usage(why.map_or(message.clone(), |why| format!("{message}; {why}")), Some(&hint))
}

/// Lists objects of the hub. An incomplete list of names is no list.
async fn listed(hub: &Client, kind: ResourceKind, labels: Option<&str>) -> Result<Vec<Value>, CommandError> {
    let query = ListQuery { labels: labels.map(ToOwned::to_owned), ..ListQuery::default() };
    match pages::all(HUB, hub, kind, &query, Instant::now() + LIMIT).await {
        (objects, None) => Ok(objects),
        (_, Some(error)) if error.status().is_some_and(|status| status.code == 404) => Err(not_served(kind)),
        (_, Some(error)) => Err(refused(&error, kind)),
    }
}

fn not_served(kind: ResourceKind) -> CommandError {
    let hint = "KubeFleet's hub-agent writes them with --enable-cluster-inventory-apis; or give a template: --members-from 'aks-{name}'";
    CommandError::usage(format!("the hub doesn't know {}.{}", kind.plural, kind.group), Some(hint))
}

fn refused(error: &FleetError, kind: ResourceKind) -> CommandError {
    if error.is_refused() {
        let hint = format!("these credentials need the right to list {}.{} on the hub", kind.plural, kind.group);
        return CommandError::usage(fleet::error::in_full(error), Some(&hint));
    }
    CommandError::Environment { message: fleet::error::in_full(error), hint: None }
}

fn name(object: &Value) -> Option<&str> {
    object.pointer("/metadata/name")?.as_str()
}

fn names(objects: &[Value]) -> Vec<String> {
    objects.iter().filter_map(name).map(ToOwned::to_owned).collect()
}

/// Finds members by the names of their contexts.
fn of_contexts<'a>(
    members: impl Iterator<Item = (&'a str, String)>,
    why_not: &str,
    shared: &ContextTable<'_>,
    hub_context: &str,
) -> HubMembers {
    let mut found = HubMembers::default();
    for (name, context) in members {
        match shared.only(&context) {
            Some(_) if context == hub_context => found.not_read.add("its context is the hub's", name),
            Some(kubeconfig) => {
                found.members.insert(name.to_owned(), MemberContext { kubeconfig, context, file: None });
            }
            None => found.not_read.add(why_not, name),
        }
    }
    found
}

/// Finds members by `ClusterProfiles`: by the context that has the API server of the profile, else by the template. A
/// profile says where its cluster is, and nothing about credentials: those are the kubeconfig's.
fn of_profiles(
    profiles: &[Value],
    template: &ContextTemplate,
    shared: &ContextTable<'_>,
    hub_context: &str,
    is_free: impl Fn(&str) -> bool,
) -> HubMembers {
    let context = |profile: &Value, name: &str| {
        let by_server = servers(profile).into_iter().find_map(|server| shared.of_server(server));
        by_server.map_or_else(|| template.context(name), ToOwned::to_owned)
    };
    let members = profiles.iter().filter_map(|profile| {
        let name = name(profile).filter(|name| is_free(name))?;
        Some((name, context(profile, name)))
    });
    let why = format!("the kubeconfig has neither a context with its API server nor `{}` for it", template.as_str());
    of_contexts(members, &why, shared, hub_context)
}

/// Addresses of a profile's API server. `credentialProviders` is the deprecated name of `accessProviders`.
fn servers(profile: &Value) -> Vec<&str> {
    let providers = ["/status/accessProviders", "/status/credentialProviders"];
    let providers = providers.iter().filter_map(|path| profile.pointer(path)?.as_array()).flatten();
    providers.filter_map(|provider| provider.pointer("/cluster/server")?.as_str()).collect()
}

/// Finds members by the files of a directory. `joined` are the hub's members.
fn of_directory(directory: &Path, joined: &[String]) -> Result<HubMembers, CommandError> {
    let unreadable =
        |error: std::io::Error| CommandError::usage(format!("failed to read {}: {error}", directory.display()), None);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = member_of(&path);
        files.extend(name.filter(|_| path.is_file()).map(|name| (name, path)));
    }
    files.sort();
    let mut found = HubMembers::default();
    for (name, path) in files {
        if let Some(other) = found.members.get(&name).and_then(|member| member.file.as_ref()) {
            let message = format!("{} and {} are both for member `{name}`", other.display(), path.display());
            return Err(CommandError::usage(message, Some("leave one of them out")));
        }
        if !joined.contains(&name) {
            found.not_read.add("the hub has no MemberCluster of the file's name", &name);
            continue;
        }
        match of_file(&path) {
            Ok(member) => drop(found.members.insert(name, member)),
            Err(why) => found.not_read.add(why, &name),
        }
    }
    for name in joined {
        let is_known =
            found.members.contains_key(name) || found.not_read.0.values().flatten().any(|known| known == name);
        if !is_known {
            found.not_read.add(format!("{} has no kubeconfig for it", directory.display()), name);
        }
    }
    Ok(found)
}

/// Endings of kubeconfigs that aren't part of a member's name. A name may have dots itself.
const ENDINGS: [&str; 6] = ["yaml", "yml", "json", "kubeconfig", "config", "conf"];

/// Name of the member that a file is for; `None` for hidden files.
fn member_of(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let name = match file.rsplit_once('.') {
        Some((stem, ending)) if ENDINGS.contains(&ending.to_ascii_lowercase().as_str()) => stem,
        _ => file,
    };
    (!name.is_empty() && !name.starts_with('.')).then(|| name.to_owned())
}

fn of_file(path: &Path) -> Result<MemberContext, String> {
    // The message of kube may quote the file.
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| match error {
        kube::config::KubeconfigError::ReadConfig(error, _) => format!("failed to read {}: {error}", path.display()),
        _ => format!("{} is no kubeconfig", path.display()),
    })?;
    let context = kubeconfig.current_context.clone().unwrap_or_default();
    match ContextTable::of(&kubeconfig).only(&context) {
        Some(kubeconfig) => Ok(MemberContext { kubeconfig, context, file: Some(path.to_owned()) }),
        None if contexts::names(&kubeconfig).is_empty() => Err(format!("{} has no contexts", path.display())),
        None => Err(format!("{} has no current context", path.display())),
    }
}
