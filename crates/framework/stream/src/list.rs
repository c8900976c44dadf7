//! Lists the published streams.

use crate::wire::socket::{join, names};
use interop_core::Result;
use interop_core::describe::error::call;
use serde::Serialize;

/// A published stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StreamEntry {
    /// Name of the stream, for [`crate::Subscriber::open`].
    pub name: String,
    /// Process that publishes it.
    pub process: u32,
    /// Name of that process's program, of which the system keeps 15 bytes (proc_pid_comm(5)); empty if unknown.
    pub program: String,
}

/// Returns the streams of this user, sorted by name. Removes sockets that killed publishers left behind.
///
/// # Errors
/// [`interop_core::Error::Unavailable`] if the folder of streams cannot be read.
pub fn streams() -> Result<Vec<StreamEntry>> {
    call("streams", || {
        let process = |name: &str| {
            let publisher = join(name).ok()?;
            let peer = rustix::net::sockopt::socket_peercred(publisher.socket()).ok()?;
            u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
        };
        let listed = |name: String| {
            let process = process(&name)?;
            let program = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
            Some(StreamEntry { name, process, program: program.trim_end().to_owned() })
        };
        Ok(names()?.into_iter().filter_map(listed).collect())
    })
}
