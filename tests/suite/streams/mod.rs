//! Frames from one process to another.

mod crossing;
mod hostile;
mod killed;
mod publisher;
