//! `cargo bench -p pixelferry-measure --bench queue [-- --json FILE --frames N --sizes TEXT;... --rows TEXT;...]`:
//! kernels in the display's own queue. Every frame a kernel writes all pixels and a draw brings them to a target of the same
//! size, by a triangle or by a compute shader; or the kernel writes the target itself (straight). Beside pixelferry stand programs by hand that do nothing else, on OpenGL, wgpu and
//! Vulkan, and the floors: the kernel alone and the draw alone. Any device will do.
//!
//! `latency` waits for the device after every frame, of which `call` is the time until the calls return; `throughput` only after every run of frames, none of them late. Rows are
//! measured in turns. Pixels are read back and compared before anything is timed. One JSON object a line.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

mod gl_by_hand;
mod ours;
mod report;
mod shaders;
mod vulkan_by_hand;
mod vulkan_ours;
mod wgpu_by_hand;

use measure::{listed, number, write_rows};
use pixelferry::Manner;
use report::{Report, measure};

/// One row: frames of it can be made, waited for, and read.
pub trait Subject {
    /// Returns what it is called.
    fn name(&self) -> String;
    /// Before frames, after those of others.
    fn begin(&mut self) {}
    /// Queues frame `n`; waits for nothing that it need not.
    fn frame(&mut self, n: u32);
    /// Waits until the device has done all.
    fn finish(&mut self);
    /// The target's pixels, RGBA8, after [`Subject::finish`]; `None` where nothing is drawn, or what is drawn is no frame.
    fn pixels(&mut self) -> Option<Vec<u8>>;
}

/// Work of a row for each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Kernel and draw.
    Both(Manner),
    /// The draw of what was computed once.
    Draw(Manner),
    /// The kernel.
    Kernel,
    /// A kernel that writes the target itself.
    Straight,
}

impl Work {
    const ALL: [Self; 6] = [
        Self::Straight,
        Self::Both(Manner::Triangle),
        Self::Both(Manner::Compute),
        Self::Draw(Manner::Triangle),
        Self::Draw(Manner::Compute),
        Self::Kernel,
    ];

    pub fn name(self) -> String {
        match self {
            Self::Both(manner) => format!("kernel and draw by {manner}"),
            Self::Draw(manner) => format!("floor: draw by {manner} alone"),
            Self::Kernel => "floor: kernel alone".into(),
            Self::Straight => "straight".into(),
        }
    }

    pub fn computes(self) -> bool {
        !matches!(self, Self::Draw(_))
    }

    /// True where the target holds frames.
    pub fn shows(self) -> bool {
        self == Self::Straight || self.draws().is_some()
    }

    pub fn draws(self) -> Option<Manner> {
        match self {
            Self::Both(manner) | Self::Draw(manner) => Some(manner),
            Self::Kernel | Self::Straight => None,
        }
    }
}

/// How a frame gets into the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By a draw, where the work has one.
    Draw,
    /// By a copy of the rows.
    Copy,
    /// The kernel itself stores there.
    Straight,
}

impl End {
    pub fn name(self) -> &'static str {
        match self {
            Self::Draw => "",
            Self::Copy => "kernel and copy",
            Self::Straight => "kernel straight into the target",
        }
    }
}

const SIZES: [(&str, u32, u32); 4] = [("64x64", 64, 64), ("1080p", 1920, 1080), ("4K", 3840, 2160), ("8K", 7680, 4320)];

/// The pixel that a kernel writes in frame `n`.
fn expected(x: u32, y: u32, n: u32) -> [u8; 4] {
    [x.wrapping_add(n) as u8, y as u8, n as u8, 255]
}

fn check(subject: &mut dyn Subject, width: u32) {
    subject.begin();
    for n in 1..=12 {
        subject.frame(n);
    }
    subject.finish();
    let Some(pixels) = subject.pixels() else { return };
    for (i, pixel) in (0..).zip(pixels.as_chunks::<4>().0) {
        let (x, y) = (i % width, i / width);
        assert_eq!(*pixel, expected(x, y, 12), "{}: pixel {x}, {y}", subject.name());
    }
}

fn main() {
    let frames = number("--frames", 300);
    let mut report = Report::new();
    for (size, width, height) in SIZES.into_iter().filter(|(size, ..)| listed("--sizes", size)) {
        let mut subjects: Vec<Box<dyn Subject>> = Vec::new();
        subjects.extend(ours::subjects(width, height));
        subjects.extend(vulkan_ours::subjects(width, height));
        subjects.extend(gl_by_hand::subjects(width, height));
        subjects.extend(vulkan_by_hand::subjects(width, height));
        subjects.retain(|subject| listed("--rows", &subject.name()));
        subjects.iter_mut().for_each(|subject| check(subject.as_mut(), width));
        measure(&mut subjects, size, frames, &mut report);
    }
    write_rows(&report.0);
}
