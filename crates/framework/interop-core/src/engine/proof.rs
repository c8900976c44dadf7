//! Verification with pixels: one side writes patterns, and the other side reads and compares them.

use crate::compute::zeros;
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::mismatch::Mismatch;
use crate::describe::pattern::{Pattern, rows};
use crate::describe::surface::Unwritten;
use crate::describe::view::View;
use crate::display::{Surface, SurfacePart};
use crate::path::{Direction, OpenedPath, Pairing, PathId, PathSpec, SharingPath, blank, is_object, pattern_part};
use crate::select::verify::next_nonce;
use crate::tournament::ShortestTime;
use std::time::{Duration, Instant};

/// Opens a path, verifies and times it with a surface of its own, and tries it with the object, which afterwards is
/// back in its place.
pub(super) fn open(spec: &PathSpec, pairing: &Pairing<'_>, object: &mut Surface) -> Result<(OpenedPath, Duration)> {
    let (all, rule, is_object) = (SurfacePart::full(pairing.desc), pairing.desc.unwritten(), is_object(spec.id));
    if pairing.object == Some(Direction::Take) {
        let mut path = of_takes(spec, pairing)?;
        let mut time = Duration::MAX;
        path.with_object(object, |path| {
            of_what_is_there(spec.id, path, pairing)?;
            time = ShortestTime::default().rest(|| {
                let start = Instant::now();
                path.begin(&all)?;
                path.cancel();
                pairing.backend.finish().map(|()| start.elapsed())
            })?;
            Ok(())
        })?;
        return Ok((path, time));
    }
    if rule == Unwritten::Keep && !is_object {
        object.check_download().map_err(|error| {
            let problem = format!(
                "{error}. With Keep, this path reads the object's old pixels: add the missing usage, or do not use Keep"
            );
            Error::invalid("Outlet::open", problem)
        })?;
    }
    let (mut path, time) = of_frames(spec, pairing)?;
    if rule == Unwritten::Overwrite {
        blank(&mut path, pairing.backend.as_ref(), &pairing.layout())?;
    }
    // Some drivers reject an object only when it is used. Kernels with the object itself would clear it in a frame.
    path.with_object(object, |path| {
        if !is_object {
            path.begin(&all)?;
            path.cancel();
        }
        Ok(())
    })?;
    Ok((path, time))
}

/// Fills the path's own surface with patterns and takes them from there; the engine's content stays untouched. The
/// second pattern reveals a path that always takes the first one.
fn of_takes(spec: &PathSpec, pairing: &Pairing<'_>) -> Result<OpenedPath> {
    let mut path = spec.open(pairing)?;
    let view = pairing.layout().whole()?;
    let mut bytes = zeros(view.payload_len())?;
    for frame in 0..2 {
        let pattern = Pattern::for_view(&view, next_nonce());
        pattern.write(&view, &mut bytes);
        path.surface_mut().upload(&SurfacePart::full(pairing.desc), &bytes, &view)?;
        compare(spec.id, &view, &bytes, &taken(&mut path, pairing)?, frame)?;
    }
    Ok(path)
}

/// Takes the surface's current content and compares it with what the display itself reads there.
fn of_what_is_there(id: PathId, path: &mut OpenedPath, pairing: &Pairing<'_>) -> Result<()> {
    let found = taken(path, pairing)?;
    let there = path.surface_mut().read_back(&SurfacePart::full(pairing.desc))?;
    compare(id, &pairing.layout().whole()?, &there, &found, 0)
}

fn taken(path: &mut OpenedPath, pairing: &Pairing<'_>) -> Result<Vec<u8>> {
    let mut found = zeros(pairing.desc.byte_len()?)?;
    path.begin(&SurfacePart::full(pairing.desc))?;
    let read = path.target().and_then(|target| target.into_parts().0.read(0, &mut found));
    path.cancel();
    read.map(|()| found)
}

/// Lets a kernel of the backend write patterns into two surfaces of the display, which reads them back: whole frames
/// into both, then one of a part of the first and an empty one, by the rule for unwritten pixels. The path's memory
/// holds its last frame, so pixels of the first surface are kept only if the path reads them from there. Returns the
/// time of a whole frame, including the work of both sides.
fn of_frames(spec: &PathSpec, pairing: &Pairing<'_>) -> Result<(OpenedPath, Duration)> {
    let mut path = spec.open(pairing)?;
    let mut other = pairing.display.create_surface(pairing.desc)?;
    // Surfaces are read back without padding.
    let tight = pairing.layout().unpadded();
    let (all, whole) = (tight.full(), tight.whole()?);
    let (mut first, mut second) = (zeros(whole.payload_len())?, zeros(whole.payload_len())?);
    let mut frames = 0;
    let mut frame = |path: &mut OpenedPath, part: &SurfacePart, writes: bool, expected: &mut [u8]| {
        let (start, view) = (Instant::now(), tight.in_place(part)?.kernel);
        if writes {
            let pattern = Pattern::for_view(&view, next_nonce());
            pattern_part(path, pairing.backend.as_ref(), part, &pattern)?;
            pattern.write(&view, expected);
        } else {
            path.begin(part)?;
            path.finish()?;
        }
        pairing.display.finish()?;
        let time = start.elapsed();
        frames += 1;
        compare(spec.id, &whole, expected, &path.surface_mut().read_back(&all)?, frames - 1).map(|()| time)
    };
    let mut times = ShortestTime::default();
    times.note(frame(&mut path, &all, true, &mut first)?);
    path.exchange(&mut other)?;
    let time = times.rest(|| frame(&mut path, &all, true, &mut second))?;
    path.exchange(&mut other)?;
    frame(&mut path, &inner(&all), true, &mut first)?;
    if pairing.desc.unwritten() == Unwritten::Clear {
        first.fill(0);
    }
    // Under `Overwrite` the pixels may be those of any earlier frame.
    if pairing.desc.unwritten() != Unwritten::Overwrite {
        frame(&mut path, &all, false, &mut first)?;
    }
    Ok((path, time))
}

/// Returns a part that leaves something around it, where the surface is large enough.
fn inner(all: &SurfacePart) -> SurfacePart {
    match all {
        SurfacePart::Image(region) => {
            let third = |side: u32| (side / 3, (side / 3).max(1));
            let ((x, width), (y, height)) = (third(region.width), third(region.height));
            SurfacePart::Image(Region::new(x, y, width, height))
        }
        SurfacePart::Buffer(range) => {
            // A kernel's vectors start at multiples of 16 bytes.
            let third = range.len() / 3 / 16 * 16;
            SurfacePart::Buffer(third..(2 * third).max(16).min(range.len()))
        }
    }
}

/// Compares the read bytes with the written ones.
pub(crate) fn compare(path: PathId, view: &View, expected: &[u8], found: &[u8], frame: u32) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let differs = rows(view).find_map(|(row, range)| {
        let (expected, found) = (expected.get(range.clone())?, found.get(range)?);
        let byte = expected.iter().zip(found).position(|(a, b)| a != b)?;
        Some((row, byte, expected[byte], found[byte]))
    });
    let (row, byte, expected, found) = differs.unwrap_or((0, found.len(), 0, 0));
    let mismatch = Mismatch { row, byte, expected, found, frame, unusual_states: Vec::new() };
    Err(Error::Rejected { path, mismatch })
}
