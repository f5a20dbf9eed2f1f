//! Resolves the requested members: by name, by a file, by a pattern of contexts.

use std::collections::BTreeMap;
use std::path::Path;

use fleet::HUB;
use glob::Pattern;

use super::members_from::MembersFrom;
use super::options::{ContextOptions, MembersValue};
use crate::error::CommandError;

/// Member with its context, and the place where it was named.
struct NamedMember {
    name: String,
    context: String,
    /// Place where the member was named, e.g. `--member east=aks-east` or `members.txt:3`.
    place: String,
}

/// Returns the contexts of the members that the options name, by the members' names. Members whose names only the hub
/// knows aren't among them. Each context is one of `known`, and none is the hub's.
///
/// # Errors
/// Returns an error if a member or a context is named twice, has no name, is the hub, or doesn't exist.
pub(crate) fn resolve(
    given: &ContextOptions,
    known: &[&str],
    hub: &str,
) -> Result<BTreeMap<String, String>, CommandError> {
    let mut named = Vec::new();
    for text in &given.member {
        named.push(parse(text, format!("--member {text}"))?);
    }
    if let Some(MembersFrom::Path(path)) = &given.members_from
        && !path.is_dir()
    {
        named.extend(of_file(path)?);
    }
    let mut members: BTreeMap<String, NamedMember> = BTreeMap::new();
    for member in named {
        check(&member, &members, known, hub)?;
        members.insert(member.name.clone(), member);
    }
    let mut members: BTreeMap<String, String> =
        members.into_iter().map(|(name, member)| (name, member.context)).collect();
    match &given.members {
        Some(MembersValue::Pattern(pattern)) => members.extend(matching(pattern, &members, known, hub)?),
        Some(MembersValue::Count(count)) => {
            let hint = "--members takes a pattern here, e.g. 'aks-*'; a single member is --member NAME[=CONTEXT]";
            return Err(CommandError::usage(format!("`{count}` is no pattern of contexts"), Some(hint)));
        }
        None => {}
    }
    Ok(members)
}

fn parse(text: &str, place: String) -> Result<NamedMember, CommandError> {
    let (name, context) = text.split_once('=').unwrap_or((text, text));
    let (name, context) = (name.trim(), context.trim());
    if name.is_empty() || context.is_empty() {
        let what = if name.is_empty() { "name" } else { "context" };
        let hint = "write it as NAME=CONTEXT, e.g. east=aks-east, or as NAME where the context has the same name";
        return Err(CommandError::usage(format!("{place}: the member's {what} is empty"), Some(hint)));
    }
    if name == HUB {
        let hint = "the hub's context is --hub CONTEXT";
        return Err(CommandError::usage(format!("{place}: a member can't be named `{HUB}`"), Some(hint)));
    }
    Ok(NamedMember { name: name.to_owned(), context: context.to_owned(), place })
}

fn of_file(path: &Path) -> Result<Vec<NamedMember>, CommandError> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        let hint = "a template of contexts has the member's name as {name}, e.g. 'aks-{name}'";
        let message = format!("failed to read the members of {}: {e}", path.display());
        CommandError::usage(message, path.to_string_lossy().contains('{').then_some(hint))
    })?;
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let members: Vec<NamedMember> = lines
        .map(|(number, line)| parse(line, format!("{}:{}", path.display(), number + 1)))
        .collect::<Result<_, _>>()?;
    if members.is_empty() {
        let hint = "write one NAME or NAME=CONTEXT on each line";
        return Err(CommandError::usage(format!("{} names no member", path.display()), Some(hint)));
    }
    Ok(members)
}

fn check(
    member: &NamedMember,
    members: &BTreeMap<String, NamedMember>,
    known: &[&str],
    hub: &str,
) -> Result<(), CommandError> {
    let NamedMember { name, context, place } = member;
    if let Some(other) = members.get(name) {
        let message = format!("{place}: member `{name}` is named already, by {}", other.place);
        return Err(CommandError::usage(message, Some("leave one of them out")));
    }
    if context == hub {
        let message = format!("{place}: context `{context}` is the hub's");
        return Err(CommandError::usage(
            message,
            Some("each cluster has a context of its own: kubectl config get-contexts"),
        ));
    }
    if let Some(other) = members.values().find(|other| other.context == *context) {
        let message =
            format!("{place}: context `{context}` is that of member `{}` already, by {}", other.name, other.place);
        return Err(CommandError::usage(
            message,
            Some("each cluster has a context of its own: kubectl config get-contexts"),
        ));
    }
    if !known.contains(&context.as_str()) {
        let hint = format!("it has: {}; where member and context have different names: NAME=CONTEXT", known.join(", "));
        return Err(CommandError::usage(format!("{place}: the kubeconfig has no context `{context}`"), Some(&hint)));
    }
    Ok(())
}

