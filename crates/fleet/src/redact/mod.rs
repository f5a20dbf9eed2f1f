//! Removes what nobody else may see: data of `Secrets` and `ConfigMaps`, values of environment variables, tokens, keys.
//!
//! Objects contain other objects: a Work its manifests, a resource snapshot the placed resources, an annotation the
//! last applied configuration, as JSON in a string. The redactor goes through all of them. A removed text is replaced
//! by [`REMOVED`], so that readers see that something was there: keys and the lengths of lists stay. Redacting twice
//! changes nothing.
//!
//! A secret is recognized by where it stands (`fields`), by its name (`names`, in objects; `assignments`, in texts), by
//! its form (`text`), or by the flag before it (`arguments`). Objects in strings are parsed (`embedded`). A secret in
//! free text without any of these signs can't be recognized.

mod arguments;
mod assignments;
mod embedded;
mod fields;
mod names;
mod text;

#[cfg(test)]
mod canaries;
#[cfg(test)]
mod messages;

use std::borrow::Cow;

use regex::Regex;
use serde_json::Value;

use embedded::Embedded;

/// Text in place of a removed secret.
pub const REMOVED: &str = "(removed)";

/// Minimum length of known secrets, in bytes. They are removed wherever they occur; shorter ones would match by chance.
const SHORTEST: usize = 8;

/// Removes secrets from objects and from text.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Vec<String>,
    keeps_drift_values: bool,
}

impl Redactor {
    /// Creates a redactor that also removes these texts, whatever they look like: the tokens of a running fleet.
    #[must_use]
    pub fn knowing(secrets: impl IntoIterator<Item = String>) -> Self {
        let known = secrets.into_iter().map(|s| s.trim().to_owned()).filter(|s| s.len() >= SHORTEST);
        Self { known: known.collect(), ..Self::default() }
    }

    /// Keeps the values of drifts and differences (`valueInHub`, `valueInMember`), which are removed otherwise, since
    /// they are fields of placed objects of any kind. Values of Secrets, values at a path with a secret's name, and
    /// what looks like a secret are removed in any case.
    #[must_use]
    pub fn keeping_drift_values(self) -> Self {
        Self { keeps_drift_values: true, ..self }
    }

