//! The Python package pixelferry: shows arrays of NumPy, CuPy, PyTorch, JAX and anything else with `__dlpack__`,
//! `__cuda_array_interface__` or a buffer, by the fastest path that works.
//!
//! This is the extension `pixelferry._pixelferry`; the package around it is in `python`.
//!
//! | to find | look in |
//! |---|---|
//! | what Python calls | `viewer`, `texture`, `buffer`, `gl_source` and `gl_target` (`stage_handle` for the last four),
//! `vulkan`, `array`, `report`, here; `named`: options by name |
//! | arrays from Python | `source` (which protocol), `items` (bytes), `raw` (the `unsafe` code, except where `source`
//! trusts a protocol) |
//! | pixels made of them | the crate `pixelferry-look`; `looks` (its options by name), `content` (its kernel) |
//! | buffers made of them | `kernels/pack.cu` on a GPU, `items` on the CPU, `pack` for both |
//! | pictures for Python | `array` (its protocols), `array_intake` (how it gets there), `raw` (its memory) |
//! | objects of the program | `object` (how they are named), `array_intake` and `array_outlets` (paths from and to them), `write_target`
//! |
//! | a page for browsers, and a widget for notebooks | `server`, `notebook_watcher` |
//! | frames to and from other processes (Linux) | `streams` |
//! | threads | `host` (why they exist), `window` (the event loop; `events`: what the user does), `stage` (what runs
//! there), `here` (textures, on the caller's thread), `job` (how work fails) |
//! | the choice of a backend | `engine`, and `array_kernel`: what it needs of an array |
//! | exceptions | `failure` |

mod array;
mod array_intake;
mod array_kernel;
mod array_outlets;
mod buffer;
mod content;
mod engine;
mod events;
mod failure;
mod feed;
mod gl_source;
mod gl_target;
mod host;
mod items;
mod job;
mod looks;
mod notebook_watcher;
mod object;
mod option_names;
mod pack;
mod raw;
mod recording;
mod report;
mod server;
mod source;
mod stage;
mod stage_handle;
#[cfg(all(feature = "stream", target_os = "linux"))]
mod streams;
mod texture;
mod thread_stages;
mod viewer;
#[cfg(target_os = "linux")]
mod vulkan;
mod window;
mod write_target;

use array::Array;
use buffer::Buffer;
use events::Event;
use failure::{Failure, answer};
use gl_source::GlSource;
use gl_target::GlTarget;
use pixelferry::Audit;
use pixelferry::command::check_picture_file;
use pixelferry_look::{Layout, window_for};
use pixelferry_view::{ArrayView, SMALLEST};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use recording::Recording;
use server::Server;
use std::path::PathBuf;
use texture::Texture;
use viewer::{Viewer, ViewerOptions};

/// Longest side that every display supports.
const MOST_SIDE: i64 = 8192;

/// Returns a window's size for an array, and the array's own; the defaults of a viewer if the array does not tell its
/// shape.
fn window_size(array: &Bound<'_, PyAny>, layout: Layout) -> PyResult<((u32, u32), [i64; 2])> {
    let shape = array.getattr("shape").and_then(|shape| shape.extract::<Vec<i64>>());
    let shape = answer(array.py(), shape)?.unwrap_or_default();
    let size = layout.of(&shape, &shape).map(|axes| axes.size());
    Ok(size.map_or(((1280, 720), [1280, 720]), |size| (window_for(size).into(), size)))
}

/// Shows one array in a window and waits until the window is closed; with block=False, returns the viewer instead. With
/// save="x.png", saves the picture and opens no window.
#[pyfunction]
#[pyo3(signature = (array, title="pixelferry", *, block=true, save=None, layout=None, width=None, height=None,
                    backend=None, range=None, exposure=0.0, gamma=1.0, colormap=None, channel=None, marks=None))]
#[allow(clippy::too_many_arguments)] // keyword arguments in Python
fn show(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    title: &str,
    block: bool,
    save: Option<PathBuf>,
    layout: Option<&str>,
    width: Option<u32>,
    height: Option<u32>,
    backend: Option<&str>,
    range: Option<&Bound<'_, PyAny>>,
    exposure: f32,
    gamma: f32,
    colormap: Option<&str>,
    channel: Option<&Bound<'_, PyAny>>,
    marks: Option<bool>,
) -> PyResult<Option<Viewer>> {
    let request = looks::LookArgs { layout, range, exposure, gamma, colormap, channel, marks }.request()?;
    let (own, sides) = window_size(array, request.layout)?;
    // Plain memory supports longer sides than OpenGL.
    let is_long = save.is_some() && sides.into_iter().max() > Some(MOST_SIDE);
    // Show a still picture closely, unless a backend must make it.
    let is_close = block && save.is_none() && backend.is_none();
    let least = if is_close { SMALLEST } else { [0; 2] };
    let size = (width.unwrap_or(own.0.max(least[0])), height.unwrap_or(own.1.max(least[1])));
    let options = ViewerOptions {
        size,
        title,
        format: "rgba8",
        headless: save.is_some(),
        mode: "latency",
        path: None,
        backend,
        display: if is_long { "memory" } else { "auto" },
        vsync: false,
        keep: ArrayView::MOST_FRAMES,
        audit: Audit::Auto,
    };
    if let Some(file) = &save {
        check_picture_file(file).map_err(Failure::from)?;
    }
    let viewer = Viewer::open(py, &options)?;
    if is_close {
        viewer.look(py, array, "array", request)?;
        viewer.wait(py)?;
        return Ok(None);
    }
    viewer.put(py, array, request)?;
    if let Some(file) = save {
        viewer.save(py, file)?;
        return Ok(None);
    }
    if block {
        viewer.wait(py)?;
        return Ok(None);
    }
    Ok(Some(viewer))
}

/// Shows arrays on the screen. An array on the GPU of the screen gets there without a copy through the host.
#[pymodule]
fn _pixelferry(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Viewer>()?;
    module.add_class::<Server>()?;
    module.add("_WIDGET", pixelferry_media::web::WIDGET)?;
    module.add_class::<Recording>()?;
    module.add_class::<Event>()?;
    module.add_class::<Texture>()?;
    module.add_class::<Buffer>()?;
    module.add_class::<GlSource>()?;
    module.add_class::<GlTarget>()?;
    module.add_class::<Array>()?;
    module.add_function(wrap_pyfunction!(show, module)?)?;
    module.add_function(wrap_pyfunction!(server::serve, module)?)?;
    module.add_function(wrap_pyfunction!(looks::_look_options, module)?)?;
    module.add_function(wrap_pyfunction!(report::probe, module)?)?;
    #[cfg(all(feature = "stream", target_os = "linux"))]
    streams::register(module)?;
    #[cfg(target_os = "linux")]
    vulkan::register(module)?;
    report::register(module)?;
    failure::register(module)?;
    let close_all = wrap_pyfunction!(viewer::_close_all, module)?;
    py.import("atexit")?.call_method("register", (close_all,), None::<&Bound<'_, PyDict>>)?;
    Ok(())
}
