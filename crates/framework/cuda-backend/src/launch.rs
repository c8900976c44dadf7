//! Launches into the device's streams.

use crate::ffi::command::Launch;
use crate::image::CudaImage;
use crate::kernel::{CudaKernel, Entry};
use crate::memory::CudaMemory;
use crate::plan::{Geometry, Params, Planner};
use crate::session::Session;
use interop_core::compute::{Access, NOT_LINEAR};
use interop_core::devices::maker_object::{own, own_mut};
use interop_core::{Arg, ComputeMemory, Error, Result, Target, View};
use std::sync::Arc;

/// Queues `kernel`.
pub fn launch(session: &Arc<Session>, kernel: &CudaKernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
    let items = target.items();
    let (memory, view) = target.into_parts();
    if !memory.is::<CudaImage>() {
        return linear(session, kernel, own::<CudaMemory>(memory, session)?, &view, items, args);
    }
    let image = own_mut::<CudaImage>(memory, session)?;
    let (at, view) = (image.place(&view)?, *view.pixels()?);
    match &kernel.surface {
        Some(entry) => {
            // The prelude's `pf_surface`: the object, then x, y, step and padding as 32-bit numbers.
            let (object, (y, step)) = (image.surface_object()?, at.first_row());
            let words = [object, u64::from(at.region.x) | u64::from(y) << 32, u64::from(step.cast_unsigned())];
            let ready = planned(session, kernel, entry, |planner| planner.surface(words, view.extent, args))?;
            run(ready, session, args)
        }
        None => image.through_linear(&at, |span| {
            let row = view.row_len();
            let rows = at.region.height as usize;
            let (start, pitch) = if at.reversed { ((rows - 1) * row, -(row as i64)) } else { (0, row as i64) };
            let first = span.address() + start as u64;
            let ready = planned(session, kernel, &kernel.linear, |planner| planner.image(first, pitch, &view, args))?;
            run(ready, session, args)
        }),
    }
}

fn linear(
    session: &Arc<Session>,
    kernel: &CudaKernel,
    memory: &CudaMemory,
    view: &View,
    items: Option<usize>,
    args: &[Arg<'_>],
) -> Result<()> {
    let ready = prepare(session, kernel, memory, view, items, args)?;
    let _target = memory.part(&view.span(), Access::Write)?;
    run(ready, session, args)
}

/// Launches in the default stream, after the operations of queues on the arguments.
fn run(ready: Launch, session: &Arc<Session>, args: &[Arg<'_>]) -> Result<()> {
    let mut held = Vec::new();
    for arg in args {
        if let Arg::Memory(memory) = arg {
            let memory = linear_argument(session, *memory)?;
            held.push(memory.part(&(0..memory.len()), Access::Read)?);
        }
    }
    ready.function.launch(ready.geometry, &ready.params).map_err(session.failed())
}

/// Prepares a launch that writes linear memory.
pub fn prepare(
    session: &Arc<Session>,
    kernel: &CudaKernel,
    memory: &CudaMemory,
    view: &View,
    items: Option<usize>,
    args: &[Arg<'_>],
) -> Result<Launch> {
    let address = memory.span()?.address();
    planned(session, kernel, &kernel.linear, |planner| match view {
        View::Image(v) => planner.image(address + v.offset as u64, v.row_pitch as i64, v, args),
        View::Buffer(v) => planner.buffer(address, v, items.or(kernel.items), args),
    })
}

fn planned(
    session: &Arc<Session>,
    kernel: &CudaKernel,
    entry: &Entry,
    plan: impl FnOnce(&Planner<'_>) -> Result<(Geometry, Params)>,
) -> Result<Launch> {
    let address_of = |memory: &dyn ComputeMemory| Ok(linear_argument(session, memory)?.span()?.address());
    let (kernel, params, function) = (&kernel.name, &entry.params, entry.function.clone());
    let planner = Planner { kernel, params, max_threads: function.max_threads(), address_of: &address_of };
    let (geometry, params) = plan(&planner)?;
    Ok(Launch { function, geometry, params })
}

/// Returns a memory argument as linear memory of this backend.
pub fn linear_argument<'m>(session: &Arc<Session>, memory: &'m dyn ComputeMemory) -> Result<&'m CudaMemory> {
    if memory.is::<CudaImage>() {
        return Err(Error::refused(NOT_LINEAR));
    }
    own::<CudaMemory>(memory, session)
}
