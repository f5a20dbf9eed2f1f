//! Names of fields, variables, flags and headers whose values are secrets, and names that only refer to a secret.

use std::sync::LazyLock;

use regex::Regex;

/// Parts of names that have to be looked at more closely. A name without any of them isn't a secret's.
pub(super) const STEMS: &str =
    "pass|pwd|pswd|pw|secret|token|key|cred|auth|cookie|dsn|sig|jwt|bearer|conn|psk|otp|pin|sas|mnemonic|docker";

/// Words of which each makes a name a secret's, unless the name ends as a reference does.
const SECRET_WORDS: &str = "\
    apikey auth bearer connstr cookie cookies cred creds credential credentials dockerconfigjson dockercfg dsn \
    htpasswd jwt mnemonic otp passcode pgpass pin psk pswd pw pwd sas sig signature totp";

/// Parts by which a name is a secret's also if its words are written together: `mysqlrootpassword`, `MYSECRET`.
const SECRET_PARTS: &[&str] = &["password", "passwd", "passphrase", "secret", "token", "credential"];

/// Words before `key` that make it a secret: `accessKey`, `license-key`, `tls.key` isn't one of these.
const SECRET_KEYS: &str = "\
    access account activation admin api app application auth aws azure client consumer cookie crypto db decryption \
    deploy dsa ecdsa ed25519 encrypt encryption gcp gpg hmac host ingest ingestion instrumentation integration \
    licence license master pgp primary private read recovery registration root rsa secondary secret server service \
    session shared sign signing ssh ssl storage stripe subscription tls unseal user webhook write";

/// Last words of names whose value is about a secret and isn't the secret: `secretName`, `tokenExpirationSeconds`.
const REFERENCES: &str = "\
    age algorithm allowed annotation annotations at audience audiences class count dir directory disabled enabled \
    endpoint expiration expires expiry file filename files format generation host hours id index issuer kind label \
    labels length lifetime limit manager method minutes mode mount name names namespace namespaces optional path \
    paths policy port provider ref reference references refs request requests required resource resources rotation \
    seconds selector size state status store template time timestamp ttl type types uri url version";

static HINT: LazyLock<Regex> = LazyLock::new(|| super::regex(&format!("(?i){STEMS}")));

/// True if a list of words, separated by spaces, has a word.
pub(super) fn lists(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|listed| listed == word)
}

/// True if a value with this name is a secret. Upper and lower case, `-`, `_` and `.` don't matter; of an annotation's
/// name only the part after `/` does.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    if name.len() < 2 || name.len() > 120 || !HINT.is_match(name) {
        return false;
    }
    let words = words(name);
    let compact = words.concat();
    let Some(last) = words.last().map(String::as_str) else { return false };
    let is_id_of_secret = compact.ends_with("accesskeyid") || compact.ends_with("secretid");
    if (lists(REFERENCES, last) && words.len() > 1 && !is_id_of_secret) || words[0] == "existing" {
        return false;
    }
    words.iter().any(|word| is_secret_word(word, last))
        || words.windows(2).any(|pair| is_key(&pair[1]) && lists(SECRET_KEYS, &pair[0]))
        || words.windows(2).any(|pair| is_connection(&pair[0]) && pair[1].starts_with("str"))
        || is_key_file(name)
        || SECRET_PARTS.iter().any(|part| compact.contains(part) && !compact.contains("tokeni"))
        || ends_as_key(&compact)
        || is_short_password(&compact)
}

/// True if a number with this name is a secret, too: a password may consist of digits, a token limit isn't one.
pub(super) fn is_password(name: &str) -> bool {
    let compact = name.to_ascii_lowercase();
    ["pass", "pwd", "pin", "otp"].iter().any(|part| compact.contains(part)) && is_secret(name)
}

/// True for the fields of a reference to a secret, which isn't secret itself: `name`, `namespace`, `mountPath`.
pub(super) fn is_reference(name: &str) -> bool {
    words(name).last().is_some_and(|last| {
        lists(REFERENCES, last)
            || ["apiversion", "group", "username", "user", "effect", "operator"].contains(&last.as_str())
    })
}

/// True if a segment of a path (`/data/password`, `/spec/template/spec/containers/0/env/0/value`) says that the value
/// there may be secret.
pub(super) fn is_secret_path(path: &str) -> bool {
    const HIDDEN: &[&str] = &["args", "binaryData", "command", "env", "httpHeaders", "parameters", "stringData"];
    let segments = path.split(['/', '.', '[', ']']).filter(|segment| !segment.is_empty());
    segments
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
        .any(|segment| HIDDEN.contains(&segment.as_str()) || is_secret(&segment))
        || path.split('/').any(is_secret)
}

