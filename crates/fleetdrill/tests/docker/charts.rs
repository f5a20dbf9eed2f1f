//! Agents from KubeFleet's own charts. The charts are in the Go module from which the toolchain builds the agents.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::nodes::{self, node_image};
use crate::place::Place;
use crate::{LONG, Test, docker, said};

pub(crate) const TESTS: &[Test] =
    &[("agents_of_charts_do_the_same", &["docker", "kind", "go", LONG], agents_of_charts_do_the_same)];

/// Go module of KubeFleet.
const MODULE: &str = "github.com/kubefleet-dev/kubefleet";

/// Image of a second container in the member-agent's chart. The test builds it, since it can't be pulled everywhere.
const REFRESH_TOKEN: &str = "fleetdrill.dev/refresh-token:test";

/// Runs a command and returns its output.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(command: &mut Command) -> Value {
    serde_json::from_str(&output(command)).expect("JSON")
}

/// Default version of a component of the toolchain.
pub(crate) fn component(place: &Place, name: &str) -> Value {
    let all = json(&mut place.command(["toolchain", "list", "-o", "json"]));
    let mut all = all.as_array().expect("a list").iter();
    let found = all.find(|one| one["component"] == name && one["default"] == true);
    found.unwrap_or_else(|| panic!("no {name} is pinned")).clone()
}

/// Directory of KubeFleet's module in Go's cache, with sources and charts.
pub(crate) fn module(version: &str) -> PathBuf {
    let module = format!("{MODULE}@{version}");
    json(Command::new("go").args(["mod", "download", "-json", &module]))["Dir"].as_str().expect("a directory").into()
}

fn build_refresh_token(module: &Path, place: &Place) {
    let context = place.path("refresh-token");
    std::fs::create_dir(&context).expect("made");
    let program = context.join("refresh-token");
    let mut build = Command::new("go");
    build.arg("build").arg("-C").arg(module).args(["-trimpath", "-o"]).arg(&program).arg("./cmd/authtoken");
    output(build.env("CGO_ENABLED", "0"));
    let dockerfile =
        "FROM scratch\nCOPY refresh-token /refresh-token\nUSER 65532:65532\nENTRYPOINT [\"/refresh-token\"]\n";
    std::fs::write(context.join("Dockerfile"), dockerfile).expect("written");
    docker(&["build", "--quiet", "--tag", REFRESH_TOKEN, &context.display().to_string()]);
}

/// A member joins, gets a placement, its agent is stopped and started, and its token is replaced.
fn agents_of_charts_do_the_same() {
    let place = Place::new();
    let version = component(&place, "kubefleet")["version"].as_str().expect("a version").to_owned();
    let helm = component(&place, "helm")["folder"].as_str().map(|folder| Path::new(folder).join("bin"));
    let helm = helm.expect("helm is there: `fleetdrill toolchain install`");
    let module = module(&version);
    build_refresh_token(&module, &place);

    let charts = module.join("charts").display().to_string();
    let mut command = place.command(["run", "A member that looks healthy", "--members", "1"]);
    command.args(nodes::OFFLINE).args(node_image()).args(["--chart", &charts, "--refresh-token-image", REFRESH_TOKEN]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(helm).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(path).expect("a path"));
    let ran = said(command).expect(0, &[]).stdout.clone();
    assert!(ran.contains(" 0 failed") && ran.contains("on provider kind"), "{ran}");
    nodes::nothing_is_left(&place);
}
