//! NumPy's `.npz` files: ZIP archives of arrays.

use super::npy;
use crate::array::Array;
use crate::error::ReadError;
use std::fs::File;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// First bytes of a ZIP archive, and of an empty one.
pub const MAGIC: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// Suffix of an array's name in the archive.
const ENDING: &str = ".npy";

/// Splits `file.npz:name`, unless a file has that whole name.
pub fn member(path: &Path) -> Option<(PathBuf, String)> {
    let text = path.to_str().filter(|_| !path.exists())?;
    let (file, name) = text.split_at(text.to_ascii_lowercase().rfind(".npz:")? + 4);
    Some((file.into(), name[1..].to_owned()))
}

/// Reads an array from an archive, by name if it contains several.
pub fn read(file: File, member: Option<&str>, name: &str) -> Result<Array, ReadError> {
    let there = file.metadata()?.len();
    let mut archive = ZipArchive::new(file)?;
    let names: Vec<String> = archive.file_names().map(str::to_owned).collect();
    let is = |found: &&String| Some(found.trim_end_matches(ENDING)) == member.map(|name| name.trim_end_matches(ENDING));
    let Some(found) = names.iter().find(is) else {
        let known = names.iter().map(|name| name.trim_end_matches(ENDING).to_owned()).collect();
        return Err(ReadError::Archive { wanted: member.map(str::to_owned), known });
    };
    let entry = archive.by_name(found)?;
    let size = entry.size();
    // A stored array has all its bytes in the file; a compressed one may claim any size.
    let is_packed = entry.compressed_size() < size || size > there;
    npy::read(entry, name, Some(size), is_packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use zip::write::{SimpleFileOptions, ZipWriter};

    fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [npy::MAGIC, b"\x01\x00", &length, header.as_bytes(), bytes].concat()
    }

    /// An archive with members, packed or not.
    fn archive(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("pixelferry-{}-{method:?}-{}.npz", std::process::id(), members.len()));
        let mut writer = ZipWriter::new(File::create(&path).unwrap());
        for (name, bytes) in members {
            writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    #[test]
    fn arrays_of_an_archive_are_read_by_name_or_listed() {
        let (two, text) = (npy("<u2", "(1, 3)", &[1, 0, 2, 0, 3, 0]), b"no array".to_vec());
        for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
            let path = archive(&[("depth.npy", &two), ("mask.npy", &two), ("notes.txt", &text)], method);
            let open = |member: Option<&str>| read(File::open(&path).unwrap(), member, "a");
            for name in ["depth", "mask.npy"] {
                let array = open(Some(name)).unwrap();
                let plane = array.plane(&pixelferry_look::Request::default()).unwrap();
                assert!(plane.summary().starts_with("uint16 as HW, 3x1"), "{}", plane.summary());
            }
            for wanted in [None, Some("normal")] {
                let said = open(wanted).map(drop).unwrap_err().to_string();
                assert!(said.contains("depth, mask, notes.txt") && said.contains(".npz:depth"), "{said}");
            }
            assert!(open(Some("notes.txt")).is_err());
            let of = member(Path::new(&format!("{}:depth", path.display()))).unwrap();
            assert_eq!(of, (path.clone(), "depth".into()));
            assert_eq!((member(&path), member(Path::new("x.npy"))), (None, None));
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn what_was_packed_is_refused_before_it_is_unpacked_where_it_is_too_large() {
        // 64 MiB of zeros, whose pictures would take twenty times as much.
        let zeros = npy("|u1", "(8192, 8192)", &vec![0; 1 << 26]);
        let path = archive(&[("a.npy", &zeros)], zip::CompressionMethod::Deflated);
        assert!(path.metadata().unwrap().len() < 1 << 20);
        let refused = read(File::open(&path).unwrap(), Some("a"), "a").map(drop);
        std::fs::remove_file(path).unwrap();
        assert!(matches!(refused, Err(ReadError::TooLarge(_))), "{refused:?}");
    }
}
