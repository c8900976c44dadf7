//! Pictures that many nodes compute together, and that are watched from anywhere.
//!
//! Frames and control go by [Zenoh](https://zenoh.io). Workers offer to compute tiles of a scene ([`Net::tile`]), a display
//! asks for frames and puts their tiles together ([`Net::assemble`]), and viewers look on ([`Net::serve`], [`Net::view`]).
//! Who computes which tile follows from the live workers: there is no coordinator. Whatever starts the processes restarts them.
//! `integrations/net/docs/protocol.md` specifies the bytes; `pixelferry.net` in Python speaks the same.
//!
//! ```
//! use pixelferry::{CpuBackend, ImageDesc, Link, LinkOptions, MemoryDisplay, PixelFormat, SurfaceDesc};
//! use pixelferry_net::{Net, NetOptions, Scene, Update};
//! use std::{sync::Arc, time::Duration};
//!
//! // A display, where others would connect; the worker is in the same program here.
//! let net = Net::join(NetOptions::hub("tcp/127.0.0.1:0"))?;
//! let image = ImageDesc::new(40, 30, PixelFormat::R8);
//! let mut picture = net.assemble(Scene::new("example", image).with_tile(16, 16), Duration::from_secs(5))?;
//! let tile = net.tile("example", None)?;
//! let worker = std::thread::spawn(move || -> pixelferry_net::Result<()> {
//!     for _ in 0..6 {
//!         let Some(mut job) = tile.next(Duration::from_secs(5))? else { continue };
//!         let grey = job.args()[0];
//!         job.pixels().fill(grey);
//!         tile.publish(job)?;
//!     }
//!     Ok(())
//! });
//! let backend = Arc::new(CpuBackend::new()?);
//! let mut link = Link::open(backend, MemoryDisplay::new(), SurfaceDesc::Image(image), LinkOptions::default())?;
//! picture.request(&[200])?;
//! let shown = picture.show(&mut link, Duration::from_secs(5))?;
//! assert!(matches!(shown, Update::Tiles(tiles) if tiles.is_whole() && tiles.frame() == 1));
//! # worker.join().unwrap()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alive;
mod assemble;
mod canvas;
mod compute;
mod deliver;
mod error;
mod lend;
mod lock;
mod net;
mod net_options;
mod pack;
mod pixels;
mod serve;
mod status;
mod unseen;
mod view;
#[cfg(feature = "web")]
mod web;
mod worker;

pub use assemble::{Assembly, Late, Scene, Tiles, Update};
pub use error::{Error, Result};
pub use net::Net;
pub use net_options::{NetOptions, NetRole, Security};
pub use pixelferry_media::Event;
pub use pixelferry_media::wire::{Codec, Limits, WireError};
pub use pixelferry_rules::board::Mode;
pub use pixelferry_rules::grid::{Grid, MOST_TILES};
pub use pixelferry_rules::hash::{USUAL_WEIGHT, Weights, score};
pub use pixelferry_rules::packing::Packing;
pub use pixelferry_rules::tile_debts::TileDebt;
pub use pixels::Pixels;
pub use serve::Server;
pub use status::{NodeStatus, Role};
pub use view::Viewer;
pub use worker::{Job, Tile};

/// The binary format of messages, which `integrations/net/docs/protocol.md` specifies.
pub mod wire {
    pub use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, Limits, MAGIC, MessageKind, VERSION, WireError};
    pub use pixelferry_rules::job::JobMessage;
    pub use pixelferry_rules::report::Report;
}
