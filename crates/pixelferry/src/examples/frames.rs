//! Links and their frames.

/// Carries frames of one surface from a backend to a display, by a path that pixels proved.
///
/// ```
/// use pixelferry::*;
///
/// let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
/// let mut link = Link::open(backend, screen.display(), desc, LinkOptions::default())?;
/// assert!(matches!(link.shown(), Err(Error::NothingShown)));
/// link.frame(|next| next.write(&[10, 20]))?;
/// assert_eq!(link.read_back()?, [10, 20]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Link;

/// Options of [`Link::open`]; the default measures the paths of this machine.
///
/// ```
/// use pixelferry::*;
///
/// let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// let policy = Policy::default().with_force(PathId::HOST_ROUND_TRIP);
/// let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let link = Link::open(backend, screen.display(), desc, LinkOptions::new(policy))?;
/// assert_eq!(link.path(), PathId::HOST_ROUND_TRIP);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::LinkOptions;

/// The frame that kernels or the host write, until it is finished or given up.
///
/// ```
/// use pixelferry::*;
///
/// # let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// # let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
/// # let mut link = Link::open(backend, screen.display(), desc, LinkOptions::default())?;
/// let mut frame = link.acquire()?;
/// frame.write(&[1, 2])?;
/// frame.finish()?;
/// // One that is dropped is given up: the frame before stays on show.
/// let mut half = link.acquire()?;
/// half.write(&[8, 9])?;
/// drop(half);
/// assert_eq!(link.read_back()?, [1, 2]);
/// // A part of the surface; the rest stays.
/// let mut part = link.acquire_region(Region::new(1, 0, 1, 1))?;
/// part.write(&[7])?;
/// part.finish()?;
/// assert_eq!(link.read_back()?, [1, 7]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::WriteFrame;

/// The frame on show, for the display to draw.
///
/// ```
/// use pixelferry::*;
///
/// let display = MemoryDisplay::new();
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let desc = SurfaceDesc::image(1, 1, PixelFormat::Rgba8);
/// let mut link = Link::open(backend, display.clone(), desc, LinkOptions::default())?;
/// link.frame(|next| next.write(&[255, 128, 0, 255]))?;
///
/// let shown = link.shown()?;
/// let mut target = display.create_offscreen_target(2, 2)?;
/// display.draw(shown.surface(), &mut target, Region::new(0, 0, 2, 2), DrawOptions::default())?;
/// assert_eq!(target.read_pixels(), [255, 128, 0, 255].repeat(4));
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::ShownFrame;

/// A link for all threads: it lives on a thread of its own.
///
/// ```
/// use pixelferry::*;
///
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let desc = SurfaceDesc::image(2, 1, PixelFormat::Rgba8);
/// // What other threads are given of a frame; with wgpu a `TextureView`.
/// let give = |display: &MemoryDisplay, surface: &dyn Surface| display.pixels_rgba8(surface);
/// let link = SharedLink::open(backend, || Ok(MemoryDisplay::new()), desc, LinkOptions::default(), give)?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| link.frame(|next| next.write(&[1, 2, 3, 4, 5, 6, 7, 8])));
/// });
/// assert_eq!(link.shown()?.get().data, [1, 2, 3, 4, 5, 6, 7, 8]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::SharedLink;

/// A frame of a [`SharedLink`] on a thread that draws; it stays as it is while it is held.
///
/// ```
/// use pixelferry::*;
///
/// # let backend = open_backend(BackendChoice::Cpu)?;
/// # let desc = SurfaceDesc::image(2, 1, PixelFormat::Rgba8);
/// # let give = |display: &MemoryDisplay, surface: &dyn Surface| display.pixels_rgba8(surface);
/// # let link = SharedLink::open(backend, || Ok(MemoryDisplay::new()), desc, LinkOptions::default(), give)?;
/// link.frame(|next| next.write(&[9; 8]))?;
/// let frame = link.shown()?;
/// assert_eq!((frame.number(), frame.get().width), (1, 2));
/// // Its own thread would wait for itself.
/// assert!(link.frame(|next| next.write(&[8; 8])).is_err());
/// drop(frame);
/// link.frame(|next| next.write(&[8; 8]))?;
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::SharedFrame;

/// A frame of a [`SharedLink`] that nobody waits for yet.
///
/// ```
/// use pixelferry::*;
///
/// # let backend = open_backend(BackendChoice::Cpu)?;
/// # let desc = SurfaceDesc::image(2, 1, PixelFormat::Rgba8);
/// # let give = |display: &MemoryDisplay, surface: &dyn Surface| display.pixels_rgba8(surface);
/// # let link = SharedLink::open(backend, || Ok(MemoryDisplay::new()), desc, LinkOptions::default(), give)?;
/// let started = link.start_frame(|next| next.write(&[5; 8]))?;
/// // The simulation goes on.
/// started.wait()?;
/// assert_eq!(link.shown()?.get().data, [5; 8]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::StartedFrame;

/// What the display rendered, as an argument of kernels: the way back.
///
/// ```
/// use pixelferry::*;
///
/// let display: std::rc::Rc<dyn Display> = MemoryDisplay::new();
/// let backend = open_backend(BackendChoice::Cpu)?;
/// // In OpenGL, `GlDisplay::engine_image` makes a surface of an engine's own texture.
/// let desc = SurfaceDesc::buffer(4);
/// let mut rendered = display.create_surface(&desc)?;
/// let (all, view) = (driver::Part::full(&desc), View::Buffer(BufferView { offset: 0, len: 4 }));
/// rendered.upload(&all, &[1, 2, 3, 4], &view)?;
///
/// let mut scene = Intake::open(backend.clone(), display.clone(), rendered)?;
/// let sum = backend.build(&KernelSource::new("plus_one").cpu_buffer(|out, args| {
///     let scene = args.memory::<u8>(0)?;
///     out.par_items(|i| scene[i] + 1)
/// }))?;
/// let mut link = Link::open(backend, display, desc, LinkOptions::default())?;
/// let input = scene.take()?;
/// link.frame(|next| next.launch(sum.as_ref(), &[input.arg()]))?;
/// assert_eq!(link.read_back()?, [2, 3, 4, 5]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Intake;

/// Frames of kernels into one texture or buffer of an engine's own, whose name never changes.
///
/// ```
/// use pixelferry::*;
///
/// let display: std::rc::Rc<dyn Display> = MemoryDisplay::new();
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let count = KernelSource::new("count").cpu_buffer(|out, _| out.par_items(|i| i as u8));
/// let count = backend.build(&count)?;
/// // In OpenGL, `GlDisplay::engine_image` and `engine_buffer` make surfaces of an engine's own objects.
/// let mine = display.create_surface(&SurfaceDesc::buffer(4))?;
/// let mut vertices = Outlet::open(backend, display, mine)?;
/// vertices.frame(|next| next.launch(count.as_ref(), &[]))?;
/// let all = driver::Part::full(vertices.desc());
/// assert_eq!(vertices.surface().read_back(&all)?, [0, 1, 2, 3]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Outlet;
