//! Source of a gateway's pictures, and the state that its browsers share.

use super::options::{Hop, Tokens};
use super::picture::Picture;
use super::video::Video;
use crate::wire::Codec;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// A scene as a gateway sees it: pictures come, and what browsers send goes. Whoever serves it may come and go.
pub trait Source: Send + Sync {
    /// The newest picture that no call gave yet, header and payload; `None` where none came in time. Packed by one of `codecs`
    /// or not at all.
    fn next_message(&self, codecs: &[Codec], timeout: Duration) -> Option<Vec<u8>>;

    /// True where somebody serves the scene.
    fn is_served(&self) -> bool;

    /// Asks for the picture of now, where no newer one may come: called when somebody begins to serve.
    fn ask(&self);

    /// Hears whether a browser looks on. While none does, which is so at first, nothing else is asked of the source.
    fn watch(&self, _is_watched: bool) {}

    /// Takes what a browser's page sent, an [`Event`](crate::Event)'s bytes as a rule.
    fn send(&self, input: &[u8]);
}

/// State shared by all browsers of a gateway.
pub struct Shared {
    pub scene: String,
    pub source: Box<dyn Source>,
    /// The newest picture, as the network's protocol has it.
    pub pictures: watch::Sender<Option<Arc<Picture>>>,
    pub video: Arc<Video>,
    pub hop: Hop,
    /// True while somebody serves the scene.
    pub served: watch::Sender<bool>,
    pub names: Vec<String>,
    pub tokens: Tokens,
    pub is_framed: bool,
    pub rooms: Arc<Semaphore>,
}
