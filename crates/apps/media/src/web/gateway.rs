//! The gateway: its listener, and the thread that takes pictures from the source.

use super::gateway_state::{GatewayState, Source};
use super::picture::Picture;
use super::video::Video;
use super::web_options::{Error, WebOptions};
use super::{guard, http};
use crate::wire::Codec;
use axum::body::Bytes;
use interop_core::describe::process::is_forked;
use interop_core::describe::threads;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

/// Longest wait for a picture before the thread checks whether it must end.
const WAIT: Duration = Duration::from_millis(100);
/// How often the thread checks for a browser.
const IDLE: Duration = Duration::from_millis(50);
/// How often the thread checks whether the scene is being served.
const LOOK: Duration = Duration::from_millis(500);
/// Codecs that the page decodes. Pixels with any other codec go to it raw.
const UNPACKED_BY_BROWSERS: [Codec; 1] = [Codec::Jpeg];

/// Serves a page with a scene's pictures until it is dropped.
///
/// Threads: any; its own threads serve the browsers.
pub struct Gateway {
    address: SocketAddr,
    options: WebOptions,
    shared: Arc<GatewayState>,
    stop: Arc<AtomicBool>,
    pump: Option<JoinHandle<()>>,
    runtime: Option<Runtime>,
}

impl Gateway {
    /// Listens, and shows the pictures of `source`. The page calls it `scene`.
    ///
    /// # Errors
    /// [`Error::Listen`]; [`Error::Token`]; [`Error::Threads`].
    pub fn open(scene: &str, source: impl Source + 'static, options: WebOptions) -> Result<Self, Error> {
        if !guard::are_tokens(&options.tokens) {
            return Err(Error::Token);
        }
        let shared = Arc::new(GatewayState {
            scene: scene.into(),
            source: Box::new(source),
            pictures: watch::Sender::new(None),
            video: Arc::new(Video::open().map_err(Error::Threads)?),
            hop: options.hop,
            served: watch::Sender::new(false),
            names: options.names.clone(),
            tokens: options.tokens.clone(),
            is_framed: options.is_framed && options.tokens.watch.is_some(),
            rooms: Arc::new(Semaphore::new(options.viewers.min(Semaphore::MAX_PERMITS))),
        });
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = {
            let _blocked = threads::SignalMaskGuard::new();
            builder.worker_threads(2).thread_name("gateway").enable_all().build().map_err(Error::Threads)?
        };
        let refused = |source| Error::Listen { address: options.listen, source };
        let listener = runtime.block_on(TcpListener::bind(options.listen)).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        runtime.spawn(http::serve(listener, shared.clone()));
        let stop = Arc::new(AtomicBool::new(false));
        let (pumped, stopped, rooms) = (shared.clone(), stop.clone(), shared.rooms.available_permits());
        let pump = threads::spawn("pictures", move || pump(&pumped, rooms, &stopped));
        let pump = Some(pump.map_err(Error::Threads)?);
        Ok(Self { address, options, shared, stop, pump, runtime: Some(runtime) })
    }

    /// Address on which it listens, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of browsers that are watching now.
    pub fn viewers(&self) -> usize {
        self.options.viewers.saturating_sub(self.shared.rooms.available_permits())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if is_forked() {
            return std::mem::forget((self.runtime.take(), self.pump.take()));
        }
        self.stop.store(true, Ordering::Relaxed);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        if let Some(pump) = self.pump.take() {
            // The thread returns no value.
            let _ = pump.join();
        }
    }
}

/// Takes pictures while a browser occupies one of the places.
fn pump(shared: &GatewayState, rooms: usize, stop: &AtomicBool) {
    let (mut looked, mut was_watched): (Option<Instant>, _) = (None, false);
    while !stop.load(Ordering::Relaxed) {
        let is_watched = shared.rooms.available_permits() < rooms;
        if is_watched != was_watched {
            (was_watched, looked) = (is_watched, None);
            shared.source.watch(is_watched);
        }
        if !is_watched {
            // The next browser must not get an old picture.
            shared.pictures.send_replace(None);
            std::thread::sleep(IDLE);
            continue;
        }
        if let Some(message) = shared.source.next_message(&UNPACKED_BY_BROWSERS, WAIT) {
            let message = Bytes::from(message);
            shared.video.picture(&message);
            shared.pictures.send_replace(Some(Arc::new(Picture::new(message))));
        }
        if looked.is_none_or(|at| at.elapsed() >= LOOK) {
            looked = Some(Instant::now());
            let is_served = shared.source.is_served();
            let has_changed = shared.served.send_if_modified(|was| std::mem::replace(was, is_served) != is_served);
            if has_changed && is_served {
                shared.source.ask();
            }
        }
    }
}
