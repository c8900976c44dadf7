//! The folder that streams are in.

use super::published::{Stream, backend, fresh_name};
use pixelferry_stream::{Subscriber, streams};
use pixelferry_testing::pass_in_child;
use std::path::{Path, PathBuf};

const TOLD: &str = "PIXELFERRY_TEST_FOLDER";

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("pixelferry-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn streams_in(folder: &Path, told: &str) {
    let env = [("XDG_RUNTIME_DIR", folder.to_str().unwrap()), (TOLD, told)];
    pass_in_child("suite::folders::child_streams", None, &env, &["RAN ON "]);
}

/// A folder of the user `nobody` where this is root, else one of root's.
#[test]
fn the_runtime_folder_of_another_user_stays_as_it_is() {
    let folder = Folder::new("runtime");
    let other = if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&folder.0, Some(65534), Some(65534)).unwrap();
        folder.0.as_path()
    } else {
        Path::new("/usr")
    };
    streams_in(other, "other");
    assert!(!other.join("pixelferry").exists(), "a folder is left in another user's");
}

#[test]
fn the_error_names_the_folder_that_was_looked_in() {
    streams_in(&Folder::new("looked").0, "own");
}

#[test]
#[ignore = "run in a process of its own"]
fn child_streams() {
    let runtime = std::env::var("XDG_RUNTIME_DIR").unwrap();
    let error = Subscriber::open("nobody-publishes-this", &backend()).unwrap_err().to_string();
    let expected = match std::env::var(TOLD).unwrap().as_str() {
        "own" => format!("{runtime}/pixelferry"),
        _ => format!("/tmp/pixelferry-{}", rustix::process::geteuid().as_raw()),
    };
    assert!(error.contains(&format!("no process publishes it in {expected}")), "{error}");
    let mut stream = Stream::open(&fresh_name());
    stream.show(1);
    let _subscriber = stream.subscribe();
    assert!(streams().unwrap().iter().any(|one| one.name == stream.name));
    println!("RAN ON {error}");
}
