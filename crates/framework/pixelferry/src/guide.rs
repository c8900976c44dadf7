//! The guide: pages for authors of programs and engines, which are also in the folder `docs` of the repository.
//!
//! The examples that they name are in the folder `examples` of the repository, and the three engines in that of this
//! package.

#[doc = include_str!("../guide/links.md")]
#[doc = include_str!("../guide/window.md")]
pub mod window {}

#[doc = include_str!("../guide/links.md")]
#[doc = include_str!("../guide/engine.md")]
pub mod engine {}

#[doc = include_str!("../guide/links.md")]
#[doc = include_str!("../guide/kernels.md")]
pub mod kernels {}

#[doc = include_str!("../guide/links.md")]
#[doc = include_str!("../guide/paths.md")]
pub mod paths {}
