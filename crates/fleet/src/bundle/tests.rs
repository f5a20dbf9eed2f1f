//! A written bundle can be read again, and the reasons are reported if not.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use diagnosis::{ClusterSnapshot, ObjectList, PodLog, Snapshot, SnapshotRole, UnreadKind, UnreadReason};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::redact::REMOVED;

const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZW1iZXItMSJ9.c2lnbmF0dXJl";

fn bundle() -> Bundle {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fleet-member-member-1"}});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"pw": "hunter2"}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "PW", "value": "hunter2"}]}]}}}});
    let cluster = |name: &str, role, objects: Vec<Value>, unreachable: Option<&str>| ClusterSnapshot {
        unreachable: unreachable.map(Into::into),
        ..ClusterSnapshot::new(name, role, objects)
    };
    let event =
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "message": format!("got {JWT}")});
    let text = format!("got {JWT}\nmigration 0042 failed\n");
    let log = PodLog { namespace: "web".into(), pod: "migrate-x7k2p".into(), container: "migrate".into(), text };
    let (server, logs) = (Some("https://10.0.0.7:6443".into()), vec![log]);
    let time = "2026-11-21T02:10:03Z".parse().ok();
    let east =
        ClusterSnapshot { server, time, logs, ..cluster("../east", SnapshotRole::Member, vec![deployment], None) };
    Bundle {
        fleet: "b7".into(),
        kubefleet: Some("v0.1.2".into()),
        about: Some("a scenario".into()),
        snapshot: Snapshot {
            taken_at: "2026-11-21T02:10:02.123456789Z".parse().unwrap(),
            clusters: vec![
                cluster("hub", SnapshotRole::Hub, vec![namespace, secret], None),
                east,
                cluster("Hub", SnapshotRole::Member, vec![], Some(&format!("refused Bearer {JWT}"))),
            ],
        },
        events: [("hub".to_owned(), vec![event])].into(),
        logs: vec![
            LogTail { process: "hub-agent".into(), text: format!("token {JWT}\nlast line\n"), cut: true },
            LogTail { process: "hub/agent".into(), text: "other\n".into(), cut: false },
        ],
        missing: vec![MissingBundlePart {
            cluster: Some("hub".into()),
            what: "events".into(),
            why: "no".into(),
            needed: false,
        }],
    }
}

pub(super) fn written(name: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    bundle().write(&path).unwrap();
    (dir, path)
}

fn all_files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { all_files(&path) } else { vec![path] }).collect()
}

fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
}

