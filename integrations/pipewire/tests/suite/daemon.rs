//! A PipeWire daemon in a folder of its own, and programs that use it.

use pixelferry_testing::{Need, need, wait_until};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Neither D-Bus nor a session manager: clients, nodes and links.
const CONFIGURATION: &str = "
context.properties = { core.daemon = true core.name = pipewire-0 support.dbus = false mem.allow-mlock = false }
context.spa-libs = { support.* = support/libspa-support }
context.modules = [
  { name = libpipewire-module-protocol-native }
  { name = libpipewire-module-client-node }
  { name = libpipewire-module-access }
  { name = libpipewire-module-link-factory }
]
";

/// A program that runs; killed when it is dropped.
pub struct RunningProgram(pub Child);

impl RunningProgram {
    pub fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// True until it has ended.
    pub fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A daemon's nodes and links, by the folder that has its socket; files of tests lie there, too.
pub struct Graph {
    pub folder: PathBuf,
}

/// The daemon, which ends with this.
pub struct Pipewire {
    pub daemon: RunningProgram,
    pub graph: Graph,
}

impl Pipewire {
    /// Starts it; SKIPPED and why where it or GStreamer's source is not there.
    pub fn start() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        for asks in [&["pipewire", "--version"][..], &["pw-link", "--version"], &["gst-inspect-1.0", "pipewiresrc"]] {
            let output =
                Command::new(asks[0]).args(&asks[1..]).output().map_err(|error| format!("{}: {error}", asks[0]));
            let found =
                output.and_then(|output| if output.status.success() { Ok(()) } else { Err(asks.join(" ") + " fails") });
            need(Need::Pipewire, found)?;
        }
        // Names of sockets are short.
        let name = format!("pixelferry-pipewire-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("pipewire.conf"), CONFIGURATION).unwrap();
        let mut command = Command::new("pipewire");
        command.arg("-c").arg(folder.join("pipewire.conf")).env("PIPEWIRE_RUNTIME_DIR", &folder).stderr(Stdio::null());
        let mut started = Self { daemon: RunningProgram(command.spawn().unwrap()), graph: Graph { folder } };
        wait_until("the daemon", || {
            assert!(started.daemon.runs(), "the daemon ended");
            started.graph.ports("-o").is_some()
        });
        Some(started)
    }
}

impl Graph {
    /// A command that finds this daemon.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("PIPEWIRE_RUNTIME_DIR", &self.folder);
        command
    }

    /// Ports that give (`-o`) or take (`-i`).
    pub fn ports(&self, which: &str) -> Option<Vec<String>> {
        let output = self.command("pw-link").arg(which).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| text.lines().map(str::to_owned).collect())
    }

    /// Links the source of this name to the consumer of that.
    pub fn link(&self, source: &str, consumer: &str) {
        let port = |which: &str, node: &str| {
            let mut found = None;
            wait_until("a port", || {
                let ports = self.ports(which).unwrap_or_default();
                found = ports.into_iter().find(|port| port.starts_with(&format!("{node}:")));
                found.is_some()
            });
            found.unwrap()
        };
        let (from, to) = (port("-o", source), port("-i", consumer));
        let output = self.command("pw-link").args([&from, &to]).output().unwrap();
        assert!(output.status.success(), "{from} to {to}: {output:?}");
    }

    /// This crate's program on a stream.
    pub fn source(&self, stream: &str) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_pixelferry-pipewire"));
        command.arg(stream);
        command
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Pipewire {
    fn drop(&mut self) {
        self.daemon.kill();
        let _ = fs::remove_dir_all(&self.graph.folder);
    }
}
