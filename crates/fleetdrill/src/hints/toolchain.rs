//! Hints for errors of the toolchain.

use toolchain::{CACHE_DIR_VARIABLE, DownloadFailure, ToolchainError, human_size};

/// Returns a hint of one line or a few, where one can be given.
#[must_use]
pub fn for_toolchain(error: &ToolchainError) -> Option<String> {
    match error {
        ToolchainError::UnknownComponent { known, .. } => Some(format!("there are {}", listing(known))),
        ToolchainError::UnknownVersion { component, version, known, nearest, programs } => {
            let there_is = match (&known[..], nearest) {
                ([], _) => "there is none".to_owned(),
                ([one], _) => format!("there is only {one}"),
                (_, Some(nearest)) => format!("there are {}; {nearest} is the nearest", listing(known)),
                (_, None) => format!("there are {}", listing(known)),
            };
            let add = add_command(component, version, programs);
            Some(format!("{there_is}\na build of your own can be registered: {add}"))
        }
        ToolchainError::UnknownProgram { known, .. } => Some(format!("it has {}", listing(known))),
        ToolchainError::SystemProgramMissing { package, .. } => Some(format!(
            "on Debian or Ubuntu: sudo apt-get install {package} (as root, `scripts/setup redis` does it and starts no service)"
        )),
        ToolchainError::GoMissing { needed, .. } | ToolchainError::GoTooOld { needed, .. } => Some(format!(
            "install Go {needed} or later from https://go.dev/dl and put its bin folder on the PATH, \
             or register programs that you already have with `fleetdrill toolchain add`"
        )),
        ToolchainError::Download { output, .. } => Some(download_hint(output).into()),
        ToolchainError::Build { output, .. } if output.iter().any(|line| line.contains("signal: killed")) => Some(
            "a compiler was killed, most likely because memory ran out; free some (3 GiB are enough) \
             and start again: what was compiled is kept"
                .into(),
        ),
        ToolchainError::Build { .. } => Some("what was compiled is kept: starting again resumes the build".into()),
        ToolchainError::DiskFull { needed, .. } => Some(disk_hint(*needed)),
        ToolchainError::NotWritable { .. } | ToolchainError::NoCacheDir => {
            Some(format!("set {CACHE_DIR_VARIABLE} to a folder that you can write to"))
        }
        ToolchainError::Corrupt { component, version, .. } => {
            Some(format!("register it again: {}", add_command(component, version, &[])))
        }
        ToolchainError::NotInCache { component, version } => {
            Some(format!("build it first: fleetdrill toolchain install {component} {version}"))
        }
        ToolchainError::BadArchive { .. } => {
            Some("`fleetdrill toolchain export FILE` writes one, on a machine of the same kind".into())
        }
        ToolchainError::WrongChecksum { .. } => Some("don't use it: get it again, or ask its owner".into()),
        ToolchainError::NotDownloaded { failure, .. } => for_download(failure),
        ToolchainError::IsPinned { .. } => {
            Some("give your build another version name, or force it with `--force`".into())
        }
        ToolchainError::BadName { .. } => {
            Some("letters, digits and `. _ + -` are allowed, a letter or digit first".into())
        }
        ToolchainError::DoesNotStart { .. } => {
            Some("it is run with `--help` and `--version`, and one of them must succeed within 20 s".into())
        }
        ToolchainError::BadSource { .. } => {
            Some("a program is given as NAME=FILE, and --crds takes a directory".into())
        }
        _ => None,
    }
}

fn for_download(failure: &DownloadFailure) -> Option<String> {
    let hint = match failure {
        DownloadFailure::BadUrl => "write it as https://HOST/PATH",
        DownloadFailure::Status(401 | 403) => "it needs a login: download it yourself, and import the file",
        DownloadFailure::Status(_) => "check the address, or ask the archive's owner",
        DownloadFailure::InsecureRedirect => "give the address to which it redirects",
        DownloadFailure::Tls(_) => {
            "check the address; the certificates of this system are trusted, and those in the file that SSL_CERT_FILE names"
        }
        DownloadFailure::Cut { .. } => "try it again",
        DownloadFailure::Connection(_) => "check the network, and HTTPS_PROXY if there is a proxy",
        DownloadFailure::TooLarge { .. } => "`fleetdrill toolchain export FILE` writes smaller ones: check the address",
        DownloadFailure::Write { .. } => "free some space, or set FLEETDRILL_CACHE_DIR to a folder on another disk",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The command that registers a user's own build.
fn add_command(component: &str, version: &str, programs: &[String]) -> String {
    let programs = if programs.is_empty() { &["PROGRAM".to_owned()] } else { programs };
    let programs: Vec<String> = programs.iter().map(|program| format!("{program}=PATH")).collect();
    format!("`fleetdrill toolchain add {component} {version} {} [--crds DIR]`", programs.join(" "))
}

fn download_hint(output: &[String]) -> &'static str {
    if contains_any(output, &["checksum mismatch", "SECURITY ERROR"]) {
        "what was downloaded isn't what is pinned; don't use it, and see what stands between you and the module proxy"
    } else if contains_any(output, &["403", "404", "410", "not found", "GOPROXY=off", "GOPROXY list"]) {
        "the module proxy refuses the module; see `go env GOPROXY`, and set GOPROXY to one that has it"
    } else {
        "check the network, and `go env GOPROXY`; what was downloaded is kept"
    }
}

fn contains_any(output: &[String], texts: &[&str]) -> bool {
    output.iter().any(|line| texts.iter().any(|text| line.contains(text)))
}

fn disk_hint(needed: u64) -> String {
    let need = if needed == 0 { String::new() } else { format!("this takes about {} in all; ", human_size(needed)) };
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
        format!("error: {error}\n\nhint: {}\n", for_toolchain(error).unwrap_or_default())
    }

    #[test]
    fn an_unknown_version_has_the_command_that_registers_a_build() {
        let unknown = ToolchainError::UnknownVersion {
            component: "demo".into(),
            version: "v1.2.0".into(),
            known: vec!["v1.0.0".into()],
            nearest: None,
            programs: vec!["one".into(), "two".into()],
        };
        let hint = for_toolchain(&unknown).expect("has one");
        assert!(hint.starts_with("there is only v1.0.0\n"), "{hint}");
        assert!(hint.contains("fleetdrill toolchain add demo v1.2.0 one=PATH two=PATH"), "{hint}");
        let component = ToolchainError::UnknownComponent { component: "kubernets".into(), known: vec!["demo".into()] };
        assert_eq!(for_toolchain(&component).as_deref(), Some("there are demo"));
    }

    #[test]
    fn a_refused_download_has_the_proxy_in_its_hint() {
        let output = vec!["go: x@v1: reading https://proxy.example.com/x: 403 Forbidden".into()];
        let refused = ToolchainError::Download { component: "demo".into(), version: "v1".into(), output };
        assert!(for_toolchain(&refused).is_some_and(|hint| hint.contains("set GOPROXY to one that has it")));
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
