//! The location of the layer that shares OpenCL with OpenGL.

/// Returns the variables with which the OpenCL loader puts the layer `clgl-layer` before the driver. Cargo places it next
/// to this program if the test's package depends on it, and with its feature `strict` it refuses turns out of order. The
/// layer explains on standard error what it refuses.
///
/// With `events` it also lists `cl_khr_gl_event`.
///
/// # Panics
/// The layer is missing, or the path of this program is unknown.
pub fn sharing_layer(events: bool) -> [(&'static str, String); 2] {
    let name = format!("{}pixelferry_clgl{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let program = std::env::current_exe().unwrap_or_else(|e| panic!("this program does not know where it is: {e}"));
    // Test programs are in a folder of their own inside that of programs.
    let found = program.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|path| path.exists());
    let found = found.unwrap_or_else(|| panic!("{name} is not beside {}", program.display()));
    let words = if events { "explain" } else { "explain,no-events" };
    [("OPENCL_LAYERS", found.to_string_lossy().into_owned()), ("PIXELFERRY_CLGL", words.to_owned())]
}
