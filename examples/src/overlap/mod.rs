//! Batches of upload, kernel and read-back: one after another in one queue, and overlapping in three.

mod chart;
mod kernel;
mod pipeline;

pub use chart::svg;
pub use pipeline::{Bar, Pipeline, Plan, Run, Stage};
