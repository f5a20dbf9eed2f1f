//! Configuration of a command: what the file and the environment give.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::Command;
use rustix::process::geteuid;

use super::error::{ConfigError, ConfigPlace};
use super::file::{self, ConfiguredValue};
use super::location::SearchDirectories;
use super::setting::{SETTINGS, Setting, ValueKind};
use super::value_check;
use super::waivers::ConfiguredWaiver;

/// Prefix of the environment variables that fleetdrill reads.
const PREFIX: &str = "FLEETDRILL_";

/// Surroundings of a command that configure it.
#[derive(Clone, Debug, Default)]
pub struct ConfigSources {
    /// Directories in which the file is looked for.
    pub directories: SearchDirectories,
    /// Environment variables whose names begin with `FLEETDRILL_`.
    pub variables: BTreeMap<String, String>,
}

impl ConfigSources {
    /// Sources of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| name.starts_with(PREFIX))?;
            Some((name, value.to_string_lossy().into_owned()))
        });
        Self { directories: SearchDirectories::of_process(), variables: variables.collect() }
    }
}

/// What the file and the environment give.
#[derive(Debug, Default)]
pub struct Configuration {
    /// Path of the file, as it is shown; none if there is no file.
    pub file: Option<PathBuf>,
    /// Paths at which the file was looked for.
    pub searched: Vec<PathBuf>,
    /// Waivers of the file.
    pub waivers: Vec<ConfiguredWaiver>,
    /// Values of the environment, and then those of the file.
    values: Vec<ConfiguredValue>,
}

/// True if a file is another user's, and not root's. Whoever works in a directory such as `/tmp` mustn't be configured by others.
fn is_foreign(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.uid() != 0 && file.uid() != geteuid().as_raw())
}

impl Configuration {
    /// Reads the configuration. `named` is the file that the command line or the environment names; `command` has the options.
    ///
    /// # Errors
    /// Returns an error if the named file can't be read, or if something in the file or the environment is wrong.
    pub fn read(sources: &ConfigSources, named: Option<&Path>, command: &Command) -> Result<Self, ConfigError> {
        let directories = &sources.directories;
        let candidates = if named.is_some() { Vec::new() } else { directories.candidates() };
        let found = match named {
            Some(path) => Some(directories.current.join(path)),
            None => candidates.iter().find(|path| path.is_file()).cloned(),
        };
        let searched = candidates.iter().map(|path| directories.shown(path)).collect();
        let mut configuration = Self { searched, values: of_environment(&sources.variables), ..Self::default() };
        if let Some(path) = found {
            let shown = directories.shown(&path);
            if named.is_none() && is_foreign(&path) {
                return Err(ConfigError::Foreign { path: shown });
            }
            let file = file::read(&path, &shown, directories.home.as_deref())?;
            configuration.file = Some(shown);
            configuration.waivers = file.waivers;
            configuration.values.extend(file.values);
        }
        configuration.values.iter().try_for_each(|value| value_check::check(command, value))?;
        Ok(configuration)
    }

    /// Value of a setting: of the environment, or else of the file.
    #[must_use]
    pub fn value(&self, setting: &Setting) -> Option<&ConfiguredValue> {
        self.values.iter().find(|value| value.setting == setting)
    }
}

/// Returns the settings that environment variables give. An empty variable gives nothing.
fn of_environment(variables: &BTreeMap<String, String>) -> Vec<ConfiguredValue> {
    let values = SETTINGS.iter().filter_map(|setting| {
        let name = setting.variable()?;
        let value = variables.get(&name).filter(|value| !value.trim().is_empty())?;
        let values = match setting.kind {
            ValueKind::MemberContexts => value.split(',').map(|member| member.trim().to_owned()).collect(),
            _ => vec![value.clone()],
        };
        Some(ConfiguredValue { setting, values, place: ConfigPlace::Variable(name) })
    });
    values.collect()
}
