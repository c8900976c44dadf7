//! Random operations through the public API of pixelferry: any order, drops, leaks, sizes and values at the edges, panics
//! in closures, several threads. The same seed does the same again.
//!
//! An operation may be refused, by a typed error. What was accepted must do what it says: every byte is compared with a
//! model, and after an error the object must go on working. Memory errors are what AddressSanitizer is for
//! (`scripts/asan`).
//!
//! | area | what is driven |
//! |---|---|
//! | [`compute`] | backends: memory, kernels, queues, events |
//! | [`cl`] | OpenCL as safe Rust |
//! | [`links`] | links: paths, frames, resizes, faults |
//! | [`arrays`] | arrays: shapes, views, expressions |
//! | [`host`] | displays, and host memory that they share with backends |
//! | [`engines`] | objects of an engine's own, by names of the API too; a backend and a display from outside |
//! | [`files`] | profiles that were left behind |

#![deny(unsafe_code)]

pub mod arrays;
pub mod cl;
pub mod compute;
pub mod drivers;
#[allow(unsafe_code, reason = "names of memory are used by whoever vouches for it")]
pub mod engines;
pub mod files;
pub mod host;
pub mod hostile;
mod kernels;
pub mod links;
pub mod log;
pub mod payload;
pub mod rng;
pub mod run;
