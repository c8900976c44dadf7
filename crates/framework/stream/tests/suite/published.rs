//! A stream of this process or of another one, and who knocks at it.

use cpu_fallback::CpuBackend;
use interop_core::{ComputeBackend, Display, Link, LinkOptions, PathId, PixelFormat, Policy, StagingKind, SurfaceDesc};
use pixelferry_stream::{PublishedFrame, StreamDisplay, StreamOptions, Subscriber};
use pixelferry_testing::{Patience, wait_until};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send, socket_with,
};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub const SOON: Duration = Duration::from_secs(60);
const NAME: &str = "PIXELFERRY_TEST_STREAM";

pub fn backend() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

/// A name that no other test has.
pub fn fresh_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("suite-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The name that a test gave this process.
pub fn given_name() -> String {
    std::env::var(NAME).expect("the test names its stream")
}

/// A stream of this process, whose frames have one number in all of their bytes.
pub struct Stream {
    pub link: Link,
    pub display: Arc<StreamDisplay>,
    pub name: String,
}

impl Stream {
    pub fn open(name: &str) -> Self {
        Self::open_with(name, LinkOptions::default())
    }

    /// Kernels write the memory that subscribers read.
    pub fn in_place(name: &str) -> Self {
        Self::open_with(name, LinkOptions::new(Policy::default().with_force(PathId::HOST_VISIBLE_IN_PLACE)))
    }

    fn open_with(name: &str, of_link: LinkOptions) -> Self {
        let (backend, options) = (backend(), StreamOptions::default().with_readers(16));
        let display = StreamDisplay::open(name, None, options).unwrap();
        let desc = SurfaceDesc::image(64, 64, PixelFormat::R8);
        let link = Link::open(backend, display.clone(), desc, of_link).unwrap();
        Self { link, display, name: name.into() }
    }

    pub fn show(&mut self, value: u8) -> PublishedFrame {
        let bytes = vec![value; self.link.desc().byte_len().unwrap()];
        self.link.frame(|frame| frame.write(&bytes)).unwrap();
        self.display.publish(&self.link.shown().unwrap()).unwrap()
    }

    pub fn resize(&mut self, side: u32) {
        self.link.resize(SurfaceDesc::image(side, side, PixelFormat::R8)).unwrap();
    }

    /// Pieces of memory come and go, as they do with every change of a size that needs more.
    pub fn churn(&self, pieces: usize) {
        let display: &dyn Display = self.display.as_ref();
        for _ in 0..pieces {
            drop(display.create_staging(StagingKind::Persistent, 4096).unwrap());
        }
    }

    pub fn subscribe(&self) -> Subscriber {
        Subscriber::open(&self.name, &backend()).unwrap()
    }
}

/// A test of this program that runs in a process of its own, killed when this is dropped.
pub struct Process(pub Child);

impl Process {
    pub fn start(test: &str, name: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([test, "--exact", "--ignored", "--nocapture"]).env(NAME, name);
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// A publisher, which shows frame after frame until it is killed.
    pub fn publisher(name: &str) -> (Self, Subscriber) {
        let publisher = Self::start("suite::published::child_publishes", name);
        let mut patience = Patience::new();
        loop {
            match Subscriber::open(name, &backend()) {
                Ok(subscriber) => return (publisher, subscriber),
                Err(error) => assert!(!patience.is_over(), "{error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills it, and leaves what is left of it in the system's table.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn child_publishes() {
    let mut stream = Stream::open(&given_name());
    for frame in 0_u32.. {
        // There are pieces to tell of each time.
        stream.resize(8 + frame % 64);
        stream.churn(4);
        stream.show(frame as u8);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The socket of a stream in `runtime`, or where this process has its streams.
pub fn path(name: &str) -> PathBuf {
    let folder = match std::env::var("XDG_RUNTIME_DIR") {
        Ok(runtime) => PathBuf::from(runtime).join("pixelferry"),
        Err(_) => PathBuf::from(format!("/tmp/pixelferry-{}", rustix::process::geteuid().as_raw())),
    };
    folder.join(format!("{name}.stream"))
}

pub fn socket() -> OwnedFd {
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
}

/// Says hello to a stream, as a subscriber does.
pub fn knock(socket: &OwnedFd, name: &str) {
    connect(socket, &SocketAddrUnix::new(path(name)).unwrap()).unwrap();
    send(socket, br#"{"version":2}"#, SendFlags::NOSIGNAL).unwrap();
}

/// The next message; none where there is none now. Its descriptors are closed.
pub fn message(socket: &OwnedFd) -> Option<String> {
    let mut bytes = [0; 4096];
    let (_, len) = recv(socket, &mut bytes, RecvFlags::DONTWAIT).ok()?;
    Some(String::from_utf8_lossy(&bytes[..len]).into_owned())
}

/// The threads of this process's streams, whose files are open before there are no descriptors left.
pub struct StreamThreads(Vec<File>);

impl StreamThreads {
    pub fn find() -> Self {
        let mut found = Vec::new();
        // A thread has its name once it runs.
        wait_until("a thread of a stream", || {
            let stats = std::fs::read_dir("/proc/self/task").unwrap();
            let stats = stats.filter_map(|task| File::open(task.ok()?.path().join("stat")).ok());
            let is_ours = |stat: &File| described(stat).is_some_and(|stat| stat.contains("(pixelferry stre)"));
            found = stats.filter(is_ours).collect();
            !found.is_empty()
        });
        Self(found)
    }

    /// Waits until they wait for something: one that spins is never seen to. Those that ended wait, too.
    pub fn wait_until_asleep(&self) {
        let sleeps = |stat: &File| {
            described(stat).is_none_or(|stat| stat.rsplit(')').next().unwrap().trim_start().starts_with('S'))
        };
        let mut looks = 0;
        wait_until("threads of streams that wait", || {
            looks = if self.0.iter().all(sleeps) { looks + 1 } else { 0 };
            looks == 40
        });
    }
}

fn described(stat: &File) -> Option<String> {
    let mut bytes = [0; 512];
    let len = stat.read_at(&mut bytes, 0).ok()?;
    Some(String::from_utf8_lossy(&bytes[..len]).into_owned())
}
