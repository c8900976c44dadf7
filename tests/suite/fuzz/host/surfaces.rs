//! Surfaces and staging, by a display's own calls.

use super::{Door, ShownSurface, World};
use crate::fuzz::parts::{any_part, paste};
use crate::fuzz::{Choices, Turn, TurnResult, hold, hostile};
use pixelferry::driver::SurfacePart;
use pixelferry::driver::conformance::tight;
use pixelferry::driver::describe::pattern::{Pattern, rows};
use pixelferry::driver::devices::borrows::Holder;
use pixelferry::{BufferView, ImageView, SurfaceDesc, View};
use std::hint::black_box;

/// Tells where a part may come from in `len` bytes, mostly.
fn source(t: &mut Choices, desc: &SurfaceDesc, part: &SurfacePart, len: usize) -> View {
    if t.one_in(8) {
        return hostile::view(t, len);
    }
    match (part, desc) {
        (SurfacePart::Image(region), SurfaceDesc::Image(image)) => {
            let padding = t.pick(&[1, 1, 16, 64]);
            let view = ImageView::packed(region.extent(), image.format, padding, 0, t.one_in(3));
            view.map_or_else(|_| hostile::view(t, len), View::Image)
        }
        (SurfacePart::Buffer(range), _) => View::Buffer(BufferView { offset: 0, len: range.len() }),
        _ => hostile::view(t, len),
    }
}

/// The rows of a view, tight.
fn gather(view: &View, memory: &[u8]) -> Vec<u8> {
    rows(view).flat_map(|(_, row)| memory[row].to_vec()).collect()
}

