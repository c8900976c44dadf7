//! OpenCL and OpenGL share objects by `cl_khr_gl_sharing`: **on a double of the extension** (see `tests/gl_double`), since
//! no driver of this machine has it. Every test runs in a process of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod objects;
mod paths;
mod refusals;
mod rig;

use pixelferry_tests::{Driver, in_child};
use rig::{Announced, double};

/// Runs `child` where the double is in place; `ran` is what it prints at its end.
fn on_double(child: &str, announced: Announced) {
    let layer = double();
    let env = [("OPENCL_LAYERS", layer.as_str()), ("PIXELFERRY_GL_DOUBLE", announced.text())];
    let child = in_child(child, Some(Driver::Pocl), &env).unwrap();
    println!("{}", child.output);
    if !child.found(Driver::Pocl) || child.output.contains("SKIPPED: no egl") {
        return;
    }
    assert!(child.output.contains("GL DOUBLE is in place"), "the loader did not take the layer");
    assert!(child.success && child.output.contains("ALL DONE"), "it failed, or the process ended early");
}

#[test]
fn the_direct_path_conforms() {
    on_double("paths::child_conforms", Announced::Sharing);
}

#[test]
fn the_direct_path_conforms_with_events() {
    on_double("paths::child_conforms", Announced::Events);
}

#[test]
fn links_choose_it_and_leak_nothing() {
    on_double("paths::child_links", Announced::Events);
}

#[test]
fn objects_of_every_kind() {
    on_double("objects::child_every_kind", Announced::Events);
}

#[test]
fn kernels_write_textures_of_every_format() {
    on_double("objects::child_kernels_write_textures", Announced::Sharing);
}

#[test]
fn what_is_out_of_order_is_refused() {
    on_double("refusals::child_out_of_order", Announced::Events);
}

#[test]
fn what_is_wrong_is_refused() {
    on_double("refusals::child_wrong", Announced::Sharing);
}

/// Without the double: the driver, which would end the process, is asked nothing.
#[test]
fn devices_without_the_extension_are_refused() {
    let child = in_child("refusals::child_not_listed", Some(Driver::Pocl), &[]).unwrap();
    println!("{}", child.output);
    assert!(child.success, "the process failed or ended early");
}
