//! Logs of Pods, as far as a bundle has them.

use serde_json::Value;

use super::cluster::ServedCluster;
use super::request::ApiQuery;
use super::status::ApiError;

/// Returns the log of a Pod's container: the longer one of what was collected for people and what the diagnosis quotes.
pub(super) fn of_pod(cluster: &ServedCluster, pod: &Value, query: &ApiQuery) -> Result<String, ApiError> {
    let text_at = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (namespace, name) = (text_at("/metadata/namespace"), text_at("/metadata/name"));
    let container = container(pod, query)?;
    let no_log = || ApiError::NotFound { resource: "pods/log".to_owned(), name: format!("{name}/{container}") };
    if query.is_set("previous") {
        return Err(no_log());
    }
    let process = format!("{}-{name}-{container}", cluster.snapshot.name);
    let collected = cluster.logs.iter().filter(|log| log.process == process).map(|log| &log.text);
    let quoted = cluster.snapshot.logs.iter().filter(|log| {
        (log.namespace.as_str(), log.pod.as_str(), log.container.as_str()) == (namespace, name, container)
    });
    let longest = collected.chain(quoted.map(|log| &log.text)).max_by_key(|text| text.len()).ok_or_else(no_log)?;
    Ok(match query.get("tailLines").map(str::parse) {
        Some(Ok(lines)) => last_lines(longest, lines).to_owned(),
        Some(Err(_)) => return Err(ApiError::BadRequest("tailLines is no number".to_owned())),
        None => longest.clone(),
    })
}

/// Returns the requested container; the only one by default.
fn container<'a>(pod: &'a Value, query: &'a ApiQuery) -> Result<&'a str, ApiError> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let containers = lists.iter().filter_map(|list| pod["spec"][list].as_array()).flatten();
    let names: Vec<&str> = containers.filter_map(|container| container["name"].as_str()).collect();
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    match (query.get("container"), &names[..]) {
        (Some(asked), _) if names.contains(&asked) => Ok(asked),
        (Some(asked), _) => Err(ApiError::BadRequest(format!("container {asked} is not valid for pod {name}"))),
        (None, [only]) => Ok(only),
        (None, _) => {
            let names = names.join(" ");
            let message = format!("a container name must be specified for pod {name}, choose one of: [{names}]");
            Err(ApiError::BadRequest(message))
        }
    }
}

/// Last lines of a text.
fn last_lines(text: &str, count: usize) -> &str {
    let ends: Vec<usize> = text.trim_end_matches('\n').match_indices('\n').map(|(at, _)| at + 1).collect();
    if count == 0 {
        return "";
    }
    match ends.len().checked_sub(count) {
        Some(first) => &text[ends[first]..],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn the_last_lines_are_whole() {
        for (count, expected) in [(0, ""), (1, "c\n"), (2, "b\nc\n"), (3, "a\nb\nc\n"), (9, "a\nb\nc\n")] {
            assert_eq!(last_lines("a\nb\nc\n", count), expected, "{count}");
        }
        assert_eq!(last_lines("a\nb", 1), "b");
    }
}
