//! Checks of a display's surfaces and staging blocks without a link.

use super::failure::Failure;
use super::pixels::{any, expected, fill, paste, patterned, same_bytes, tight};
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::{Extent, Region};
use crate::describe::panics::catch;
use crate::describe::surface::{MemoryShape, SurfaceDesc};
use crate::describe::view::{BufferView, ImageView, View};
use crate::devices::borrows::Holder;
use crate::devices::capability::{HandleType, SyncKind};
use crate::devices::host_block::HostBlock;
use crate::display::{Display, Staging, StagingKind, Surface, SurfacePart};
use std::sync::Arc;

/// Checks a display's surfaces and blocks byte by byte: every kind of upload arrives, and invalid arguments are
/// rejected.
pub struct Surfaces<'a> {
    /// Opens another instance of the display each time. Only the last one is used.
    pub open: &'a dyn Fn() -> Result<Arc<dyn Display>>,
    /// Sizes of the images that are uploaded.
    pub sizes: &'a [(u32, u32)],
    /// True where rows in blocks may begin at any byte, whatever pitch the display requires; otherwise such rows may be
    /// rejected.
    pub any_rows: bool,
}

/// Number of uploads of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrientationCounts {
    /// Copies from a block.
    pub staged: usize,
    /// Reads of a block in place.
    pub in_place: usize,
    /// Uploads that were rejected because of their rows.
    pub refused: usize,
}

