//! Putting the user's kernels into the queue.

use crate::backend_state::BackendState;
use crate::kernel::{BuiltKernel, OpenClKernel};
use crate::memory::OpenClMemory;
use crate::params::{Params, TargetKind};
use crate::sharing::image::OpenClImage;
use crate::work_size::WorkSize;
use interop_core::compute::{Access, NOT_LINEAR};
use interop_core::devices::owned::{own, own_mut};
use interop_core::{Arg, BufferView, ComputeMemory, Error, ImageView, Kernel, Result, Target, View};
use opencl3::error_codes::{CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE};
use pixelferry_opencl::base::{ArgValue, LaunchFailure, Memory, ParamInfo, Sort, sort};
use std::sync::Arc;

/// Alignment that suffices for every structure a kernel may keep in a buffer.
const ANY_TYPE_ALIGNMENT: usize = 16;

pub fn launch(shared: &Arc<BackendState>, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
    let kernel = own::<OpenClKernel>(kernel, shared)?;
    let asked = target.items();
    let (memory, view) = target.into_parts();
    if memory.is::<OpenClImage>() {
        return on_image(shared, kernel, memory, &view, args);
    }
    let memory = OpenClMemory::of(memory, shared)?;
    let planned = plan(shared, kernel, &memory.buffer, view, asked, args)?;
    memory.enter(&view.span(), Access::Write)?;
    planned.run(shared, kernel, &kernel.built, args)
}

/// A target whose order only the driver knows.
fn on_image(
    shared: &Arc<BackendState>,
    kernel: &OpenClKernel,
    memory: &mut dyn ComputeMemory,
    view: &View,
    args: &[Arg<'_>],
) -> Result<()> {
    let image = own_mut::<OpenClImage>(memory, shared)?;
    let (at, view) = (image.place(view)?, view.pixels()?);
    let extent = view.extent;
    let (Some(built), Some(zero)) = (&kernel.image, kernel.params.writes(image.desc().format)) else {
        return image.through_linear(&at, |rows| {
            let view = ImageView::packed(extent, view.format, 1, 0, at.reversed)?;
            plan(shared, kernel, rows, View::Image(view), None, args)?.run(shared, kernel, &kernel.built, args)
        });
    };
    let int = |value: u32| i32::try_from(value).unwrap_or(i32::MAX); // sides of images are far below
    let (y, step) = at.first_row();
    let values = vec![
        ArgValue::Shared(&image.image),
        ArgValue::Bytes(&[0; 16][..zero.min(16)]),
        ArgValue::I32(int(at.region.x)),
        ArgValue::I32(int(y)),
        ArgValue::I32(step),
        ArgValue::I32(int(extent.width)),
        ArgValue::I32(int(extent.height)),
    ];
    let items = [extent.width as usize, extent.height as usize];
    with_args(shared, kernel, values, items, args)?.run(shared, kernel, built, args)
}

/// A launch with its values checked.
pub struct Planned<'a> {
    pub values: Vec<ArgValue<'a>>,
    pub items: [usize; 2],
    /// Number of the target's values.
    pub target_len: usize,
}

impl Planned<'_> {
    /// Queues it, after what still uses the memories among `args`.
    fn run(
        &self,
        shared: &Arc<BackendState>,
        kernel: &OpenClKernel,
        built: &BuiltKernel,
        args: &[Arg<'_>],
    ) -> Result<()> {
        for arg in args {
            if let Arg::Memory(memory) = arg
                && !memory.is::<OpenClImage>()
            {
                OpenClMemory::of(*memory, shared)?.enter(&(0..memory.len()), Access::Read)?;
            }
        }
        let told = |failure| refused(kernel.name(), &kernel.params, self.target_len, failure);
        built.run(&self.values, self.items, told)
    }
}

fn invalid(kernel: &OpenClKernel, problem: &str) -> Error {
    Error::refused(format!("kernel '{}' {problem}", kernel.name()))
}

/// Checks target and arguments against what the kernel declares; `asked` are the work items that the launch says.
pub fn plan<'a>(
    shared: &Arc<BackendState>,
    kernel: &OpenClKernel,
    buffer: &'a Memory,
    view: View,
    asked: Option<usize>,
    args: &[Arg<'a>],
) -> Result<Planned<'a>> {
    let invalid = |problem: String| invalid(kernel, &problem);
    let mut values = vec![ArgValue::Memory(buffer)];
    let items = match (kernel.params.target, view) {
        (TargetKind::Image, View::Image(image)) => {
            push_image(kernel, &image, &mut values).map_err(invalid)?;
            [image.extent.width as usize, image.extent.height as usize]
        }
        (TargetKind::Buffer, View::Buffer(buffer)) => {
            push_buffer(kernel, &buffer, &mut values).map_err(invalid)?;
            [asked.or(kernel.items).unwrap_or(buffer.len.div_ceil(4)), 1]
        }
        (declared, View::Image(_)) => {
            return Err(invalid(format!("declares its target as {}; an image was given", declared.name())));
        }
        (declared, View::Buffer(_)) => {
            return Err(invalid(format!("declares its target as {}; a buffer was given", declared.name())));
        }
    };
    with_args(shared, kernel, values, items, args)
}

