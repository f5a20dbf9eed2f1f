//! Examples and environment variables below each command's help.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use crate::cli::Cli;

/// A command line as an example, and what it does.
type CommandExample = (&'static str, &'static str);

/// Examples by command. Each one is a command line that a shell and fleetdrill take.
const EXAMPLES: &[(&str, &[CommandExample])] = &[
    (
        "fleetdrill",
        &[
            ("fleetdrill run --tags @drill", "four failures and their healthy twins, on a new fleet"),
            ("fleetdrill up web", "a fleet `web` to work with; end it with: fleetdrill down web"),
            ("fleetdrill diagnose --fleet web", "what is wrong with it, and what to do"),
            ("fleetdrill explain KF-WS-001", "a failure code"),
        ],
    ),
    (
        "run",
        &[
            ("fleetdrill run --tags '@drill and not @disruptive'", "scenarios by their tags"),
            ("fleetdrill run 'approval' --verbose", "scenarios and features with this part in their names"),
            ("fleetdrill run --junit report/junit.xml --json report/run.json", "everything, with reports for CI"),
            ("fleetdrill run --fleet web own.feature", "a feature of your own, on a fleet that is up"),
        ],
    ),
    (
        "upgrade",
        &[
            ("fleetdrill upgrade --from v0.14.0 --to v0.1.2 --html upgrade.html", "all orders, with a page to read"),
            (
                "fleetdrill upgrade --from v0.14.0 --to v0.1.2 --only in-flight --order hub-first",
                "only scenarios that are in progress while the fleet is upgraded",
            ),
            ("fleetdrill upgrade --argocd v3.2.11 --to v3.5.7 --back", "Argo CD, and back again"),
        ],
    ),
    (
        "job",
        &[(
            "fleetdrill job run --shards 3 -- --tags @drill",
            "three Pods in the cluster of the current context, one report",
        )],
    ),
    (
        "job render",
        &[
            ("fleetdrill job render --shards 3 -- --tags @drill", "the objects, for kubectl apply --filename -"),
            (
                "fleetdrill job render --features-git https://example.com/drills.git#main:features",
                "with features of your own, which the Pods clone",
            ),
        ],
    ),
    (
        "job run",
        &[
            (
                "fleetdrill job run --shards 3 --junit junit.xml -- --tags @drill",
                "one report and one exit code, for CI",
            ),
            (
                "fleetdrill job run --shards 5 --shard-by yesterday.json --requests cpu=4,memory=8Gi",
                "the whole suite, dealt so that the Pods end together",
            ),
        ],
    ),
    (
        "job shard",
        &[(
            "fleetdrill job shard --index 0 --shards 3 --pod drill-0-x --job drill --job-uid 5f -- --tags @drill",
            "what a Pod runs; the Job's controller sets the variables for it",
        )],
    ),
    (
        "report",
        &[
            ("fleetdrill report shard-1.json shard-2.json --junit junit.xml", "the shards of a run as one"),
            ("fleetdrill report today.json --against yesterday.json", "what has changed since, and what got slower"),
            ("fleetdrill report night-*.json --html night.html", "repetitions: what fails now and then"),
        ],
    ),
    (
        "list",
        &[
            ("fleetdrill list --tags @drill", "scenarios by their tags"),
            ("fleetdrill list --steps", "the steps that features are written in"),
        ],
    ),
    (
        "up",
        &[
            ("fleetdrill up", "a fleet `default` with three members"),
            ("fleetdrill up web --members 2 --pods", "a fleet `web`, whose members run pods"),
            ("fleetdrill up web --argocd", "Argo CD on its hub; --argocd v3.2.11 for a version"),
        ],
    ),
    (
        "status",
        &[
            ("fleetdrill status", "all fleets that are up"),
            ("fleetdrill status web -o json", "one of them, with its processes"),
        ],
    ),
    (
        "down",
        &[
            ("fleetdrill down web", "one fleet"),
            ("fleetdrill down --all", "all fleets, and what is left of fleets that were killed"),
        ],
    ),
    (
        "diagnose",
        &[
            ("fleetdrill diagnose", "the fleet that is up"),
            ("fleetdrill diagnose --fleet web crp/web", "one placement of the fleet `web`"),
            (
                "fleetdrill diagnose --hub prod-hub --member east=prod-east",
                "a fleet of your own, by contexts of your kubeconfig",
            ),
            ("fleetdrill diagnose --from report/bundles/approval-12-abcd3", "a bundle"),
            ("fleetdrill diagnose --watch --metrics 127.0.0.1:9190", "again and again, with metrics for a dashboard"),
        ],
    ),
    (
        "explain",
        &[("fleetdrill explain", "all failure codes"), ("fleetdrill explain KF-WS-001", "one of them, with remedies")],
    ),
    (
        "who",
        &[
            ("fleetdrill who configmap/settings --member member-1 -n web-app", "of a fleet that is up here"),
            ("fleetdrill who deploy/web-app/app --member east=aks-east --hub aks-hub", "of contexts of a kubeconfig"),
        ],
    ),
    (
        "guides",
        &[
            ("fleetdrill guides", "how many statements of each guide hold"),
            ("fleetdrill guides work-synchronized", "the statements of one guide"),
            ("fleetdrill guides --from run.json", "what a run has shown"),
        ],
    ),
    (
        "collect",
        &[
            ("fleetdrill collect --fleet web", "a directory fleetdrill-bundle-web-TIME"),
            ("fleetdrill collect --hub prod-hub --bundle prod.tar.gz", "a file with a fleet of your own"),
        ],
    ),
    ("bundle", &[("fleetdrill bundle serve prod.tar.gz", "an API server for kubectl with what is in a bundle")]),
    (
        "bundle serve",
        &[
            ("fleetdrill bundle serve prod.tar.gz", "on a free port; it prints the KUBECONFIG to export"),
            (
                "fleetdrill bundle serve prod.tar.gz --kubeconfig prod.kubeconfig --listen 127.0.0.1:6443",
                "at a fixed place; in another terminal: k9s --kubeconfig prod.kubeconfig",
            ),
        ],
    ),
    (
        "accuracy",
        &[
            ("fleetdrill accuracy --seed 1 --drills 20", "twenty drills, the same ones each time"),
            ("fleetdrill accuracy --seed 1 --drill 7", "one of them alone"),
            ("fleetdrill accuracy --seed 1 --drills 20 --list", "what would be broken"),
        ],
    ),
    (
        "train",
        &[
            ("fleetdrill train list", "the exercises"),
            ("fleetdrill train start --random --level beginner", "a broken fleet, and the page of a night shift"),
        ],
    ),
    ("train list", &[("fleetdrill train list", "the exercises, with their levels")]),
    (
        "train start",
        &[
            ("fleetdrill train start empty-shop", "one exercise"),
            (
                "fleetdrill train start empty-shop --name red --trainee red",
                "with a name of its own, for one of several teams",
            ),
        ],
    ),
    ("train status", &[("fleetdrill train status --name red", "the page again")]),
    ("train hint", &[("fleetdrill train hint", "the next of three hints")]),
    (
        "train diagnose",
        &[
            ("fleetdrill train diagnose KF-WS-001", "the cause by its failure code"),
            ("fleetdrill train diagnose the namespace is terminating", "the cause in words"),
        ],
    ),
    (
        "train restart",
        &[
            ("fleetdrill train restart hub-agent", "the hub-agent"),
            ("fleetdrill train restart member-1", "a member's agent"),
        ],
    ),
    ("train reset", &[("fleetdrill train reset --name red", "broken again as on its page, on the same fleet")]),
    ("train check", &[("fleetdrill train check --name red", "whether the repair holds")]),
    ("train solution", &[("fleetdrill train solution", "the evidence and the commands")]),
    ("train stop", &[("fleetdrill train stop --name red", "the exercise and its fleet end")]),
    (
        "train report",
        &[
            ("fleetdrill train report", "the scores that are kept on this machine"),
            ("fleetdrill train report red.json blue.json", "those of several teams"),
        ],
    ),
    (
        "train debrief",
        &[
            ("fleetdrill train debrief", "the exercise that ended last"),
            ("fleetdrill train debrief score.json --html debrief.html", "as a page for a browser"),
        ],
    ),
    (
        "train verify",
        &[("fleetdrill train verify empty-shop", "whether the remedy passes the check, and nothing else does")],
    ),
    ("toolchain", &[("fleetdrill toolchain list", "the components, and which of them are built")]),
    ("toolchain list", &[("fleetdrill toolchain list -o json", "components, versions and programs")]),
    (
        "toolchain install",
        &[
            ("fleetdrill toolchain install", "all that fleets need"),
            ("fleetdrill toolchain install kubefleet v0.1.2", "one version of one component"),
        ],
    ),
    (
        "toolchain add",
        &[(
            "fleetdrill toolchain add kubefleet v0.3.1 hub-agent=bin/hub-agent member-agent=bin/member-agent --crds crds",
            "KubeFleet as you have built it; then: fleetdrill run --kubefleet v0.3.1",
        )],
    ),
    (
        "toolchain export",
        &[
            (
                "fleetdrill toolchain export toolchain.tar.gz",
                "all that fleets need, to build it once and not everywhere",
            ),
            ("fleetdrill toolchain export kubefleet.tar.gz kubefleet=v0.3.1", "one version, e.g. a build of your own"),
        ],
    ),
    (
        "toolchain import",
        &[
            ("fleetdrill toolchain import toolchain.tar.gz", "on another machine, without Go"),
            (
                "fleetdrill toolchain import https://example.com/toolchain.tar.gz --sha256 9f86d081",
                "from where its owner has put it, with the checksum that the owner has published",
            ),
            ("fleetdrill toolchain import - --sha256 9f86d081", "from a pipe, with its checksum"),
        ],
    ),
    ("toolchain remove", &[("fleetdrill toolchain remove kubefleet v0.3.1", "remove one version from the cache")]),
    (
        "config",
        &[
            ("fleetdrill config", "each setting with its value and what gives it, and the waivers"),
            ("fleetdrill config run --members 5", "the settings of a command line, which isn't run"),
        ],
    ),
    (
        "completions",
        &[
            ("fleetdrill completions bash", "to be written to ~/.local/share/bash-completion/completions/fleetdrill"),
            ("fleetdrill completions fish", "to be written to ~/.config/fish/completions/fleetdrill.fish"),
        ],
    ),
    ("man", &[("fleetdrill man man1", "a page for each command, in the directory man1")]),
];

