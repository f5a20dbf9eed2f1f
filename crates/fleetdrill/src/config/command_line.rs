//! Command line with the configuration's values as defaults of its options.
//!
//! The command line is parsed twice: without the configuration, to know the command and the options that are given, and with the values
//! that this command line uses as default values. clap neither looks for conflicts with default values nor requires other options for them.
//! Environment variables are default values as well: clap's own (`Arg::env`) would conflict with options, and a variable that is set for a
//! whole shell or job must not make a command line wrong.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, FromArgMatches as _};

use super::configuration::{ConfigSources, Configuration};
use super::error::ConfigError;
use super::setting::{SETTINGS, is_configured};
use super::usage::ParsedLine;
use crate::cli::Cli;
use crate::help;

/// Command line with its configuration.
#[derive(Debug)]
pub struct Invocation {
    /// The command with its options.
    pub cli: Cli,
    /// The configuration; empty for a command that uses none.
    pub configuration: Configuration,
}

/// Error of a command line or of its configuration.
#[derive(Debug)]
pub enum InvocationError {
    /// clap's error, help text or version.
    Usage(clap::Error),
    /// Error of the configuration.
    Config(ConfigError),
}

impl From<clap::Error> for InvocationError {
    fn from(error: clap::Error) -> Self {
        Self::Usage(error)
    }
}

impl From<ConfigError> for InvocationError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl Invocation {
    /// Parses a command line; its first word is the program's name.
    ///
    /// # Errors
    /// Returns an error if the command line is wrong or asks for help, or if the configuration is wrong.
    pub fn parse(line: &[OsString], sources: &ConfigSources) -> Result<Self, InvocationError> {
        let matches = help::command().try_get_matches_from(line)?;
        let (command, options) = innermost(&matches);
        if !is_configured(&command) {
            return Ok(Self { cli: Cli::from_arg_matches(&matches)?, configuration: Configuration::default() });
        }
        let named = matches.get_one::<PathBuf>("config");
        let configuration = Configuration::read(sources, named.map(PathBuf::as_path), &help::command())?;
        let line_options = ParsedLine { command: &command, matches: options, configuration: &configuration };
        let matches = with_defaults(help::command(), line_options).try_get_matches_from(line)?;
        Ok(Self { cli: Cli::from_arg_matches(&matches)?, configuration })
    }
}

/// Returns the names of the command that was called, and its options.
pub(super) fn innermost(matches: &ArgMatches) -> (String, &ArgMatches) {
    let (mut names, mut options) = (Vec::new(), matches);
    while let Some((name, below)) = options.subcommand() {
        names.push(name);
        options = below;
    }
    (names.join(" "), options)
}

/// Returns the option of a command that has a long name.
pub(super) fn option_of<'a>(command: &'a Command, path: &str, long: &str) -> Option<&'a Arg> {
    let of = path.split(' ').try_fold(command, |command, name| command.find_subcommand(name))?;
    of.get_arguments().find(|arg| arg.get_long() == Some(long))
}

/// Sets the values that the command line uses as default values of its options.
fn with_defaults(command: Command, line: ParsedLine<'_>) -> Command {
    let mut defaults = Vec::new();
    for value in SETTINGS.iter().filter_map(|setting| line.used(setting)) {
        let option = option_of(&command, line.command, value.setting.option);
        defaults.extend(option.map(|option| (option.get_id().clone(), value.values.clone())));
    }
    with_subcommand(command, line.command, |command| {
        let command = defaults
            .into_iter()
            .fold(command, |command, (id, values)| command.mut_arg(id, |arg| arg.default_values(values)));
        if line.command != "who" {
            return command;
        }
        let known = line.known_members().to_vec();
        command.mut_arg("member", |arg| arg.value_parser(move |text: &str| Ok::<_, String>(with_context(&known, text))))
    })
}

/// Changes a command by its names.
fn with_subcommand(command: Command, path: &str, change: impl FnOnce(Command) -> Command) -> Command {
    match path.split_once(' ') {
        Some((above, below)) => command.mut_subcommand(above, |command| command.mut_subcommand(below, change)),
        None => command.mut_subcommand(path, change),
    }
}

/// Returns `NAME=CONTEXT` for a member's name that is known.
fn with_context(known: &[String], member: &str) -> String {
    let named = known.iter().find(|known| known.split_once('=').is_some_and(|(name, _)| name == member));
    named.map_or_else(|| member.to_owned(), Clone::clone)
}
