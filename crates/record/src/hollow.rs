//! Names by which records and reports know hollow members: members without clusters, whose agents one process plays.

/// Label with value `true` on the `MemberCluster` of a hollow member.
pub const HOLLOW_LABEL: &str = "fleetdrill.dev/hollow";

/// Tag of scenarios with hundreds of members, of which most are hollow.
pub const SCALE_TAG: &str = "scale";
