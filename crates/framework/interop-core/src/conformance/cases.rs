//! The cases of the suite. Each opens links on one path only and compares what the display shows byte by byte.

use super::context::Context;
use super::failure::{Failure, each};
use super::pixels::{any, paste, same_bytes, tight};
use super::table::{ConformanceRow, Outcome};
use super::{outlets, sizes, threads, unwritten};
use crate::describe::error::Error;
use crate::describe::format::PixelFormat;
use crate::describe::geometry::{Region, RowOrder};
use crate::describe::pattern::Pattern;
use crate::describe::surface::{ImageDesc, SurfaceDesc};

/// A named case of the suite.
pub struct Case {
    /// Name of the case, for the table.
    pub name: &'static str,
    /// Runs the case.
    pub run: fn(&Context<'_>) -> Result<(), Failure>,
}

impl Case {
    /// Runs the case and returns its row for the table.
    pub fn row(&self, context: &Context<'_>) -> ConformanceRow {
        let outcome = match (self.run)(context) {
            Ok(()) => Outcome::Pass,
            Err(Failure::Skipped(reason)) => Outcome::Skipped(reason),
            Err(Failure::Failed(reason)) => Outcome::Fail(reason),
        };
        let (compute, display) = (context.backend.device().to_string(), context.display.device().to_string());
        ConformanceRow { compute, display, path: context.path, case: self.name, outcome }
    }
}

/// Every case.
pub static CASES: &[Case] = &[
    Case { name: "images: formats, sizes, row order", run: images },
    Case { name: "images as textures", run: textures },
    Case { name: "buffers", run: buffers },
    Case { name: "many frames round the ring", run: ring },
    Case { name: "the right frame, late or not", run: late },
    Case { name: "regions leave the rest", run: regions },
    Case { name: "first frame is a region", run: first_region },
    Case { name: "byte ranges leave the rest", run: byte_ranges },
    Case { name: "pixels from the host", run: host_pixels },
    Case { name: "a frame given up is not shown", run: cancelled },
    Case { name: "unwritten pixels are kept", run: unwritten::kept },
    Case { name: "unwritten pixels are cleared", run: unwritten::cleared },
    Case { name: "unwritten pixels are the caller's", run: unwritten::overwritten },
    Case { name: "resize shows the old frame", run: sizes::resized },
    Case { name: "sizes inside a larger one", run: sizes::within },
    Case { name: "frames of another thread", run: threads::from_another },
    Case { name: "an engine's object: formats", run: outlets::formats },
    Case { name: "an engine's object: kept", run: outlets::kept },
    Case { name: "an engine's object: cleared", run: outlets::cleared },
    Case { name: "an engine's object: overwritten", run: outlets::overwritten },
    Case { name: "bad input is refused", run: bad_input },
];

const SIZES: [(u32, u32); 5] = [(1, 1), (1, 7), (33, 17), (101, 3), (256, 64)];

fn shows_two_frames(context: &Context<'_>, desc: SurfaceDesc) -> Result<(), Failure> {
    let mut link = context.open(desc)?;
    if !matches!(link.shown(), Err(Error::NothingShown)) {
        return Err(Failure::Failed(format!("{desc}: something is shown before the first frame")));
    }
    for nonce in [11, 12] {
        let expected = context.pattern_frame(&mut link, nonce)?;
        same_bytes(&desc.to_string(), &expected, &link.read_back()?)?;
    }
    Ok(())
}

fn images(context: &Context<'_>) -> Result<(), Failure> {
    each(context.formats(), |format| {
        for (width, height) in SIZES {
            for order in [RowOrder::TopDown, RowOrder::BottomUp] {
                shows_two_frames(context, SurfaceDesc::Image(any(width, height, format).with_row_order(order)))?;
            }
        }
        Ok(())
    })
}

fn textures(context: &Context<'_>) -> Result<(), Failure> {
    each(context.formats(), |format| shows_two_frames(context, SurfaceDesc::image(63, 31, format)))
}

fn buffers(context: &Context<'_>) -> Result<(), Failure> {
    for bytes in [1, 4, 4095, 4097, 80_000] {
        shows_two_frames(context, SurfaceDesc::buffer(bytes))?;
    }
    Ok(())
}

fn ring(context: &Context<'_>) -> Result<(), Failure> {
    each([SurfaceDesc::Image(any(65, 33, PixelFormat::Rgba8)), SurfaceDesc::buffer(5000)], |desc| {
        let mut link = context.open(desc)?;
        for nonce in 20..30 {
            let expected = context.pattern_frame(&mut link, nonce)?;
            same_bytes(&format!("{desc} frame {nonce}"), &expected, &link.read_back()?)?;
        }
        Ok(())
    })
}

/// Checks that the shown frame is the one finished `frames_behind` frames earlier: the first at once, and all after a
/// flush.
fn late(context: &Context<'_>) -> Result<(), Failure> {
    let desc = SurfaceDesc::Image(any(40, 10, PixelFormat::Rgba8));
    let mut link = context.open(desc)?;
    let late = link.frames_behind();
    let view = tight(&desc)?;
    let bytes = |nonce| {
        let mut bytes = vec![0; view.payload_len()];
        Pattern::for_view(&view, nonce).write(&view, &mut bytes);
        bytes
    };
    for n in 0..40_u32 {
        let mut frame = link.acquire()?;
        context.backend.write_pattern(frame.target()?, &Pattern::for_view(&view, 100 + n))?;
        frame.finish()?;
        let shown = n.saturating_sub(late as u32);
        same_bytes(&format!("frame {n}, {late} late"), &bytes(100 + shown), &link.read_back()?)?;
    }
    link.flush()?;
    same_bytes("after a flush", &bytes(139), &link.read_back()?)
}

fn region_frame(
    context: &Context<'_>,
    link: &mut crate::Link,
    image: &ImageDesc,
    region: Region,
    nonce: u32,
) -> Result<Vec<u8>, Failure> {
    let view = tight(&SurfaceDesc::image(region.width, region.height, image.format))?;
    let pattern = Pattern::for_view(&view, nonce);
    let mut frame = link.acquire_region(region)?;
    context.backend.write_pattern(frame.target()?, &pattern)?;
    frame.finish()?;
    link.flush()?;
    let mut bytes = vec![0; view.payload_len()];
    pattern.write(&view, &mut bytes);
    Ok(bytes)
}

const REGIONS: [Region; 5] = [
    Region::new(0, 0, 1, 1),
    Region::new(3, 5, 17, 9),
    Region::new(36, 22, 1, 1),
    Region::new(0, 7, 37, 2),
    Region::new(5, 0, 2, 23),
];

fn regions(context: &Context<'_>) -> Result<(), Failure> {
    each(context.formats(), |format| {
        for order in [RowOrder::TopDown, RowOrder::BottomUp] {
            let image = any(37, 23, format).with_row_order(order);
            let mut link = context.open(SurfaceDesc::Image(image))?;
            let mut expected = context.pattern_frame(&mut link, 40)?;
            for (nonce, region) in (41..).zip(REGIONS) {
                let part = region_frame(context, &mut link, &image, region, nonce)?;
                paste(&mut expected, image.extent, region, &part, format.bytes_per_pixel());
                same_bytes(&format!("{format} region {region}"), &expected, &link.read_back()?)?;
            }
        }
        Ok(())
    })
}

fn first_region(context: &Context<'_>) -> Result<(), Failure> {
    let image = any(19, 11, PixelFormat::Rgba8);
    let mut link = context.open(SurfaceDesc::Image(image))?;
    let region = Region::new(2, 3, 7, 5);
    let part = region_frame(context, &mut link, &image, region, 50)?;
    let mut expected = vec![0; 19 * 11 * 4];
    paste(&mut expected, image.extent, region, &part, 4);
    same_bytes("zero around the first region", &expected, &link.read_back()?)
}

fn byte_ranges(context: &Context<'_>) -> Result<(), Failure> {
    let mut link = context.open(SurfaceDesc::buffer(9001))?;
    let mut expected = context.pattern_frame(&mut link, 60)?;
    for range in [0..1, 8..4200, 9000..9001, 4000..4100] {
        let bytes: Vec<u8> = range.clone().map(|i| (i * 7) as u8).collect();
        let mut frame = link.acquire_bytes(range.clone())?;
        frame.write(&bytes)?;
        frame.finish()?;
        link.flush()?;
        expected[range.clone()].copy_from_slice(&bytes);
        same_bytes(&format!("bytes {range:?}"), &expected, &link.read_back()?)?;
    }
    Ok(())
}

fn host_pixels(context: &Context<'_>) -> Result<(), Failure> {
    each([PixelFormat::Rg8, PixelFormat::Rgba8], |format| host_pixels_of(context, format))
}

fn host_pixels_of(context: &Context<'_>, format: PixelFormat) -> Result<(), Failure> {
    let pixel = format.bytes_per_pixel();
    for order in [RowOrder::TopDown, RowOrder::BottomUp] {
        let image = any(31, 13, format).with_row_order(order);
        let mut link = context.open(SurfaceDesc::Image(image))?;
        let mut expected: Vec<u8> = (0..31 * 13 * pixel).map(|i| (i * 31 + 5) as u8).collect();
        let mut frame = link.acquire()?;
        frame.write(&expected)?;
        frame.finish()?;
        link.flush()?;
        same_bytes("whole frame", &expected, &link.read_back()?)?;
        let region = Region::new(4, 2, 9, 7);
        let part: Vec<u8> = (0..9 * 7 * pixel).map(|i| (255 - i % 200) as u8).collect();
        let mut frame = link.acquire_region(region)?;
        if frame.write(&part[1..]).is_ok() {
            return Err(Failure::Failed("a frame took too few bytes".into()));
        }
        frame.write(&part)?;
        frame.finish()?;
        link.flush()?;
        paste(&mut expected, image.extent, region, &part, pixel);
        same_bytes("region", &expected, &link.read_back()?)?;
    }
    Ok(())
}

fn cancelled(context: &Context<'_>) -> Result<(), Failure> {
    let desc = SurfaceDesc::Image(any(40, 20, PixelFormat::Rgba8));
    let mut link = context.open(desc)?;
    let expected = context.pattern_frame(&mut link, 70)?;
    for nonce in 71..76 {
        let pattern = Pattern::for_view(&tight(&desc)?, nonce);
        let mut frame = link.acquire()?;
        context.backend.write_pattern(frame.target()?, &pattern)?;
        drop(frame);
        same_bytes("after a frame was given up", &expected, &link.read_back()?)?;
    }
    let expected = context.pattern_frame(&mut link, 77)?;
    same_bytes("the frame after", &expected, &link.read_back()?)
}

fn bad_input(context: &Context<'_>) -> Result<(), Failure> {
    let mut link = context.open(SurfaceDesc::Image(any(16, 16, PixelFormat::Rgba8)))?;
    let expected = context.pattern_frame(&mut link, 90)?;
    let regions = [
        Region::new(0, 0, 0, 1),
        Region::new(0, 0, 1, 0),
        Region::new(16, 0, 1, 1),
        Region::new(8, 8, 9, 1),
        Region::new(u32::MAX, 0, 2, 2),
        Region::new(1, 1, u32::MAX, u32::MAX),
    ];
    for region in regions {
        if link.acquire_region(region).is_ok() {
            return Err(Failure::Failed(format!("region {region} of 16x16 was accepted")));
        }
    }
    if link.acquire_bytes(0..4).is_ok() {
        return Err(Failure::Failed("bytes of an image were accepted".into()));
    }
    let sizes = [(0, 16), (16, 0), (u32::MAX, u32::MAX), (u32::MAX, 1)];
    for (width, height) in sizes {
        if link.resize(SurfaceDesc::image(width, height, PixelFormat::Rgba32F)).is_ok() {
            return Err(Failure::Failed(format!("resize to {width}x{height} was accepted")));
        }
    }
    if link.resize(SurfaceDesc::buffer(0)).is_ok() || link.resize(SurfaceDesc::buffer(u64::MAX)).is_ok() {
        return Err(Failure::Failed("a buffer of 0 or 2^64-1 bytes was accepted".into()));
    }
    same_bytes("the frame shown before", &expected, &link.read_back()?)
}
