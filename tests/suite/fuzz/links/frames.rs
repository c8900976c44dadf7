//! Frames: whole and in part, finished, dropped and forgotten.

use super::World;
use crate::fuzz::{Checked, Log, Rng, hold, hostile, kernels};
use pixelferry::{Arg, Error, ImageView, Kernel, PixelFormat, Region, SurfaceDesc, WriteFrame};
use std::ops::Range;
use std::sync::Arc;

/// How a frame is computed.
enum Way {
    Bytes(Vec<u8>),
    Kernel(Arc<dyn Kernel>, u32),
}

impl Way {
    fn apply(&self, frame: &mut WriteFrame<'_>) -> pixelferry::Result<()> {
        match self {
            Self::Bytes(bytes) => frame.write(bytes),
            Self::Kernel(kernel, seed) => frame.launch(kernel.as_ref(), &[Arg::U32(*seed)]),
        }
    }
}

/// A part of a surface and where it goes.
#[derive(Clone)]
enum Piece {
    Image(Region),
    Bytes(Range<usize>),
}

impl Piece {
    fn desc(&self, of: &SurfaceDesc) -> SurfaceDesc {
        match (self, of) {
            (Self::Image(region), SurfaceDesc::Image(image)) => {
                SurfaceDesc::image(region.width, region.height, image.format)
            }
            (Self::Image(region), _) => SurfaceDesc::image(region.width, region.height, PixelFormat::R8),
            (Self::Bytes(range), _) => SurfaceDesc::buffer(range.len() as u64),
        }
    }

    fn fits(&self, of: &SurfaceDesc) -> bool {
        match (self, of) {
            (Self::Image(region), SurfaceDesc::Image(image)) => region.check_inside(image.extent, "fits").is_ok(),
            (Self::Bytes(range), SurfaceDesc::Buffer(buffer)) => {
                range.start < range.end && range.end as u64 <= buffer.bytes
            }
            _ => false,
        }
    }

    fn paste(&self, part: &[u8], whole: &mut [u8], of: &SurfaceDesc) {
        match (self, of) {
            (Self::Image(region), SurfaceDesc::Image(image)) => {
                let bpp = image.format.bytes_per_pixel();
                for (y, row) in part.chunks(region.width as usize * bpp).enumerate() {
                    let at = ((region.y as usize + y) * image.extent.width as usize + region.x as usize) * bpp;
                    whole[at..at + row.len()].copy_from_slice(row);
                }
            }
            (Self::Bytes(range), _) => whole[range.clone()].copy_from_slice(part),
            _ => {}
        }
    }
}

