//! What to do about each error.

use super::disk::human;
use super::error::ToolchainError;
use super::open::CACHE_DIR_VARIABLE;

impl ToolchainError {
    /// What the user can do about it, in one line or a few.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownComponent { known, .. } => Some(format!("there are {}", listing(known))),
            Self::UnknownVersion { component, version, known, nearest, programs } => {
                let there_is = match (&known[..], nearest) {
                    ([], _) => "there is none".to_owned(),
                    ([one], _) => format!("there is only {one}"),
                    (_, Some(nearest)) => format!("there are {}; {nearest} is the nearest", listing(known)),
                    (_, None) => format!("there are {}", listing(known)),
                };
                let add = add_command(component, version, programs);
                Some(format!("{there_is}\na build of your own can be registered: {add}"))
            }
            Self::UnknownProgram { known, .. } => Some(format!("it has {}", listing(known))),
            Self::SystemProgramMissing { package, .. } => Some(format!(
                "on Debian or Ubuntu: sudo apt-get install {package} (as root, `scripts/setup redis` does it and starts no service)"
            )),
            Self::GoMissing { needed, .. } | Self::GoTooOld { needed, .. } => Some(format!(
                "install Go {needed} or later from https://go.dev/dl and put its bin folder on the PATH, \
                 or register programs that you already have with `fleetdrill toolchain add`"
            )),
            Self::Download { output, .. } => Some(download_hint(output).into()),
            Self::Build { output, .. } if output.iter().any(|line| line.contains("signal: killed")) => Some(
                "a compiler was killed, most likely because memory ran out; free some (3 GiB are enough) \
                 and start again: what was compiled is kept"
                    .into(),
            ),
            Self::Build { .. } => Some("what was compiled is kept: starting again resumes the build".into()),
            Self::DiskFull { needed, .. } => Some(disk_hint(*needed)),
            Self::NotWritable { .. } | Self::NoCacheDir => {
                Some(format!("set {CACHE_DIR_VARIABLE} to a folder that you can write to"))
            }
            Self::Corrupt { component, version, .. } => {
                Some(format!("register it again: {}", add_command(component, version, &[])))
            }
            Self::IsPinned { .. } => Some("give your build another version name, or force it with `--force`".into()),
            Self::BadName { .. } => Some("letters, digits and `. _ + -` are allowed, a letter or digit first".into()),
            Self::DoesNotStart { .. } => {
                Some("it is run with `--help` and `--version`, and one of them must succeed within 20 s".into())
            }
            Self::BadSource { .. } => Some("a program is given as NAME=FILE, and --crds takes a directory".into()),
            Self::BadCrds { .. } | Self::Definition { .. } | Self::Io { .. } => None,
        }
    }
}

/// The command that registers a user's own build.
fn add_command(component: &str, version: &str, programs: &[String]) -> String {
    let programs = if programs.is_empty() { &["PROGRAM".to_owned()] } else { programs };
    let programs: Vec<String> = programs.iter().map(|program| format!("{program}=PATH")).collect();
    format!("`fleetdrill toolchain add {component} {version} {} [--crds DIR]`", programs.join(" "))
}

fn download_hint(output: &[String]) -> &'static str {
    let any = |texts: &[&str]| output.iter().any(|line| texts.iter().any(|text| line.contains(text)));
    if any(&["checksum mismatch", "SECURITY ERROR"]) {
        "what was downloaded isn't what is pinned; don't use it, and see what stands between you and the module proxy"
    } else if any(&["403", "404", "410", "not found", "GOPROXY=off", "GOPROXY list"]) {
        "the module proxy refuses the module; see `go env GOPROXY`, and set GOPROXY to one that has it"
    } else {
        "check the network, and `go env GOPROXY`; what was downloaded is kept"
    }
}

fn disk_hint(needed: u64) -> String {
    let need = if needed == 0 { String::new() } else { format!("this takes about {} in all; ", human(needed)) };
    format!(
        "{need}free some space, or move a folder to another disk: {CACHE_DIR_VARIABLE} is fleetdrill's, GOCACHE and GOMODCACHE are Go's"
    )
}

/// `a, b and c`.
fn listing(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(error: &ToolchainError) -> String {
        format!("error: {error}\n\nhint: {}\n", error.hint().unwrap_or_default())
    }

    #[test]
    fn messages() {
        let unknown = ToolchainError::UnknownVersion {
            component: "kubefleet".into(),
            version: "v0.2.0".into(),
            known: vec!["v0.1.2".into(), "v0.14.0".into()],
            nearest: Some("v0.1.2".into()),
            programs: vec!["hub-agent".into(), "member-agent".into()],
        };
        let download = ToolchainError::Download {
            component: "kubernetes".into(),
            version: "v1.36.3".into(),
            output: vec!["go: dial tcp: lookup proxy.example: no such host".into()],
        };
        let full = ToolchainError::DiskFull {
            directory: "/home/u/.cache/go-build".into(),
            free: Some(12 << 20),
            needed: 4 << 30,
        };
        insta::assert_snapshot!([unknown, download, full].iter().map(shown).collect::<Vec<_>>().join("\n"), @"
        error: there is no kubefleet v0.2.0 in the toolchain

        hint: there are v0.1.2 and v0.14.0; v0.1.2 is the nearest
        a build of your own can be registered: `fleetdrill toolchain add kubefleet v0.2.0 hub-agent=PATH member-agent=PATH [--crds DIR]`

        error: failed to download the modules of kubernetes v1.36.3
          go: dial tcp: lookup proxy.example: no such host

        hint: check the network, and `go env GOPROXY`; what was downloaded is kept

        error: no space left on device for /home/u/.cache/go-build (12 MiB free)

        hint: this takes about 4.0 GiB in all; free some space, or move a folder to another disk: FLEETDRILL_CACHE_DIR is fleetdrill's, GOCACHE and GOMODCACHE are Go's
        ");
    }
}
