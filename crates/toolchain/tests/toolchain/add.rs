//! Registration of programs that a user has built.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use toolchain::{InstalledComponent, ToolchainError, VersionOrigin, VersionRegistration};

use super::demo::{CRD, Demo, says, write};

/// An addition of program `one`, a script that prints `text`.
fn addition(demo: &Demo, text: &str) -> VersionRegistration {
    let program = demo.path("mine");
    write(&program, &format!("#!/bin/sh\necho {text}\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("set");
    write(&demo.path("my-crds/thing.yaml"), CRD);
    VersionRegistration {
        component: "demo".into(),
        version: "v2".into(),
        programs: [("one".to_owned(), program)].into(),
        crds: Some(demo.path("my-crds")),
        force: false,
    }
}

async fn add(demo: &Demo, addition: &VersionRegistration) -> Result<InstalledComponent, ToolchainError> {
    demo.toolchain.add(addition, &|_| {}).await
}

async fn ensure(demo: &Demo, program: &str) -> Result<InstalledComponent, ToolchainError> {
    demo.toolchain.ensure("demo", "v2", &[program], &|_| {}).await
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("is there").permissions().mode() & 0o777
}

#[tokio::test]
async fn an_added_version_is_used_like_any_other() {
    let demo = Demo::new();
    add(&demo, &addition(&demo, "mine")).await.expect("adds");
    let installed = ensure(&demo, "one").await.expect("is there");
    let one = installed.program("one").expect("asked for");
    assert_eq!((says(one), mode(one), mode(&installed.crds()[0])), ("mine".into(), 0o755, 0o644));
    assert_eq!(installed.source(), VersionOrigin::Added);
    assert!(
        matches!(ensure(&demo, "two").await, Err(ToolchainError::UnknownProgram { known, .. }) if known == ["one"])
    );
    let list = demo.toolchain.list();
    let versions: Vec<_> = list.iter().map(|l| (l.version.as_str(), l.source, l.default, l.installed.len())).collect();
    assert_eq!(versions, [("v1.0.0", VersionOrigin::Pinned, true, 0), ("v2", VersionOrigin::Added, false, 1)]);
    demo.toolchain.remove("demo", "v2", &|_| {}).await.expect("removes");
    assert!(matches!(ensure(&demo, "one").await, Err(ToolchainError::UnknownVersion { .. })));
}

#[tokio::test]
async fn adding_again_replaces() {
    let demo = Demo::new();
    add(&demo, &addition(&demo, "old")).await.expect("adds");
    // A kustomization beside the CRDs, as in Argo CD's folder, is neither copied nor refused.
    write(&demo.path("my-crds/kustomization.yaml"), "kind: Kustomization\n");
    let installed = add(&demo, &addition(&demo, "new")).await.expect("adds");
    assert!(installed.crds().iter().all(|crd| !crd.ends_with("kustomization.yaml")), "{:?}", installed.crds());
    assert_eq!(says(installed.program("one").expect("was added")), "new");
    assert_eq!(demo.leftovers(), [""; 0]);
}

#[tokio::test]
async fn a_damaged_file_is_named_and_replaced_by_adding_again() {
    let demo = Demo::new();
    let installed = add(&demo, &addition(&demo, "mine")).await.expect("adds");
    write(installed.program("one").expect("was added"), "#!/bin/sh\necho MINE\n");
    let error = ensure(&demo, "one").await.expect_err("damaged");
    assert!(
        matches!(&error, ToolchainError::Corrupt { component, version, file, .. }
            if component == "demo" && version == "v2" && file.ends_with("v2-added/bin/one")),
        "{error:?}"
    );
    add(&demo, &addition(&demo, "mine")).await.expect("adds");
    ensure(&demo, "one").await.expect("is whole again");
}

#[tokio::test]
async fn a_pinned_version_is_replaced_by_force_only() {
    let demo = Demo::new();
    let mut addition = addition(&demo, "forced");
    addition.version = "v1.0.0".into();
    assert!(matches!(add(&demo, &addition).await, Err(ToolchainError::IsPinned { .. })));
    addition.force = true;
    add(&demo, &addition).await.expect("adds");
    let installed = demo.ensure(&["one"]).await.expect("is there");
    assert_eq!(says(installed.program("one").expect("asked for")), "forced");
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_nothing_changes() {
    let demo = Demo::new();
    let good = addition(&demo, "mine");

    let mut other = good.clone();
    other.version = "../v2".into();
    assert!(matches!(add(&demo, &other).await, Err(ToolchainError::BadName { .. })));

    let mut other = good.clone();
    other.programs.insert("three".into(), demo.path("mine"));
    assert!(matches!(add(&demo, &other).await, Err(ToolchainError::UnknownProgram { .. })));

    let mut other = good.clone();
    other.programs.insert("two".into(), demo.path("nowhere"));
    let error = add(&demo, &other).await.expect_err("not there");
    assert!(
        error.to_string().starts_with(&format!("can't add {}: No such file", demo.path("nowhere").display())),
        "{error}"
    );

    write(&demo.path("my-crds/map.yaml"), &format!("{CRD}---\nkind: ConfigMap\n"));
    let error = add(&demo, &good).await.expect_err("not a CRD");
    let expected = format!("{} can't be added as CRDs: it holds a ConfigMap", demo.path("my-crds/map.yaml").display());
    assert_eq!(error.to_string(), expected);
    fs::remove_file(demo.path("my-crds/map.yaml")).expect("removed");

    write(&demo.path("mine"), "#!/bin/sh\necho I need a newer libc >&2; exit 1\n");
    let error = add(&demo, &good).await.expect_err("doesn't start");
    assert!(error.to_string().ends_with("exit status: 1\n  I need a newer libc"), "{error}");

    assert_eq!(demo.toolchain.list().len(), 1);
    assert_eq!(demo.leftovers(), [""; 0]);
}
