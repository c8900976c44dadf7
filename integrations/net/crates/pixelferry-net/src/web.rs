//! A scene of the network in browsers.

use crate::error::{Result, keys};
use crate::lock::lock;
use crate::net::Net;
use crate::view::Viewer;
use pixelferry_media::web::{Gateway, Source, WebOptions};
use pixelferry_media::wire::Codec;
use std::sync::{Arc, Mutex};
use std::time::Duration;

impl Net {
    /// Serves a page with a scene's pictures to browsers; what they send back reaches [`Server::input`](crate::Server::input).
    ///
    /// ```
    /// use pixelferry_media::web::WebOptions;
    /// use pixelferry_net::{Net, NetOptions};
    ///
    /// let net = Net::join(NetOptions::hub("tcp/127.0.0.1:0"))?;
    /// let server = net.serve("sea")?;
    /// // On a port that the system chooses.
    /// let gateway = net.gateway("sea", WebOptions::at(([127, 0, 0, 1], 0).into()))?;
    /// println!("open http://{}", gateway.address());
    /// # let _ = server;
    /// # Ok::<(), pixelferry_net::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Web`](crate::Error::Web) where it cannot listen; [`Error::Invalid`](crate::Error::Invalid) for a name that is no
    /// scene's.
    pub fn gateway(&self, scene: &str, options: WebOptions) -> Result<Gateway> {
        keys(scene)?;
        let source = WatchedScene { net: self.clone(), scene: scene.into(), viewer: Mutex::default() };
        Ok(Gateway::open(scene, source, options)?)
    }
}

/// A scene that is watched while a browser watches it.
struct WatchedScene {
    net: Net,
    scene: String,
    viewer: Mutex<Option<Arc<Viewer>>>,
}

impl WatchedScene {
    fn viewer(&self) -> Option<Arc<Viewer>> {
        lock(&self.viewer).clone()
    }
}

/// Failures are logged: the network was left, or a stranger sent too much.
impl Source for WatchedScene {
    fn watch(&self, is_watched: bool) {
        let viewer = is_watched.then(|| self.net.view(&self.scene)).transpose();
        let viewer = viewer.inspect_err(|error| tracing::warn!("browsers get no pictures: {error}"));
        *lock(&self.viewer) = viewer.ok().flatten().map(Arc::new);
    }

    fn next_message(&self, codecs: &[Codec], timeout: Duration) -> Option<Vec<u8>> {
        match self.viewer() {
            Some(viewer) => viewer.next_message(codecs, timeout),
            None => {
                std::thread::sleep(timeout);
                None
            }
        }
    }

    fn is_served(&self) -> bool {
        self.viewer().is_some_and(|viewer| viewer.is_served().unwrap_or(false))
    }

    fn ask(&self) {
        if let Some(Err(error)) = self.viewer().map(|viewer| viewer.ask()) {
            tracing::debug!("cannot request the current picture: {error}");
        }
    }

    fn send(&self, input: &[u8]) {
        if let Some(Err(error)) = self.viewer().map(|viewer| viewer.send(input)) {
            tracing::debug!("cannot send an input: {error}");
        }
    }
}