/// Adds the user's arguments to those of the target.
fn with_args<'a>(
    shared: &Arc<BackendState>,
    kernel: &OpenClKernel,
    mut values: Vec<ArgValue<'a>>,
    items: [usize; 2],
    args: &[Arg<'a>],
) -> Result<Planned<'a>> {
    let target_len = values.len();
    kernel.params.check_args(args).map_err(|problem| invalid(kernel, &problem))?;
    for (arg, param) in args.iter().zip(&kernel.params.user) {
        values.push(match *arg {
            Arg::I32(v) => ArgValue::I32(v),
            Arg::U32(v) => ArgValue::U32(v),
            Arg::F32(v) => ArgValue::F32(v),
            Arg::I64(v) => ArgValue::I64(v),
            Arg::U64(v) => ArgValue::U64(v),
            Arg::F64(v) => ArgValue::F64(v),
            Arg::Memory(memory) => memory_argument(shared, kernel, &param.info, memory)?,
            ref other => {
                return Err(invalid(kernel, &format!("cannot be given an argument of kind {}", other.kind())));
            }
        });
    }
    Ok(Planned { values, items, target_len })
}

/// Memory for a pointer, or an image that another API has, too, for `image2d_t`.
fn memory_argument<'a>(
    shared: &Arc<BackendState>,
    kernel: &OpenClKernel,
    param: &ParamInfo,
    memory: &'a dyn ComputeMemory,
) -> Result<ArgValue<'a>> {
    let (name, declared) = (&param.name, &param.type_name);
    match (sort(param) == Sort::Image, memory.is::<OpenClImage>()) {
        (false, false) => Ok(ArgValue::Memory(&OpenClMemory::of(memory, shared)?.buffer)),
        (true, true) if declared == "image2d_t" => Ok(ArgValue::Shared(&own::<OpenClImage>(memory, shared)?.image)),
        (true, _) => Err(invalid(
            kernel,
            &format!(
                "takes an imported texture for '{name}', declared {declared}, where that is image2d_t; use it, or a \
                      pointer for linear memory"
            ),
        )),
        (false, true) => Err(invalid(
            kernel,
            &format!("takes '{name}', declared {declared}, but {NOT_LINEAR}, or declare it image2d_t"),
        )),
    }
}

/// Returns the error for a launch that the driver refused.
pub fn refused(name: &str, params: &Params, target_len: usize, failure: LaunchFailure) -> Error {
    let (Some(index), Some(CL_INVALID_ARG_SIZE | CL_INVALID_ARG_VALUE)) = (failure.param, failure.code()) else {
        return failure.error;
    };
    let user = index.checked_sub(target_len).and_then(|i| params.user.get(i));
    let problem = match user {
        Some(p) => format!("cannot be given this value for '{}', declared {}", p.info.name, p.info.type_name),
        None => format!("refused parameter {index} of its target"),
    };
    Error::refused(format!("kernel '{name}' {problem}"))
}

impl BuiltKernel {
    /// Sizes for at least `items` work items; `None` where there is nothing to do: no items asked for, or a buffer view
    /// of no bytes.
    pub fn work_size(&self, items: [usize; 2]) -> Result<Option<WorkSize>> {
        if items[0] == 0 {
            return Ok(None);
        }
        let size = self.groups.work_size(items).map(Some);
        size.ok_or_else(|| {
            let problem = format!("{} x {} work items are more than can be counted", items[0], items[1]);
            Error::refused(problem)
        })
    }

    /// Queues at least `items` work items; `refused` says how the driver's refusal is told.
    pub fn run(
        &self,
        values: &[ArgValue<'_>],
        items: [usize; 2],
        refused: impl FnOnce(LaunchFailure) -> Error,
    ) -> Result<()> {
        let Some(size) = self.work_size(items)? else { return Ok(()) };
        // SAFETY: the callers have checked the values.
        unsafe { self.raw.run(&self.shared.session, values, &size.global, &size.local) }.map_err(refused)
    }
}

/// The parameters of `PF_IMAGE` after the pointer; offset and pitch in pixels.
fn push_image(kernel: &OpenClKernel, image: &ImageView, values: &mut Vec<ArgValue<'_>>) -> Result<(), String> {
    let bpp = image.format.bytes_per_pixel();
    if let Some(size) = kernel.params.element_size().filter(|size| *size != bpp) {
        return Err(format!(
            "writes {}, {size} B each, but a pixel of {} has {bpp} B",
            kernel.params.element, image.format
        ));
    }
    let pitch = image.row_pitch / bpp as isize;
    if !image.offset.is_multiple_of(bpp) || pitch * bpp as isize != image.row_pitch {
        return Err(format!(
            "needs an offset and a row pitch that are multiples of the pixel's {bpp} bytes, not {} and {}",
            image.offset, image.row_pitch
        ));
    }
    let int = |what: &str, value: i64| {
        i32::try_from(value).map_err(|_| format!("cannot address an image with a {what} of {value} pixels"))
    };
    values.push(ArgValue::I64((image.offset / bpp) as i64));
    values.push(ArgValue::I32(int("row pitch", pitch as i64)?));
    values.push(ArgValue::I32(int("width", image.extent.width.into())?));
    values.push(ArgValue::I32(int("height", image.extent.height.into())?));
    Ok(())
}

/// The parameters of `PF_BUFFER` after the pointer; both in bytes.
fn push_buffer(kernel: &OpenClKernel, buffer: &BufferView, values: &mut Vec<ArgValue<'_>>) -> Result<(), String> {
    let alignment = kernel.params.element_size().unwrap_or(ANY_TYPE_ALIGNMENT);
    if !buffer.offset.is_multiple_of(alignment) {
        return Err(format!(
            "needs an offset that is a multiple of {alignment} bytes for its elements {}, not {}",
            kernel.params.element, buffer.offset
        ));
    }
    values.push(ArgValue::U64(buffer.offset as u64));
    values.push(ArgValue::U64(buffer.len as u64));
    Ok(())
}
