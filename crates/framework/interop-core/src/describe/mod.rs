//! Descriptions: pictures and buffers, their formats and patterns, names of paths, and errors.

pub mod answer_process;
pub(crate) mod audit_report;
pub mod child_process;
pub mod color;
pub(crate) mod debug_as;
pub mod error;
pub(crate) mod forks;
pub mod format;
pub mod geometry;
pub mod mismatch;
pub mod panics;
pub mod path_id;
pub mod pattern;
mod plain_mutex;
pub mod process;
pub(crate) mod setters;
pub mod surface;
pub mod threads;
pub(crate) mod variable;
pub mod verdict;
pub mod view;
pub mod words;

pub use plain_mutex::PlainMutex;
