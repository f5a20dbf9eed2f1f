//! Interrupted builds, and builds of the same version at the same time.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::{sleep, timeout};
use toolchain::BuildEvent;

use super::demo::{Demo, open};

/// Build that never ends: it leaves half a program, and has a child process, like a compiler, that writes to
/// `heartbeat` for as long as it lives.
const ENDLESS: &str = "echo half > $out; (while :; do echo x >> $dir/heartbeat; sleep 0.02; done) & wait";
const QUICK: &str = "echo whole > $out; chmod +x $out";
const FOLDER: &str = "TOOLCHAIN_TEST_FOLDER";

#[tokio::test]
async fn a_dropped_build_ends_and_is_not_trusted() {
    let demo = Demo::with_script(ENDLESS);
    let heartbeat = demo.path("heartbeat");
    tokio::select! {
        result = demo.ensure(&["one"]) => panic!("it never ends: {result:?}"),
        () = beats(&heartbeat) => {}
    }
    assert!(has_stopped(&demo.path("heartbeat")).await, "the compiler lives on");
    finishes(&demo).await;
}

#[tokio::test]
async fn a_killed_process_takes_its_build_along() {
    let demo = Demo::with_script(ENDLESS);
    let mut other = other_process(&demo);
    beats(&demo.path("heartbeat")).await;
    other.kill().expect("killed");
    other.wait().expect("ended");
    assert!(has_stopped(&demo.path("heartbeat")).await, "the compiler lives on");
    assert_eq!(demo.leftovers().len(), 1, "nobody could clean up");
    finishes(&demo).await;
}

/// Checks that an interrupted build continues to its end and leaves no temporary files.
async fn finishes(demo: &Demo) {
    assert!(demo.toolchain.list()[0].installed.is_empty());
    demo.script(QUICK);
    let installed = demo.ensure(&["one"]).await.expect("builds");
    assert_eq!(fs::read_to_string(installed.program("one").expect("asked for")).expect("read"), "whole\n");
    assert_eq!(demo.leftovers(), [""; 0]);
}

#[tokio::test]
async fn a_second_process_is_waited_for() {
    // The other process builds until this test creates the file `go-on`.
    let demo = Demo::with_script(
        "echo x >> $dir/heartbeat; while [ ! -e $dir/go-on ]; do sleep 0.02; done; echo whole > $out; chmod +x $out",
    );
    let mut other = other_process(&demo);
    beats(&demo.path("heartbeat")).await;
    let tell = |event: BuildEvent| {
        if let BuildEvent::Waiting { .. } = event {
            fs::write(demo.path("go-on"), "").expect("written");
        }
        demo.tell(event);
    };
    demo.toolchain.ensure("demo", "v1.0.0", &["one"], &tell).await.expect("is there");
    assert!(other.wait().expect("ended").success());
    let events = demo.events();
    let waiting: Vec<_> = events.iter().filter(|event| matches!(event, BuildEvent::Waiting { .. })).collect();
    assert!(matches!(waiting[..], [BuildEvent::Waiting { pid: Some(pid), .. }] if *pid == other.id()), "{events:?}");
    let builds = fs::read_to_string(demo.path("builds")).expect("read");
    assert_eq!(builds.lines().count(), 1, "the second one uses what the first one built");
}

/// Starts another process, which ensures program `one` in the demo's cache.
fn other_process(demo: &Demo) -> Child {
    let this = std::env::current_exe().expect("has a path");
    Command::new(this)
        .args(["--exact", "interrupt::ensure_in_this_process", "--ignored"])
        .env(FOLDER, demo.dir.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("starts")
}

#[tokio::test]
#[ignore = "it is what other tests run as a process of their own"]
async fn ensure_in_this_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    open(folder).with_go(folder.join("go")).ensure("demo", "v1.0.0", &["one"], &|_| {}).await.expect("builds");
}

async fn beats(heartbeat: &Path) {
    let there = async {
        while !heartbeat.exists() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), there).await.expect("the build starts");
}

/// Returns true if the file stops growing within a few seconds.
async fn has_stopped(heartbeat: &Path) -> bool {
    let size = || fs::metadata(heartbeat).expect("is there").len();
    for _ in 0..20 {
        let before = size();
        sleep(Duration::from_millis(200)).await;
        if size() == before {
            return true;
        }
    }
    false
}
