//! Files that a program is going to write.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Finds out whether a file can be written, before work is done for what is to be in it. Nothing is left behind, and a
/// file that is there keeps its bytes.
///
/// ```
/// assert!(pixelferry::command::check_writable("absent/picture.png").is_err());
/// ```
///
/// # Errors
/// The system's answer, for example that the folder is absent.
pub fn check_writable(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => fs::remove_file(path),
        // A pipe would take this for the whole of what it is to be given.
        Err(_) if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            OpenOptions::new().append(true).create(true).open(path).map(drop)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_leaves_files_as_they_were() {
        let folder = std::env::temp_dir().join(format!("pixelferry-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (new, old) = (folder.join("new"), folder.join("old"));
        fs::write(&old, "kept").unwrap();
        check_writable(&new).unwrap();
        check_writable(&old).unwrap();
        assert!(!new.exists());
        assert_eq!(fs::read(&old).unwrap(), b"kept");
        assert!(check_writable(&folder).is_err(), "a folder");
        assert_eq!(check_writable(folder.join("absent/new")).unwrap_err().kind(), ErrorKind::NotFound);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_taken_at_their_word() {
        check_writable("/dev/null").unwrap();
    }
}
