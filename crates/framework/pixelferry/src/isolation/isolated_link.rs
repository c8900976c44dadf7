//! A link whose kernels run in a child process.

use super::message::{Answer, ArgumentWork, Request, Work};
use super::worker_process::{ChildEnd, Isolation, WorkerProcess};
use crate::auto_link::{InitialContent, LinkBuilder, OpenedLink};
use crate::backend_rows::{BACKENDS, BackendChoice};
use crate::choice::ApiChoice as _;
use crate::stream::{NextFrame, StreamFrame};
use interop_core::describe::error::call;
use interop_core::describe::process::ProcessMark;
use interop_core::{
    Arg, Argument, ComputeBackend, ComputeCaps, Error, Extent, HandleType, Kernel, KernelSource, Link, LinkCore,
    LinkOptions, MemoryShape, PixelFormat, Policy, Result, RowOrder, SurfaceDesc, Unwritten, View,
};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

/// Most launches that are under way: one that is computed, and one that is next.
const MOST_UNDER_WAY: usize = 2;
/// The loss of a child that gave frames for longer counts as its device's first.
const LONG: Duration = Duration::from_secs(60);
/// Longest wait for a frame between two polls of the child's answers.
const TURN: Duration = Duration::from_millis(2);

static CHILDREN: AtomicU64 = AtomicU64::new(0);

/// What happened since the last call of [`IsolatedLink::update`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IsolatedEvent {
    /// The display shows another frame: that of the launch with this number.
    Frame {
        /// Number of the launch, from 1.
        launch: u64,
    },
    /// A child is ready on this device. Memory has its initial content.
    Ready {
        /// The device's name.
        device: String,
    },
    /// The child crashed, hung or reported an error, and another one is being opened. The display still shows the last
    /// frame.
    Lost {
        /// What happened.
        reason: String,
        /// Number of launches whose frames will not come.
        launches: usize,
        /// Whether bytes of [`IsolatedLink::write`] are lost, so that the program must write them again.
        lost_writes: bool,
    },
    /// Nothing.
    Nothing,
}

/// A link whose backend and kernels are in a child process; see [the module](super). It stays on its thread.
pub struct IsolatedLink {
    link: Link,
    /// Copies frames in the display's queue, where a GPU draws.
    copies: Option<Arc<dyn Kernel>>,
    isolation: Isolation,
    work: Work,
    /// Content of memory in the order of declaration.
    contents: Vec<InitialContent>,
    /// Backends that may do the work, the best first, each with whether it must be on a device of the automatic choice.
    candidates: VecDeque<(BackendChoice, bool)>,
    /// Whether the first of them has lost a child.
    has_failed: bool,
    reasons: Vec<String>,
    child: Option<WorkerProcess>,
    device: Option<String>,
    is_written: bool,
    /// Whether the child does not know the surface yet.
    is_resized: bool,
    made: ProcessMark,
    /// Number of launches, and of those before this child.
    launches: u64,
    before: u64,
}

interop_core::debug_as!(IsolatedLink, |this| device = &this.device);

