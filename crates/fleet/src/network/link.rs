//! Connections that can be broken, each with a proxy of its own.

use std::fmt;

/// Connection between two parts of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkLink {
    /// Between the agent of this member and the hub.
    MemberToHub(String),
    /// Between Argo CD and the API server of this member.
    ArgoCdToMember(String),
    /// Between Argo CD and the git server with this repository.
    ArgoCdToRepository(String),
    /// Between Argo CD and its redis.
    ArgoCdToRedis,
}

impl NetworkLink {
    /// Name of the link's proxy.
    pub(super) fn proxy(&self) -> String {
        match self {
            Self::MemberToHub(member) => format!("member-{member}"),
            Self::ArgoCdToMember(member) => format!("destination-{member}"),
            Self::ArgoCdToRepository(repository) => format!("repository-{repository}"),
            Self::ArgoCdToRedis => "redis".to_owned(),
        }
    }

    /// Links of a member.
    pub(super) fn of_member(member: &str) -> [Self; 2] {
        [Self::MemberToHub(member.to_owned()), Self::ArgoCdToMember(member.to_owned())]
    }
}

/// Completes the sentence "the network between ...".
impl fmt::Display for NetworkLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemberToHub(member) => write!(f, "{member} and the hub"),
            Self::ArgoCdToMember(member) => write!(f, "Argo CD and {member}"),
            Self::ArgoCdToRepository(repository) => write!(f, "Argo CD and repository {repository}"),
            Self::ArgoCdToRedis => f.write_str("Argo CD and its redis"),
        }
    }
}
