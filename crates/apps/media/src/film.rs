//! Videos as arguments of kernels: their frames in memory of a backend.
//!
//! A [`Source`] reads a file, with GStreamer unless it is Y4M, or Y4M from standard input, a pipe or memory. A [`Film`]
//! copies its frames to a backend, in colours ([`Form::Rgba8`]) or in decoded planes ([`Form::Planes`]), which a kernel
//! converts.
//!
//! ```
//! use pixelferry::prelude::*;
//! use pixelferry_media::film::{Film, Form, Source};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let invert = KernelSource::new("invert").cpu_image(|out, args| {
//!     let frame = args.memory::<u8>(0)?;
//!     let width = args.u32(1)?;
//!     out.par_pixels(|x, y| {
//!         let at = 4 * (y * width + x) as usize;
//!         [255 - frame[at], 255 - frame[at + 1], 255 - frame[at + 2], 255]
//!     })
//! });
//! // `Source::video("clip.mp4")?`, or `Source::y4m(std::io::stdin())?`.
//! let bytes = b"YUV4MPEG2 W2 H1 F25:1 Cmono XCOLORRANGE=FULL\nFRAME\n\x07\x64FRAME\n\x08\x65";
//! let source = Source::y4m(&bytes[..])?;
//! let surface = SurfaceDesc::image(2, 1, PixelFormat::Rgba8);
//! let builder = LinkBuilder::new(surface).backend(BackendChoice::Cpu).display(DisplayChoice::Memory);
//! let mut link = builder.open()?.link;
//! let kernel = link.backend().build(&invert)?;
//! let mut film = Film::new(source, Form::Rgba8, link.backend());
//! let mut seen = Vec::new();
//! while let Some(frame) = film.next_frame()? {
//!     let arguments = [Arg::Memory(frame.memory()), Arg::U32(frame.extent().width)];
//!     link.frame(|next| next.launch(kernel.as_ref(), &arguments))?;
//!     seen.push(link.read_back()?[0]);
//! }
//! assert_eq!(seen, [248, 247]);
//! # Ok(())
//! # }
//! ```
//!
//! | kernel in | a frame of [`Form::Rgba8`] |
//! |---|---|
//! | WGSL | `@group(1) @binding(0) var<storage, read> frame: array<u32>`, and `unpack4x8unorm(frame[y * width + x])` |
//! | OpenCL C, CUDA C++ | `const uchar4 *frame`, `frame[y * width + x]` |
//! | Rust | `args.memory::<u8>(0)?`, four a pixel |

pub use crate::source::{Frame, Source, SourceError};
pub use crate::yuv::{Layout, Plane, Planes, Weights};

use interop_core::{ComputeBackend, ComputeMemory, Error, Extent};
use std::sync::Arc;
use std::time::Duration;

/// Most frames that are decoded to reach one.
const MOST_AT_ONCE: u64 = 64;

/// Content of a film's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Red, green, blue and 255 of each pixel in tight rows, the top row first, in one memory. The host converts them.
    #[default]
    Rgba8,
    /// The planes of the video, in the layout of [`FilmFrame::planes`], each in a memory of its own: luma, then blue's
    /// and red's chroma, which may be missing or both in one plane.
    Planes,
}

/// Reason why a film has no next frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilmError {
    /// The video is damaged, or cannot be decoded.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The backend could not store a frame.
    #[error(transparent)]
    Driver(#[from] Error),
}

/// A video whose frames are copied to memory of a backend, one after another.
///
/// Threads: a film stays on the thread of its backend's memory.
pub struct Film {
    source: Source,
    form: Form,
    backend: Arc<dyn ComputeBackend>,
    /// Memory of the last frame, one for each plane.
    memory: Vec<Box<dyn ComputeMemory>>,
    /// The last frame, and its number.
    last: Option<(Frame, u64)>,
    /// Number of frames that were read.
    read: u64,
}

