//! Checks of the pixels that a frame leaves unwritten, for each rule and each kind of surface.

use super::context::Context;
use super::failure::{Failure, each};
use super::pixels::{any, paste, same_bytes, tight};
use crate::compute::Target;
use crate::describe::error::Error;
use crate::describe::format::PixelFormat;
use crate::describe::geometry::{Region, RowOrder};
use crate::describe::pattern::Pattern;
use crate::describe::surface::{ImageDesc, SurfaceDesc, Unwritten};
use crate::describe::view::View;
use crate::display::SurfacePart;
use crate::link::{Link, WriteFrame};

pub(super) fn kept(context: &Context<'_>) -> Result<(), Failure> {
    each(surfaces(), |desc| play(context, desc, Unwritten::Keep))
}

pub(super) fn cleared(context: &Context<'_>) -> Result<(), Failure> {
    each(surfaces(), |desc| play(context, desc, Unwritten::Clear))
}

pub(super) fn overwritten(context: &Context<'_>) -> Result<(), Failure> {
    each(surfaces(), |desc| play(context, desc, Unwritten::Overwrite))
}

/// Returns surfaces with rows in both orders, rows with gaps between them, a texture, and a buffer.
pub(super) fn surfaces() -> [SurfaceDesc; 5] {
    let rgba = any(37, 23, PixelFormat::Rgba8);
    [
        SurfaceDesc::Image(rgba),
        SurfaceDesc::Image(rgba.with_row_order(RowOrder::BottomUp)),
        SurfaceDesc::Image(any(37, 9, PixelFormat::R8).with_row_order(RowOrder::BottomUp)),
        SurfaceDesc::Image(ImageDesc::new(19, 11, PixelFormat::Rgba32F)),
        SurfaceDesc::buffer(5000),
    ]
}

/// A link together with a model of what it must show.
struct Run<'a> {
    context: &'a Context<'a>,
    link: Link,
    desc: SurfaceDesc,
    rule: Unwritten,
    /// Pictures that were shown or will be, oldest first; starts with zeros.
    pictures: Vec<Vec<u8>>,
    /// Index of the oldest picture that may be on show.
    floor: usize,
    /// Everything that was ever written, including discarded frames.
    seen: Vec<Vec<u8>>,
    nonce: u32,
}

fn play(context: &Context<'_>, desc: SurfaceDesc, rule: Unwritten) -> Result<(), Failure> {
    let desc = desc.with_unwritten(rule);
    let mut run = Run::open(context, desc)?;
    let (full, columns) = (SurfacePart::full(&desc), columns(&desc));
    let parts = parts(&desc);
    // Nothing was written yet, neither by a finished frame nor by a discarded one.
    run.give_up(&full, &columns[..1])?;
    run.frame(&full, &[])?;
    run.frame(&full, &columns[1..2])?;
    run.frame(&full, std::slice::from_ref(&full))?;
    for column in columns.chunks(1) {
        run.frame(&full, column)?;
    }
    for _ in 0..6 {
        run.frame(&full, &[])?;
    }
    run.flush()?;
    for column in columns.chunks(2) {
        run.give_up(&full, column)?;
        run.fail(&full, std::slice::from_ref(&full))?;
        run.frame(&full, &[])?;
    }
    for (part, inside) in &parts {
        run.frame(part, std::slice::from_ref(inside))?;
        run.frame(&full, &columns[2..3])?;
        run.give_up(part, std::slice::from_ref(part))?;
        run.frame(part, &[])?;
        run.frame(part, std::slice::from_ref(part))?;
        run.fail(&full, &columns[..4])?;
    }
    run.flush()?;
    run.frame(&full, &columns[..1])?;
    // First into new memory, then twice into memory with room.
    for (part, inside) in &parts {
        run.resize()?;
        let full = SurfacePart::full(&run.desc);
        run.give_up(&full, &columns[..1])?;
        run.frame(part, std::slice::from_ref(inside))?;
        run.frame(&full, &columns[3..4])?;
        run.frame(&full, &[])?;
    }
    run.flush()
}

/// Returns narrow parts that do not touch each other, valid for a surface and for a slightly larger one.
pub(super) fn columns(desc: &SurfaceDesc) -> Vec<SurfacePart> {
    let column = |n: u32| match desc {
        SurfaceDesc::Image(i) => SurfacePart::Image(Region::new(3 * n, 0, 1 + n % 2, i.extent.height)),
        SurfaceDesc::Buffer(_) => SurfacePart::Buffer(n as usize * 700..n as usize * 700 + 44),
    };
    (0..6).map(column).collect()
}