/// Snapshot of `bundle()` with all secrets removed.
fn expected() -> Snapshot {
    let mut snapshot = bundle().snapshot;
    let values = |objects: &ObjectList| objects.iter().map(|object| object.value().to_value()).collect::<Vec<_>>();
    let mut kept = values(&snapshot.clusters[0].objects);
    kept.truncate(1);
    snapshot.clusters[0].objects = kept.into();
    let mut of_member = values(&snapshot.clusters[1].objects);
    of_member[0]["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = REMOVED.into();
    snapshot.clusters[1].objects = of_member.into();
    snapshot.clusters[1].logs[0].text = "got (removed)\nmigration 0042 failed\n".into();
    snapshot.clusters[2].unreachable = Some("refused Bearer (removed)".into());
    snapshot
}

#[test]
fn a_directory_is_read_as_it_was_written() {
    let (_dir, path) = written("b");
    let saved = LoadedBundle::read(&path, SizeLimit::default()).unwrap();
    assert_eq!(saved.snapshot, expected());
    assert_eq!(saved.manifest.about.as_deref(), Some("a scenario"));
    assert_eq!(saved.manifest.missing, bundle().missing);
    saved.check().unwrap();
    let directories: Vec<_> = saved.manifest.clusters.iter().map(|c| c.directory.as_str()).collect();
    assert_eq!(directories, ["hub", "east", "Hub-2"]);
    assert_eq!(LoadedBundle::read(&path.join("bundle.json"), SizeLimit::default()).unwrap().snapshot, saved.snapshot);
}

#[test]
fn an_archive_is_read_as_it_was_written() {
    for name in ["b.tar.gz", "B.TGZ"] {
        let (_dir, path) = written(name);
        assert!(path.is_file());
        assert_eq!(LoadedBundle::read(&path, SizeLimit::default()).unwrap().snapshot, expected());
    }
}

#[test]
fn events_and_logs_are_read_for_people() {
    for name in ["b", "b.tar.gz"] {
        let (_dir, path) = written(name);
        let contents = BundleContents::read(&path, SizeLimit::default()).unwrap();
        assert_eq!(contents.bundle.snapshot, expected(), "{name}");
        let events: Vec<_> = contents.events["hub"].iter().map(|event| event.str("/message")).collect();
        assert_eq!(events, [Some("got (removed)")], "{name}");
        let logs: Vec<_> = contents.logs.iter().map(|log| (&*log.process, &*log.text, log.cut)).collect();
        let expected = [("hub-agent", "token (removed)\nlast line\n", true), ("hub/agent", "other\n", false)];
        assert_eq!(logs, expected, "{name}");
    }
    let (_dir, path) = written("b");
    fs::remove_dir_all(path.join("logs")).unwrap();
    fs::remove_file(path.join("clusters/hub/events.json")).unwrap();
    let contents = BundleContents::read(&path, SizeLimit::default()).unwrap();
    assert!(contents.events.is_empty() && contents.logs.is_empty());

    let (_dir, path) = written("b");
    edit(&path.join("bundle.json"), |manifest| manifest["logs"][0]["file"] = "../bundle.json".into());
    let error = BundleContents::read(&path, SizeLimit::default()).unwrap_err();
    assert!(matches!(error, BundleError::NotABundle { .. }), "{error:?}");
}

#[test]
fn nothing_secret_is_written_and_only_the_owner_may_read_it() {
    let (_dir, path) = written("b");
    let files = all_files(&path);
    assert_eq!(files.len(), 1 + 3 + 1 + 1 + 2, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("hunter2") && !text.contains("eyJ"), "{}: {text}", file.display());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let dir = file.parent().unwrap();
        assert_eq!(fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700, "{}", dir.display());
    }
    let (_dir, path) = written("b.tar.gz");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn nothing_is_overwritten_and_nothing_half_done_is_left() {
    for name in ["b", "b.tar.gz"] {
        let (dir, path) = written(name);
        assert!(matches!(bundle().write(&path), Err(BundleError::Exists(p)) if p == path));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let nowhere = dir.path().join("nowhere").join(name);
        let error = bundle().write(&nowhere).unwrap_err();
        assert!(matches!(error, BundleError::Write { .. }) && !error.is_environment(), "{error:?}");
    }
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(bundle().write(dir.path()), Err(BundleError::Exists(_))), "an empty directory, too");
}

#[test]
fn what_is_no_bundle_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |path: &Path| LoadedBundle::read(path, SizeLimit::default()).unwrap_err();
    assert!(matches!(refused(&dir.path().join("nothing")), BundleError::Read { .. }));
    assert!(matches!(refused(dir.path()), BundleError::NotABundle { .. }));
    let file = dir.path().join("file");
    fs::write(&file, "text").unwrap();
    assert!(matches!(refused(&file), BundleError::NotABundle { .. }));
    fs::write(dir.path().join("bundle.json"), r#"{"name": "app", "version": 1}"#).unwrap();
    assert!(matches!(refused(dir.path()), BundleError::NotABundle { .. }));
    let (_dir, path) = written("b");
    edit(&path.join("bundle.json"), |manifest| manifest["clusters"][0]["directory"] = "../hub".into());
    assert!(matches!(refused(&path), BundleError::NotABundle { .. }));
}

