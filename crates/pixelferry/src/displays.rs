//! Which displays this machine has without a window, and opening one.

use crate::availability::Availability;
use cpu_fallback::MemoryDisplay;
use gl_display::{GlDisplay, HeadlessOptions, headless_devices};
use interop_core::{DeviceIdentity, Display, Result};
use serde::Serialize;
use std::rc::Rc;
use tracing::{debug, info};
#[cfg(feature = "wgpu")]
use wgpu_display::{WgpuDisplay, WgpuOptions};

/// Which display to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DisplayChoice {
    /// OpenGL without a window, else plain memory. Never fails for want of a driver.
    #[default]
    Auto,
    /// OpenGL without a window, or an error.
    Gl,
    /// wgpu on Vulkan or OpenGL, or an error: also where this library was built without its feature `wgpu`.
    Wgpu,
    /// Plain memory.
    Memory,
}

/// A display that needs no window.
#[derive(Clone)]
#[non_exhaustive]
pub enum Headless {
    /// OpenGL on an EGL device or surfaceless.
    Gl(Rc<GlDisplay>),
    /// wgpu with a device of its own.
    #[cfg(feature = "wgpu")]
    Wgpu(Rc<WgpuDisplay>),
    /// Plain memory: pictures without any graphics driver.
    Memory(Rc<MemoryDisplay>),
}

impl Headless {
    /// As a display for [`crate::Link::open`].
    pub fn display(&self) -> Rc<dyn Display> {
        match self {
            Self::Gl(d) => Rc::clone(d) as Rc<dyn Display>,
            #[cfg(feature = "wgpu")]
            Self::Wgpu(d) => Rc::clone(d) as Rc<dyn Display>,
            Self::Memory(d) => Rc::clone(d) as Rc<dyn Display>,
        }
    }

    /// The OpenGL display, where it is one.
    pub fn gl(&self) -> Option<&Rc<GlDisplay>> {
        match self {
            Self::Gl(d) => Some(d),
            _ => None,
        }
    }

    /// The wgpu display, where it is one.
    #[cfg(feature = "wgpu")]
    pub fn wgpu(&self) -> Option<&Rc<WgpuDisplay>> {
        match self {
            Self::Wgpu(d) => Some(d),
            _ => None,
        }
    }
}

/// One kind of display and what it offers here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisplayStatus {
    /// `gl-headless`, `wgpu` or `memory`; `plugged` for one of the program's own.
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
    open_with(choice, HeadlessOptions::default())
}

/// The same, on the device that computes wherever it can draw: on a machine with several GPUs frames then stay on one.
///
/// # Errors
/// As of [`open_headless`].
pub fn open_headless_for(compute: &DeviceIdentity, choice: DisplayChoice) -> Result<Headless> {
    open_with(choice, HeadlessOptions { same_device_as: Some(compute.clone()), ..HeadlessOptions::default() })
}

fn open_with(choice: DisplayChoice, options: HeadlessOptions) -> Result<Headless> {
    match choice {
        DisplayChoice::Gl => Ok(Headless::Gl(GlDisplay::headless(options)?)),
        DisplayChoice::Wgpu => open_wgpu(options.same_device_as),
        DisplayChoice::Memory => Ok(Headless::Memory(MemoryDisplay::new())),
        DisplayChoice::Auto => Ok(match GlDisplay::headless(options) {
            Ok(display) => Headless::Gl(display),
            Err(reason) => {
                info!(%reason, "no OpenGL; drawing in plain memory");
                Headless::Memory(MemoryDisplay::new())
            }
        }),
    }
}

#[cfg(feature = "wgpu")]
fn open_wgpu(same_device_as: Option<DeviceIdentity>) -> Result<Headless> {
    WgpuDisplay::headless(WgpuOptions { same_device_as, ..WgpuOptions::default() }).map(Headless::Wgpu)
}

#[cfg(not(feature = "wgpu"))]
fn open_wgpu(_: Option<DeviceIdentity>) -> Result<Headless> {
    Err(interop_core::Error::Unavailable {
        what: "wgpu".into(),
        reason: "this program was built without it".into(),
        hint: "Build it with the feature `wgpu`, or choose another display.".into(),
    })
}

/// OpenGL on every GPU that EGL lists, or on the CPU where there is none.
fn open_all_gl() -> Result<Vec<Rc<GlDisplay>>> {
    let mut displays = Vec::new();
    let first = GlDisplay::headless(HeadlessOptions::default())?;
    if !first.device().software {
        // Some devices are listed twice, by two drivers.
        let known = |all: &[Rc<GlDisplay>], device: &DeviceIdentity| all.iter().any(|d| d.device() == device);
        for about in headless_devices()?.into_iter().filter(|about| !about.software) {
            match GlDisplay::headless(HeadlessOptions { device: Some(about.index), ..HeadlessOptions::default() }) {
                Ok(display) if display.device().software || known(&displays, display.device()) => {}
                Ok(display) => displays.push(display),
                Err(reason) => debug!(index = about.index, %reason, "an EGL device does not draw"),
            }
        }
    }
    if displays.is_empty() {
        displays.push(first);
    }
    Ok(displays)
}

/// Opens every display that needs no window, with the status of each kind.
pub fn open_all_headless() -> (Vec<Headless>, Vec<DisplayStatus>) {
    let mut displays = Vec::new();
    let mut status = Vec::new();
    match open_all_gl() {
        Ok(list) => {
            for display in list {
                let device = Some(display.device().clone());
                status.push(DisplayStatus { kind: "gl-headless", availability: Availability::Available, device });
                displays.push(Headless::Gl(display));
            }
        }
        Err(e) => {
            status.push(DisplayStatus { kind: "gl-headless", availability: Availability::from(&e), device: None });
        }
    }
    let memory = MemoryDisplay::new();
    let device = Some(memory.device().clone());
    status.push(DisplayStatus { kind: "memory", availability: Availability::Available, device });
    displays.push(Headless::Memory(memory));
    // After what is taken by itself.
    #[cfg(feature = "wgpu")]
    match WgpuDisplay::headless(WgpuOptions::default()) {
        Ok(display) => {
            let device = Some(display.device().clone());
            status.push(DisplayStatus { kind: "wgpu", availability: Availability::Available, device });
            displays.push(Headless::Wgpu(display));
        }
        Err(e) => status.push(DisplayStatus { kind: "wgpu", availability: Availability::from(&e), device: None }),
    }
    (displays, status)
}
