//! JSON of many objects in little memory.
//!
//! A `JsonStore` keeps each text once, and each list and each object with the same contents once: the objects of a fleet repeat each
//! other's labels, conditions, manifests and messages. [`JsonRef`] reads a value, wherever it is stored.

mod read;
mod reference;
mod store;
mod value_limit;

pub(crate) use read::StoredJson;
pub use reference::{JsonElements, JsonFields, JsonList, JsonRef};
pub(crate) use store::{JsonNode, JsonStore};
pub(crate) use value_limit::ValueAllowance;
pub use value_limit::ValueLimit;
