//! Tests of precedence: options, environment variables, the file, defaults.

use std::ffi::OsString;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::cli::{CliCommand, RunArgs};
use crate::config::configuration::ConfigSources;
use crate::config::effective::{self, ValueOrigin};
use crate::config::location::SearchDirectories;
use crate::config::{Configuration, Invocation, InvocationError};
use crate::error::CommandError;
use crate::fleet_source::options::{ContextOptions, MembersValue, ReadableFleetOptions};
use crate::help;

/// Directory with a configuration file, and environment variables.
struct Surroundings {
    directory: TempDir,
    sources: ConfigSources,
}

impl Surroundings {
    fn new(file: &str, variables: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("fleetdrill.toml"), file).unwrap();
        let directories = SearchDirectories { current: directory.path().to_owned(), home: None };
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { directory, sources: ConfigSources { directories, variables } }
    }

    fn parse(&self, line: &str) -> Result<Invocation, InvocationError> {
        let words = shlex::split(&format!("fleetdrill {line}")).unwrap();
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        Invocation::parse(&words, &self.sources)
    }

    fn command(&self, line: &str) -> CliCommand {
        self.parse(line).unwrap_or_else(|error| panic!("{line}: {error:?}")).cli.command
    }

    fn run(&self, line: &str) -> RunArgs {
        match self.command(line) {
            CliCommand::Run(args) => args,
            other => panic!("{other:?}"),
        }
    }

    fn reading(&self, line: &str) -> ReadableFleetOptions {
        match self.command(line) {
            CliCommand::Diagnose(args) => args.target,
            CliCommand::Collect(args) => args.target,
            CliCommand::Who(args) => args.target(),
            other => panic!("{other:?}"),
        }
    }

    /// The settings of a command line, each with what gives it, without those that have their default.
    fn given(&self, line: &str) -> Vec<String> {
        let words = shlex::split(&format!("fleetdrill {line}")).unwrap();
        let matches = help::command().try_get_matches_from(words).unwrap();
        let configuration = self.configuration();
        let settings = effective::of_command_line(&configuration, &help::command(), &matches);
        let given = settings.into_iter().filter(|setting| setting.origin != ValueOrigin::Default);
        given.map(|given| format!("{}={} {:?}", given.setting.path(), given.values.join(","), given.origin)).collect()
    }

    fn configuration(&self) -> Configuration {
        Configuration::read(&self.sources, None, &help::command()).unwrap()
    }

    fn error(&self, line: &str) -> String {
        match self.parse(line) {
            Err(InvocationError::Config(error)) => CommandError::from(error).to_string(),
            other => panic!("{other:?}"),
        }
    }
}

fn contexts(options: &ContextOptions) -> String {
    let hub = options.hub.as_deref().unwrap_or("-");
    let kubeconfig =
        options.kubeconfig.as_ref().and_then(|path| path.file_name()).map_or("-".into(), |name| name.to_string_lossy());
    let members = match &options.members {
        Some(MembersValue::Pattern(pattern)) => pattern.clone(),
        Some(MembersValue::Count(count)) => count.to_string(),
        None => options.member.join(","),
    };
    format!("{kubeconfig} {hub} {members}")
}

#[test]
fn an_option_counts_more_than_a_variable_and_that_more_than_the_file() {
    let with = |variables: &[(&str, &str)]| Surroundings::new("[fleet]\nmembers = 2\n", variables);
    let members = |surroundings: &Surroundings, line: &str| surroundings.run(line).member_count();
    let (file, variable) = (with(&[]), with(&[("FLEETDRILL_MEMBERS", "4")]));
    assert_eq!([members(&file, "run"), members(&variable, "run")], [2, 4]);
    assert_eq!([members(&file, "run --members 5"), members(&variable, "run --members 5")], [5, 5]);
    assert_eq!(members(&with(&[("FLEETDRILL_MEMBERS", "")]), "run"), 2);
    assert_eq!(members(&Surroundings::new("", &[]), "run"), 3);
    let upgrade = "upgrade --from v0.14.0 --to v0.1.2";
    assert!(matches!(variable.command(upgrade), CliCommand::Upgrade(args) if args.members == 4));
}

