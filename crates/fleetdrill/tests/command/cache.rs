//! A toolchain cache that is damaged, or empty with no Go to fill it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::features::quick;
use crate::place::{PROGRAM, Place, Said};

/// Copies a component's default version from the cache, by hard links where possible, so that a test can replace files.
/// Returns its folder in the copy, or `None` if the cache doesn't have it yet.
pub fn copy_of(place: &Place, cache: &Path, component: &str) -> Option<PathBuf> {
    let listed: serde_json::Value =
        serde_json::from_str(&place.run(["toolchain", "list", "-o", "json"]).stdout).expect("JSON");
    let default = listed.as_array()?.iter().find(|c| c["component"] == component && c["default"] == true)?;
    let from = PathBuf::from(default["folder"].as_str()?);
    let to = cache.join("toolchain").join(component).join(from.file_name()?);
    let mut folders = vec![(from, to.clone())];
    while let Some((from, to)) = folders.pop() {
        fs::create_dir_all(&to).expect("made");
        for entry in fs::read_dir(&from).ok()?.flatten() {
            let (path, copy) = (entry.path(), to.join(entry.file_name()));
            if path.is_dir() {
                folders.push((path, copy));
            } else if fs::hard_link(&path, &copy).is_err() {
                fs::copy(&path, &copy).expect("copied");
            }
        }
    }
    Some(to)
}

/// Registers a build of Argo CD, `v3.9.0-mine`, that answers `--help` and doesn't start, in a copy of the cache. Returns false if the cache
/// lacks a component that a fleet with Argo CD needs.
pub fn register_argocd_that_does_not_start(place: &Place, cache: &Path) -> bool {
    let copied = ["kubefleet", "kubernetes", "kustomize", "helm"].map(|component| copy_of(place, cache, component));
    let Some(pinned) = copy_of(place, cache, "argocd").filter(|_| copied.iter().all(Option::is_some)) else {
        return false;
    };
    let program = script(place, "argocd", "[ \"$1\" = --help ] || { echo no such role >&2; exit 7; }");
    let (program, crds) = (format!("argocd={program}"), pinned.join("crds").display().to_string());
    let add = ["toolchain", "add", "argocd", "v3.9.0-mine", &program, "--crds", &crds];
    with_cache(place, cache, &add).expect(0, &["registered"]);
    true
}

/// Runs the command with another cache.
pub fn with_cache(place: &Place, cache: &Path, args: &[&str]) -> Said {
    Said::from(place.command(args).env("FLEETDRILL_CACHE_DIR", cache).output().expect("starts"))
}

/// Writes a shell script as a program.
pub fn script(place: &Place, name: &str, text: &str) -> String {
    let path = place.write(name, &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    path
}

/// Copies the cache and registers KubeFleet v9.9.9 in it, whose agents exit with code 7 as soon as they are started.
/// Returns the folder of the real agents in the copy.
pub fn heartless(place: &Place, cache: &Path) -> PathBuf {
    // Fills the cache, so that there is something to copy.
    place.run(["toolchain", "install"]).expect(0, &[]);
    copy_of(place, cache, "kubernetes").expect("the control planes");
    let agents = copy_of(place, cache, "kubefleet").expect("the agents");
    let text = "case $1 in --help) echo '  --kubeconfig string'; exit 0;; esac; echo I have no heart >&2; exit 7";
    let agent = script(place, "agent", text);
    let (hub, member) = (format!("hub-agent={agent}"), format!("member-agent={agent}"));
    let crds = agents.join("crds").display().to_string();
    let add = ["toolchain", "add", "kubefleet", "v9.9.9", &hub, &member, "--crds", &crds];
    with_cache(place, cache, &add).expect(0, &[]);
    agents
}

#[test]
fn an_empty_cache_and_no_go() {
    let place = Place::new();
    let mut command = Command::new("unshare");
    place.environment(&mut command);
    // fleetdrill also looks for Go in its usual directory when PATH doesn't have it. An empty file system hides that
    // directory.
    let hide = "[ ! -d /usr/local/go ] || mount -t tmpfs none /usr/local/go";
    if !Command::new("unshare").args(["-rm", "sh", "-c", hide]).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system doesn't let us hide Go");
        return;
    }
    let script = format!("{hide}; PATH=/nowhere; exec \"$0\" run --junit junit.xml {}", quick(&place));
    command.args(["-rm", "sh", "-c", &script, PROGRAM]).env("FLEETDRILL_CACHE_DIR", place.path("cache"));
    let said = Said::from(command.output().expect("starts"));
    said.expect(3, &["needs Go 1.", "and there is no `go`", "https://go.dev/dl"]);
    // Without a report, a CI system that reads reports might see a success.
    let junit = fs::read_to_string(place.path("junit.xml")).expect("the JUnit file is there");
    assert!(junit.contains("<error message=\"the fleet didn&apos;t start: "), "{junit}");
    place.nothing_is_left();
}

