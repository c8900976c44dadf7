//! A link whose kernels run in a child process.

use super::message::{ArgumentWork, Request, Work};
use super::worker_process::{ChildEnd, Isolation, WorkerProcess};
use crate::auto_link::{InitialContent, LinkBuilder};
use crate::backend_rows::{BACKENDS, BackendChoice};
use crate::choice::ApiChoice as _;
use crate::headless::HeadlessDisplay;
use crate::stream::{NextFrame, StreamFrame};
use interop_core::describe::error::call;
use interop_core::{Argument, Error, Link, LinkOptions, Result, RowOrder, SurfaceDesc};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Most launches that are under way: one that is computed, and one that is next.
const MOST_UNDER_WAY: usize = 2;
/// Age of a child whose loss counts as its device's first.
const LONG: Duration = Duration::from_secs(60);
/// Longest wait for a frame between two looks at the child's answers.
const LOOK: Duration = Duration::from_millis(2);

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
        memory: bool,
    },
    /// Nothing.
    Nothing,
}

/// A link whose backend and kernels are in a child process; see [the module](super). It stays on its thread.
pub struct IsolatedLink {
    link: Link,
    screen: HeadlessDisplay,
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
                return Err(Error::refused(
                    "this process is the child of an isolated link; begin `main` with isolated::serve_child",
                ));
            }
            let work = Work::of(&self)?;
            let sources = work.sources();
            let suits = |row: &&crate::backend_rows::BackendRow| {
                let takes = |source| {
                    row.takes.iter().any(|language| interop_core::KernelSource::source(source, *language).is_some())
                };
                row.named.built && row.is_meant(self.backend) && sources.iter().all(takes)
            };
            let rows: Vec<_> = BACKENDS.iter().filter(suits).map(|row| row.named.choice).collect();
            let is_free = self.backend == BackendChoice::Auto;
            let candidates = [true, false].into_iter().filter(|is_strict| is_free || !is_strict);
            let candidates = candidates.flat_map(|is_strict| rows.iter().map(move |row| (*row, is_strict))).collect();
            let arguments = self.launches.iter().flat_map(|(_, arguments)| arguments);
            let contents = arguments.filter_map(|argument| match argument {
                Argument::Memory(content) => Some(content.clone()),
                _ => None,
            });
            let contents = contents.collect();
            let policy = self.policy.clone();
            // The host's threads bring frames to the display, so that no other driver is opened in this process.
            let mut here = self.backend(BackendChoice::Cpu);
            here.launches = Vec::new();
            let (threads, screen) = here.open_sides()?;
            let link = Link::open(threads, screen.display(), work.surface, LinkOptions::new(policy))?;
            let mut opened = IsolatedLink {
                link,
                screen,
                isolation,
                work,
                contents,
                candidates,
                has_failed: false,
                reasons: Vec::new(),
                child: None,
                device: None,
                is_written: false,
                launches: 0,
                before: 0,
            };
            opened.start()?;
            Ok(opened)
        })
    }
}

impl IsolatedLink {
    /// The link that shows the frames: draw what it shows at any time.
    pub fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    /// The display.
    pub fn screen(&self) -> &HeadlessDisplay {
        &self.screen
    }

    /// Name of the child's device; `None` while a child opens it.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Number of the child process.
    pub fn child(&self) -> Option<u32> {
        self.child.as_ref().map(|child| child.process.id())
    }

