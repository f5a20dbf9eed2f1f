//! Agents of KubeFleet's own charts, which are taken from the Go module that the toolchain builds the agents of.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::nodes::{self, node_image};
use crate::place::Place;
use crate::{Test, docker, said};

pub(crate) const TESTS: &[Test] =
    &[("agents_of_charts_do_the_same", &["docker", "kind", "go"], agents_of_charts_do_the_same)];

/// KubeFleet's Go module.
const MODULE: &str = "github.com/kubefleet-dev/kubefleet";

/// The image that the member-agent's chart has beside the agent, which has to be built where nothing can be pulled.
const REFRESH_TOKEN: &str = "fleetdrill.dev/refresh-token:test";

/// What a command of the test's own prints.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(command: &mut Command) -> Value {
    serde_json::from_str(&output(command)).expect("JSON")
}

/// The default version of a component of the toolchain.
fn component(place: &Place, name: &str) -> Value {
    let all = json(&mut place.command(["toolchain", "list", "-o", "json"]));
    let mut all = all.as_array().expect("a list").iter();
    let found = all.find(|one| one["component"] == name && one["default"] == true);
    found.unwrap_or_else(|| panic!("no {name} is pinned")).clone()
}

/// Where Go has the sources of KubeFleet's module in this version, charts included.
fn module(version: &str) -> PathBuf {
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

/// A member that joins, a placement there, its agent stopped and started again, and its token exchanged.
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