type Block = (&'static str, Staging);

/// Returns a block of each kind that the display can make.
fn blocks(display: &dyn Display, bytes: usize) -> Result<Vec<Block>> {
    // Some blocks consist of whole words.
    let bytes = bytes.next_multiple_of(4);
    let caps = display.caps();
    let mut kinds = Vec::new();
    if caps.orphaned_staging.is_yes() {
        kinds.push(("orphaned", StagingKind::Orphaned));
    }
    if caps.persistent_staging.is_yes() {
        kinds.push(("persistent", StagingKind::Persistent));
    }
    if caps.can_import(HandleType::HostPointer, MemoryShape::Linear).is_yes() {
        kinds.push(("imported", StagingKind::Imported(HostBlock::allocate(bytes)?)));
    }
    kinds.into_iter().map(|(name, kind)| Ok((name, display.create_staging(kind, bytes)?))).collect()
}

fn a_block(display: &dyn Display) -> Result<Staging, Failure> {
    let first = blocks(display, 16)?.into_iter().next();
    first.map(|(_, block)| block).ok_or_else(|| Failure::Failed("it makes no block".into()))
}

fn read(surface: &mut Surface) -> Result<Vec<u8>> {
    let all = SurfacePart::full(surface.desc());
    surface.read_back(&all)
}

fn require(held: bool, what: impl FnOnce() -> String) -> Result<(), Failure> {
    if held { Ok(()) } else { Err(Failure::Failed(what())) }
}

fn refused<T>(what: &str, outcome: Result<T>) -> Result<(), Failure> {
    match outcome {
        Err(Error::InvalidInput { .. } | Error::Unsupported { .. }) => Ok(()),
        Err(other) => Err(Failure::Failed(format!("{what}: {other}"))),
        Ok(_) => Err(Failure::Failed(format!("{what} is accepted"))),
    }
}

fn image_view(extent: Extent, format: PixelFormat, offset: usize, pitch: usize) -> View {
    View::Image(ImageView { offset, row_pitch: pitch as isize, extent, format })
}

impl Surfaces<'_> {
    /// Runs all checks.
    ///
    /// # Errors
    /// [`Failure::Failed`] with the first deviation from the contract.
    pub fn check(&self) -> Result<OrientationCounts, Failure> {
        let display = (self.open)()?;
        let mut ways = OrientationCounts::default();
        zero_at_first(&*display)?;
        for format in display.caps().image_formats.clone() {
            for (width, height) in self.sizes {
                self.image(&*display, Extent::new(*width, *height), format, &mut ways)?;
            }
            parts(&*display, format)?;
        }
        for bytes in [1, 4, 4095, 80_001] {
            self.buffer(&*display, bytes, &mut ways)?;
        }
        blocks_are_used_again(&*display)?;
        sizes_refused(&*display)?;
        transfers_refused(&*display)?;
        semaphores(&*display)?;
        drop(display);
        self.foreign()?;
        Ok(ways)
    }

    /// Uploads from client memory, and from every block with a copy and in place: tight rows and others.
    fn image(
        &self,
        display: &dyn Display,
        extent: Extent,
        format: PixelFormat,
        ways: &mut OrientationCounts,
    ) -> Result<(), Failure> {
        let (bpp, channel) = (format.bytes_per_pixel(), format.channel_kind().bytes());
        let row = extent.width as usize * bpp;
        let desc = SurfaceDesc::image(extent.width, extent.height, format);
        let all = SurfacePart::full(&desc);
        let view = |(offset, pitch)| image_view(extent, format, offset, pitch);
        let mut surface = display.create_surface(&desc)?;
        for (nonce, layout) in (1..).zip([(0, row), (3, row), (0, row + 5 * bpp), (1, row + 3)]) {
            let view = view(layout);
            surface.upload(&all, &patterned(&view, nonce), &view)?;
            same_bytes(&format!("{desc} of {layout:?}"), &expected(&view, nonce), &read(&mut surface)?)?;
        }
        let last = row * (extent.height as usize - 1);
        let reverse = View::Image(ImageView { offset: last, row_pitch: -(row as isize), extent, format });
        if extent.height > 1 {
            refused("rows in reverse", surface.upload(&all, &patterned(&reverse, 7), &reverse))?;
        }
        let aligned = row.next_multiple_of(display.caps().row_pitch_alignment.max(bpp));
        let copied = [(0, row), (channel, row), (4 * bpp, row + bpp), (3 * channel, row + channel)];
        for (name, mut block) in blocks(display, (aligned + 3 * bpp) * extent.height as usize + 256)? {
            for (nonce, layout) in (10..).zip([(0, aligned)].into_iter().chain(copied)) {
                let (view, what) = (view(layout), format!("{name} {desc} of {layout:?}"));
                fill(&mut block, &patterned(&view, nonce))?;
                if self.goes(
                    layout.0 == 0 && layout.1 == aligned,
                    surface.upload_staged(&all, &mut block, &view),
                    ways,
                )? {
                    same_bytes(&what, &expected(&view, nonce), &read(&mut surface)?)?;
                    ways.staged += 1;
                }
                block.fence()?;
            }
            let mut shown =
                display.create_in_place_surface(&SurfaceDesc::Image(any(extent.width, extent.height, format)))?;
            require(matches!(shown.read_back(&all), Err(Error::NothingShown)), || format!("{desc} shows nothing yet"))?;
            let mut last = None;
            for (nonce, layout) in (20..).zip([(0, aligned), (0, row), (3 * bpp, row + 2 * bpp)]) {
                let view = view(layout);
                fill(&mut block, &patterned(&view, nonce))?;
                let outcome = shown.read_in_place(&block, &view);
                let can = self.any_rows && display.caps().in_place_images.is_yes();
                if matches!(outcome, Err(Error::Unsupported { .. })) && !can {
                    ways.refused += 1;
                } else if self.goes(layout == (0, aligned) && name != "orphaned", outcome, ways)? {
                    let expected = expected(&view, nonce);
                    same_bytes(&format!("{name} {desc} in place"), &expected, &read(&mut shown)?)?;
                    display.draw_offscreen(&shown)?;
                    ways.in_place += 1;
                    last = Some(expected);
                }
                block.fence()?;
            }
            drop(block);
            if let Some(expected) = last {
                same_bytes("a block that is shown, after its maker let it go", &expected, &read(&mut shown)?)?;
            }
        }
        Ok(())
    }

    /// Counts an upload that was accepted; uploads that must be accepted may not fail.
    fn goes(&self, must: bool, outcome: Result<()>, ways: &mut OrientationCounts) -> Result<bool, Failure> {
        match outcome {
            Err(Error::InvalidInput { .. } | Error::Unsupported { .. }) if !must && !self.any_rows => {
                ways.refused += 1;
                Ok(false)
            }
            outcome => Ok(outcome.map(|()| true)?),
        }
    }

    fn buffer(&self, display: &dyn Display, bytes: usize, ways: &mut OrientationCounts) -> Result<(), Failure> {
        let desc = SurfaceDesc::buffer(bytes as u64);
        let all = SurfacePart::full(&desc);
        let at = |offset| View::Buffer(BufferView { offset, len: bytes });
        let mut own = display.create_surface(&desc)?;
        own.upload(&all, &patterned(&at(5), 1), &at(5))?;
        same_bytes("client memory", &expected(&at(5), 1), &read(&mut own)?)?;
        for (nonce, (name, mut block)) in (2..).zip(blocks(display, bytes + 12)?) {
            let mut shown = display.create_in_place_surface(&desc)?;
            for offset in [0, 5] {
                let view = at(offset);
                fill(&mut block, &patterned(&view, nonce))?;
                if self.goes(offset == 0, own.upload_staged(&all, &mut block, &view), ways)? {
                    same_bytes(name, &expected(&view, nonce), &read(&mut own)?)?;
                }
                let outcome = shown.read_in_place(&block, &view);
                if self.goes(offset == 0 && display.caps().in_place_buffers.is_yes() && self.any_rows, outcome, ways)? {
                    same_bytes(name, &expected(&view, nonce), &read(&mut shown)?)?;
                    if offset == 0 || self.any_rows {
                        display.draw_offscreen(&shown)?;
                    }
                }
                block.fence()?;
            }
        }
        if bytes > 100 {
            let whole = expected(&at(0), 9);
            own.upload(&all, &whole, &at(0))?;
            own.upload(&SurfacePart::Buffer(50..60), &[7; 10], &View::Buffer(BufferView { offset: 0, len: 10 }))?;
            let found = own.read_back(&SurfacePart::Buffer(49..61))?;
            same_bytes("a part", &[&whole[49..50], &[7; 10], &whole[60..61]].concat(), &found)?;
        }
        Ok(())
    }

    /// Checks that blocks of another display are rejected and change nothing.
    fn foreign(&self) -> Result<(), Failure> {
        let desc = SurfaceDesc::buffer(16);
        let (other, all, view) = ((self.open)()?, SurfacePart::full(&desc), tight(&desc)?);
        let mut theirs = a_block(&*other)?;
        fill(&mut theirs, &[1; 16])?;
        let display = (self.open)()?;
        let mut surface = display.create_surface(&desc)?;
        let mut shown = display.create_in_place_surface(&desc)?;
        for outcome in [surface.upload_staged(&all, &mut theirs, &view), shown.read_in_place(&theirs, &view)] {
            require(matches!(outcome, Err(Error::Foreign { .. })), || format!("another display's block: {outcome:?}"))?;
        }
        same_bytes("after a foreign block", &[0; 16], &read(&mut surface)?)
    }
}

