//! The rules on snapshots in the shapes that real controllers write, each rule on its failure and on its healthy twin.

mod approval;
mod availability;
mod envelope;
mod execution;
mod initialization;
mod member;
mod output;
mod scheduling;
mod shapes;
mod state;
mod stuck;
mod work_synchronized;
