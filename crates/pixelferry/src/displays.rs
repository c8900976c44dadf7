//! Which displays this machine has without a window, and opening one.

use crate::availability::Availability;
use crate::choice::{Choice, Named};
use cpu_fallback::MemoryDisplay;
use gl_display::{GlDisplay, HeadlessOptions, headless_devices};
use interop_core::{Api, DeviceIdentity, Display, Error, Result};
use serde::Serialize;
use std::any::Any;
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
pub struct Headless {
    display: Rc<dyn Display>,
    /// The same as an `Rc` of its own type.
    own: Rc<dyn Any>,
}

impl<D: Display> From<Rc<D>> for Headless {
    fn from(display: Rc<D>) -> Self {
        Self { own: Rc::new(Rc::clone(&display)), display }
    }
}

impl Headless {
    /// As a display for [`crate::Link::open`].
    pub fn display(&self) -> Rc<dyn Display> {
        Rc::clone(&self.display)
    }

    /// The OpenGL display, where it is one.
    pub fn gl(&self) -> Option<&Rc<GlDisplay>> {
        self.own.downcast_ref()
    }

    /// The wgpu display, where it is one.
    #[cfg(feature = "wgpu")]
    pub fn wgpu(&self) -> Option<&Rc<WgpuDisplay>> {
        self.own.downcast_ref()
    }
}

/// What differs between the displays.
pub(crate) struct Driver {
    named: Named<DisplayChoice>,
    api: Api,
    /// What its status is called.
    pub(crate) kind: &'static str,
    /// Whether [`DisplayChoice::Auto`] may take it.
    taken_by_itself: bool,
    /// Opens the best device, or the one that computes where that can draw.
    best_for: fn(Option<&DeviceIdentity>) -> Result<Headless>,
    /// Opens one on each of its devices.
    all: fn() -> Result<Vec<Headless>>,
    /// What the finding is called where it cannot be used.
    pub(crate) missing: &'static str,
}

/// One row for each display; those of [`DisplayChoice::Auto`] first, in its order.
pub(crate) static DRIVERS: &[Driver] = &[
    Driver {
        named: Named::new(DisplayChoice::Gl, "gl", &["opengl"], "OpenGL"),
        api: Api::OpenGl,
        kind: "gl-headless",
        taken_by_itself: true,
        best_for: |compute| {
            let same_device_as = compute.cloned();
            Ok(GlDisplay::headless(HeadlessOptions { same_device_as, ..HeadlessOptions::default() })?.into())
        },
        all: open_all_gl,
        missing: "no-opengl",
    },
    Driver {
        named: Named::new(DisplayChoice::Memory, "memory", &[], "Plain memory"),
        api: Api::Cpu,
        kind: "memory",
        taken_by_itself: true,
        best_for: |_| Ok(MemoryDisplay::new().into()),
        all: || Ok(vec![MemoryDisplay::new().into()]),
        missing: "no-display",
    },
    Driver {
        named: Named {
            built: cfg!(feature = "wgpu"),
            ..Named::new(DisplayChoice::Wgpu, "wgpu", &[], "wgpu, where it was built in (feature `wgpu`)")
        },
        api: Api::Wgpu,
        kind: "wgpu",
        taken_by_itself: false,
        best_for: open_wgpu,
        all: || Ok(vec![open_wgpu(None)?]),
        missing: "no-wgpu",
    },
];

static AUTO: Named<DisplayChoice> = Named::new(DisplayChoice::Auto, "auto", &[], "OpenGL, else memory");

impl Choice for DisplayChoice {
    fn all() -> impl Iterator<Item = &'static Named<Self>> {
        std::iter::once(&AUTO).chain(DRIVERS.iter().map(|driver| &driver.named))
    }

    fn api(self) -> Option<Api> {
        DRIVERS.iter().find(|driver| driver.named.choice == self).map(|driver| driver.api)
    }
}

/// One kind of display and what it offers here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisplayStatus {
    /// As its row says: `gl-headless`, `memory`, `wgpu`; `plugged` for one of the program's own.
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
    open_with(choice, None)
}

/// The same, on the device that computes wherever it can draw: on a machine with several GPUs frames then stay on one.
///
/// # Errors
/// As of [`open_headless`].
pub fn open_headless_for(compute: &DeviceIdentity, choice: DisplayChoice) -> Result<Headless> {
    open_with(choice, Some(compute))
}

fn open_with(choice: DisplayChoice, compute: Option<&DeviceIdentity>) -> Result<Headless> {
    let is_meant = |driver: &&Driver| match choice {
        DisplayChoice::Auto => driver.taken_by_itself,
        named => driver.named.choice == named,
    };
    let mut last = None;
    for driver in DRIVERS.iter().filter(is_meant) {
        match (driver.best_for)(compute) {
            Ok(display) => return Ok(display),
            Err(reason) => {
                info!(kind = driver.kind, %reason, "passed over");
                last = Some(reason);
            }
        }
    }
    Err(last.unwrap_or_else(|| Error::invalid("open_headless", "there is no display to choose from")))
}

#[cfg(feature = "wgpu")]
fn open_wgpu(compute: Option<&DeviceIdentity>) -> Result<Headless> {
    Ok(WgpuDisplay::headless(WgpuOptions { same_device_as: compute.cloned(), ..WgpuOptions::default() })?.into())
}

#[cfg(not(feature = "wgpu"))]
fn open_wgpu(_: Option<&DeviceIdentity>) -> Result<Headless> {
    Err(wgpu_is_not_built_in())
}

#[cfg(not(feature = "wgpu"))]
pub(crate) fn wgpu_is_not_built_in() -> Error {
    Error::Unavailable {
        what: "wgpu".into(),
        reason: "this program was built without it".into(),
        hint: "Build it with the feature `wgpu`, or choose another one.".into(),
    }
}

/// OpenGL on every GPU that EGL lists, or on the CPU where there is none.
fn open_all_gl() -> Result<Vec<Headless>> {
    let mut displays: Vec<Rc<GlDisplay>> = Vec::new();
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
    Ok(displays.into_iter().map(Headless::from).collect())
}

/// Opens every display that needs no window, with the status of each kind.
pub fn open_all_headless() -> (Vec<Headless>, Vec<DisplayStatus>) {
    let (mut displays, mut status) = (Vec::new(), Vec::new());
    for &Driver { kind, all, .. } in DRIVERS.iter().filter(|driver| driver.named.built) {
        let said = |availability, device| DisplayStatus { kind, availability, device };
        match all() {
            Ok(opened) => {
                let devices = opened.iter().map(|d: &Headless| d.display.device().clone());
                status.extend(devices.map(|device| said(Availability::Available, Some(device))));
                displays.extend(opened);
            }
            Err(e) => status.push(said(Availability::from(&e), None)),
        }
    }
    (displays, status)
}
