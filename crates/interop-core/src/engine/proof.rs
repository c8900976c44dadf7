//! Proof by pixels: patterns that one side wrote are read by the other and compared.

use super::way::{Packing, Row, Way, zeros};
use crate::describe::error::{Error, Result};
use crate::describe::mismatch::Mismatch;
use crate::describe::path_id::PathId;
use crate::describe::pattern::{Pattern, rows};
use crate::describe::view::View;
use crate::display::{Part, Surface};
use crate::path::Pairing;
use crate::select::verify::next_nonce;
use std::time::{Duration, Instant};

/// The second finds a path that only ever takes its first frame.
const FRAMES: u32 = 2;

/// Fills a surface of the display's own with patterns, and takes them from there: what an engine rendered stays untouched.
pub(super) fn with_patterns(row: &Row, pairing: &Pairing<'_>) -> Result<()> {
    let all = Part::full(pairing.desc);
    let mut scratch = pairing.display.create_surface(pairing.desc)?;
    let mut way = row.open(pairing, scratch.as_ref(), Packing::Tight)?;
    let view = *way.view();
    let mut bytes = zeros(view.payload_len())?;
    for frame in 0..FRAMES {
        let pattern = Pattern::for_view(&view, next_nonce());
        pattern.write(&view, &mut bytes);
        scratch.upload(&all, &bytes, &view)?;
        let found = taken(&mut way, pairing, scratch.as_mut())?;
        compare(row.id, &view, &bytes, &found, frame)?;
    }
    Ok(())
}

/// Takes what the source holds now, and compares it with what the display itself reads there.
pub(super) fn with_what_is_there(
    id: PathId,
    way: &mut Way,
    pairing: &Pairing<'_>,
    source: &mut dyn Surface,
) -> Result<()> {
    let found = taken(way, pairing, source)?;
    let there = source.read_back(&Part::full(pairing.desc))?;
    compare(id, way.view(), &there, &found, 0)
}

/// Lets a kernel of the backend's own write patterns into a surface of the display's own, which reads them back; how long a frame
/// takes, the work of both sides included.
pub(super) fn into_a_surface(row: &Row, pairing: &Pairing<'_>) -> Result<Duration> {
    let (all, backend) = (Part::full(pairing.desc), pairing.backend.as_ref());
    let mut scratch = pairing.display.create_surface(pairing.desc)?;
    let mut way = row.open(pairing, scratch.as_ref(), Packing::Padded)?;
    // Surfaces are read back without padding.
    let view = pairing.layout().tight().whole()?;
    let mut expected = zeros(view.payload_len())?;
    let mut fastest = Duration::MAX;
    for frame in 0..FRAMES + 1 {
        let pattern = Pattern::for_view(&view, next_nonce());
        let start = Instant::now();
        way.begin(scratch.as_ref())?;
        backend.write_pattern(way.target()?, &pattern)?;
        way.give(scratch.as_mut())?;
        pairing.display.finish()?;
        fastest = fastest.min(start.elapsed());
        pattern.write(&view, &mut expected);
        compare(row.id, &view, &expected, &scratch.read_back(&all)?, frame)?;
    }
    Ok(fastest)
}

fn taken(way: &mut Way, pairing: &Pairing<'_>, source: &mut dyn Surface) -> Result<Vec<u8>> {
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
