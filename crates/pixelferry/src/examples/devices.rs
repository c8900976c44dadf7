//! What both sides offer to a path.

/// A context or device that draws.
///
/// ```
/// use pixelferry::driver::Part;
/// use pixelferry::*;
///
/// let display = open_headless(DisplayChoice::Memory)?.display();
/// let mut surface = display.create_surface(&SurfaceDesc::image(2, 2, PixelFormat::R8))?;
/// display.draw_offscreen(surface.as_ref())?;
/// display.finish()?;
/// assert_eq!(surface.read_back(&Part::full(surface.desc()))?, [0; 4], "zero until something is written");
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Display;

/// What a display shows: a texture or a buffer of its API.
///
/// ```
/// use pixelferry::driver::Part;
/// use pixelferry::*;
///
/// let display = MemoryDisplay::new();
/// let mut surface = display.create_surface(&SurfaceDesc::buffer(8))?;
/// let view = View::Buffer(BufferView { offset: 0, len: 3 });
/// surface.upload(&Part::Buffer(4..7), &[1, 2, 3], &view)?;
/// assert_eq!(surface.read_back(&Part::Buffer(4..8))?, [1, 2, 3, 0]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Surface;

/// Memory that the host writes and the display reads.
///
/// ```
/// use pixelferry::driver::{Part, StagingKind};
/// use pixelferry::*;
///
/// let display = MemoryDisplay::new();
/// let mut surface = display.create_surface(&SurfaceDesc::buffer(4))?;
/// let mut staging = display.create_staging(StagingKind::Persistent, 4)?;
/// staging.map_write(&mut |bytes| Ok(bytes.copy_from_slice(&[1, 2, 3, 4])))?;
/// let view = View::Buffer(BufferView { offset: 0, len: 4 });
/// surface.upload_staged(&Part::Buffer(0..4), staging.as_mut(), &view)?;
/// staging.fence()?;
/// staging.wait()?;
/// assert_eq!(surface.read_back(&Part::Buffer(0..4))?, [1, 2, 3, 4]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Staging;

/// How a staging block comes by its memory.
///
/// ```
/// use pixelferry::driver::{HostBlock, StagingKind};
/// use pixelferry::*;
///
/// // Pages that a display and a backend both address: what the one writes, the other reads in place.
/// let pages = HostBlock::allocate(4096)?;
/// let staging = MemoryDisplay::new().create_staging(StagingKind::Imported(pages.clone()), 4096)?;
/// let memory = open_backend(BackendChoice::Cpu)?.import_host(&pages)?;
/// assert_eq!(staging.host_block().map(|block| block.address()), Some(pages.address()));
/// assert_eq!(memory.len(), 4096);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::StagingKind;

/// What a compute device can do for a path.
///
/// ```
/// use pixelferry::driver::{HandleType, MemoryShape};
/// use pixelferry::*;
///
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let caps = backend.caps();
/// assert!(caps.can_import(HandleType::HostPointer, MemoryShape::Linear).is_yes());
/// // What it cannot do it says with the reason that reports show.
/// assert!(matches!(caps.can_import(HandleType::GlObject, MemoryShape::Image), Support::No(_)));
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::ComputeCaps;

/// What a display can do for a path, and its limits.
///
/// ```
/// use pixelferry::*;
///
/// let display = MemoryDisplay::new();
/// let caps = display.caps();
/// assert!(caps.image_formats.contains(&PixelFormat::Rgba32F));
/// assert!(caps.in_place_images.is_yes() && caps.max_image_side >= 16384);
/// assert!(!caps.can_make_semaphore(SyncKind::TimelineSemaphore).is_yes());
/// ```
///
#[doc(inline)]
pub use interop_core::DisplayCaps;

/// One piece of work that a device did, with its times.
///
/// ```
/// use pixelferry::driver::DeviceSpan;
/// use pixelferry::*;
///
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let fill = backend.build(&KernelSource::new("fill").cpu_buffer(|out, _| out.par_items(|_| 7_u32)))?;
/// let mut memory = backend.allocate(64)?;
/// assert!(backend.set_timeline(true)?.is_yes());
/// backend.launch(fill.as_ref(), Target::buffer(memory.as_mut()), &[])?;
/// backend.finish()?;
/// let mut spans: Vec<DeviceSpan> = Vec::new();
/// backend.drain_timeline(&mut |span| spans.push(span))?;
/// assert!(spans.iter().any(|span| span.work.name == "fill" && span.start <= span.end));
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::DeviceSpan;

/// The display's end of a semaphore, which a compute device waits for or signals at its own end.
///
/// ```
/// use pixelferry::driver::{DisplaySemaphore, Staging, StagingKind};
/// use pixelferry::*;
/// use std::{cell::Cell, rc::Rc};
///
/// /// Of a display whose work is done when its calls return: a counter on the host.
/// struct Counter(Rc<Cell<u64>>);
///
/// impl DisplaySemaphore for Counter {
///     fn signal(&mut self, value: u64, _: &mut dyn Staging) -> Result<()> {
///         self.0.set(value);
///         Ok(())
///     }
///     fn wait(&mut self, value: u64, _: &mut dyn Staging) -> Result<()> {
///         let is_over = self.0.get() >= value;
///         if is_over { Ok(()) } else { Err(Error::invalid("Counter::wait", "it would wait forever")) }
///     }
/// }
/// let mut staging = MemoryDisplay::new().create_staging(StagingKind::Persistent, 16)?;
/// let mut semaphore = Counter(Rc::default());
/// semaphore.signal(1, staging.as_mut())?;
/// assert!(semaphore.wait(1, staging.as_mut()).is_ok() && semaphore.wait(2, staging.as_mut()).is_err());
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::DisplaySemaphore;
