//! Frames from one process to another.

mod crossing;
mod display;
mod hostile;
mod killed;
mod publisher;