    /// Launches the declared kernels, each with these arguments: numbers of the declared kinds, and
    /// `Argument::Memory(())` for memory. Returns `false`, and launches nothing, while no child is ready and while two
    /// launches are under way.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for arguments of other kinds than were declared.
    pub fn launch(&mut self, arguments: &[&[Argument<()>]]) -> Result<bool> {
        call("IsolatedLink::launch", || {
            let arguments = self.checked(arguments)?;
            let Some(child) = &mut self.child else { return Ok(false) };
            if child.subscriber.is_none() || child.under_way() >= MOST_UNDER_WAY {
                return Ok(false);
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
    /// `false`, and writes nothing, while no child is ready.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for memory that was not declared, and outside of it.
    pub fn write(&mut self, memory: usize, offset: usize, bytes: &[u8]) -> Result<bool> {
        call("IsolatedLink::write", || {
            let len = self.contents.get(memory).map(InitialContent::len);
            let len = len.ok_or_else(|| {
                Error::refused(format!("memory {memory} was not declared; there are {}", self.contents.len()))
            })?;
            interop_core::compute::check_range(&(offset..offset.saturating_add(bytes.len())), len)?;
            let Some(child) = self.child.as_ref().filter(|child| child.subscriber.is_some()) else { return Ok(false) };
            send(child, memory, offset, bytes)?;
            self.is_written = true;
            Ok(true)
        })
    }

    /// Sets the surface of later frames. The display shows the last frame until one of them arrives.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an invalid surface, and for a buffer instead of an image or the reverse.
    pub fn resize(&mut self, surface: SurfaceDesc) -> Result<()> {
        call("IsolatedLink::resize", || {
            surface.byte_len()?;
            if surface.shape() != self.work.surface.shape() {
                return Err(Error::refused("an image stays an image, and a buffer a buffer"));
            }
            self.work.surface = surface;
            match &self.child {
                Some(child) if child.subscriber.is_some() => child.request(&Request::Resize(surface)),
                _ => Ok(()),
            }
        })
    }

    /// Handles what the child has done, and shows its newest frame. Waits up to `limit` for an event; a limit of zero never
    /// waits.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where every device has lost two children or cannot do the work, with all reasons; errors of
    /// the display. The last frame stays on the display.
    pub fn update(&mut self, limit: Duration) -> Result<IsolatedEvent> {
        call("IsolatedLink::update", || {
            let begun = Instant::now();
            loop {
                let left = limit.saturating_sub(begun.elapsed());
                if let Some(event) = self.step(left.min(LOOK))? {
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
        match child.poll(&self.isolation, for_answer) {
            Ok(Some(device)) => return self.ready(device).map(Some),
            Ok(None) => {}
            Err(end) => return self.ended(end),
        }
        let Some(subscriber) = &mut child.subscriber else { return Ok(None) };
        match subscriber.next(for_frame) {
            Ok(NextFrame::Frame(mut frame)) => {
                let number = frame.number();
                let is_shown = show(&mut self.link, &self.work.surface, &mut frame)?;
                child.arrived(number);
                Ok(is_shown.then_some(IsolatedEvent::Frame { launch: self.before + number }))
            }
            // The child's answers say how it ended.
            Ok(NextFrame::Nothing | NextFrame::Ended) => Ok(None),
            Err(error) => self.ended(ChildEnd::Lost(error.to_string())),
        }
    }

    fn ready(&mut self, device: String) -> Result<IsolatedEvent> {
        if let Some(child) = &self.child {
            child.request(&Request::Resize(self.work.surface))?;
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
        let child = self.child.take();
        let Some((choice, _)) = self.candidates.front().copied() else { return self.start().map(|()| None) };
        let event = match end {
            ChildEnd::Unable(reason) => {
                self.reasons.push(format!("{}: {reason}", choice.name()));
                self.candidates.pop_front();
                None
            }
            ChildEnd::Lost(reason) => {
                let device = self.device.take().unwrap_or_else(|| choice.name().to_owned());
                self.reasons.push(format!("{device}: {reason}"));
                // A device that worked for long gets another chance.
                if self.has_failed && child.as_ref().is_some_and(|child| child.age() < LONG) {
                    self.candidates.retain(|(other, _)| *other != choice);
                }
                let launches = child.map_or(0, |child| child.under_way());
                Some((reason, launches))
            }
        };
        self.has_failed = event.is_some() && self.candidates.front().is_some_and(|(first, _)| *first == choice);
        (self.device, self.before) = (None, self.launches);
        let memory = std::mem::take(&mut self.is_written);
        let event = event.map(|(reason, launches)| IsolatedEvent::Lost { reason, launches, memory });
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
                "Give the kernels further texts.",
            ));
        };
        let number = CHILDREN.fetch_add(1, Relaxed);
        let stream = format!("isolated-{}-{number}", std::process::id());
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

/// Shows a frame, unless it has an earlier size.
fn show(link: &mut Link, surface: &SurfaceDesc, frame: &mut StreamFrame<'_>) -> Result<bool> {
    if !is_sized(surface, frame.desc()) {
        return Ok(false);
    }
    if link.desc() != surface {
        link.resize(*surface)?;
    }
    let mut bytes = frame.read()?;
    // Streams have their top row first.
    if let SurfaceDesc::Image(image) = surface
        && image.row_order == RowOrder::BottomUp
    {
        let row = bytes.len() / image.extent.height.max(1) as usize;
        bytes = bytes.chunks_exact(row.max(1)).rev().flatten().copied().collect();
    }
    link.frame(|next| next.write(&bytes))?;
    Ok(true)
}

fn is_sized(one: &SurfaceDesc, other: &SurfaceDesc) -> bool {
    match (one, other) {
        (SurfaceDesc::Image(one), SurfaceDesc::Image(other)) => one.extent == other.extent,
        (SurfaceDesc::Buffer(one), SurfaceDesc::Buffer(other)) => one == other,
        _ => false,
    }
}
