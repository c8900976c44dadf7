//! Shows a scene's pictures in browsers.
//!
//! A [`Gateway`] serves one page over HTTP and the pictures of one [`Source`] over WebSocket. Each browser gets the
//! newest picture as fast as it can take it, so a slow browser loses pictures and delays no other. Browsers that ask
//! for it get H.264, if GStreamer is installed ([`BrowserCodec`]). The page's input reaches [`Source::send`] as an
//! [`Event`](crate::Event). `integrations/net/docs/protocol.md` specifies the messages.

mod gateway;
mod gateway_state;
mod guard;
mod http;
mod pace;
mod picture;
mod relay;
mod video;
mod viewer;
mod web_options;

pub use gateway::Gateway;
pub use gateway_state::Source;
pub use web_options::{BrowserCodec, Error, Tokens, WebOptions};

/// The page's parts as one JavaScript module, whose `default` is a widget for anywidget: `render({ model, el })`.
///
/// It calls `model.send` with `{watch}` when it appears and disappears, `{taken}` with the number of pictures shown or
/// skipped, `{input}` with an [`Event`](crate::Event)'s bytes, and `{event}`, with renderview's names, for events that
/// do not change the picture. It receives `{picture}` with a message of [`wire`](crate::wire), and `{ended}`.
pub const WIDGET: &str =
    concat!(include_str!("page/picture.js"), include_str!("page/input.js"), include_str!("page/widget.js"));
