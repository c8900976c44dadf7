//! Draws by the core's compute shaders, into an image directly or into an auxiliary image that is then copied.

use crate::context::device_state::DeviceState;
use crate::launch::deferred_drop::DeferredDrop;
use crate::launch::layout::{LaunchInput, LaunchTarget, ReadKind, STORED, Shape, Work};
use crate::launch::layouts::Layouts;
use crate::launch::pipeline::Pipeline;
use crate::launch::views::ImageView;
use crate::queue::commands::{self, CopyImage, READ, WRITTEN};
use crate::sharing::vk_format;
use crate::staging::memory::{Image, whole_words};
use crate::staging::queue_image::QueueImage;
use crate::staging::transfer::rows;
use crate::surface::surface_content::SurfaceContent;
use ash::vk;
use interop_core::describe::PlainMutex;
use interop_core::draw::wgsl::{self, DrawParams, GROUP, Places, Steps, Storage};
use interop_core::draw::{Obstacle, Plan};
use interop_core::{Extent, ImageDesc, PixelFormat, Region, Result};
use std::sync::{Arc, OnceLock};
use wgsl_kernel::shader::Writes;
use wgsl_kernel::{storage_name, trusted_spirv};

/// The bindings in the shader's text for the objects of [`Shape`].
const PLACES: Places =
    Places { params: "var<immediate>", image: "@group(1) @binding(0)", canvas: "@group(0) @binding(0)" };

/// Upper bound of the alignment of a storage buffer's first byte (`minStorageBufferOffsetAlignment`, Vulkan 1.0,
/// required limits).
const ALIGNED: u64 = 256;

/// All properties that distinguish pipelines.
type Key = (Steps, Storage);

/// A pipeline, or the reason why it could not be built.
type PipelineResult = Result<Arc<Pipeline>, String>;

/// Pipelines, built at first use.
pub(crate) struct Painter {
    layouts: Layouts,
    limits: vk::PhysicalDeviceLimits,
    pipelines: PlainMutex<Vec<(Key, PipelineResult)>>,
    /// An auxiliary image for targets without stores, as large as the last draw needed.
    beside: PlainMutex<Option<Beside>>,
}

/// An auxiliary image beside a target.
#[derive(Clone)]
struct Beside {
    /// Dropped before the image.
    view: Arc<DeferredDrop<ImageView>>,
    image: Arc<Image>,
}

/// A target's view for stores, created at first use.
#[derive(Default)]
pub(crate) struct OwnView(OnceLock<DeferredDrop<ImageView>>);

/// Target of a draw: an image that can be copied to, its usage, and the region of it that is the viewport.
pub(crate) struct Canvas<'a> {
    pub place: CopyImage,
    pub desc: ImageDesc,
    pub usage: vk::ImageUsageFlags,
    pub region: Region,
    /// The engine keeps the image while its owner lives.
    pub alive: &'a Arc<()>,
    pub view: &'a OwnView,
}

/// Source of a draw.
enum Source {
    Image(CopyImage),
    /// The bound bytes of a buffer; the first pixel in them, and the row pitch in bytes.
    Rows(LaunchInput, u32, u32),
}

/// A draw whose prerequisites were checked.
pub(crate) struct Ready {
    pipeline: Arc<Pipeline>,
    source: Source,
    image: Extent,
    /// The target, if shaders can store to it directly.
    own: Option<QueueImage>,
}

impl Ready {
    /// Returns true where the stores go to the target itself.
    pub(crate) fn is_straight(&self) -> bool {
        self.own.is_some()
    }
}

impl Painter {
    pub(crate) fn new(shared: &Arc<DeviceState>) -> Self {
        let (layouts, limits) = (Layouts::new(shared), shared.sharing.limits());
        Self { layouts, limits, pipelines: PlainMutex::default(), beside: PlainMutex::default() }
    }

    fn shared(&self) -> &Arc<DeviceState> {
        self.layouts.shared()
    }

