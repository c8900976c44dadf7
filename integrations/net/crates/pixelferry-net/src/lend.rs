//! Memory that other processes of this machine read in place: anonymous files, which vanish with the last process that
//! has them open. A process therefore leaves nothing behind, however it ends, and `/dev/shm` is not needed.

use crate::lock::lock;
use bytes::Bytes;
use memmap2::{Mmap, MmapMut};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Shorter messages cost less through a socket.
const LEAST: usize = 16 << 10;
/// Bytes of sheets that stay unchanged while another is written (at least one sheet), so that receivers find what they
/// were notified of, or something newer. More would evict each other from the processor's cache.
const SPARE: usize = 8 << 20;
/// Others' sheets of at least this size stay mapped for this long after they were read, up to this number: each is a
/// descriptor.
const LARGE: usize = 1 << 20;
const KEPT: Duration = Duration::from_secs(2);
const MOST: usize = 64;

/// A sheet of memory, which its owner writes and others read.
struct Sheet {
    file: File,
    memory: MmapMut,
    ticket: Ticket,
}

/// Where to find a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    process: u32,
    descriptor: u32,
    /// Number of the file, which detects another file under the same descriptor.
    file: u64,
}

impl Ticket {
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.file.to_le_bytes().to_vec();
        bytes.extend(self.process.to_le_bytes());
        bytes.extend(self.descriptor.to_le_bytes());
        bytes
    }

    /// `None` for an invalid ticket.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (file, rest) = bytes.split_first_chunk()?;
        let (process, rest) = rest.split_first_chunk()?;
        let descriptor = u32::from_le_bytes(rest.try_into().ok()?);
        Some(Self { process: u32::from_le_bytes(*process), descriptor, file: u64::from_le_bytes(*file) })
    }

    /// Maps `bytes` bytes of the memory, which may already hold another message. Nobody writes them while they are
    /// held.
    pub fn fetch(self, bytes: usize) -> io::Result<FetchedBytes> {
        Arc::new(system::open(self, bytes)?).read()
    }
}

/// A mapped sheet of another process. It is locked while it is read here.
pub(crate) struct OpenedSheet {
    file: File,
    memory: Mmap,
    readers: Mutex<usize>,
}

impl OpenedSheet {
    fn read(self: Arc<Self>) -> io::Result<FetchedBytes> {
        let mut readers = lock(&self.readers);
        if *readers == 0 && !system::lock(&self.file, system::READ) {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "the memory is being written"));
        }
        *readers += 1;
        drop(readers);
        Ok(FetchedBytes(self))
    }
}

/// Bytes of a sheet that is locked for reading.
pub(crate) struct FetchedBytes(Arc<OpenedSheet>);

impl AsRef<[u8]> for FetchedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0.memory
    }
}

impl Drop for FetchedBytes {
    fn drop(&mut self) {
        let mut readers = lock(&self.0.readers);
        *readers -= 1;
        if *readers == 0 {
            system::lock(&self.0.file, system::FREE);
        }
    }
}

/// Others' large sheets that were read recently: mapping one again takes as long as copying it.
#[derive(Default)]
pub(crate) struct KnownSheets(Mutex<Vec<(Ticket, Instant, Arc<OpenedSheet>)>>);

impl KnownSheets {
    /// Like [`Ticket::fetch`], with this cache.
    pub fn fetch(&self, ticket: Ticket, bytes: usize) -> io::Result<FetchedBytes> {
        if bytes < LARGE {
            return ticket.fetch(bytes);
        }
        let mut known = lock(&self.0);
        let is_it =
            |(of, _, sheet): &&mut (Ticket, Instant, Arc<OpenedSheet>)| *of == ticket && sheet.memory.len() >= bytes;
        if let Some((_, read, sheet)) = known.iter_mut().find(is_it) {
            *read = Instant::now();
            return sheet.clone().read();
        }
        let sheet = Arc::new(system::open(ticket, bytes)?);
        known.retain(|(of, read, _)| *of != ticket && read.elapsed() < KEPT);
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((ticket, Instant::now(), sheet.clone()));
        drop(known);
        sheet.read()
    }

    /// Unmaps sheets that were not read recently: their owners may have ended.
    pub fn sweep(&self) {
        lock(&self.0).retain(|(_, read, _)| read.elapsed() < KEPT);
    }
}

/// The sheets of one program, which are reused after the last reader has finished.
#[derive(Clone)]
pub(crate) struct Sheets(Arc<Mutex<Stack>>);

struct Stack {
    /// Free sheets, the least recently used first.
    free: VecDeque<Sheet>,
    /// Bytes of all sheets, and their limit.
    bytes: usize,
    most: usize,
}

