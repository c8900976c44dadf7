//! The side that shows: what a display must offer.

use crate::capability::{DisplayCaps, HandleType, Support, SyncKind};
use crate::device::DeviceIdentity;
use crate::error::{Error, Result};
use crate::geometry::Region;
use crate::gl_context::GlContext;
use crate::host_block::HostBlock;
use crate::shared_handle::SharedHandle;
use crate::surface::{ImageDesc, SurfaceDesc};
use crate::timeline::DeviceSpan;
use crate::view::View;
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How a staging block comes by its memory.
#[derive(Debug)]
#[non_exhaustive]
pub enum StagingKind {
    /// Mapped for each frame; the driver may give new memory each time (orphaning).
    Orphaned,
    /// Mapped once, coherent; a fence guards each use.
    Persistent,
    /// Host memory that the display takes in place (`GL_AMD_pinned_memory`, `VK_EXT_external_memory_host`).
    Imported(HostBlock),
    /// Memory of the compute device, opened by its handle. The host cannot address it.
    External(SharedHandle),
    /// Memory of the display's device, which [`Staging::export`] names for others. The host cannot address it.
    Exported,
    /// An image of the compute device, opened by its handle as a texture. Read in place only.
    ExternalImage(SharedHandle, ImageDesc),
    /// An image of the display's, which [`Staging::export`] names for others. Read in place only.
    ExportedImage(ImageDesc),
}

/// A display: a context or device that draws.
///
/// Threads: a display and all that it made stay on one thread; none of these types are `Send`. Every call checks that
/// the display can be reached from here and returns [`crate::Error::WrongContext`] where it cannot.
pub trait Display: Any {
    /// Who draws.
    fn device(&self) -> &DeviceIdentity;

    /// What memory it can give and take, and its limits.
    fn caps(&self) -> &DisplayCaps;

    /// Makes a surface with storage of its own: a texture or a buffer. The content is zero.
    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Box<dyn Surface>>;

    /// Makes a surface without storage that shows staging blocks in place (see [`Surface::read_in_place`]).
    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Box<dyn Surface>>;

    /// Holds the OpenGL context that the display draws in, for a compute device that shares with it
    /// ([`crate::ComputeBackend::open_in`]).
    ///
    /// # Errors
    /// [`Error::Unsupported`] where it draws in none, or in one that nobody can name.
    fn hold_gl(&self) -> Result<Arc<dyn GlContext>> {
        let reason = "it draws in no OpenGL context that others could share with".into();
        Err(Error::Unsupported { operation: "hold_gl", device: self.device().to_string(), reason })
    }

    /// Drops `object` while the display's context is current: now, or at a later call where it is not current now.
    /// For compute-side registrations of the display's objects.
    fn drop_in_context(&self, object: Box<dyn Any>) {
        drop(object);
    }

    /// Makes a block of memory that the host can write and the display can read.
    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Box<dyn Staging>>;

    /// Makes a semaphore, and a handle by which a compute device can open it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`DisplayCaps::semaphores`] does not list the kind.
    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn DisplaySemaphore>, SharedHandle)> {
        let reason = format!("it makes no {kind}");
        Err(Error::Unsupported { operation: "create_semaphore", device: self.device().to_string(), reason })
    }

    /// Draws a surface as a viewer would see it, at its own size, to where nobody looks; a buffer is read through once.
    /// Does not wait. For measurements.
    fn draw_unseen(&self, surface: &dyn Surface) -> Result<()>;

    /// Waits until everything that was drawn so far is done.
    fn finish(&self) -> Result<()>;

    /// Switches on or off the recording of what the display's device does and when; off at first, and free then. Says
    /// why where the device does not tell.
    ///
    /// # Errors
    /// What the driver reports; then nothing is recorded.
    fn set_timeline(&self, on: bool) -> Result<Support> {
        let _ = on;
        Ok(Support::No("this display does not time its work".into()))
    }

    /// Hands over what was recorded of work that is done by now, in the order in which it was queued. Waits for nothing.
    ///
    /// # Errors
    /// What the driver reports.
    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        let _ = into;
        Ok(())
    }
}

/// For paths of a program's own, which may know more of a display than the contract says.
impl dyn Display {
    /// The display as that type, where it is of it.
    pub fn downcast_ref<D: Display>(&self) -> Option<&D> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The display's end of a semaphore. Dropped while the display's context is current, or later.
pub trait DisplaySemaphore {
    /// Signals when the display has done all that it was told so far with `staging`. Does not wait.
    ///
    /// `value` is the counter's new value; binary semaphores ignore it, and must have been waited for before.
    fn signal(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()>;

    /// Lets what the display is told from now on wait until the semaphore is signalled (the counter is at least
    /// `value`), and see what was written to `staging` before. Does not wait.
    fn wait(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()>;
}

const NO_STORAGE: &str = "an in-place surface has no storage of its own; use read_in_place";

/// What is shown. Regions are in the display's native row order; the paths convert.
///
/// A surface has storage of its own and is uploaded to, or has none and is read in place; what it is not made for it refuses,
/// with [`Error::InvalidInput`].
pub trait Surface {
    /// What it was made for.
    fn desc(&self) -> &SurfaceDesc;

    /// Copies from client memory; `bytes` may be reused at once. `view` says where in `bytes` the pixels or bytes
    /// lie (rows in native order), `at` where they go; both have the same size.
    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        let (_, _, _) = (at, bytes, view);
        Err(Error::invalid("upload", NO_STORAGE))
    }

    /// The same from a staging block. The block must be fenced ([`Staging::fence`]) before it is written again.
    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        let (_, _, _) = (at, staging, view);
        Err(Error::invalid("upload_staged", NO_STORAGE))
    }