    /// Checks whether a compute shader can do this draw. `shown` differs from the target, and may be sampled.
    pub(crate) fn ready(&self, canvas: &Canvas<'_>, plan: &Plan, shown: SurfaceContent) -> Result<Ready, Obstacle> {
        let shared = self.shared();
        let format = canvas.desc.format;
        if shared.stores.view(format).is_none() {
            return Err(Obstacle::Format(format!("{:?} in this queue", canvas.place.format)));
        }
        let limits = &self.limits;
        let [wide, high, _] = limits.max_compute_work_group_size;
        if limits.max_compute_work_group_invocations < GROUP.0 * GROUP.1 || wide < GROUP.0 || high < GROUP.1 {
            return Err(Obstacle::NoShader(format!("groups have fewer than {} work items", GROUP.0 * GROUP.1).into()));
        }
        let own = QueueImage::of_engine(shared, (canvas.place, canvas.alive), canvas.desc, canvas.usage);
        if own.is_none() && plan.blends && !canvas.usage.contains(vk::ImageUsageFlags::TRANSFER_SRC) {
            return Err(Obstacle::Texture("blending reads the target, whose usage lacks TRANSFER_SRC"));
        }
        let no_source = |reason: String| Obstacle::NoShader(reason.into());
        let (source, image, memory) = match shown {
            SurfaceContent::Image(place, desc) if place.format == vk_format(desc.format) => {
                (Source::Image(place), desc.extent, None)
            }
            SurfaceContent::Image(place, _) => {
                return Err(no_source(format!(
                    "the surface's image is {:?}, which decodes when it is read",
                    place.format
                )));
            }
            SurfaceContent::Rows(buffer, view) => {
                rows(buffer, &view).map_err(|error| no_source(error.to_string()))?;
                let span = view.span();
                let start = span.start as u64 / ALIGNED * ALIGNED;
                let bound = start..whole_words(span.end as u64);
                let bytes = bound.end - bound.start;
                if bytes > u64::from(limits.max_storage_buffer_range) {
                    let most = limits.max_storage_buffer_range;
                    return Err(no_source(format!("the rows have {bytes} bytes, and shaders can read at most {most}")));
                }
                // Both lie inside the bound bytes, which 32 bits can count.
                let (base, pitch) = ((view.offset as u64 - start) as u32, view.pitch() as u32);
                (Source::Rows(LaunchInput::Memory(buffer, bound), base, pitch), view.extent, Some(view.format))
            }
            SurfaceContent::Bytes(..) => return Err(no_source("a buffer has no pixels".into())),
        };
        let storage = Storage {
            name: storage_name(format),
            fixed: !format.channel_kind().is_float(),
            blue_first: format == PixelFormat::Bgra8,
            blends: plan.blends,
            encodes: plan.format_encodes,
        };
        let pipeline = self.pipeline((Steps::new(plan, memory), storage)).map_err(Obstacle::Refused)?;
        Ok(Ready { pipeline, source, image, own })
    }

    fn pipeline(&self, key: Key) -> PipelineResult {
        if let Some((_, made)) = self.pipelines.lock().iter().find(|(other, _)| *other == key) {
            return made.clone();
        }
        let made = self.build(key).map(Arc::new);
        self.pipelines.lock().push((key, made.clone()));
        made
    }

    fn build(&self, (steps, storage): Key) -> Result<Pipeline, String> {
        const ENTRY: &str = "store";
        let constants = [steps.constants(), storage.constants()].concat();
        let words = trusted_spirv(&wgsl::store(&PLACES, steps, storage), ENTRY, &constants);
        let words = words.map_err(|error| error.to_string())?;
        let reads = if steps.memory.is_some() { ReadKind::Memories(1) } else { ReadKind::Image };
        let shape = Shape { writes: Writes::Texture, reads, pushed: Some(DrawParams::BYTES) };
        let layout = self.layouts.get(shape).map_err(|error| error.to_string())?;
        // SAFETY: naga wrote the words, which bind what the shape says, as `PLACES` does.
        unsafe { Pipeline::build(&layout, &words, ENTRY) }.map_err(|error| error.to_string())
    }

