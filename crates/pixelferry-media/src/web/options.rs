//! Options of a gateway, and errors when it cannot be opened.

use std::net::SocketAddr;

/// Form in which pictures go from the gateway to browsers, unless the page's address has `?codec=` and another one's
/// name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Hop {
    /// As they were served. Pixels that are packed by LZ4 go raw.
    #[default]
    Served,
    /// As H.264, where GStreamer has an encoder and the browser a decoder. Else as JPEG, and the page says why.
    H264,
}

/// Options of [`Gateway::open`](super::Gateway::open).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebOptions {
    /// Address and port that browsers open. Beyond this machine everybody who reaches it may look and send input.
    pub listen: SocketAddr,
    /// Names under which browsers open it, besides `localhost` and numbers. Requests to other names are refused: a foreign
    /// site could lead its own name to this machine.
    pub names: Vec<String>,
    /// Most browsers at a time.
    pub viewers: usize,
    /// Form in which pictures go to browsers.
    pub hop: Hop,
    /// Rights to look and to send input.
    pub tokens: Tokens,
    /// Pages of other sites may show the page in a frame, such as notebooks. They need its token; without one they may not.
    pub is_framed: bool,
}

/// Tokens of a gateway: what the page's address has after `?token=`. Each is of 8 to 128 letters, digits, `-` and `_`.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Tokens {
    /// With this one may look; with none, everybody may.
    pub watch: Option<String>,
    /// With this one may look and send input; with none, everybody may who looks.
    pub steer: Option<String>,
}

/// Tokens stay out of logs.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let has = (self.watch.is_some(), self.steer.is_some());
        write!(f, "Tokens {{ watch: {}, steer: {} }}", has.0, has.1)
    }
}

impl Default for WebOptions {
    /// `127.0.0.1:8080`, 64 browsers, pictures as they were served, no tokens.
    fn default() -> Self {
        let (names, tokens) = Default::default();
        let listen = SocketAddr::from(([127, 0, 0, 1], 8080));
        Self { listen, names, viewers: 64, hop: Hop::Served, tokens, is_framed: false }
    }
}

impl WebOptions {
    /// At this address and port; port 0 lets the system choose.
    pub fn at(listen: SocketAddr) -> Self {
        Self { listen, ..Self::default() }
    }
}

/// Reason why there is no gateway, and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is taken, or none of this machine's.
    #[error("cannot listen at {address}: {source}. Is it taken? Try another port")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's words.
        source: std::io::Error,
    },
    /// A token that an address cannot have, or that is soon guessed.
    #[error("a token is 8 to 128 letters, digits, - and _, as `openssl rand -hex 16` gives")]
    Token,
    /// The system gives no threads.
    #[error("no threads for the gateway: {0}")]
    Threads(std::io::Error),
}
