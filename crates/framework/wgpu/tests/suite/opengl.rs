//! The tests of other modules once more, on wgpu's OpenGL; the paths are run by the workspace's table.

use crate::common::{OPENGL, described, options};
use interop_core::{Display as _, Support};
use pixelferry_testing::{Child, Need, by_level, has, need};
use pixelferry_wgpu::{WgpuDisplay, wgpu};

/// `None` after saying SKIPPED where the driver gives wgpu the OpenGL 3.3 that it asks for and no later one.
fn computes() -> Option<()> {
    let display = need(Need::Egl, WgpuDisplay::headless(options().with_backends(wgpu::Backends::GL)))?;
    let found = match display.caps().in_place_images.clone() {
        Support::No(reason) => Err(reason),
        _ => Ok(()),
    };
    has("storage buffers and compute shaders", described(&display), found)
}

#[test]
fn drawing_and_sharing_are_as_on_vulkan() {
    let Some(()) = computes() else { return };
    let all = ["colour::", "drawing::", "manners::", "polls::", "sharing::"];
    let some =
        ["colour::every_drawing", "drawing::an_engines_pass", "manners::a_level", "polls::", "sharing::a_texture"];
    let child = Child::of_those(by_level(&some, &all, &all)).unwrap();
    println!("{}", child.env(OPENGL, "1").run().unwrap().passed());
}

/// Alone in its process, as it counts what that has.
#[test]
fn frames_and_displays_leave_nothing() {
    let Some(()) = computes() else { return };
    let tests =
        ["opengl_leaks::frames_by_every_path_leave_nothing", "opengl_leaks::a_context_that_is_taken_is_an_error"];
    let child = Child::of_each(&tests).unwrap();
    println!("{}", child.env(OPENGL, "1").run().unwrap().passed());
}
