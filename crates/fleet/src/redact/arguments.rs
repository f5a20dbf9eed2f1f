//! Secrets in command lines: after flags with a secret's name, and after short flags, whose meaning depends on the
//! program: `-p` is a password for mysql, a port for ssh, and a switch for mkdir.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::{REMOVED, names};

/// Fields whose lists of strings are command lines.
const COMMAND_LINES: &[&str] =
    &["args", "arguments", "cmd", "command", "commandArgs", "entrypoint", "extraArgs", "flags"];

/// Programs that take a secret after a short flag.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("mysql", &["-p"]),
    ("mysqldump", &["-p"]),
    ("mysqladmin", &["-p"]),
    ("mysqlshow", &["-p"]),
    ("mysqlimport", &["-p"]),
    ("mysqlcheck", &["-p"]),
    ("mysqlsh", &["-p"]),
    ("mariadb", &["-p"]),
    ("mariadb-dump", &["-p"]),
    ("mariadb-admin", &["-p"]),
    ("redis-cli", &["-a"]),
    ("redis-benchmark", &["-a"]),
    ("redis", &["-a"]),
    ("valkey-cli", &["-a"]),
    ("keydb-cli", &["-a"]),
    ("mongo", &["-p"]),
    ("mongosh", &["-p"]),
    ("mongodump", &["-p"]),
    ("mongorestore", &["-p"]),
    ("mongoexport", &["-p"]),
    ("mongoimport", &["-p"]),
    ("sshpass", &["-p"]),
    ("ldapsearch", &["-w"]),
    ("ldapadd", &["-w"]),
    ("ldapmodify", &["-w"]),
    ("ldapwhoami", &["-w"]),
    ("ldapdelete", &["-w"]),
    ("sqlcmd", &["-P"]),
    ("bcp", &["-P"]),
    ("zip", &["-P"]),
    ("unzip", &["-P"]),
    ("7z", &["-p"]),
    ("cqlsh", &["-p"]),
    ("rabbitmqadmin", &["-p"]),
    ("mosquitto_pub", &["-P"]),
    ("mosquitto_sub", &["-P"]),
    ("influx", &["-p", "-t"]),
    ("oc", &["-p"]),
    ("az", &["-p"]),
    ("curl", &[]),
];

/// Programs for which no short flag is followed by a secret. Container tools log in with `-p`, see [`is_login`].
const HARMLESS: &str = "\
    apk apt apt-get awk cat chmod chown cp date dd df docker du echo find git go grep helm head id install ip \
    iptables java kill kubectl ln ls lsof make mkdir mount mv nc nerdctl netstat nginx node nslookup pg_dump \
    pg_isready ping podman ps psql python python3 read rm rsync scp sed sftp sleep sort ss ssh stat su tail tar tee \
    test top touch uname wget which xargs";

/// Programs that only start another one.
const WRAPPERS: &str = "\
    bash chroot dumb-init env exec gosu nice nohup sh sudo time timeout tini";

/// Removes secrets from the command lines of a container, or of anything else with such fields. Its command, or its
/// image, tells the program.
pub(super) fn remove_from_fields(fields: &mut Map<String, Value>) {
    let first = |field: &str| fields.get(field)?.as_array()?.first()?.as_str().map(ToOwned::to_owned);
    let from_image = || fields.get("image")?.as_str().map(|image| base_name(image).to_owned());
    let of_container = first("command").or_else(from_image);
    for field in COMMAND_LINES {
        if let Some(items) = fields.get_mut(*field).and_then(Value::as_array_mut) {
            remove_from(items, of_container.as_deref(), true);
        }
    }
}

/// Removes secrets from a list that may be a command line. In a list of another name, short flags count only after the
/// name of a program that is known to take a secret.
pub(super) fn remove_from_list(items: &mut [Value]) {
    remove_from(items, None, false);
}

fn remove_from(items: &mut [Value], program: Option<&str>, is_command_line: bool) {
    let words: Vec<&str> = items.iter().map(|item| item.as_str().unwrap_or_default()).collect();
    let secrets = secrets(&words, program, is_command_line);
    for (at, kept) in secrets {
        let kept = items[at].as_str().and_then(|word| word.get(..kept)).unwrap_or_default();
        items[at] = format!("{kept}{REMOVED}").into();
    }
}