/// Returns parts for separate frames, each with the area that is written inside.
pub(super) fn parts(desc: &SurfaceDesc) -> [(SurfacePart, SurfacePart); 3] {
    let region = |x, y, width, height| SurfacePart::Image(Region::new(x, y, width, height));
    match desc {
        SurfaceDesc::Image(i) => {
            let (width, height) = (i.extent.width, i.extent.height);
            [
                (region(2, 1, 11, 5), region(4, 2, 3, 3)),
                (region(0, height - 2, width, 2), region(1, height - 2, 2, 1)),
                (region(width - 3, 0, 3, height), region(width - 1, 3, 1, 1)),
            ]
        }
        SurfaceDesc::Buffer(_) => [
            (SurfacePart::Buffer(12..900), SurfacePart::Buffer(16..60)),
            (SurfacePart::Buffer(4000..5000), SurfacePart::Buffer(4996..5000)),
            (SurfacePart::Buffer(0..4), SurfacePart::Buffer(0..4)),
        ],
    }
}

/// Returns a slightly larger surface.
fn larger(desc: &SurfaceDesc) -> SurfaceDesc {
    match *desc {
        SurfaceDesc::Image(mut i) => {
            i.extent.width += 2;
            i.extent.height += 1;
            SurfaceDesc::Image(i)
        }
        SurfaceDesc::Buffer(mut b) => {
            b.bytes += 512;
            SurfaceDesc::Buffer(b)
        }
    }
}

/// Returns a surface with the size of `part`.
pub(super) fn alone(desc: &SurfaceDesc, part: &SurfacePart) -> SurfaceDesc {
    match (desc, part) {
        (SurfaceDesc::Image(i), SurfacePart::Image(r)) => SurfaceDesc::image(r.width, r.height, i.format),
        (_, SurfacePart::Buffer(range)) => SurfaceDesc::buffer(range.len() as u64),
        (SurfaceDesc::Buffer(_), SurfacePart::Image(r)) => SurfaceDesc::buffer(r.extent().pixels()),
    }
}

/// Puts the tight bytes of `part` into those of the whole surface.
pub(super) fn put(picture: &mut [u8], desc: &SurfaceDesc, part: &SurfacePart, bytes: &[u8]) {
    match (desc, part) {
        (SurfaceDesc::Image(i), SurfacePart::Image(r)) => {
            paste(picture, i.extent, *r, bytes, i.format.bytes_per_pixel());
        }
        (_, SurfacePart::Buffer(range)) => picture[range.clone()].copy_from_slice(bytes),
        (SurfaceDesc::Buffer(_), SurfacePart::Image(_)) => {}
    }
}

