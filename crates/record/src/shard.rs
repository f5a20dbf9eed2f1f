//! Shards of a run that a Kubernetes Job repeated, each with how its Pod ended.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pod of a Job that ended without the result of its shard, so that the Job ran the shard in another Pod.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RepeatedShard {
    /// Number of the shard, from 1.
    pub shard: usize,
    /// Name of the Pod.
    pub pod: String,
    /// How the Pod ended.
    #[serde(flatten)]
    pub end: PodEnd,
}

/// The sentence that follows `repeated: ` in reports.
impl fmt::Display for RepeatedShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {}, because Pod {} {}", self.shard, self.pod, self.end)
    }
}

/// How a Pod ended that has no result.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum PodEnd {
    /// The kubelet evicted it because its node was short of a resource.
    Evicted {
        /// The kubelet's message.
        message: String,
    },
    /// Kubernetes ended it, e.g. because its node was drained or another Pod has a higher priority.
    Disrupted {
        /// Reason of the Pod's condition `DisruptionTarget`, e.g. `EvictionByEvictionAPI`.
        reason: String,
    },
    /// The kernel killed it because it used more memory than its limit.
    OutOfMemory,
    /// A signal ended it.
    Killed {
        /// Number of the signal, e.g. 9.
        signal: i32,
    },
    /// The program ended with an exit code.
    Exited {
        /// The exit code, e.g. 3.
        code: i32,
    },
    /// Somebody deleted it.
    Deleted,
}

impl fmt::Display for PodEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evicted { message } if message.is_empty() => f.write_str("was evicted"),
            Self::Evicted { message } => write!(f, "was evicted: {message}"),
            Self::Disrupted { reason } => write!(f, "was ended by Kubernetes ({reason})"),
            Self::OutOfMemory => f.write_str("was killed because it used more memory than its limit (OOMKilled)"),
            Self::Killed { signal } => write!(f, "was killed by signal {signal}"),
            Self::Exited { code } => write!(f, "ended with exit code {code}"),
            Self::Deleted => f.write_str("was deleted"),
        }
    }
}
