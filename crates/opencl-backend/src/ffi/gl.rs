//! Sharing with an OpenGL context: `cl_khr_gl_sharing`, `cl_khr_gl_event`, and `GL_ARB_cl_event` on the other side.
//!
//! Several drivers accept a GL context without having the extension and end the process later: nothing here is called
//! for a device that does not list it.

use super::extension::function;
use super::handle::{Handle, MemKind};
use super::turn::{TurnFns, Turns};
use super::{
    Buffer, Context, DeviceId, Event, Failure, GL_FUNCTION_MISSING, GlObject, Mem, NO_GL_OBJECT, Pixels, PlatformId,
    Queue, Session, SharedImage, WRONG_CONTEXT, check,
};
use cl3::context::CL_CONTEXT_PLATFORM;
use cl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE;
use cl3::memory as mem;
use interop_core::{GlContext, GlName};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

type FromBuffer = unsafe extern "system" fn(context: *mut c_void, flags: u64, name: u32, code: *mut i32) -> *mut c_void;
type FromTexture = unsafe extern "system" fn(
    context: *mut c_void,
    flags: u64,
    target: u32,
    level: i32,
    name: u32,
    code: *mut i32,
) -> *mut c_void;
type FromSync = unsafe extern "system" fn(context: *mut c_void, sync: *mut c_void, code: *mut i32) -> *mut c_void;
type ContextInfo = unsafe extern "system" fn(
    properties: *const isize,
    parameter: u32,
    bytes: usize,
    value: *mut c_void,
    found: *mut usize,
) -> i32;
type ObjectInfo = unsafe extern "system" fn(object: *mut c_void, kind: *mut u32, name: *mut u32) -> i32;

/// `CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR`, `CL_DEVICES_FOR_GL_CONTEXT_KHR`.
const CURRENT_DEVICE_FOR_GL_CONTEXT: u32 = 0x2006;
const DEVICES_FOR_GL_CONTEXT: u32 = 0x2007;

/// The devices of `platform` that can share with the context, that which draws first. At least one of the platform's
/// devices must list the extension.
pub fn devices_of(platform: PlatformId, context: &dyn GlContext) -> Result<Vec<DeviceId>, Failure> {
    ask(platform, context, DEVICES_FOR_GL_CONTEXT)
}

/// The device of `platform` that the context draws with, if one does; else as [`devices_of`].
pub fn current_device_of(platform: PlatformId, context: &dyn GlContext) -> Result<Option<DeviceId>, Failure> {
    ask(platform, context, CURRENT_DEVICE_FOR_GL_CONTEXT).map(|devices| devices.into_iter().next())
}

fn ask(platform: PlatformId, context: &dyn GlContext, parameter: u32) -> Result<Vec<DeviceId>, Failure> {
    const OP: &str = "clGetGLContextInfoKHR";
    let ask = function!(platform, c"clGetGLContextInfoKHR" as ContextInfo);
    let properties = session_properties(platform, Some(context), &[]);
    let mut devices: Vec<*mut c_void> = vec![ptr::null_mut(); 64];
    let mut found = 0;
    // SAFETY: the list ends with 0; at most as many bytes are written as the vector has.
    let code = unsafe {
        let bytes = size_of_val(devices.as_slice());
        ask(properties.as_ptr(), parameter, bytes, devices.as_mut_ptr().cast(), &raw mut found)
    };
    check(OP, if code == 0 { Ok(()) } else { Err(code) })?;
    devices.truncate(found / size_of::<*mut c_void>());
    Ok(devices.into_iter().filter(|device| !device.is_null()).map(DeviceId).collect())
}

/// What `clCreateContext` is told of an OpenGL context (`cl_khr_gl_sharing`, `cl_APPLE_gl_sharing`).
fn properties(name: GlName) -> Vec<isize> {
    const GL_CONTEXT: isize = 0x2008;
    let list = |pairs: &[(isize, usize)]| pairs.iter().flat_map(|(key, value)| [*key, value.cast_signed()]).collect();
    match name {
        GlName::Egl { context, display } => list(&[(GL_CONTEXT, context), (0x2009, display)]),
        GlName::Glx { context, display } => list(&[(GL_CONTEXT, context), (0x200A, display)]),
        GlName::Wgl { context, device } => list(&[(GL_CONTEXT, context), (0x200B, device)]),
        // The share group alone.
        GlName::Cgl { share_group, .. } => list(&[(0x1000_0000, share_group)]),
    }
}