    /// Queues a draw in one submission.
    ///
    /// # Safety
    /// The target is as the engine promised, and may be copied to. The surface's content lives until the submission has
    /// completed.
    pub(crate) unsafe fn draw(&self, canvas: &Canvas<'_>, plan: &Plan, ready: Ready) -> Result<()> {
        let (shared, Ready { pipeline, source, image, own }) = (self.shared(), ready);
        let (drawn, region) = (plan.drawn, canvas.region);
        // Position of the viewport in the image that is stored to.
        let at = match &own {
            Some(_) => (region.x as i32, region.y as i32),
            None => (-(drawn.x as i32), -(drawn.y as i32)),
        };
        let params = DrawParams::new(plan, image.full(), at);
        let (params, read, sampled, place) = match source {
            Source::Rows(read, base, pitch) => (params.in_memory(base, pitch), read, None, None),
            Source::Image(place) => {
                let view = ImageView::sampled(shared, place)?;
                (params, LaunchInput::Image(view.raw), Some(view), Some((place, READ)))
            }
        };
        let (numbers, reads) = (params.to_bytes(), [read]);
        let groups = [drawn.width.div_ceil(GROUP.0), drawn.height.div_ceil(GROUP.1)];
        let work = |view: &ImageView| Work {
            target: LaunchTarget::Texture(view.raw, view.number),
            reads: &reads,
            groups,
            numbers: &numbers,
        };
        let images = |other| [(canvas.place, other)].into_iter().chain(place).collect::<Vec<_>>();
        // SAFETY: texels are read inside the region, which is the whole image, and rows inside the bound bytes; work
        // items outside the drawn region end before they store. The views are retired below, or with their images. The
        // caller vouches for the rest.
        let number = unsafe {
            match own {
                Some(target) => {
                    let view = canvas.view.get(shared, &target)?;
                    pipeline.launch_with(&work(view), &images(STORED), |_, _, launch| launch())
                }
                None => {
                    let beside = self.beside(canvas.desc.format, drawn.extent())?;
                    let to = Region { x: region.x + drawn.x, y: region.y + drawn.y, ..drawn };
                    let targets = images(WRITTEN);
                    pipeline.launch_with(&work(&beside.view), &targets, |device, commands, launch| {
                        beside.around(device, commands, (canvas.place.image, to), plan.blends, launch);
                    })
                }
            }
        }?;
        if let Some(view) = sampled {
            shared.submissions.retire_at(number, Box::new(view));
        }
        Ok(())
    }

    /// Returns an image that kernels store to, of at least this size.
    fn beside(&self, format: PixelFormat, wanted: Extent) -> Result<Beside> {
        let mut kept = self.beside.lock();
        let fits = |beside: &&Beside| {
            let ImageDesc { extent, format: has, .. } = *beside.image.desc();
            // Frees the memory that was needed for a much larger target.
            let small = extent.pixels() <= 2 * wanted.pixels();
            has == format && extent.width >= wanted.width && extent.height >= wanted.height && small
        };
        if let Some(beside) = kept.as_ref().filter(fits) {
            return Ok(beside.clone());
        }
        *kept = None;
        let shared = self.shared();
        let image = Arc::new(Image::zeroed(shared, &ImageDesc::new(wanted.width, wanted.height, format))?);
        let stores = || shared.unsupported(format!("kernels cannot store to {format}"));
        let view = ImageView::storing(shared, &QueueImage::of(shared, &image).ok_or_else(stores)?)?;
        Ok(kept.insert(Beside { view: Arc::new(DeferredDrop::new(shared, view)), image }).clone())
    }
}

impl OwnView {
    fn get(&self, shared: &Arc<DeviceState>, target: &QueueImage) -> Result<&ImageView> {
        if let Some(made) = self.0.get() {
            return Ok(made);
        }
        let made = DeferredDrop::new(shared, ImageView::storing(shared, target)?);
        Ok(self.0.get_or_init(|| made))
    }
}

impl Beside {
    /// Records a launch that stores to this image, and the copy into a region of the target; if the draw blends, also
    /// the copy from the target before it.
    ///
    /// # Safety
    /// `commands` is being recorded outside a render pass. The target belongs to this device, has the layout
    /// `TRANSFER_DST_OPTIMAL` and the format of this image or one of its bits, and may be copied from if the draw
    /// blends; the region lies in both.
    unsafe fn around(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        (target, region): (vk::Image, Region),
        blends: bool,
        launch: &dyn Fn(),
    ) {
        let (place, here) = (self.image.place(), region.extent().full());
        let stored = CopyImage { layout: STORED, ..place };
        // SAFETY: the caller's promise; this image belongs to the device and is retired when it is dropped.
        unsafe {
            if blends {
                let before = CopyImage { image: target, layout: WRITTEN, ..place };
                commands::change(device, commands, place.image, (place.layout, WRITTEN));
                commands::copy(device, commands, (before, region), (place.image, here));
                commands::change(device, commands, place.image, (WRITTEN, STORED));
            } else {
                commands::change(device, commands, place.image, (place.layout, STORED));
            }
            launch();
            commands::copy(device, commands, (stored, here), (target, region));
            commands::change(device, commands, place.image, (STORED, place.layout));
        }
    }
}
