//! Values with a secret's name in texts: `password=x`, `x-api-key: x`, `"token":"x"`, also within JSON strings
//! (`\"token\":\"x\"`), and `--token x`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{REMOVED, arguments, names};

/// Words that begin an explanation after `token:` or `password:`, if another word follows.
const PROSE: &str = "\
    a account an and any are as at authentication authorization bad be been but by can can't cannot configmap \
    configmaps configured context could couldn't create creating delete dial did didn't does doesn't eof error \
    exceeded exists expected expired failed failure field for forbidden from get has have http if illegal in \
    incorrect internal invalid is it json key malformed may missing must namespace namespaces nil no none not null \
    of on only open operation optional or patch permission please pod pods post provide put read reason refused \
    required revoked rpc secret secrets server serviceaccount serviceaccounts should stat string the there this \
    timeout to token too unable unauthorized unexpected unknown unmarshal unsupported update use user value was were \
    when while with wrong x509 yaml";

/// Words that are an explanation or a literal also if nothing follows.
const VERDICTS: &str = "\
    denied duplicate empty exists expired failed false forbidden incorrect invalid malformed missing nil none not \
    null ok optional refused rejected required revoked true unauthorized unknown unset valid <nil>";

/// Words after `--token` or `-password` in prose about the flag itself.
const ABOUT_FLAG: &str = "\
    and argument cannot flag flags has is isn't must option or requires was";

/// Schemes of an authorization header, which the secret follows.
const SCHEMES: &str = "\
    apikey aws4-hmac-sha256 basic bearer digest hmac negotiate sharedkey token";

static HINT: LazyLock<Regex> = LazyLock::new(|| super::regex(&format!("(?i){}|key", names::STEMS)));

/// A name, perhaps quoted, and `=` or `:`; or a flag and the space after it.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    super::regex(&format!(
        r#"(?P<name>[A-Za-z0-9_./-]*(?i:{}|key)[A-Za-z0-9_./-]*)(?:(?P<quote>\\*["'])?[ \t]*(?P<sign>=>|:=|[=:])[ \t]*|[ \t]+)"#,
        names::STEMS
    ))
});

/// A program that takes a secret after a short flag, and its arguments.
static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    let programs: Vec<String> = arguments::programs_with_secrets().map(regex::escape).collect();
    super::regex(&format!(
        r#"(?:^|[\s/"'`(\[,;&|=])(?P<line>(?:{}|docker login|podman login|helm registry login|az login|oc login)[ "'\],][^\n|;&]*)"#,
        programs.join("|")
    ))
});

/// A password that a message quotes: `password "x" is too short`.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    super::regex(
        r#"(?i)\b(pass(?:word|wd|phrase|code)s?(?:\s+(?:is|was|of|value|set to))?\s+)(?:"[^"\n]+"|'[^'\n]+'|`[^`\n]+`)"#,
    )
});

/// Removes the values with a secret's name from a text.
pub(super) fn remove(text: &str) -> Cow<'_, str> {
    let mut spans = Vec::new();
    if HINT.is_match(text) {
        spans.extend(named_values(text));
        spans.extend(QUOTED.captures_iter(text).filter_map(|found| {
            let (whole, kept) = (found.get(0)?, found.get(1)?);
            (whole.as_str().len() > kept.len() + 2).then(|| kept.end() + 1..whole.end() - 1)
        }));
    }
    if text.contains(" -") || text.contains("\"-") || text.contains("'-") {
        spans.extend(arguments_of_programs(text));
    }
    without(text, spans)
}

/// Replaces parts of a text, of which some may overlap.
fn without(text: &str, mut spans: Vec<Range<usize>>) -> Cow<'_, str> {
    spans.retain(|span| !text[span.clone()].starts_with(REMOVED) && !span.is_empty());
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_by_key(|span| (span.start, span.end));
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    for span in spans {
        if span.start >= at {
            kept.push_str(&text[at..span.start]);
            kept.push_str(REMOVED);
        }
        at = at.max(span.end);
    }
    kept.push_str(&text[at..]);
    Cow::Owned(kept)
}

