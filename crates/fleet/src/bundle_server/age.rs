//! Ages as `kubectl get` prints them.

use jiff::Timestamp;
use serde_json::Value;

/// Text for a time that is absent or no time.
const UNKNOWN: &str = "<unknown>";

/// Returns how long ago a time was, in one or two units: `45s`, `2m10s`, `5h3m`, `36h`, `4d`.
pub(super) fn age(since: &Value, now: Timestamp) -> String {
    let Some(since) = since.as_str().and_then(|text| text.parse::<Timestamp>().ok()) else { return UNKNOWN.to_owned() };
    let seconds = now.as_second() - since.as_second();
    // Clocks differ by a second now and then.
    if seconds < -1 { "<invalid>".to_owned() } else { duration(seconds.max(0).unsigned_abs()) }
}

/// Shortens a duration: fewer units the longer it is. The limits are those of `kubectl`, which clients expect.
fn duration(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let years = days / 365;
    if seconds < 120 {
        format!("{seconds}s")
    } else if minutes < 10 {
        two(minutes, "m", seconds % 60, "s")
    } else if hours < 3 {
        format!("{minutes}m")
    } else if hours < 8 {
        two(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if days < 8 {
        two(days, "d", hours % 24, "h")
    } else if years < 2 {
        format!("{days}d")
    } else if years < 8 {
        two(years, "y", days % 365, "d")
    } else {
        format!("{years}y")
    }
}

/// Writes two units, or one if there is nothing of the smaller one.
fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 { format!("{large}{large_unit}") } else { format!("{large}{large_unit}{small}{small_unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shortened_as_kubectl_does() {
        let days = |count: u64| count * 86_400;
        for (seconds, expected) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (130, "2m10s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (days(2), "2d"),
            (days(2) + 3600, "2d1h"),
            (days(8) + 3600, "8d"),
            (days(729), "729d"),
            (days(730), "2y"),
            (days(800), "2y70d"),
            (days(365 * 9), "9y"),
        ] {
            assert_eq!(duration(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn a_time_that_is_absent_or_in_the_future_has_no_age() {
        let now: Timestamp = "2026-11-21T02:10:00Z".parse().expect("a time");
        assert_eq!(age(&Value::Null, now), "<unknown>");
        assert_eq!(age(&"yesterday".into(), now), "<unknown>");
        assert_eq!(age(&"2026-11-21T02:11:00Z".into(), now), "<invalid>");
        assert_eq!(age(&"2026-11-21T02:09:15Z".into(), now), "45s");
    }
}
