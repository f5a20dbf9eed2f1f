//! Settings that apply, each with its value and what gives it.

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use serde::Serialize;

use super::command_line::{innermost, option_of};
use super::configuration::Configuration;
use super::error::ConfigPlace;
use super::setting::{SETTINGS, Setting};
use super::usage::{ParsedLine, used_without_options};

/// What gives a setting its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "from")]
pub enum ValueOrigin {
    /// Option on the command line.
    Option,
    /// Environment variable.
    Environment {
        /// Name of the variable.
        variable: String,
    },
    /// The file.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Line of the key.
        line: usize,
    },
    /// Nothing: the default.
    Default,
}

impl From<&ConfigPlace> for ValueOrigin {
    fn from(place: &ConfigPlace) -> Self {
        match place {
            ConfigPlace::File { path, line, .. } => Self::File { path: path.clone(), line: *line },
            ConfigPlace::Variable(name) => Self::Environment { variable: name.clone() },
        }
    }
}

/// Setting with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveSetting {
    /// The setting.
    pub setting: &'static Setting,
    /// The value; empty if nothing gives one and the option has no default.
    pub values: Vec<String>,
    /// What gives the value.
    pub origin: ValueOrigin,
}

/// Returns all settings, as they apply to commands without options.
#[must_use]
pub fn of_all_commands(configuration: &Configuration, command: &Command) -> Vec<EffectiveSetting> {
    let settings = SETTINGS.iter().map(|setting| match used_without_options(configuration, setting) {
        Some(value) => EffectiveSetting { setting, values: value.values.clone(), origin: (&value.place).into() },
        None => default_of(setting, setting.commands[0], command),
    });
    once_each(settings.collect())
}

/// Returns the settings that a command line uses. `matches` is the command line as it is parsed without the configuration.
#[must_use]
pub fn of_command_line(
    configuration: &Configuration,
    command: &Command,
    matches: &ArgMatches,
) -> Vec<EffectiveSetting> {
    let (name, options) = innermost(matches);
    let line = ParsedLine { command: &name, matches: options, configuration };
    let settings = SETTINGS.iter().filter(|setting| setting.commands.contains(&name.as_str())).filter_map(|setting| {
        // `--members` is a number or a pattern, by the fleet.
        if line.gives(setting.option) && (setting.option != "members" || line.needs(setting)) {
            let given = options.get_raw(&setting.option.replace('-', "_")).into_iter().flatten();
            let values = given.map(|value| value.to_string_lossy().into_owned()).collect();
            return Some(EffectiveSetting { setting, values, origin: ValueOrigin::Option });
        }
        if let Some(value) = line.used(setting) {
            return Some(EffectiveSetting { setting, values: value.values.clone(), origin: (&value.place).into() });
        }
        line.needs(setting).then(|| default_of(setting, &name, command))
    });
    once_each(settings.collect())
}

fn default_of(setting: &'static Setting, name: &str, command: &Command) -> EffectiveSetting {
    let option = option_of(command, name, setting.option);
    let values = option.into_iter().flat_map(clap::Arg::get_default_values);
    let values = values.map(|value| value.to_string_lossy().into_owned()).collect();
    EffectiveSetting { setting, values, origin: ValueOrigin::Default }
}

/// Leaves out the defaults of options that share their key with another setting.
fn once_each(settings: Vec<EffectiveSetting>) -> Vec<EffectiveSetting> {
    let shares = |at: usize, one: &EffectiveSetting| {
        settings.iter().enumerate().any(|(other_at, other)| {
            let is_shown = other.origin != ValueOrigin::Default || other_at < at;
            other_at != at && is_shown && other.setting.path() == one.setting.path()
        })
    };
    let left_out: Vec<bool> = settings
        .iter()
        .enumerate()
        .map(|(at, setting)| setting.origin == ValueOrigin::Default && shares(at, setting))
        .collect();
    settings.into_iter().zip(left_out).filter(|(_, left_out)| !left_out).map(|(setting, _)| setting).collect()
}