fn named_values(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(found) = NAMED.captures_at(text, from) {
        let (Some(whole), Some(name)) = (found.get(0), found.name("name")) else { break };
        // The value may be a name itself: `secret: token: x`.
        from = whole.end();
        let sign = found.name("sign").map(|sign| sign.as_str());
        let value = match sign {
            None => value_of_flag(text, name.range(), whole.end()),
            Some(sign) => {
                let sign_ends_with_space = text[..whole.end()].ends_with([' ', '\t']);
                let key = Key { name: name.range(), quoted: found.name("quote").is_some(), sign, sign_ends_with_space };
                value_of_key(text, &key, whole.end())
            }
        };
        if let Some(value) = value {
            from = from.max(value.end);
            spans.push(value);
        }
    }
    spans
}

/// A name with `=` or `:` after it.
struct Key<'a> {
    name: Range<usize>,
    quoted: bool,
    sign: &'a str,
    sign_ends_with_space: bool,
}

/// Returns the value after `--token `; `None` if the name is no flag for a secret.
fn value_of_flag(text: &str, name: Range<usize>, at: usize) -> Option<Range<usize>> {
    let word = &text[name.clone()];
    let flag = word.trim_start_matches('-');
    let is_flag = word.starts_with('-') && word.len() - flag.len() <= 2 && !flag.starts_with("no-");
    let begins = text[..name.start].chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'`([,=".contains(c));
    if !is_flag || !begins || flag.len() < 2 || !names::is_secret(flag) {
        return None;
    }
    let value = value(text, at)?;
    let is_prose = names::lists(ABOUT_FLAG, &text[value.clone()].to_ascii_lowercase());
    (!text[value.clone()].starts_with('-') && !is_prose).then_some(value)
}

fn value_of_key(text: &str, key: &Key<'_>, at: usize) -> Option<Range<usize>> {
    let name = text[key.name.clone()].trim_start_matches('-');
    let before = text[..key.name.start].chars().next_back();
    if key.quoted
        && is_quoted_in_prose(text, &key.name)
        && !text[at..].trim_start_matches('\\').starts_with(['"', '\''])
    {
        return None;
    }
    let is_query = matches!(before, Some('?' | '&')) && ["key", "code"].contains(&name);
    if !is_query && !names::is_secret(name) {
        return None;
    }
    let is_colon = key.sign == ":" && !key.quoted;
    let rest = &text[at..];
    // `a == b` compares, and in `secret:ns/name`, `urn:secret:x` and `token://` the colon is part of a name.
    let is_part_of_name =
        is_colon && !key.sign_ends_with_space && (matches!(before, Some(':')) || rest.starts_with("//"));
    if (key.sign == "=" && rest.starts_with('=')) || is_part_of_name || is_variable(rest) {
        return None;
    }
    if name.eq_ignore_ascii_case("pwd") && rest.starts_with('/') {
        return None;
    }
    let is_header = |header: &str| name.to_ascii_lowercase().ends_with(header);
    let value = value(text, at)?;
    let word = text[value.clone()].to_ascii_lowercase();
    if is_header("cookie") && value.start == at {
        let end = text[at..].find(['\n', '"', '\'', '\\']).map_or(text.len(), |end| at + end);
        return Some(at..end);
    }
    if ["authorization", "auth"].into_iter().any(is_header) && names::lists(SCHEMES, &word) {
        let next = text[value.end..].trim_start_matches([' ', '\t']);
        return self::value(text, text.len() - next.len()).filter(|next| next.start > value.end);
    }
    if is_colon && value.start == at && is_prose(&text[at..], &word) {
        return echoed_value(text, value.end);
    }
    let is_literal = matches!(word.as_str(), "true" | "false" | "null" | "nil" | "<nil>" | "none");
    let is_count = word.chars().all(|c| c.is_ascii_digit()) && name.to_ascii_lowercase().ends_with('s');
    (!is_literal && !is_count).then_some(value)
}

/// True if the quotes are those of a name in a sentence (`volume "token" : not found`), and not those of a key.
fn is_quoted_in_prose(text: &str, name: &Range<usize>) -> bool {
    let before = text[..name.start].trim_end_matches(['"', '\'', '\\']);
    before.ends_with(' ') && before.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ')')
}

