//! Which displays this machine has without a window, and opening one.

use crate::availability::Availability;
use cpu_fallback::MemoryDisplay;
use gl_display::{GlDisplay, HeadlessOptions};
use interop_core::{DeviceIdentity, Display, Result};
use serde::Serialize;
use std::rc::Rc;
use tracing::info;

/// Which display to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DisplayChoice {
    /// OpenGL without a window, else plain memory. Never fails for want of a driver.
    #[default]
    Auto,
    /// OpenGL without a window, or an error.
    Gl,
    /// Plain memory.
    Memory,
}

/// A display that needs no window.
#[derive(Clone)]
#[non_exhaustive]
pub enum Headless {
    /// OpenGL on an EGL device or surfaceless.
    Gl(Rc<GlDisplay>),
    /// Plain memory: pictures without any graphics driver.
    Memory(Rc<MemoryDisplay>),
}

impl Headless {
    /// As a display for [`crate::Link::open`].
    pub fn display(&self) -> Rc<dyn Display> {
        match self {
            Self::Gl(d) => Rc::clone(d) as Rc<dyn Display>,
            Self::Memory(d) => Rc::clone(d) as Rc<dyn Display>,
        }
    }

    /// The OpenGL display, where it is one.
    pub fn gl(&self) -> Option<&Rc<GlDisplay>> {
        match self {
            Self::Gl(d) => Some(d),
            Self::Memory(_) => None,
        }
    }
}

/// One kind of display and what it offers here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisplayStatus {
    /// `gl-headless` or `memory`.
    pub kind: &'static str,
    /// Whether it can be used, and why not.
    #[serde(flatten)]
    pub availability: Availability,
    /// Who draws.
    pub device: Option<DeviceIdentity>,
}

/// Opens a display that needs no window.
///
/// # Errors
/// [`crate::Error::Unavailable`] with the reason and what to install, where the choice leaves no other.
pub fn open_headless(choice: DisplayChoice) -> Result<Headless> {
    match choice {
        DisplayChoice::Gl => Ok(Headless::Gl(GlDisplay::headless(HeadlessOptions::default())?)),
        DisplayChoice::Memory => Ok(Headless::Memory(MemoryDisplay::new())),
        DisplayChoice::Auto => Ok(match GlDisplay::headless(HeadlessOptions::default()) {
            Ok(display) => Headless::Gl(display),
            Err(reason) => {
                info!(%reason, "no OpenGL; drawing in plain memory");
                Headless::Memory(MemoryDisplay::new())
            }
        }),
    }
}

/// Opens every display that needs no window, with the status of each kind.
pub fn open_all_headless() -> (Vec<Headless>, Vec<DisplayStatus>) {
    let mut displays = Vec::new();
    let mut status = Vec::new();
    match GlDisplay::headless(HeadlessOptions::default()) {
        Ok(display) => {
            let device = Some(display.device().clone());
            status.push(DisplayStatus { kind: "gl-headless", availability: Availability::Available, device });
            displays.push(Headless::Gl(display));
        }
        Err(e) => {
            status.push(DisplayStatus { kind: "gl-headless", availability: Availability::from(&e), device: None });
        }
    }
    let memory = MemoryDisplay::new();
    let device = Some(memory.device().clone());
    status.push(DisplayStatus { kind: "memory", availability: Availability::Available, device });
    displays.push(Headless::Memory(memory));
    (displays, status)
}
