//! Options for joining the network.

use crate::error::{Error, Result};
use pixelferry_media::wire::Limits;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// A program's role in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum NetRole {
    /// Connected to the peers it knows, and to their peers.
    #[default]
    Peer,
    /// Connected to one hub or router, which forwards everything.
    Client,
    /// Forwards messages of others, like the router `zenohd`.
    Hub,
}

/// Security of the network: who may join, and encryption. All of it is Zenoh's.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Security {
    /// Certificates (PEM) of the authority that verifies others' certificates, for endpoints `tls/...`.
    pub authority: Option<PathBuf>,
    /// This program's certificate and its private key (PEM).
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether connecting programs must have a certificate of the authority, too.
    pub mutual: bool,
    /// Name and password with which this program connects.
    pub user: Option<(String, String)>,
    /// File with lines `name:password` of users who may connect to this program.
    pub users: Option<PathBuf>,
}

impl Security {
    /// Describes the credentials of this program, without secrets.
    pub(crate) fn papers(&self) -> String {
        let identity = self.identity.as_ref().filter(|_| self.mutual);
        let certificate = identity.map(|(path, _)| format!("with the certificate {}", path.display()));
        let user = self.user.as_ref().map(|(name, _)| format!("with the name {name} and a password"));
        let authority = match &self.authority {
            Some(path) => format!("trust in the authority {}", path.display()),
            None => "trust in the usual authorities".into(),
        };
        let none = "without certificate, without name and password".to_owned();
        let shown: Vec<_> = certificate.into_iter().chain(user).collect();
        format!("{} ({authority})", if shown.is_empty() { none } else { shown.join(" and ") })
    }
}

/// Options of [`crate::Net::join`]. By default the program connects to nothing, listens on nothing beyond this machine,
/// and does not use multicast.
///
///
/// ```
/// use pixelferry_net::{Net, NetOptions};
///
/// // A hub on a port that the system chooses, and a program that connects to it.
/// let hub = Net::join(NetOptions::hub("tcp/127.0.0.1:0"))?;
/// let client = Net::join(NetOptions::through(&hub.endpoints()?[0]))?;
/// # let _ = client;
/// # Ok::<(), pixelferry_net::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NetOptions {
    /// Role in the network.
    pub place: NetRole,
    /// Endpoints to listen on, such as `tcp/127.0.0.1:7447` or `tls/0.0.0.0:7447`.
    pub listen: Vec<String>,
    /// Endpoints to connect to.
    pub connect: Vec<String>,
    /// Security of the network: who may join.
    pub security: Security,
    /// How long a host may be silent before others consider it gone. A process that dies is noticed at once, because
    /// the system closes its connections.
    pub lease: Duration,
    /// Whether messages use shared memory if both ends are on one machine (on Linux).
    pub shared_memory: bool,
    /// Limit of shared memory in bytes, for tiles and pictures that are being computed or read.
    pub shared_memory_bytes: usize,
    /// Limits of accepted messages.
    pub limits: Limits,
    /// Zenoh's own options, as key and JSON, set last: `("transport/link/tx/batch_size", "8192")`.
    pub zenoh: Vec<(String, String)>,
}

impl Default for NetOptions {
    fn default() -> Self {
        Self {
            place: NetRole::Peer,
            listen: Vec::new(),
            connect: Vec::new(),
            security: Security::default(),
            lease: Duration::from_secs(2),
            shared_memory: true,
            shared_memory_bytes: 64 << 20,
            limits: Limits::default(),
            zenoh: Vec::new(),
        }
    }
}

impl NetOptions {
    /// Options of a hub that listens on `endpoint`.
    pub fn hub(endpoint: &str) -> Self {
        Self { place: NetRole::Hub, listen: vec![endpoint.into()], ..Self::default() }
    }

    /// Options of a program that connects to the hub or router at `endpoint`.
    pub fn through(endpoint: &str) -> Self {
        Self { place: NetRole::Client, connect: vec![endpoint.into()], ..Self::default() }
    }

    /// Sets who may join.
    #[must_use]
    pub fn with_security(self, security: Security) -> Self {
        Self { security, ..self }
    }

    /// Returns Zenoh's configuration.
    pub(crate) fn config(&self) -> Result<zenoh::Config> {
        let mut config = zenoh::Config::default();
        let mut set = |key: &str, value: Value| insert(&mut config, key, &value.to_string());
        set(
            "mode",
            json!(match self.place {
                NetRole::Peer => "peer",
                NetRole::Client => "client",
                NetRole::Hub => "router",
            }),
        )?;
        // Zenoh's default is to listen on every address.
        set("listen/endpoints", json!(self.listen))?;
        set("connect/endpoints", json!(self.connect))?;
        set("scouting/multicast/enabled", json!(false))?;
        set("transport/link/tx/lease", json!(self.lease.as_millis().clamp(100, 3_600_000) as u64))?;
        // Number of batches of 64 KiB that wait for a viewer before it loses pictures.
        set("transport/link/tx/queue/size/data_low", json!(16))?;
        set("transport/link/tx/queue/size/data", json!(16))?;
        set("transport/link/rx/max_message_size", json!(self.limits.bytes.saturating_add(1 << 20)))?;
        // Zenoh's shared memory leaks when a process dies; lending works without it.
        set("transport/shared_memory/enabled", json!(false))?;
        // How long (microseconds) a slow viewer may delay the others at each picture.
        set("transport/link/tx/queue/congestion_control/drop/max_wait_before_drop_fragments", json!(5_000))?;
        set("transport/link/tx/queue/size/background", json!(16))?;
        let security = &self.security;
        let path = |path: &PathBuf| json!(path.to_string_lossy());
        if let Some(authority) = &security.authority {
            set("transport/link/tls/root_ca_certificate", path(authority))?;
        }
        if let Some((certificate, key)) = &security.identity {
            for (end, ours) in [("listen", !self.listen.is_empty()), ("connect", security.mutual)] {
                if ours {
                    set(&format!("transport/link/tls/{end}_certificate"), path(certificate))?;
                    set(&format!("transport/link/tls/{end}_private_key"), path(key))?;
                }
            }
        }
        if security.mutual {
            set("transport/link/tls/enable_mtls", json!(true))?;
        }
        if let Some((user, password)) = &security.user {
            set("transport/auth/usrpwd/user", json!(user))?;
            set("transport/auth/usrpwd/password", json!(password))?;
        }
        if let Some(users) = &security.users {
            set("transport/auth/usrpwd/dictionary_file", path(users))?;
        }
        for (key, value) in &self.zenoh {
            insert(&mut config, key, value)?;
        }
        Ok(config)
    }
}

fn insert(config: &mut zenoh::Config, key: &str, value: &str) -> Result<()> {
    let failed = Error::zenoh("Options", "Is the option spelled as in Zenoh's DEFAULT_CONFIG.json5?");
    // Leave the value out of the message: it may be a password.
    config.insert_json5(key, value).map_err(|error| failed(format!("option {key}: {error}").into()))
}
