//! The contexts that share, and how they are made.

use crate::cl::driver::Driver;
use crate::cl::handles::{self, Handle};
use crate::codes::{INVALID_GL_SHAREGROUP_REFERENCE, INVALID_OPERATION, INVALID_VALUE};
use crate::context::{GlSide, SharedContext};
use crate::explain::refuse;
use crate::extensions;
use crate::gl::system;
use crate::gl::window_system::{ProgramContext, WindowSystem};
use crate::registry::Registry;
use std::sync::{Arc, LazyLock};

const GL_CONTEXT: isize = 0x2008;
const WGL_HDC: isize = 0x200B;
const CGL_SHAREGROUP: isize = 0x200C;
const PLATFORM: isize = 0x1084;
const INTEROP_USER_SYNC: isize = 0x1085;
const DEVICES: u32 = 0x1081;

/// Properties that a program makes a context with.
#[derive(Default)]
pub struct ContextProperties {
    /// All of them, with their end.
    pub all: Vec<isize>,
    /// Those for the driver, with their end.
    pub rest: Vec<isize>,
    context: isize,
    displays: Vec<(isize, isize)>,
    /// Whether there is anything about OpenGL that a driver without the extension must not see.
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
            // It speaks of sharing only, and drivers that share nothing may refuse it.
            INTEROP_USER_SYNC => {}
            _ => {
                self.rest.extend([name, value]);
                return;
            }
        }
        self.names_gl |= name != INTEROP_USER_SYNC;
    }

    /// Whether a context of OpenGL's is named.
    pub fn shares(&self) -> bool {
        self.context != 0 || self.displays.iter().any(|(name, _)| *name == CGL_SHAREGROUP)
    }

    /// The platforms that are meant: one, or where none is named each.
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

    /// The context of OpenGL, where the properties name one rightly.
    pub fn program(&self) -> Result<(&'static dyn WindowSystem, ProgramContext), i32> {
        match *self.displays.as_slice() {
            [] => Err(refuse(INVALID_GL_SHAREGROUP_REFERENCE, "a GL context without its display")),
            [(name, display)] if self.context != 0 => {
                let context = self.context.cast_unsigned();
                Ok((system::of(name)?, ProgramContext { display: display.cast_unsigned(), context }))
            }
            [_] => Err(refuse(INVALID_OPERATION, "share groups of CGL are not known here")),
            _ => Err(refuse(INVALID_OPERATION, "a GL context of several window systems")),
        }
    }
}

/// All of them. What is left of one that the program has let go of goes with its last object.
pub static CONTEXTS: LazyLock<Registry<Arc<SharedContext>>> = LazyLock::new(Registry::default);

/// The context of that handle, where it is one that the layer serves.
pub fn find(context: Handle) -> Option<Arc<SharedContext>> {
    CONTEXTS.lock().get(&context).map(|(shared, _)| Arc::clone(shared))
}

/// Makes a context, which shares where the properties name one of OpenGL: `make` is the driver's call, with the properties that it
/// is to see.
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
    Ok(handle)
}

/// Whether the drivers share on their own: all devices of a context that is not the layer's.
pub fn is_native(context: Handle) -> bool {
    let devices = handles::handles(Driver::get_context_info, context, DEVICES).unwrap_or_default();
    are_native(&devices)
}

/// Whether the drivers of all these devices share on their own.
pub fn are_native(devices: &[Handle]) -> bool {
    !devices.is_empty() && devices.iter().all(|device| extensions::is_native(*device))
}

/// Devices that share with the context of OpenGL that the properties name.
pub fn devices(properties: &ContextProperties) -> Result<Vec<Handle>, i32> {
    let mut devices = Vec::new();
    for platform in properties.platforms()? {
        devices.extend(handles::devices(platform, handles::ALL_DEVICES).unwrap_or_default());
    }
    if devices.is_empty() { Err(INVALID_VALUE) } else { Ok(devices) }
}
