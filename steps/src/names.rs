//! Names: a feature says "web", the fleet gets `web-k3f9`, so that scenarios can share it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::StepError;

/// The names of one scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Names {
    suffix: String,
    real: BTreeMap<String, String>,
}

impl Names {
    /// Names that end in `suffix`. Those of the fleet's members stay as they are; features call them `member-1` and so on, which
    /// stands for the first of them if none is really called so.
    #[must_use]
    pub fn new(suffix: &str, members: impl IntoIterator<Item = String>) -> Self {
        let members: Vec<String> = members.into_iter().collect();
        let numbered = members.iter().enumerate().map(|(n, name)| (format!("member-{}", n + 1), name.clone()));
        let mut real: BTreeMap<String, String> = numbered.collect();
        real.extend(members.iter().map(|name| (name.clone(), name.clone())));
        Self { suffix: suffix.to_owned(), real }
    }

    /// What tells this scenario's names from others'.
    #[must_use]
    pub fn suffix(&self) -> &str {
        &self.suffix
    }

    /// The real name of a new thing.
    pub fn make(&mut self, name: &str) -> String {
        let real = format!("{name}-{}", self.suffix);
        self.real.insert(name.to_owned(), real.clone());
        real
    }

    /// What a name stands for that nobody here has given, such as an address.
    pub fn call(&mut self, name: &str, real: String) {
        self.real.insert(name.to_owned(), real);
    }

    /// The real name of a thing that was made before.
    ///
    /// # Errors
    /// When nothing of that name was made, with the names there are.
    pub fn get(&self, name: &str) -> Result<String, StepError> {
        self.real.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.real.keys().map(String::as_str).collect();
            StepError::Feature(format!("this scenario has nothing named \"{name}\" so far, only: {}", known.join(", ")))
        })
    }

    /// Text with `{name}` replaced by the real name, and `{suffix}` by what all of them end in; braces around anything else
    /// stay.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        let text = text.replace("{suffix}", &self.suffix);
        self.real.iter().fold(text, |text, (name, real)| text.replace(&format!("{{{name}}}"), real))
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn members_of_other_names_are_numbered() {
        let names = Names::new("k3f9", ["aks-east", "member-1"].map(ToOwned::to_owned));
        let get = |name| names.get(name).expect("a member");
        assert_eq!([get("aks-east"), get("member-1"), get("member-2")], ["aks-east", "member-1", "member-1"]);
        assert_eq!(Names::new("k3f9", ["east".to_owned()]).fill("on {member-1}"), "on east");
    }

    #[test]
    fn made_names_carry_the_suffix_and_shared_ones_do_not() {
        let mut names = Names::new("k3f9", ["member-1".to_owned()]);
        assert_eq!(names.make("web"), "web-k3f9");
        assert_eq!(names.get("web").expect("made"), "web-k3f9");
        assert_eq!(names.get("member-1").expect("shared"), "member-1");
        assert_eq!(names.fill("{web} on {member-1}, {other}"), "web-k3f9 on member-1, {other}");
        assert_eq!(names.fill("widgets.example-{suffix}.io"), "widgets.example-k3f9.io");
        names.call("address", "10.0.0.7".to_owned());
        assert_eq!(names.fill("clusterIP: {address}"), "clusterIP: 10.0.0.7");
        let error = names.get("wbe").expect_err("never made").to_string();
        assert_eq!(error, "this scenario has nothing named \"wbe\" so far, only: address, member-1, web");
    }
}
