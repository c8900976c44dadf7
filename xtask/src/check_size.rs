//! Keeps every source file short enough to be read in one sitting.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::Error;
use crate::repository;

pub fn run(root: &Path, limit: usize) -> Result<(), Error> {
    let files = repository::tracked(root, &["*.rs", "*.md", "*.sh", "scripts/*", ".ci/*"])?;
    if files.is_empty() {
        return Err(Error::NothingToCheck);
    }
    let long = longer_than(root, &files, limit)?;
    for (file, lines) in &long {
        println!("{lines:6} lines  {}", file.display());
    }
    if long.is_empty() {
        println!("{} files, none longer than {limit} lines", files.len());
        return Ok(());
    }
    Err(Error::TooLong { count: long.len(), checked: files.len(), limit })
}

fn longer_than(root: &Path, files: &[PathBuf], limit: usize) -> Result<Vec<(PathBuf, usize)>, Error> {
    let mut long = Vec::new();
    for file in files {
        let path = root.join(file);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // Deleted in the work tree, not yet in the index.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::file("read", path)(error)),
        };
        let lines = count_lines(&bytes);
        if lines > limit {
            long.push((file.clone(), lines));
        }
    }
    Ok(long)
}

/// Lines as an editor counts them: a last line without a newline is one too.
fn count_lines(bytes: &[u8]) -> usize {
    let ended = bytes.iter().filter(|&&byte| byte == b'\n').count();
    ended + usize::from(bytes.last().is_some_and(|&byte| byte != b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_counts_with_and_without_its_newline() {
        assert_eq!(count_lines(b""), 0);
        assert_eq!(count_lines(b"a"), 1);
        assert_eq!(count_lines(b"a\n"), 1);
        assert_eq!(count_lines(b"a\n\nb"), 3);
    }

    #[test]
    fn only_files_over_the_limit_are_listed_and_missing_ones_are_passed_over() {
        let root = repository::root().unwrap();
        let files = [PathBuf::from("xtask/src/check_size.rs"), PathBuf::from("xtask/no-such-file.rs")];
        assert_eq!(longer_than(&root, &files, 600).unwrap(), []);
        let long = longer_than(&root, &files, 3).unwrap();
        assert_eq!(long.len(), 1);
        assert_eq!(long[0].0, files[0]);
        assert!(long[0].1 > 3);
    }
}