    /// From now on shows this block in place. Only for surfaces made for it.
    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        let (_, _) = (staging, view);
        let problem = "this surface has storage of its own; use upload_staged, or make it with create_in_place_surface";
        Err(Error::invalid("read_in_place", problem))
    }

    /// What a viewer would see of `part`: images are drawn by the display and read back, buffers are copied by the
    /// display and read back. Tight rows in native order. Slow; for verification, tests and saving pictures.
    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>>;

    /// Names the surface's own texture or buffer for [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`DisplayCaps::exports`] does not list the handle's type, or the surface has no
    /// storage of its own.
    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        let reason = format!("a {} cannot be named by a {handle}", self.desc());
        Err(Error::Unsupported { operation: "export", device: "this display".into(), reason })
    }

    /// For the display to find its own type again.
    fn as_any(&self) -> &dyn Any;
}

/// A part of a surface. Here, on the display's side, rows count in the display's native order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Pixels.
    Image(Region),
    /// Bytes.
    Buffer(Range<usize>),
}

impl Part {
    /// All of a surface.
    pub fn full(desc: &SurfaceDesc) -> Self {
        match desc {
            SurfaceDesc::Image(i) => Self::Image(i.extent.full()),
            // A surface's size was checked against the address space when it was made.
            SurfaceDesc::Buffer(b) => Self::Buffer(0..usize::try_from(b.bytes).unwrap_or(usize::MAX)),
        }
    }

    /// Refuses an empty part, one of the wrong kind, and one that reaches outside the surface.
    pub fn check_inside(&self, desc: &SurfaceDesc, operation: &'static str) -> Result<()> {
        match (self, desc) {
            (Self::Image(region), SurfaceDesc::Image(i)) => region.check_inside(i.extent, operation),
            (Self::Buffer(range), SurfaceDesc::Buffer(b)) => {
                if range.start >= range.end || range.end as u64 > b.bytes {
                    return Err(Error::invalid(
                        operation,
                        format!("bytes {}..{} are empty or reach outside the {desc}", range.start, range.end),
                    ));
                }
                Ok(())
            }
            (Self::Image(_), _) => Err(Error::invalid(operation, format!("a region of pixels was given for a {desc}"))),
            (Self::Buffer(_), _) => Err(Error::invalid(operation, format!("a range of bytes was given for an {desc}"))),
        }
    }

    /// Refuses a view that reaches outside `len` bytes of memory, or is no picture of this part: its pixels or bytes are
    /// to go there in the surface that `desc` describes.
    pub fn check_source(&self, desc: &SurfaceDesc, view: &View, len: usize, operation: &'static str) -> Result<()> {
        self.check_inside(desc, operation)?;
        view.check_inside(len, operation)?;
        let problem = match (self, view, desc) {
            (Self::Image(region), View::Image(image), SurfaceDesc::Image(of)) => {
                if image.format != of.format {
                    Some(format!("pixels of {} were given for an {desc}", image.format))
                } else if image.extent != region.extent() {
                    Some(format!("{} pixels were given for the region {region}", image.extent))
                } else {
                    None
                }
            }
            (Self::Buffer(range), View::Buffer(buffer), _) => (buffer.len != range.len())
                .then(|| format!("{} bytes were given for the range {}..{}", buffer.len, range.start, range.end)),
            _ => Some(format!("{view:?} is no part of the {desc}")),
        };
        problem.map_or(Ok(()), |problem| Err(Error::invalid(operation, problem)))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(region) => region.fmt(f),
            Self::Buffer(range) => write!(f, "bytes {}..{}", range.start, range.end),
        }
    }
}

/// Memory that the host writes and the display reads.
#[allow(clippy::len_without_is_empty)] // never empty
pub trait Staging {
    /// Number of bytes.
    fn len(&self) -> usize;

    /// The memory's address where it stays the same for the block's life.
    fn host_block(&self) -> Option<HostBlock>;

    /// Waits until the display has read what it was told to read. Returns at once where nothing was fenced.
    fn wait(&mut self) -> Result<()>;

    /// Gives the host the bytes to fill, after [`Staging::wait`] and for the length of the call. The old content is
    /// lost. Waits for commands of backends that use the same bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where somebody has a slice of these bytes: it says who.
    fn fill(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;

    /// Marks the reads submitted so far; [`Staging::wait`] waits for them.
    fn fence(&mut self) -> Result<()>;

    /// Names the block's memory for [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for blocks that were not made for it.
    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        let reason = format!("this block cannot be named by a {handle}");
        Err(Error::Unsupported { operation: "export", device: "this display".into(), reason })
    }

    /// For the display to find its own type again.
    fn as_any(&self) -> &dyn Any;

    /// For the display to find its own type again.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}
