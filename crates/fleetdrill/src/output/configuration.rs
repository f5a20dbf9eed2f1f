//! The configuration as text: each setting with its value and what gives it, and the waivers.

use std::path::PathBuf;

use jiff::civil::Date;
use report::text::TextPage;
use report::text::style::{BOLD, ERROR, PLAIN, WARNING};
use serde::Serialize;

use crate::config::ConfiguredWaiver;
use crate::config::effective::{EffectiveSetting, ValueOrigin};

/// Configuration as a program gets it.
#[derive(Debug, Serialize)]
pub struct ConfigurationReport {
    /// Path of the file; none if there is no file.
    pub file: Option<PathBuf>,
    /// Paths at which the file was looked for.
    pub searched: Vec<PathBuf>,
    /// The settings.
    pub settings: Vec<ReportedSetting>,
    /// The waivers.
    pub waivers: Vec<ReportedWaiver>,
}

/// Setting of a report.
#[derive(Debug, Serialize)]
pub struct ReportedSetting {
    section: &'static str,
    key: &'static str,
    option: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<String>,
    commands: &'static [&'static str],
    /// The value; empty if nothing gives one and the option has no default of its own.
    values: Vec<String>,
    source: ValueOrigin,
    /// What applies if there is no value.
    #[serde(skip)]
    unset: &'static str,
}

/// Waiver of a report.
#[derive(Debug, Serialize)]
pub struct ReportedWaiver {
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    reason: String,
    until: Date,
    /// Days after today on which the waiver counts; negative if it has expired.
    days_left: i64,
    expired: bool,
    source: ValueOrigin,
}

impl From<EffectiveSetting> for ReportedSetting {
    fn from(EffectiveSetting { setting, values, origin }: EffectiveSetting) -> Self {
        Self {
            section: setting.section,
            key: setting.key,
            option: format!("--{}", setting.option),
            variable: setting.variable(),
            commands: setting.commands,
            values,
            source: origin,
            unset: setting.unset,
        }
    }
}

impl ReportedWaiver {
    /// Returns a waiver as it stands on a day.
    #[must_use]
    pub fn on(today: Date, ConfiguredWaiver { waiver, place }: &ConfiguredWaiver) -> Self {
        Self {
            code: waiver.code.to_string(),
            object: waiver.object.as_ref().map(|object| object.as_str().to_owned()),
            member: waiver.member.as_ref().map(|member| member.as_str().to_owned()),
            reason: waiver.reason.clone(),
            until: waiver.until,
            days_left: waiver.until.duration_since(today).as_hours() / 24,
            expired: !waiver.counts_on(today),
            source: place.into(),
        }
    }

    fn subject(&self) -> String {
        let object = self.object.as_deref().unwrap_or("all objects");
        let member = self.member.as_ref().map(|member| format!(" on {member}")).unwrap_or_default();
        format!("{object}{member}")
    }
}

/// Returns the report as text with colours, wrapped to a width.
#[must_use]
pub fn render(report: &ConfigurationReport, width: usize) -> String {
    let mut page = TextPage::new(width);
    let searched = || report.searched.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let file = report.file.as_ref().map(|path| path.display().to_string());
    page.item("file: ", BOLD, 2, &file.unwrap_or_else(|| format!("none; looked for {}", searched())));
    write_settings(&mut page, &report.settings);
    if !report.waivers.is_empty() {
        page.blank();
        page.item("waivers:", BOLD, 2, "");
        page.indented(2, |page| report.waivers.iter().for_each(|waiver| write_waiver(page, waiver)));
    }
    page.finish()
}

/// Writes the settings in three columns, each section below its name.
fn write_settings(page: &mut TextPage, settings: &[ReportedSetting]) {
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or_default() + 2;
    let keys = widest(&mut settings.iter().map(|setting| setting.key.chars().count()));
    let values = widest(&mut settings.iter().map(|setting| value(setting).chars().count()));
    let mut section = "";
    for setting in settings {
        if std::mem::replace(&mut section, setting.section) != setting.section {
            page.blank();
            page.item(&format!("[{section}]"), BOLD, 2, "");
        }
        let line = format!("{:keys$}{:values$}{}", setting.key, value(setting), source(&setting.source));
        page.indented(2, |page| page.unwrapped(&line));
    }
}

