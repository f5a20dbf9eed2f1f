//! Settings that a command line uses. Some of its options make settings meaningless: a fleet that is up has its version, and a bundle has
//! no contexts.

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::configuration::Configuration;
use super::error::ConfigPlace;
use super::file::ConfiguredValue;
use super::setting::{BREAKING, SETTINGS, Setting, ValueKind};
use crate::fleet_source::options::ProviderName;

/// Command line that clap has parsed without the configuration.
#[derive(Clone, Copy)]
pub(super) struct ParsedLine<'a> {
    /// Names of the command and its subcommand, e.g. `train start`.
    pub command: &'a str,
    /// Options of the command.
    pub matches: &'a ArgMatches,
    pub configuration: &'a Configuration,
}

/// Rank of what gives a value: the highest one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Nothing,
    File,
    Environment,
    Option,
}

impl<'a> ParsedLine<'a> {
    /// True if the command line itself gives an option.
    pub(super) fn gives(self, option: &str) -> bool {
        let id = option.replace('-', "_");
        self.matches.try_contains_id(&id).unwrap_or(false)
            && self.matches.value_source(&id) == Some(ValueSource::CommandLine)
    }

    /// Returns the configured value that the command line uses; none if it gives the option, or doesn't need it.
    pub(super) fn used(self, setting: &Setting) -> Option<&'a ConfiguredValue> {
        let is_used = setting.commands.contains(&self.command)
            && !self.gives(setting.option)
            && self.needs(setting)
            && !self.is_outranked(setting, level(setting) + 1);
        self.configuration.value(setting).filter(|_| is_used)
    }

    /// Returns the members' contexts for `who`, which names one of the members.
    pub(super) fn known_members(self) -> &'a [String] {
        let setting = SETTINGS.iter().find(|setting| setting.kind == ValueKind::MemberContexts);
        let is_used = |setting: &Setting| self.needs(setting) && !self.is_outranked(setting, MEMBERS);
        let value = setting.filter(|setting| is_used(setting)).and_then(|setting| self.configuration.value(setting));
        value.map_or(&[], |value| &value.values)
    }

    fn is_outranked(self, setting: &Setting, below: u8) -> bool {
        is_outranked(self.configuration, setting, below, |other| self.gives(other.option))
    }

    /// True if the setting has a meaning beside the options of the command line.
    pub(super) fn needs(self, setting: &Setting) -> bool {
        let breaks = BREAKING.contains(&self.command);
        let is_existing = breaks && self.matches.get_one::<ProviderName>("provider") == Some(&ProviderName::Existing);
        // `up --fleet NAME` makes the fleet.
        let is_up = self.command != "up" && self.gives("fleet");
        match (setting.section, setting.key) {
            ("fleet", "argocd") if self.gives("argocd-manifests") => false,
            ("fleet", _) => !is_up && !is_existing,
            ("contexts", _) => !is_up && !self.gives("from") && (is_existing || !breaks),
            ("run", "tags") => !self.gives("select") && !self.gives("rerun"),
            _ => true,
        }
    }
}

/// True if an option of contexts below a level is given by something that ranks higher than what configures the setting: another
/// kubeconfig has other contexts, and another hub has other members.
fn is_outranked(
    configuration: &Configuration,
    setting: &Setting,
    below: u8,
    is_option: impl Fn(&Setting) -> bool,
) -> bool {
    let configured = |setting: &Setting| match configuration.value(setting).map(|value| &value.place) {
        Some(ConfigPlace::Variable(_)) => Rank::Environment,
        Some(ConfigPlace::File { .. }) => Rank::File,
        None => Rank::Nothing,
    };
    let rank = |other: &Setting| if is_option(other) { Rank::Option } else { configured(other) };
    let mut others = SETTINGS.iter().filter(|other| other.section == "contexts" && level(other) < below);
    setting.section == "contexts" && others.any(|other| rank(other) > configured(setting))
}

/// Returns the configured value that commands without options use.
pub(super) fn used_without_options<'a>(
    configuration: &'a Configuration,
    setting: &Setting,
) -> Option<&'a ConfiguredValue> {
    let is_used = !is_outranked(configuration, setting, level(setting) + 1, |_| false);
    configuration.value(setting).filter(|_| is_used)
}

/// Level of the options that name members.
const MEMBERS: u8 = 2;

/// Level of an option of contexts: each one depends on those below it.
fn level(setting: &Setting) -> u8 {
    match setting.option {
        "kubeconfig" => 0,
        "hub" => 1,
        _ => MEMBERS,
    }
}
