//! Tests of the configuration.

mod command_line;
mod file;

use std::path::Path;

use super::error::ConfigError;
use super::file::{ConfigFile, TomlText};
use super::setting::SETTINGS;

/// Parses a file `fleetdrill.toml` in the directory `/team`.
fn parse(text: &str) -> Result<ConfigFile, ConfigError> {
    let (path, directory, home) = (Path::new("fleetdrill.toml"), Path::new("/team"), Some(Path::new("/me")));
    ConfigFile::parse(TomlText { text, path, directory, home })
}

#[test]
fn the_docs_list_every_setting_with_its_commands() {
    let docs = include_str!("../../../../../docs/configuration.md");
    for setting in SETTINGS {
        let variable = setting.variable().map(|variable| format!(" `{variable}`")).unwrap_or_default();
        let commands: Vec<String> = setting.commands.iter().map(|command| format!("`{command}`")).collect();
        let row = format!("\n| `{}` |{variable} | {} | ", setting.key, commands.join(", "));
        assert_eq!(docs.matches(&row).count(), 1, "{row}");
    }
}
