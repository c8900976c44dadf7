//! What kernels run on, what they write, and queues of their own.

/// A kernel that a backend has built; launch it as often as you like.
///
/// ```
/// use pixelferry::*;
///
/// let source = KernelSource::new("ramp").cpu_image(|out, _| out.par_pixels(|x, _| x as u8));
/// let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[source.clone()])?;
/// let ramp = backend.build(&source)?;
/// let desc = SurfaceDesc::image(4, 1, PixelFormat::R8);
/// let mut link = Link::open(backend, screen.display(), desc, LinkOptions::default())?;
/// link.frame(|next| next.launch(ramp.as_ref(), &[]))?;
/// assert_eq!((ramp.name(), link.read_back()?), ("ramp", vec![0, 1, 2, 3]));
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Kernel;

/// Memory that a kernel writes, and the part of it: a frame's, or the program's own.
///
/// ```
/// use pixelferry::*;
///
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let source = KernelSource::new("squares").cpu_buffer(|out, _| out.par_items(|i| (i * i) as u32));
/// let squares = backend.build(&source)?;
/// let mut memory = backend.allocate(16)?;
/// backend.launch(squares.as_ref(), Target::buffer(memory.as_mut()), &[])?;
/// let mut bytes = [0; 16];
/// memory.read(0, &mut bytes)?;
/// assert_eq!(bytes.as_chunks().0.iter().map(|b| u32::from_ne_bytes(*b)).collect::<Vec<_>>(), [0, 1, 4, 9]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Target;

/// A compute device driven by one API: it builds kernels, allocates memory and launches.
///
/// ```
/// use pixelferry::*;
///
/// let backend = open_backend(BackendChoice::Cpu)?;
/// assert_eq!(backend.device().api, Api::Cpu);
/// assert_eq!(backend.caps().languages, [Language::Rust]);
/// // A kernel in another language is refused with what is missing.
/// let refused = backend.build(&KernelSource::new("shader").wgsl("@compute fn shader() {}"));
/// assert!(matches!(refused.err(), Some(Error::Unsupported { .. })));
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::ComputeBackend;

/// Memory of a backend that its kernels read and write.
///
/// ```
/// use pixelferry::*;
///
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let mut memory = backend.allocate(8)?;
/// memory.write(0, &[0; 8])?;
/// memory.map_write(2..4, &mut |bytes| Ok(bytes.fill(7)))?;
/// let mut bytes = [0; 8];
/// memory.read(0, &mut bytes)?;
/// assert_eq!(bytes, [0, 0, 7, 7, 0, 0, 0, 0]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::ComputeMemory;

/// A queue beside the backend's own, whose calls return before the work is done.
///
/// ```
/// use pixelferry::*;
///
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let queue = backend.queue(QueueOptions::in_order())?;
/// let (mut from, mut to) = (backend.allocate(4)?, backend.allocate(4)?);
/// queue.fill(from.as_mut(), 0..4, &[5], &[])?;
/// let copied = queue.copy(from.as_ref(), 0..4, to.as_mut(), 0, &[])?;
/// copied.wait()?;
/// assert_eq!(copied.status(), EventStatus::Complete);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::ComputeQueue;

/// The bytes that a queue reads, once they are there.
///
/// ```
/// use pixelferry::*;
///
/// let backend = open_backend(BackendChoice::Cpu)?;
/// let queue = backend.queue(QueueOptions::out_of_order())?;
/// let mut memory = backend.allocate(4)?;
/// queue.write(memory.as_mut(), 0, vec![1, 2, 3, 4].into(), &[])?;
/// // The memory orders the two, although the queue does not.
/// let read = queue.read(memory.as_ref(), 1..3, &[])?;
/// assert_eq!(read.wait()?.into_vec(), [2, 3]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::ReadBack;

/// Where kernels of your own write a frame, by the names of the compute API: [`WriteFrame::raw`](crate::WriteFrame::raw).
///
/// ```
/// use pixelferry::*;
///
/// let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// let desc = SurfaceDesc::image(3, 2, PixelFormat::R8);
/// let mut link = Link::open(backend, screen.display(), desc, LinkOptions::default())?;
/// link.frame(|next| {
///     // SAFETY: only pixels of the view are written, and at once.
///     let raw = unsafe { next.raw() }?;
///     let (RawMemory::Host { address }, View::Image(view)) = (raw.memory(), raw.view()) else { return Ok(()) };
///     for (x, y) in (0..2).flat_map(|y| (0..3).map(move |x| (x, y))) {
///         // SAFETY: inside the view.
///         unsafe { address.add(view.row_start(y) + x).write(10 * y as u8 + x as u8) };
///     }
///     Ok(())
/// })?;
/// assert_eq!(link.read_back()?, [0, 1, 2, 10, 11, 12]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::RawTarget;
