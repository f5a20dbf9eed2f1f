//! Reports about several runs: [`merge`] makes one record of shards and repetitions, [`compare`] says what has changed since earlier runs,
//! [`text`] and [`json`] write both, and [`changes`] has both for the page of the merged run.

pub mod changes;
pub mod compare;
pub mod json;
pub mod merge;
pub mod text;

#[cfg(test)]
mod tests;
