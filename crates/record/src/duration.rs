//! Durations as people read them.

/// Formats a duration by its largest unit: `41 s`, `7 min`, `5 h` or `3 d`, rounded down. A unit is used from twice its
/// length on, and a negative duration counts as 0 s.
#[must_use]
pub fn duration_text(seconds: i64) -> String {
    match seconds.max(0) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::duration_text;

    #[test]
    fn the_unit_fits_the_length() {
        let texts = [-5, 41, 119, 120, 7_199, 7_200, 172_799, 172_800].map(duration_text);
        assert_eq!(texts, ["0 s", "41 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 d"]);
    }
}
