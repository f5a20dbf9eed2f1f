//! Faults of a network, and the toxics by which Toxiproxy makes them.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

/// Fault of a network between a client and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkFault {
    /// Everything is lost in both directions. Connections stay open, and new ones are accepted: nobody is told.
    LosesAll,
    /// What the client sends is lost.
    LosesRequests,
    /// What the server sends is lost.
    LosesAnswers,
    /// What is sent arrives later, in each direction.
    Delays {
        /// Delay of each direction.
        by: Duration,
        /// Largest difference from the delay, either way.
        jitter: Duration,
    },
    /// Each direction passes only so much.
    Slows {
        /// Rate in kB/s.
        kilobytes_per_second: u32,
    },
    /// Connections are reset as soon as the server sends something.
    Resets,
    /// Connections are closed when the server has sent so much.
    Closes {
        /// Data in kB.
        kilobytes: u32,
    },
    /// Connections are refused, and open ones closed.
    Refuses,
}

/// Direction in which a toxic works, in Toxiproxy's words.
const UP: &str = "upstream";

/// See [`UP`].
const DOWN: &str = "downstream";

impl NetworkFault {
    /// Toxics of the fault, as Toxiproxy's API takes them. None for a fault that isn't made by toxics.
    pub(super) fn toxics(self) -> Vec<Value> {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (kind, attributes, directions): (_, _, &[&str]) = match self {
            // A time of 0 keeps the connection open.
            Self::LosesAll => ("timeout", json!({"timeout": 0}), &[UP, DOWN]),
            Self::LosesRequests => ("timeout", json!({"timeout": 0}), &[UP]),
            Self::LosesAnswers => ("timeout", json!({"timeout": 0}), &[DOWN]),
            Self::Delays { by, jitter } => {
                ("latency", json!({"latency": milliseconds(by), "jitter": milliseconds(jitter)}), &[UP, DOWN])
            }
            Self::Slows { kilobytes_per_second } => ("bandwidth", json!({"rate": kilobytes_per_second}), &[UP, DOWN]),
            // With a time of its own, it drops what comes until then (v2.5.0).
            Self::Resets => ("reset_peer", json!({"timeout": 0}), &[DOWN]),
            Self::Closes { kilobytes } => ("limit_data", json!({"bytes": u64::from(kilobytes) * 1000}), &[DOWN]),
            Self::Refuses => return Vec::new(),
        };
        let toxic = |stream: &&str| json!({"name": format!("{kind}-{stream}"), "type": kind, "stream": stream, "attributes": attributes});
        directions.iter().map(toxic).collect()
    }
}

/// Completes the sentence "the network ...".
impl fmt::Display for NetworkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LosesAll => f.write_str("loses everything"),
            Self::LosesRequests => f.write_str("loses what the client sends"),
            Self::LosesAnswers => f.write_str("loses what the server sends"),
            Self::Delays { by, jitter } => {
                write!(f, "takes {} ms longer each way, give or take {} ms", by.as_millis(), jitter.as_millis())
            }
            Self::Slows { kilobytes_per_second } => write!(f, "passes {kilobytes_per_second} kB/s"),
            Self::Resets => f.write_str("resets connections"),
            Self::Closes { kilobytes } => write!(f, "closes each connection after {kilobytes} kB"),
            Self::Refuses => f.write_str("refuses connections"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_in_one_direction_has_one_toxic() {
        let streams = |fault: NetworkFault| -> Vec<String> {
            fault.toxics().iter().map(|toxic| toxic["stream"].as_str().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(streams(NetworkFault::LosesAll), ["upstream", "downstream"]);
        assert_eq!(streams(NetworkFault::LosesRequests), ["upstream"]);
        assert_eq!(streams(NetworkFault::LosesAnswers), ["downstream"]);
        assert!(streams(NetworkFault::Refuses).is_empty());
    }

    #[test]
    fn times_are_in_milliseconds() {
        let fault = NetworkFault::Delays { by: Duration::from_secs(2), jitter: Duration::from_millis(500) };
        assert_eq!(fault.toxics()[0]["attributes"], json!({"latency": 2000, "jitter": 500}));
    }
}