fn value(setting: &ReportedSetting) -> String {
    if setting.values.is_empty() { setting.unset.to_owned() } else { setting.values.join(", ") }
}

fn source(origin: &ValueOrigin) -> String {
    match origin {
        ValueOrigin::Option => "command line".to_owned(),
        ValueOrigin::Environment { variable } => format!("environment variable {variable}"),
        ValueOrigin::File { path, line } => format!("{}:{line}", path.display()),
        ValueOrigin::Default => "default".to_owned(),
    }
}

fn write_waiver(page: &mut TextPage, waiver: &ReportedWaiver) {
    let (style, state) = match waiver.days_left {
        _ if waiver.expired => (ERROR, format!("expired on {}", waiver.until)),
        0 => (WARNING, format!("until {}, today", waiver.until)),
        1 => (WARNING, format!("until {}, 1 day left", waiver.until)),
        days => (PLAIN, format!("until {}, {days} days left", waiver.until)),
    };
    let text = format!("{}, {state} ({})", waiver.subject(), source(&waiver.source));
    page.item(&format!("{} ", waiver.code), style, 2, &text);
    page.indented(2, |page| page.text(&waiver.reason));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use report::text::style::WIDTH;

    use super::*;
    use crate::config::configuration::ConfigSources;
    use crate::config::location::SearchDirectories;
    use crate::config::{Configuration, effective};
    use crate::help;

    const FILE: &str = "[fleet]\nmembers = 2\nkubefleet = 'v0.14.0'\n\n[contexts]\nhub = 'prod-hub'\n\
        members = { east = 'aks-east', west = 'aks-west' }\n\n\
        [[waivers]]\ncode = 'KF-AP-004'\nobject = 'ClusterResourcePlacement/web'\nmember = 'east'\n\
        reason = 'the team edits it by hand until the shop has moved'\nuntil = 2027-01-31\n\n\
        [[waivers]]\ncode = 'KF-WS-001'\nreason = 'repaired with the next release'\nuntil = 2026-11-01\n\n\
        [[waivers]]\ncode = 'KF-WS-001'\nreason = 'repaired today'\nuntil = 2026-11-28\n";

    fn report(file: &str) -> ConfigurationReport {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("team.toml"), file).unwrap();
        let directories = SearchDirectories { current: directory.path().to_owned(), home: None };
        let variables = [("FLEETDRILL_JOBS".to_owned(), "4".to_owned())].into();
        let sources = ConfigSources { directories, variables };
        let named = (!file.is_empty()).then_some(Path::new("team.toml"));
        let configuration = Configuration::read(&sources, named, &help::command()).unwrap();
        let settings = effective::of_all_commands(&configuration, &help::command());
        let today = "2026-11-28".parse().unwrap();
        ConfigurationReport {
            settings: settings.into_iter().map(Into::into).collect(),
            waivers: configuration.waivers.iter().map(|waiver| ReportedWaiver::on(today, waiver)).collect(),
            file: configuration.file,
            searched: configuration.searched,
        }
    }

    #[test]
    fn a_file_with_waivers() {
        let text = render(&report(FILE), WIDTH);
        insta::assert_snapshot!(anstream::adapter::strip_str(&text));
    }

    #[test]
    fn without_a_file() {
        let text = render(&report(""), WIDTH);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.starts_with("file: none; looked for fleetdrill.toml\n\n[fleet]\n"), "{text}");
    }

    #[test]
    fn for_programs() {
        let mut report = report(FILE);
        report.settings.retain(|setting| ["members", "hub", "jobs", "timeout"].contains(&setting.key));
        insta::assert_json_snapshot!(report);
    }
}
