//! Value of `--members-from`: where the names and the contexts of many members come from.

use std::path::PathBuf;
use std::str::FromStr;

/// Word that stands for the hub's `ClusterProfiles`.
const CLUSTER_PROFILES: &str = "clusterprofiles";

/// Part of a template that stands for a member's name.
const NAME: &str = "{name}";

/// Origin of many members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembersFrom {
    /// File with names, or directory with a kubeconfig for each member.
    Path(PathBuf),
    /// All `MemberClusters` of the hub, each by the context that the template gives.
    Template(ContextTemplate),
    /// All `ClusterProfiles` of the hub, each by the context of its API server or by the one that the template gives.
    ClusterProfiles(ContextTemplate),
}

/// Name of a context with `{name}` in place of the member's name, e.g. `aks-{name}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextTemplate(String);

impl ContextTemplate {
    /// Name of a member's context.
    pub(crate) fn context(&self, member: &str) -> String {
        self.0.replace(NAME, member)
    }

    /// The template as it was given.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn parse(text: &str) -> Result<Self, String> {
        let rest = text.replace(NAME, "");
        if !text.contains(NAME) || rest.contains(['{', '}']) {
            return Err(format!(
                "`{text}` is no template of contexts: it has {NAME} once or more, and no other braces"
            ));
        }
        Ok(Self(text.to_owned()))
    }
}

impl Default for ContextTemplate {
    /// Each context has the name of its member.
    fn default() -> Self {
        Self(NAME.to_owned())
    }
}

impl FromStr for MembersFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("a value can't be empty".to_owned());
        }
        if text == CLUSTER_PROFILES {
            return Ok(Self::ClusterProfiles(ContextTemplate::default()));
        }
        if let Some(template) = text.strip_prefix(CLUSTER_PROFILES).and_then(|rest| rest.strip_prefix('=')) {
            return ContextTemplate::parse(template).map(Self::ClusterProfiles);
        }
        if text.contains(NAME) {
            return ContextTemplate::parse(text).map(Self::Template);
        }
        Ok(Self::Path(PathBuf::from(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_path_a_template_or_the_profiles() {
        let template = |text: &str| ContextTemplate(text.to_owned());
        for (text, expected) in [
            ("members.txt", MembersFrom::Path("members.txt".into())),
            ("./clusterprofiles", MembersFrom::Path("./clusterprofiles".into())),
            ("aks-{name}", MembersFrom::Template(template("aks-{name}"))),
            ("clusterprofiles", MembersFrom::ClusterProfiles(template("{name}"))),
            ("clusterprofiles=aks-{name}", MembersFrom::ClusterProfiles(template("aks-{name}"))),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        assert_eq!(template("{name}/{name}").context("east"), "east/east");
        for text in ["aks-{name}-{region}", "clusterprofiles=aks", "clusterprofiles="] {
            let refused = text.parse::<MembersFrom>().expect_err(text);
            assert!(refused.contains("is no template of contexts"), "{refused}");
        }
        assert!("".parse::<MembersFrom>().is_err());
    }
}