#[test]
fn a_damaged_cache_is_told_and_not_used() {
    let place = Place::new();
    let cache = place.path("cache");
    let (Some(agents), Some(planes)) = (copy_of(&place, &cache, "kubefleet"), copy_of(&place, &cache, "kubernetes"))
    else {
        eprintln!("skipped: there is no cache yet that a copy could be damaged of");
        return;
    };
    // This Go can't rebuild the damaged component.
    script(&place, "go", "case $1 in env) echo go1.2.3; echo local; echo; echo /c; echo /m;; *) exit 1;; esac");
    let run = || {
        let mut command = place.command(["run", &quick(&place)]);
        command.env("FLEETDRILL_CACHE_DIR", &cache).env("PATH", place.path(""));
        Said::from(command.output().expect("starts"))
    };
    for (folder, file) in [(&planes, "bin/kube-apiserver"), (&agents, "bin/hub-agent"), (&agents, "manifest.json")] {
        let file = folder.join(file);
        let bytes = fs::read(&file).expect("read");
        fs::remove_file(&file).expect("the name goes, the original stays");
        fs::write(&file, &bytes[..bytes.len() / 2]).expect("written");
        let name = file.file_name().expect("has one").to_string_lossy().into_owned();
        run().expect(3, &[&name, "needs Go 1.", "is go1.2.3"]);
        fs::write(&file, &bytes).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("set");
    }
    place.nothing_is_left();
}

#[test]
fn a_damaged_build_of_ones_own_is_told() {
    let place = Place::new();
    let cache = place.path("cache");
    let agent = script(&place, "agent", "echo '  --kubeconfig string'");
    let (hub, member) = (format!("hub-agent={agent}"), format!("member-agent={agent}"));
    with_cache(&place, &cache, &["toolchain", "add", "kubefleet", "v9.9.9", &hub, &member]).expect(0, &["registered"]);
    let copy = Command::new("find").arg(&cache).args(["-name", "member-agent"]).output().expect("find runs");
    fs::write(String::from_utf8_lossy(&copy.stdout).trim(), "#!/bin/sh\n").expect("written");
    with_cache(&place, &cache, &["run", "--kubefleet", "v9.9.9"]).expect(3, &["member-agent", "v9.9.9", "hint: "]);
    place.nothing_is_left();
}

#[test]
fn an_archive_is_downloaded_only_with_a_checksum() {
    let place = Place::new();
    let import = |args: &[&str]| {
        let mut command = place.command(["toolchain", "import"].iter().chain(args));
        Said::from(command.env("FLEETDRILL_CACHE_DIR", place.path("cache")).output().expect("the command starts"))
    };
    // Nothing listens there.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://me:secret@{}/t.tar.gz", listener.local_addr().expect("an address"));
    let host = url.rsplit('@').next().expect("a host").to_owned();
    drop(listener);
    import(&[&url]).expect(2, &["an archive is downloaded only with its SHA-256", "hint: give the checksum"]);
    let said = import(&[&url, "--sha256", "00"]);
    said.expect(3, &[&format!("error: failed to download http://{host}: "), "hint: check the network"]);
    assert!(!said.stderr.contains("secret"), "{}", said.stderr);
    let left = std::fs::read_dir(place.path("cache/toolchain")).expect("a directory").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).filter(|name| name != ".import.lock").collect();
    assert!(left.is_empty(), "{left:?}");
}
