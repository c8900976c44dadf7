//! The subscriber's side: frames of another process as memory of a backend.

mod frame_access;
mod subscriber;
mod subscription;

pub use subscriber::{NextFrame, StreamFrame, Subscriber};
