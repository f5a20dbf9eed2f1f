//! Removes what nobody else may see: data of `Secrets` and `ConfigMaps`, values of environment variables, tokens, keys.
//!
//! Objects contain other objects: a Work its manifests, a resource snapshot the placed resources, an annotation the
//! last applied configuration, as JSON in a string. The redactor goes through all of them. A removed text is replaced
//! by [`REMOVED`], so that readers see that something was there. Redacting twice changes nothing.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

/// Text in place of a removed secret.
pub const REMOVED: &str = "(removed)";

/// Minimum length of known secrets, in bytes. They are removed wherever they occur; shorter ones would match by chance.
const SHORTEST: usize = 8;

/// Fields whose text is always a secret. Case, `-` and `_` don't matter.
const SECRET_FIELDS: &[&str] = &[
    "accesstoken",
    "apikey",
    "apitoken",
    "bearertoken",
    "clientkeydata",
    "clientsecret",
    "idtoken",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secretaccesskey",
    "secretkey",
    "token",
];

/// Lists of `{name, value}` whose values may be secrets.
const NAMED_VALUES: &[&str] = &["env", "httpHeaders"];

/// Fields of a Secret or a ConfigMap that hold data.
const DATA: &[&str] = &["data", "stringData", "binaryData"];

/// Removes secrets from objects and from text.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Vec<String>,
}

impl Redactor {
    /// Creates a redactor that also removes these texts, whatever they look like: the tokens of a running fleet.
    #[must_use]
    pub fn knowing(secrets: impl IntoIterator<Item = String>) -> Self {
        let known = secrets.into_iter().map(|s| s.trim().to_owned()).filter(|s| s.len() >= SHORTEST);
        Self { known: known.collect() }
    }

    /// Removes tokens, private keys, passwords in URLs, and values with a secret's name from a text.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.known {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), REMOVED));
            }
        }
        for pattern in PATTERNS.iter() {
            if let Cow::Owned(changed) = pattern.apply(&text) {
                text = Cow::Owned(changed);
            }
        }
        text
    }

    /// Removes secrets from an object, or any other JSON, in place.
    pub fn object(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => self.fields(fields),
            Value::Array(items) => {
                follow_flags(items);
                for item in items {
                    self.object(item);
                }
            }
            Value::String(text) => {
                if let Cow::Owned(changed) = self.string(text) {
                    *text = changed;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn fields(&self, fields: &mut Map<String, Value>) {
        if holds_data(fields) {
            for field in DATA {
                fields.get_mut(*field).into_iter().for_each(remove_all);
            }
        }
        for (name, value) in fields.iter_mut() {
            if value.is_string() && is_secret_field(name) {
                *value = REMOVED.into();
            } else if NAMED_VALUES.contains(&name.as_str()) {
                let values = value.as_array_mut().into_iter().flatten().filter_map(|item| item.get_mut("value"));
                values.filter(|value| !value.is_null()).for_each(remove);
            }
            self.object(value);
        }
    }

    /// Removes secrets from a string of an object. The string may be an object in JSON itself.
    fn string<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.trim_start().starts_with(['{', '[']) {
            if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                let before = inner.clone();
                self.object(&mut inner);
                return if inner == before { Cow::Borrowed(text) } else { Cow::Owned(inner.to_string()) };
            }
            // A truncated object can't be parsed, so its secrets can't be found.
            if text.contains(r#""Secret""#) || text.contains(r#""data""#) {
                return Cow::Owned(REMOVED.into());
            }
        }
        if ["Secret", "stringData"].iter().any(|hint| text.contains(hint)) && SECRET_AS_YAML.is_match(text) {
            return Cow::Owned(REMOVED.into());
        }
        self.text(text)
    }
}

/// True if these fields may belong to a Secret or a ConfigMap. Items of a list, and wrong contents of an envelope, may
/// have no `kind`.
fn holds_data(fields: &Map<String, Value>) -> bool {
    match fields.get("kind").and_then(Value::as_str) {
        Some(kind) => kind == "Secret" || kind == "ConfigMap",
        None => fields.contains_key("apiVersion") || fields.contains_key("metadata"),
    }
}

/// Removes values and keeps their keys: a failure is often about which keys a Secret has.
fn remove_all(data: &mut Value) {
    match data {
        Value::Object(entries) => entries.values_mut().for_each(remove),
        Value::Null => {}
        other => remove(other),
    }
}

fn remove(value: &mut Value) {
    *value = REMOVED.into();
}

