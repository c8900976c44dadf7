//! Small programs of OpenCL and EGL that know nothing of the layer, run with it before PoCL and rusticl. Every test runs in a
//! process of its own.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod calls;
mod changes;
mod lists;
mod model;
mod pixels;
mod refusals;
mod rig;
mod turns;

use pixelferry_testing::{Need, pass_in_child, sharing_layer};

/// Runs `child` with the layer, on each driver that the machine has.
fn on_layer(child: &str) {
    let layer = sharing_layer(true);
    let env: Vec<_> = layer.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for driver in [Need::Pocl, Need::Rusticl] {
        pass_in_child(child, Some(driver), &env, &["ALL DONE"]);
    }
}

/// Tests by name, and the children that they run.
macro_rules! on_layer {
    ($($name:ident => $child:literal;)*) => {
        $(
            #[test]
            fn $name() {
                on_layer($child);
            }
        )*
    };
}

on_layer! {
    textures_of_every_target_go_both_ways => "pixels::child_targets";
    formats_keep_their_bytes => "pixels::child_formats";
    levels_are_shared_one_by_one => "pixels::child_levels";
    buffers_go_both_ways => "pixels::child_buffers";
    renderbuffers_go_both_ways => "pixels::child_renderbuffers";
    what_kernels_only_read_is_not_written => "pixels::child_read_only";
    what_kernels_do_not_write_stays => "pixels::child_write_only";
    deleted_names_keep_their_storage => "changes::child_deleted";
    other_storage_is_noticed => "changes::child_respecified";
    the_programs_own_settings_stay => "changes::child_settings";
    acquire_behind_a_user_event_returns => "turns::child_user_event";
    threads_without_opengl_take_turns => "turns::child_thread";
    fences_are_events => "turns::child_fence";
    contexts_come_and_go => "turns::child_contexts";
    queues_without_order_obey_events => "turns::child_unordered";
    random_turns_are_as_the_model => "model::child_model";
    lists_of_extensions_are_whole => "lists::child_extensions";
    contexts_tell_their_properties => "lists::child_properties";
    functions_are_found_by_name => "lists::child_functions";
    objects_tell_what_they_are => "lists::child_objects";
    what_is_wrong_is_refused => "refusals::child_objects";
    wrong_contexts_are_refused => "refusals::child_contexts";
    wrong_turns_are_refused => "refusals::child_turns";
}