    /// Removes tokens, private keys, passwords in URLs, and values with a secret's name from a text.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.without_known(text) {
            Cow::Borrowed(text) => text::remove(text),
            Cow::Owned(changed) => Cow::Owned(text::remove(&changed).into_owned()),
        }
    }

    /// Removes secrets from a log. Lines that are an object in JSON are treated as one.
    #[must_use]
    pub fn log<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let redacted: Vec<Cow<'_, str>> = text.split_inclusive('\n').map(|line| self.log_line(line)).collect();
        if redacted.iter().all(|line| matches!(line, Cow::Borrowed(_))) {
            return self.text(text);
        }
        Cow::Owned(self.text(&redacted.concat()).into_owned())
    }

    /// Removes secrets from an object, or any other JSON, in place.
    pub fn object(&self, value: &mut Value) {
        fields::Walk::new(self).value(value);
    }

    fn log_line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let text = line.trim_end();
        if !(text.starts_with('{') && text.ends_with('}')) {
            return Cow::Borrowed(line);
        }
        let Ok(inner) = serde_json::from_str::<Value>(text) else { return Cow::Borrowed(line) };
        let mut redacted = inner.clone();
        self.object(&mut redacted);
        let end = &line[text.len()..];
        if redacted == inner { Cow::Borrowed(line) } else { Cow::Owned(format!("{redacted}{end}")) }
    }

    /// Removes secrets from a string of an object. The string may be an object in JSON or YAML itself.
    fn string<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match Embedded::parse(text) {
            Some(mut inner) => {
                let before = inner.values().to_vec();
                inner.values().iter_mut().for_each(|value| self.object(value));
                if inner.values() == before {
                    // Comments of YAML aren't among the values.
                    return if inner.is_json() { self.without_known(text) } else { self.text(text) };
                }
                inner.write().map_or_else(|| REMOVED.to_owned().into(), Cow::Owned)
            }
            None if embedded::may_have_data(text) => Cow::Owned(REMOVED.to_owned()),
            None => self.text(text),
        }
    }

    fn without_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.known {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), REMOVED));
            }
        }
        text
    }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("an expression of ours that the tests compile")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const JWT: &str = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ";
    const KEY: &str =
        "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIDFzZWNyZXRzZWNyZXRz\nZWNyZXQ=\n-----END EC PRIVATE KEY-----";

    fn text(text: &str) -> String {
        Redactor::default().text(text).into_owned()
    }

    fn object(mut value: Value) -> Value {
        Redactor::default().object(&mut value);
        let once = value.clone();
        Redactor::default().object(&mut value);
        assert_eq!(value, once, "twice is once");
        value
    }

    #[test]
    fn tokens_are_taken_out_of_text() {
        assert_eq!(text(&format!("Authorization: Bearer {JWT} sent")), "Authorization: Bearer (removed) sent");
        assert_eq!(text(&format!("got {JWT}, retrying")), "got (removed), retrying");
        assert_eq!(text("authorization: bearer abcdef.0123456789abcdef"), "authorization: bearer (removed)");
        assert_eq!(text("Basic dXNlcjpwYXNz"), "Basic (removed)");
        assert_eq!(text("https://me:hunter2@registry.example/v2/"), "https://(removed)@registry.example/v2/");
        assert_eq!(text("run --hub-token=abc --v=2"), "run --hub-token=(removed) --v=2");
        assert_eq!(text(r#"{"level":"info","token":"abc"}"#), r#"{"level":"info","token":"(removed)"}"#);
        assert_eq!(text("data ZXlKaGJHY2lPaUpTVXpJMU5pSXM= end"), "data (removed) end");
    }

    #[test]
    fn private_keys_are_taken_out_whole_and_in_part() {
        assert_eq!(text(&format!("a\n{KEY}\nb")), "a\n(removed)\nb");
        assert_eq!(text(&format!("a {}", KEY.replace('\n', "\\n"))), "a (removed)");
        let (head, tail) = KEY.split_at(45);
        assert_eq!(text(&format!("a\n{head}")), "a\n(removed)");
        let tail = &tail[tail.find('\n').unwrap() + 1..];
        assert_eq!(text(&format!("secretsecretsecretsecret\n{tail}\nb")), "(removed)\nb");
    }

    #[test]
    fn what_is_no_secret_stays() {
        for plain in [
            "works.placement.kubernetes-fleet.io \"web-work\" is forbidden",
            "no bearer authentication. Basic authentication is off",
            "HUB_SERVER_URL https://127.0.0.1:6443/healthz",
            "--hub-token-file=/var/run/token -- token: expired",
            "manifestKey=cm.yaml,envelopeObjRef=apps/r1",
            "0f3c8f6a63ac5b1a9f0a7b9b1e7a2e6b8f0d4c2b",
        ] {
            assert_eq!(text(plain), plain);
        }
    }

    #[test]
    fn known_tokens_are_taken_out_whatever_they_look_like() {
        let redactor = Redactor::knowing(["opaque/very-secret\n".to_owned(), "short".to_owned()]);
        assert_eq!(redactor.text("a opaque/very-secret b short"), "a (removed) b short");
        let mut value = json!({"message": "it was opaque/very-secret"});
        redactor.object(&mut value);
        assert_eq!(value, json!({"message": "it was (removed)"}));
    }

    #[test]
    fn data_goes_wherever_a_secret_is_nested() {
        let secret =
            json!({"apiVersion": "v1", "kind": "Secret", "data": {"pw": "aHVudGVyMg=="}, "stringData": {"a": "b"}});
        let gone = json!({"apiVersion": "v1", "kind": "Secret", "data": {"pw": REMOVED}, "stringData": {"a": REMOVED}});
        let work = |manifest: &Value| json!({"kind": "Work", "spec": {"workload": {"manifests": [manifest]}}});
        assert_eq!(object(work(&secret)), work(&gone));
        let list = json!({"kind": "SecretList", "items": [{"metadata": {"name": "a"}, "data": {"pw": "x"}}]});
        assert_eq!(object(list).pointer("/items/0/data/pw"), Some(&REMOVED.into()));
        let snapshot = json!({"kind": "ResourceSnapshot", "spec": {"selectedResources": [
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"app.conf": "user=me"}}]}});
        assert_eq!(object(snapshot).pointer("/spec/selectedResources/0/data/app.conf"), Some(&REMOVED.into()));
    }

    #[test]
    fn an_envelope_keeps_what_makes_it_wrong() {
        let envelope = json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ResourceEnvelope",
            "metadata": {"name": "e"}, "data": {
                "no-kind": {"apiVersion": "v1", "metadata": {"name": "x"}, "data": {"pw": "secret"}},
                "quota": {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"pods": "1"}}}}});
        let mut expected = envelope.clone();
        expected["data"]["no-kind"]["data"]["pw"] = REMOVED.into();
        assert_eq!(object(envelope), expected);
    }

    #[test]
    fn values_of_environment_variables_go_and_their_names_stay() {
        let pod = json!({"kind": "Pod", "spec": {"containers": [{"name": "c", "image": "nginx:1",
            "env": [{"name": "PW", "value": "hunter2"}, {"name": "REF", "valueFrom": {"fieldRef": {}}}],
            "command": ["app", "--db-password", "hunter2", "--v", "2", "--api-key=abc"],
            "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "x"}]}}}]}});
        let pod = object(pod);
        assert!(!pod.to_string().contains("hunter2"), "{pod}");
        let container = &pod["spec"]["containers"][0];
        assert_eq!(container["env"][0], json!({"name": "PW", "value": REMOVED}));
        assert_eq!(container["env"][1], json!({"name": "REF", "valueFrom": {"fieldRef": {}}}));
        assert_eq!(container["command"], json!(["app", "--db-password", REMOVED, "--v", "2", "--api-key=(removed)"]));
        assert_eq!(container["livenessProbe"]["httpGet"]["httpHeaders"][0]["value"], REMOVED);
    }

    #[test]
    fn what_was_applied_last_is_filtered_and_kept() {
        let last = json!({"kind": "Deployment", "spec": {"containers": [{"env": [{"name": "A", "value": "pw"}]}]}});
        let of = |last: String| {
            json!({"metadata": {"annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": last}}})
        };
        let mut filtered = last.clone();
        filtered["spec"]["containers"][0]["env"][0]["value"] = REMOVED.into();
        assert_eq!(object(of(last.to_string() + "\n")), of(filtered.to_string()));
        let harmless = "{ \"kind\": \"Namespace\" }".to_owned();
        assert_eq!(object(of(harmless.clone())), of(harmless));
        assert_eq!(object(of("{\"kind\":\"Secret\",\"da".into())), of(REMOVED.into()));
        let yaml = "apiVersion: v1\nkind: Secret\nstringData:\n  a: b\n";
        assert_eq!(object(of(yaml.into())), of(format!("apiVersion: v1\nkind: Secret\nstringData:\n  a: {REMOVED}\n")));
        let cut = "apiVersion: v1\nkind: Secret\nstringData:\n  a: \"b";
        assert_eq!(object(of(cut.into())), of(REMOVED.into()));
    }

    #[test]
    fn fields_that_are_named_as_secrets_go() {
        let value =
            json!({"status": {"token": "abc", "access_token": "x", "tokens": 3}, "token": {"x": "y", "name": "n"}});
        let expected = json!({"status": {"token": REMOVED, "access_token": REMOVED, "tokens": 3},
            "token": {"x": REMOVED, "name": "n"}});
        assert_eq!(object(value), expected);
    }
}
