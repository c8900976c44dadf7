//! Every feature of `opencl_backend::cl` on every driver, as a table: PASS, FAIL, or what the driver lacks and the query that
//! shows it. Features run in processes of their own, some in each: a driver that ends the process or never returns is a FAIL of
//! the feature that ran, and the rest goes on in another. What drivers are known to lack are rows of `pixelferry_testing::KNOWN`; any other lack is a
//! FAIL, and so is a pass of a row.
//!
//! PoCL and rusticl are what a machine without a GPU has; with `PIXELFERRY_GPU=1` the devices that the loader finds by
//! default are tested, too.

mod bound;
mod buffers;
mod contexts;
mod events;
mod images;
mod kernels;
mod objects;
mod programs;
mod raw;
mod runner;
mod types;
mod views;

use interop_core::Result;
use opencl_backend::cl::{Context, Device, Program, Queue};

/// A feature: its name in the table, and what shows that it works.
type Feature = (&'static str, fn(&Device) -> Result<()>);

const FEATURES: &[Feature] = &[
    ("device properties", objects::device_properties),
    ("devices by type", objects::devices_by_type),
    ("contexts", objects::contexts),
    ("contexts: properties", contexts::properties),
    ("contexts: interop user sync", contexts::interop_user_sync),
    ("contexts: by device type", contexts::by_type),
    ("contexts: errors told to a callback", contexts::errors_told),
    ("OpenGL: contexts that share", contexts::opengl),
    ("OpenGL: objects as arguments", contexts::opengl_objects),
    ("OpenGL: lists acquired and released", contexts::opengl_lists),
    ("fission: equally", objects::fission_equally),
    ("fission: by counts", objects::fission_by_counts),
    ("fission: by affinity domain", objects::fission_by_affinity),
    ("fission: parts as backends", objects::fission_backends),
    ("queue in order", objects::queue_in_order),
    ("queue out of order", objects::queue_out_of_order),
    ("queue priority hint", objects::queue_priority),
    ("queue throttle hint", objects::queue_throttle),
    ("mixing with OpenClBackend", objects::mixing),
    ("raw objects: out and in", raw::out_and_in),
    ("raw objects: parts of devices", raw::parts_in),
    ("raw objects: made by others", raw::made_by_others),
    ("extension functions", raw::extension_functions),
    ("events: status and wait", events::status_and_wait),
    ("events: callbacks", events::callbacks),
    ("events: callbacks get the event", events::callbacks_get_the_event),
    ("events: callbacks of failed commands", events::callbacks_of_failed_commands),
    ("events: futures", events::futures),
    ("events: profiling", events::profiling),
    ("events: wait lists of other queues", events::wait_lists),
    ("events: marker and barrier", events::marker_and_barrier),
    ("user events", events::user_events),
    ("user events: failure", events::user_event_failure),
    ("user events: failure of what nobody holds", events::user_event_failure_unheld),
    ("user events: dropped", events::user_event_dropped),
    ("program: source, log, status", programs::source),
    ("program: without kernels", programs::without_kernels),
    ("program: for some of the devices", programs::some_devices),
    ("program: binaries", programs::binaries),
    ("program: binaries, parameters", types::of_binaries),
    ("program: damaged binary", programs::damaged_binary),
    ("program: compile and link", programs::compile_and_link),
    ("program: library", programs::library),
    ("program: binary cache", programs::binary_cache),
    ("program: built-in kernels", programs::built_in),
    ("program: intermediate language", programs::intermediate_language),
    ("kernel: parameters", kernels::parameters),
    ("kernel: arguments checked", kernels::arguments_checked),
    ("kernel: work-group information", kernels::work_group_info),
    ("kernel: 1 to 3 dimensions, offset", kernels::dimensions),
    ("kernel: local memory", kernels::local_memory),
    ("kernel: scalars, vectors, structures", kernels::values),
    ("kernel: types of the program's own", types::own),
    ("kernel: types of linked objects", types::linked),
    ("kernel: samplers and images under other names", types::disguised),
    ("kernel: one for several threads", kernels::threads),
    ("kernel: arguments kept", bound::kept),
    ("kernel: kept arguments of every kind", bound::every_kind),
    ("kernel: lifetimes of kept arguments", bound::lifetimes),
    ("kernel: group sizes refused", kernels::sizes_refused),
    ("native kernels", kernels::native),
    ("native kernels: panic", kernels::native_panic),
    ("buffer: read and write", buffers::read_and_write),
    ("buffer: pending reads dropped and leaked", buffers::pending_dropped),
    ("buffer: sub-buffers", buffers::sub_buffers),
    ("buffer: sub-buffers, boxes", buffers::boxes_of_parts),
    ("buffer: sub-buffers, views", views::of_parts),
    ("buffer: destructor callbacks", buffers::destructor_callbacks),
    ("buffer: maps", buffers::maps),
    ("buffer: mapped bytes guarded", buffers::maps_guarded),
    ("buffer: maps wait for other queues", buffers::maps_wait),
    ("buffer: boxes", buffers::boxes),
    ("buffer: fill and copy", buffers::fill_and_copy),
    ("buffer: migrate", buffers::migrate),
    ("buffer: host memory in place", buffers::host_memory),
    ("buffer: misuse refused", buffers::misuse),
    ("views: slices, turns, copies", views::copies),
    ("views: against a model", views::model),
    ("views: maps", views::maps),
    ("images: formats", images::formats),
    ("images: formats of Rust types", images::formats_of_types),
    ("images: 1D", images::one_dimension),
    ("images: 2D", images::two_dimensions),
    ("images: 3D", images::three_dimensions),
    ("images: 1D array", images::one_dimension_array),
    ("images: 2D array", images::two_dimension_array),
    ("images: copies by buffer", images::buffers),
    ("images: copies by buffer, 1D array", images::one_dimension_array_by_buffer),
    ("images: copies by sub-buffer", images::by_part),
    ("images: 1D from buffer", images::from_buffer),
    ("images: fill", images::fill),
    ("images: map", images::map),
    ("images: kernels and samplers", images::kernels),
];

/// A program of the suite's own.
fn vouched(context: &Context, source: &str, options: &str) -> Result<Program> {
    // SAFETY: each test launches its kernels with memory of the lengths, and as many work items, as their texts need.
    unsafe { Program::build(context, source, options) }
}

/// An in-order queue in a context of the device.
fn queue(device: &Device) -> Result<Queue> {
    Queue::new(&Context::new(std::slice::from_ref(device))?)
}
