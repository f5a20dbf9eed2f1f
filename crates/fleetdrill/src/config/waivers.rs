//! Waivers in the configuration file: failures that are accepted until a day.

use diagnosis::{FailureCode, ObjectPattern, Waiver};
use jiff::civil::Date;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ConfigPlace, ConfigProblem};
use super::file::{TomlText, entries};
use super::setting::WAIVERS;
use crate::failure_codes;

/// Keys of a waiver.
const KEYS: &[&str] = &["code", "object", "member", "reason", "until"];

/// Waiver with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredWaiver {
    /// The waiver.
    pub waiver: Waiver,
    /// Place of the waiver.
    pub place: ConfigPlace,
}

/// Returns the waivers that count on a day.
#[must_use]
pub fn counting_on(waivers: &[ConfiguredWaiver], day: Date) -> Vec<Waiver> {
    let counting = waivers.iter().filter(|configured| configured.waiver.counts_on(day));
    counting.map(|configured| configured.waiver.clone()).collect()
}

/// Parses the list of waivers.
pub(super) fn parse(text: TomlText<'_>, list: &Spanned<DeValue<'_>>) -> Result<Vec<ConfiguredWaiver>, ConfigError> {
    let expected = "a list of tables: write [[waivers]] above each waiver";
    let DeValue::Array(waivers) = list.get_ref() else {
        return Err(text.wrong_type(WAIVERS.to_owned(), expected, list));
    };
    let mut parsed = Vec::new();
    for waiver in waivers {
        let DeValue::Table(table) = waiver.get_ref() else {
            return Err(text.wrong_type(WAIVERS.to_owned(), expected, waiver));
        };
        parsed.push(parse_one(text, waiver.span().start, table)?);
    }
    Ok(parsed)
}

fn parse_one(text: TomlText<'_>, start: usize, table: &DeTable<'_>) -> Result<ConfiguredWaiver, ConfigError> {
    let (mut code, mut object, mut member, mut reason, mut until) = (None, None, None, None, None);
    for (key, value) in entries(table) {
        match key.get_ref().as_ref() {
            "code" => code = Some(failure_code(text, value)?),
            "object" => object = Some(pattern(text, "object", value)?),
            "member" => member = Some(pattern(text, "member", value)?),
            "reason" => reason = Some(string(text, "reason", value)?),
            "until" => until = Some(date(text, value)?),
            _ => return Err(text.unknown_key(WAIVERS, key, KEYS.to_vec())),
        }
    }
    let missing = |key| text.error(start, ConfigProblem::Missing(key));
    let waiver = Waiver {
        code: code.ok_or_else(|| missing("code"))?,
        object,
        member,
        reason: reason.ok_or_else(|| missing("reason"))?,
        until: until.ok_or_else(|| missing("until"))?,
    };
    Ok(ConfiguredWaiver { waiver, place: text.place(start) })
}

fn path(key: &str) -> String {
    format!("{WAIVERS}.{key}")
}

/// Returns a text that isn't blank.
fn string(text: TomlText<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Result<String, ConfigError> {
    let DeValue::String(string) = value.get_ref() else { return Err(text.wrong_type(path(key), "a string", value)) };
    match string.trim() {
        "" => Err(text.error(value.span().start, ConfigProblem::Empty(path(key)))),
        trimmed => Ok(trimmed.to_owned()),
    }
}

fn failure_code(text: TomlText<'_>, value: &Spanned<DeValue<'_>>) -> Result<FailureCode, ConfigError> {
    let code = string(text, "code", value)?;
    failure_codes::check(&code)
        .map_err(|unknown| text.error(value.span().start, ConfigProblem::UnknownCode(unknown)))?;
    Ok(FailureCode(code))
}

fn pattern(text: TomlText<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Result<ObjectPattern, ConfigError> {
    let string = string(text, key, value)?;
    let refused = |reason: String| {
        let problem = ConfigProblem::BadValue { key: path(key), value: string.clone(), reason };
        text.error(value.span().start, problem)
    };
    if key == "object" && !string.contains(['/', '*']) {
        return Err(refused("an object is Kind/name or Kind/namespace/name, e.g. ClusterResourcePlacement/web".into()));
    }
    ObjectPattern::new(&string).map_err(|error| refused(error.msg.to_owned()))
}

fn date(text: TomlText<'_>, value: &Spanned<DeValue<'_>>) -> Result<Date, ConfigError> {
    let expected = "a date without quotes and without a time, e.g. 2027-01-31";
    let wrong = || text.wrong_type(path("until"), expected, value);
    let DeValue::Datetime(at) = value.get_ref() else { return Err(wrong()) };
    let (Some(date), None, None) = (at.date, at.time, at.offset) else { return Err(wrong()) };
    let parts = (i16::try_from(date.year), i8::try_from(date.month), i8::try_from(date.day));
    let (Ok(year), Ok(month), Ok(day)) = parts else { return Err(wrong()) };
    Date::new(year, month, day).map_err(|error| {
        let problem = ConfigProblem::BadValue { key: path("until"), value: at.to_string(), reason: error.to_string() };
        text.error(value.span().start, problem)
    })
}