/// Returns the contexts that match and that no member has yet, each as a member with the context's name.
fn matching(
    pattern: &str,
    members: &BTreeMap<String, String>,
    known: &[&str],
    hub: &str,
) -> Result<BTreeMap<String, String>, CommandError> {
    let compiled = Pattern::new(pattern).map_err(|e| {
        CommandError::usage(format!("--members: `{pattern}` is no pattern: {}", e.msg), Some("write it like 'aks-*'"))
    })?;
    let matching: Vec<&str> =
        known.iter().copied().filter(|context| *context != hub && compiled.matches(context)).collect();
    if matching.is_empty() {
        let hint = format!("it has, beside the hub's: {}", list(known.iter().filter(|context| **context != hub)));
        return Err(CommandError::usage(
            format!("--members: no context of the kubeconfig matches `{pattern}`"),
            Some(&hint),
        ));
    }
    let free = matching.into_iter().filter(|context| !members.values().any(|taken| taken == context));
    let mut found = BTreeMap::new();
    for context in free {
        if let Some(other) = members.get(context) {
            let message =
                format!("--members: context `{context}` would be member `{context}`, which has context `{other}`");
            return Err(CommandError::usage(
                message,
                Some("name that member's context otherwise, or use a narrower pattern"),
            ));
        }
        if context == HUB {
            let message = format!("--members: context `{HUB}` matches, and a member can't be named `{HUB}`");
            return Err(CommandError::usage(
                message,
                Some("the hub's context is --hub CONTEXT; or use a narrower pattern"),
            ));
        }
        found.insert(context.to_owned(), context.to_owned());
    }
    Ok(found)
}

fn list<'a>(names: impl Iterator<Item = &'a &'a str>) -> String {
    let names: Vec<&str> = names.copied().collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["prod-hub", "aks-east", "aks-west", "eks-one"];

    fn resolved(given: &ContextOptions) -> Result<String, String> {
        let members = resolve(given, KNOWN, "prod-hub").map_err(|error| error.to_string())?;
        Ok(members.iter().map(|(name, context)| format!("{name}={context}")).collect::<Vec<_>>().join(" "))
    }

    fn given(member: &[&str], members: Option<&str>) -> ContextOptions {
        ContextOptions {
            member: member.iter().map(ToString::to_string).collect(),
            members: members.map(|text| text.parse().expect("a pattern")),
            ..ContextOptions::default()
        }
    }

    #[test]
    fn members_are_named_one_by_one_and_by_pattern() {
        for (member, pattern, expected) in [
            (&["east=aks-east", "aks-west"][..], None, "aks-west=aks-west east=aks-east"),
            (&[], Some("aks-*"), "aks-east=aks-east aks-west=aks-west"),
            (&["east=aks-east"], Some("*"), "aks-west=aks-west east=aks-east eks-one=eks-one"),
            (&["east=aks-east"], Some("aks-east"), "east=aks-east"),
            (&[], None, ""),
        ] {
            assert_eq!(resolved(&given(member, pattern)), Ok(expected.to_owned()));
        }
    }

    #[test]
    fn what_names_no_member_is_refused() {
        for (member, pattern, expected) in [
            (&["=aks-east"][..], None, "--member =aks-east: the member's name is empty"),
            (&["east="], None, "--member east=: the member's context is empty"),
            (&[""], None, "--member : the member's name is empty"),
            (&["hub=aks-east"], None, "--member hub=aks-east: a member can't be named `hub`"),
            (&["east=prod-hub"], None, "--member east=prod-hub: context `prod-hub` is the hub's"),
            (&["east"], None, "--member east: the kubeconfig has no context `east`"),
            (
                &["east=aks-east", "east=aks-west"],
                None,
                "--member east=aks-west: member `east` is named already, by --member east=aks-east",
            ),
            (
                &["east=aks-east", "west=aks-east"],
                None,
                "--member west=aks-east: context `aks-east` is that of member `east` already, by --member east=aks-east",
            ),
            (&[], Some("gke-*"), "--members: no context of the kubeconfig matches `gke-*`"),
            (&[], Some("prod-hub"), "--members: no context of the kubeconfig matches `prod-hub`"),
            (&[], Some("a***"), "--members: `a***` is no pattern: wildcards are either regular `*` or recursive `**`"),
            (&[], Some("3"), "`3` is no pattern of contexts"),
            (
                &["aks-west=aks-east"],
                Some("aks-*"),
                "--members: context `aks-west` would be member `aks-west`, which has context `aks-east`",
            ),
        ] {
            assert_eq!(resolved(&given(member, pattern)), Err(expected.to_owned()));
        }
    }

    #[test]
    fn a_file_names_members_with_comments() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("members.txt");
        let of = |text: &str| {
            std::fs::write(&path, text).expect("written");
            let given =
                ContextOptions { members_from: Some(MembersFrom::Path(path.clone())), ..ContextOptions::default() };
            resolved(&given).map_err(|message| message.replace(&path.display().to_string(), "FILE"))
        };
        assert_eq!(
            of("\u{feff}# ours\n\n east = aks-east \naks-west\r\n"),
            Ok("aks-west=aks-west east=aks-east".into())
        );
        assert_eq!(of("# ours\neast=\n"), Err("FILE:2: the member's context is empty".into()));
        assert_eq!(
            of("east=aks-east\n\neast=aks-west"),
            Err("FILE:3: member `east` is named already, by FILE:1".into())
        );
        assert_eq!(of("west=gke"), Err("FILE:1: the kubeconfig has no context `gke`".into()));
        assert_eq!(of("# nobody\n"), Err("FILE names no member".into()));
    }
}
