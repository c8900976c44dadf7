//! Checks that every source file is short enough to be read in one sitting, and that Rust files begin with a sentence
//! about their content.

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
    if !long.is_empty() {
        return Err(Error::TooLong { count: long.len(), checked: files.len(), limit });
    }
    let silent = silent(root, &files)?;
    silent.iter().for_each(|file| println!("{}", file.display()));
    if !silent.is_empty() {
        return Err(Error::Silent(silent.len()));
    }
    println!("{} files, none longer than {limit} lines, each of Rust says what it holds", files.len());
    Ok(())
}

/// Returns Rust files that do not begin with a sentence about themselves.
fn silent(root: &Path, files: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut silent = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let bytes = contents(root, file)?;
        if bytes.is_some_and(|bytes| !(bytes.starts_with(b"//! ") || bytes.starts_with(b"#![doc ="))) {
            silent.push(file.clone());
        }
    }
    Ok(silent)
}

/// `None` if the file is deleted in the working tree but not in the index.
fn contents(root: &Path, file: &Path) -> Result<Option<Vec<u8>>, Error> {
    let path = root.join(file);
    match fs::read(&path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
    }
}

fn longer_than(root: &Path, files: &[PathBuf], limit: usize) -> Result<Vec<(PathBuf, usize)>, Error> {
    let mut long = Vec::new();
    for file in files {
        let Some(bytes) = contents(root, file)? else { continue };
        let lines = count_lines(&bytes);
        if lines > limit {
            long.push((file.clone(), lines));
        }
    }
    Ok(long)
}

/// Counts lines as editors do: a last line without a newline counts, too.
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

    #[test]
    fn files_that_say_nothing_first_are_listed() {
        let root = repository::root().unwrap();
        let files = ["xtask/src/check_size.rs", "xtask/Cargo.toml", "xtask/no-such-file.rs"].map(PathBuf::from);
        assert!(silent(&root, &files).unwrap().is_empty());
        let folder = std::env::temp_dir().join(format!("pixelferry-silent-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.rs"), "use std::fs;\n").unwrap();
        let found = silent(&folder, &[PathBuf::from("a.rs")]);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.unwrap(), [PathBuf::from("a.rs")]);
    }
}
