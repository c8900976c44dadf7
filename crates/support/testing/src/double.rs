//! The location of the double of `cl_khr_gl_sharing`.

/// Returns the variables with which the OpenCL loader puts the double of `cl_khr_gl_sharing` before the driver. The
/// double is the crate `opencl-gl-double`, which cargo places next to this program if the test's package depends on it.
///
/// With `events` it also lists `cl_khr_gl_event`.
///
/// # Panics
/// The double is missing, or the path of this program is unknown.
pub fn gl_double(events: bool) -> [(&'static str, String); 2] {
    let name = format!("{}opencl_gl_double{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let program = std::env::current_exe().unwrap_or_else(|e| panic!("this program does not know where it is: {e}"));
    // Test programs are in a folder of their own inside that of programs.
    let found = program.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|path| path.exists());
    let found = found.unwrap_or_else(|| panic!("{name} is not beside {}", program.display()));
    let listed = if events { "sharing,events" } else { "sharing" };
    [("OPENCL_LAYERS", found.to_string_lossy().into_owned()), ("PIXELFERRY_GL_DOUBLE", listed.to_owned())]
}
