//! The package in Python, and what it converts. Modules are taken as sources: the library itself runs inside Python only.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail
#![allow(dead_code)] // a test does not use all of the modules

/// In the place of the library's own, which makes Python's exceptions.
mod failure {
    #[derive(Debug)]
    pub enum Failure {
        Dtype(String),
        Shape(String),
    }

    impl From<pixelferry_look::Refusal> for Failure {
        fn from(refusal: pixelferry_look::Refusal) -> Self {
            Self::Shape(refusal.to_string())
        }
    }
}

#[path = "../../src/items.rs"]
mod items;

mod bytes;
#[cfg(target_os = "linux")] // file names of extensions, and the X server
mod package;
