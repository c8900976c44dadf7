//! A scene's pictures in browsers.
//!
//! A [`Gateway`] serves one page by HTTP and the pictures of one scene by WebSocket. Each browser gets the newest picture as
//! fast as it takes them, so a slow one loses pictures and delays nobody. Browsers that ask for it get H.264, where GStreamer is
//! installed ([`Hop`]). What the page sends back reaches
//! [`pixelferry_net::Server::input`] as a [`pixelferry_net::Event`]. `net/docs/protocol.md` specifies the messages.
//!
//! ```
//! use pixelferry_net::{Net, Options};
//! use pixelferry_web::{Gateway, WebOptions};
//!
//! let net = Net::join(Options::hub("tcp/127.0.0.1:0"))?;
//! let server = net.serve("sea")?;
//! // On a port that the system chooses.
//! let gateway = Gateway::open(&net, "sea", WebOptions::at(([127, 0, 0, 1], 0).into()))?;
//! println!("open http://{}", gateway.address());
//! # let _ = server;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod gateway;
mod guard;
mod http;
mod pace;
mod picture;
mod video;
mod viewer;

pub use gateway::{Error, Gateway, Hop, WebOptions};
