//! Proof by pixels: patterns that one side wrote are read by the other and compared.

use super::way::{Direction, Row, Way};
use crate::compute::zeros;
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::mismatch::Mismatch;
use crate::describe::path_id::PathId;
use crate::describe::pattern::{Pattern, rows};
use crate::describe::surface::Unwritten;
use crate::describe::view::View;
use crate::display::{Part, Surface};
use crate::path::Pairing;
use crate::select::verify::next_nonce;
use crate::tournament::Shortest;
use std::time::{Duration, Instant};

/// The second finds a path that only ever takes its first frame.
const FRAMES: u32 = 2;

/// Fills a surface of the display's own with patterns, and takes them from there: what an engine rendered stays untouched.
pub(super) fn with_patterns(row: &Row, pairing: &Pairing<'_>) -> Result<()> {
    let all = Part::full(pairing.desc);
    let mut scratch = pairing.display.create_surface(pairing.desc)?;
    let mut way = row.open(pairing, &scratch, Direction::Take)?;
    let view = *way.view();
    let mut bytes = zeros(view.payload_len())?;
    for frame in 0..FRAMES {
        let pattern = Pattern::for_view(&view, next_nonce());
        pattern.write(&view, &mut bytes);
        scratch.upload(&all, &bytes, &view)?;
        let found = taken(&mut way, pairing, &mut scratch)?;
        compare(row.id, &view, &bytes, &found, frame)?;
    }
    Ok(())
}

/// Takes what the source holds now, and compares it with what the display itself reads there.
pub(super) fn with_what_is_there(id: PathId, way: &mut Way, pairing: &Pairing<'_>, source: &mut Surface) -> Result<()> {
    let found = taken(way, pairing, source)?;
    let there = source.read_back(&Part::full(pairing.desc))?;
    compare(id, way.view(), &there, &found, 0)
}

/// Lets a kernel of the backend's own write patterns into a surface of the display's own, which reads them back: frames of all of
/// it, one of a part beside what the display itself put there, and an empty one, by the rule for unwritten pixels. How long a whole
/// frame takes, the work of both sides included.
pub(super) fn into_a_surface(row: &Row, pairing: &Pairing<'_>) -> Result<Duration> {
    let mut scratch = pairing.display.create_surface(pairing.desc)?;
    let mut way = row.open(pairing, &scratch, Direction::Give)?;
    // Surfaces are read back without padding.
    let tight = pairing.layout().unpadded();
    let (all, whole) = (tight.full(), tight.tight().whole()?);
    let mut expected = zeros(whole.payload_len())?;
    let mut frames = 0;
    let mut frame = |part: &Part, expected: &mut Vec<u8>, scratch: &mut Surface, writes: bool| {
        let start = Instant::now();
        let kernel = tight.in_place(part)?.kernel;
        way.begin(pairing.backend.as_ref(), scratch, part)?;
        if writes {
            let pattern = Pattern::for_view(&kernel, next_nonce());
            pairing.backend.write_pattern(way.target()?, &pattern)?;
            pattern.write(&kernel, expected);
        }
        way.give(scratch)?;
        pairing.display.finish()?;
        let time = start.elapsed();
        frames += 1;
        compare(row.id, &whole, expected, &scratch.read_back(&Part::full(pairing.desc))?, frames - 1).map(|()| time)
    };
    let fastest = Shortest::of(|| frame(&all, &mut expected, &mut scratch, true))?;
    // The engine's own pixels around a part, and in the place of what the path wrote last.
    Pattern::for_view(&whole, next_nonce()).write(&whole, &mut expected);
    scratch.upload(&Part::full(pairing.desc), &expected, &whole)?;
    frame(&inner(&all), &mut expected, &mut scratch, true)?;
    match pairing.desc.unwritten() {
        Unwritten::Keep => frame(&all, &mut expected, &mut scratch, false).map(drop)?,
        Unwritten::Clear => {
            expected.fill(0);
            frame(&all, &mut expected, &mut scratch, false).map(drop)?;
        }
        // The pixels may be those of any frame.
        Unwritten::Overwrite => {}
    }
    Ok(fastest)
}

/// A part that leaves something around it, where there is so much.
fn inner(all: &Part) -> Part {
    match all {
        Part::Image(region) => {
            let third = |side: u32| (side / 3, (side / 3).max(1));
            let ((x, width), (y, height)) = (third(region.width), third(region.height));
            Part::Image(Region::new(x, y, width, height))
        }
        Part::Buffer(range) => {
            // A kernel's vectors may begin at multiples of 16 bytes.
            let third = range.len() / 3 / 16 * 16;
            Part::Buffer(third..(2 * third).max(16).min(range.len()))
        }
    }
}

fn taken(way: &mut Way, pairing: &Pairing<'_>, source: &mut Surface) -> Result<Vec<u8>> {
    way.take(pairing.backend.as_ref(), source)?;
    let mut found = zeros(way.view().payload_len())?;
    let read = way.memory_mut().read(0, &mut found);
    way.give_back().and(read).map(|()| found)
}

fn compare(path: PathId, view: &View, expected: &[u8], found: &[u8], frame: u32) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let differs = rows(view).find_map(|(row, range)| {
        let (expected, found) = (expected.get(range.clone())?, found.get(range)?);
        let byte = expected.iter().zip(found).position(|(a, b)| a != b)?;
        Some(Mismatch { row, byte, expected: expected[byte], found: found[byte], frame })
    });
    let mismatch = differs.unwrap_or(Mismatch { row: 0, byte: found.len(), expected: 0, found: 0, frame });
    Err(Error::Rejected { path, mismatch })
}