fn is_secret_word(word: &str, last: &str) -> bool {
    // `pass-through` and `passThrough` are no passwords, `db.pass` is one. `authMethod` ends as a reference.
    match word {
        "pass" | "auth" | "authorization" | "sig" | "signature" | "pin" | "bearer" => word == last,
        _ => lists(SECRET_WORDS, word),
    }
}

fn is_key(word: &str) -> bool {
    matches!(word, "key" | "keys")
}

fn is_connection(word: &str) -> bool {
    matches!(word, "connection" | "conn")
}

/// True for `tls.key`, a file's name in a Secret.
fn is_key_file(name: &str) -> bool {
    name.strip_suffix(".key").is_some_and(|rest| !rest.is_empty())
}

fn ends_as_key(compact: &str) -> bool {
    let end = compact.trim_end_matches(|c: char| c.is_ascii_digit());
    let end = end.strip_suffix("id").unwrap_or(end);
    end.strip_suffix("key").is_some_and(|rest| {
        rest.len() > 2 && SECRET_KEYS.split_whitespace().any(|key| key.len() > 2 && rest.ends_with(key))
    })
}

fn is_short_password(compact: &str) -> bool {
    let end = compact.trim_end_matches(|c: char| c.is_ascii_digit());
    (end.ends_with("pass") && !end.ends_with("bypass") && !end.ends_with("compass")) || end.ends_with("pwd")
}

/// Words of a name in lower case: `dbPassword`, `DB_PASSWORD` and `db-password` are `db`, `password`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let chars: Vec<char> = name.chars().collect();
    let mut begins = true;
    for (at, c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            begins = true;
            continue;
        }
        let before = at.checked_sub(1).map(|at| chars[at]);
        let next_is_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let is_hump = c.is_uppercase() && before.is_some_and(|b| !b.is_uppercase() || next_is_lower);
        match words.last_mut().filter(|_| !begins && !is_hump) {
            Some(word) => word.extend(c.to_lowercase()),
            None => words.push(c.to_lowercase().collect()),
        }
        begins = false;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_all_spellings() {
        for name in [
            "password",
            "dbPassword",
            "DB_PASSWORD",
            "user-password",
            "adminPassword",
            "webhookSecret",
            "secret",
            "accessKey",
            "licenseKey",
            "license_key",
            "AWS_SECRET_ACCESS_KEY",
            "AccountKey",
            "SharedAccessKey",
            "x-api-key",
            "apikey",
            "ApiKey",
            "token",
            "access_token",
            "adminToken",
            "MYSQL_PWD",
            "PGPASSWORD",
            "requirepass",
            "db.pass",
            "clientKeyData",
            "client-key-data",
            "tls.key",
            "ssh-privatekey",
            "mysecret",
            "example.com/admin-password",
            "connectionString",
            "DSN",
            "sig",
            "AWSAccessKeyId",
            "credentials",
            "passwords",
            "userpass",
            "auth",
            "basicAuth",
            "redisPassword2",
            "secret_id",
            "Cookie",
        ] {
            assert!(is_secret(name), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_and_of_references_are_not() {
        for name in [
            "name",
            "key",
            "manifestKey",
            "sortingLabelKey",
            "topologyKey",
            "publicKey",
            "secretName",
            "secretRef",
            "secretKeyRef",
            "tokenExpirationSeconds",
            "hub-token-file",
            "passThrough",
            "bypass",
            "compass",
            "authority",
            "configMap",
            "config",
            "connection",
            "pinned",
            "monkey",
            "author",
            "design",
            "signal",
            "existingSecret",
            "MYSQL_ROOT_PASSWORD_FILE",
            "kubeconfig",
            "authorization-mode",
            "kubernetes.io/metadata.name",
            "argocd.argoproj.io/secret-type",
            "tokenizer",
            "observedGeneration",
            "valueInHub",
            "matchLabelKeys",
            "passwordPolicy",
            "authMethod",
            "clusterSelector",
            "argocd.argoproj.io/tracking-id",
            "lastAppliedConfig",
            "assigned",
            "spin",
            "snapshot",
            "password-policy",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn a_path_is_secret_if_one_of_its_names_is() {
        for path in
            ["/data/password", "/spec/template/spec/containers/0/env/1/value", "/stringData/a", "/spec/db~1token"]
        {
            assert!(is_secret_path(path), "{path}");
        }
        assert!(is_secret_path("/metadata/annotations/example.com~1api-token"));
        for path in ["/data/revision", "/spec/replicas", "/metadata/labels/app.kubernetes.io~1name"] {
            assert!(!is_secret_path(path), "{path}");
        }
    }
}
