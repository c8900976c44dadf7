//! Options of a gateway, and reasons why it cannot be opened.

use std::net::SocketAddr;

/// Codec of pictures from the gateway to browsers. The page's address can select another one with `?codec=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BrowserCodec {
    /// As the source delivers them; LZ4 pixels are sent raw.
    #[default]
    Served,
    /// H.264, if GStreamer has an encoder and the browser a decoder; otherwise JPEG, and the page says why.
    H264,
}

/// Options of [`Gateway::open`](super::Gateway::open).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebOptions {
    /// Address and port to listen on. If it is not a loopback address, everybody who can reach it may watch and send
    /// input.
    pub listen: SocketAddr,
    /// Host names that the page answers to, besides `localhost` and numeric addresses. Requests to other names are
    /// refused: a foreign site could make its own name resolve to this machine.
    pub names: Vec<String>,
    /// Maximum number of browsers at a time.
    pub viewers: usize,
    /// Codec of pictures to browsers.
    pub hop: BrowserCodec,
    /// Tokens for watching and for sending input.
    pub tokens: Tokens,
    /// Whether pages of other sites, such as notebooks, may show the page in a frame. This needs a token to watch.
    pub is_framed: bool,
}

/// Tokens of a gateway: the value of `?token=` in the page's address. Each has 8 to 128 letters, digits, `-` and `_`.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Tokens {
    /// Token that allows watching; `None` allows everybody to watch.
    pub watch: Option<String>,
    /// Token that allows watching and sending input; `None` allows input to everybody who may watch.
    pub steer: Option<String>,
}

/// Keeps tokens out of logs.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let has = (self.watch.is_some(), self.steer.is_some());
        write!(f, "Tokens {{ watch: {}, steer: {} }}", has.0, has.1)
    }
}

impl Default for WebOptions {
    /// `127.0.0.1:8080`, 64 browsers, pictures as the source delivers them, no tokens.
    fn default() -> Self {
        let (names, tokens) = Default::default();
        let listen = SocketAddr::from(([127, 0, 0, 1], 8080));
        Self { listen, names, viewers: 64, hop: BrowserCodec::Served, tokens, is_framed: false }
    }
}

impl WebOptions {
    /// Options for this address and port; port 0 lets the system choose.
    pub fn at(listen: SocketAddr) -> Self {
        Self { listen, ..Self::default() }
    }
}

/// Reason why a gateway cannot be opened, and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is in use, or does not belong to this machine.
    #[error("cannot listen on {address}: {source}; if the port is in use, try another")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A token that is invalid in an address, or too easy to guess.
    #[error(
        "invalid token: it must have 8 to 128 letters, digits, - and _, such as the output of `openssl rand -hex \
             16`"
    )]
    Token,
    /// The system cannot start threads.
    #[error("cannot start threads for the gateway: {0}")]
    Threads(std::io::Error),
}