fn is_secret_field(name: &str) -> bool {
    if !(5..=20).contains(&name.len()) {
        return false;
    }
    let plain: String = name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
    SECRET_FIELDS.contains(&plain.as_str())
}

/// Removes the value after a flag with a secret's name: `["--token", "abc"]`.
fn follow_flags(items: &mut [Value]) {
    for n in 1..items.len() {
        let is_flag = items[n - 1].as_str().is_some_and(|flag| SECRET_FLAG.is_match(flag));
        if is_flag && items[n].as_str().is_some_and(|value| !value.starts_with('-')) {
            items[n] = REMOVED.into();
        }
    }
}

static SECRET_FLAG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)^--?[a-z0-9_-]*(?:password|passwd|token|secret|api-?key)$"));
static SECRET_AS_YAML: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^\s*(?:-\s+)?(?:kind:\s*.?Secret\b|stringData:)"));
static PATTERNS: LazyLock<Vec<SecretPattern>> = LazyLock::new(patterns);

/// A pattern for texts that look like a secret.
struct SecretPattern {
    /// A text without any of these hints can't match. Searching for them is much faster than running the expression.
    hints: &'static [&'static str],
    regex: Regex,
    replace: fn(&Captures<'_>) -> String,
}

impl SecretPattern {
    fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.hints.iter().any(|hint| text.contains(hint)) {
            return Cow::Borrowed(text);
        }
        self.regex.replace_all(text, self.replace)
    }
}

fn replace_all(_: &Captures<'_>) -> String {
    REMOVED.to_owned()
}

/// Keeps the first group of a match and removes the rest.
fn keep_first(found: &Captures<'_>) -> String {
    format!("{}{REMOVED}", &found[1])
}

fn patterns() -> Vec<SecretPattern> {
    vec![
        // A private key: complete, without its end, or without its beginning. In JSON its line ends are `\n`.
        SecretPattern {
            hints: &["PRIVATE KEY-----"],
            regex: regex(
                r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)|(?:[A-Za-z0-9+/=]{16,}(?:\r?\n|\\n))+[A-Za-z0-9+/=]*(?:\r?\n|\\n)?-----END [A-Z0-9 ]*PRIVATE KEY-----",
            ),
            replace: replace_all,
        },
        // A private key in base64, as in kubeconfigs and Secrets (certificates match, too), and a token in base64.
        SecretPattern {
            hints: &["LS0tLS1CRUdJTi", "ZXlK"],
            regex: regex(r"(?:LS0tLS1CRUdJTi|ZXlK)[A-Za-z0-9+/=_-]{8,}"),
            replace: replace_all,
        },
        // A JSON web token, such as a ServiceAccount's.
        SecretPattern {
            hints: &["eyJ"],
            regex: regex(r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*"),
            replace: replace_all,
        },
        // A bearer token of any other kind. Prose such as "bearer authentication" matches, too, and is kept.
        SecretPattern {
            hints: &["earer ", "EARER ", "asic ", "ASIC "],
            regex: regex(r"(?i)\b((?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{8,})"),
            replace: |found| {
                let is_word = found[2].trim_end_matches('.').chars().all(|c| c.is_ascii_lowercase());
                if is_word { found[0].to_owned() } else { keep_first(found) }
            },
        },
        // A user and a password in a URL.
        SecretPattern {
            hints: &["://"],
            regex: regex(r"://[^/\s:@]+:[^/\s@]+@"),
            replace: |_| format!("://{REMOVED}@"),
        },
        // `--token=abc` and `password="a b"`, in command lines and logs.
        SecretPattern {
            hints: &["="],
            regex: regex(
                r#"(?i)([a-z_-]*(?:password|passwd|passphrase|token|secret|api[_-]?key)=)("[^"]*"|[^\s"&,;]+)"#,
            ),
            replace: keep_first,
        },
        // `"token":"abc"`, in JSON logs and in JSON within messages.
        SecretPattern {
            hints: &["\":"],
            regex: regex(r#"(?i)("[a-z_-]*(?:password|passwd|passphrase|token|secret|api[_-]?key)"\s*:\s*)"[^"]*""#),
            replace: |found| format!("{}\"{REMOVED}\"", &found[1]),
        },
    ]
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
        assert_eq!(object(of(yaml.into())), of(REMOVED.into()));
    }

    #[test]
    fn fields_that_are_named_as_secrets_go() {
        let value = json!({"status": {"token": "abc", "access_token": "x", "tokens": 3}, "token": {"x": "y"}});
        let expected = json!({"status": {"token": REMOVED, "access_token": REMOVED, "tokens": 3}, "token": {"x": "y"}});
        assert_eq!(object(value), expected);
    }
}
