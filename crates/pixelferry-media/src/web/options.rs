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

/// Options of [`Gateway::open`].
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
}

impl Default for WebOptions {
    /// `127.0.0.1:8080`, 64 browsers, pictures as they were served.
    fn default() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 8080)), names: Vec::new(), viewers: 64, hop: Hop::Served }
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
    /// The system gives no threads.
    #[error("no threads for the gateway: {0}")]
    Threads(std::io::Error),
}