/// True if a value is the beginning of an explanation.
fn is_prose(rest: &str, word: &str) -> bool {
    let bare = word.trim_end_matches(['.', ',', ':', ')', '!']);
    let goes_on = rest.get(word.len()..).is_some_and(|after| {
        let after = after.trim_start_matches(['.', ',', ':', ')', '!']);
        after.starts_with([' ', '\t']) && !after.trim().is_empty()
    });
    names::lists(VERDICTS, bare) || (goes_on && names::lists(PROSE, bare))
}

/// Returns the value that a validation message quotes: `spec.password: Invalid value: "x": too short`.
fn echoed_value(text: &str, from: usize) -> Option<Range<usize>> {
    const ECHO: &str = " value: ";
    let rest = &text[from..];
    rest.starts_with(ECHO).then(|| value(text, from + ECHO.len())).flatten()
}

/// True for references to a variable or a template, which aren't secrets: `$(DB_PASSWORD)`, `{{ .Values.password }}`.
fn is_variable(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['\\', '"', '\'']);
    rest.starts_with("$(") || rest.starts_with("${") || rest.starts_with("{{") || rest.starts_with("%s")
}

/// Range of the value that begins at `at`, without its quotes; `None` if there is none, or it is an object, whose names
/// are looked at one by one.
fn value(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let escapes = rest.len() - rest.trim_start_matches('\\').len();
    let range = match rest[escapes..].chars().next()? {
        quote @ ('"' | '\'') => {
            let start = escapes + 1;
            start..start + end_of_quoted(&rest[start..], quote, escapes)
        }
        '{' => return None,
        '[' => 1..rest.find([']', '\n']).unwrap_or(rest.len()),
        _ => 0..end_of_bare(rest),
    };
    let range = at + range.start..at + range.end;
    let is_removed = text[range.clone()].trim_start_matches(['\\', '"', '\'']).starts_with(REMOVED);
    (!range.is_empty() && !is_removed).then_some(range)
}

/// Length of a quoted value: up to a quote with as many backslashes as the first one has, or to the end of the line.
fn end_of_quoted(rest: &str, quote: char, escapes: usize) -> usize {
    for (at, _) in rest.match_indices(quote) {
        let backslashes = rest[..at].len() - rest[..at].trim_end_matches('\\').len();
        let closes = if escapes == 0 { backslashes.is_multiple_of(2) } else { backslashes <= escapes };
        if closes {
            return at - if escapes == 0 { 0 } else { backslashes };
        }
    }
    rest.find('\n').unwrap_or(rest.len())
}

/// Length of a value without quotes: a word, without the punctuation after it.
fn end_of_bare(rest: &str) -> usize {
    if rest.starts_with(REMOVED) {
        return REMOVED.len();
    }
    let mut end = rest.find(|c: char| c.is_whitespace() || ";&\"'`".contains(c)).unwrap_or(rest.len());
    if rest[end..].starts_with('"') {
        end = rest[..end].trim_end_matches('\\').len();
    }
    // `password=x,user=y` has two values, `password=x,y` has one.
    for (comma, _) in rest[..end].match_indices(',') {
        let next = &rest[comma + 1..end];
        let name = next.len() - next.trim_start_matches(|c: char| c.is_alphanumeric() || "_-.".contains(c)).len();
        if name > 0 && next[name..].starts_with(['=', ':']) {
            end = comma;
            break;
        }
    }
    rest[..end].trim_end_matches([',', '.', ')', ']', '}', '>', ':', '!', '?']).len()
}

/// Finds secrets after short flags of programs that a text names: `mysql -u root -px`.
fn arguments_of_programs(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for found in PROGRAM.captures_iter(text) {
        let Some(line) = found.name("line") else { continue };
        let words = words(text, line.range());
        let texts: Vec<&str> = words.iter().map(|word| &text[word.clone()]).collect();
        let secrets = arguments::secrets(&texts, None, false);
        spans.extend(secrets.into_iter().map(|(at, kept)| words[at].start + kept..words[at].end));
    }
    spans
}