fn zero_at_first(display: &dyn Display) -> Result<(), Failure> {
    let formats = display.caps().image_formats.iter();
    let images = formats.map(|format| SurfaceDesc::image(37, 21, *format));
    // The last of each kind is larger than one piece of zeros.
    let large = [SurfaceDesc::image(1920, 700, PixelFormat::Rgba8), SurfaceDesc::buffer(9_000_001)];
    for desc in images.chain([SurfaceDesc::buffer(5001)]).chain(large) {
        let found = read(&mut display.create_surface(&desc)?)?;
        require(found.iter().all(|byte| *byte == 0), || format!("{desc} does not begin as zero"))?;
    }
    Ok(())
}

/// Checks that parts of an image, from client memory and from a block, leave the rest unchanged.
fn parts(display: &dyn Display, format: PixelFormat) -> Result<(), Failure> {
    let (bpp, extent) = (format.bytes_per_pixel(), Extent::new(37, 23));
    let desc = SurfaceDesc::image(37, 23, format);
    let mut surface = display.create_surface(&desc)?;
    let whole = tight(&desc)?;
    surface.upload(&SurfacePart::full(&desc), &patterned(&whole, 40), &whole)?;
    let mut shown = expected(&whole, 40);
    let regions =
        [Region::new(0, 0, 1, 1), Region::new(3, 5, 17, 9), Region::new(36, 22, 1, 1), Region::new(5, 3, 17, 9)];
    for (nonce, region) in (41..).zip(regions) {
        let aligned = (region.width as usize * bpp).next_multiple_of(display.caps().row_pitch_alignment.max(bpp));
        let view = image_view(region.extent(), format, 0, aligned);
        let (bytes, part) = (patterned(&view, nonce), SurfacePart::Image(region));
        match blocks(display, bytes.len())?.pop().filter(|_| nonce % 2 == 0) {
            Some((_, mut block)) => {
                fill(&mut block, &bytes)?;
                surface.upload_staged(&part, &mut block, &view)?;
            }
            None => surface.upload(&part, &bytes, &view)?,
        }
        paste(&mut shown, extent, region, &expected(&view, nonce), bpp);
        same_bytes(&format!("{format} {region}"), &shown, &read(&mut surface)?)?;
        same_bytes("the part itself", &expected(&view, nonce), &surface.read_back(&part)?)?;
    }
    Ok(())
}

