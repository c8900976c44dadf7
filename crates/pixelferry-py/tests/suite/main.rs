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
}

#[path = "../../src/convert.rs"]
mod convert;
#[path = "../../src/items.rs"]
mod items;
#[path = "../../src/plane.rs"]
mod plane;
#[path = "../../src/raw"]
mod raw {
    pub mod simd;
}
#[path = "../../src/span.rs"]
mod span;

#[cfg(target_os = "linux")] // file names of extensions, and the X server
mod package;
mod pixels;
mod ptx;
