//! Texts that look like a secret, wherever they stand: private keys, tokens with a known form, passwords in URLs.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{REMOVED, assignments, names, regex};

/// A text without a match has no secret. Most strings of a fleet's objects are such, so this is asked first.
static SUSPICIOUS: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(
        "(?i){}|key|://|@|LS0tLS1CRUdJTi|ZXlK|eyJ|gh[opsur]_|glpat-|xox|AKIA|ASIA|AIza|hvs[.]|npm_|sk[_-]|basic |-[uwp]|-a",
        names::STEMS
    ))
});

static PATTERNS: LazyLock<Vec<SecretPattern>> = LazyLock::new(patterns);

/// Removes everything from a text that looks like a secret, or has a secret's name.
pub(super) fn remove(text: &str) -> Cow<'_, str> {
    if !SUSPICIOUS.is_match(text) {
        return Cow::Borrowed(text);
    }
    let mut text = Cow::Borrowed(text);
    for pattern in PATTERNS.iter() {
        if let Cow::Owned(changed) = pattern.apply(&text) {
            text = Cow::Owned(changed);
        }
    }
    if let Cow::Owned(changed) = assignments::remove(&text) {
        text = Cow::Owned(changed);
    }
    text
}

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

/// Keeps what only looks like a user and a password: an image's tag before its digest, an address of a mail.
fn replace_password(found: &Captures<'_>) -> String {
    let is_other = ["sha256", "sha512"].contains(&&found[4]) || found[2].eq_ignore_ascii_case("mailto");
    if is_other { found[0].to_owned() } else { format!("{}{}:{REMOVED}@{}", &found[1], &found[2], &found[4]) }
}

/// Removes the user and the password of a URL. `git` is the user of every repository by SSH.
fn replace_userinfo(found: &Captures<'_>) -> String {
    if &found[1] == "git" { found[0].to_owned() } else { format!("://{REMOVED}@") }
}

fn patterns() -> Vec<SecretPattern> {
    vec![
        // A private key: complete, without its end, or without its beginning. In JSON its line ends are `\n`.
        SecretPattern {
            hints: &["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"],
            regex: regex(
                r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)|(?:[A-Za-z0-9+/=]{16,}(?:\r?\n|\\n))+[A-Za-z0-9+/=]*(?:\r?\n|\\n)?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
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
        // Tokens with a prefix that names who has issued them: GitHub, GitLab, Slack, AWS, Google, Vault, npm, Stripe,
        // OpenAI, Docker, DigitalOcean, Hugging Face.
        SecretPattern {
            hints: &[
                "gh",
                "glpat-",
                "xox",
                "AKIA",
                "ASIA",
                "AIza",
                "hvs.",
                "npm_",
                "sk_live_",
                "sk_test_",
                "rk_live_",
                "sk-",
                "dckr_pat_",
                "dop_v1_",
                "hf_",
            ],
            regex: regex(
                r"\b(?:gh[opsur]_[A-Za-z0-9_-]{4,}|github_pat_[A-Za-z0-9_]{4,}|glpat-[A-Za-z0-9_-]{4,}|xox[abeoprs]-[A-Za-z0-9-]{4,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{20,}|hvs\.[A-Za-z0-9_-]{8,}|npm_[A-Za-z0-9]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{20,}|dckr_pat_[A-Za-z0-9_-]{8,}|dop_v1_[a-f0-9]{16,}|hf_[A-Za-z0-9]{20,})",
            ),
            replace: replace_all,
        },
        // An address of a webhook, whose path is its secret.
        SecretPattern {
            hints: &["hooks.slack.com/", "/api/webhooks/", "webhook.office.com/", "api.telegram.org/bot"],
            regex: regex(
                r#"(hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/|webhook\.office\.com/|api\.telegram\.org/bot)[^\s"'<>]+"#,
            ),
            replace: keep_first,
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
        // A user and a password in a URL, or a token alone. A password may contain `@` and `:`.
        SecretPattern { hints: &["://"], regex: regex(r#"://([^/\s"'<>?#]+)@"#), replace: replace_userinfo },
        // A user and a password without a URL: `app:x@tcp(db)`, `app:x@db`.
        SecretPattern {
            hints: &["@"],
            regex: regex(r#"(^|[\s"'=,(\[])([A-Za-z0-9_.+-]+):((?:[^\s@/"']|/[^\s@/"'])+)@([A-Za-z0-9_.-]+)"#),
            replace: replace_password,
        },
        // `-pass pass:x` of openssl.
        SecretPattern { hints: &[" pass:"], regex: regex(r#"( pass:)[^\s"']+"#), replace: keep_first },
    ]
}
