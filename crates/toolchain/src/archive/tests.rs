//! Tests with a component that was added, whose program is a shell script.

use std::fs;
use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{ArchiveIndex, ArchivedVersion};
use crate::event::BuildEvent;
use crate::{Toolchain, ToolchainError, VersionRegistration};

const QUIET: &(dyn Fn(BuildEvent) + Send + Sync) = &|_| {};

/// Returns a cache in a folder, with a version `mine` of `kubefleet`.
async fn with_version(dir: &Path) -> Toolchain {
    let program = dir.join("agent");
    fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let cache = Toolchain::open(Some(dir.join("cache"))).unwrap();
    let programs = [("hub-agent".to_owned(), program)].into();
    let added =
        VersionRegistration { component: "kubefleet".into(), version: "mine".into(), programs, ..Default::default() };
    cache.add(&added, QUIET).await.unwrap();
    cache
}

fn mine() -> Vec<(String, String)> {
    vec![("kubefleet".to_owned(), "mine".to_owned())]
}

async fn exported(dir: &Path) -> PathBuf {
    let path = dir.join("toolchain.tar.gz");
    with_version(dir).await.export(&mine(), &path, QUIET).await.unwrap();
    path
}

/// Imports an archive into an empty cache. An error leaves nothing in it.
async fn imported(dir: &Path, archive: &Path) -> Result<Toolchain, String> {
    let cache = Toolchain::open(Some(dir.join("other"))).unwrap();
    let result = cache.import(archive, None, QUIET).await;
    let left = fs::read_dir(dir.join("other/toolchain")).unwrap().flatten();
    let left: Vec<_> =
        left.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| name != ".import.lock").collect();
    assert_eq!(left.is_empty(), result.is_err(), "{left:?}");
    result.map(|_| cache).map_err(|error| error.to_string().replace(&archive.display().to_string(), "FILE"))
}

#[tokio::test]
async fn what_was_exported_can_be_used_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let archive = exported(dir.path()).await;
    let other = imported(dir.path(), &archive).await.unwrap();
    let installed = other.ensure("kubefleet", "mine", &["hub-agent"], QUIET).await.unwrap();
    assert_eq!(fs::read_to_string(installed.program("hub-agent").unwrap()).unwrap(), "#!/bin/sh\nexit 0\n");
    // Once more, over the first.
    other.import(&archive, None, QUIET).await.unwrap();
    other.ensure("kubefleet", "mine", &["hub-agent"], QUIET).await.unwrap();
}

#[tokio::test]
async fn a_checksum_is_compared_before_anything_is_changed() {
    let dir = tempfile::tempdir().unwrap();
    let archive = exported(dir.path()).await;
    let other = Toolchain::open(Some(dir.path().join("other"))).unwrap();
    let Err(ToolchainError::WrongChecksum { actual, .. }) = other.import(&archive, Some("00"), QUIET).await else {
        panic!("another error, or none");
    };
    assert!(!other.list().iter().any(|listed| listed.version == "mine"));
    other.import(&archive, Some(&actual.to_uppercase()), QUIET).await.unwrap();
}

/// Address of a server with one file.
fn serving(file: &Path) -> String {
    let content = fs::read(file).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = std::io::BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len());
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&content)).unwrap();
        }
    });
    format!("http://{address}/toolchain.tar.gz")
}

#[tokio::test]
async fn an_archive_is_downloaded_and_unpacked_only_if_it_has_its_checksum() {
    let dir = tempfile::tempdir().unwrap();
    let archive = exported(dir.path()).await;
    let url = serving(&archive);
    let other = Toolchain::open(Some(dir.path().join("other"))).unwrap();
    let events = std::sync::Mutex::new(Vec::new());
    let record = |event: BuildEvent| events.lock().unwrap().push(event.to_string());
    let error = other.import_url(&format!("{url}?sig=secret"), "00", &record).await.unwrap_err();
    let ToolchainError::WrongChecksum { path, actual, .. } = error else { panic!("{error}") };
    assert_eq!(path, Path::new(&url));
    assert!(!events.lock().unwrap().iter().any(|event| event.starts_with("unpacking")));
    let left = || fs::read_dir(dir.path().join("other/toolchain")).unwrap().flatten().map(|entry| entry.file_name());
    assert_eq!(left().collect::<Vec<_>>(), [".import.lock"]);

    let imported = other.import_url(&url, &actual, &record).await.unwrap().imported;
    assert_eq!(imported.iter().map(|version| version.version.as_str()).collect::<Vec<_>>(), ["mine"]);
    other.ensure("kubefleet", "mine", &["hub-agent"], QUIET).await.unwrap();
    assert_eq!(left().count(), 2);
    let events = events.into_inner().unwrap();
    assert!(events[0].starts_with(&format!("downloading {url}: ")), "{events:?}");
}