/// Secrets among the words of a command line: the index of the word, and the bytes of it that aren't secret.
/// `is_command_line` is false if the words may be something else.
pub(super) fn secrets(words: &[&str], program: Option<&str>, is_command_line: bool) -> Vec<(usize, usize)> {
    let named = words.iter().find(|word| is_program_name(word)).map(|word| base_name(word));
    let program = named.or(program.map(base_name));
    let flags = program.and_then(flags_of);
    let is_login = is_login(words);
    let is_harmless = program.is_some_and(|program| names::lists(HARMLESS, program)) && !is_login;
    let is_unknown = is_command_line && flags.is_none() && !is_harmless;
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().filter(|next| !next.starts_with('-') && !is_removed(next));
        if is_secret_flag(word) {
            found.extend(next.map(|_| (at + 1, 0)));
        } else if is_user_flag(word) {
            found.extend(next.and_then(user_and_password).map(|kept| (at + 1, kept)));
        } else if let Some((flag, rest)) = short_flag(word) {
            let is_known = flags.is_some_and(|flags| flags.contains(&flag)) || (is_login && flag == "-p");
            let may_be = is_known || (is_unknown && matches!(flag, "-p" | "-a"));
            if !may_be {
                found.extend(joined_user(flag, rest).map(|kept| (at, kept)));
            } else if rest.is_empty() {
                found.extend(next.filter(|next| is_known || !is_ordinary(next)).map(|_| (at + 1, 0)));
            } else if !is_removed(rest) && (is_known || (flag == "-p" && is_joined_password(rest))) {
                found.push((at, flag.len()));
            }
        }
    }
    found
}

/// Programs, as they stand in front of a command in a text.
pub(super) fn programs_with_secrets() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, _)| *name).filter(|name| !matches!(*name, "redis" | "oc" | "az" | "zip" | "influx"))
}

fn flags_of(program: &str) -> Option<&'static [&'static str]> {
    PROGRAMS.iter().find(|(name, _)| *name == program).map(|(_, flags)| *flags)
}

fn is_removed(word: &str) -> bool {
    word == REMOVED
}

/// True for `docker login`, `helm registry login` and the like.
fn is_login(words: &[&str]) -> bool {
    words.contains(&"login")
}

fn is_program_name(word: &str) -> bool {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && flags_of(word).is_none();
    !word.is_empty()
        && !word.starts_with('-')
        && !word.contains([' ', '=', '\n'])
        && !is_number
        && !names::lists(WRAPPERS, base_name(word))
}

/// Name of a program without its directory, or of an image without its registry, tag and digest.
fn base_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split([':', '@']).next().unwrap_or(name)
}

/// True for `--db-password` and `-token`, which the secret follows as the next word.
fn is_secret_flag(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let dashes = word.len() - name.len();
    (1..=2).contains(&dashes)
        && name.len() > 1
        && !name.contains(['=', ' '])
        && names::is_secret(name)
        && !name.starts_with("no-")
}

fn is_user_flag(word: &str) -> bool {
    matches!(word, "-u" | "-U" | "--user" | "--proxy-user" | "--username")
}

/// Splits `-pX` into `-p` and `X`.
fn short_flag(word: &str) -> Option<(&str, &str)> {
    let is_short = word.starts_with('-') && word[1..].starts_with(|c: char| c.is_ascii_alphabetic());
    is_short.then(|| word.split_at(2))
}

/// Bytes to keep of `user:password`; `None` for ids such as `1000:1000` and for anything else.
fn user_and_password(word: &str) -> Option<usize> {
    let word = word.trim_start_matches(['"', '\'']);
    let colon = word.find(':')?;
    let (user, password) = (&word[..colon], &word[colon + 1..]);
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let are_ids = is_number(user) && is_number(password);
    let is_secret = !are_ids && !password.is_empty() && !password.starts_with("//") && !is_removed(password);
    is_secret.then_some(colon + 1)
}

