//! The display that publishes frames to other processes.

use super::display_state::DisplayState;
use super::hub::Hub;
use super::piece::Piece;
use super::server::Server;
use super::staging::StreamStaging;
use super::surface::StreamSurface;
use crate::proof;
use crate::wire::frame::PlacedFrame;
use crate::wire::message::{Device, PieceKind};
use crate::wire::pages::{self, WriteRight};
use crate::wire::socket::Listener;
use crate::wire::table::{From, HELD_FRAMES};
use cpu_fallback::MemoryDisplay;
use interop_core::AnyThreadDisplay;
use interop_core::compute::host_bytes;
use interop_core::describe::PlainMutex;
use interop_core::describe::error::call;
use interop_core::devices::borrows::Holder;
use interop_core::devices::maker_object::own;
use interop_core::display::DisplayDriver;
use interop_core::{
    Api, BufferView, DeviceIdentity, Display, DisplayCaps, Error, HandleType, HostBlock, ImageView, Manner,
    MemoryShape, PixelFormat, Result, ShownFrame, Staging, StagingKind, Surface, SurfaceDesc, SurfacePart, View,
};
use std::sync::Arc;

/// Options of a stream.
///
/// ```
/// let options = pixelferry_stream::StreamOptions::default().with_readers(2);
/// assert_eq!(options.readers, 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Maximum number of subscribers. Each may keep a frame for as long as it likes, and the publisher then uses
    /// another piece of memory.
    pub readers: usize,
}

impl StreamOptions {
    /// Largest value of `readers`.
    pub const MOST_READERS: usize = 16;

    /// Sets the maximum number of subscribers.
    #[must_use]
    pub const fn with_readers(self, readers: usize) -> Self {
        Self { readers }
    }
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self { readers: 8 }
    }
}

/// Result of [`StreamDisplay::publish`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublishedFrame {
    /// Number of the frame, from 1.
    pub number: u64,
    /// Current number of subscribers.
    pub subscribers: usize,
    /// Whether the frame was copied to host memory. That happens for a subscriber that cannot use the device's memory,
    /// or when the current path keeps frames elsewhere.
    pub copied: bool,
}

/// Pieces of host memory for copies of frames, and the frame size that they were made for.
#[derive(Default)]
struct Copies {
    bytes: usize,
    pieces: Vec<(HostBlock, Piece)>,
}

/// A display that publishes frames as a stream for other processes of this user and machine. Links prove and time their
/// paths to it as to any display, and [`StreamDisplay::publish`] makes a frame the newest of the stream. Any
/// thread may use it.
///
/// Publisher and subscribers share the memory of frames: shared pages of the host, or memory of a device whose display
/// exports it. A subscriber never makes the publisher wait, even if it is slow, stopped or killed: a frame that it
/// reads is kept, and the ring gets another piece.
///
///
/// ```
/// use cpu_fallback::{CpuArgs, CpuBackend, CpuImage, CpuKernelExt};
/// use interop_core::{KernelSource, Link, LinkOptions, PixelFormat, SurfaceDesc};
/// use pixelferry_stream::{NextFrame, StreamDisplay, StreamOptions, Subscriber};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let name = format!("example-{}", std::process::id());
/// let backend = Arc::new(CpuBackend::new()?);
/// let stream = StreamDisplay::open(&name, None, StreamOptions::default())?;
/// let desc = SurfaceDesc::image(64, 32, PixelFormat::R8);
/// let mut link = Link::open(backend.clone(), stream.clone(), desc, LinkOptions::default())?;
///
/// // Usually in another process.
/// let mut subscriber = Subscriber::open(&name, &(backend as Arc<dyn interop_core::ComputeBackend>))?;
/// link.frame(|frame| frame.write(&[7; 64 * 32]))?;
/// stream.publish(&link.shown()?)?;
/// let NextFrame::Frame(mut frame) = subscriber.next(Duration::from_secs(10))? else { return Ok(()) };
/// assert_eq!((frame.number(), frame.read()?), (1, vec![7; 64 * 32]));
/// # Ok::<(), interop_core::Error>(())
/// ```
pub struct StreamDisplay {
    // Declared first, so that the stream ends before its pieces are freed.
    _server: Server,
    state: Arc<DisplayState>,
    copies: PlainMutex<Copies>,
    /// The newest surface, whose memory stays until another frame is published.
    newest: PlainMutex<Option<Arc<Piece>>>,
    /// Kept for subscribers, which compare its content.
    _proof: Option<Staging>,
    name: String,
}

interop_core::debug_as!(StreamDisplay, |this| name = &this.name, device = &this.state.identity);