impl World<'_> {
    /// Computes what `desc` describes, and says what it will be.
    fn way(&self, rng: &mut Rng, at: usize, desc: &SurfaceDesc) -> Checked<(Way, Vec<u8>)> {
        let seed = rng.word();
        let finite = self.open[at].content(rng, desc)?;
        Ok(match desc {
            SurfaceDesc::Image(image) if rng.one_in(2) => {
                let mut bytes = finite;
                kernels::paint(&ImageView::packed(image.extent, image.format, 1, 0, false)?, seed, &mut bytes);
                let number = PixelFormat::ALL.iter().position(|format| *format == image.format).unwrap_or(0);
                (Way::Kernel(Arc::clone(&self.pair.kernels[number]), seed), bytes)
            }
            SurfaceDesc::Buffer(_) if rng.one_in(2) => {
                let bytes = (0..finite.len()).map(|i| kernels::stamp_byte(i, seed)).collect();
                (Way::Kernel(Arc::clone(&self.pair.stamp), seed), bytes)
            }
            _ => (Way::Bytes(finite.clone()), finite),
        })
    }

    pub(super) fn frame(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let desc = self.open[at].desc;
        let (way, bytes) = self.way(rng, at, &desc)?;
        let open = &mut self.open[at];
        log.op("links: frame", format_args!("{desc} by {}", open.link.path()));
        let made = log.end_with(open.link.frame(|frame| way.apply(frame)));
        if open.forgive("frame", made)? {
            open.shows(bytes);
        }
        Ok(())
    }

    pub(super) fn acquired(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let desc = self.open[at].desc;
        let (way, bytes) = self.way(rng, at, &desc)?;
        let open = &mut self.open[at];
        let what = rng.below(12);
        log.op("links: acquire and finish, drop or forget", format_args!("{desc} by {}, {what}", open.link.path()));
        let made = open.link.acquire().and_then(|mut frame| {
            let written = if what == 3 { Ok(()) } else { way.apply(&mut frame) };
            match what {
                0 | 3 => {
                    drop(frame);
                    written.map(|()| false)
                }
                1 => {
                    std::mem::forget(frame);
                    written.map(|()| false)
                }
                2 => {
                    // Written twice.
                    written?;
                    way.apply(&mut frame)?;
                    frame.finish().map(|()| true)
                }
                _ => {
                    written?;
                    frame.finish().map(|()| true)
                }
            }
        });
        let made = log.end_with(made);
        let finished = matches!(made, Ok(true));
        open.forgive("acquire", made)?;
        if finished {
            open.shows(bytes);
        }
        Ok(())
    }

    pub(super) fn part(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let desc = self.open[at].desc;
        let piece = match &desc {
            SurfaceDesc::Image(image) if !rng.one_in(20) => Piece::Image(hostile::region(rng, image.extent)),
            SurfaceDesc::Buffer(buffer) if !rng.one_in(20) => Piece::Bytes(hostile::range(rng, buffer.bytes as usize)),
            SurfaceDesc::Image(_) => Piece::Bytes(0..1),
            SurfaceDesc::Buffer(_) => Piece::Image(Region::new(0, 0, 1, 1)),
        };
        let fits = piece.fits(&desc);
        let (way, bytes) =
            if fits { self.way(rng, at, &piece.desc(&desc))? } else { (Way::Bytes(Vec::new()), Vec::new()) };
        let open = &mut self.open[at];
        let (mut whole, drops) = (open.before()?, rng.one_in(8));
        let mut compute = |frame: &mut WriteFrame<'_>| {
            way.apply(frame)?;
            if drops { Err(Error::invalid("compute", "given up on purpose")) } else { Ok(()) }
        };
        log.op("links: part of a frame", format_args!("{desc} by {}", open.link.path()));
        let made = match piece.clone() {
            Piece::Image(region) => open.link.frame_region(region, &mut compute),
            Piece::Bytes(range) => open.link.frame_bytes(range, &mut compute),
        };
        let made = log.end_with(made);
        if !fits || drops {
            hold!(made.is_err(), "a part outside of the {desc}, or one given up, was taken");
            return Ok(());
        }
        if open.forgive("part", made)? {
            piece.paste(&bytes, &mut whole, &desc);
            open.shows(whole);
        }
        Ok(())
    }

    /// Bytes of a wrong number, kernels and views that do not fit; then the frame is shown all the same.
    pub(super) fn refused(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let desc = self.open[at].desc;
        let (way, bytes) = self.way(rng, at, &desc)?;
        let open = &mut self.open[at];
        let (wrong, stamp) = (hostile::near(rng, bytes.len()).min(1 << 16), &self.pair.stamp);
        let mut taken = false;
        log.op("links: frame with refusals", format_args!("{desc} by {}", open.link.path()));
        let made = open.link.frame(|frame| {
            taken |= wrong != bytes.len() && frame.write(&vec![1; wrong]).is_ok();
            taken |= frame.launch(stamp.as_ref(), &[Arg::F64(1.0), Arg::I32(3)]).is_ok();
            let (memory, view) = frame.target()?.into_parts();
            let len = memory.len();
            taken |= memory.read(len, &mut [0; 1]).is_ok();
            taken |= memory.write(len.wrapping_sub(1), &[0; 2]).is_ok();
            taken |= memory.map_write(len..len + 1, &mut |_| Ok(())).is_ok();
            taken |= view.check_inside(len, "refused").is_err();
            way.apply(frame)
        });
        let made = log.end_with(made);
        if open.forgive("frame with refusals", made)? {
            hold!(!taken, "something was taken that does not fit a frame of the {desc}");
            open.shows(bytes);
        }
        Ok(())
    }
}
