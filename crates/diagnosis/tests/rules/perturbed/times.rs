//! Snapshots at another time: all times in them are moved together.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use regex::Regex;
use serde_json::Value;

use super::{clusters, diagnose, map_texts, objects};

static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z").expect("a valid pattern"));

/// Seconds by which all times are moved: up to about three years.
pub fn shifts() -> impl Strategy<Value = i64> {
    -100_000_000_i64..100_000_000
}

pub fn same_at_another_time(fleet: &Value, shift: i64) -> Result<(), TestCaseError> {
    // A sync window is a schedule by the calendar and doesn't move.
    let mut all = clusters(fleet).iter().flat_map(objects);
    if all.any(|object| object.pointer("/spec/syncWindows").is_some()) {
        return Ok(());
    }
    prop_assert_eq!(diagnose(&shifted(fleet, shift)), shifted(&diagnose(&shifted(fleet, 0)), shift));
    Ok(())
}

fn shifted(value: &Value, seconds: i64) -> Value {
    let mut value = value.clone();
    let shift = |text: &str| {
        let moved = TIME.replace_all(text, |time: &regex::Captures<'_>| match time[0].parse::<Timestamp>() {
            Ok(time) => (time + SignedDuration::from_secs(seconds)).to_string(),
            Err(_) => time[0].to_owned(),
        });
        moved.into_owned()
    };
    map_texts(&mut value, |_| false, &shift);
    value
}