impl StreamDisplay {
    /// Opens a stream. Its name consists of letters, digits, `-`, `_` and `.`. `device` is a display on the device that
    /// computes, which exports linear memory, such as Vulkan's. Without it, or if it exports no memory, frames go
    /// through host memory.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a name that is invalid or in use, and for more readers than
    /// [`StreamOptions::MOST_READERS`]; [`Error::Unavailable`] for errors of the system.
    pub fn open(name: &str, device: Option<Arc<dyn Display>>, options: StreamOptions) -> Result<Arc<Self>> {
        call("StreamDisplay::open", || {
            let StreamOptions { readers } = options;
            if readers == 0 || readers > StreamOptions::MOST_READERS {
                let most = StreamOptions::MOST_READERS;
                return Err(Error::refused(format!("{readers} readers were requested; a stream has 1 to {most}")));
            }
            let exports = |display: &Arc<dyn Display>| {
                display.caps().can_export(HandleType::OPAQUE, MemoryShape::Linear).is_yes()
            };
            let device = device.filter(exports);
            let memory = MemoryDisplay::new();
            let caps = caps(Display::caps(memory.as_ref()), device.as_deref().map(Display::caps), readers);
            let identity = match &device {
                Some(device) => device.device().clone(),
                None => Display::device(memory.as_ref()).clone(),
            };
            let identity = identity.with_api(Api::Other("stream"));
            let hub = Arc::new(Hub::new(readers)?);
            let uuid = device.as_ref().and_then(|device| device.device().uuid).map(|uuid| uuid.0);
            let proof = proof::nonce()?;
            let described = Device { uuid, name: identity.name.chars().take(200).collect(), proof };
            let state = Arc::new(DisplayState { identity, caps, memory, device, hub });
            let kept = uuid.map(|_| prove(&state, proof)).transpose()?;
            let server = Server::start(Listener::open(name)?, Arc::clone(&state.hub), described)?;
            Ok(Arc::new(Self {
                _server: server,
                state,
                copies: PlainMutex::default(),
                newest: PlainMutex::default(),
                _proof: kept,
                name: name.into(),
            }))
        })
    }

    /// Name of the stream.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Current number of subscribers.
    pub fn subscribers(&self) -> usize {
        self.state.hub.subscribers()
    }

    /// Returns whether a subscriber is waiting that cannot read the newest frame where it is: publish that frame again.
    /// This is for programs that publish rarely; the next frame reaches all subscribers anyway.
    pub fn is_awaited(&self) -> bool {
        let hub = &self.state.hub;
        let [device, host] = [From::Device, From::Host].map(|from| hub.table.newest(from).frame());
        host < device && hub.is_asked_for_the_host()
    }

    /// Makes a shown frame the newest of the stream, without waiting. Its kernels have finished, because it is shown.
    ///
    /// # Errors
    /// [`Error::Unavailable`] in a forked child of the process that opened the stream; [`Error::Foreign`] for a frame
    /// of a link to another display; [`Error::NothingShown`] before the first frame; errors of the copy, if one is
    /// needed.
    pub fn publish(&self, frame: &ShownFrame<'_>) -> Result<PublishedFrame> {
        call("StreamDisplay::publish", || {
            self.state.hub.check_process()?;
            self.publish_surface(frame.surface())
        })
    }

    fn publish_surface(&self, surface: &Surface) -> Result<PublishedFrame> {
        let desc = *surface.desc();
        let own = own::<StreamSurface>(surface.driver(), &self.state)?;
        let piece = match own.shown.lock().as_ref() {
            Some(shown) => shown.piece.clone(),
            None => return Err(Error::NothingShown),
        };
        let hub = &self.state.hub;
        let is_device = piece.as_ref().is_some_and(|(piece, _)| matches!(piece.kind, PieceKind::Device { .. }));
        let copied = piece.is_none() || (is_device && hub.is_asked_for_the_host());
        let frame = hub.next_frame();
        let nanoseconds = now();
        if copied {
            let from: &[From] = if piece.is_none() { &[From::Device, From::Host] } else { &[From::Host] };
            let bytes = own.read(&SurfacePart::full(&desc))?;
            self.copies.lock().publish(hub, (&desc, &bytes), (frame, from, nanoseconds))?;
        }
        if let Some((piece, view)) = piece {
            let from: &[From] = if is_device { &[From::Device] } else { &[From::Device, From::Host] };
            hub.publish(frame, piece.place, from, &PlacedFrame { desc, view, nanoseconds });
            *self.newest.lock() = Some(piece);
        }
        Ok(PublishedFrame { number: frame, subscribers: hub.wake(), copied })
    }
}

impl Copies {
    /// Copies a frame of tight rows to a piece that has no reader.
    fn publish(
        &mut self,
        hub: &Arc<Hub>,
        (desc, bytes): (&SurfaceDesc, &[u8]),
        (frame, from, nanoseconds): (u64, &[From], u64),
    ) -> Result<()> {
        if self.bytes < bytes.len() {
            // Subscribers that read earlier pieces keep that memory.
            (self.bytes, self.pieces) = (bytes.len(), Vec::new());
        }
        let free = match self.pieces.iter().position(|(_, piece)| piece.claim()) {
            Some(free) => free,
            None => {
                let (descriptor, mapping) = pages::create("pixelferry frame", self.bytes, WriteRight::Maker)?;
                self.pieces.push((mapping.into_block(), Piece::new(hub, PieceKind::Host, self.bytes, descriptor)?));
                self.pieces.len() - 1
            }
        };
        let (block, piece) = &self.pieces[free];
        block.write(0..bytes.len(), Holder::Staging)?.copy_from_slice(bytes);
        let view = match desc {
            SurfaceDesc::Image(i) => View::Image(ImageView::packed(i.extent, i.format, 1, 0, false)?),
            SurfaceDesc::Buffer(_) => View::Buffer(BufferView { offset: 0, len: bytes.len() }),
        };
        hub.publish(frame, piece.place, from, &PlacedFrame { desc: *desc, view, nanoseconds });
        Ok(())
    }
}