/// Writes a pattern into `at`, as a kernel would, in a target that was given for `part`; returns the written bytes.
pub(super) fn write_part(
    context: &Context<'_>,
    desc: &SurfaceDesc,
    (part, target): (&SurfacePart, Target<'_>),
    at: &SurfacePart,
    nonce: u32,
) -> Result<(SurfacePart, Vec<u8>), Error> {
    let (memory, view) = target.into_parts();
    let inside = match (view, part, at) {
        (View::Image(mut v), SurfacePart::Image(part), SurfacePart::Image(at)) => {
            v.offset = v.row_start(at.y - part.y) + (at.x - part.x) as usize * v.format.bytes_per_pixel();
            v.extent = at.extent();
            View::Image(v)
        }
        (View::Buffer(mut v), SurfacePart::Buffer(part), SurfacePart::Buffer(at)) => {
            v.offset += at.start - part.start;
            v.len = at.len();
            View::Buffer(v)
        }
        _ => return Err(Error::invalid("conformance", "the target and the part differ in kind")),
    };
    let tight = tight(&alone(desc, at))?;
    let pattern = Pattern::for_view(&tight, nonce);
    context.backend.write_pattern(Target::new(memory, inside)?, &pattern)?;
    let mut bytes = vec![0; tight.payload_len()];
    pattern.write(&tight, &mut bytes);
    Ok((at.clone(), bytes))
}

impl<'a> Run<'a> {
    fn open(context: &'a Context<'a>, desc: SurfaceDesc) -> Result<Self, Failure> {
        let link = context.open(desc)?;
        let rule = desc.unwritten();
        let mut run = Self { context, link, desc, rule, pictures: Vec::new(), floor: 0, seen: Vec::new(), nonce: 1000 };
        run.begin_anew()?;
        Ok(run)
    }

    /// Records that nothing was written at this size.
    fn begin_anew(&mut self) -> Result<(), Failure> {
        let zero = vec![0; self.desc.byte_len()?];
        self.seen = vec![zero.clone()];
        (self.pictures, self.floor) = (vec![zero], 0);
        Ok(())
    }

    /// Writes a pattern into each of `written`, as a kernel would; returns the written bytes.
    fn write(
        context: &Context<'_>,
        desc: &SurfaceDesc,
        frame: &mut WriteFrame<'_>,
        written: &[SurfacePart],
        nonce: u32,
    ) -> Result<Vec<(SurfacePart, Vec<u8>)>, Error> {
        let part = frame.part().clone();
        let parts = (nonce..).zip(written);
        parts.map(|(nonce, at)| write_part(context, desc, (&part, frame.target()?), at, nonce)).collect()
    }

    /// Begins a frame and writes into it; the caller discards it.
    fn begun(&mut self, part: &SurfacePart, written: &[SurfacePart]) -> Result<WriteFrame<'_>, Failure> {
        self.nonce += 10;
        let mut frame = match part {
            _ if *part == SurfacePart::full(&self.desc) => self.link.acquire()?,
            SurfacePart::Image(region) => self.link.acquire_region(*region)?,
            SurfacePart::Buffer(range) => self.link.acquire_bytes(range.clone())?,
        };
        for (at, bytes) in Self::write(self.context, &self.desc, &mut frame, written, self.nonce)? {
            let mut seen = self.seen[0].clone();
            put(&mut seen, &self.desc, &at, &bytes);
            self.seen.push(seen);
        }
        Ok(frame)
    }

    /// Runs a frame that writes only some parts, and checks it against the model.
    fn frame(&mut self, part: &SurfacePart, written: &[SurfacePart]) -> Result<(), Failure> {
        let begun = self.seen.len();
        self.begun(part, written)?.finish()?;
        let mut picture = self.pictures.last().cloned().unwrap_or_default();
        if self.rule != Unwritten::Keep {
            let zeros = vec![0; alone(&self.desc, part).byte_len()?];
            put(&mut picture, &self.desc, part, &zeros);
        }
        let mut mine = vec![false; picture.len()];
        for (at, seen) in written.iter().zip(&self.seen[begun..]) {
            let len = alone(&self.desc, at).byte_len()?;
            let mut marks = vec![0; picture.len()];
            put(&mut marks, &self.desc, at, &vec![1; len]);
            for (i, _) in marks.iter().enumerate().filter(|(_, mark)| **mark == 1) {
                (picture[i], mine[i]) = (seen[i], true);
            }
        }
        if self.rule == Unwritten::Overwrite {
            picture = self.judge_leftovers(part, picture, &mine)?;
        }
        self.seen.push(picture.clone());
        self.pictures.push(picture);
        if self.pictures.len() == 2 {
            // The first frame is shown at once.
            self.floor = 1;
        }
        self.check("on show")
    }

    /// Checks that unwritten bytes were in a frame of this link at the same place before, or are zero.
    fn judge_leftovers(&mut self, part: &SurfacePart, expected: Vec<u8>, mine: &[bool]) -> Result<Vec<u8>, Failure> {
        self.link.flush()?;
        self.floor = self.pictures.len();
        let shown = self.link.read_back()?;
        let mut inside = vec![0; expected.len()];
        put(&mut inside, &self.desc, part, &vec![1; alone(&self.desc, part).byte_len()?]);
        for (i, byte) in shown.iter().enumerate() {
            let is_open = inside[i] == 1 && !mine[i];
            let fits = if is_open { self.seen.iter().any(|seen| seen[i] == *byte) } else { expected[i] == *byte };
            if !fits {
                return Err(Failure::Failed(format!(
                    "{}, {part} overwritten: byte {i} is {byte:#04x}, which no frame of this link has written there",
                    self.desc
                )));
            }
        }
        Ok(shown)
    }

    fn check(&mut self, what: &str) -> Result<(), Failure> {
        let newest = self.pictures.len() - 1;
        let shown = newest.saturating_sub(self.link.frames_behind()).max(self.floor);
        let what = format!("{}, unwritten: {}, frame {newest}, {what}", self.desc, self.rule);
        same_bytes(&what, &self.pictures[shown], &self.link.read_back()?)
    }

    /// Begins a frame, writes into it and drops it.
    fn give_up(&mut self, part: &SurfacePart, written: &[SurfacePart]) -> Result<(), Failure> {
        drop(self.begun(part, written)?);
        self.unchanged("after a frame was given up")
    }

    /// Runs a frame whose closure fails after it has written.
    fn fail(&mut self, part: &SurfacePart, written: &[SurfacePart]) -> Result<(), Failure> {
        self.nonce += 10;
        let (context, desc, nonce) = (self.context, self.desc, self.nonce);
        let mut seen = Vec::new();
        let compute = |frame: &mut WriteFrame<'_>| {
            seen = Self::write(context, &desc, frame, written, nonce)?;
            Err(Error::invalid("conformance", "given up on purpose"))
        };
        let done = match part {
            _ if *part == SurfacePart::full(&desc) => self.link.frame(compute),
            SurfacePart::Image(region) => self.link.frame_region(*region, compute),
            SurfacePart::Buffer(range) => self.link.frame_bytes(range.clone(), compute),
        };
        match done {
            Err(Error::InvalidInput { .. }) => {}
            other => return Err(Failure::Failed(format!("a frame whose closure failed returned {other:?}"))),
        }
        for (at, bytes) in seen {
            let mut picture = self.seen[0].clone();
            put(&mut picture, &desc, &at, &bytes);
            self.seen.push(picture);
        }
        self.unchanged("after a closure failed")
    }

    fn unchanged(&mut self, what: &str) -> Result<(), Failure> {
        match self.pictures.len() {
            1 => Ok(()),
            _ => self.check(what),
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.link.flush()?;
        self.floor = self.pictures.len() - 1;
        self.check("after a flush")
    }

    fn resize(&mut self) -> Result<(), Failure> {
        self.desc = larger(&self.desc);
        self.link.resize(self.desc)?;
        self.begin_anew()
    }
}
