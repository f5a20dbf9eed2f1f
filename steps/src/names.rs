//! Names of a scenario's objects. A feature says "web", and the fleet gets `web-k3f9`, so that scenarios can share the
//! fleet.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::error::StepError;

/// Name of a shared member in features.
static SHARED_MEMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bmember-(\d+)\b").expect("a valid pattern"));

/// Returns the numbers of the shared members that a text of a feature names: 2 for `member-2`.
pub fn shared_members(text: &str) -> impl Iterator<Item = usize> {
    SHARED_MEMBER.captures_iter(text).filter_map(|found| found[1].parse().ok())
}

/// Returns the name of the RoleBinding by which a member's identity has its rights in the member's namespace on the hub.
#[must_use]
pub fn role_binding(member: &str) -> String {
    format!("fleet-rolebinding-{member}")
}

/// Names of one scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScenarioNames {
    suffix: String,
    real: BTreeMap<String, String>,
}

impl ScenarioNames {
    /// Creates names that end in `suffix`. The fleet's members keep their own names. Features call the members
    /// `member-1`, `member-2` and so on; such a name stands for the member with that number, unless a member is really
    /// called so.
    #[must_use]
    pub fn new(suffix: &str, members: impl IntoIterator<Item = String>) -> Self {
        let members: Vec<String> = members.into_iter().collect();
        let numbered = members.iter().enumerate().map(|(n, name)| (format!("member-{}", n + 1), name.clone()));
        let mut real: BTreeMap<String, String> = numbered.collect();
        real.extend(members.iter().map(|name| (name.clone(), name.clone())));
        Self { suffix: suffix.to_owned(), real }
    }

    /// Suffix that tells this scenario's names from those of other scenarios.
    #[must_use]
    pub fn suffix(&self) -> &str {
        &self.suffix
    }

    /// Returns the real name for a new object, and remembers it.
    pub fn make(&mut self, name: &str) -> String {
        let real = format!("{name}-{}", self.suffix);
        self.real.insert(name.to_owned(), real.clone());
        real
    }

    /// Remembers a name for a value that the scenario didn't choose, such as an address.
    pub fn call(&mut self, name: &str, real: String) {
        self.real.insert(name.to_owned(), real);
    }

    /// Returns the real name of an object that was made before.
    ///
    /// # Errors
    /// Returns an error, with the names that there are, if nothing of this name was made.
    pub fn get(&self, name: &str) -> Result<String, StepError> {
        self.real.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.real.keys().map(String::as_str).collect();
            StepError::Feature(format!("this scenario has nothing named \"{name}\" so far, only: {}", known.join(", ")))
        })
    }

    /// Replaces `{name}` in a text by the real name, `{suffix}` by the suffix of all names, and `{own address}` by an address for a Service.
    /// Other braces stay.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let text = text.replace("{suffix}", &self.suffix).replace("{own address}", &self.own_address());
        self.real.iter().fold(text, |text, (name, real)| text.replace(&format!("{{{name}}}"), real))
    }

    /// Address for a Service that no other scenario names at the same time. It is below 10.0.1.0, and of those addresses Kubernetes gives
    /// none to a Service that asks for none of its own. The suffix ends in the number of the scenario in its run.
    fn own_address(&self) -> String {
        let digits = self.suffix.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let number: u64 = digits.parse().unwrap_or_default();
        // 10.0.0.1 is the API server's, and DNS has 10.0.0.10 on kind.
        format!("10.0.0.{}", 16 + number % 240)
    }
}

#[cfg(test)]
mod tests {
    use super::ScenarioNames;

    #[test]
    fn members_of_other_names_are_numbered() {
        let names = ScenarioNames::new("k3f9", ["aks-east", "member-1"].map(ToOwned::to_owned));
        let get = |name| names.get(name).expect("a member");
        assert_eq!([get("aks-east"), get("member-1"), get("member-2")], ["aks-east", "member-1", "member-1"]);
        assert_eq!(ScenarioNames::new("k3f9", ["east".to_owned()]).fill("on {member-1}"), "on east");
    }

    #[test]
    fn made_names_carry_the_suffix_and_shared_ones_do_not() {
        let mut names = ScenarioNames::new("k3f9", ["member-1".to_owned()]);
        assert_eq!(names.make("web"), "web-k3f9");
        assert_eq!(names.get("web").expect("made"), "web-k3f9");
        assert_eq!(names.get("member-1").expect("shared"), "member-1");
        assert_eq!(names.fill("{web} on {member-1}, {other}"), "web-k3f9 on member-1, {other}");
        assert_eq!(names.fill("widgets.example-{suffix}.io"), "widgets.example-k3f9.io");
        let address = |suffix| ScenarioNames::new(suffix, []).fill("{own address}");
        assert_eq!(
            ["wryc7", "wryc246", "wryc247", "wryc"].map(address),
            ["10.0.0.23", "10.0.0.22", "10.0.0.23", "10.0.0.16"]
        );
        names.call("address", "10.0.0.7".to_owned());
        assert_eq!(names.fill("clusterIP: {address}"), "clusterIP: 10.0.0.7");
        let error = names.get("wbe").expect_err("never made").to_string();
        assert_eq!(error, "this scenario has nothing named \"wbe\" so far, only: address, member-1, web");
    }
}
