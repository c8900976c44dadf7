//! The gateway: what it listens at, and the thread that takes pictures from the network.

use crate::http;
use crate::picture::Picture;
use crate::video::Video;
use axum::body::Bytes;
use pixelferry_net::{Codec, Net, Viewer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

/// How long the thread waits for a picture before it looks whether it shall end.
const WAIT: Duration = Duration::from_millis(100);
/// How often it looks whether anybody serves the scene.
const LOOK: Duration = Duration::from_millis(500);
/// What the page unpacks. Pixels that are packed otherwise go to it raw.
const UNPACKED_BY_BROWSERS: [Codec; 1] = [Codec::Jpeg];

/// How pictures go from the gateway to browsers, unless the page's address has `?codec=` and another one's name.
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
    /// How pictures go to browsers.
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

/// Why there is no gateway, and what to try.
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
    /// The network reported an error.
    #[error(transparent)]
    Net(#[from] pixelferry_net::Error),
}

/// What all of a gateway's browsers share.
pub struct Shared {
    pub scene: String,
    pub viewer: Viewer,
    /// The newest picture, as the network's protocol has it.
    pub pictures: watch::Sender<Option<Arc<Picture>>>,
    pub video: Arc<Video>,
    pub hop: Hop,
    /// Whether somebody serves the scene.
    pub served: watch::Sender<bool>,
    pub names: Vec<String>,
    pub rooms: Arc<Semaphore>,
}

/// Serves a page with a scene's pictures until it is dropped.
///
/// Threads: any; its own serve the browsers.
pub struct Gateway {
    address: SocketAddr,
    options: WebOptions,
    shared: Arc<Shared>,
    stop: Arc<AtomicBool>,
    pump: Option<JoinHandle<()>>,
    runtime: Option<Runtime>,
}

impl Gateway {
    /// Listens, and views the scene.
    ///
    /// # Errors
    /// [`Error::Listen`]; [`Error::Threads`]; [`Error::Net`] for a name that is no scene's.
    pub fn open(net: &Net, scene: &str, options: WebOptions) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            scene: scene.into(),
            viewer: net.view(scene)?,
            pictures: watch::Sender::new(None),
            video: Arc::new(Video::open().map_err(Error::Threads)?),
            hop: options.hop,
            served: watch::Sender::new(false),
            names: options.names.clone(),
            rooms: Arc::new(Semaphore::new(options.viewers.min(Semaphore::MAX_PERMITS))),
        });
        let mut threads = tokio::runtime::Builder::new_multi_thread();
        let runtime = threads.worker_threads(2).thread_name("gateway").enable_all().build().map_err(Error::Threads)?;
        let refused = |source| Error::Listen { address: options.listen, source };
        let listener = runtime.block_on(TcpListener::bind(options.listen)).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        runtime.spawn(http::serve(listener, shared.clone()));
        let stop = Arc::new(AtomicBool::new(false));
        let (pumped, stopped) = (shared.clone(), stop.clone());
        let pump = std::thread::Builder::new().name("pictures".into()).spawn(move || pump(&pumped, &stopped));
        let pump = Some(pump.map_err(Error::Threads)?);
        Ok(Self { address, options, shared, stop, pump, runtime: Some(runtime) })
    }

    /// Where it listens, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Browsers that look on at the moment.
    pub fn viewers(&self) -> usize {
        self.options.viewers.saturating_sub(self.shared.rooms.available_permits())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        if let Some(pump) = self.pump.take() {
            // It returns nothing.
            let _ = pump.join();
        }
    }
}

fn pump(shared: &Shared, stop: &AtomicBool) {
    let mut looked: Option<Instant> = None;
    while !stop.load(Ordering::Relaxed) {
        if let Some(message) = shared.viewer.next_message(&UNPACKED_BY_BROWSERS, WAIT) {
            let message = Bytes::from(message);
            shared.video.picture(&message);
            shared.pictures.send_replace(Some(Arc::new(Picture::new(message))));
        }
        if looked.is_none_or(|at| at.elapsed() >= LOOK) {
            looked = Some(Instant::now());
            // An error says that the network was left.
            let is_served = shared.viewer.is_served().unwrap_or(false);
            let has_changed = shared.served.send_if_modified(|was| std::mem::replace(was, is_served) != is_served);
            if let Err(error) = if has_changed && is_served { shared.viewer.ask() } else { Ok(()) } {
                tracing::debug!("no picture of now: {error}");
            }
        }
    }
}
