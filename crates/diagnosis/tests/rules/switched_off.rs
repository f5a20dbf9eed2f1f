//! A rule that is switched off is noticed: for each failure code, a test of the rules fails if nothing finds the code.
//!
//! The tests run in child processes of this program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Command;
use std::{env, thread};

use diagnosis::{FailureCode, Finding, Snapshot};

/// Variable with the failure code that nothing finds in a child process.
const WITHOUT: &str = "FLEETDRILL_TEST_WITHOUT_CODE";

/// Variable with the path of the file to which a child process writes which test has found which code.
const FOUND: &str = "FLEETDRILL_TEST_FOUND_CODES";

/// True in a child process.
pub fn is_child() -> bool {
    [WITHOUT, FOUND].iter().any(|variable| env::var_os(variable).is_some())
}

/// Diagnoses a snapshot: in a child process without the code that is switched off there.
pub fn diagnose(snapshot: &Snapshot) -> Vec<Finding> {
    let findings = match env::var(WITHOUT) {
        Ok(code) => diagnosis::diagnose_without(snapshot, &FailureCode(code)),
        Err(_) => diagnosis::diagnose(snapshot),
    };
    if let Some(file) = env::var_os(FOUND) {
        let codes: BTreeSet<_> = findings.iter().flat_map(Finding::flatten).map(|finding| &finding.code).collect();
        let current = thread::current();
        let test = current.name().expect("tests run in threads with their names");
        let lines = codes.into_iter().fold(String::new(), |lines, code| lines + &format!("{code} {test}\n"));
        let mut file = OpenOptions::new().append(true).open(file).expect("the file");
        file.write_all(lines.as_bytes()).expect("the file is written");
    }
    findings
}

/// Runs tests of this program in a child process, and returns true if they pass.
fn passes(arguments: &[&str], variable: (&str, &str)) -> bool {
    let program = env::current_exe().expect("the path of this program");
    // With one thread only, tests run in the main thread and don't have their names.
    let child =
        Command::new(program).args(arguments).env(variable.0, variable.1).env("RUST_TEST_THREADS", "2").output();
    child.expect("this program runs").status.success()
}

/// Returns the names of the tests that find each code.
fn tests_by_code() -> BTreeMap<String, BTreeSet<String>> {
    let path = env::temp_dir().join(format!("fleetdrill-found-codes-{}", std::process::id()));
    fs::write(&path, "").expect("the file is written");
    let passed = passes(&["--skip", "switched_off"], (FOUND, path.to_str().expect("a path in UTF-8")));
    let lines = fs::read_to_string(&path).expect("the file");
    fs::remove_file(&path).expect("the file is removed");
    assert!(passed, "a test fails");
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (code, test) in lines.lines().filter_map(|line| line.split_once(' ')) {
        tests.entry(code.to_owned()).or_default().insert(test.to_owned());
    }
    tests
}

#[test]
fn without_a_code_a_test_fails() {
    let tests = tests_by_code();
    let is_noticed = |code: &FailureCode| {
        let mut tests = tests.get(&code.0).into_iter().flatten();
        tests.any(|test| !passes(&["--exact", test], (WITHOUT, &code.0)))
    };
    let codes = diagnosis::catalogue().iter().map(|entry| &entry.code);
    let unnoticed: Vec<_> = codes.filter(|code| !is_noticed(code)).collect();
    assert!(unnoticed.is_empty(), "nobody notices if a rule doesn't find {unnoticed:?}");
}
