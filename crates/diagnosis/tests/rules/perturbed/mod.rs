//! Properties of the rules on perturbed snapshots: each snapshot that a test of the rules diagnoses is also diagnosed with its objects in
//! another order, with other names, at another time, and with parts of it missing.
//!
//! Each snapshot is perturbed a few times, the same way in each run. `PROPTEST_CASES` sets another number of times, `PROPTEST_RNG_SEED`
//! another seed.

mod evidence;
mod names;
mod removal;
mod scopes;
mod times;

use diagnosis::{Diagnosis, KubectlAccess, Snapshot};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use serde_json::Value;

pub use scopes::check as check_both_scopes;

/// Number of times that each snapshot is perturbed in each way.
const CASES: u32 = 2;

/// Checks that the findings of a snapshot stay right when it is perturbed.
pub fn check(snapshot: &Snapshot) {
    let fleet = serde_json::to_value(snapshot).expect("JSON");
    if let Err(problem) = evidence::check(snapshot) {
        panic!("{problem}");
    }
    keeps("the order of its objects", orders(&fleet), |order| same_in_any_order(&fleet, &order));
    keeps("its time", times::shifts(), |shift| times::same_at_another_time(&fleet, shift));
    keeps("its names", names::renamings(&fleet), |renaming| names::same_with_other_names(&fleet, &renaming));
    keeps("what is missing", removal::removals(&fleet), |removal| removal::nothing_wrong_without(&fleet, &removal));
}

/// Checks a property of a snapshot for some perturbations of it.
fn keeps<S: Strategy>(changed: &str, perturbations: S, holds: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(0);
    }
    if let Err(error) = TestRunner::new(config).run(&perturbations, holds) {
        panic!("a snapshot is diagnosed wrongly after a change of {changed}: {error}");
    }
}

/// Reads a snapshot that was written as JSON.
fn read(fleet: &Value) -> Snapshot {
    serde_json::from_value(fleet.clone()).expect("a snapshot")
}

/// Diagnoses a snapshot, and returns the result as JSON. The states that are in progress have no order.
fn diagnose(fleet: &Value) -> Value {
    let snapshot = read(fleet);
    let Diagnosis { findings, in_progress } = diagnosis::examine(&snapshot, &KubectlAccess::same_names_in(&snapshot));
    let mut in_progress: Vec<Value> =
        in_progress.iter().map(|state| serde_json::to_value(state).expect("JSON")).collect();
    in_progress.sort_by_key(Value::to_string);
    serde_json::json!({"findings": findings, "in_progress": in_progress})
}

/// Applies a function to all strings in a value, except those in some fields.
fn map_texts(value: &mut Value, is_kept: fn(&str) -> bool, map: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = map(text),
        Value::Array(list) => list.iter_mut().for_each(|element| map_texts(element, is_kept, map)),
        Value::Object(fields) => {
            let changed = fields.iter_mut().filter(|(key, field)| !field.is_string() || !is_kept(key));
            changed.for_each(|(_, field)| map_texts(field, is_kept, map));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the clusters of a snapshot.
fn clusters(fleet: &Value) -> &[Value] {
    fleet["clusters"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the objects of a cluster.
fn objects(cluster: &Value) -> &[Value] {
    cluster["objects"].as_array().map_or(&[], Vec::as_slice)
}

/// Orders of the objects of each cluster, by their positions.
fn orders(fleet: &Value) -> impl Strategy<Value = Vec<Vec<usize>>> + use<> {
    let orders = clusters(fleet).iter().map(|cluster| Just((0..objects(cluster).len()).collect()).prop_shuffle());
    orders.collect::<Vec<_>>()
}

fn same_in_any_order(fleet: &Value, orders: &[Vec<usize>]) -> Result<(), TestCaseError> {
    let mut other = fleet.clone();
    for (at, order) in orders.iter().enumerate() {
        let all = objects(&clusters(fleet)[at]);
        other["clusters"][at]["objects"] = order.iter().map(|position| all[*position].clone()).collect();
    }
    prop_assert_eq!(diagnose(&other), diagnose(fleet));
    Ok(())
}