/// Bytes to keep of `-uuser:password`.
fn joined_user(flag: &str, rest: &str) -> Option<usize> {
    (flag == "-u" && !rest.contains('=')).then(|| user_and_password(rest).map(|kept| flag.len() + kept)).flatten()
}

/// True for ports, addresses, paths, numbers, variables and switches, which follow `-p` and `-a` of programs that
/// aren't known.
fn is_ordinary(word: &str) -> bool {
    static ORDINARY: LazyLock<Regex> = LazyLock::new(|| {
        super::regex(
            r"^(?:[0-9.:,/-]+(?:/?(?:tcp|udp))?|(?:\.{0,2}|~)/.*|\$.*|true|false|all|tcp|udp|localhost(?::\d+)?|\*)$",
        )
    });
    ORDINARY.is_match(word)
}

/// True if `X` of `-pX` can't be the rest of a long flag with one dash, such as `-port=80` or `-path`.
fn is_joined_password(rest: &str) -> bool {
    let name = rest.split('=').next().unwrap_or(rest);
    let is_long_flag = name.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_' || c == '.');
    !is_long_flag && !is_ordinary(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &[&str], program: Option<&str>) -> Vec<String> {
        let mut items: Vec<Value> = words.iter().map(|word| (*word).into()).collect();
        remove_from(&mut items, program, true);
        items.iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn what_follows_a_flag_for_a_secret_goes() {
        for (words, expected) in [
            (&["mysql", "-u", "root", "-p", "tulip"][..], &["mysql", "-u", "root", "-p", REMOVED][..]),
            (&["mysql", "-ptulip"], &["mysql", "-p(removed)"]),
            (&["/usr/bin/redis-cli", "-a", "tulip"], &["/usr/bin/redis-cli", "-a", REMOVED]),
            (&["-p", "tulip"], &["-p", REMOVED]),
            (&["-a", "tulip"], &["-a", REMOVED]),
            (&["-pTulip7"], &["-p(removed)"]),
            (&["curl", "-u", "me:tulip", "https://x"], &["curl", "-u", "me:(removed)", "https://x"]),
            (&["curl", "-ume:tulip"], &["curl", "-ume:(removed)"]),
            (&["app", "--user", "me:tulip"], &["app", "--user", "me:(removed)"]),
            (&["app", "--token", "tulip", "--v", "2"], &["app", "--token", REMOVED, "--v", "2"]),
            (&["docker", "login", "-u", "me", "-p", "tulip"], &["docker", "login", "-u", "me", "-p", REMOVED]),
            (&["sh", "env", "mysql", "-p", "8080"], &["sh", "env", "mysql", "-p", REMOVED]),
        ] {
            assert_eq!(shown(words, None), expected);
        }
        assert_eq!(shown(&["-ptulip"], Some("docker.io/library/mysql:8")), ["-p(removed)"]);
    }

    #[test]
    fn ports_paths_and_switches_stay() {
        for words in [
            &["app", "-p", "8080:80"][..],
            &["app", "-p", "5432"],
            &["app", "-p", "127.0.0.1:80:80/tcp"],
            &["psql", "-p", "5432", "-U", "me", "-d", "orders"],
            &["docker", "run", "-p", "8080:80", "-u", "1000:1000", "nginx"],
            &["ls", "-a", "files"],
            &["ps", "-a", "x"],
            &["mkdir", "-p", "data"],
            &["ssh", "-p", "2222", "host"],
            &["app", "-port=80", "-path", "-profile"],
            &["app", "-p", "/etc/app", "-a", "./all"],
            &["app", "--hub-token-file", "/var/run/token", "--secret-name", "web"],
            &["app", "-u", "me"],
        ] {
            assert_eq!(shown(words, None), words);
        }
    }

    #[test]
    fn lists_of_something_else_are_kept() {
        let mut items: Vec<Value> = ["-p", "tulip", "-a", "x"].map(Into::into).to_vec();
        let before = items.clone();
        remove_from_list(&mut items);
        assert_eq!(items, before);
    }
}
