//! Skipping with a reason, and failing where skipping is not allowed.

use std::fmt;

/// What a test can need of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// PoCL's OpenCL.
    Pocl,
    /// Mesa's OpenCL.
    Rusticl,
    /// OpenGL without a window.
    Egl,
    /// A virtual X server.
    Xvfb,
    /// A Wayland compositor that needs no screen.
    Weston,
    /// Mesa's Vulkan on the CPU.
    Lavapipe,
}

impl Driver {
    /// Name in `PIXELFERRY_REQUIRE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pocl => "pocl",
            Self::Rusticl => "rusticl",
            Self::Egl => "egl",
            Self::Xvfb => "xvfb",
            Self::Weston => "weston",
            Self::Lavapipe => "lavapipe",
        }
    }

    /// True where the environment says that this machine has it: `PIXELFERRY_REQUIRE=pocl,egl`.
    pub fn is_required(self) -> bool {
        std::env::var("PIXELFERRY_REQUIRE").is_ok_and(|list| list.split(',').any(|n| n.trim() == self.name()))
    }
}

/// The value, or `None` after saying SKIPPED and why.
///
/// # Panics
/// Where the machine is required to have the driver.
#[allow(clippy::panic)] // the way in which tests fail
pub fn need<T>(driver: Driver, found: Result<T, impl fmt::Display>) -> Option<T> {
    match found {
        Ok(value) => Some(value),
        Err(reason) if driver.is_required() => {
            panic!("{} is required here (PIXELFERRY_REQUIRE), but: {reason}", driver.name())
        }
        Err(reason) => {
            println!("SKIPPED: no {}: {reason}", driver.name());
            None
        }
    }
}