/// Memory that a stream accepts: shared pages of the host by address, and exports of the device.
fn caps(memory: &DisplayCaps, device: Option<&DisplayCaps>, readers: usize) -> DisplayCaps {
    // Each reader may read a frame, begin another and hold older ones, and the newest stays readable.
    let ours = memory.clone().with_imports(Vec::new()).with_outside_readers((2 + HELD_FRAMES) * readers + 1);
    let Some(device) = device else { return ours };
    let formats: Vec<_> = PixelFormat::ALL.into_iter().filter(|f| device.image_formats.contains(f)).collect();
    let linear = |cap: &&interop_core::MemoryCap| cap.handle == HandleType::OPAQUE && cap.shape == MemoryShape::Linear;
    let exports = memory.exports.iter().chain(device.exports.iter().filter(linear)).cloned().collect();
    let mut both = ours.with_exports(exports).with_image_formats(formats);
    both.lacked_formats.clone_from(&device.lacked_formats);
    both.max_image_side = both.max_image_side.min(device.max_image_side);
    both.max_in_place_pixels = both.max_in_place_pixels.min(device.max_in_place_pixels);
    both.max_buffer_bytes = both.max_buffer_bytes.min(device.max_buffer_bytes);
    both.row_pitch_alignment = both.row_pitch_alignment.max(device.row_pitch_alignment);
    both.in_place_images = device.in_place_images.clone();
    both.in_place_buffers = device.in_place_buffers.clone();
    both
}

/// Makes the first piece of device memory, whose content subscribers compare.
fn prove(state: &Arc<DisplayState>, nonce: u64) -> Result<Staging> {
    let mut staging = Staging::new((&state.identity, &state.caps), StagingKind::Exported, proof::BYTES, |kind| {
        StreamStaging::new(state, kind, proof::BYTES)
    })?;
    let (bytes, desc) = (proof::bytes(nonce), SurfaceDesc::buffer(proof::BYTES as u64));
    let view = View::Buffer(BufferView { offset: 0, len: proof::BYTES });
    let mut source = state.device()?.create_surface(&desc)?;
    source.upload(&SurfacePart::full(&desc), &bytes, &view)?;
    let own = interop_core::devices::maker_object::own_mut::<StreamStaging>(staging.driver_mut(), state)?;
    source.download(&SurfacePart::full(&desc), &mut own.inner, &view)?;
    own.inner.wait()?;
    let mut read = state.device()?.create_in_place_surface(&desc)?;
    read.read_in_place(&own.inner, &view)?;
    if read.read_back(&SurfacePart::full(&desc))? != bytes {
        let reason = "memory made for sharing does not contain what was copied to it";
        return Err(Error::unsupported(&state.identity, reason));
    }
    Ok(staging)
}

/// Nanoseconds of a clock that all processes share.
pub(crate) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

impl AnyThreadDisplay for StreamDisplay {}

impl DisplayDriver for StreamDisplay {
    fn device(&self) -> &DeviceIdentity {
        &self.state.identity
    }

    fn caps(&self) -> &DisplayCaps {
        &self.state.caps
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        self.state.hub.check_process()?;
        let make = |_: usize| StreamSurface::stored(&self.state, desc);
        Surface::stored((&self.state.identity, &self.state.caps), desc, |_, bytes| make(bytes), make)
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        self.state.hub.check_process()?;
        let make = || Ok(StreamSurface::in_place(&self.state, desc));
        Surface::in_place((&self.state.identity, &self.state.caps), desc, |_| make(), make)
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        self.state.hub.check_process()?;
        Staging::new((&self.state.identity, &self.state.caps), kind, bytes, |kind| {
            StreamStaging::new(&self.state, kind, bytes)
        })
    }

    /// Costs this process what publishing the frame costs.
    fn draw_offscreen_by(&self, surface: &Surface, _: Option<Manner>) -> Result<()> {
        self.state.hub.check_process()?;
        let own = own::<StreamSurface>(surface.driver(), &self.state)?;
        if own.shown.lock().as_ref().is_some_and(|shown| shown.piece.is_some()) {
            return Ok(());
        }
        let read = own.read(&SurfacePart::full(surface.desc()))?;
        let mut copy = host_bytes(read.len())?;
        copy.extend_from_slice(&read);
        std::hint::black_box(copy);
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        self.state.hub.check_process()?;
        match &self.state.device {
            Some(device) => device.finish(),
            None => Ok(()),
        }
    }
}
