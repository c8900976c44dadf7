//! Launches the user's kernels in the queue.

use crate::backend_state::BackendState;
use crate::cl::{self, Buffer, NdRange, Param, ParamSort};
use crate::kernel::{BuiltKernel, OpenClKernel};
use crate::memory::OpenClMemory;
use crate::params::TargetKind;
use crate::sharing::image::OpenClImage;
use interop_core::compute::{Access, NOT_LINEAR};
use interop_core::devices::maker_object::{own, own_mut};
use interop_core::{Arg, BufferView, ComputeMemory, Error, ImageView, Kernel, Result, Target, View};
use std::sync::Arc;

/// Alignment that suffices for every structure that a kernel may keep in a buffer.
const ANY_TYPE_ALIGNMENT: usize = 16;

pub fn launch(shared: &Arc<BackendState>, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
    let kernel = own::<OpenClKernel>(kernel, shared)?;
    let asked = target.items();
    let (memory, view) = target.into_parts();
    if memory.is::<OpenClImage>() {
        return on_image(shared, kernel, memory, &view, args);
    }
    let memory = OpenClMemory::of(memory, shared)?;
    let planned = plan(shared, kernel, memory.buffer(), view, asked, args)?;
    memory.enter(&view.span(), Access::Write)?;
    let _turn = memory.turn()?;
    planned.run(shared, &kernel.built, args)
}

/// Launches a kernel on a target whose layout only the driver knows.
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
            plan(shared, kernel, rows, View::Image(view), None, args)?.run(shared, &kernel.built, args)
        });
    };
    let int = |value: u32| i32::try_from(value).unwrap_or(i32::MAX); // sides of images are far below
    let (y, step) = at.first_row();
    let _turn = image.turn()?;
    let values = vec![
        cl::Arg::Image(&image.image),
        zero_of(zero),
        cl::Arg::from(int(at.region.x)),
        cl::Arg::from(int(y)),
        cl::Arg::from(step),
        cl::Arg::from(int(extent.width)),
        cl::Arg::from(int(extent.height)),
    ];
    let items = [extent.width as usize, extent.height as usize];
    with_args(shared, kernel, values, items, args)?.run(shared, built, args)
}

/// Returns the value of `PF_IMAGE`'s parameter that only carries the type of a pixel, with this many bytes.
fn zero_of(bytes: usize) -> cl::Arg<'static> {
    match bytes {
        1 => cl::Arg::value(&[0u8; 1]),
        2 => cl::Arg::value(&[0u8; 2]),
        4 => cl::Arg::value(&[0u8; 4]),
        8 => cl::Arg::value(&[0u8; 8]),
        _ => cl::Arg::value(&[0u8; 16]),
    }
}

/// A launch with checked values.
pub struct LaunchPlan<'a> {
    pub values: Vec<cl::Arg<'a>>,
    pub items: [usize; 2],
}

impl LaunchPlan<'_> {
    /// Queues the launch after pending uses of the memories among `args`.
    fn run(&self, shared: &Arc<BackendState>, built: &BuiltKernel, args: &[Arg<'_>]) -> Result<()> {
        let mut turns = Vec::new();
        for arg in args {
            let Arg::Memory(memory) = arg else { continue };
            if memory.is::<OpenClImage>() {
                turns.extend(own::<OpenClImage>(*memory, shared)?.turn()?);
            } else {
                let memory = OpenClMemory::of(*memory, shared)?;
                memory.enter(&(0..memory.len()), Access::Read)?;
                turns.extend(memory.turn()?);
            }
        }
        built.run(&self.values, self.items)
    }
}

fn invalid(kernel: &OpenClKernel, problem: &str) -> Error {
    Error::refused(format!("kernel '{}' {problem}", kernel.name()))
}

