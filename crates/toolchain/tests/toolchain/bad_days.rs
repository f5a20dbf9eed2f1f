//! Errors: unknown versions, a missing or old Go, failed downloads, full disks.

use std::path::Path;
use std::process::Command;

use toolchain::ToolchainError;

use super::demo::{Demo, open};

#[tokio::test]
async fn an_unknown_version_names_those_that_there_are() {
    let demo = Demo::new();
    let error = demo.toolchain.ensure("demo", "v1.2.0", &["one"], &|_| {}).await.expect_err("unknown");
    assert_eq!(error.to_string(), "there is no demo v1.2.0 in the toolchain");
    let ToolchainError::UnknownVersion { version, known, programs, .. } = error else { panic!("{error:?}") };
    assert_eq!(
        (version.as_str(), &known[..], &programs[..]),
        ("v1.2.0", &["v1.0.0".into()][..], &["one".into(), "two".into()][..])
    );
    // An unknown version is no way out of the cache folder either.
    for version in ["../..", "", "/etc"] {
        let result = demo.toolchain.ensure("demo", version, &[], &|_| {}).await;
        assert!(matches!(result, Err(ToolchainError::UnknownVersion { .. })), "{result:?}");
    }
    let error = demo.toolchain.ensure("kubernets", "v1.0.0", &[], &|_| {}).await.expect_err("unknown");
    assert!(matches!(&error, ToolchainError::UnknownComponent { known, .. } if known == &["demo"]), "{error:?}");
}

#[tokio::test]
async fn a_missing_go_is_named() {
    let mut demo = Demo::new();
    demo.toolchain = demo.toolchain.with_go("/nowhere/go".into());
    let error = demo.ensure(&["one"]).await.expect_err("no Go");
    assert_eq!(error.to_string(), "building demo v1.0.0 needs Go 1.21 or later, and there is no `/nowhere/go`");
}

#[tokio::test]
async fn an_old_go_is_named() {
    let demo = Demo::with_script("");
    demo.script_with("echo go1.19.8; echo; echo; echo /c/build; echo /c/mod", "");
    let error = demo.ensure(&["one"]).await.expect_err("too old");
    let go = demo.path("go");
    let expected = format!("building demo v1.0.0 needs Go 1.21 or later, and {} is go1.19.8", go.display());
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_refused_download_is_quoted() {
    let demo = Demo::with_script("echo 'go: x@v1: reading https://proxy.example.com/x: 403 Forbidden' >&2; exit 1");
    let error = demo.ensure(&["one"]).await.expect_err("refused");
    assert!(matches!(error, ToolchainError::Download { .. }), "{error:?}");
    assert!(error.to_string().ends_with("\n  go: x@v1: reading https://proxy.example.com/x: 403 Forbidden"), "{error}");
}

#[tokio::test]
async fn a_disk_that_go_fills_is_named() {
    let demo = Demo::with_script("echo 'open /c/build/aa/bb-d: no space left on device' >&2; exit 1");
    let error = demo.ensure(&["one"]).await.expect_err("full");
    assert!(error.to_string().starts_with("no space left on device for /c/build ("), "{error}");
    assert!(matches!(error, ToolchainError::DiskFull { needed: 67_108_864, .. }), "{error:?}");
}

#[test]
fn a_disk_that_we_fill_is_named() {
    let demo = Demo::new();
    std::fs::create_dir(demo.path("cache")).expect("created");
    let mount = format!("mount -t tmpfs -o size=128k none {}", demo.path("cache").display());
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script]);
        command
    };
    if !unshare(&mount).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system doesn't let us mount a small disk");
        return;
    }
    let this = std::env::current_exe().expect("has a path");
    let output = unshare(&format!("{mount} && exec \"$0\" --exact bad_days::fill_the_disk --ignored"))
        .arg(this)
        .env(FOLDER, demo.dir.path())
        .output()
        .expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

const FOLDER: &str = "TOOLCHAIN_TEST_SMALL_DISK";

#[tokio::test]
#[ignore = "it is what another test runs with a small disk"]
async fn fill_the_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let big = folder.join("big");
    std::fs::write(&big, vec![b'x'; 1 << 20]).expect("written");
    let addition = toolchain::VersionRegistration {
        component: "demo".into(),
        version: "v2".into(),
        programs: [("one".to_owned(), big)].into(),
        ..Default::default()
    };
    let toolchain = open(folder);
    let error = toolchain.add(&addition, &|_| {}).await.expect_err("full");
    assert!(matches!(error, ToolchainError::DiskFull { needed: 1_048_576, .. }), "{error:?}");
    assert!(error.to_string().contains(&folder.join("cache").display().to_string()), "{error}");
    assert_eq!(toolchain.list().len(), 1, "nothing was added");
}