impl LinkBuilder {
    /// Opens the display here, and the backend with the declared kernels in a child process. Does not wait for the child:
    /// [`IsolatedLink::update`] says when it is ready.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a backend that the program opened, for kernels without a text, and in a child process;
    /// errors of the display; [`Error::Unavailable`] where the system cannot start the process.
    pub fn open_isolated(self, isolation: Isolation) -> Result<IsolatedLink> {
        call("LinkBuilder::open_isolated", || {
            if std::env::var_os(super::worker_process::IS_CHILD).is_some() {
                return Err(Error::refused("this process is itself a child; begin `main` with isolation::serve_child"));
            }
            if isolation.limit.is_zero() {
                return Err(Error::refused("a frame may take 0 s; give Isolation::with_limit more"));
            }
            let work = Work::of(&self)?;
            let sources = work.sources();
            let suits = |row: &&crate::backend_rows::BackendRow| {
                row.named.built && row.is_meant(self.backend) && row.unsuited(&sources).is_none()
            };
            let rows: Vec<_> = BACKENDS.iter().filter(suits).map(|row| row.named.choice).collect();
            // Devices that the automatic choice takes last come after all others.
            let passes: &[bool] = if self.backend == BackendChoice::Auto { &[true, false] } else { &[false] };
            let candidates = passes.iter().flat_map(|is_strict| rows.iter().map(|row| (*row, *is_strict))).collect();
            // Threads or the display's own queue bring frames to it, so that no other driver is opened in this process.
            let mut here = self.backend(BackendChoice::Cpu);
            here.surface = overwritten(here.surface);
            let launches = std::mem::take(&mut here.launches);
            let contents =
                launches.into_iter().flat_map(|(_, arguments)| arguments).filter_map(|argument| match argument {
                    Argument::Memory(content) => Some(content),
                    _ => None,
                });
            let policy = here.policy.clone();
            let OpenedLink { link, .. } = here.open()?;
            let queued = in_queue(&link, policy).ok().flatten();
            let (link, copies) = queued.map_or((link, None), |(link, copies)| (link, Some(copies)));
            let mut opened = IsolatedLink {
                link,
                copies,
                isolation,
                work,
                contents: contents.collect(),
                candidates,
                has_failed: false,
                reasons: Vec::new(),
                child: None,
                device: None,
                is_written: false,
                is_resized: false,
                made: ProcessMark::here(),
                launches: 0,
                before: 0,
            };
            opened.start().map(|()| opened)
        })
    }
}

impl IsolatedLink {
    /// The link that shows the frames: draw what it shows at any time. Its frames are whole (`Unwritten::Overwrite`).
    pub fn link(&mut self) -> &mut LinkCore {
        &mut self.link
    }

    /// Name of the child's device; `None` while a child opens it.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Process ID of the child.
    pub fn child_id(&self) -> Option<u32> {
        self.child.as_ref().map(|child| child.process.id())
    }

    /// Number of launches whose frames have not come.
    pub fn under_way(&self) -> usize {
        self.child.as_ref().map_or(0, WorkerProcess::under_way)
    }

    /// Launches the declared kernels, each with these arguments: numbers of the declared kinds, and
    /// `Argument::Memory(())` for memory. Returns `false`, and launches nothing, while no child is ready and while two
    /// launches are under way.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for arguments of other kinds than were declared.
    pub fn launch(&mut self, arguments: &[&[Argument<()>]]) -> Result<bool> {
        call("IsolatedLink::launch", || {
            self.made.check("the isolated link")?;
            let arguments = self.checked(arguments)?;
            let Some(child) = &mut self.child else { return Ok(false) };
            if child.subscriber.is_none() || child.under_way() >= MOST_UNDER_WAY {
                return Ok(false);
            }
            if std::mem::take(&mut self.is_resized) {
                child.request(&Request::Resize(self.work.surface))?;
            }
            child.launch(arguments)?;
            self.launches += 1;
            Ok(true)
        })
    }

    fn checked(&self, arguments: &[&[Argument<()>]]) -> Result<Vec<Vec<ArgumentWork>>> {
        let declared = &self.work.kernels;
        if arguments.len() != declared.len() {
            let (given, count) = (arguments.len(), declared.len());
            return Err(Error::refused(format!(
                "arguments of {given} kernels were given; {count} kernels are declared"
            )));
        }
        let kernels = declared.iter().zip(arguments).map(|(kernel, given)| {
            let sent = given.iter().map(|argument| ArgumentWork::of(*argument, |()| 0)).collect::<Result<Vec<_>>>()?;
            let is_alike = |(one, other): (&ArgumentWork, &ArgumentWork)| {
                std::mem::discriminant(one) == std::mem::discriminant(other)
            };
            if sent.len() == kernel.arguments.len() && sent.iter().zip(&kernel.arguments).all(is_alike) {
                return Ok(sent);
            }
            let given: Vec<_> = given.iter().map(Argument::kind).collect();
            let (name, given) = (&kernel.name, given.join(", "));
            Err(Error::refused(format!("kernel '{name}' got other arguments than were declared: ({given})")))
        });
        kernels.collect()
    }

