//! Memory that other processes of this machine read in place: files without a name, which go with the last process that
//! has them open. So whoever ends, however, leaves nothing behind, and `/dev/shm` may be small or another one.

use crate::lock::lock;
use memmap2::MmapMut;
use pixelferry_media::wire::HEADER_BYTES;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};
use zenoh::bytes::ZBytes;

/// Shorter messages cost less through a socket.
const LEAST: usize = 16 << 10;

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
    /// Number of the file, so that none that took over the descriptor is taken for it.
    file: u64,
}

impl Ticket {
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.file.to_le_bytes().to_vec();
        bytes.extend(self.process.to_le_bytes());
        bytes.extend(self.descriptor.to_le_bytes());
        bytes
    }

    /// `None` for what is no ticket.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (file, rest) = bytes.split_first_chunk()?;
        let (process, rest) = rest.split_first_chunk()?;
        let descriptor = u32::from_le_bytes(rest.try_into().ok()?);
        Some(Self { process: u32::from_le_bytes(*process), descriptor, file: u64::from_le_bytes(*file) })
    }

    /// The message that lies there, if it is the one with this header. Nobody else writes it while it is held.
    pub fn fetch(self, header: &[u8; HEADER_BYTES], bytes: usize) -> io::Result<ZBytes> {
        let held = system::fetch(self, bytes)?;
        // A sheet that was written anew before it was locked has another.
        match held.as_ref().first_chunk() {
            Some(found) if found == header => Ok(bytes::Bytes::from_owner(held).into()),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "the memory holds another message by now")),
        }
    }
}

/// The sheets of one program, written again once nobody reads them.
#[derive(Clone)]
pub(crate) struct Sheets(Arc<Mutex<Stack>>);

struct Stack {
    /// Those that nobody here has, the one of longest ago first.
    free: VecDeque<Sheet>,
    /// Bytes of all, and the most that there may be.
    bytes: usize,
    most: usize,
}

impl Sheets {
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Stack { free: VecDeque::new(), bytes: 0, most })))
    }

    /// Memory of so many bytes; `None` where there is none to share, or it would take too much of it.
    pub fn take(&self, bytes: usize) -> Option<Held> {
        let mut stack = lock(&self.0);
        if !(LEAST..=stack.most / 4).contains(&bytes) {
            return None;
        }
        let is_fit = |sheet: &Sheet| (bytes..=bytes.saturating_mul(2)).contains(&sheet.memory.len());
        let found = (0..stack.free.len()).find(|&at| {
            stack.free.get(at).is_some_and(|sheet| is_fit(sheet) && system::lock(&sheet.file, system::WRITE))
        });
        let sheet = match found {
            Some(at) => stack.free.remove(at)?,
            None => {
                // Those of other sizes make room; who reads one keeps it.
                while stack.bytes.saturating_add(bytes) > stack.most {
                    let at = stack.free.iter().position(|sheet| !is_fit(sheet))?;
                    stack.bytes -= stack.free.remove(at)?.memory.len();
                }
                let sheet = system::sheet(bytes).inspect_err(|error| tracing::warn!("no memory to share: {error}"));
                let sheet = sheet.ok()?;
                stack.bytes += bytes;
                sheet
            }
        };
        Some(Held { sheet: Some(sheet), bytes, home: self.clone() })
    }
}

/// A sheet that one message has.
pub(crate) struct Held {
    /// There until it is dropped.
    sheet: Option<Sheet>,
    bytes: usize,
    home: Sheets,
}

impl Held {
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes = self.bytes;
        self.sheet.as_mut().and_then(|sheet| sheet.memory.get_mut(..bytes)).unwrap_or_default()
    }

    /// From now on others may read it. It is written again once the message and its clones are gone, and nobody reads it.
    pub fn lend(self) -> (ZBytes, Option<Ticket>) {
        let lent = self.sheet.as_ref().filter(|sheet| system::lock(&sheet.file, system::FREE));
        let ticket = lent.map(|sheet| sheet.ticket);
        (bytes::Bytes::from_owner(self).into(), ticket)
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.sheet.as_ref().and_then(|sheet| sheet.memory.get(..self.bytes)).unwrap_or_default()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        lock(&self.home.0).free.extend(self.sheet.take());
    }
}

/// Number of the place whose processes can read each other's sheets, the same in all of them; 0 where nobody can.
pub(crate) fn place() -> u64 {
    static PLACE: OnceLock<u64> = OnceLock::new();
    let find = || {
        let tried = || {
            let mut held = Sheets::new(4 * LEAST).take(LEAST).ok_or(io::ErrorKind::Unsupported)?;
            held.bytes_mut().fill(7);
            let (_message, ticket) = held.lend();
            ticket.ok_or(io::ErrorKind::Unsupported)?.fetch(&[7; HEADER_BYTES], LEAST)?;
            system::place()
        };
        tried().unwrap_or_else(|error: io::Error| {
            tracing::warn!("no memory can be shared with other processes ({error}); messages are copied");
            0
        })
    };
    *PLACE.get_or_init(find)
}