/// An environment variable, what it holds, and the commands that it matters to, with their subcommands.
type EnvironmentVariable = (&'static str, &'static str, &'static [&'static str]);

/// The environment variables that fleetdrill reads.
const VARIABLES: &[EnvironmentVariable] = &[
    (
        "FLEETDRILL_STATE_DIR",
        "where fleets, exercises and scores are kept; fleetdrill in the XDG state directory by default",
        &["run", "upgrade", "up", "status", "down", "diagnose", "collect", "accuracy", "train"],
    ),
    (
        "FLEETDRILL_CACHE_DIR",
        "where built components are kept; fleetdrill in the XDG cache directory by default",
        &["run", "upgrade", "up", "accuracy", "train", "toolchain"],
    ),
    (
        "FLEETDRILL_CONFIG",
        "the configuration file to use without --config; `fleetdrill config` shows the variables of its settings",
        &["run", "upgrade", "list", "up", "diagnose", "who", "collect", "accuracy", "train", "config"],
    ),
    ("FLEETDRILL_LOG", "which logs are shown, e.g. `info,kube=debug`", &["run"]),
    (
        "KUBECONFIG",
        "the kubeconfig to use without --kubeconfig; ~/.kube/config by default",
        &["run", "job", "down", "diagnose", "collect", "train"],
    ),
    ("FLEETDRILL_ASCII", "1 for --ascii", &[]),
    ("NO_COLOR", "1 for no colours", &[]),
];

