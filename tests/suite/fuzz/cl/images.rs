//! Images: of all types and some formats, read, written, copied, mapped, from and to buffers.

use super::{Effect, World};
use crate::fuzz::{Choices, Turn, TurnResult, hold, hostile};
use pixelferry::api::opencl::cl::{
    ChannelOrder, ChannelType, Colour, Event, Image, ImageBox, ImageFormat, ImageSize, MemFlags, Queue,
};

/// An image and what it holds, rows without gaps; every command on it is waited for.
pub struct Slot {
    image: Image,
    bytes: Vec<u8>,
    pixel: usize,
}

impl Slot {
    pub(super) fn image(&self) -> &Image {
        &self.image
    }

    /// First byte and length of every row of a part.
    fn rows(&self, part: &ImageBox) -> Vec<(usize, usize)> {
        let [w, h, _] = self.image.region();
        let [x, y, z] = part.origin;
        let row = |slice: usize, row: usize| (((z + slice) * h + y + row) * w + x) * self.pixel;
        let mut all = Vec::new();
        for slice in 0..part.region[2] {
            all.extend((0..part.region[1]).map(|y| (row(slice, y), part.region[0] * self.pixel)));
        }
        all
    }

    fn inside(&self, part: &ImageBox) -> bool {
        let sides = part.origin.iter().zip(part.region).zip(self.image.region());
        sides.into_iter().all(|((start, len), side)| len > 0 && start.checked_add(len).is_some_and(|end| end <= side))
    }

    fn gather(&self, part: &ImageBox) -> Vec<u8> {
        self.rows(part).into_iter().flat_map(|(at, len)| self.bytes[at..at + len].to_vec()).collect()
    }

    fn scatter(&mut self, part: &ImageBox, bytes: &[u8]) {
        let mut from = bytes;
        for (at, len) in self.rows(part) {
            let (row, rest) = from.split_at(len);
            self.bytes[at..at + len].copy_from_slice(row);
            from = rest;
        }
    }
}

fn part(t: &mut Choices, region: [usize; 3]) -> ImageBox {
    let mut part = ImageBox { origin: [0; 3], region };
    for (i, side) in region.into_iter().enumerate() {
        let range = if t.one_in(16) { hostile::range(t, side) } else { hostile::inside(t, side) };
        part.origin[i] = range.start;
        part.region[i] = range.end.wrapping_sub(range.start);
    }
    part
}

