//! Delays and faults of hollow members.

use std::time::Duration;

use glob::Pattern;
use serde::{Deserialize, Serialize};

use crate::error::FleetError;

/// Behaviour of all hollow members of a fleet. A later entry goes before an earlier one, field by field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HollowBehaviours {
    /// Behaviours of members; members that none of them is about have no delays and no faults.
    pub members: Vec<HollowBehaviour>,
}

/// Behaviour of some hollow members. A field that isn't set leaves what earlier entries say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HollowBehaviour {
    /// Names of the members, or patterns of names, e.g. `hollow-00*`.
    pub names: Vec<String>,
    /// False if the agents send no heartbeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeats: Option<bool>,
    /// False if the agents don't see Works: neither new and changed ones nor those that are being deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub works: Option<bool>,
    /// Seconds until a new or changed Work is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply_seconds: Option<f64>,
    /// Seconds from the moment when a Work is applied until its workloads are available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_seconds: Option<f64>,
    /// Images, or patterns of images, with which a workload never becomes available, e.g. `nginx:broken` or `*:broken`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_images: Option<Vec<String>>,
}

/// Behaviour of one hollow member.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberBehaviour {
    /// True if its agent sends heartbeats.
    pub heartbeats: bool,
    /// True if its agent sees Works.
    pub works: bool,
    /// Time until a new or changed Work is applied.
    pub apply: Duration,
    /// Time until the workloads of an applied Work are available.
    pub available: Duration,
    /// Images with which workloads never become available.
    failing_images: Vec<Pattern>,
}

impl HollowBehaviours {
    /// Checks patterns and times.
    ///
    /// # Errors
    /// Returns an error if a pattern can't be read, or if a time is negative or longer than a day.
    pub fn check(&self) -> Result<(), FleetError> {
        let wrong = |why: String| FleetError::unreadable("the behaviour of hollow members", why);
        for entry in &self.members {
            for text in entry.names.iter().chain(entry.failing_images.iter().flatten()) {
                Pattern::new(text).map_err(|e| wrong(format!("`{text}` is no pattern: {}", e.msg)))?;
            }
            for seconds in [entry.apply_seconds, entry.available_seconds].into_iter().flatten() {
                if !(0.0..=86400.0).contains(&seconds) {
                    return Err(wrong(format!("{seconds} is no number of seconds from 0 to 86400")));
                }
            }
        }
        Ok(())
    }

    /// Returns the behaviour of the member of this name.
    #[must_use]
    pub fn of(&self, member: &str) -> MemberBehaviour {
        let entries = || self.members.iter().rev().filter(|entry| entry.is_about(member));
        let time = |seconds: Option<f64>| seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()).unwrap_or_default();
        let images = entries().find_map(|entry| entry.failing_images.as_ref());
        MemberBehaviour {
            heartbeats: entries().find_map(|entry| entry.heartbeats).unwrap_or(true),
            works: entries().find_map(|entry| entry.works).unwrap_or(true),
            apply: time(entries().find_map(|entry| entry.apply_seconds)),
            available: time(entries().find_map(|entry| entry.available_seconds)),
            failing_images: images.into_iter().flatten().filter_map(|text| Pattern::new(text).ok()).collect(),
        }
    }
}

impl HollowBehaviour {
    /// True if the entry is about the member of this name.
    fn is_about(&self, member: &str) -> bool {
        self.names.iter().any(|name| name == member || Pattern::new(name).is_ok_and(|pattern| pattern.matches(member)))
    }
}

impl MemberBehaviour {
    /// True if a workload with this image never becomes available.
    #[must_use]
    pub fn fails(&self, image: &str) -> bool {
        self.failing_images.iter().any(|pattern| pattern.matches(image))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> HollowBehaviours {
        serde_json::from_str(text).expect("behaviours")
    }

    #[test]
    fn a_later_entry_goes_before_an_earlier_one_field_by_field() {
        let behaviours = read(
            r#"{"members": [
                {"names": ["hollow-00*"], "heartbeats": false, "apply_seconds": 1.5, "failing_images": ["*:broken"]},
                {"names": ["hollow-0007"], "heartbeats": true}
            ]}"#,
        );
        let (seventh, eighth) = (behaviours.of("hollow-0007"), behaviours.of("hollow-0008"));
        assert!(seventh.heartbeats && !eighth.heartbeats && eighth.works);
        assert_eq!((seventh.apply, seventh.available), (Duration::from_millis(1500), Duration::ZERO));
        assert!(seventh.fails("registry.example/web:broken") && !seventh.fails("web:1"));
        assert_eq!(behaviours.of("hollow-0100"), HollowBehaviours::default().of("hollow-0100"));
    }

    #[test]
    fn wrong_entries_are_named() {
        let error = |text: &str| read(text).check().expect_err("it is wrong").to_string();
        assert_eq!(
            error(r#"{"members": [{"names": ["a***"]}]}"#),
            "failed to read the behaviour of hollow members: `a***` is no pattern: wildcards are either regular `*` or \
             recursive `**`"
        );
        assert_eq!(
            error(r#"{"members": [{"names": ["*"], "apply_seconds": -1}]}"#),
            "failed to read the behaviour of hollow members: -1 is no number of seconds from 0 to 86400"
        );
        assert!(
            serde_json::from_str::<HollowBehaviours>(r#"{"members": [{"names": [], "hartbeats": true}]}"#).is_err()
        );
    }
}
