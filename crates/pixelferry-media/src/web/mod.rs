//! A scene's pictures in browsers.
//!
//! A [`Gateway`] serves one page by HTTP and the pictures of one [`Source`] by WebSocket. Each browser gets the newest picture as
//! fast as it takes them, so a slow one loses pictures and delays nobody. Browsers that ask for it get H.264, where GStreamer is
//! installed ([`Hop`]). What the page sends back reaches [`Source::send`] as an [`Event`](crate::Event).
//! `integrations/net/docs/protocol.md` specifies the messages.

mod gateway;
mod guard;
mod http;
mod options;
mod pace;
mod picture;
mod relay;
mod shared;
mod video;
mod viewer;

pub use gateway::Gateway;
pub use options::{Error, Hop, Tokens, WebOptions};
pub use shared::Source;