/// Reuses blocks: around a ring, without a fence, after failed fills, and through the host's own address.
fn blocks_are_used_again(display: &dyn Display) -> Result<(), Failure> {
    let desc = SurfaceDesc::image(64, 33, PixelFormat::Rgba8);
    let (all, view) = (SurfacePart::full(&desc), tight(&desc)?);
    let bytes = desc.byte_len()?;
    let mut surface = display.create_surface(&desc)?;
    for (name, mut block) in blocks(display, bytes)? {
        for nonce in 0..20 {
            fill(&mut block, &expected(&view, nonce))?;
            surface.upload_staged(&all, &mut block, &view)?;
            if nonce % 3 == 0 {
                block.fence()?;
            } else {
                // The next fill waits for the copy even without a fence.
                fill(&mut block, &expected(&view, 1000))?;
            }
            same_bytes(&format!("{name}, turn {nonce}"), &expected(&view, nonce), &read(&mut surface)?)?;
        }
        block.wait()?;
        let failed = block.map_write(&mut |_| Err(Error::NothingShown));
        require(matches!(failed, Err(Error::NothingShown)), || format!("{name}: a fill that fails: {failed:?}"))?;
        #[allow(clippy::panic)] // a kernel might do so, too
        let caught = catch(|| block.map_write(&mut |_| panic!("a fill that panics, as this suite means it to")));
        require(caught.is_err() || caught.is_ok_and(|outcome| outcome.is_err()), || {
            format!("{name}: a panic was swallowed")
        })?;
        fill(&mut block, &expected(&view, 50))?;
        if let Some(host) = block.host_block() {
            let found = host.read(0..bytes, Holder::Guard)?.to_vec();
            same_bytes("what the host sees", &expected(&view, 50), &found)?;
            host.write(0..bytes, Holder::Guard)?.copy_from_slice(&expected(&view, 51));
        } else {
            fill(&mut block, &expected(&view, 51))?;
        }
        surface.upload_staged(&all, &mut block, &view)?;
        same_bytes(&format!("{name} after failures"), &expected(&view, 51), &read(&mut surface)?)?;
    }
    Ok(())
}

