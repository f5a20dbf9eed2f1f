//! Reader of the configuration file.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::error::{ConfigError, ConfigPlace, ConfigProblem};
use super::setting::{SECTIONS, Setting, ValueKind, WAIVERS, of_section};
use super::waivers::{self, ConfiguredWaiver};
use crate::fleet_source::MembersFrom;

/// Content of the file.
#[derive(Debug)]
pub struct ConfigFile {
    /// Settings, in the file's order.
    pub values: Vec<ConfiguredValue>,
    /// Waivers, in the file's order.
    pub waivers: Vec<ConfiguredWaiver>,
}

/// Value that the file or the environment gives to a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredValue {
    /// The setting.
    pub setting: &'static Setting,
    /// The value, as the option takes it; several of an option that may be given several times.
    pub values: Vec<String>,
    /// Place that gives the value.
    pub place: ConfigPlace,
}

/// Text of a file with what its values need to be read.
#[derive(Clone, Copy)]
pub(super) struct TomlText<'a> {
    pub text: &'a str,
    /// Path of the file, as errors show it.
    pub path: &'a Path,
    /// Directory from which relative paths start.
    pub directory: &'a Path,
    /// The user's home, which `~/` stands for.
    pub home: Option<&'a Path>,
}

/// Key and value, in the file's order.
pub(super) type Entry<'a> = (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>);

/// Returns a table's entries in the order in which they are written.
pub(super) fn entries<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

impl ConfigFile {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// Returns an error for text that isn't TOML, for an unknown key, and for a value of another type than the key's.
    pub(super) fn parse(text: TomlText<'_>) -> Result<Self, ConfigError> {
        let table = DeTable::parse(text.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            text.error(start, ConfigProblem::Syntax(error.message().to_owned()))
        })?;
        let mut file = Self { values: Vec::new(), waivers: Vec::new() };
        for (name, value) in entries(table.get_ref()) {
            if name.get_ref() == WAIVERS {
                file.waivers = waivers::parse(text, value)?;
                continue;
            }
            let Some(section) = SECTIONS.iter().copied().find(|section| name.get_ref() == *section) else {
                return Err(text.error(name.span().start, ConfigProblem::UnknownSection(name.get_ref().to_string())));
            };
            let DeValue::Table(keys) = value.get_ref() else {
                return Err(text.wrong_type(section.to_owned(), "a table", value));
            };
            for entry in entries(keys) {
                file.values.push(text.setting(section, entry)?);
            }
        }
        Ok(file)
    }
}

impl TomlText<'_> {
    fn setting(self, section: &'static str, (key, value): Entry<'_>) -> Result<ConfiguredValue, ConfigError> {
        let of_key: Vec<&Setting> = of_section(section).filter(|setting| key.get_ref() == setting.key).collect();
        if of_key.is_empty() {
            return Err(self.unknown_key(section, key, of_section(section).map(|setting| setting.key).collect()));
        }
        for setting in &of_key {
            if let Some(values) = self.values(setting, value)? {
                let place = self.place(key.span().start);
                if values.iter().any(|value| value.trim().is_empty()) {
                    return Err(ConfigError::Invalid { place, problem: ConfigProblem::Empty(setting.path()) });
                }
                return Ok(ConfiguredValue { setting, values, place });
            }
        }
        let expected: Vec<&str> = of_key.iter().map(|setting| setting.kind.noun()).collect();
        Err(self.wrong_type(of_key[0].path(), &expected.join(" or "), value))
    }

    /// Returns the value as the option takes it; `None` if its type is another one.
    fn values(self, setting: &Setting, value: &Spanned<DeValue<'_>>) -> Result<Option<Vec<String>>, ConfigError> {
        Ok(match (setting.kind, value.get_ref()) {
            (ValueKind::Text, DeValue::String(text)) => Some(vec![text.to_string()]),
            (ValueKind::Path, DeValue::String(text)) => Some(vec![self.resolved(text)]),
            (ValueKind::MembersFrom, DeValue::String(text)) => {
                let is_path = matches!(text.parse(), Ok(MembersFrom::Path(_)));
                Some(vec![if is_path { self.resolved(text) } else { text.to_string() }])
            }
            (ValueKind::Number, DeValue::Integer(number)) => Some(vec![
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_or_else(|_| number.to_string(), |number| number.to_string()),
            ]),
            (ValueKind::MemberContexts, DeValue::Table(members)) => {
                let mut values = Vec::new();
                for (name, context) in entries(members) {
                    let DeValue::String(text) = context.get_ref() else {
                        let key = format!("{}.{}", setting.path(), name.get_ref());
                        return Err(self.wrong_type(key, "the name of a context", context));
                    };
                    values.push(format!("{}={text}", name.get_ref()));
                }
                Some(values)
            }
            _ => None,
        })
    }

    /// Returns a path of the file as it is from the file's directory on.
    fn resolved(self, path: &str) -> String {
        if path.is_empty() {
            return String::new();
        }
        let path = match (path.strip_prefix("~/"), self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => self.directory.join(path),
        };
        path.display().to_string()
    }

    pub(super) fn place(self, offset: usize) -> ConfigPlace {
        let before = &self.text[..offset.min(self.text.len())];
        let (above, in_line) = before.rsplit_once('\n').unwrap_or(("", before));
        let line = if before.contains('\n') { above.matches('\n').count() + 2 } else { 1 };
        ConfigPlace::File { path: self.path.to_owned(), line, column: in_line.chars().count() + 1 }
    }

    pub(super) fn error(self, offset: usize, problem: ConfigProblem) -> ConfigError {
        ConfigError::Invalid { place: self.place(offset), problem }
    }

    pub(super) fn unknown_key(
        self,
        section: &'static str,
        key: &Spanned<DeString<'_>>,
        mut known: Vec<&'static str>,
    ) -> ConfigError {
        known.dedup();
        let key_name = key.get_ref().to_string();
        self.error(key.span().start, ConfigProblem::UnknownKey { section, key: key_name, known })
    }

    pub(super) fn wrong_type(self, key: String, expected: &str, value: &Spanned<DeValue<'_>>) -> ConfigError {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(at) if at.time.is_some() => "a time",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        let problem = ConfigProblem::WrongType { key, expected: expected.to_owned(), found };
        self.error(value.span().start, problem)
    }
}

/// Reads a file.
///
/// # Errors
/// Returns an error if the file can't be read, or as [`ConfigFile::parse`] does.
pub(super) fn read(path: &Path, shown: &Path, home: Option<&Path>) -> Result<ConfigFile, ConfigError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable { path: shown.to_owned(), source })?;
    let directory = path.parent().unwrap_or(Path::new(""));
    ConfigFile::parse(TomlText { text: &text, path: shown, directory, home })
}
