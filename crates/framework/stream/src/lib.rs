#![doc = include_str!("../README.md")]
#![cfg(target_os = "linux")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod list;
mod proof;
mod publish;
mod subscribe;
mod wire;

pub use list::{StreamEntry, streams};
pub use publish::{PublishedFrame, StreamDisplay, StreamOptions};
pub use subscribe::{HeldStreamFrame, NextFrame, StreamFrame, Subscriber};

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_stream;
