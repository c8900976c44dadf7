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

/// The page's parts as one module of JavaScript, whose `default` is a widget of anywidget's: `render({ model, el })`.
///
/// `model.send` gets `{watch}` when it comes and goes, `{taken}` when it has shown so many pictures or passed them over, `{input}` with
/// an [`Event`](crate::Event)'s bytes, and `{event}` for what the picture does not change by, with the names of renderview. Messages
/// for it are `{picture}` with a message of [`wire`](crate::wire), and `{ended}`.
pub const WIDGET: &str =
    concat!(include_str!("page/picture.js"), include_str!("page/input.js"), include_str!("page/widget.js"));