/// The command line with examples and environment variables below each command's help.
#[must_use]
pub fn command() -> Command {
    completed(Cli::command(), "")
}

/// Adds the examples and variables of a command and its subcommands; `path` is the names of the commands above it.
fn completed(command: Command, above: &str) -> Command {
    let path = match above {
        "" if command.get_name() == "fleetdrill" => String::new(),
        "" => command.get_name().to_owned(),
        above => format!("{above} {}", command.get_name()),
    };
    let exit_codes = command.get_after_help().map(|text| format!("\n{text}\n")).unwrap_or_default();
    let text = format!("{}\n{}{exit_codes}", examples(&path), variables(&path));
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command =
        names.into_iter().fold(command, |command, name| command.mut_subcommand(name, |sub| completed(sub, &path)));
    command.after_help(text.trim_end().to_owned())
}

/// The examples of a command as text; nothing where it has none.
fn examples(path: &str) -> String {
    let mut text = String::new();
    let known = if path.is_empty() { "fleetdrill" } else { path };
    for (_, examples) in EXAMPLES.iter().filter(|(name, _)| *name == known) {
        text.push_str("Examples:\n");
        for (line, what) in *examples {
            let _ = writeln!(text, "  {line}\n      {what}");
        }
    }
    text
}

/// The environment variables that matter to a command as text. The command without a subcommand lists all of them.
fn variables(path: &str) -> String {
    let first = path.split(' ').next().unwrap_or_default();
    let mut text = "Environment:\n".to_owned();
    for (name, what, commands) in VARIABLES {
        if path.is_empty() || commands.is_empty() || commands.contains(&first) {
            let _ = writeln!(text, "  {name}\n      {what}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    /// Every command with the names of the commands above it, the topmost one as `fleetdrill`.
    fn commands(command: &Command, path: &str) -> Vec<(String, Command)> {
        let mut all = vec![(if path.is_empty() { "fleetdrill" } else { path }.to_owned(), command.clone())];
        for sub in command.get_subcommands() {
            all.extend(commands(sub, format!("{path} {}", sub.get_name()).trim()));
        }
        all
    }

    fn help(command: &Command) -> String {
        command.get_after_help().map(ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn every_command_has_an_example_that_fleetdrill_takes() {
        for (path, command) in commands(&command(), "") {
            let text = help(&command);
            let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  fleetdrill ")).collect();
            assert!(text.starts_with("Examples:\n") && !lines.is_empty(), "{path}: {text}");
            for line in lines {
                let words = shlex::split(&format!("fleetdrill {line}")).expect("a shell takes it");
                let parsed = super::command().try_get_matches_from(&words).and_then(|m| Cli::from_arg_matches(&m));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                let is_about = path == "fleetdrill" || format!("{line} ").starts_with(&format!("{path} "));
                assert!(is_about, "`{line}` is an example of `{path}`");
            }
        }
    }

    #[test]
    fn every_example_and_variable_is_about_a_command() {
        let known: Vec<String> = commands(&command(), "").into_iter().map(|(path, _)| path).collect();
        let named =
            EXAMPLES.iter().map(|(path, _)| *path).chain(VARIABLES.iter().flat_map(|(_, _, of)| of.iter().copied()));
        for path in named {
            assert!(known.iter().any(|known| known == path), "{path}");
        }
    }

    #[test]
    fn the_help_of_a_command_names_the_variables_that_it_reads() {
        let all = commands(&command(), "");
        let of = |path: &str| help(&all.iter().find(|(known, _)| known == path).expect("a command").1);
        assert!(of("train start").contains("FLEETDRILL_STATE_DIR"));
        assert!(!of("explain").contains("FLEETDRILL_STATE_DIR"));
        assert!(VARIABLES.iter().all(|(name, ..)| of("fleetdrill").contains(name)));
    }
}