/// Checks target and arguments against the kernel's declaration; `asked` is the number of work items that the launch
/// requests.
pub fn plan<'a>(
    shared: &Arc<BackendState>,
    kernel: &OpenClKernel,
    buffer: &'a Buffer,
    view: View,
    asked: Option<usize>,
    args: &[Arg<'a>],
) -> Result<LaunchPlan<'a>> {
    let invalid = |problem: String| invalid(kernel, &problem);
    let mut values = vec![cl::Arg::Buffer(buffer)];
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
    mut values: Vec<cl::Arg<'a>>,
    items: [usize; 2],
    args: &[Arg<'a>],
) -> Result<LaunchPlan<'a>> {
    kernel.params.check_args(args).map_err(|problem| invalid(kernel, &problem))?;
    for (arg, param) in args.iter().zip(&kernel.params.user) {
        values.push(match *arg {
            Arg::I32(v) => cl::Arg::from(v),
            Arg::U32(v) => cl::Arg::from(v),
            Arg::F32(v) => cl::Arg::from(v),
            Arg::I64(v) => cl::Arg::from(v),
            Arg::U64(v) => cl::Arg::from(v),
            Arg::F64(v) => cl::Arg::from(v),
            Arg::Memory(memory) => memory_argument(shared, kernel, &param.info, memory)?,
            ref other => {
                return Err(invalid(kernel, &format!("cannot be given an argument of kind {}", other.kind())));
            }
        });
    }
    Ok(LaunchPlan { values, items })
}

/// Returns memory for a pointer, or an imported image for `image2d_t`.
fn memory_argument<'a>(
    shared: &Arc<BackendState>,
    kernel: &OpenClKernel,
    param: &Param,
    memory: &'a dyn ComputeMemory,
) -> Result<cl::Arg<'a>> {
    let (name, declared) = (param.name(), param.type_name());
    match (param.sort() == ParamSort::Image, memory.is::<OpenClImage>()) {
        (false, false) => Ok(cl::Arg::Buffer(OpenClMemory::of(memory, shared)?.buffer())),
        (true, true) if declared == "image2d_t" => Ok(cl::Arg::Image(&own::<OpenClImage>(memory, shared)?.image)),
        (true, _) => Err(invalid(
            kernel,
            &format!(
                "takes an imported texture for '{name}' (declared {declared}, which must be image2d_t); declare a \
                 pointer for linear memory"
            ),
        )),
        (false, true) => Err(invalid(
            kernel,
            &format!("takes '{name}', declared {declared}, but {NOT_LINEAR}, or declare it image2d_t"),
        )),
    }
}

impl BuiltKernel {
    /// Returns the sizes for at least `items` work items; `None` where there is nothing to do: no items, or an empty
    /// buffer view.
    pub fn range(&self, items: [usize; 2]) -> Result<Option<NdRange>> {
        if items[0] == 0 {
            return Ok(None);
        }
        let range = self.groups.work_size(items).map(|size| NdRange::new(size.global).local(size.local));
        range.map(Some).ok_or_else(|| {
            let problem = format!("{} x {} work items are too many", items[0], items[1]);
            Error::refused(problem)
        })
    }

    /// Queues at least `items` work items.
    pub fn run(&self, values: &[cl::Arg<'_>], items: [usize; 2]) -> Result<()> {
        let Some(range) = self.range(items)? else { return Ok(()) };
        let queue = self.shared.queue();
        queue.launch(&self.raw, values, range, &[])?;
        queue.flush()
    }
}

/// Adds the parameters of `PF_IMAGE` after the pointer; offset and pitch are in pixels.
fn push_image(kernel: &OpenClKernel, image: &ImageView, values: &mut Vec<cl::Arg<'_>>) -> Result<(), String> {
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
    values.push(cl::Arg::from((image.offset / bpp) as i64));
    values.push(cl::Arg::from(int("row pitch", pitch as i64)?));
    values.push(cl::Arg::from(int("width", image.extent.width.into())?));
    values.push(cl::Arg::from(int("height", image.extent.height.into())?));
    Ok(())
}

/// Adds the parameters of `PF_BUFFER` after the pointer; both are in bytes.
fn push_buffer(kernel: &OpenClKernel, buffer: &BufferView, values: &mut Vec<cl::Arg<'_>>) -> Result<(), String> {
    let alignment = kernel.params.element_size().unwrap_or(ANY_TYPE_ALIGNMENT);
    if !buffer.offset.is_multiple_of(alignment) {
        return Err(format!(
            "needs an offset that is a multiple of {alignment} bytes for its elements {}, not {}",
            kernel.params.element, buffer.offset
        ));
    }
    values.push(cl::Arg::from(buffer.offset as u64));
    values.push(cl::Arg::from(buffer.len as u64));
    Ok(())
}
