//! `fleetdrill collect`.

use std::time::Duration;

use clusters::stderr_line;
use diagnosis::Role;
use fleet::bundle::{Bundle, BundleError, Missing};

use super::progress::Progress;
use super::target::{self, Whole};
use crate::cli::Collect;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::data;

/// How long a fleet may take for its answers. A large hub's lists take seconds.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) async fn collect(args: &Collect) -> Result<Exit, CommandError> {
    if let Some(path) = args.output.as_ref().filter(|path| path.symlink_metadata().is_ok()) {
        // Before the fleet is read for nothing.
        return Err(BundleError::Exists(path.clone()).into());
    }
    let progress = Progress::stderr();
    progress.say("reading the fleet");
    let reached = target::reach(&args.target, Whole::NotRequired).await?;
    if !reached.keeps_logs() {
        // Without the hub nothing is left to collect; of a fleet that is up here the logs are.
        reached.hub.check().await?;
    }
    let bundle = Bundle::collect(&reached.source(), LIMIT).await;
    let path = args.output.clone().unwrap_or_else(|| bundle.default_name());
    progress.say(&format!("writing {}", path.display()));
    bundle.write(&path)?;
    progress.finish();
    say(&bundle);
    data::print_text(&format!("{}\n", path.display()));
    Ok(Exit::Fine)
}

/// What is in it, and what isn't.
fn say(bundle: &Bundle) {
    let objects: usize = bundle.snapshot.clusters.iter().map(|cluster| cluster.objects.len()).sum();
    let events: usize = bundle.events.values().map(Vec::len).sum();
    let clusters = bundle.snapshot.clusters.iter().filter(|cluster| cluster.unreachable.is_none()).count();
    stderr_line!("{objects} objects and {events} events of {clusters} clusters, {} logs", bundle.logs.len());
    for cluster in &bundle.snapshot.clusters {
        if let Some(why) = &cluster.unreachable {
            let loss = if cluster.role == Role::Hub { ", and nothing can be diagnosed without it" } else { "" };
            stderr_line!("warning: {} couldn't be read{loss}: {why}", cluster.name);
        }
    }
    let mut told: Vec<(&Missing, Vec<&str>)> = Vec::new();
    for missing in &bundle.missing {
        // Who may not list one kind may not list others: one line for all, with the first one's reason.
        let alike =
            |(first, _): &&mut (&Missing, _)| first.cluster == missing.cluster && first.needed == missing.needed;
        match told.iter_mut().find(alike) {
            Some((_, whats)) => whats.push(&missing.what),
            None => told.push((missing, vec![&missing.what])),
        }
    }
    for (missing, whats) in told {
        let of = missing.cluster.as_ref().map(|cluster| format!(" of {cluster}")).unwrap_or_default();
        let loss = if missing.needed { ", and nothing can be diagnosed without them" } else { "" };
        stderr_line!("warning: {}{of} couldn't be read{loss}: {}", whats.join(", "), missing.why);
    }
}
