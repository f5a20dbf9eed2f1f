//! `fleetdrill config`.

use std::ffi::OsString;

use clap::parser::ValueSource;
use jiff::civil::Date;
use report::text::style::OutputLayout;

use super::print_usage;
use crate::cli::{ConfigArgs, OutputFormat};
use crate::config::{Configuration, effective};
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::help;
use crate::output::configuration::{ConfigurationReport, ReportedWaiver, render};
use crate::output::data;

/// Prints the configuration as it is on a day.
pub(super) fn config(
    args: &ConfigArgs,
    configuration: Configuration,
    today: Date,
) -> Result<CommandExitCode, CommandError> {
    let command = help::command();
    let settings = if args.command_line.is_empty() {
        effective::of_all_commands(&configuration, &command)
    } else {
        let line = [OsString::from("fleetdrill")].into_iter().chain(args.command_line.iter().cloned());
        match command.clone().try_get_matches_from(line) {
            Ok(matches) if matches.value_source("config") == Some(ValueSource::CommandLine) => {
                let hint = "write it before the command: fleetdrill config --config FILE COMMAND";
                return Err(CommandError::usage(
                    "--config is an option of the command whose settings are shown",
                    Some(hint),
                ));
            }
            Ok(matches) => effective::of_command_line(&configuration, &command, &matches),
            Err(error) => return Ok(print_usage(&error)),
        }
    };
    let Configuration { file, searched, waivers, .. } = configuration;
    let report = ConfigurationReport {
        file,
        searched,
        settings: settings.into_iter().map(Into::into).collect(),
        waivers: waivers.iter().map(|waiver| ReportedWaiver::on(today, waiver)).collect(),
    };
    match args.output {
        OutputFormat::Text => data::print_text(&render(&report, OutputLayout::from_locale().width)),
        format => data::print(format, &report),
    }
    Ok(CommandExitCode::Fine)
}
