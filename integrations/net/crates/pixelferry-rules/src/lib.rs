//! Decisions of pixelferry's network, without a network: the bytes of messages, the tiles of a picture, the worker of
//! each tile, the session that counts, the packing of pixels. So it builds and is tested in seconds, and without Zenoh.
//!
//! | to find | look in |
//! |---|---|
//! | payloads of jobs and reports; headers are `pixelferry_media::wire`'s | `job`, `report` |
//! | names under which messages go | `key` |
//! | tiles, and who computes which | `grid`, `hash`, `workers`, `shares`, `turns`, `speeds`, `tile_debts` |
//! | which tiles of a frame came | `board` |
//! | whose messages count | `session` |
//! | large pictures in pieces | `pace` |
//! | which codec fits a link | `packing`, `link`, `choose` |
//!
//! What users name of it, `pixelferry-net` gives on.
#![allow(missing_docs)] // between the network's own crates names say enough

pub mod board;
pub mod choose;
#[cfg(test)]
mod fuzz;
pub mod grid;
pub mod hash;
#[cfg(test)]
mod hostile;
pub mod job;
pub mod key;
pub mod link;
pub mod pace;
pub mod packing;
pub mod report;
pub mod session;
pub mod shares;
pub mod speeds;
pub mod tile_debts;
pub mod turns;
pub mod workers;
