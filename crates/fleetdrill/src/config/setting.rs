//! Settings that can be configured, each with the option and the commands that it is for.

/// Type of a setting's value in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// String.
    Text,
    /// Integer.
    Number,
    /// String: a path, from the file's directory on.
    Path,
    /// String: value of `--members-from`, which may be a path.
    MembersFrom,
    /// Table of members' names, each with its context.
    MemberContexts,
}

impl ValueKind {
    /// The type's name in an error.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Text | Self::Path | Self::MembersFrom => "a string",
            Self::Number => "an integer",
            Self::MemberContexts => "a table of names and contexts",
        }
    }
}

/// Setting that the file and the environment give to an option.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// Section of the file.
    pub section: &'static str,
    /// Key in the section.
    pub key: &'static str,
    /// Long name of the option.
    pub option: &'static str,
    /// Type of the value in the file.
    pub kind: ValueKind,
    /// Commands that use the setting.
    pub commands: &'static [&'static str],
    /// What applies if nothing gives a value, for options without a default of their own.
    pub unset: &'static str,
}

impl Setting {
    /// Name of the environment variable; none for a setting that shares its option with another one.
    #[must_use]
    pub fn variable(&self) -> Option<String> {
        let is_pattern = self.section == "contexts" && self.option == "members";
        (!is_pattern).then(|| format!("FLEETDRILL_{}", self.option.to_uppercase().replace('-', "_")))
    }

    /// Name with its section, e.g. `fleet.members`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }
}

/// Sections of settings, in the order in which they are shown.
pub const SECTIONS: &[&str] = &["fleet", "contexts", "run", "limits"];

/// Section of waivers, a list of tables.
pub const WAIVERS: &str = "waivers";

/// Commands that break things on a fleet that exists already, with `--provider existing`.
pub(super) const BREAKING: &[&str] = &["run", "train start"];

const READING: &[&str] = &["diagnose", "collect", "run", "train start"];

const READING_ANYTHING: &[&str] = &["diagnose", "collect", "who", "run", "train start"];

/// Shortens the table below.
const fn setting(
    (section, key): (&'static str, &'static str),
    option: &'static str,
    kind: ValueKind,
    commands: &'static [&'static str],
    unset: &'static str,
) -> Setting {
    Setting { section, key, option, kind, commands, unset }
}

/// All settings, in the order in which they are shown.
pub const SETTINGS: &[Setting] = {
    use ValueKind::{MemberContexts, MembersFrom, Number, Path, Text};
    &[
        setting(
            ("fleet", "kubefleet"),
            "kubefleet",
            Text,
            &["run", "up", "accuracy", "train start", "train verify"],
            "the toolchain's default version",
        ),
        setting(("fleet", "argocd"), "argocd", Text, &["run"], "the toolchain's default version"),
        setting(("fleet", "provider"), "provider", Text, &["up", "run", "train start"], ""),
        setting(("fleet", "members"), "members", Number, &["run", "upgrade", "up", "accuracy"], "3"),
        setting(("contexts", "kubeconfig"), "kubeconfig", Path, READING_ANYTHING, "KUBECONFIG or ~/.kube/config"),
        setting(("contexts", "hub"), "hub", Text, READING_ANYTHING, "the current context"),
        setting(("contexts", "members"), "member", MemberContexts, READING, "none"),
        setting(("contexts", "members"), "members", Text, READING, "none"),
        setting(("contexts", "members-from"), "members-from", MembersFrom, READING, "none"),
        setting(("run", "tags"), "tags", Text, &["run"], "all scenarios"),
        setting(("run", "features"), "features", Path, &["run", "upgrade", "list"], "the built-in ones"),
        setting(("run", "jobs"), "jobs", Number, &["run"], "32, with kind by processors"),
        setting(("limits", "timeout"), "timeout", Number, &["diagnose"], ""),
        setting(("limits", "from-limit"), "from-limit", Number, &["diagnose"], ""),
        setting(("limits", "limit"), "limit", Number, &["collect"], ""),
        setting(("limits", "time-limit"), "time-limit", Number, &["collect"], ""),
    ]
};

/// Returns the settings of a section.
pub fn of_section(section: &str) -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(move |setting| setting.section == section)
}

/// True if a command uses the configuration.
#[must_use]
pub fn is_configured(command: &str) -> bool {
    command == "config" || SETTINGS.iter().any(|setting| setting.commands.contains(&command))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::command_line::option_of;
    use crate::help;

    #[test]
    fn every_setting_has_its_option_on_each_of_its_commands() {
        let command = help::command();
        for setting in SETTINGS {
            for of in setting.commands {
                // `who --member` is one member, and required.
                assert!(option_of(&command, of, setting.option).is_some(), "{} on {of}", setting.option);
            }
            assert!(setting.section == "contexts" || setting.key == setting.option, "{}", setting.path());
        }
    }

    #[test]
    fn an_environment_variable_belongs_to_one_setting() {
        let mut variables: Vec<String> = SETTINGS.iter().filter_map(Setting::variable).collect();
        variables.sort();
        let count = variables.len();
        variables.dedup();
        assert_eq!(variables.len(), count, "{variables:?}");
        let mut sections: Vec<&str> = SETTINGS.iter().map(|setting| setting.section).collect();
        sections.dedup();
        assert_eq!(sections, SECTIONS);
    }
}