impl World<'_> {
    pub(super) fn surface(&mut self, t: &mut Turn) -> TurnResult {
        let desc = match t.below(8) {
            0 => SurfaceDesc::image(hostile::side(t), 0, hostile::format(t)),
            1 => SurfaceDesc::image(u32::MAX, u32::MAX - 1, hostile::format(t)),
            2 => SurfaceDesc::buffer(t.pick(&[0, u64::MAX, 1 << 62])),
            3 => SurfaceDesc::buffer(hostile::size(t, 8 << 10) as u64),
            _ => SurfaceDesc::image(1 + t.below(40) as u32, 1 + t.below(30) as u32, hostile::format(t)),
        };
        let in_place = t.one_in(3);
        t.op("host: make a surface", format_args!("{desc:?} in place: {in_place}"));
        let made = match in_place {
            true => self.display.create_in_place_surface(&desc),
            false => self.display.create_surface(&desc),
        };
        let surface = t.end(made)?;
        hold!(*surface.desc() == desc, "a {} was made for a {desc}", surface.desc());
        // New surfaces hold zero.
        let bytes = if in_place { None } else { Some(vec![0; tight(&desc)?.payload_len()]) };
        if self.surfaces.len() > 6 {
            self.surfaces.remove(0);
        }
        self.surfaces.push(ShownSurface { surface, bytes, desc, in_place });
        Ok(())
    }

    pub(super) fn upload(&mut self, t: &mut Turn) -> TurnResult {
        let at = t.below(self.surfaces.len());
        let shown = &mut self.surfaces[at];
        let part = any_part(t, &shown.desc);
        let mut bytes = vec![0x38; 1 + t.below(24 << 10)];
        let view = source(t, &shown.desc, &part, bytes.len());
        let fits = part.check_source(&shown.desc, &view, bytes.len()).is_ok();
        if fits {
            Pattern::for_view(&view, t.word()).write(&view, &mut bytes);
        }
        t.op("host: upload", format_args!("{part} of {} from {view:?} of {}", shown.desc, bytes.len()));
        t.end(shown.surface.upload(&part, &bytes, &view))?;
        hold!(fits && !shown.in_place, "{part} of {} was taken from {view:?} of {}", shown.desc, bytes.len());
        let desc = shown.desc;
        if let Some(whole) = &mut shown.bytes {
            paste(&part, &desc, &gather(&view, &bytes), whole);
        }
        Ok(())
    }

    fn staging(&self, t: &mut Choices) -> Option<usize> {
        let all: Vec<usize> =
            (0..self.doors.len()).filter(|i| matches!(self.doors[*i].door, Door::Staging(_))).collect();
        (!all.is_empty()).then(|| t.pick(&all))
    }

    pub(super) fn upload_staged(&mut self, t: &mut Turn) -> TurnResult {
        let Some(door) = self.staging(t) else { return Ok(()) };
        let at = t.below(self.surfaces.len());
        let shown = &mut self.surfaces[at];
        let Door::Staging(staging) = &mut self.doors[door].door else { return Ok(()) };
        let len = staging.len();
        let part = any_part(t, &shown.desc);
        let view = source(t, &shown.desc, &part, len);
        let fits = part.check_source(&shown.desc, &view, len).is_ok();
        let (pattern, mut bytes) = (Pattern::for_view(&view, t.word()), vec![0x38; len]);
        if fits {
            pattern.write(&view, &mut bytes);
        }
        t.op("host: fill staging", format_args!("{len} bytes"));
        let filled = staging.wait().and_then(|()| {
            staging.map_write(&mut |all| {
                all.copy_from_slice(&bytes);
                Ok(())
            })
        });
        if t.end(filled).is_err() {
            return Ok(());
        }
        t.op("host: upload staged", format_args!("{part} of {} from {view:?} of {len}", shown.desc));
        t.end(shown.surface.upload_staged(&part, staging, &view))?;
        hold!(fits && !shown.in_place, "{part} of {} was taken from {view:?} of {len}", shown.desc);
        staging.fence()?;
        let desc = shown.desc;
        if let Some(whole) = &mut shown.bytes {
            paste(&part, &desc, &gather(&view, &bytes), whole);
        }
        Ok(())
    }

    /// The display writes a block, beside a slice of it or not.
    pub(super) fn download(&mut self, t: &mut Turn) -> TurnResult {
        let Some(door) = self.staging(t) else { return Ok(()) };
        let at = t.below(self.surfaces.len());
        let shown = &mut self.surfaces[at];
        let Door::Staging(staging) = &mut self.doors[door].door else { return Ok(()) };
        let part = any_part(t, &shown.desc);
        let view = source(t, &shown.desc, &part, staging.len());
        let block = staging.host_block();
        let slice = block.as_ref().filter(|_| t.one_in(2)).and_then(|block| {
            // Bytes behind those of the staging are not the display's.
            block.read(hostile::inside(t, staging.len()), Holder::Guard).ok()
        });
        let before = slice.as_ref().map(|slice| black_box(&**slice).to_vec());
        t.op("host: download", format_args!("{part} of {} into {view:?} of {}", shown.desc, staging.len()));
        let done = t.end(shown.surface.download(&part, staging, &view));
        if let (Some(slice), Some(before)) = (&slice, before) {
            self.display.finish()?;
            hold!(black_box(&**slice) == before, "a display wrote {part} of {} under a slice", shown.desc);
            hold!(done.is_err() || slice.is_empty(), "a display was told to write the bytes of a slice");
        }
        drop(slice);
        if t.one_in(3) {
            // Not waited for: who looks next is refused, or sees what was written.
            return Ok(());
        }
        staging.wait()?;
        let (Ok(()), Some(whole), Some(block)) = (done, &shown.bytes, block) else { return Ok(()) };
        let found = gather(&view, &block.read(0..block.len(), Holder::Guard)?);
        let mut wanted = whole.clone();
        paste(&part, &shown.desc, &found, &mut wanted);
        hold!(wanted == *whole, "{part} of {} came down as something else", shown.desc);
        Ok(())
    }

    pub(super) fn show_in_place(&mut self, t: &mut Turn) -> TurnResult {
        let Some(door) = self.staging(t) else { return Ok(()) };
        let at = t.below(self.surfaces.len());
        let shown = &mut self.surfaces[at];
        let Door::Staging(staging) = &mut self.doors[door].door else { return Ok(()) };
        let part = SurfacePart::full(&shown.desc);
        let view = source(t, &shown.desc, &part, staging.len());
        t.op("host: read in place", format_args!("{} from {view:?} of {}", shown.desc, staging.len()));
        t.end(shown.surface.read_in_place(staging, &view))?;
        let fits = part.check_source(&shown.desc, &view, staging.len()).is_ok();
        hold!(fits && shown.in_place, "{} was taken from {view:?} of {}", shown.desc, staging.len());
        Ok(())
    }

    pub(super) fn read_back(&mut self, t: &mut Turn) -> TurnResult {
        let at = t.below(self.surfaces.len());
        let shown = &mut self.surfaces[at];
        let part = if t.one_in(2) { SurfacePart::full(&shown.desc) } else { any_part(t, &shown.desc) };
        t.op("host: read a surface back", format_args!("{part} of {}", shown.desc));
        let found = t.end(shown.surface.read_back(&part))?;
        hold!(part.check_inside(&shown.desc).is_ok(), "{part} of {} was taken", shown.desc);
        let Some(whole) = &shown.bytes else { return Ok(()) };
        let mut wanted = whole.clone();
        if found.len() <= wanted.len() {
            paste(&part, &shown.desc, &found, &mut wanted);
        }
        hold!(wanted == *whole, "{part} of {} shows something else", shown.desc);
        t.op("host: draw offscreen", format_args!("{}", shown.desc));
        let _ = t.end(self.display.draw_offscreen(&shown.surface));
        Ok(())
    }

    pub(super) fn fences(&mut self, t: &mut Turn) -> TurnResult {
        let Some(door) = self.staging(t) else { return Ok(()) };
        let Door::Staging(staging) = &mut self.doors[door].door else { return Ok(()) };
        t.op("host: fence, wait, finish", format_args!(""));
        let done = match t.below(4) {
            0 => staging.fence(),
            1 => staging.fence().and_then(|()| staging.fence()).and_then(|()| staging.wait()),
            2 => staging.wait(),
            _ => self.display.finish(),
        };
        let _ = t.end(done);
        Ok(())
    }
}