/// What a context is made with.
pub fn session_properties(platform: PlatformId, gl: Option<&dyn GlContext>, others: &[[isize; 2]]) -> Vec<isize> {
    let gl = gl.into_iter().flat_map(|gl| properties(gl.name()));
    let others = others.iter().copied().flatten();
    [CL_CONTEXT_PLATFORM, platform.0 as isize].into_iter().chain(gl).chain(others).chain([0]).collect()
}

/// Functions of OpenGL that keeping apart needs.
struct GlFns {
    finish: Plain,
    flush: Plain,
    fence: Fence,
    delete: Delete,
    wait: Wait,
    /// `glCreateSyncFromCLeventARB`, where OpenGL lists `GL_ARB_cl_event`.
    from_event: Option<FromEvent>,
}

type Plain = unsafe extern "system" fn();
type Fence = unsafe extern "system" fn(condition: u32, flags: u32) -> *mut c_void;
type Delete = unsafe extern "system" fn(sync: *mut c_void);
type Wait = unsafe extern "system" fn(sync: *mut c_void, flags: u32, timeout: u64);
type FromEvent = unsafe extern "system" fn(context: *mut c_void, event: *mut c_void, flags: u32) -> *mut c_void;

impl GlFns {
    /// Those of the context that is current.
    fn load(context: &dyn GlContext) -> Result<Self, Failure> {
        macro_rules! gl {
            ($name:literal as $kind:ty) => {{
                let missing = Failure { operation: "OpenGL", code: GL_FUNCTION_MISSING };
                let address = ptr::NonNull::new(context.function($name).cast_mut()).ok_or(missing)?;
                // SAFETY: the signature is that of OpenGL 3.2, or of the extension that is listed.
                unsafe { std::mem::transmute::<*mut c_void, $kind>(address.as_ptr()) }
            }};
        }
        let from_event = match gl_lists(context, c"GL_ARB_cl_event")? {
            true => Some(gl!(c"glCreateSyncFromCLeventARB" as FromEvent)),
            false => None,
        };
        Ok(Self {
            finish: gl!(c"glFinish" as Plain),
            flush: gl!(c"glFlush" as Plain),
            fence: gl!(c"glFenceSync" as Fence),
            delete: gl!(c"glDeleteSync" as Delete),
            wait: gl!(c"glWaitSync" as Wait),
            from_event,
        })
    }
}

/// How OpenGL and OpenCL are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlSync {
    /// Acquire and release do it (`cl_khr_gl_event`).
    Implicit,
    /// By events made of GL fences, and fences made of events.
    Events,
    /// The host waits for either side.
    Finish,
}

/// An OpenGL context that a context shares with.
pub struct GlShare {
    context: Arc<dyn GlContext>,
    gl: GlFns,
    /// `clCreateEventFromGLsyncKHR`, where the device lists `cl_khr_gl_event`.
    from_sync: Option<FromSync>,
    turns: TurnFns,
    platform: PlatformId,
}

impl GlShare {
    /// The context must be current; the device must list `cl_khr_gl_sharing`. `events`: it lists `cl_khr_gl_event`, too.
    pub fn new(platform: PlatformId, context: Arc<dyn GlContext>, events: bool) -> Result<Self, Failure> {
        let gl = GlFns::load(context.as_ref())?;
        let from_sync = match events {
            true => Some(function!(platform, c"clCreateEventFromGLsyncKHR" as FromSync)),
            false => None,
        };
        Ok(Self { context, gl, from_sync, turns: TurnFns::gl(platform)?, platform })
    }

    /// The context that is shared with.
    pub fn name(&self) -> GlName {
        self.context.name()
    }

    /// What is used where nothing is asked for.
    pub fn default_sync(&self) -> GlSync {
        if self.from_sync.is_some() { GlSync::Implicit } else { GlSync::Finish }
    }

    /// Whether there are events.
    pub fn has_events(&self) -> bool {
        self.from_sync.is_some()
    }

    /// Refuses every thread but that on which the context is current.
    pub fn check_current(&self, operation: &'static str) -> Result<(), Failure> {
        if self.context.is_current() { Ok(()) } else { Err(Failure { operation, code: WRONG_CONTEXT }) }
    }