#[test]
fn each_value_has_its_origin() {
    let file = "[fleet]\nmembers = 2\nkubefleet = 'v0.14.0'\n[run]\ntags = '@drill'\njobs = 3\n";
    let surroundings = Surroundings::new(file, &[("FLEETDRILL_JOBS", "4")]);
    let lines = [
        "run --members 5",
        "run --provider existing --members 'aks-*' --kubefleet v0.1.2",
        "upgrade --from v0.14.0 --to v0.1.2",
    ];
    let told = lines.map(|line| format!("{line}:\n{}\n", surroundings.given(line).join("\n")));
    insta::assert_snapshot!(told.join("\n"), @r#"
    run --members 5:
    fleet.kubefleet=v0.14.0 File { path: "fleetdrill.toml", line: 3 }
    fleet.members=5 Option
    run.tags=@drill File { path: "fleetdrill.toml", line: 5 }
    run.jobs=4 Environment { variable: "FLEETDRILL_JOBS" }

    run --provider existing --members 'aks-*' --kubefleet v0.1.2:
    fleet.kubefleet=v0.1.2 Option
    fleet.provider=existing Option
    contexts.members=aks-* Option
    run.tags=@drill File { path: "fleetdrill.toml", line: 5 }
    run.jobs=4 Environment { variable: "FLEETDRILL_JOBS" }

    upgrade --from v0.14.0 --to v0.1.2:
    fleet.members=2 File { path: "fleetdrill.toml", line: 2 }
    "#);
}

#[test]
fn options_that_are_given_are_in_no_conflict_with_the_file() {
    let file = "[fleet]\nmembers = 2\nkubefleet = 'v0.14.0'\nprovider = 'kind'\nargocd = 'v3.1'\n\
        [contexts]\nhub = 'prod-hub'\nmembers = 'aks-*'\n";
    let surroundings = Surroundings::new(file, &[("FLEETDRILL_KUBEFLEET", "v0.1.2")]);
    assert_eq!(surroundings.given("run --fleet web"), [""; 0]);
    assert_eq!(surroundings.given("diagnose --fleet web"), [""; 0]);
    assert_eq!(surroundings.given("diagnose --from bundle"), [""; 0]);
    let run = surroundings.run("run --fleet web");
    assert_eq!((run.fleet.as_deref(), run.source.new.version.named(), run.argocd), (Some("web"), None, None));
    assert_eq!(contexts(&run.source.contexts), "- - ");
    // A new fleet has no contexts.
    let new = surroundings.run("run");
    assert_eq!((contexts(&new.source.contexts), new.source.new.version.named()), ("- - 2".into(), Some("v0.1.2")));
}

#[test]
fn a_fleet_that_exists_has_the_contexts_of_the_file() {
    let file = "[fleet]\nmembers = 2\nkubefleet = 'v0.14.0'\n[contexts]\nhub = 'prod-hub'\n\
        members = { east = 'aks-east', west = 'aks-west' }\n";
    let surroundings = Surroundings::new(file, &[]);
    let run = surroundings.run("run --provider existing");
    assert_eq!(contexts(&run.source.contexts), "- prod-hub east=aks-east,west=aks-west");
    assert_eq!(run.source.new.version.named(), None);
    let named = surroundings.run("run --provider existing --members 'aks-*'");
    assert_eq!(contexts(&named.source.contexts), "- prod-hub aks-*");
}

#[test]
fn another_kubeconfig_has_other_contexts_and_another_hub_other_members() {
    let file = "[contexts]\nkubeconfig = 'fleet.yaml'\nhub = 'prod-hub'\nmembers = { east = 'aks-east' }\n";
    for (variables, line, expected) in [
        (&[][..], "diagnose", "fleet.yaml prod-hub east=aks-east"),
        (&[], "diagnose --member north", "fleet.yaml prod-hub north"),
        (&[], "collect --members 'x*'", "fleet.yaml prod-hub x*"),
        (&[], "diagnose --hub test", "fleet.yaml test "),
        (&[], "diagnose --kubeconfig other.yaml", "other.yaml - "),
        (&[("FLEETDRILL_HUB", "test")], "diagnose", "fleet.yaml test "),
        (&[("FLEETDRILL_HUB", "test"), ("FLEETDRILL_MEMBER", "a, b=c")], "diagnose", "fleet.yaml test a,b=c"),
        (&[("FLEETDRILL_MEMBERS_FROM", "aks-{name}")], "diagnose", "fleet.yaml prod-hub "),
    ] {
        let surroundings = Surroundings::new(file, variables);
        assert_eq!(contexts(&surroundings.reading(line).contexts), expected, "{line} {variables:?}");
    }
}

#[test]
fn what_is_shown_without_a_command_line_is_what_commands_use() {
    let file = "[contexts]\nhub = 'prod-hub'\nmembers = { east = 'aks-east' }\n";
    let shown = |variables: &[(&str, &str)]| {
        let configuration = Surroundings::new(file, variables).configuration();
        let settings = effective::of_all_commands(&configuration, &help::command());
        let contexts = settings.into_iter().filter(|shown| shown.setting.section == "contexts");
        contexts.map(|shown| format!("{}={}", shown.setting.key, shown.values.join(","))).collect::<Vec<_>>()
    };
    assert_eq!(shown(&[]), ["kubeconfig=", "hub=prod-hub", "members=east=aks-east", "members-from="]);
    assert_eq!(shown(&[("FLEETDRILL_HUB", "test")]), ["kubeconfig=", "hub=test", "members=", "members-from="]);
}

#[test]
fn who_knows_the_contexts_of_members_by_their_names() {
    let file = "[contexts]\nhub = 'prod-hub'\nmembers = { east = 'aks-east' }\n";
    let surroundings = Surroundings::new(file, &[]);
    let member = |line: &str| match surroundings.command(line) {
        CliCommand::Who(args) => args.member,
        other => panic!("{other:?}"),
    };
    assert_eq!(member("who cm/a --member east"), "east=aks-east");
    for line in ["who cm/a --member east --fleet web", "who cm/a --member east --hub test"] {
        assert_eq!(member(line), "east", "{line}");
    }
    assert_eq!(member("who cm/a --member west"), "west");
    assert_eq!(member("who cm/a --member east=other"), "east=other");
    assert_eq!(contexts(&surroundings.reading("who cm/a --member east").contexts), "- prod-hub ");
}

#[test]
fn tags_of_the_file_are_for_runs_that_name_no_scenarios() {
    let surroundings = Surroundings::new("[run]\ntags = '@drill'\nfeatures = 'own'\n", &[]);
    let tags = |line: &str| surroundings.run(line).scenarios.tags;
    assert_eq!(tags("run").as_deref(), Some("@drill"));
    assert_eq!(tags("run --tags @pods").as_deref(), Some("@pods"));
    assert_eq!([tags("run 'approval'"), tags("run --rerun run.json")], [None, None]);
    let features = surroundings.run("run approval").scenarios.features;
    assert_eq!(features, Some(surroundings.directory.path().join("own")));
}

#[test]
fn a_value_that_an_option_refuses_is_named_with_the_place_that_gives_it() {
    let errors = |file: &str, variables: &[(&str, &str)]| Surroundings::new(file, variables).error("run");
    let told = [
        errors("[fleet]\nmembers = 0\n", &[]),
        errors("[fleet]\nprovider = 'kid'\n", &[]),
        errors("[fleet]\nprovider = 'existing'\n", &[]),
        errors("[limits]\ntimeout = -1\n", &[]),
        errors("[contexts]\nmembers-from = 'clusterprofiles=aks'\n", &[]),
        errors("", &[("FLEETDRILL_MEMBERS", "aks-*")]),
        errors("", &[("FLEETDRILL_JOBS", "many")]),
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_command_without_settings_reads_no_file() {
    let surroundings = Surroundings::new("[flet]\n", &[]);
    for line in ["explain", "down", "status", "train list"] {
        surroundings.command(line);
    }
    for line in ["run", "diagnose", "config"] {
        assert_eq!(surroundings.error(line), "fleetdrill.toml:1:2: there is no section `flet`", "{line}");
    }
}

#[test]
fn the_file_may_be_named() {
    let surroundings = Surroundings::new("[flet]\n", &[]);
    std::fs::write(surroundings.directory.path().join("other.toml"), "[fleet]\nmembers = 7\n").unwrap();
    for line in ["--config other.toml run", "run --config other.toml"] {
        assert_eq!(surroundings.run(line).member_count(), 7, "{line}");
    }
    assert!(surroundings.error("run --config none.toml").starts_with("failed to read none.toml: No such file"));
    let parsed = surroundings.parse("config --config other.toml").unwrap().configuration;
    assert_eq!((parsed.file, parsed.searched), (Some(PathBuf::from("other.toml")), Vec::new()));
}
