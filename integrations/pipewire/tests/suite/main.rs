//! Frames of a stream in GStreamer, by PipeWire: a daemon of the test's own, no session manager, links made by hand.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod consumer;
mod daemon;
mod publisher;
mod source;
