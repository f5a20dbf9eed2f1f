//! `fleetdrill collect`.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use diagnosis::SnapshotRole;
use fleet::bundle::{
    BundleError, BundleManifest, BundleStream, MissingBundlePart, StreamLimits, StreamProgress, is_archive,
};
use report::stderr_line;

use crate::cli::{CollectArgs, format_names};
use crate::command_progress::CommandProgress;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::{ReadableFleet, RequiredState};
use crate::output::data;

pub(super) async fn collect(args: &CollectArgs) -> Result<CommandExitCode, CommandError> {
    if let Some(path) = &args.bundle {
        // A wrong path is reported before the fleet is read.
        check_output(path)?;
    }
    let reached = ReadableFleet::reach(&args.target, RequiredState::Any).await?;
    let progress = CommandProgress::stderr();
    progress.wait_for("reading the fleet");
    if !reached.keeps_logs() {
        // Without the hub only the logs of a fleet that is up on this machine can be collected.
        reached.hub.check().await?;
    }
    let source = reached.source();
    let parent = args.bundle.as_deref().and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty());
    let limits = StreamLimits {
        time: Duration::from_secs(args.time_limit),
        bytes: args.limit.saturating_mul(1 << 20),
        ..StreamLimits::default()
    };
    let contexts = reached.contexts();
    let identities = reached.identities(contexts.keys().map(String::as_str));
    let (read, clusters) = (StreamProgress::default(), source.members.len() + 1);
    let collecting = BundleStream::collect(&source, parent.unwrap_or(Path::new(".")), limits, &read);
    let both = futures::future::join(collecting, identities);
    let (bundle, identities) = progress.follow(|| progress_text(&read, clusters), both).await;
    let bundle = bundle?;
    reached.check_identities(&identities, &bundle.snapshot)?;
    let path = args.bundle.clone().unwrap_or_else(|| bundle.default_name());
    progress.say(&format!("writing {}", path.display()));
    let (manifest, is_cut) = (bundle.manifest.clone(), bundle.is_cut);
    bundle.finish(&path)?;
    progress.finish();
    say(&manifest);
    data::print_text(&format!("{}\n", path.display()));
    if is_cut {
        stderr_line!("warning: the bundle isn't whole: it reached a limit of time or size");
        return Ok(CommandExitCode::Incomplete);
    }
    Ok(CommandExitCode::Fine)
}

/// Returns how much has been read; `None` before the first object.
fn progress_text(read: &StreamProgress, clusters: usize) -> Option<String> {
    let [objects, events, done] =
        [&read.objects, &read.events, &read.clusters].map(|number| number.load(Ordering::Relaxed));
    (objects > 0).then(|| format!("read {objects} objects and {events} events; {done} of {clusters} clusters done"))
}

/// Checks that a bundle can be written to the path, and that the name doesn't look like anything but a directory or a
/// `.tar.gz` file.
fn check_output(path: &Path) -> Result<(), CommandError> {
    if path.symlink_metadata().is_ok() {
        return Err(BundleError::Exists(path.to_owned()).into());
    }
    let shown = path.display();
    let name = path.as_os_str().to_string_lossy().to_lowercase();
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    if format_names().contains(&name) {
        let hint = format!(
            "--bundle takes a directory, or a file that ends with .tar.gz; for a directory: --bundle ./{shown}"
        );
        return Err(CommandError::usage(format!("`{shown}` is a format, and a bundle has only one"), Some(&hint)));
    }
    if OTHER_ENDINGS.contains(&ending.as_str()) && !is_archive(path) {
        let hint = "a bundle is a directory, or a file that ends with .tar.gz or .tgz";
        return Err(CommandError::usage(
            format!("a bundle can't be written as `{shown}`: .{ending} isn't supported"),
            Some(hint),
        ));
    }
    Ok(())
}

/// File extensions that a bundle can't have.
const OTHER_ENDINGS: [&str; 10] = ["zip", "tar", "gz", "bz2", "xz", "zst", "7z", "json", "yaml", "yml"];

/// Prints the content of a bundle, and what is missing in it.
fn say(bundle: &BundleManifest) {
    let objects: usize = bundle.clusters.iter().map(|cluster| cluster.objects).sum();
    let events: usize = bundle.clusters.iter().map(|cluster| cluster.events).sum();
    let clusters = bundle.clusters.iter().filter(|cluster| cluster.unreachable.is_none()).count();
    stderr_line!("{objects} objects and {events} events of {clusters} clusters, {} logs", bundle.logs.len());
    for cluster in &bundle.clusters {
        if let Some(why) = &cluster.unreachable {
            let loss = if cluster.role == SnapshotRole::Hub { ", and nothing can be diagnosed without it" } else { "" };
            stderr_line!("warning: {} couldn't be read{loss}: {why}", cluster.name);
        }
    }
    let mut told: Vec<(&MissingBundlePart, Vec<&str>)> = Vec::new();
    for missing in &bundle.missing {
        // Credentials that may not list one kind often may not list others either: print one line for all, with the
        // reason of the first.
        let alike = |(first, _): &&mut (&MissingBundlePart, _)| {
            first.cluster == missing.cluster && first.needed == missing.needed
        };
        match told.iter_mut().find(alike) {
            Some((_, whats)) => whats.push(&missing.what),
            None => told.push((missing, vec![&missing.what])),
        }
    }
    for (missing, whats) in told {
        let of = missing.cluster.as_ref().map(|cluster| format!(" of {cluster}")).unwrap_or_default();
        let loss = if missing.needed { ", and a diagnosis leaves out what rests on them" } else { "" };
        stderr_line!("warning: {}{of} couldn't be read{loss}: {}", whats.join(", "), missing.why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_something_else_are_refused() {
        for (path, expected) in [
            ("json", Some("`json` is a format, and a bundle has only one")),
            ("measured", Some("`measured` is a format, and a bundle has only one")),
            ("yml", Some("`yml` is a format, and a bundle has only one")),
            ("YAML", Some("`YAML` is a format, and a bundle has only one")),
            ("x.zip", Some("a bundle can't be written as `x.zip`: .zip isn't supported")),
            ("/nowhere/x.tar", Some("a bundle can't be written as `/nowhere/x.tar`: .tar isn't supported")),
            ("x.json", Some("a bundle can't be written as `x.json`: .json isn't supported")),
            ("./json", None),
            ("x.tar.gz", None),
            ("x.TGZ", None),
            ("prod-2026.11", None),
        ] {
            let refused = check_output(Path::new(path)).err().map(|error| error.to_string());
            assert_eq!(refused.as_deref(), expected, "{path}");
        }
    }
}