/// Words of a part of a text, without quotes, brackets and commas around them.
fn words(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    const AROUND: &[char] = &['"', '\'', '`', ',', '[', ']', '\\', '(', ')'];
    let mut words = Vec::new();
    let mut at = line.start;
    for piece in text[line].split(char::is_whitespace) {
        let around = if piece.contains(REMOVED) { &AROUND[..AROUND.len() - 2] } else { AROUND };
        let start = at + piece.len() - piece.trim_start_matches(around).len();
        let end = at + piece.trim_end_matches(around).len();
        if start < end {
            // `["mysql","-px"]` has no spaces.
            let mut from = start.min(end);
            for part in text[start..end].split("\",\"") {
                words.push(from..from + part.len());
                from += part.len() + 3;
            }
        }
        at += piece.len() + text[at + piece.len()..].chars().next().map_or(0, char::len_utf8);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_a_secrets_name_go_and_the_rest_stays() {
        for (text, expected) in [
            ("login with password: tulip failed", "login with password: (removed) failed"),
            ("x-api-key: tulip", "x-api-key: (removed)"),
            (
                "AccountName=a;AccountKey=tulip==;EndpointSuffix=b",
                "AccountName=a;AccountKey=(removed);EndpointSuffix=b",
            ),
            ("https://a/b?sv=1&sig=tulip%3D&se=2", "https://a/b?sv=1&sig=(removed)&se=2"),
            ("https://a/b?key=tulip", "https://a/b?key=(removed)"),
            (r#"msg="{\"password\":\"tu lip\",\"a\":1}""#, r#"msg="{\"password\":\"(removed)\",\"a\":1}""#),
            (r#""{\\\"password\\\":\\\"x\\\"}""#, r#""{\\\"password\\\":\\\"(removed)\\\"}""#),
            ("run --token tulip --v=2", "run --token (removed) --v=2"),
            ("password = 'a b'", "password = '(removed)'"),
            ("{password:a,b,user:me}", "{password:(removed),user:me}"),
            ("Authorization: token tulip", "Authorization: token (removed)"),
            ("Cookie: a=b; c=d\nnext", "Cookie: (removed)\nnext"),
            (r#"password "tulip" is too short"#, r#"password "(removed)" is too short"#),
            (
                r#"spec.password: Invalid value: "tulip": too short"#,
                r#"spec.password: Invalid value: "(removed)": too short"#,
            ),
            ("exec mysql -u root -ptulip -h db", "exec mysql -u root -p(removed) -h db"),
            (r#"["redis-cli","-a","tulip"]"#, r#"["redis-cli","-a","(removed)"]"#),
            ("redis-cli -a tulip ping && ls -a x", "redis-cli -a (removed) ping && ls -a x"),
            ("curl -u me:tulip https://x", "curl -u me:(removed) https://x"),
            ("MYSQL_PWD=tulip mysql", "MYSQL_PWD=(removed) mysql"),
            ("app --dsn=me:tulip@tcp(db)/x", "app --dsn=(removed)"),
        ] {
            assert_eq!(remove(text), expected);
            assert_eq!(remove(expected), expected, "twice is once");
        }
    }

    #[test]
    fn prose_about_secrets_stays() {
        for text in [
            "token expired",
            "token: expired",
            "secret not found",
            r#"secret "web" not found"#,
            "couldn't find key password in Secret web/db",
            "spec.tls.secret: Not found: \"x\"",
            "password: Required value",
            "failed to get token: Post \"https://a/b\": dial tcp: i/o timeout",
            "failed to read secret: secrets \"db\" is forbidden: User \"u\" cannot get resource",
            "the --token flag is deprecated",
            "password=$(DB_PASSWORD)",
            "password: {{ .Values.password }}",
            "spec.template.spec.containers[0].ports[0].key: Invalid value: 3",
            "docker run -p 8080:80 web; ls -a x; ssh -p 22 host",
            "max_tokens: 4096",
            "authentication failed: bad credentials",
            "MountVolume.SetUp failed for volume \"token\" : references non-existent secret key: tls.crt",
        ] {
            assert_eq!(remove(text), text);
        }
    }
}
