//! Every feature of `pixelferry_opencl` on every driver, as a table: PASS, FAIL, or what the driver lacks and the query that
//! shows it. Features run in processes of their own, some in each: a driver that ends the process or never returns is a FAIL of
//! the feature that ran, and the rest goes on in another. What drivers are known to lack are rows of `pixelferry_testing::KNOWN`; any other lack is a
//! FAIL, and so is a pass of a row.
//!
//! PoCL and rusticl are what a machine without a GPU has; with `PIXELFERRY_GPU=1` the devices that the loader finds by
//! default are tested, too.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

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

use interop_core::{Error, Result};
use pixelferry_opencl::{Buffer, Context, Device, Element, Kernel, MemFlags, Program, Queue};

/// A feature: its name in the table, and what shows that it works, in a queue of its own.
type Feature = (&'static str, fn(&Queue) -> Result<()>);

const FEATURES: &[Feature] = &[
    ("device properties", |queue| objects::device_properties(queue.device())),
    ("devices by type", |queue| objects::devices_by_type(queue.device())),
    ("contexts", |queue| objects::contexts(queue.device())),
    ("contexts: properties", |queue| contexts::properties(queue.device())),
    ("contexts: interop user sync", |queue| contexts::interop_user_sync(queue.device())),
    ("contexts: by device type", |queue| contexts::by_type(queue.device())),
    ("contexts: errors told to a callback", |queue| contexts::errors_told(queue.device())),
    ("OpenGL: contexts that share", |queue| contexts::opengl(queue.device())),
    ("OpenGL: objects as arguments", |queue| contexts::opengl_objects(queue.device())),
    ("OpenGL: lists acquired and released", |queue| contexts::opengl_lists(queue.device())),
    ("fission: equally", |queue| objects::fission_equally(queue.device())),
    ("fission: by counts", |queue| objects::fission_by_counts(queue.device())),
    ("fission: by affinity domain", |queue| objects::fission_by_affinity(queue.device())),
    ("queue in order", objects::queue_in_order),
    ("queue out of order", objects::queue_out_of_order),
    ("queue priority hint", objects::queue_priority),
    ("queue throttle hint", objects::queue_throttle),
    ("raw objects: out and in", |queue| raw::out_and_in(queue.device())),
    ("raw objects: parts of devices", |queue| raw::parts_in(queue.device())),
    ("raw objects: made by others", raw::made_by_others),
    ("extension functions", |queue| raw::extension_functions(queue.device())),
    ("events: status and wait", events::status_and_wait),
    ("events: callbacks", events::callbacks),
    ("events: callbacks get the event", |queue| events::callbacks_get_the_event(queue.device())),
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
    ("program: without kernels", |queue| programs::without_kernels(queue.device())),
    ("program: for some of the devices", |queue| programs::some_devices(queue.device())),
    ("program: binaries", programs::binaries),
    ("program: binaries, parameters", types::of_binaries),
    ("program: damaged binary", |queue| programs::damaged_binary(queue.device())),
    ("program: compile and link", programs::compile_and_link),
    ("program: library", programs::library),
    ("program: binary cache", programs::binary_cache),
    ("program: built-in kernels", |queue| programs::built_in(queue.device())),
    ("program: intermediate language", |queue| programs::intermediate_language(queue.device())),
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
    ("buffer: host memory lent", buffers::host_memory_lent),
    ("buffer: host memory by its address", buffers::at_addresses),
    ("buffer: misuse refused", buffers::misuse),
    ("views: slices, turns, copies", views::copies),
    ("views: against a model", views::model),
    ("views: maps", views::maps),
    ("images: formats", images::formats),
    ("images: formats of Rust types", images::formats_of_types),
    ("images: 1D", |queue| images::transfers(queue, images::D1)),
    ("images: 2D", |queue| images::transfers(queue, images::D2)),
    ("images: 3D", |queue| images::transfers(queue, images::D3)),
    ("images: 1D array", |queue| images::transfers(queue, images::D1_ARRAY)),
    ("images: 2D array", |queue| images::transfers(queue, images::D2_ARRAY)),
    ("images: copies by buffer", images::buffers),
    ("images: copies by buffer, 1D array", |queue| images::by_buffer(queue, images::D1_ARRAY)),
    ("images: copies by sub-buffer", images::by_part),
    ("images: 1D from buffer", images::from_buffer),
    ("images: borrowed memory", images::borrowed_memory),
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

/// The kernel `k` of a text.
fn build(queue: &Queue, source: &str) -> Result<Kernel> {
    vouched(queue.context(), source, "")?.kernel("k")
}

/// A buffer with these values.
fn buffer_of<T: Element>(queue: &Queue, values: &[T]) -> Result<Buffer> {
    Buffer::with_data(queue.context(), MemFlags::READ_WRITE, values)
}

/// Returns what a call that is refused before the driver sees it says of the problem.
#[track_caller]
fn problem<T>(result: Result<T>) -> String {
    match result {
        Err(Error::InvalidInput { problem, .. }) => problem,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was accepted"),
    }
}

/// The call is refused in words that contain these.
#[track_caller]
fn refused<T>(result: Result<T>, words: &[&str]) {
    let problem = problem(result);
    assert!(words.iter().all(|word| problem.contains(word)), "{words:?} in: {problem}");
}
