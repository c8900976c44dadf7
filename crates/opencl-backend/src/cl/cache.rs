//! [`BinaryCache`]: built programs on disk.
//!
//! One file for each program. A file that is missing, damaged, of another version, source or driver only means that the
//! program is built again. Writing is by a new file that takes the old one's name, so that two programs at once leave one
//! whole file.

use super::sealed::hash;
use super::sealed::{device_key, put, seal, take, take_number, take_text, unseal};
use super::{Context, Param};
use crate::ffi::ParamInfo;
use etcetera::{BaseStrategy, choose_base_strategy};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where built programs (`CL_PROGRAM_BINARIES`) are kept for [`crate::cl::Program::build_cached`]; no OpenCL call gets
/// to know the place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BinaryCache {
    /// `pixelferry/opencl` in the user's cache folder.
    #[default]
    User,
    /// In this folder, which is made.
    Folder(PathBuf),
    /// Nowhere: built each time.
    Off,
}

/// Of the file's content; the first bytes of a file.
const MAGIC: &[u8] = b"pixelferry OpenCL program 1\n";

impl BinaryCache {
    fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::User => Some(choose_base_strategy().ok()?.cache_dir().join("pixelferry").join("opencl")),
            Self::Folder(folder) => Some(folder.clone()),
            Self::Off => None,
        }
    }

    /// The place of a program; `None` where nothing is kept.
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

/// One program's place.
pub(super) struct Entry {
    folder: PathBuf,
    /// All that the binary depends on.
    key: Vec<u8>,
}

type Content = (Vec<Vec<u8>>, HashMap<String, Vec<Param>>);

impl Entry {
    fn file(&self) -> PathBuf {
        // The key inside decides; the name need only be the same for the same key.
        self.folder.join(format!("{:016x}.bin", hash(&self.key)))
    }

    pub fn load(&self) -> Option<Content> {
        let file = self.file();
        let bytes = fs::read(&file).ok()?;
        let content = decode(&bytes, &self.key);
        if content.is_none() {
            tracing::debug!(file = %file.display(), "a cached program is damaged or another's");
        }
        content
    }

    /// That it cannot is worth a line in the log, no more.
    pub fn store(&self, binaries: &[Vec<u8>], params: &HashMap<String, Vec<Param>>) {
        if let Err(error) = write(&self.folder, &self.file(), &encode(&self.key, binaries, params)) {
            tracing::debug!(folder = %self.folder.display(), %error, "a program is not cached");
        }
    }
}

fn encode(key: &[u8], binaries: &[Vec<u8>], params: &HashMap<String, Vec<Param>>) -> Vec<u8> {
    let mut out = Vec::new();
    let number = |out: &mut Vec<u8>, n: u64| put(out, &n.to_le_bytes());
    put(&mut out, key);
    number(&mut out, binaries.len() as u64);
    binaries.iter().for_each(|binary| put(&mut out, binary));
    number(&mut out, params.len() as u64);
    for (kernel, params) in params {
        put(&mut out, kernel.as_bytes());
        number(&mut out, params.len() as u64);
        for Param { raw } in params {
            put(&mut out, raw.name.as_bytes());
            put(&mut out, raw.type_name.as_bytes());
            number(&mut out, raw.address.into());
            number(&mut out, raw.access.into());
            number(&mut out, raw.qualifiers);
        }
    }
    seal(MAGIC, &out)
}

fn decode(bytes: &[u8], key: &[u8]) -> Option<Content> {
    let mut rest = unseal(MAGIC, bytes)?;
    let from = &mut rest;
    if take(from)? != key {
        return None;
    }
    let binaries = (0..take_number(from)?).map(|_| take(from).map(<[u8]>::to_vec)).collect::<Option<_>>()?;
    let mut params = HashMap::new();
    for _ in 0..take_number(from)? {
        let kernel = take_text(from)?;
        let list = (0..take_number(from)?).map(|_| take_param(from)).collect::<Option<_>>()?;
        params.insert(kernel, list);
    }
    Some((binaries, params))
}

fn take_param(from: &mut &[u8]) -> Option<Param> {
    let raw = ParamInfo {
        name: take_text(from)?,
        type_name: take_text(from)?,
        address: take_number(from)?.try_into().ok()?,
        access: take_number(from)?.try_into().ok()?,
        qualifiers: take_number(from)?,
    };
    Some(Param { raw })
}

fn write(folder: &Path, file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    fs::create_dir_all(folder)?;
    // Nobody else's: another process has another number, another thread the next count.
    let unfinished =
        file.with_extension(format!("{}.{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, file));
    if written.is_err() {
        // Nothing more can be done where this fails, too.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<Vec<u8>>, HashMap<String, Vec<Param>>) {
        let raw = ParamInfo { name: "a".into(), type_name: "float*".into(), address: 1, access: 2, qualifiers: 3 };
        (vec![vec![1, 2, 3], vec![4]], HashMap::from([("k".to_owned(), vec![Param { raw }])]))
    }

    #[test]
    fn entries_come_back_whole() {
        let (binaries, params) = sample();
        let bytes = encode(b"key", &binaries, &params);
        assert_eq!(decode(&bytes, b"key"), Some((binaries, params)));
        assert_eq!(decode(&bytes, b"other"), None);
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
