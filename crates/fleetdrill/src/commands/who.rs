//! `fleetdrill who`.

use fleet::origin::{OriginReader, kind_called};
use report::text::style::OutputLayout;

use crate::cli::{OutputFormat, WhoArgs};
use crate::command_progress::CommandProgress;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::ReadableFleet;
use crate::output::data;

pub(super) async fn who(args: WhoArgs) -> Result<CommandExitCode, CommandError> {
    let (word, namespace, name) = parse(&args.object, args.namespace.as_deref())?;
    let reached = ReadableFleet::reach_member(args.target(), &args.member).await?;
    let progress = CommandProgress::stderr();
    progress.wait_for("reading the object and its Work");
    reached.hub.check().await?;
    let member_name = args.member.split_once('=').map_or(args.member.as_str(), |(name, _)| name);
    let mut members = reached.members();
    let Some(member) = members.remove(member_name) else {
        let known: Vec<String> = members.into_keys().collect();
        let hint = if known.is_empty() {
            "the fleet has no member that can be read".to_owned()
        } else {
            format!("its members are {}", known.join(", "))
        };
        return Err(CommandError::usage(format!("the fleet has no member {member_name}"), Some(&hint)));
    };
    let Some(kind) = kind_called(member_name, &member.client, word).await? else {
        let hint = format!("name it as kubectl does; the kinds are in: kubectl --context {member_name} api-resources");
        return Err(CommandError::usage(format!("{member_name} serves no kind `{word}`"), Some(&hint)));
    };
    // As kubectl does.
    let namespace = namespace.unwrap_or("default");
    let reader =
        OriginReader { hub: reached.hub.asked().client, member: member.client, member_name: member_name.to_owned() };
    let origin = reader.find(&kind, Some(namespace), name).await?;
    progress.finish();
    match args.output {
        OutputFormat::Text => {
            data::print_text(&report::origin::render(&origin, OutputLayout::from_locale().width));
        }
        format => data::print(format, &origin),
    }
    if origin.exists || !origin.wanted_by.is_empty() {
        return Ok(CommandExitCode::Fine);
    }
    let place = if kind.is_namespaced() { format!(" in namespace {namespace}") } else { String::new() };
    let message = format!("{member_name} has no {} {name}{place}", kind.kind());
    let hint = if kind.is_namespaced() { "give its namespace with --namespace" } else { "check its name" };
    Err(CommandError::usage(message, Some(hint)))
}

/// Reads `KIND/NAME` or `KIND/NAMESPACE/NAME`.
fn parse<'a>(text: &'a str, namespace: Option<&'a str>) -> Result<(&'a str, Option<&'a str>, &'a str), CommandError> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, within, name) = match parts[..] {
        [kind, name] if !kind.is_empty() && !name.is_empty() => (kind, None, name),
        [kind, namespace, name] if ![kind, namespace, name].contains(&"") => (kind, Some(namespace), name),
        _ => {
            let hint = "write it as KIND/NAME or KIND/NAMESPACE/NAME, e.g. configmap/web/settings";
            return Err(CommandError::usage(format!("`{text}` is no object"), Some(hint)));
        }
    };
    match (within, namespace) {
        (Some(within), Some(namespace)) if within != namespace => {
            let message = format!("`{text}` is in namespace {within}, and -n says {namespace}");
            Err(CommandError::usage(message, Some("leave one of them out")))
        }
        _ => Ok((kind, within.or(namespace), name)),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn objects_are_named_as_for_kubectl() {
        assert_eq!(parse("cm/settings", Some("web")).unwrap(), ("cm", Some("web"), "settings"));
        assert_eq!(parse("cm/web/settings", None).unwrap(), ("cm", Some("web"), "settings"));
        assert_eq!(parse("cm/web/settings", Some("web")).unwrap(), ("cm", Some("web"), "settings"));
        for (text, namespace) in
            [("settings", None), ("cm/", None), ("/x", None), ("a/b/c/d", None), ("cm/a/b", Some("c"))]
        {
            assert!(parse(text, namespace).is_err(), "{text}");
        }
    }
}