#[test]
fn a_newer_format_is_named() {
    let (_dir, path) = written("b");
    edit(&path.join("bundle.json"), |m| *m = json!({"bundle": "fleetdrill", "schema": 3, "fleetdrill": "9.0.0"}));
    let error = LoadedBundle::read(&path, SizeLimit::default()).unwrap_err();
    assert!(matches!(&error, BundleError::Newer { schema: 3, fleetdrill, .. } if fleetdrill == "9.0.0"), "{error:?}");
}

#[test]
fn what_is_cut_short_is_noticed() {
    let cut = |path: &Path, at: usize| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..at.min(bytes.len())]).unwrap();
    };
    let is_truncated = |path: &Path| match LoadedBundle::read(path, SizeLimit::default()) {
        Err(BundleError::Truncated { .. }) => {}
        other => panic!("{other:?}"),
    };
    for file in ["bundle.json", "clusters/hub/objects.json"] {
        let (_dir, path) = written("b");
        cut(&path.join(file), 40);
        is_truncated(&path);
    }
    let (_dir, path) = written("b");
    fs::remove_file(path.join("clusters/east/objects.json")).unwrap();
    is_truncated(&path);
    let (_dir, path) = written("b");
    fs::write(path.join("clusters/hub/objects.json"), "[]").unwrap();
    is_truncated(&path);
    let (_dir, path) = written("b.tar.gz");
    let length = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
    for at in [length - 200, length / 2, 30, 0] {
        cut(&path, at);
        is_truncated(&path);
    }
}

#[test]
fn logs_may_be_taken_out_by_whoever_passes_it_on() {
    let (_dir, path) = written("b");
    fs::remove_dir_all(path.join("logs")).unwrap();
    fs::remove_file(path.join("clusters/hub/events.json")).unwrap();
    assert_eq!(LoadedBundle::read(&path, SizeLimit::default()).unwrap().snapshot, expected());
    fs::remove_file(path.join("clusters/east/logs.json")).unwrap();
    assert_eq!(LoadedBundle::read(&path, SizeLimit::default()).unwrap().snapshot.clusters[1].logs, []);
}

#[test]
fn a_bundle_of_an_older_fleetdrill_has_neither_addresses_nor_logs() {
    let (_dir, path) = written("b");
    edit(&path.join("bundle.json"), |m| drop(m["clusters"][1].as_object_mut().unwrap().remove("server")));
    fs::remove_file(path.join("clusters/east/logs.json")).unwrap();
    let east = &LoadedBundle::read(&path, SizeLimit::default()).unwrap().snapshot.clusters[1];
    assert_eq!((&east.server, east.logs.len(), east.objects.len()), (&None, 0, 1));
}

#[test]
fn without_the_hub_there_is_no_diagnosis() {
    let (dir, _) = written("b");
    let mut without = bundle();
    without.snapshot.clusters[0].unreachable = Some("connection refused".into());
    let path = dir.path().join("c");
    without.write(&path).unwrap();
    let error = LoadedBundle::read(&path, SizeLimit::default()).unwrap().check().unwrap_err();
    assert!(matches!(&error, BundleError::WithoutHub { why, .. } if why == "connection refused"), "{error:?}");
}