    /// Writes bytes to the child's memory with this index, in the order of declaration, before later launches. Returns
    /// `false`, and writes nothing, while no child is ready, and while it has not yet taken 64 MiB of earlier bytes.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for memory that was not declared, and outside of it.
    pub fn write(&mut self, memory: usize, offset: usize, bytes: &[u8]) -> Result<bool> {
        call("IsolatedLink::write", || {
            self.made.check("the isolated link")?;
            let len = self.contents.get(memory).map(InitialContent::len);
            let len = len.ok_or_else(|| {
                Error::refused(format!("memory {memory} was not declared; there are {}", self.contents.len()))
            })?;
            interop_core::compute::check_range(&(offset..offset.saturating_add(bytes.len())), len)?;
            let Some(child) = self.child.as_ref().filter(|child| child.takes_bytes()) else { return Ok(false) };
            send(child, memory, offset, bytes)?;
            self.is_written = true;
            Ok(true)
        })
    }

    /// Sets the surface of later launches. The display shows the last frame until one of them arrives; other frames of an
    /// earlier surface are left out. An image of 0x0 pixels, that of a minimised window, changes nothing.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a surface that is invalid or larger than the display's largest, and for a buffer
    /// instead of an image or the reverse. [`IsolatedLink::update`] returns the error of a child that cannot compute it.
    pub fn resize(&mut self, surface: SurfaceDesc) -> Result<()> {
        call("IsolatedLink::resize", || {
            self.made.check("the isolated link")?;
            if matches!(surface, SurfaceDesc::Image(image) if image.extent == Extent::new(0, 0)) {
                return Ok(());
            }
            surface.check(&self.link.display().device().to_string(), self.link.display().caps())?;
            if surface.shape() != self.work.surface.shape() {
                return Err(Error::refused("an image stays an image, and a buffer a buffer"));
            }
            (self.work.surface, self.is_resized) = (surface, true);
            Ok(())
        })
    }

    /// Shows the newest frame of the child, and replaces a child that has ended. Waits up to `limit` for an event. A limit
    /// of zero waits for no frame; to open the stream of a ready child, or to end one, may take some milliseconds, and at
    /// most 2 s where the system or the child does not answer.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a surface that the child refused, which keeps the one before;
    /// [`Error::Unavailable`] where the system cannot start a process, and where every backend has lost two children or
    /// cannot do the work, with all reasons; errors of the display. The last frame stays on the display.
    pub fn update(&mut self, limit: Duration) -> Result<IsolatedEvent> {
        call("IsolatedLink::update", || {
            self.made.check("the isolated link")?;
            let begun = Instant::now();
            loop {
                let left = limit.saturating_sub(begun.elapsed());
                if let Some(event) = self.step(left.min(TURN))? {
                    return Ok(event);
                }
                if left.is_zero() {
                    return Ok(IsolatedEvent::Nothing);
                }
            }
        })
    }