    /// An event for the end of what OpenGL was told so far. The GL context must be current, and the device list
    /// `cl_khr_gl_event`.
    pub fn fence(&self, context: &Context) -> Result<Event, Failure> {
        const OP: &str = "clCreateEventFromGLsyncKHR";
        let from_sync = self.from_sync.ok_or(Failure { operation: OP, code: DLOPEN_FUNCTION_NOT_AVAILABLE })?;
        self.check_current(OP)?;
        let (gl, mut code) = (&self.gl, 0);
        // SAFETY: the GL context is current. The fence is new; OpenCL keeps it for its event ("increments the reference
        // count"), so that it may be deleted here.
        let event = unsafe {
            let fence = (gl.fence)(0x9117, 0);
            let event = from_sync(context.raw(), fence, &raw mut code);
            (gl.flush)();
            (gl.delete)(fence);
            event
        };
        // SAFETY: a new event, whose one reference is ours.
        unsafe { Event::own(OP, if code == 0 { Ok(event) } else { Err(code) }, None) }
    }

    /// Queues the beginning of OpenCL's turn with objects of the context, after what OpenGL was told so far.
    pub fn acquire(&self, queue: &Queue, mems: &[&Mem], wait: &[Event]) -> Result<Event, Failure> {
        self.check_current("clEnqueueAcquireGLObjects")?;
        if self.from_sync.is_none() {
            // SAFETY: the context is current.
            unsafe { (self.gl.finish)() };
        }
        self.turns.of_gl(queue, mems, true, wait)
    }

    /// Queues the end of OpenCL's turn.
    pub fn release(&self, queue: &Queue, mems: &[&Mem], wait: &[Event]) -> Result<Event, Failure> {
        self.check_current("clEnqueueReleaseGLObjects")?;
        let event = self.turns.of_gl(queue, mems, false, wait)?;
        queue.flush()?;
        Ok(event)
    }

    /// Turns with an object of the context.
    pub fn turns(self: &Arc<Self>) -> Turns {
        Turns::with_gl(self.turns, GlTurn { sync: self.default_sync(), share: self.clone() })
    }

    /// A GL buffer; `len` bytes of it are used.
    pub fn buffer(self: &Arc<Self>, session: &Arc<Session>, name: u32, len: usize) -> Result<Buffer, Failure> {
        let mem = self.open(&session.context, GlObject::Buffer { name }, mem::CL_MEM_READ_WRITE)?;
        Ok(Buffer::with_turns(session, mem, self.turns(), len))
    }

    /// Level 0 of a GL texture of two dimensions.
    pub fn image(
        self: &Arc<Self>,
        session: &Arc<Session>,
        [target, name]: [u32; 2],
        pixels: Pixels,
    ) -> Result<SharedImage, Failure> {
        let object = GlObject::Texture { target, level: 0, name };
        let mem = self.open(&session.context, object, mem::CL_MEM_READ_WRITE)?;
        Ok(SharedImage::new(session, mem, self.turns(), pixels))
    }

    pub(super) fn open_buffer(&self, context: &Context, flags: u64, name: u32) -> Result<Handle<MemKind>, Failure> {
        const OP: &str = "clCreateFromGLBuffer";
        self.check_current(OP)?;
        let create = function!(self.platform, c"clCreateFromGLBuffer" as FromBuffer);
        // SAFETY: the context shares with the GL context that is current; the driver refuses names that are none.
        own(OP, |code| unsafe { create(context.raw(), flags, name, code) })
    }

    pub(super) fn open_texture(
        &self,
        context: &Context,
        flags: u64,
        target: u32,
        level: i32,
        name: u32,
    ) -> Result<Handle<MemKind>, Failure> {
        const OP: &str = "clCreateFromGLTexture";
        self.check_current(OP)?;
        let create = function!(self.platform, c"clCreateFromGLTexture" as FromTexture);
        // SAFETY: as above; the driver refuses targets and levels that the texture does not have.
        own(OP, |code| unsafe { create(context.raw(), flags, target, level, name, code) })
    }

