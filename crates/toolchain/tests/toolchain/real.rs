//! Check of the real components, run by hand: `cargo test -p clusters --test toolchain real -- --ignored --nocapture`.
//! The first run takes as long as the builds do; later runs show how long the checks take.

use std::time::Instant;

use toolchain::{BuildEvent, Toolchain};

#[tokio::test]
#[ignore = "builds the real components"]
async fn real_components_are_there_and_whole() {
    let toolchain = Toolchain::open(None).expect("opens");
    for (component, programs) in [
        ("kubernetes", &["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"][..]),
        ("kubefleet", &["hub-agent", "member-agent"][..]),
        ("kwok", &["kwok"][..]),
    ] {
        let started = Instant::now();
        let version = toolchain.default_version(component).expect("is defined");
        let tell = |event: BuildEvent| println!("{:7.2} s  {event}", started.elapsed().as_secs_f64());
        let installed = toolchain.ensure(component, version, programs, &tell).await.expect("can be had");
        assert_eq!(installed.crds().is_empty(), component != "kubefleet");
    }
}
