//! What the library takes of its host's process: a host in C checks each line of `docs/guest.md`.

use crate::common::{Language, build, compiler, done, libraries, root, run, scratch};
use pixelferry_testing::{Need, need};
use std::path::PathBuf;
use std::sync::OnceLock;

fn guest() -> Option<&'static PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let libraries = ["-ldl", "-lm", "-pthread"].map(str::to_owned);
    BUILT.get_or_init(|| build(Language::C, &root().join("tests/programs/guest.c"), &libraries)).as_ref()
}

/// What the host says; `None` where the driver is not there.
fn said(backend: &str, display: &str, more: &[&str], driver: Option<Need>) -> Option<String> {
    let mut command = run(guest()?);
    // Mesa says itself where no session runs.
    command.args([backend, display]).args(more).env("XDG_RUNTIME_DIR", scratch(""));
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    if let Some(driver) = driver
        && output.status.code() == Some(2)
    {
        return need::<String>(driver, Err(said));
    }
    assert!(output.status.success(), "{backend}, {display}: {}\n{said}", output.status);
    Some(said)
}

fn is_as_the_page_says(backend: &str, display: &str, driver: Option<Need>) {
    if let Some(said) = said(backend, display, &[], driver) {
        assert!(said.contains("all as the page says"), "{backend}, {display}: {said}");
    }
    if let Some(said) = said(backend, display, &["exit"], driver) {
        assert!(said.contains("leaves all open"), "{backend}, {display}: {said}");
    }
}

#[test]
fn threads_and_plain_memory_leave_the_host_alone() {
    is_as_the_page_says("cpu", "memory", None);
}

#[test]
fn opencl_leaves_the_host_alone() {
    is_as_the_page_says("opencl", "memory", Some(Need::Pocl));
}

#[test]
fn opengl_leaves_the_host_alone() {
    is_as_the_page_says("gl", "gl", Some(Need::Egl));
}

#[test]
fn vulkan_leaves_the_host_alone() {
    is_as_the_page_says("vulkan", "memory", Some(Need::Lavapipe));
}

#[cfg(feature = "wgpu")]
#[test]
fn wgpu_leaves_the_host_alone() {
    is_as_the_page_says("wgpu", "memory", Some(Need::Lavapipe));
}

#[test]
fn a_fork_after_the_library_was_closed_ends_well() {
    // Not linked with the library, which would then stay.
    let (Some(mut compiler), program) = (compiler(Language::C), scratch("unload_fork.run")) else { return };
    done(compiler.arg(root().join("tests/programs/unload_fork.c")).args(["-ldl", "-pthread", "-o"]).arg(&program));
    let said = done(run(program).arg(libraries().join("libpixelferry_capi.so")));
    assert!(said.contains("forks after the library was closed"), "{said}");
}
