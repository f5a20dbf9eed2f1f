//! Options of `fleetdrill run` that a Job passes to its Pods: what is wrong with them is found before the Job is created.

use clap::FromArgMatches as _;

use super::options::JobOptions;
use crate::cli::{Cli, CliCommand, KeepPolicy, RunArgs};
use crate::error::CommandError;
use crate::fleet_source::options::ProviderName;
use crate::help;
use crate::selection::Shard;
use crate::suite::Suite;

/// Parses the options of a shard's run.
///
/// # Errors
/// Returns an error if `fleetdrill run` doesn't take them.
pub(crate) fn parse(options: &[String], shard: Shard) -> Result<RunArgs, CommandError> {
    let shard = format!("{}/{}", shard.index, shard.of);
    let line =
        ["fleetdrill", "run", "--shard", &shard].map(ToOwned::to_owned).into_iter().chain(options.iter().cloned());
    let parsed = help::command().try_get_matches_from(line).and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed.map(|cli| cli.command) {
        Ok(CliCommand::Run(args)) => Ok(args),
        Ok(_) => Err(CommandError::usage("the options after -- aren't those of `fleetdrill run`", None)),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let message = format!("the options after -- are wrong: {}", first.trim_start_matches("error: "));
            Err(CommandError::usage(message, Some("they are those of `fleetdrill run`: fleetdrill run --help")))
        }
    }
}

/// Checks the options that a Job passes to its Pods.
///
/// # Errors
/// Returns an error if `fleetdrill run` doesn't take them, if they need something that the Pods don't have, or if they select nothing.
pub(crate) fn check(options: &JobOptions) -> Result<(), CommandError> {
    let args = parse(&options.run, Shard { index: 1, of: usize::from(options.shards) })?;
    let has_features = options.features_configmap.is_some() || options.features_git.is_some();
    let refused = [
        (args.files.requested().next().is_some(), "--junit, --json and --html", "before --"),
        (!args.shard_by.is_empty(), "--shard-by", "before --"),
        (args.scenarios.features.is_some(), "--features", "as --features-configmap or --features-git, before --"),
        (!args.rerun.is_empty(), "--rerun", "to a run on this machine: the Pods don't have its file"),
        (args.fleet.is_some(), "--fleet", "to a run on this machine: each Pod makes a fleet of its own"),
        (args.keep != KeepPolicy::Never, "--keep", "to a run on this machine: a Pod's fleet ends with the Pod"),
        (args.argocd_manifests.is_some(), "--argocd-manifests", "to a run with --provider kind"),
        (
            args.source.new.provider != ProviderName::Local,
            "--provider",
            "to a run on this machine: in a Pod only the provider local works",
        ),
    ];
    if let Some((_, option, instead)) = refused.iter().find(|(is_given, ..)| *is_given) {
        let hint = format!("give it {instead}");
        return Err(CommandError::usage(format!("a Job's Pods don't take {option}"), Some(&hint)));
    }
    if let Some(file) = args.scenarios.select.iter().find(|name| name.ends_with(".feature")) {
        let hint = "kubectl create configmap NAME --from-file FILE, and give --features-configmap NAME";
        return Err(CommandError::usage(format!("a Job's Pods don't have the file {file}"), Some(hint)));
    }
    if !has_features {
        Suite::load(&args.scenarios.selection(None))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::JobCommand;

    fn checked(line: &str) -> Result<(), String> {
        let words = shlex::split(&format!("fleetdrill job render {line}")).unwrap();
        let CliCommand::Job(JobCommand::Render(args)) = Cli::try_parse_from(words).unwrap().command else {
            panic!("{line}")
        };
        check(&args.job).map_err(|error| format!("{error}\n{}", error.hint().unwrap_or_default()))
    }

    #[test]
    fn what_the_pods_cannot_do_is_refused_before_the_job_is_created() {
        assert_eq!(checked("-- --tags @drill --kubefleet v0.1.2 --no-continuous-diagnosis"), Ok(()));
        assert_eq!(checked("--features-configmap mine -- --tags @not-in-the-built-in-ones"), Ok(()));
        let refused = [
            "--json run.json",
            "--shard-by run.json",
            "--features dir",
            "--rerun run.json",
            "--fleet web",
            "--keep failed",
            "--provider kind",
            "own.feature",
            "--tags @nobody-has-this",
            "--shard 1/2",
            "--one-per-code",
            "--no-such-option",
        ];
        let said = refused.map(|options| format!("{options}\n{}", checked(&format!("-- {options}")).unwrap_err()));
        insta::assert_snapshot!(said.join("\n\n"));
    }
}
