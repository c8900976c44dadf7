#![doc = include_str!("../README.md")]
#![cfg(target_os = "linux")]

mod list;
mod proof;
mod publish;
mod subscribe;
mod wire;

pub use list::{Listed, streams};
pub use publish::{Published, StreamDisplay, StreamOptions};
pub use subscribe::{Next, StreamFrame, Subscriber};
