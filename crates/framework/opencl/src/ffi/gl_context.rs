//! Properties that tell OpenCL of an OpenGL context, and the devices that share with it.

use super::extension::function;
use super::{DeviceId, Failure, PlatformId, check};
use cl3::context::CL_CONTEXT_PLATFORM;
use interop_core::{GlContext, GlName};
use std::ffi::c_void;
use std::ptr;

type ContextInfo = unsafe extern "system" fn(
    properties: *const isize,
    parameter: u32,
    bytes: usize,
    value: *mut c_void,
    found: *mut usize,
) -> i32;

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
    const CALL: &str = "clGetGLContextInfoKHR";
    let ask = function!(platform, c"clGetGLContextInfoKHR" as ContextInfo);
    let properties = session_properties(platform, Some(context), &[]);
    let mut devices: Vec<*mut c_void> = vec![ptr::null_mut(); 64];
    let mut found = 0;
    // SAFETY: the list ends with 0; at most as many bytes are written as the vector has.
    let code = unsafe {
        let bytes = size_of_val(devices.as_slice());
        ask(properties.as_ptr(), parameter, bytes, devices.as_mut_ptr().cast(), &raw mut found)
    };
    check(CALL, if code == 0 { Ok(()) } else { Err(code) })?;
    devices.truncate(found / size_of::<*mut c_void>());
    Ok(devices.into_iter().filter(|device| !device.is_null()).map(DeviceId).collect())
}

/// Returns the properties of `clCreateContext` for an OpenGL context (`cl_khr_gl_sharing`, `cl_APPLE_gl_sharing`).
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

/// Returns the properties that a context is made with.
pub fn session_properties(platform: PlatformId, gl: Option<&dyn GlContext>, others: &[[isize; 2]]) -> Vec<isize> {
    let gl = gl.into_iter().flat_map(|gl| properties(gl.name()));
    let others = others.iter().copied().flatten();
    [CL_CONTEXT_PLATFORM, platform.0 as isize].into_iter().chain(gl).chain(others).chain([0]).collect()
}
