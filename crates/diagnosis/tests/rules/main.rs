//! Tests of the rules on snapshots in the shapes that real controllers write. Each rule is tested on its failure and on
//! a healthy counterpart.

#![expect(clippy::needless_pass_by_value, reason = "json!(...) is passed as it stands, without an ampersand each time")]

mod apply;
mod approval;
mod argocd;
mod availability;
mod clock;
mod codes;
mod commands;
mod deletion;
mod drift;
mod envelope;
mod eviction;
mod execution;
mod hub_agent;
mod hub_writes;
mod initialization;
mod job;
mod leaving;
mod member;
mod outcome;
mod output;
mod overrides;
mod perturbed;
mod reading;
mod resource_snapshot;
mod robustness;
mod rollout;
mod scheduling;
mod shapes;
mod state;
mod stuck;
mod switched_off;
mod work_synchronized;
mod workload_fault;
