//! Files that only the user of this process can write, because drivers execute their content.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{Read as _, Result, Write as _};
use std::path::Path;

#[cfg(unix)]
fn check(what: &Path, metadata: &Metadata) -> Result<()> {
    use std::io::{Error, ErrorKind};
    use std::os::unix::fs::MetadataExt as _;
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    let problem = if owner != user {
        format!("{} belongs to user {owner}, not to {user}", what.display())
    } else if metadata.mode() & 0o022 != 0 {
        format!("other users can write {}: run chmod go-w on it", what.display())
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::PermissionDenied, problem))
}

/// The folder's access list, which is not read, determines the permissions.
#[cfg(not(unix))]
fn check(_: &Path, _: &Metadata) -> Result<()> {
    Ok(())
}

/// Reads the file's content, if no other user can have written it.
pub fn read(folder: &Path, file: &Path) -> Result<Vec<u8>> {
    let mut opened = File::open(file)?;
    check(folder, &fs::metadata(folder)?)?;
    // The opened file is checked, even if the name now refers to another one.
    check(file, &opened.metadata()?)?;
    let mut bytes = Vec::new();
    opened.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates the folder, for this user alone, if it does not exist.
pub fn make_folder(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    check(folder, &fs::metadata(folder)?)
}

/// Creates a new file for this user alone; an existing one is an error.
pub fn write_new(file: &Path, bytes: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(file)?.write_all(bytes)
}
