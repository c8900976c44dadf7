//! The folder that streams are in.

use super::published::{Stream, backend, fresh_name};
use pixelferry_stream::{Subscriber, streams};
use pixelferry_testing::pass_in_child;
use std::path::Path;

const TOLD: &str = "PIXELFERRY_TEST_FOLDER";

/// A folder of another user's: of nobody's where this is root, else of root's.
#[test]
fn the_runtime_folder_of_another_user_stays_as_it_is() {
    let folder = std::env::temp_dir().join(format!("pixelferry-runtime-{}", std::process::id()));
    let other = if rustix::process::geteuid().is_root() {
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::chown(&folder, Some(65534), Some(65534)).unwrap();
        folder.as_path()
    } else {
        Path::new("/usr")
    };
    let other = other.to_str().unwrap();
    let ran = std::panic::catch_unwind(|| {
        pass_in_child("folders::child_streams", None, &[("XDG_RUNTIME_DIR", other), (TOLD, "other")], &["RAN ON "]);
    });
    let left = Path::new(other).join("pixelferry").exists();
    let _ = std::fs::remove_dir_all(&folder);
    assert!(ran.is_ok() && !left, "a folder is left in another user's");
}

#[test]
fn the_error_names_the_folder_that_was_looked_in() {
    let folder = std::env::temp_dir().join(format!("pixelferry-looked-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let ran = std::panic::catch_unwind(|| {
        let at = folder.to_str().unwrap();
        pass_in_child("folders::child_streams", None, &[("XDG_RUNTIME_DIR", at), (TOLD, "own")], &["RAN ON "]);
    });
    let _ = std::fs::remove_dir_all(&folder);
    assert!(ran.is_ok());
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
    assert!(error.contains(&format!("nobody publishes it in {expected}")), "{error}");
    let mut stream = Stream::open(&fresh_name());
    stream.show(1);
    let _subscriber = stream.subscribe();
    assert!(streams().unwrap().iter().any(|one| one.name == stream.name));
    println!("RAN ON {error}");
}