    pub(super) fn open_renderbuffer(
        &self,
        context: &Context,
        flags: u64,
        name: u32,
    ) -> Result<Handle<MemKind>, Failure> {
        const OP: &str = "clCreateFromGLRenderbuffer";
        self.check_current(OP)?;
        let create = function!(self.platform, c"clCreateFromGLRenderbuffer" as FromBuffer);
        // SAFETY: as above.
        own(OP, |code| unsafe { create(context.raw(), flags, name, code) })
    }

    /// `CL_GL_OBJECT_*` and the name of the GL object behind a memory object.
    pub fn object_of(&self, object: &Mem) -> Result<(u32, u32), Failure> {
        if !object.is_of_gl() {
            return Err(Failure { operation: "clGetGLObjectInfo", code: NO_GL_OBJECT });
        }
        let ask = function!(self.platform, c"clGetGLObjectInfo" as ObjectInfo);
        let (mut kind, mut name) = (0, 0);
        // SAFETY: the object is live, and two numbers are written.
        let code = unsafe { ask(object.raw(), &raw mut kind, &raw mut name) };
        check("clGetGLObjectInfo", if code == 0 { Ok((kind, name)) } else { Err(code) })
    }
}

fn own(operation: &'static str, create: impl FnOnce(*mut i32) -> *mut c_void) -> Result<Handle<MemKind>, Failure> {
    let mut code = 0;
    let raw = create(&raw mut code);
    // SAFETY: an object that was just created, whose one reference is ours.
    unsafe { Handle::own(operation, if code == 0 { Ok(raw) } else { Err(code) }) }
}

/// Whether the current context lists a GL extension.
fn gl_lists(context: &dyn GlContext, wanted: &CStr) -> Result<bool, Failure> {
    type GetInteger = unsafe extern "system" fn(parameter: u32, value: *mut i32);
    type GetString = unsafe extern "system" fn(parameter: u32, index: u32) -> *const std::ffi::c_char;
    let (get, name) = (context.function(c"glGetIntegerv"), context.function(c"glGetStringi"));
    if get.is_null() || name.is_null() {
        return Err(Failure { operation: "OpenGL", code: GL_FUNCTION_MISSING });
    }
    // SAFETY: both are functions of OpenGL 3.0 of the context that is current; one number is written, and the strings
    // live as long as the context.
    unsafe {
        let get = std::mem::transmute::<*const c_void, GetInteger>(get);
        let name = std::mem::transmute::<*const c_void, GetString>(name);
        let mut count = 0;
        get(0x821D, &raw mut count);
        Ok((0..count.max(0).cast_unsigned()).any(|index| {
            let text = name(0x1F03, index);
            !text.is_null() && CStr::from_ptr(text) == wanted
        }))
    }
}

/// One object's way of taking turns with OpenGL.
pub struct GlTurn {
    share: Arc<GlShare>,
    sync: GlSync,
}

impl GlTurn {
    pub fn set(&mut self, sync: GlSync) {
        self.sync = sync;
    }

    pub(super) fn check_current(&self, operation: &'static str) -> Result<(), Failure> {
        self.share.check_current(operation)
    }

    /// Before OpenCL's turn: what it has to wait for.
    pub(super) fn begin(&self, context: &Context) -> Result<Option<Event>, Failure> {
        let gl = &self.share.gl;
        match (self.sync, self.share.from_sync) {
            (GlSync::Implicit, _) => Ok(None),
            (GlSync::Events, Some(_)) => self.share.fence(context).map(Some),
            _ => {
                // SAFETY: the context is current.
                unsafe { (gl.finish)() };
                Ok(None)
            }
        }
    }

    /// After OpenCL's turn, which ends with `released`: OpenGL, or else the host, waits for it.
    pub(super) fn end(&self, context: &Context, released: &Event) -> Result<(), Failure> {
        match (self.sync, self.share.gl.from_event) {
            (GlSync::Implicit, _) => Ok(()),
            (GlSync::Events, Some(from_event)) => {
                let gl = &self.share.gl;
                self.share.check_current("glCreateSyncFromCLeventARB")?;
                // SAFETY: the context is current; context and event are live. The wait keeps the fence.
                unsafe {
                    let fence = from_event(context.raw(), released.raw(), 0);
                    if !fence.is_null() {
                        (gl.wait)(fence, 0, u64::MAX);
                        (gl.delete)(fence);
                        return Ok(());
                    }
                }
                released.wait()
            }
            _ => released.wait(),
        }
    }
}
