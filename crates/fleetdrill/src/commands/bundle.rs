//! `fleetdrill bundle`.

use fleet::bundle::SizeLimit;
use fleet::bundle_server::{BundleServer, ServedBundle};
use jiff::Timestamp;
use report::stderr_line;
use report::stdout_line;
use report::text::clean_line;

use super::Interrupts;
use crate::cli::{BundleCommand, BundleServeArgs};
use crate::error::CommandError;
use crate::exit::CommandExitCode;

pub(super) async fn bundle(command: BundleCommand) -> Result<CommandExitCode, CommandError> {
    match command {
        BundleCommand::Serve(args) => serve(&args).await,
    }
}

/// Serves a bundle until an interrupt, which is the way to end the command. Dropping the server removes its files.
async fn serve(args: &BundleServeArgs) -> Result<CommandExitCode, CommandError> {
    let mut interrupts = Interrupts::listen();
    let bundle = ServedBundle::read(&args.bundle, SizeLimit::of_mebibytes(args.from_limit))?;
    let server = BundleServer::bind(bundle, args.listen, args.kubeconfig.as_deref()).await?;
    let manifest = &server.bundle().manifest;
    let fleet = clean_line(&manifest.fleet);
    stderr_line!("serving a bundle of fleet {fleet}, taken at {:.0}", manifest.taken_at);
    stderr_line!("ages are those at present, {:.0}; Ctrl-C ends this", Timestamp::now());
    for cluster in &manifest.clusters {
        if let Some(why) = &cluster.unreachable {
            stderr_line!("warning: {} has nothing to see: {}", clean_line(&cluster.name), clean_line(why));
        }
    }
    stdout_line!("export KUBECONFIG={}", quoted(&server.kubeconfig().to_string_lossy()));
    for context in server.bundle().contexts() {
        stdout_line!("kubectl --context {context} get events --all-namespaces");
    }
    tokio::select! {
        ended = server.serve() => match ended {
            Ok(never) => match never {},
            Err(error) => Err(CommandError::Environment { message: format!("failed to serve: {error}"), hint: None }),
        },
        () = interrupts.next() => Ok(CommandExitCode::Fine),
    }
}

/// Quotes a path for a POSIX shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.,:=@%+".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for path in ["/tmp/fleetdrill-bundle-Ab1/kubeconfig", "/tmp/it's mine/$HOME/k", ""] {
            let line = format!("export KUBECONFIG={}", quoted(path));
            let words = shlex::split(&line).expect("a shell takes it");
            assert_eq!(words, ["export", &format!("KUBECONFIG={path}")]);
        }
    }
}
