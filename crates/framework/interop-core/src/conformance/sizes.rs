//! Cases in which the size of a surface changes.

use super::context::Context;
use super::failure::{Failure, each};
use super::pixels::{any, same_bytes};
use crate::describe::error::Error;
use crate::describe::format::PixelFormat;
use crate::describe::geometry::RowOrder;
use crate::describe::surface::SurfaceDesc;
use crate::link::LinkCore;

pub(super) fn resized(context: &Context<'_>) -> Result<(), Failure> {
    let mut link = context.open(SurfaceDesc::Image(any(16, 16, PixelFormat::Rgba8)))?;
    let mut expected = context.pattern_frame(&mut link, 80)?;
    for (nonce, (width, height)) in (81..).zip([(32, 8), (1, 1), (200, 100), (17, 5)]) {
        link.resize(SurfaceDesc::Image(any(width, height, PixelFormat::Rgba8)))?;
        same_bytes("old frame after resize", &expected, &link.read_back()?)?;
        link.shown()?;
        expected = context.pattern_frame(&mut link, nonce)?;
        same_bytes("first frame after resize", &expected, &link.read_back()?)?;
        paused(&mut link, &expected)?;
        if link.path() != context.path {
            return Err(Failure::Failed(format!("resize switched to path {}", link.path())));
        }
    }
    there_and_back(context)
}

/// Resizes and returns to the earlier size without a frame in between: the shown frame stays, whatever is discarded.
fn there_and_back(context: &Context<'_>) -> Result<(), Failure> {
    let [large, small] = [(129, 3), (7, 1)].map(|(w, h)| SurfaceDesc::Image(any(w, h, PixelFormat::Rgba8)));
    let mut link = context.open(large)?;
    let expected = context.pattern_frame(&mut link, 90)?;
    link.resize(small)?;
    link.resize(large)?;
    for turn in 0..4 {
        let mut frame = link.acquire()?;
        frame.write(&vec![0x5A; expected.len()])?;
        drop(frame);
        same_bytes(&format!("after {} frames that were given up", turn + 1), &expected, &link.read_back()?)?;
        link.shown()?;
    }
    Ok(())
}

/// Minimises a window for a while.
fn paused(link: &mut LinkCore, expected: &[u8]) -> Result<(), Failure> {
    let before = *link.desc();
    link.resize(SurfaceDesc::Image(any(0, 0, PixelFormat::Rgba8)))?;
    link.frame(|_| Err(Error::Paused))?;
    if !link.is_paused() || !matches!(link.acquire(), Err(Error::Paused)) {
        return Err(Failure::Failed("a link of 0x0 is not paused".into()));
    }
    same_bytes("paused", expected, &link.read_back()?)?;
    link.resize(before)?;
    same_bytes("after the pause", expected, &link.read_back()?)?;
    if link.is_paused() { Err(Failure::Failed("the link is still paused".into())) } else { Ok(()) }
}

/// Checks rows of every pitch in memory with room for longer ones, all the way around a ring.
pub(super) fn within(context: &Context<'_>) -> Result<(), Failure> {
    let image = |width, height, format| any(width, height, format).with_row_order(RowOrder::BottomUp);
    each([PixelFormat::R8, PixelFormat::Rgba8, PixelFormat::Rgba32F], |format| {
        let sizes = [(90, 60), (89, 1), (1, 60), (33, 17), (64, 59), (90, 60)];
        let sizes = sizes.map(|(width, height)| SurfaceDesc::Image(image(width, height, format)));
        let textures = sizes.map(|desc| match desc {
            SurfaceDesc::Image(image) => SurfaceDesc::image(image.extent.width, image.extent.height, format),
            buffer => buffer,
        });
        each([sizes, textures], |sizes| all_show(context, sizes[0], &sizes))
    })?;
    let sizes = [9000, 1, 4097, 8999, 9000].map(SurfaceDesc::buffer);
    all_show(context, sizes[0], &sizes)
}

fn all_show(context: &Context<'_>, most: SurfaceDesc, sizes: &[SurfaceDesc]) -> Result<(), Failure> {
    let mut link = context.open(sizes[1])?;
    let mut shown: Option<Vec<u8>> = None;
    for (desc, nonce) in sizes.iter().zip((400..).step_by(10)) {
        link.resize_within(most, *desc)?;
        if let Some(shown) = &shown {
            same_bytes(&format!("the frame before {desc}"), shown, &link.read_back()?)?;
        }
        for nonce in nonce..nonce + 5 {
            let expected = context.pattern_frame(&mut link, nonce)?;
            same_bytes(&format!("{desc} inside {most}"), &expected, &link.read_back()?)?;
            shown = Some(expected);
        }
        if link.path() != context.path {
            return Err(Failure::Failed(format!("{desc} inside {most} switched to path {}", link.path())));
        }
    }
    Ok(())
}
