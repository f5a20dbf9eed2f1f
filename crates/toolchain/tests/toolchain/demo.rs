//! Component `demo` for the tests: two programs and a CRD, in a temporary folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use tempfile::TempDir;
use toolchain::{BuildEvent, ComponentDefinitions, InstalledComponent, Toolchain, ToolchainError};

pub const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";

pub struct Demo {
    pub dir: TempDir,
    pub toolchain: Toolchain,
    events: Mutex<Vec<BuildEvent>>,
}

impl Demo {
    /// Creates a demo that the real Go builds.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let module = dir.path().join("demo");
        for program in ["one", "two"] {
            let text = format!("package main\n\nfunc main() {{ println(\"I am {program}\") }}\n");
            write(&module.join(program).join("main.go"), &text);
        }
        write(&module.join("go.mod"), "module example.com/demo\n\ngo 1.21\n");
        write(&module.join("crds/thing.yaml"), CRD);
        write(&module.join("crds/README.md"), "not a CRD");
        let toolchain = open(dir.path());
        Self { dir, toolchain, events: Mutex::default() }
    }

    /// Creates a demo that a shell script builds. For `go build`, the script runs `build`, which makes the file `$out`.
    pub fn with_script(build: &str) -> Self {
        let mut demo = Self::new();
        demo.script(build);
        demo.toolchain = demo.toolchain.clone().with_go(demo.path("go"));
        demo
    }

    /// Replaces what the script runs for `go build`.
    pub fn script(&self, build: &str) {
        self.script_with("echo go1.99.0; echo local; echo; echo /c/build; echo /c/mod", build);
    }

    pub fn script_with(&self, env: &str, build: &str) {
        let dir = self.dir.path().display();
        let text = format!(
            "#!/bin/sh
            dir={dir}
            case $1 in
            env) {env} ;;
            list) case \"$*\" in *' -m '*) echo $dir/demo ;; *) echo example.com/lib; echo; echo example.com/demo/one ;; esac ;;
            build) while [ \"$1\" != -o ]; do shift; done; out=$2; echo $out >> $dir/builds; {build} ;;
            esac\n"
        );
        // Rename the script into place: a script that another test's fork still holds open for writing can't be
        // executed.
        let new = self.path("go.new");
        write(&new, &text);
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).expect("set");
        fs::rename(new, self.path("go")).expect("renamed");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub async fn ensure(&self, programs: &[&str]) -> Result<InstalledComponent, ToolchainError> {
        self.toolchain.ensure("demo", "v1.0.0", programs, &|event| self.tell(event)).await
    }

    pub fn tell(&self, event: BuildEvent) {
        self.events.lock().expect("no panic").push(event);
    }

    /// Returns the events since the last call.
    pub fn events(&self) -> Vec<BuildEvent> {
        std::mem::take(&mut self.events.lock().expect("no panic"))
    }

    /// Returns the folder of the demo's version in the cache.
    pub fn folder(&self) -> PathBuf {
        self.toolchain.list().remove(0).folder
    }

    /// Returns the temporary files anywhere in the cache.
    pub fn leftovers(&self) -> Vec<String> {
        let listing =
            Command::new("find").arg(self.path("cache")).args(["-name", ".tmp-*"]).output().expect("find runs");
        String::from_utf8_lossy(&listing.stdout).lines().map(str::to_owned).collect()
    }
}

/// Opens the toolchain in the folder of a `Demo`, which may belong to another process.
pub fn open(dir: &Path) -> Toolchain {
    let definitions = dir.join("definitions");
    write(
        &definitions.join("components.yaml"),
        "demo:
  default: v1.0.0
  versions:
    v1.0.0:
      disk_mib: 64
      programs:
        - {name: one, package: example.com/demo/one, ldflags: -s -w}
        - {name: two, package: example.com/demo/two}
      assets:
        - {name: crds, module: example.com/demo, folder: crds}\n",
    );
    let go_mod = format!(
        "module fleetdrill.test/demo\n\ngo 1.21\n\nrequire example.com/demo v1.0.0\n\nreplace example.com/demo => {}\n",
        dir.join("demo").display()
    );
    write(&definitions.join("demo/v1.0.0/go.mod"), &go_mod);
    write(&definitions.join("demo/v1.0.0/go.sum"), "");
    let definitions = ComponentDefinitions::from_folder(&definitions).expect("the definitions are right");
    Toolchain::open(Some(dir.join("cache"))).expect("opens").with_definitions(definitions)
}

pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("has a parent")).expect("created");
    fs::write(path, text).expect("written");
}

pub fn says(program: &Path) -> String {
    let output = Command::new(program).output().expect("starts");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned()
}
