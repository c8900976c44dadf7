//! Several contexts on one thread, of which the display finds out by itself which one is current: by EGL, and by GLX under
//! a virtual X server. And contexts of OpenGL ES.

pub mod engine;
mod es;
mod two;

use pixelferry_tests::{Need, Xvfb, need, pass_in_child};

/// Runs a child under EGL alone, then under a virtual X server.
fn by_both(child: &str) {
    pass_in_child(&format!("{child}_egl"), None, &[], &["ALL DONE"]);
    let Some(server) = need(Need::Xvfb, Xvfb::start(64, 64)) else { return };
    pass_in_child(&format!("{child}_glx"), None, &[("DISPLAY", server.display())], &["ALL DONE"]);
}

#[test]
fn two_contexts_on_one_thread() {
    by_both("contexts::two::child");
}

#[test]
fn a_context_of_egl_and_one_of_glx() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(64, 64)) else { return };
    pass_in_child("contexts::two::child_of_either", None, &[("DISPLAY", server.display())], &["ALL DONE"]);
}
