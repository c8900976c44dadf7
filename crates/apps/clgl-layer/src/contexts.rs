//! The sharing contexts, and how they are made.

use crate::cl::handles::{self, Handle};
use crate::codes::{INVALID_GL_SHAREGROUP_REFERENCE, INVALID_OPERATION, INVALID_VALUE};
use crate::context::{GlSide, SharedContext};
use crate::explain::refuse;
use crate::extensions;
use crate::gl::system;
use crate::gl::window_system::{ProgramContext, WindowSystem};
use crate::registry::Registry;
use std::sync::{Arc, LazyLock, Mutex};

const GL_CONTEXT: isize = 0x2008;
const WGL_HDC: isize = 0x200B;
const CGL_SHAREGROUP: isize = 0x200C;
const PLATFORM: isize = 0x1084;
const INTEROP_USER_SYNC: isize = 0x1085;
const DEVICES: u32 = 0x1081;
const DEVICE_VERSION: u32 = 0x102F;

/// Properties that a program makes a context with.
#[derive(Default)]
pub struct ContextProperties {
    /// All properties, including the terminator.
    pub all: Vec<isize>,
    /// Properties for the driver, including the terminator.
    pub rest: Vec<isize>,
    context: isize,
    displays: Vec<(isize, isize)>,
    /// Whether there are OpenGL properties that a driver without the extension must not see.
    pub names_gl: bool,
}

impl ContextProperties {
    /// # Safety
    /// A null pointer, or pairs that end with 0.
    pub unsafe fn read(list: *const isize) -> Self {
        let mut properties = Self::default();
        let mut at = list;
        // SAFETY: the caller's promise.
        while !at.is_null() && unsafe { *at } != 0 {
            // SAFETY: the caller's promise.
            let (name, value) = unsafe { (*at, *at.add(1)) };
            properties.add(name, value);
            // SAFETY: within the list, or at its end.
            at = unsafe { at.add(2) };
        }
        properties.all.push(0);
        properties.rest.push(0);
        properties
    }

    fn add(&mut self, name: isize, value: isize) {
        self.all.extend([name, value]);
        match name {
            GL_CONTEXT => self.context = value,
            system::EGL | system::GLX | WGL_HDC | CGL_SHAREGROUP => {
                if value != 0 {
                    self.displays.push((name, value));
                }
            }
            // This concerns sharing only, and drivers without sharing may refuse it.
            INTEROP_USER_SYNC => {}
            _ => {
                self.rest.extend([name, value]);
                return;
            }
        }
        self.names_gl |= name != INTEROP_USER_SYNC;
    }

    /// Whether an OpenGL context is named.
    pub fn shares(&self) -> bool {
        self.context != 0 || self.displays.iter().any(|(name, _)| *name == CGL_SHAREGROUP)
    }

    /// Returns the named platform, or all platforms if none is named.
    pub fn platforms(&self) -> Result<Vec<Handle>, i32> {
        match self.all.chunks_exact(2).find(|pair| pair[0] == PLATFORM) {
            Some(pair) => {
                let platform = std::ptr::with_exposed_provenance_mut(pair[1].cast_unsigned());
                // SAFETY: the program says that it is a platform.
                Ok(vec![unsafe { Handle::new(platform) }])
            }
            None => handles::platforms(),
        }
    }

    /// Returns the OpenGL context, if the properties name a valid one.
    pub fn program(&self) -> Result<(&'static dyn WindowSystem, ProgramContext), i32> {
        match *self.displays.as_slice() {
            [] => Err(refuse(INVALID_GL_SHAREGROUP_REFERENCE, "a GL context without its display")),
            [(name, display)] if self.context != 0 => {
                let context = self.context.cast_unsigned();
                Ok((system::of(name)?, ProgramContext { display: display.cast_unsigned(), context }))
            }
            [_] => Err(refuse(INVALID_OPERATION, "share groups of CGL are unsupported")),
            _ => Err(refuse(INVALID_OPERATION, "a GL context of several window systems")),
        }
    }
}

/// All sharing contexts. After the program has released a context, its remains are freed with its last object.
pub static CONTEXTS: LazyLock<Registry<Arc<SharedContext>>> = LazyLock::new(|| Registry(Mutex::default()));

/// Returns the layer's context of that handle, if it is one.
pub fn find(context: Handle) -> Option<Arc<SharedContext>> {
    CONTEXTS.lock().get(&context).map(|(shared, _)| Arc::clone(shared))
}

/// Makes a context, which shares if the properties name an OpenGL context. `make` is the driver's call with the
/// properties for the driver.
pub fn create(
    properties: &ContextProperties,
    make: impl FnOnce(&[isize]) -> Result<Handle, i32>,
) -> Result<Handle, i32> {
    if !properties.shares() {
        return make(&properties.rest);
    }
    let (system, program) = properties.program()?;
    let gl = GlSide::open(system, program)?;
    let handle = make(&properties.rest)?;
    let context = Arc::new(SharedContext::new(handle, properties.all.clone(), gl));
    CONTEXTS.insert(handle, context);
    // Drivers of OpenCL 3.0 say when the context goes: its queues keep it, even if the program has released it. OpenCV
    // 4.6 releases it once too often. Other drivers leave the program's references to be counted.
    let version = handles::handle(|driver| driver.get_context_info, handle, DEVICES)
        .and_then(|device| handles::info(|driver| driver.get_device_info, device, DEVICE_VERSION));
    if version.is_ok_and(|version| version.as_slice() >= b"OpenCL 3".as_slice())
        && handles::when_gone(|driver| driver.set_context_destructor, handle, gone).is_ok()
    {
        CONTEXTS.retained(handle);
    }
    Ok(handle)
}

/// Called when the driver destroys a context.
fn gone(context: Handle) {
    let shared = CONTEXTS.lock().remove(&context);
    if let Some((shared, _)) = shared {
        shared.thread().settle();
    }
}

/// Returns whether the drivers have their own sharing, for all devices of a context that is not the layer's.
pub fn is_native(context: Handle) -> bool {
    let devices = handles::handles(|driver| driver.get_context_info, context, DEVICES).unwrap_or_default();
    are_native(&devices)
}

/// Returns whether the drivers of all these devices have their own sharing.
pub fn are_native(devices: &[Handle]) -> bool {
    !devices.is_empty() && devices.iter().all(|device| extensions::is_native(*device))
}

/// Returns devices that share with the OpenGL context in the properties.
pub fn devices(properties: &ContextProperties) -> Result<Vec<Handle>, i32> {
    let mut devices = Vec::new();
    for platform in properties.platforms()? {
        devices.extend(handles::devices(platform, handles::ALL_DEVICES).unwrap_or_default());
    }
    if devices.is_empty() { Err(INVALID_VALUE) } else { Ok(devices) }
}