/// The last frame of a film. Kernels may read it until the next one is requested; the backend orders its writes after
/// their reads.
pub struct FilmFrame<'f> {
    memory: &'f [Box<dyn ComputeMemory>],
    first: &'f dyn ComputeMemory,
    form: Form,
    frame: &'f Frame,
    number: u64,
    period: Duration,
}

/// Returns the time at which a frame begins.
fn begin(number: u64, period: Duration) -> Duration {
    period.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX))
}

impl Film {
    /// Creates a film from a source, in memory of a backend, before its first frame.
    #[must_use]
    pub fn new(source: Source, form: Form, backend: &Arc<dyn ComputeBackend>) -> Self {
        Self { source, form, backend: Arc::clone(backend), memory: Vec::new(), last: None, read: 0 }
    }

    /// Copies the next frame to the backend; `None` at the end. No frame is skipped.
    ///
    /// # Errors
    /// [`FilmError`]. After an error of the backend, the previous frame is gone.
    pub fn next_frame(&mut self) -> Result<Option<FilmFrame<'_>>, FilmError> {
        let Some(frame) = self.source.next_frame()? else { return Ok(None) };
        self.read += 1;
        self.bring(frame)?;
        Ok(self.frame())
    }

    /// Copies the frame that is on show at this time since the first one, and skips those before it, at most 64 at
    /// once; `None` from the end on. Reads nothing where that frame is already there.
    ///
    /// # Errors
    /// Those of [`Film::next_frame`].
    pub fn frame_at(&mut self, time: Duration) -> Result<Option<FilmFrame<'_>>, FilmError> {
        let mut newest = None;
        let most = self.read + MOST_AT_ONCE;
        while self.read < most && (self.read == 0 || begin(self.read, self.source.period()) <= time) {
            match self.source.next_frame()? {
                Some(frame) => newest = Some(frame),
                None => return Ok(None),
            }
            self.read += 1;
        }
        if let Some(frame) = newest {
            self.bring(frame)?;
        }
        Ok(self.frame())
    }

    /// Returns the last frame.
    pub fn frame(&self) -> Option<FilmFrame<'_>> {
        let ((frame, number), first) = (self.last.as_ref()?, self.memory.first()?.as_ref());
        let (number, period) = (*number, self.source.period());
        Some(FilmFrame { memory: &self.memory, first, form: self.form, frame, number, period })
    }

    /// Copies the frame that was read last to the backend.
    fn bring(&mut self, frame: Frame) -> Result<(), Error> {
        self.last = None;
        let pixels;
        let parts: Vec<&[u8]> = match self.form {
            Form::Rgba8 => {
                pixels = frame.rgba();
                vec![&pixels]
            }
            Form::Planes => {
                let planes = frame.planes().planes();
                planes.into_iter().filter_map(|plane| frame.bytes().get(plane.range)).collect()
            }
        };
        let there = self.memory.iter().map(|memory| memory.len());
        if !there.eq(parts.iter().map(|part| room(part))) {
            self.memory = parts.iter().map(|part| self.backend.allocate(room(part))).collect::<Result<_, _>>()?;
        }
        for (memory, part) in self.memory.iter_mut().zip(&parts) {
            memory.write(0, part)?;
        }
        self.last = Some((frame, self.read.saturating_sub(1)));
        Ok(())
    }
}

/// Returns the size of the memory for these bytes: shaders read words.
const fn room(part: &[u8]) -> usize {
    part.len().next_multiple_of(4)
}

impl<'f> FilmFrame<'f> {
    /// Number of the frame, counted from 0.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Time at which the frame begins, counted from the first frame.
    pub fn time(&self) -> Duration {
        begin(self.number, self.period)
    }

    /// Returns the width and height in pixels.
    pub const fn extent(&self) -> Extent {
        self.frame.extent()
    }

