//! The source of a gateway's pictures, and state that its browsers share.

use super::picture::Picture;
use super::video::Video;
use super::web_options::{BrowserCodec, Tokens};
use crate::wire::Codec;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// A scene from the gateway's point of view: pictures arrive, and input from browsers leaves. The server of the scene
/// may come and go.
pub trait Source: Send + Sync {
    /// Returns the newest picture that no call has returned, header and payload; `None` if none arrives in time. It is
    /// encoded with one of `codecs` or not at all.
    fn next_message(&self, codecs: &[Codec], timeout: Duration) -> Option<Vec<u8>>;

    /// Returns whether the scene is being served.
    fn is_served(&self) -> bool;

    /// Asks for the current picture, in case no newer one comes: called when serving begins.
    fn ask(&self);

    /// Reports whether any browser is watching. While none is, which is the initial state, nothing else is asked of the
    /// source.
    fn watch(&self, _is_watched: bool) {}

    /// Receives what a browser's page sent, usually the bytes of an [`Event`](crate::Event).
    fn send(&self, input: &[u8]);
}

/// State that all browsers of a gateway share.
pub struct GatewayState {
    pub scene: String,
    pub source: Box<dyn Source>,
    /// The newest picture, as a message of the protocol.
    pub pictures: watch::Sender<Option<Arc<Picture>>>,
    pub video: Arc<Video>,
    pub hop: BrowserCodec,
    /// Whether the scene is being served.
    pub served: watch::Sender<bool>,
    pub names: Vec<String>,
    pub tokens: Tokens,
    pub is_framed: bool,
    pub rooms: Arc<Semaphore>,
}
