//! The subscriber's side: frames of another process as memory of a backend.

mod frame_access;
mod held_frame;
mod subscriber;
mod subscription;

pub use held_frame::HeldStreamFrame;
pub use subscriber::{NextFrame, StreamFrame, Subscriber};