    /// Returns the only memory of [`Form::Rgba8`], or that of luma.
    pub const fn memory(&self) -> &'f dyn ComputeMemory {
        self.first
    }

    /// Returns the planes of [`Form::Planes`] with their memories, in which [`Plane::range`] begins at 0; empty for
    /// [`Form::Rgba8`].
    pub fn planes(&self) -> Vec<(&'f dyn ComputeMemory, Plane)> {
        if self.form == Form::Rgba8 {
            return Vec::new();
        }
        let planes = self.frame.planes().planes();
        let place = |plane: Plane| Plane { range: 0..plane.range.len(), ..plane };
        self.memory.iter().zip(planes).map(|(memory, plane)| (memory.as_ref(), place(plane))).collect()
    }

    /// Returns the frame in host memory.
    pub const fn host(&self) -> &'f Frame {
        self.frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::CpuBackend;

    /// Five frames of 3 by 2 pixels, four a second; each has its number in all its luma.
    fn film(colours: &str, bytes: usize, form: Form) -> Film {
        let mut film = format!("YUV4MPEG2 W3 H2 F4:1 {colours} XCOLORRANGE=FULL\n").into_bytes();
        for number in 0..5 {
            film.extend(b"FRAME\n");
            film.extend((0..bytes).map(|at| if at < 6 { 10 * number } else { 128 }));
        }
        let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
        Film::new(Source::y4m(std::io::Cursor::new(film)).unwrap(), form, &backend)
    }

    /// Bytes of one of its memories.
    fn bytes(film: &mut Film, at: usize, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        film.memory[at].read(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn frames_come_in_order_and_by_the_time() {
        let mut all = film("C444", 18, Form::Rgba8);
        for number in 0..5 {
            let frame = all.next_frame().unwrap().unwrap();
            assert_eq!((frame.number(), frame.time()), (number, Duration::from_millis(250 * number)));
            let grey = 10 * number as u8;
            assert_eq!(bytes(&mut all, 0, 24), [grey, grey, grey, 255].repeat(6));
        }
        assert!(all.next_frame().unwrap().is_none());
        let mut timed = film("Cmono", 6, Form::Rgba8);
        for (time, number) in [(0, 0), (249, 0), (250, 1), (600, 2), (100, 2), (1249, 4)] {
            let frame = timed.frame_at(Duration::from_millis(time)).unwrap().unwrap();
            assert_eq!(frame.number(), number, "{time}");
            assert_eq!(bytes(&mut timed, 0, 1), [10 * number as u8], "{time}");
        }
        assert!(timed.frame_at(Duration::from_millis(1250)).unwrap().is_none());
        let mut short = film("Cmono", 6, Form::Rgba8);
        assert!(short.next_frame().unwrap().is_some() && short.frame_at(Duration::from_secs(9)).unwrap().is_none());
        assert_eq!(short.frame().unwrap().number(), 0, "the last that came");
    }

    #[test]
    fn planes_lie_in_memories_of_their_own() {
        for (colours, count, sizes) in [
            ("C420", 10, &[(3, 2), (2, 1), (2, 1)][..]),
            ("C422", 14, &[(3, 2), (2, 2), (2, 2)]),
            ("C444", 18, &[(3, 2), (3, 2), (3, 2)]),
            ("Cmono", 6, &[(3, 2)]),
        ] {
            let mut film = film(colours, count, Form::Planes);
            let frame = film.frame_at(Duration::from_secs(1)).unwrap().unwrap();
            let planes: Vec<_> = frame.planes().into_iter().map(|(_, plane)| plane).collect();
            let found: Vec<_> = planes.iter().map(|plane| (plane.extent.width, plane.extent.height)).collect();
            assert_eq!(found, sizes, "{colours}");
            let host = frame.host().rgba();
            assert_eq!((host.len(), host[0], host[3]), (24, 40, 255));
            for (at, plane) in planes.into_iter().enumerate() {
                assert_eq!((plane.range.start, plane.pitch), (0, plane.extent.width as usize));
                let expected = vec![if at == 0 { 40 } else { 128 }; plane.range.len()];
                assert_eq!(bytes(&mut film, at, expected.len()), expected, "{colours}, plane {at}");
            }
        }
    }
}
