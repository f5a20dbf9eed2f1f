//! Check of configured values with the parsers of the options that they are for.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command};

use super::command_line::option_of;
use super::error::{ConfigError, ConfigProblem, nearest};
use super::file::ConfiguredValue;
use super::setting::ValueKind;

/// Checks that every command which uses the setting takes its value.
///
/// # Errors
/// Returns an error with the place of the value if one doesn't.
pub(super) fn check(command: &Command, configured: &ConfiguredValue) -> Result<(), ConfigError> {
    let setting = configured.setting;
    let options = setting.commands.iter().filter_map(|of| option_of(command, of, setting.option));
    for option in options {
        for value in &configured.values {
            let is_number = setting.kind != ValueKind::Number || value.parse::<u64>().is_ok();
            let no_number = (!is_number).then(|| "it has to be a whole number, 0 or more".to_owned());
            if let Some(reason) = no_number.or_else(|| refusal(option, value)) {
                let problem = ConfigProblem::BadValue { key: setting.path(), value: value.clone(), reason };
                return Err(ConfigError::Invalid { place: configured.place.clone(), problem });
            }
        }
    }
    Ok(())
}

/// Returns why an option doesn't take a value. clap parses it as the value of an option without relations to others.
fn refusal(option: &Arg, value: &str) -> Option<String> {
    let alone = Arg::new("value").long("value").action(ArgAction::Set).value_parser(option.get_value_parser().clone());
    let command = Command::new("check").no_binary_name(true).arg(alone);
    let error = command.try_get_matches_from([format!("--value={value}")]).err()?;
    if let Some(ContextValue::Strings(valid)) = error.get(ContextKind::ValidValue)
        && !valid.is_empty()
    {
        let known: Vec<&str> = valid.iter().map(String::as_str).collect();
        let near = nearest(value, &known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Some(format!("the values are {}{near}", known.join(", ")));
    }
    Some(error.source().map_or_else(|| error.kind().to_string(), ToString::to_string))
}