impl Sheets {
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Stack { free: VecDeque::new(), bytes: 0, most })))
    }

    /// Returns whether there is memory of this size, in use or not.
    pub fn lends(&self, bytes: usize) -> bool {
        (LEAST..=lock(&self.0).most / 4).contains(&bytes)
    }

    /// Returns memory of this size; `None` if none can be shared, or the limit would be exceeded.
    pub fn take(&self, bytes: usize) -> Option<HeldSheet> {
        if !self.lends(bytes) {
            return None;
        }
        let mut stack = lock(&self.0);
        let is_fit = |sheet: &Sheet| (bytes..=bytes.saturating_mul(2)).contains(&sheet.memory.len());
        let is_full = stack.bytes.saturating_add(bytes) > stack.most;
        let spare = (SPARE / bytes).clamp(1, 16);
        let may = is_full || stack.free.iter().filter(|sheet| is_fit(sheet)).count() > spare;
        let found = (0..stack.free.len()).find(|&at| {
            stack.free.get(at).is_some_and(|sheet| may && is_fit(sheet) && system::lock(&sheet.file, system::WRITE))
        });
        let sheet = match found {
            Some(at) => stack.free.remove(at)?,
            None => {
                // Free sheets of other sizes; their readers keep them.
                while stack.bytes.saturating_add(bytes) > stack.most {
                    let at = stack.free.iter().position(|sheet| !is_fit(sheet))?;
                    stack.bytes -= stack.free.remove(at)?.memory.len();
                }
                let sheet = system::sheet(bytes).inspect_err(|error| tracing::warn!("cannot share memory: {error}"));
                let sheet = sheet.ok()?;
                stack.bytes += bytes;
                sheet
            }
        };
        Some(HeldSheet { sheet: Some(sheet), bytes, home: self.clone() })
    }
}

/// A sheet that one message has.
pub(crate) struct HeldSheet {
    /// There until it is dropped.
    sheet: Option<Sheet>,
    bytes: usize,
    home: Sheets,
}

impl HeldSheet {
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes = self.bytes;
        self.sheet.as_mut().and_then(|sheet| sheet.memory.get_mut(..bytes)).unwrap_or_default()
    }

    /// Allows others to read it. It is reused when the message and its clones are dropped and no program reads it.
    pub fn lend(self) -> (Bytes, Option<Ticket>) {
        let lent = self.sheet.as_ref().filter(|sheet| system::lock(&sheet.file, system::FREE));
        let ticket = lent.map(|sheet| sheet.ticket);
        (Bytes::from_owner(self), ticket)
    }
}

impl AsRef<[u8]> for HeldSheet {
    fn as_ref(&self) -> &[u8] {
        self.sheet.as_ref().and_then(|sheet| sheet.memory.get(..self.bytes)).unwrap_or_default()
    }
}

impl Drop for HeldSheet {
    fn drop(&mut self) {
        lock(&self.home.0).free.extend(self.sheet.take());
    }
}

/// Number of the place, equal in all processes that can read each other's sheets, or the reason why sharing is
/// impossible.
pub(crate) fn place() -> Result<u64, &'static str> {
    static PLACE: OnceLock<Result<u64, String>> = OnceLock::new();
    let find = || {
        let tried = || {
            let mut held = Sheets::new(4 * LEAST).take(LEAST).ok_or(io::ErrorKind::Unsupported)?;
            held.bytes_mut().fill(7);
            let (_message, ticket) = held.lend();
            match ticket.ok_or(io::ErrorKind::Unsupported)?.fetch(LEAST)?.as_ref() {
                [7, ..] => system::place(),
                _ => Err(io::ErrorKind::Unsupported.into()),
            }
        };
        tried().map_err(|error: io::Error| {
            tracing::warn!("memory cannot be shared with other processes ({error}); messages are copied");
            error.to_string()
        })
    };
    PLACE.get_or_init(find).as_ref().copied().map_err(String::as_str)
}

#[cfg(target_os = "linux")]
mod system {
    use super::{OpenedSheet, Sheet, Ticket};
    use memmap2::{MmapMut, MmapOptions};
    use rustix::fs::{self, FlockOperation, MemfdFlags, OFlags, SealFlags};
    use std::fs::{File, OpenOptions, metadata, read, read_link};
    use std::io::{Error, ErrorKind, Result};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
    use std::sync::Mutex;

    pub const WRITE: FlockOperation = FlockOperation::NonBlockingLockExclusive;
    pub const READ: FlockOperation = FlockOperation::NonBlockingLockShared;
    pub const FREE: FlockOperation = FlockOperation::Unlock;

    const NAME: &str = "pixelferry";

    pub fn lock(file: &File, how: FlockOperation) -> bool {
        fs::flock(file, how).is_ok()
    }