#[test]
fn kinds_that_were_not_read_are_kept_with_the_reason() {
    let kind = UnreadKind {
        group: "argoproj.io".into(),
        resource: "applications".into(),
        reason: UnreadReason::NotServed,
        message: format!("got {JWT}"),
    };
    let (dir, mut bundle) = (tempfile::tempdir().unwrap(), bundle());
    bundle.snapshot.clusters[1].unread = vec![kind.clone()];
    let path = dir.path().join("b");
    bundle.write(&path).unwrap();
    let read = LoadedBundle::read(&path, SizeLimit::default()).unwrap().snapshot;
    assert_eq!(read.clusters[1].unread, [UnreadKind { message: format!("got {REMOVED}"), ..kind }]);

    // Bundles of fleetdrill 0.1.0 have only the text of the reason.
    edit(&path.join("bundle.json"), |manifest| {
        manifest["clusters"][1].as_object_mut().unwrap().remove("unread");
        let refused = json!({"cluster": "hub", "what": "roles", "why": "roles is forbidden"});
        manifest["missing"] = json!([refused, {"cluster": "hub", "what": "events", "why": "no"}]);
    });
    let read = LoadedBundle::read(&path, SizeLimit::default()).unwrap().snapshot;
    let unread: Vec<_> = read.clusters[0].unread.iter().map(|kind| (kind.full_name(), kind.reason)).collect();
    assert_eq!(unread, [("roles.rbac.authorization.k8s.io".to_owned(), UnreadReason::Failed)]);
    assert_eq!(read.clusters[1].unread, []);
}

#[test]
fn a_file_of_an_archive_is_refused_by_the_size_that_it_claims() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b.tar.gz");
    let encoder = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::fast());
    let mut header = tar::Header::new_gnu();
    header.set_path("b/clusters/hub/objects.json").unwrap();
    header.set_size(1 << 31);
    header.set_cksum();
    let mut archive = tar::Builder::new(encoder);
    archive.get_mut().write_all(header.as_bytes()).unwrap();
    archive.into_inner().unwrap().finish().unwrap();
    let error = LoadedBundle::read(&path, SizeLimit::default()).unwrap_err();
    assert!(matches!(error, BundleError::TooLarge { mebibytes: 1024, .. }), "{error:?}");
    // With a larger limit, the archive turns out to be truncated.
    let error = LoadedBundle::read(&path, SizeLimit::of_mebibytes(4096)).unwrap_err();
    assert!(error.to_string().contains("unexpected EOF"), "{error}");
}

