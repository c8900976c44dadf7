//! Names that most programs need: `use pixelferry::prelude::*`. It contains neither `Result` nor another name of the
//! standard library.

#[cfg(all(feature = "picture", feature = "window"))]
pub use crate::Show;
#[cfg(feature = "picture")]
pub use crate::save_picture;
pub use crate::{
    Arg, BackendChoice, CpuKernelExt, DisplayChoice, DrawOptions, Extent, Fit, KernelSource, Link, LinkBuilder,
    LinkOptions, OpenedLink, PixelFormat, Policy, Scratch, SurfaceDesc, Unwritten,
};