    /// A new sheet, locked for writing.
    pub fn sheet(bytes: usize) -> Result<Sheet> {
        let file = File::from(fs::memfd_create(NAME, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
        file.set_len(bytes as u64)?;
        // Readers rely on the seals: shrinking the memory would crash them.
        fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        fs::flock(&file, WRITE)?;
        // SAFETY: the file cannot shrink, and only this program writes it.
        let memory = unsafe { MmapMut::map_mut(&file)? };
        let descriptor = u32::try_from(file.as_raw_fd()).map_err(Error::other)?;
        let ticket = Ticket { process: std::process::id(), descriptor, file: file.metadata()?.ino() };
        Ok(Sheet { file, memory, ticket })
    }

    /// Opens another process's sheet. It must be locked before it is read.
    pub fn open(ticket: Ticket, bytes: usize) -> Result<OpenedSheet> {
        let path = format!("/proc/{}/fd/{}", ticket.process, ticket.descriptor);
        // The ticket may come from a stranger: open nothing but such files of a process.
        let is_ours = read_link(&path)?.as_os_str().as_bytes().starts_with(b"/memfd:pixelferry");
        let other = || Error::new(ErrorKind::NotFound, "the file is no memory of pixelferry any more");
        if !is_ours {
            return Err(other());
        }
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).map_err(Error::other)?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path)?;
        let (is_firm, found) = (fs::fcntl_get_seals(&file)?.contains(SealFlags::SHRINK), file.metadata()?);
        if !is_firm || found.ino() != ticket.file || found.len() < bytes as u64 {
            return Err(other());
        }
        // SAFETY: the file cannot shrink, and programs of pixelferry write it only while it is not locked.
        let memory = unsafe { MmapOptions::new().len(bytes).populate().map(&file)? };
        Ok(OpenedSheet { file, memory, readers: Mutex::default() })
    }

    /// Processes of the same boot, namespaces and user can open each other's files.
    pub fn place() -> Result<u64> {
        let mut all = read("/proc/sys/kernel/random/boot_id")?;
        for space in ["pid", "user"] {
            all.extend(read_link(format!("/proc/self/ns/{space}"))?.as_os_str().as_bytes());
        }
        all.extend(metadata("/proc/self")?.uid().to_le_bytes());
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Ok(all.into_iter().fold(0xcbf2_9ce4_8422_2325, hash).max(1))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    //! Other systems share no memory: messages are copied.
    use super::{OpenedSheet, Sheet, Ticket};
    use std::fs::File;
    use std::io::{ErrorKind, Result};

    pub const WRITE: () = ();
    pub const READ: () = ();
    pub const FREE: () = ();

    pub fn lock(_: &File, (): ()) -> bool {
        false
    }

    pub fn sheet(_: usize) -> Result<Sheet> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn open(_: Ticket, _: usize) -> Result<OpenedSheet> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn place() -> Result<u64> {
        Err(ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)] // how tests fail
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::MetadataExt as _;

    fn lend(sheets: &Sheets, byte: u8) -> (Bytes, Ticket) {
        let mut held = sheets.take(LEAST).unwrap();
        held.bytes_mut().fill(byte);
        let (message, ticket) = held.lend();
        (message, ticket.unwrap())
    }

    #[test]
    fn what_somebody_reads_is_not_written_and_comes_again_afterwards() {
        let sheets = Sheets::new(4 * LEAST);
        let (message, ticket) = lend(&sheets, 1);
        assert_eq!(Ticket::read(&ticket.to_bytes()), Some(ticket));
        let known = KnownSheets::default();
        let [read, again] = [(); 2].map(|()| known.fetch(ticket, LEAST).unwrap());
        drop(again);
        drop(message);
        for byte in 2..9 {
            let (_message, other) = lend(&sheets, byte);
            assert_ne!(other, ticket);
            assert_eq!(other.fetch(LEAST).unwrap().as_ref()[0], byte);
        }
        assert!(read.as_ref().iter().all(|&byte| byte == 1));
        drop(read);
        let (_message, first) = lend(&sheets, 9);
        assert_eq!(first, ticket);
        assert_eq!(known.fetch(ticket, LEAST).unwrap().as_ref()[0], 9, "what lies there now");
        assert!(ticket.fetch(LEAST + 1).is_err(), "it is shorter");
        let kept: Vec<_> = (0..9).filter_map(|_| sheets.take(LEAST)).collect();
        let fetched = known.fetch(kept[0].sheet.as_ref().unwrap().ticket, LEAST);
        assert!(fetched.is_err(), "it is written");
        assert_eq!(kept.len(), 3, "there may be no more");
    }

    /// Strangers may send any ticket.
    #[test]
    fn nothing_but_lent_memory_is_opened() {
        let file = File::open("/proc/self/exe").unwrap();
        let soft = File::from(rustix::fs::memfd_create("pixelferry", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
        soft.set_len(LEAST as u64).unwrap();
        for file in [file, soft] {
            let (process, descriptor) = (std::process::id(), file.as_raw_fd() as u32);
            let ticket = Ticket { process, descriptor, file: file.metadata().unwrap().ino() };
            assert!(ticket.fetch(LEAST).is_err());
        }
        let (_message, ticket) = lend(&Sheets::new(4 * LEAST), 1);
        for ticket in
            [Ticket { process: 0, ..ticket }, Ticket { descriptor: u32::MAX, ..ticket }, Ticket { file: 0, ..ticket }]
        {
            assert!(ticket.fetch(LEAST).is_err(), "{ticket:?}");
        }
        assert!([0, 15, 17].iter().all(|&bytes| Ticket::read(&vec![1; bytes]).is_none()));
    }
}
