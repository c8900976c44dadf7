//! Every feature of `opencl_backend::cl` on every driver, as a table: PASS, FAIL, or what the driver lacks and the query that
//! shows it. Each feature runs in a process of its own, so that a driver that ends the process or never returns is a FAIL of
//! that feature and nothing else.
//!
//! PoCL and rusticl are what a machine without a GPU has; with `PIXELFERRY_GPU=1` the devices that the loader finds by
//! default are tested, too.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod buffers;
mod events;
mod images;
mod kernels;
mod objects;
mod programs;
mod runner;
mod views;

use interop_core::Result;
use opencl_backend::cl::{Context, Device, Queue};

/// A feature: its name in the table, and what shows that it works.
type Feature = (&'static str, fn(&Device) -> Result<()>);

const FEATURES: &[Feature] = &[
    ("device properties", objects::device_properties),
    ("contexts", objects::contexts),
    ("fission: equally", objects::fission_equally),
    ("fission: by counts", objects::fission_by_counts),
    ("fission: by affinity domain", objects::fission_by_affinity),
    ("queue in order", objects::queue_in_order),
    ("queue out of order", objects::queue_out_of_order),
    ("queue priority hint", objects::queue_priority),
    ("queue throttle hint", objects::queue_throttle),
    ("mixing with OpenClBackend", objects::mixing),
    ("events: status and wait", events::status_and_wait),
    ("events: callbacks", events::callbacks),
    ("events: futures", events::futures),
    ("events: profiling", events::profiling),
    ("events: wait lists of other queues", events::wait_lists),
    ("events: marker and barrier", events::marker_and_barrier),
    ("user events", events::user_events),
    ("user events: failure", events::user_event_failure),
    ("user events: dropped", events::user_event_dropped),
    ("program: source, log, status", programs::source),
    ("program: without kernels", programs::without_kernels),
    ("program: binaries", programs::binaries),
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
    ("kernel: one for several threads", kernels::threads),
    ("kernel: group sizes refused", kernels::sizes_refused),
    ("native kernels", kernels::native),
    ("native kernels: panic", kernels::native_panic),
    ("buffer: read and write", buffers::read_and_write),
    ("buffer: pending reads dropped and leaked", buffers::pending_dropped),
    ("buffer: sub-buffers", buffers::sub_buffers),
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
    ("images: formats", images::formats),
    ("images: 1D", images::one_dimension),
    ("images: 2D", images::two_dimensions),
    ("images: 3D", images::three_dimensions),
    ("images: 1D array", images::one_dimension_array),
    ("images: 2D array", images::two_dimension_array),
    ("images: copies by buffer", images::buffers),
    ("images: copies by buffer, 1D array", images::one_dimension_array_by_buffer),
    ("images: 1D from buffer", images::from_buffer),
    ("images: fill", images::fill),
    ("images: map", images::map),
    ("images: kernels and samplers", images::kernels),
];

/// What a driver of this machine is known not to have; anything else that it says it lacks is a FAIL.
const POCL_LACKS: &[&str] = &[
    // Listed where the machine has several NUMA nodes.
    "fission: by affinity domain",
    "queue priority hint",
    "queue throttle hint",
    "program: built-in kernels",
    "program: intermediate language",
];
const RUSTICL_LACKS: &[&str] = &[
    "fission: equally",
    "fission: by counts",
    "fission: by affinity domain",
    "queue out of order",
    "events: profiling",
    "queue priority hint",
    "queue throttle hint",
    "program: built-in kernels",
    "program: intermediate language",
    "native kernels",
    "native kernels: panic",
];

/// An in-order queue in a context of the device.
fn queue(device: &Device) -> Result<Queue> {
    Queue::new(&Context::new(std::slice::from_ref(device))?)
}
