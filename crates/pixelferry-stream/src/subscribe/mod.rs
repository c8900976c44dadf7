//! The subscriber's side: frames of another process as memory of a backend.

mod joined;
mod subscriber;
mod way;

pub use subscriber::{Next, StreamFrame, Subscriber};