fn sizes_refused(display: &dyn Display) -> Result<(), Failure> {
    let caps = display.caps();
    let image = |width, height| SurfaceDesc::image(width, height, PixelFormat::R8);
    let mut descs = vec![image(0, 4), image(4, 0), SurfaceDesc::image(u32::MAX, u32::MAX, PixelFormat::Rgba32F)];
    descs.extend([0, 1 << 60, u64::MAX].map(SurfaceDesc::buffer));
    descs.extend(caps.max_buffer_bytes.checked_add(1).map(SurfaceDesc::buffer));
    if let Some(side) = caps.max_image_side.checked_add(1) {
        descs.extend([image(side, 1), image(1, side)]);
    }
    for desc in descs {
        refused(&desc.to_string(), display.create_surface(&desc))?;
        refused(&desc.to_string(), display.create_in_place_surface(&desc))?;
    }
    for bytes in [0, usize::MAX] {
        for made in [StagingKind::Orphaned, StagingKind::Persistent].map(|kind| display.create_staging(kind, bytes)) {
            require(made.is_err(), || format!("a block of {bytes} bytes"))?;
        }
    }
    let small = HostBlock::allocate(4096)?;
    refused("more than a block has", display.create_staging(StagingKind::Imported(small.clone()), small.len() + 1))
}

fn transfers_refused(display: &dyn Display) -> Result<(), Failure> {
    let desc = SurfaceDesc::image(16, 8, PixelFormat::Rgba8);
    let (all, view) = (SurfacePart::full(&desc), tight(&desc)?);
    let mut surface = display.create_surface(&desc)?;
    let bytes = patterned(&view, 3);
    surface.upload(&all, &bytes, &view)?;
    let of = |width, height, format, pitch| image_view(Extent::new(width, height), format, 0, pitch);
    let rgba = PixelFormat::Rgba8;
    let buffer = View::Buffer(BufferView { offset: 0, len: 512 });
    // Its rows would lie before the memory.
    let before = View::Image(ImageView { offset: 0, row_pitch: -64, extent: Extent::new(16, 8), format: rgba });
    for wrong in [of(17, 8, rgba, 68), of(16, 7, rgba, 64), of(16, 8, PixelFormat::R32F, 64), buffer, before] {
        refused(&format!("{wrong:?}"), surface.upload(&all, &[0; 4096], &wrong))?;
    }
    refused("too few bytes", surface.upload(&all, &bytes[..511], &view))?;
    let outside =
        [Region::new(1, 0, 16, 8), Region::new(u32::MAX, 0, 16, 8), Region::new(0, 0, 0, 8)].map(SurfacePart::Image);
    for part in outside.into_iter().chain([SurfacePart::Buffer(0..512)]) {
        refused(&format!("{part:?}"), surface.upload(&part, &bytes, &view))?;
        refused(&format!("{part:?}"), surface.read_back(&part))?;
    }
    let mut shown = display.create_in_place_surface(&SurfaceDesc::Image(any(16, 8, rgba)))?;
    refused("an upload into what is read in place", shown.upload(&all, &bytes, &view))?;
    for (name, mut block) in blocks(display, 508)? {
        fill(&mut block, &bytes[..508])?;
        refused(name, surface.upload_staged(&all, &mut block, &view))?;
        refused(name, shown.read_in_place(&block, &view))?;
        refused(name, surface.read_in_place(&block, &view))?;
    }
    same_bytes("after what is refused", &expected(&view, 3), &read(&mut surface)?)
}

/// Checks that each kind of semaphore is created, or listed as unsupported with a reason.
fn semaphores(display: &dyn Display) -> Result<(), Failure> {
    for kind in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore, SyncKind::HostFence] {
        let listed = display.caps().can_make_semaphore(kind);
        match display.create_semaphore(kind) {
            Ok((mut semaphore, _handle)) if listed.is_yes() => {
                let mut block = a_block(display)?;
                for value in 1..4 {
                    semaphore.signal(value, &mut block)?;
                    semaphore.wait(value, &mut block)?;
                }
                display.finish()?;
            }
            Err(Error::Unsupported { .. }) if !listed.is_yes() => {}
            other => return Err(Failure::Failed(format!("{kind}: {listed:?}, but {:?}", other.map(drop)))),
        }
    }
    Ok(())
}