/// Writes an archive of entries with these types, names, sizes and contents.
fn archive_of(path: &Path, entries: &[(tar::EntryType, &str, u64, &[u8])]) {
    let encoder = flate2::write::GzEncoder::new(fs::File::create(path).unwrap(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(encoder);
    for (kind, name, size, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_size(*size);
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_link_name("/etc/passwd").unwrap();
        header.set_cksum();
        let zeros = [0; 512];
        archive.get_mut().write_all(header.as_bytes()).unwrap();
        archive.get_mut().write_all(content).unwrap();
        archive.get_mut().write_all(&zeros[..(512 - content.len() % 512) % 512]).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
}

#[test]
fn an_archive_writes_nothing_and_follows_no_links() {
    use tar::EntryType::{Char, Link, Regular, Symlink};
    let (_dir, bundle) = written("b");
    let manifest = fs::read(bundle.join("bundle.json")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b.tar.gz");
    let size = manifest.len() as u64;
    for kind in [Symlink, Link, Char] {
        let entries = [
            (Regular, "bundle.json", size, &manifest[..]),
            (Regular, "../../outside.json", 1, &b"x"[..]),
            (Regular, "/etc/outside.log", 1, &b"x"[..]),
            (kind, "clusters/hub/objects.json", 0, &[]),
        ];
        archive_of(&path, &entries);
        let error = BundleContents::read(&path, SizeLimit::default()).unwrap_err();
        assert!(error.to_string().ends_with("clusters/hub/objects.json ends too early"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

#[test]
fn an_archive_can_not_fill_the_memory() {
    use tar::EntryType::{GNULongLink, GNULongName, Regular, XHeader};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("b.tar.gz");
    // A name as long as the archive may be; tar reads it before anyone can look at it.
    for kind in [GNULongName, GNULongLink, XHeader] {
        archive_of(&path, &[(kind, "././@LongLink", 1 << 30, &vec![b'a'; 1 << 20])]);
        let error = LoadedBundle::read(&path, SizeLimit::default()).unwrap_err();
        assert!(error.to_string().ends_with("an entry has a name that is too long"), "{kind:?}: {error}");
    }
    // Empty files.
    let names: Vec<String> = (0..20_000).map(|n| format!("{n}/bundle.json")).collect();
    let entries: Vec<_> = names.iter().map(|name| (Regular, name.as_str(), 0, &[][..])).collect();
    archive_of(&path, &entries);
    let error = LoadedBundle::read(&path, SizeLimit::of_mebibytes(2)).unwrap_err();
    assert!(matches!(error, BundleError::TooLarge { mebibytes: 2, .. }), "{error}");
    // Content that is small only as long as it is compressed, once and twice.
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    bomb.write_all(&vec![b'['; 64 << 20]).unwrap();
    let bomb = bomb.finish().unwrap();
    for name in ["bundle.json.gz", "clusters/hub/objects.json.gz", "clusters/hub/logs.json.gz"] {
        archive_of(&path, &[(Regular, name, bomb.len() as u64, &bomb)]);
        let error = LoadedBundle::read(&path, SizeLimit::of_mebibytes(8)).unwrap_err();
        assert!(matches!(error, BundleError::TooLarge { mebibytes: 8, .. }), "{name}: {error}");
    }
    // Lists in lists, which would exhaust the stack.
    for (name, depth) in [("bundle.json", 100_000), ("clusters/hub/objects.json", 100_000)] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let (_dir, bundle) = written("b");
        fs::write(bundle.join(name), nested).unwrap();
        let error = LoadedBundle::read(&bundle, SizeLimit::default()).unwrap_err();
        assert!(matches!(error, BundleError::NotABundle { .. }), "{name}: {error}");
    }
}

#[test]
fn the_links_of_a_directory_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("objects.json"), "[]").unwrap();
    fs::write(outside.path().join("secret.log"), "tulip").unwrap();
    let refused = |path: &Path| match BundleContents::read(path, SizeLimit::default()) {
        Err(error @ BundleError::NotABundle { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    for (file, target) in [
        ("clusters/hub/objects.json", "objects.json"),
        ("clusters/east/logs.json", "secret.log"),
        ("logs/hub-agent.log", "secret.log"),
        ("bundle.json", "secret.log"),
    ] {
        let (_dir, path) = written("b");
        fs::remove_file(path.join(file)).unwrap();
        symlink(outside.path().join(target), path.join(file)).unwrap();
        let said = refused(&path);
        assert!(said.ends_with("is no bundle: it is a link that leads outside of the bundle"), "{file}: {said}");
        // Compressed files, too.
        let (_dir, path) = written("b");
        fs::remove_file(path.join(file)).unwrap();
        symlink(outside.path().join(target), path.join(format!("{file}.gz"))).unwrap();
        assert!(refused(&path).contains("leads outside"), "{file}");
    }
    let (_dir, path) = written("b");
    fs::remove_dir_all(path.join("clusters/hub")).unwrap();
    symlink(outside.path(), path.join("clusters/hub")).unwrap();
    assert!(refused(&path).contains("leads outside"));
    // A pipe that nobody writes to, and a device that never ends.
    for target in ["pipe", "/dev/zero"] {
        let (_dir, path) = written("b");
        let file = path.join("clusters/hub/objects.json");
        fs::remove_file(&file).unwrap();
        if target == "pipe" {
            assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        } else {
            symlink(target, &file).unwrap();
        }
        assert!(refused(&path).ends_with("is no bundle: it is no file"), "{target}");
    }
    // A bundle may be reached by a link, and have links within itself.
    let (dir, path) = written("b");
    fs::rename(path.join("clusters/hub/objects.json"), path.join("clusters/hub/o.json")).unwrap();
    symlink("o.json", path.join("clusters/hub/objects.json")).unwrap();
    symlink(&path, dir.path().join("link")).unwrap();
    assert_eq!(LoadedBundle::read(&dir.path().join("link"), SizeLimit::default()).unwrap().snapshot, expected());
}