    fn step(&mut self, wait: Duration) -> Result<Option<IsolatedEvent>> {
        let Some(child) = &mut self.child else { return self.start().map(|()| None) };
        // A child that computes is awaited by its frame, any other by its answer.
        let is_computing = child.subscriber.is_some() && child.under_way() > 0;
        let [for_answer, for_frame] = if is_computing { [Duration::ZERO, wait] } else { [wait, Duration::ZERO] };
        match child.poll((&self.isolation, self.link.backend()), for_answer) {
            Ok(Some(Answer::Ready(device))) => return self.ready(device).map(Some),
            Ok(Some(Answer::Refused(surface, reason))) => {
                self.work.surface = surface;
                return Err(Error::unsupported(self.device.as_deref().unwrap_or("the child"), reason));
            }
            Ok(_) => {}
            Err(end) => return self.ended(end),
        }
        let Some(subscriber) = &mut child.subscriber else { return Ok(None) };
        match subscriber.next(for_frame) {
            Ok(NextFrame::Frame(mut frame)) => {
                let number = frame.number();
                let is_shown = show((&mut self.link, self.copies.as_deref()), &self.work.surface, &mut frame);
                child.arrived(number);
                Ok(is_shown?.then_some(IsolatedEvent::Frame { launch: self.before + number }))
            }
            Ok(NextFrame::Nothing) => Ok(None),
            Ok(NextFrame::Ended) => {
                let how = child.process.end(false);
                self.ended(ChildEnd::Lost(format!("the child {how}")))
            }
            Err(error) => self.ended(ChildEnd::Lost(error.to_string())),
        }
    }

    fn ready(&mut self, device: String) -> Result<IsolatedEvent> {
        if let Some(child) = &self.child {
            for (at, content) in self.contents.iter().enumerate() {
                if let InitialContent::Bytes(bytes) = content {
                    send(child, at, 0, bytes)?;
                }
            }
        }
        self.device = Some(device.clone());
        Ok(IsolatedEvent::Ready { device })
    }

    /// Replaces the child.
    fn ended(&mut self, end: ChildEnd) -> Result<Option<IsolatedEvent>> {
        let Some((choice, _)) = self.candidates.front().copied() else { return Ok(None) };
        let launches = self.under_way();
        let child = self.child.take();
        // A device that gave frames for long gets another chance.
        let is_first = !self.has_failed
            || child.as_ref().and_then(|child| child.first).is_some_and(|first| first.elapsed() > LONG);
        // Before the next child needs the device.
        let _ = child.map(|child| child.retire(self.link.backend()));
        self.has_failed = false;
        let lost_writes = std::mem::take(&mut self.is_written);
        let event = match end {
            ChildEnd::PassedOver => {
                self.candidates.pop_front();
                None
            }
            ChildEnd::Unable(reason) => {
                self.reasons.push(format!("{}: {reason}", choice.name()));
                self.candidates.retain(|(other, _)| *other != choice);
                None
            }
            ChildEnd::Lost(reason) => {
                let device = self.device.take().unwrap_or_else(|| choice.name().to_owned());
                self.reasons.push(format!("{device}: {reason}"));
                self.has_failed = is_first;
                if !is_first {
                    self.candidates.retain(|(other, _)| *other != choice);
                }
                Some(IsolatedEvent::Lost { reason, launches, lost_writes })
            }
        };
        (self.device, self.before) = (None, self.launches);
        match self.start() {
            Err(_) if event.is_some() => Ok(event),
            started => started.map(|()| event),
        }
    }

    /// Starts a child for the first candidate.
    fn start(&mut self) -> Result<()> {
        let Some((choice, is_strict)) = self.candidates.front().copied() else {
            let reasons =
                if self.reasons.is_empty() { "no backend takes these kernels".into() } else { self.reasons.join("; ") };
            return Err(Error::unavailable(
                "a device for the isolated kernels",
                reasons,
                "Mend the kernels, or give them texts for other backends.",
            ));
        };
        let number = CHILDREN.fetch_add(1, Relaxed);
        // Processes of other containers may have the same ID.
        let since = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
        let stream = format!("isolated-{}-{number}-{since:x}", std::process::id());
        let work = Work { stream, backend: choice.name().to_owned(), is_strict, ..self.work.clone() };
        self.child = Some(WorkerProcess::start(&self.isolation, work)?);
        Ok(())
    }
}

/// Sends the content of memory.
fn send(child: &WorkerProcess, memory: usize, offset: usize, bytes: &[u8]) -> Result<()> {
    child.request(&Request::Write { memory, offset, bytes: bytes.len() })?;
    child.process.send(bytes);
    Ok(())
}