impl World<'_> {
    fn new_image(&mut self, t: &mut Turn) -> TurnResult {
        let format = ImageFormat::new(
            t.pick(&[ChannelOrder::Rgba, ChannelOrder::R, ChannelOrder::Bgra, ChannelOrder::Depth]),
            t.pick(&[ChannelType::UnsignedInt8, ChannelType::SignedInt16, ChannelType::UnsignedInt32]),
        );
        let bad = t.one_in(8);
        let mut side = || if bad { hostile::near(t, 5) } else { 1 + t.below(12) };
        let (w, h, d) = (side(), side(), side());
        let size = match t.below(5) {
            0 => ImageSize::D1(w),
            1 => ImageSize::D3(w, h, d),
            2 => ImageSize::D1Array(w, h),
            3 => ImageSize::D2Array(w, h, d),
            _ => ImageSize::D2(w, h),
        };
        let pixels = size.region().iter().try_fold(1_usize, |n, side| n.checked_mul(*side));
        if pixels.is_some_and(|n| (1 << 22..1 << 46).contains(&n)) {
            // Sizes that a machine may have are not asked for.
            return Ok(());
        }
        t.op("cl: image", format_args!("{format} {size:?}"));
        let image = t.end(Image::new(&self.base.context, MemFlags::READ_WRITE, format, size))?;
        let pixel = image.pixel_size();
        hold!(pixels.is_some_and(|n| n > 0 && n < 1 << 22), "{size:?} was taken");
        let bytes = t.bytes(pixels.unwrap_or(0) * pixel);
        let queue = self.queue(t);
        t.op("cl: write an image", format_args!("{size:?}"));
        let written = queue.write_image(&image, &image.whole(), bytes.clone(), &[]).and_then(|event| event.wait());
        t.end(written)?;
        self.images.push(Slot { image, bytes, pixel });
        Ok(())
    }

    pub(super) fn image(&mut self, t: &mut Turn) -> TurnResult {
        // Work that is waited for may stand behind events that the program has not completed.
        self.settle(t)?;
        if self.images.len() < 3 || (self.images.len() < 6 && t.one_in(8)) {
            return self.new_image(t);
        }
        let (at, queue) = (t.below(self.images.len()), self.queue(t));
        let part = part(t, self.images[at].image.region());
        match t.below(7) {
            0 => self.read_image(t, &queue, at, &part),
            1 => self.write_image(t, &queue, at, &part),
            2 => self.fill_image(t, &queue, at, &part),
            3 => self.copy_image(t, &queue, at, &part),
            4 => self.image_to_buffer(t, &queue, at, &part),
            5 => self.buffer_to_image(t, &queue, at, &part),
            _ => self.map_image(t, &queue, at, &part),
        }
    }

    fn read_image(&mut self, t: &mut Turn, queue: &Queue, at: usize, part: &ImageBox) -> TurnResult {
        let slot = &self.images[at];
        t.op("cl: read an image", format_args!("{part:?} of {:?}", slot.image.region()));
        let read = queue.read_image::<u8>(&slot.image, part, &[]).and_then(|bytes| bytes.wait());
        let bytes = t.end(read)?;
        hold!(slot.inside(part), "{part:?} of {:?} was taken", slot.image.region());
        hold!(bytes == slot.gather(part), "{part:?} of {:?} holds something else", slot.image.region());
        Ok(())
    }

    fn write_image(&mut self, t: &mut Turn, queue: &Queue, at: usize, part: &ImageBox) -> TurnResult {
        let slot = &mut self.images[at];
        let count = part.host_bytes(slot.pixel).unwrap_or(7).min(1 << 16);
        let count_given = count + usize::from(t.one_in(8));
        let bytes = t.bytes(count_given);
        t.op("cl: write an image", format_args!("{} to {part:?} of {:?}", bytes.len(), slot.image.region()));
        let written = queue.write_image(&slot.image, part, bytes.clone(), &[]);
        t.end(written.and_then(|event| event.wait()))?;
        let fits = slot.inside(part) && bytes.len() == count;
        hold!(fits, "{part:?} of {:?} was taken", slot.image.region());
        slot.scatter(part, &bytes);
        Ok(())
    }

    fn fill_image(&mut self, t: &mut Turn, queue: &Queue, at: usize, part: &ImageBox) -> TurnResult {
        let slot = &mut self.images[at];
        let number = t.word() & 0x7f;
        let colour =
            t.pick(&[Colour::Unsigned([number; 4]), Colour::Signed([number as i32; 4]), Colour::Float([0.5; 4])]);
        t.op("cl: fill an image", format_args!("{part:?} of {:?} with {colour:?}", slot.image.region()));
        t.end(queue.fill_image(&slot.image, part, colour, &[]).and_then(|event| event.wait()))?;
        hold!(slot.inside(part), "{part:?} of {:?} was taken", slot.image.region());
        // The filled pixels must be all the same; the driver's conversion says which bytes they are.
        let found = queue.read_image::<u8>(&slot.image, part, &[])?.wait()?;
        let first = found.get(..slot.pixel).unwrap_or_default().to_vec();
        hold!(found.chunks(slot.pixel).all(|pixel| pixel == first), "{part:?} was filled with several colours");
        slot.scatter(part, &found);
        Ok(())
    }

    fn copy_image(&mut self, t: &mut Turn, queue: &Queue, at: usize, part: &ImageBox) -> TurnResult {
        let other = t.below(self.images.len());
        let (from, to) = (&self.images[at], &self.images[other]);
        let origin = [t.below(4), t.below(3), t.below(2)];
        t.op("cl: copy an image", format_args!("{part:?} to {origin:?} of {:?}", to.image.region()));
        let copied = queue.copy_image((&from.image, part), (&to.image, origin), &[]);
        t.end(copied.and_then(|event| event.wait()))?;
        let target = ImageBox { origin, region: part.region };
        hold!(from.inside(part) && to.inside(&target), "{part:?} to {origin:?} was taken");
        hold!(from.pixel == to.pixel, "images of two formats were copied");
        let bytes = from.gather(part);
        self.images[other].scatter(&target, &bytes);
        Ok(())
    }

    fn image_to_buffer(&mut self, t: &mut Turn, queue: &Queue, at: usize, part: &ImageBox) -> TurnResult {
        let b = self.slot(t);
        let wait = self.wait_list(t, &[b]);
        let (slot, to) = (&self.images[at], &self.slots[b]);
        let offset = if t.one_in(6) { hostile::near(t, to.buffer.len()) } else { t.below(16) };
        t.op("cl: copy an image to a buffer", format_args!("{part:?} to {offset} of {}", to.root));
        let event = t.end(queue.copy_image_to_buffer((&slot.image, part), (&to.buffer, offset), &wait))?;
        hold!(slot.inside(part), "{part:?} of {:?} was taken", slot.image.region());
        let bytes = slot.gather(part);
        let fits = offset.checked_add(bytes.len()).is_some_and(|end| end <= to.buffer.len());
        hold!(fits, "{part:?} to {offset} of {} was taken", to.buffer.len());
        let range = to.range(&(offset..offset + bytes.len()));
        let effect = Effect::set(to.root, range.start, bytes);
        self.taken(event.clone(), wait, &[b], effect);
        self.over(t, &event)?;
        Ok(())
    }

    fn buffer_to_image(&mut self, t: &mut Turn, queue: &Queue, at: usize, part: &ImageBox) -> TurnResult {
        let b = self.slot(t);
        let wait = self.wait_list(t, &[b]);
        let (slot, from) = (&self.images[at], &self.slots[b]);
        let offset = if t.one_in(6) { hostile::near(t, from.buffer.len()) } else { t.below(16) };
        t.op("cl: copy a buffer to an image", format_args!("{offset} of {} to {part:?}", from.root));
        let copied = queue.copy_buffer_to_image((&from.buffer, offset), (&slot.image, part), &wait);
        let event = t.end(copied)?;
        hold!(slot.inside(part), "{part:?} of {:?} was taken", slot.image.region());
        self.taken(event.clone(), wait, &[b], Effect::nothing());
        self.over(t, &event)?;
        // Everything before it is in the model now.
        self.drain(t)?;
        if event.wait().is_ok() {
            let (slot, from) = (&mut self.images[at], &self.slots[b]);
            let len = part.host_bytes(slot.pixel).unwrap_or(0);
            let place = from.range(&(offset..offset + len));
            let bytes = self.work.models.of(from.root)?[place].to_vec();
            slot.scatter(part, &bytes);
        }
        Ok(())
    }

    /// Knows what images hold as soon as the call is over.
    fn over(&mut self, t: &mut Turn, event: &Event) -> TurnResult {
        self.settle(t)?;
        let _ = event.wait();
        Ok(())
    }

    fn map_image(&mut self, t: &mut Turn, queue: &Queue, at: usize, part: &ImageBox) -> TurnResult {
        let slot = &mut self.images[at];
        t.op("cl: map an image", format_args!("{part:?} of {:?}", slot.image.region()));
        let mut map = t.end(queue.map_image_write(&slot.image, part, &[]))?;
        hold!(slot.inside(part), "{part:?} of {:?} was taken", slot.image.region());
        let mut bytes = slot.gather(part);
        let len = part.region[0] * slot.pixel;
        let [rows, slices] = match slot.image.image_type() {
            pixelferry::api::opencl::cl::ImageType::D1Array => [1, part.region[1]],
            _ => [part.region[1], part.region[2]],
        };
        hold!(map.row(rows, 0).is_none() && map.row(0, slices).is_none(), "a row past the end was given");
        hold!(map.row(usize::MAX, usize::MAX).is_none(), "a row past all rows was given");
        for slice in 0..slices {
            for row in 0..rows {
                let Some(found) = map.row_mut(row, slice) else { crate::fuzz::fail!("row {row} {slice} is missing") };
                let wanted = &mut bytes[(slice * rows + row) * len..][..len];
                hold!(found == wanted, "row {row} {slice} of {part:?} holds something else");
                found.fill(t.word() as u8);
                wanted.copy_from_slice(found);
            }
        }
        slot.scatter(part, &bytes);
        map.unmap()?.wait()?;
        Ok(())
    }
}
