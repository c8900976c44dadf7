//! `cargo bench -p pixelferry-measure --bench queue [-- --json FILE --frames N --sizes TEXT;... --rows TEXT;...]`:
//! measures kernels in the display's own queue. In every frame a kernel writes all pixels, and a draw copies them to a
//! target of the same size by a triangle or a compute shader; or the kernel writes the target itself (straight).
//! pixelferry is compared with programs written by hand that do nothing else, on OpenGL, wgpu and Vulkan, and with the
//! lower limits: the kernel alone and the draw alone. Any device will do.
//!
//! `latency` waits for the device after every frame, and `call` is the part of it until the calls return. `throughput`
//! waits only after every run of frames, none of which is late. Rows are measured in turns. Pixels are read back and
//! compared before anything is timed. The output has one JSON object on each line.

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

/// One row: its frames can be queued, waited for and read.
pub trait Subject {
    /// Returns the name of the row.
    fn name(&self) -> String;
    /// Prepares for frames after those of other rows.
    fn begin(&mut self) {}
    /// Queues frame `n`, and waits for nothing that is not necessary.
    fn frame(&mut self, n: u32);
    /// Waits until the device has finished all work.
    fn finish(&mut self);
    /// Returns the target's RGBA8 pixels after [`Subject::finish`]; `None` if nothing is drawn, or if what is drawn is
    /// not a frame.
    fn pixels(&mut self) -> Option<Vec<u8>>;
}

/// The work of a row in each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The kernel and the draw.
    Both(Manner),
    /// The draw of a frame that was computed once.
    Draw(Manner),
    /// The kernel alone.
    Kernel,
    /// A kernel that writes the target directly.
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

    /// Returns true if the target holds frames.
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
    /// By a draw, if the work has one.
    Draw,
    /// By a copy of the rows.
    Copy,
    /// The kernel stores directly to the target.
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

/// Returns the pixel that a kernel writes in frame `n`.
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
    measure::options(&["--frames", "--json", "--rows", "--sizes"]);
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