#[cfg(target_os = "linux")]
mod system {
    use super::{Sheet, Ticket};
    use memmap2::{Mmap, MmapMut, MmapOptions};
    use rustix::fs::{self, FlockOperation, MemfdFlags, OFlags, SealFlags};
    use std::fs::{File, OpenOptions, metadata, read, read_link};
    use std::io::{Error, ErrorKind, Result};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

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
        // Readers rely on it: memory that went away would end them.
        fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        fs::flock(&file, WRITE)?;
        // SAFETY: the file cannot shrink, and no program but this writes it.
        let memory = unsafe { MmapMut::map_mut(&file)? };
        let descriptor = u32::try_from(file.as_raw_fd()).map_err(Error::other)?;
        let ticket = Ticket { process: std::process::id(), descriptor, file: file.metadata()?.ino() };
        Ok(Sheet { file, memory, ticket })
    }

    /// Somebody's sheet, locked for reading.
    pub struct Fetched {
        memory: Mmap,
        /// Its lock ends with it.
        _file: File,
    }

    impl AsRef<[u8]> for Fetched {
        fn as_ref(&self) -> &[u8] {
            &self.memory
        }
    }

    pub fn fetch(ticket: Ticket, bytes: usize) -> Result<Fetched> {
        let path = format!("/proc/{}/fd/{}", ticket.process, ticket.descriptor);
        // Whoever wrote the ticket may be a stranger: nothing else of a process is opened.
        let is_ours = read_link(&path)?.as_os_str().as_bytes().starts_with(b"/memfd:pixelferry");
        let other = || Error::new(ErrorKind::NotFound, "it is no memory of pixelferry's by now");
        if !is_ours {
            return Err(other());
        }
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).map_err(Error::other)?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path)?;
        let (is_firm, found) = (fs::fcntl_get_seals(&file)?.contains(SealFlags::SHRINK), file.metadata()?);
        if !is_firm || found.ino() != ticket.file || found.len() < bytes as u64 || !lock(&file, READ) {
            return Err(other());
        }
        // SAFETY: the file cannot shrink, and programs of pixelferry write it only while nobody has it locked.
        let memory = unsafe { MmapOptions::new().len(bytes).populate().map(&file)? };
        Ok(Fetched { memory, _file: file })
    }

    /// Processes of one start of the system, of the same namespaces and of one user open each other's files.
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
    //! Other systems share nothing: messages are copied.
    use super::{Sheet, Ticket};
    use std::fs::File;
    use std::io::{ErrorKind, Result};

    pub const WRITE: () = ();
    pub const FREE: () = ();

    pub fn lock(_: &File, (): ()) -> bool {
        false
    }

    pub fn sheet(_: usize) -> Result<Sheet> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn fetch(_: Ticket, _: usize) -> Result<Vec<u8>> {
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

    fn lend(sheets: &Sheets, byte: u8) -> (ZBytes, Ticket) {
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
        let read = ticket.fetch(&[1; HEADER_BYTES], LEAST).unwrap();
        drop(message);
        for byte in 2..9 {
            let (_message, other) = lend(&sheets, byte);
            assert_ne!(other, ticket);
            assert!(other.fetch(&[byte; HEADER_BYTES], LEAST).is_ok());
        }
        assert!(read.to_bytes().iter().all(|&byte| byte == 1));
        drop(read);
        let (_message, first) = lend(&sheets, 9);
        assert_eq!(first, ticket);
        assert!(ticket.fetch(&[1; HEADER_BYTES], LEAST).is_err(), "another message lies there");
        assert!(ticket.fetch(&[9; HEADER_BYTES], LEAST + 1).is_err(), "it is shorter");
        let kept: Vec<_> = (0..9).filter_map(|_| sheets.take(LEAST)).collect();
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
            assert!(ticket.fetch(&[0; HEADER_BYTES], LEAST).is_err());
        }
        let (_message, ticket) = lend(&Sheets::new(4 * LEAST), 1);
        for ticket in
            [Ticket { process: 0, ..ticket }, Ticket { descriptor: u32::MAX, ..ticket }, Ticket { file: 0, ..ticket }]
        {
            assert!(ticket.fetch(&[1; HEADER_BYTES], LEAST).is_err(), "{ticket:?}");
        }
        assert!([0, 15, 17].iter().all(|&bytes| Ticket::read(&vec![1; bytes]).is_none()));
    }
}