/// Copies pixels of one word from rows of a pitch in words.
const COPY: &str = "
@group(1) @binding(0) var<storage, read> pixels: array<u32>;
@compute @workgroup_size(16, 16) fn copy(@builtin(global_invocation_id) id: vec3<u32>) {
  if (pf_inside(id.xy)) { pf_store(id.xy, unpack4x8unorm(pixels[pf_arg_u32(0) + id.y * pf_arg_u32(1) + id.x])); }
}";

/// Opens a link from the queue of the same display, whose kernels can read the child's memory of the same GPU, and builds
/// the kernel that copies. `None` for displays that compute nothing or import no memory.
fn in_queue(link: &LinkCore, policy: Policy) -> Result<Option<(Link, Arc<dyn Kernel>)>> {
    let display = link.display();
    let queued = display.backend_in_queue()?.and_then(|backend| backend.downcast::<Arc<dyn ComputeBackend>>().ok());
    let imports = |caps: &ComputeCaps| caps.can_import(HandleType::OPAQUE, MemoryShape::Linear).is_yes();
    let queued = queued.filter(|backend| !backend.device().software && imports(backend.caps()));
    let Some(backend) = queued else { return Ok(None) };
    let copies = backend.build(&KernelSource::new("copy").wgsl(COPY))?;
    Ok(Some((Link::open(*backend, Arc::clone(display), *link.desc(), LinkOptions::new(policy))?, copies)))
}

/// Shows a frame, unless it has an earlier surface.
fn show(
    (link, copies): (&mut LinkCore, Option<&dyn Kernel>),
    surface: &SurfaceDesc,
    frame: &mut StreamFrame<'_>,
) -> Result<bool> {
    if told(surface) != told(frame.desc()) {
        return Ok(false);
    }
    if *link.desc() != overwritten(*surface) {
        link.resize(overwritten(*surface))?;
    }
    if let (Some(copies), SurfaceDesc::Image(image), View::Image(view)) = (copies, surface, frame.view())
        && image.format == PixelFormat::Rgba8
    {
        // Streams have their top row first.
        let (first, pitch, last) = (view.offset as isize, view.row_pitch, image.extent.height as isize - 1);
        let is_up = image.row_order == RowOrder::BottomUp;
        let (first, pitch) = if is_up { (first + pitch * last, -pitch) } else { (first, pitch) };
        let [first, pitch] = [first, pitch].map(|bytes| Arg::U32((bytes / 4) as u32));
        return link.frame(|next| next.launch(copies, &[Arg::Memory(frame.memory()), first, pitch])).map(|()| true);
    }
    frame.read_with(|bytes| match surface {
        SurfaceDesc::Image(image) if image.row_order == RowOrder::BottomUp => {
            let rows = bytes.chunks_exact(bytes.len() / image.extent.height.max(1) as usize);
            let bytes: Vec<u8> = rows.rev().flatten().copied().collect();
            link.frame(|next| next.write(&bytes))
        }
        _ => link.frame(|next| next.write(bytes)),
    })?;
    Ok(true)
}

/// The surface as frames of a child are shown: each is whole, so that nothing is copied from the one before. The child keeps
/// the surface's own rule.
fn overwritten(surface: SurfaceDesc) -> SurfaceDesc {
    surface.with_unwritten(Unwritten::Overwrite)
}

/// What a stream tells of a surface.
fn told(surface: &SurfaceDesc) -> impl PartialEq + use<> {
    let image = match surface {
        SurfaceDesc::Image(image) => Some((image.extent, image.format, image.encoding, image.alpha)),
        SurfaceDesc::Buffer(_) => None,
    };
    (image, surface.byte_len().ok())
}

impl Drop for IsolatedLink {
    fn drop(&mut self) {
        match self.child.take() {
            // The parent's child.
            Some(child) if !self.made.is_here() => std::mem::forget(child),
            Some(child) => _ = child.retire(self.link.backend()).map(std::thread::JoinHandle::join),
            None => {}
        }
    }
}
