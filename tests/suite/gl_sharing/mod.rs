//! OpenCL and OpenGL share objects by `cl_khr_gl_sharing`, which the layer `clgl-layer` adds to PoCL and rusticl. Every test
//! runs in a process of its own.

mod arguments;
mod objects;
mod pairs;
mod paths;
mod refusals;
mod rig;

use pixelferry_tests::{Level, Need, Xvfb, by_level, from, need, pass_in_child, sharing_layer};

/// Value of `events` for a layer with `cl_khr_gl_sharing` alone; `EVENTS` adds `cl_khr_gl_event`.
const SHARING: bool = false;
const EVENTS: bool = true;

/// Runs `child` with the layer.
fn on_layer(child: &str, events: bool) {
    on_layer_at(child, events, None);
}

fn on_layer_at(child: &str, events: bool, server: Option<&Xvfb>) {
    let layer = sharing_layer(events);
    let mut env: Vec<_> = layer.iter().map(|(name, value)| (*name, value.as_str())).collect();
    env.extend(server.map(|server| ("DISPLAY", server.display())));
    for driver in [Need::Pocl, Need::Rusticl].iter().take(by_level(1, 1, 2)) {
        pass_in_child(&format!("gl_sharing::{child}"), Some(*driver), &env, &["ALL DONE"]);
    }
}

/// Runs `child` with the layer under a virtual X server.
fn on_layer_under_x(child: &str) {
    let Some(server) = need(Need::Xvfb, Xvfb::start(200, 150)) else { return };
    on_layer_at(child, EVENTS, Some(&server));
}

pixelferry_tests::tests! {
    one_call_opens_both_sides => on_layer("pairs::child_pair", SHARING);
    probe_proves_the_direct_path => on_layer("pairs::child_probe", SHARING);
    a_backend_is_opened_for_a_window => on_layer_under_x("pairs::child_window");
    a_backend_is_opened_in_an_engines_context_of_egl => on_layer("pairs::child_engine_egl", EVENTS);
    a_backend_is_opened_in_an_engines_context_of_glx => on_layer_under_x("pairs::child_engine_glx");
    a_backend_holds_the_context_that_it_shares_with => on_layer("pairs::child_held", SHARING);
    the_direct_path_conforms => if from(Level::All) { on_layer("paths::child_conforms", SHARING) };
    the_direct_path_conforms_with_events => if from(Level::All) { on_layer("paths::child_conforms", EVENTS) };
    links_choose_it_and_leak_nothing => on_layer("paths::child_links", EVENTS);
    an_engines_objects_are_read_and_written_where_they_lie => on_layer("paths::child_way_back", SHARING);
    objects_of_every_kind => on_layer("objects::child_every_kind", EVENTS);
    kernels_write_textures_of_every_format => on_layer("objects::child_kernels_write_textures", SHARING);
    the_tutorials_kernel_runs_on_its_own_buffer => on_layer("arguments::child_tutorial", SHARING);
    kernels_take_textures_both_ways => on_layer("arguments::child_textures", EVENTS);
    lists_are_acquired_and_released => on_layer("arguments::child_lists", SHARING);
    fences_of_opengl_are_events => on_layer("arguments::child_fences", EVENTS);
    without_fences_acquire_waits => on_layer("arguments::child_fences", SHARING);
    what_is_out_of_order_is_refused => on_layer("refusals::child_out_of_order", EVENTS);
    what_is_wrong_is_refused => on_layer("refusals::child_wrong", SHARING);
}

/// Without the layer: the driver, which would end the process, is asked nothing.
#[test]
fn devices_without_the_extension_are_refused() {
    pass_in_child("gl_sharing::refusals::child_not_listed", Some(Need::Pocl), &[], &["ALL DONE"]);
}
