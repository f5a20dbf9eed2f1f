//! Builds and checks of pinned versions, and new builds of damaged files.

use std::fs;
use std::path::Path;

use toolchain::{BuildEvent, ToolchainError, VersionOrigin};

use super::demo::{Demo, says, write};

#[tokio::test]
async fn programs_are_built_once_and_then_only_checked() {
    let mut demo = Demo::new();
    let installed = demo.ensure(&["two", "one"]).await.expect("builds");
    assert_eq!(says(installed.program("one").expect("asked for")), "I am one");
    assert_eq!(says(installed.program("two").expect("asked for")), "I am two");
    assert_eq!(
        (installed.component(), installed.version(), installed.source()),
        ("demo", "v1.0.0", VersionOrigin::Pinned)
    );
    let crds: Vec<_> = installed.crds().iter().map(|path| path.file_name().expect("a name").to_owned()).collect();
    assert_eq!(crds, ["thing.yaml"]);
    let lines: Vec<String> = demo.events().iter().map(ToString::to_string).collect();
    assert_eq!(lines[0], "verifying demo v1.0.0");
    assert!(lines[1].starts_with("building one v1.0.0 (1 of 2 programs): "), "{lines:?}");
    assert!(lines.contains(&"building two v1.0.0 (2 of 2 programs): linking".to_owned()), "{lines:?}");
    assert!(lines.last().expect("events").starts_with("demo v1.0.0 is there, 2 programs built in "), "{lines:?}");
    assert_eq!(demo.leftovers(), [""; 0]);

    // Go isn't needed once everything is built.
    demo.toolchain = demo.toolchain.with_go("/nowhere/go".into());
    demo.ensure(&["one", "two"]).await.expect("is there");
    assert!(matches!(demo.events()[..], [BuildEvent::Verifying { .. }, BuildEvent::Done { built: 0, .. }]));
}

#[tokio::test]
async fn progress_counts_what_is_not_compiled_yet() {
    let download = "echo go: downloading example.com/lib v1.2.3 >&2";
    let compile = "echo example.com/lib >&2; echo example.com/demo/one >&2; echo 1 > $out; chmod +x $out";
    let demo = Demo::with_script(&format!("{download}; {compile}"));
    demo.ensure(&["one"]).await.expect("builds");
    let lines: Vec<String> = demo.events().iter().map(ToString::to_string).collect();
    assert_eq!(
        lines[1..5],
        [
            "building one v1.0.0 (1 of 1 programs): 0/1 packages",
            "downloading for demo v1.0.0: example.com/lib v1.2.3",
            "building one v1.0.0 (1 of 1 programs): 1/1 packages",
            "building one v1.0.0 (1 of 1 programs): linking",
        ]
    );
}

#[tokio::test]
async fn only_what_is_asked_for_is_built() {
    let demo = Demo::with_script("echo 1 > $out; chmod +x $out");
    let installed = demo.ensure(&["one"]).await.expect("builds");
    assert!(installed.program("two").is_none());
    assert_eq!(demo.toolchain.list()[0].installed, ["one"]);
    demo.ensure(&["one", "two"]).await.expect("builds");
    let builds = fs::read_to_string(demo.path("builds")).expect("read");
    let built: Vec<_> = builds.lines().filter_map(|path| Path::new(path).file_name()).collect();
    assert_eq!(built, ["one", "two"]);
    assert!(
        matches!(demo.ensure(&["tree"]).await, Err(ToolchainError::UnknownProgram { known, .. }) if known == ["one", "two"])
    );
}

#[tokio::test]
async fn damaged_files_are_built_again() {
    let demo = Demo::with_script("echo the program > $out; chmod +x $out");
    let installed = demo.ensure(&["one", "two"]).await.expect("builds");
    let one = installed.program("one").expect("asked for");
    write(one, "THE PROGRAM\n");
    fs::remove_file(&installed.crds()[0]).expect("removed");
    demo.events();
    demo.ensure(&["one", "two"]).await.expect("mends");
    assert_eq!(fs::read_to_string(one).expect("read"), "the program\n");
    assert!(installed.crds()[0].exists());
    let again: Vec<(String, String)> = demo.events().into_iter().filter_map(rebuilding).collect();
    assert_eq!(again.len(), 2, "{again:?}");
    assert!(again.contains(&(one.display().to_string(), "its content has changed".into())), "{again:?}");

    // A damaged manifest tells nothing about any file, so everything is built again.
    write(&demo.folder().join("manifest.json"), "{");
    demo.ensure(&["one", "two"]).await.expect("mends");
    assert!(matches!(demo.events().pop(), Some(BuildEvent::Done { built: 2, .. })));
}

fn rebuilding(event: BuildEvent) -> Option<(String, String)> {
    match event {
        BuildEvent::Rebuilding { file, why, .. } => Some((file, why)),
        _ => None,
    }
}

#[tokio::test]
async fn a_compile_error_is_quoted() {
    let demo = Demo::new();
    write(&demo.path("demo/two/main.go"), "package main\n\nfunc main() { nonsense() }\n");
    let error = demo.ensure(&["one", "two"]).await.expect_err("doesn't compile");
    assert!(matches!(error, ToolchainError::Build { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("failed to build two v1.0.0\n"), "{text}");
    assert!(text.contains("undefined: nonsense"), "{text}");
    assert_eq!(demo.toolchain.list()[0].installed, ["one"], "what was built before is kept");
}

#[tokio::test]
async fn removing_frees_what_was_installed() {
    let demo = Demo::with_script("echo 1 > $out; chmod +x $out");
    demo.ensure(&["one"]).await.expect("builds");
    let freed = demo.toolchain.remove("demo", "v1.0.0", &|_| {}).await.expect("removes");
    assert!(freed > 0);
    assert!(!demo.folder().exists());
    assert!(demo.toolchain.list()[0].installed.is_empty());
    assert!(demo.toolchain.remove("demo", "v9", &|_| {}).await.is_err());
}
