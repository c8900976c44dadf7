//! [`BinaryCache`]: built programs on disk.
//!
//! Each program is stored in one file. If a file is missing, damaged, or of another version, source or driver, the
//! program is built again. A write replaces the old file by a new one, so that two processes writing at once leave one
//! whole file. Files and folders that other users can write are ignored, see [`super::private`].

use super::sealed_binary::{
    KernelParams, device_key, hash, put, put_number, put_params, seal, take, take_number, take_params, unseal,
};
use super::{Context, private};
use etcetera::{BaseStrategy, choose_base_strategy};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Cache of built programs (`CL_PROGRAM_BINARIES`) for [`crate::Program::build_cached`]; OpenCL does not know about it.
///
/// Drivers execute the files' content, and some access invalid memory when a file is damaged. Two checks guard against
/// that. On Unix, file and folder must belong to the user of the process, and no other user may have write permission;
/// otherwise the cache neither reads nor writes. The cache creates the folder with these permissions. A SHA-256 sum
/// detects damage. Neither protects from code that may write the user's own files, and the sum, which has no key, does
/// not prove who wrote a file. On other systems, the cache does not check the folder's access list, because those
/// systems restrict the user's cache folder to the user. For [`BinaryCache::Folder`], the caller of
/// [`crate::Program::build_cached`] is responsible.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BinaryCache {
    /// `pixelferry/opencl` in the user's cache folder.
    #[default]
    User,
    /// In this folder, which is created if it does not exist.
    Folder(PathBuf),
    /// No cache: programs are built each time.
    Off,
}

/// First bytes of a file, with the version of its content.
const MAGIC: &[u8] = b"pixelferry OpenCL program 3\n";

impl BinaryCache {
    fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::User => Some(choose_base_strategy().ok()?.cache_dir().join("pixelferry").join("opencl")),
            Self::Folder(folder) => Some(folder.clone()),
            Self::Off => None,
        }
    }

    /// Returns the entry of a program; `None` without a cache.
    pub(super) fn entry(&self, context: &Context, source: &str, options: &str) -> Option<Entry> {
        let folder = self.folder()?;
        let mut key = Vec::new();
        put(&mut key, source.as_bytes());
        put(&mut key, options.as_bytes());
        for device in context.devices() {
            put(&mut key, &device_key(device).ok()?);
        }
        Some(Entry { folder, key })
    }
}

/// The cache entry of one program.
pub(super) struct Entry {
    folder: PathBuf,
    /// Everything on which the binary depends.
    key: Vec<u8>,
}

type Content = (Vec<Vec<u8>>, KernelParams);

impl Entry {
    fn file(&self) -> PathBuf {
        // The key inside decides; the name need only be deterministic.
        let name: String = hash(&self.key)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name + ".bin")
    }

    pub fn load(&self) -> Option<Content> {
        let file = self.file();
        let read = private::read(&self.folder, &file);
        let bytes = read.inspect_err(|error| not_used(&self.folder, error)).ok()?;
        let content = decode(&bytes, &self.key);
        if content.is_none() {
            tracing::debug!(file = %file.display(), "a cached program is damaged, or belongs to another program");
        }
        content
    }

    /// Stores the binaries; a failure is only logged.
    pub fn store(&self, binaries: &[Vec<u8>], params: &KernelParams) {
        if let Err(error) = write(&self.folder, &self.file(), &encode(&self.key, binaries, params)) {
            not_used(&self.folder, &error);
        }
    }
}

fn encode(key: &[u8], binaries: &[Vec<u8>], params: &KernelParams) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, key);
    put_number(&mut out, binaries.len() as u64);
    binaries.iter().for_each(|binary| put(&mut out, binary));
    put_params(&mut out, params);
    seal(MAGIC, &out)
}

fn decode(bytes: &[u8], key: &[u8]) -> Option<Content> {
    let mut rest = unseal(MAGIC, bytes)?;
    let from = &mut rest;
    if take(from)? != key {
        return None;
    }
    let binaries = (0..take_number(from)?).map(|_| take(from).map(<[u8]>::to_vec)).collect::<Option<_>>()?;
    Some((binaries, take_params(from)?))
}

/// Logs why the cache is unused: a warning for a folder that others can write, a debug message for a missing file or a
/// full disk.
fn not_used(folder: &Path, error: &std::io::Error) {
    if error.kind() == std::io::ErrorKind::PermissionDenied {
        tracing::warn!(folder = %folder.display(), %error, "the cache of OpenCL programs is not used");
    } else {
        tracing::debug!(folder = %folder.display(), %error, "a program is not in the cache");
    }
}

fn write(folder: &Path, file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    private::make_folder(folder)?;
    // The name is unique: another process has another id, another thread the next count.
    let unfinished =
        file.with_extension(format!("{}.{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let written = private::write_new(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, file));
    if written.is_err() {
        // If this fails as well, nothing can be done.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Param;

    fn sample() -> (Vec<Vec<u8>>, KernelParams) {
        let (name, type_name) = ("a".to_owned(), "float*".to_owned());
        let param = Param { name, type_name, address: 1, access: 2, qualifiers: 3, bytes: None };
        let own = Param { bytes: Some(12), ..param.clone() };
        (vec![vec![1, 2, 3], vec![4]], KernelParams::from([("k".to_owned(), vec![param, own])]))
    }

    #[test]
    fn entries_come_back_whole() {
        let (binaries, params) = sample();
        let bytes = encode(b"key", &binaries, &params);
        assert_eq!(decode(&bytes, b"key"), Some((binaries, params)));
        assert_eq!(decode(&bytes, b"other"), None);
    }

    /// Files of others, and those that others can write, are not what the driver gets.
    #[cfg(unix)]
    #[test]
    fn only_what_the_user_alone_can_write_is_read() {
        use std::os::unix::fs::{PermissionsExt as _, chown};

        let folder = std::env::temp_dir().join(format!("pixelferry-private-{}", std::process::id()));
        let entry = Entry { folder: folder.join("made"), key: b"key".to_vec() };
        let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (binaries, params) = sample();
        entry.store(&binaries, &params);
        assert_eq!((mode(&entry.folder), mode(&entry.file())), (0o700, 0o600));
        assert!(entry.load().is_some());
        for (path, own, others) in [(&entry.file(), 0o600, [0o620, 0o602]), (&entry.folder, 0o700, [0o770, 0o707])] {
            for others in others {
                allow(path, others);
                assert!(entry.load().is_none(), "{others:o}");
            }
            allow(path, own);
            assert!(entry.load().is_some());
        }
        // Into a folder of everybody's nothing is written.
        let file = entry.file();
        fs::remove_file(&file).unwrap();
        allow(&entry.folder, 0o777);
        entry.store(&binaries, &params);
        assert!(fs::read_dir(&entry.folder).unwrap().next().is_none());
        allow(&entry.folder, 0o700);
        entry.store(&binaries, &params);
        // Only root can give a file away.
        if chown(&file, Some(65_534), None).is_ok() {
            assert!(entry.load().is_none(), "a file of somebody else's was read");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn damage_anywhere_is_found() {
        let (binaries, params) = sample();
        let bytes = encode(b"key", &binaries, &params);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(decode(&damaged, b"key"), None, "byte {at}");
            assert_eq!(decode(&bytes[..at], b"key"), None, "cut at {at}");
        }
    }
}
