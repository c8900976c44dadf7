//! A scene of the network in browsers.

use crate::error::Result;
use crate::net::Net;
use crate::view::Viewer;
use pixelferry_media::web::{Gateway, Source, WebOptions};
use pixelferry_media::wire::Codec;
use std::time::Duration;

impl Net {
    /// Serves a page with a scene's pictures to browsers; what they send back reaches [`Server::input`](crate::Server::input).
    ///
    /// ```
    /// use pixelferry_media::web::WebOptions;
    /// use pixelferry_net::{Net, Options};
    ///
    /// let net = Net::join(Options::hub("tcp/127.0.0.1:0"))?;
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
        Ok(Gateway::open(scene, self.view(scene)?, options)?)
    }
}

/// Failures are told in the log: the network was left, or a stranger sent too much.
impl Source for Viewer {
    fn next_message(&self, codecs: &[Codec], timeout: Duration) -> Option<Vec<u8>> {
        Viewer::next_message(self, codecs, timeout)
    }

    fn is_served(&self) -> bool {
        Viewer::is_served(self).unwrap_or(false)
    }

    fn ask(&self) {
        if let Err(error) = Viewer::ask(self) {
            tracing::debug!("no picture of now: {error}");
        }
    }

    fn send(&self, input: &[u8]) {
        if let Err(error) = Viewer::send(self, input) {
            tracing::debug!("an input was not sent: {error}");
        }
    }
}
