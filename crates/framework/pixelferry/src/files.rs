//! Checks of files that a program is going to write.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Checks whether a file can be written, before the work for its content. Leaves no file behind; an existing file keeps
/// its content.
///
/// ```
/// assert!(pixelferry::command::check_writable("absent/picture.png").is_err());
/// ```
///
/// # Errors
/// The system's error, for example for a missing folder.
pub fn check_writable(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => fs::remove_file(path),
        // A pipe's reader would take this for the complete content.
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