#[tokio::test]
async fn what_isn_t_in_the_cache_can_t_be_exported() {
    let dir = tempfile::tempdir().unwrap();
    let cache = with_version(dir.path()).await;
    let path = dir.path().join("x.tar.gz");
    let default = cache.default_version("kubefleet").unwrap().to_owned();
    let said = |version: &str| {
        let (cache, path, versions) = (&cache, &path, vec![("kubefleet".to_owned(), version.to_owned())]);
        async move { cache.export(&versions, path, QUIET).await.unwrap_err().to_string() }
    };
    assert_eq!(said(&default).await, format!("kubefleet {default} isn't in the cache"));
    assert_eq!(said("v9").await, "there is no kubefleet v9 in the toolchain");
    let program =
        cache.list().into_iter().find(|listed| listed.version == "mine").unwrap().folder.join("bin/hub-agent");
    fs::write(&program, "#!/bin/sh\nexit 1\n").unwrap();
    assert!(said("mine").await.ends_with("bin/hub-agent of kubefleet mine is damaged: its content has changed"));
    assert!(!path.exists());
}

/// Writes an archive with these entries.
fn archive_of(path: &Path, entries: &[NewEntry]) {
    let mut archive = tar::Builder::new(GzEncoder::new(fs::File::create(path).unwrap(), Compression::fast()));
    for (name, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        // `set_path` refuses a path that leaves the directory, which an archive of somebody else may have.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        archive.append(&header, content.as_slice()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap().flush().unwrap();
}

/// Entry of an archive: its name and content.
type NewEntry = (&'static str, Vec<u8>);

fn index(change: impl FnOnce(&mut ArchiveIndex)) -> NewEntry {
    let version =
        ArchivedVersion { component: "kubefleet".into(), version: "mine".into(), size: 1, folder: "mine-added".into() };
    let mut index = ArchiveIndex::new(vec![version]);
    change(&mut index);
    (super::INDEX, serde_json::to_vec(&index).unwrap())
}

fn manifest(files: &str) -> NewEntry {
    let text = format!(r#"{{"component": "kubefleet", "version": "mine", "source": "added", "files": {{{files}}}}}"#);
    ("kubefleet/mine-added/manifest.json", text.into_bytes())
}

#[tokio::test]
async fn archives_that_can_t_be_trusted_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.tar.gz");
    let program = || manifest(r#""bin/x": {"size": 1, "blake3": "00"}"#);
    let cases: Vec<(Vec<NewEntry>, &str)> = vec![
        (vec![], "`fleetdrill toolchain export` hasn't written it"),
        (vec![("x", b"1".to_vec())], "`fleetdrill toolchain export` hasn't written it"),
        (vec![index(|i| i.schema = 9)], "it has schema 9, and this fleetdrill reads up to 1"),
        (vec![index(|i| i.versions.clear())], "its index lists no version"),
        (
            vec![index(|i| i.versions[0].folder = "../x-added".into())],
            "its index has a version `../x-added` with a wrong name",
        ),
        (vec![index(|_| {})], "it doesn't have `kubefleet/mine-added`, which its index lists"),
        (vec![index(|_| {}), ("../../x", b"1".to_vec())], "its entry `../../x` is no file of a component"),
        (vec![index(|_| {}), ("/etc/x", b"1".to_vec())], "its entry `/etc/x` is no file of a component"),
        (vec![index(|_| {}), ("argocd/mine-added/bin/x", b"1".to_vec())], "its index doesn't list `argocd/mine-added`"),
        (
            vec![index(|_| {}), program(), ("kubefleet/mine-added/bin/y", b"1".to_vec())],
            "its entry `kubefleet/mine-added/bin/y` isn't in the version's manifest",
        ),
        (
            vec![index(|_| {}), program(), ("kubefleet/mine-added/bin/x", b"12".to_vec())],
            "its entry `kubefleet/mine-added/bin/x` isn't in the version's manifest",
        ),
        (
            vec![index(|_| {}), program(), ("kubefleet/mine-added/bin/x", b"1".to_vec())],
            "its entry `kubefleet/mine-added/bin/x` is damaged: its content has changed",
        ),
        (vec![index(|_| {}), program()], "its entry `kubefleet/mine-added/bin/x` is damaged: it is missing"),
    ];
    for (entries, why) in cases {
        archive_of(&path, &entries);
        assert_eq!(imported(dir.path(), &path).await.err(), Some(format!("failed to import FILE: {why}")));
    }
    archive_of(&path, &[index(|i| i.architecture = "riscv64".into())]);
    let said = imported(dir.path(), &path).await.err().unwrap();
    assert!(said.starts_with("failed to import FILE: it is for linux riscv64, and this machine is linux "), "{said}");
}

/// Writes an archive whose last entry has this type, name and size, and content of zeros that may be shorter than the size.
fn archive_with(path: &Path, before: &[NewEntry], (kind, name, size): (tar::EntryType, &str, u64), content: usize) {
    archive_of(path, before);
    let mut tar = Vec::new();
    let written = fs::File::open(path).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(written), &mut tar).unwrap();
    // Two empty blocks end an archive.
    tar.truncate(tar.len() - 1024);
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_path(name).unwrap();
    header.set_link_name("/etc/passwd").unwrap();
    header.set_cksum();
    tar.extend_from_slice(header.as_bytes());
    tar.resize(tar.len() + content, b'a');
    let mut file = GzEncoder::new(fs::File::create(path).unwrap(), Compression::fast());
    file.write_all(&tar).unwrap();
    file.finish().unwrap();
}

#[tokio::test]
async fn links_and_devices_are_refused() {
    use tar::EntryType::{Block, Char, Directory, Fifo, Link, Symlink};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.tar.gz");
    let before = [index(|_| {}), manifest(r#""bin/x": {"size": 0, "blake3": "00"}"#)];
    for kind in [Symlink, Link, Char, Block, Fifo, Directory] {
        archive_with(&path, &before, (kind, "kubefleet/mine-added/bin/x", 0), 0);
        let why = "failed to import FILE: its entry `kubefleet/mine-added/bin/x` is no file of a component";
        assert_eq!(imported(dir.path(), &path).await.err().as_deref(), Some(why), "{kind:?}");
    }
}

#[tokio::test]
async fn archives_that_would_fill_memory_or_disk_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.tar.gz");
    let said = async |before: &[NewEntry], last: (tar::EntryType, &str, u64), content: usize| {
        archive_with(&path, before, last, content);
        imported(dir.path(), &path).await.err().unwrap().replace("failed to import FILE: ", "")
    };
    let lists = [index(|_| {}), manifest(r#""bin/x": {"size": 9663676416, "blake3": "00"}"#)];
    let of_type = |kind| (kind, "kubefleet/mine-added/bin/x", 9 << 30);
    assert_eq!(said(&lists, of_type(tar::EntryType::Regular), 1024).await, "its files are larger than 8.0 GiB");
    let long = "it is no gzip-compressed tar file, or damaged (an entry has a name that is too long)";
    for kind in [tar::EntryType::GNULongName, tar::EntryType::GNULongLink, tar::EntryType::XHeader] {
        assert_eq!(said(&lists, of_type(kind), 1 << 20).await, long, "{kind:?}");
    }
    let list = (tar::EntryType::Regular, "kubefleet/mine-added/manifest.json", 5 << 20);
    assert_eq!(said(&lists[..1], list, 5 << 20).await, "its lists are too long");
    let outside = [index(|_| {}), manifest(r#""bin/../../../x": {"size": 1, "blake3": "00"}"#)];
    let said = said(&outside, (tar::EntryType::Regular, "x", 0), 0).await;
    assert_eq!(said, "the manifest of `kubefleet/mine-added` has a file `bin/../../../x`");
}

#[tokio::test]
async fn archives_that_are_cut_or_of_another_kind_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read(exported(dir.path()).await).unwrap();
    let path = dir.path().join("cut.tar.gz");
    for length in [whole.len() - 4, whole.len() / 2, 20, 0] {
        fs::write(&path, &whole[..length]).unwrap();
        let said = imported(dir.path(), &path).await.err().unwrap();
        assert_eq!(said, "failed to import FILE: it is cut off", "{length} bytes");
    }
    fs::write(&path, "PK\x03\x04 of another kind of archive").unwrap();
    let said = imported(dir.path(), &path).await.err().unwrap();
    assert!(said.starts_with("failed to import FILE: it is no gzip-compressed tar file, or damaged ("), "{said}");
    let missing = imported(dir.path(), &dir.path().join("none")).await.err().unwrap();
    assert!(missing.starts_with("failed to read "), "{missing}");
}
