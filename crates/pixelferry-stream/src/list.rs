//! Streams there are.

use crate::wire::socket::{join, names};
use interop_core::Result;
use interop_core::describe::error::call;
use serde::Serialize;

/// A stream that somebody publishes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Listed {
    /// Its name, for [`crate::Subscriber::open`].
    pub name: String,
    /// The process that publishes it.
    pub process: u32,
    /// Name of that process's program, of which the system keeps 15 bytes (proc_pid_comm(5)); empty where it does not say.
    pub program: String,
}

/// Streams of this user, in order of their names. Sockets that a killed publisher left are removed.
///
/// # Errors
/// [`interop_core::Error::Unavailable`] where the folder of streams cannot be read.
pub fn streams() -> Result<Vec<Listed>> {
    call("streams", || {
        let process = |name: &str| {
            let publisher = join(name).ok()?;
            let peer = rustix::net::sockopt::socket_peercred(publisher.socket()).ok()?;
            u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
        };
        let listed = |name: String| {
            let process = process(&name)?;
            let program = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
            Some(Listed { name, process, program: program.trim_end().to_owned() })
        };
        Ok(names()?.into_iter().filter_map(listed).collect())
    })
}
