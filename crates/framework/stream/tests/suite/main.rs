//! Streams: subscribers that are slow, paused, killed or forked, and systems that have nothing left to give.

#![cfg(target_os = "linux")]
// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod folders;
mod fork;
mod forked;
mod held;
mod published;
mod scarce;
mod slow;
mod stress;
