//! Location of the double of `cl_khr_gl_sharing`.

/// Returns what the OpenCL loader is told so that it puts the double of `cl_khr_gl_sharing` before the driver: the crate
/// `opencl-gl-double`, which cargo has put beside this program where the test's package depends on it.
///
/// `events`: it lists `cl_khr_gl_event`, too.
///
/// # Panics
/// Where it is not there, or this program's own place is not known.
pub fn gl_double(events: bool) -> [(&'static str, String); 2] {
    let name = format!("{}opencl_gl_double{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let program = std::env::current_exe().unwrap_or_else(|e| panic!("this program does not know where it is: {e}"));
    // Test programs are in a folder of their own inside that of programs.
    let found = program.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|path| path.exists());
    let found = found.unwrap_or_else(|| panic!("{name} is not beside {}", program.display()));
    let listed = if events { "sharing,events" } else { "sharing" };
    [("OPENCL_LAYERS", found.to_string_lossy().into_owned()), ("PIXELFERRY_GL_DOUBLE", listed.to_owned())]
}
