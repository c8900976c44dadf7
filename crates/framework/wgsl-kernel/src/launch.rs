//! Launches: the numbers and the grid for a target and its arguments.

use crate::limits::Limits;
use crate::params::{HEAD, MOST_NUMBERS, VECTOR, WORD};
use crate::text::KernelText;
use interop_core::compute::Placement;
use interop_core::devices::maker_object::{MakerObject, own};
use interop_core::{Arg, BufferView, ComputeMemory, Error, ImageView, PixelFormat, Region, Result, View};
use std::ptr;

/// Maximum size in bytes of the uniform block of any launch.
pub const NUMBERS: usize = 256;

/// A launch, ready for a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The uniform block, stored without an allocation.
    words: [u32; NUMBERS / WORD],
    /// Length in words.
    len: usize,
    /// Number of groups, horizontally and vertically. If zero, nothing is run.
    pub groups: [u32; 2],
}

impl Launch {
    /// Creates a launch of at most as many words as the block has. Blocks are vectors of four words, so the last one is
    /// padded with zeros.
    pub(crate) fn new(all: impl IntoIterator<Item = u32>, groups: [u32; 2]) -> Self {
        let (mut words, mut len) = ([0; NUMBERS / WORD], 0_usize);
        for (place, word) in words.iter_mut().zip(all) {
            *place = word;
            len += 1;
        }
        Self { words, len: len.next_multiple_of(VECTOR), groups }
    }

    /// Returns the uniform block: the bytes of [`Launch::words`].
    pub fn numbers(&self) -> &[u8] {
        bytemuck::cast_slice(self.words())
    }

    /// Returns the words, in whole vectors of four.
    pub fn words(&self) -> &[u32] {
        self.words.get(..self.len).unwrap_or_default()
    }

    /// Returns true where nothing is to be run.
    pub fn is_empty(&self) -> bool {
        self.groups.contains(&0)
    }
}

/// The first two vectors of `pf_launch`, and the grid.
struct Plan {
    format: PixelFormat,
    head: [u32; HEAD],
    groups: [u32; 2],
}

impl KernelText {
    /// Plans a launch for a view of memory within 32-bit addresses: the format of the text, the numbers and the grid.
    /// `items`: number of work items for a buffer, if the launch sets it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where numbers or view do not fit; [`Error::Unsupported`] for more groups than the device
    /// supports.
    pub fn plan(
        &self,
        view: &View,
        items: Option<usize>,
        args: &[Arg<'_>],
        limits: &Limits,
    ) -> Result<(PixelFormat, Launch)> {
        let plan = match view {
            View::Image(image) => self.of_image(image)?,
            View::Buffer(buffer) => self.of_buffer(buffer, items, limits)?,
        };
        Ok((plan.format, self.launch(&plan, args, limits)?))
    }

    /// Plans a launch whose target is part of a texture of this format, see [`KernelText::of_texture`].
    ///
    /// # Errors
    /// The errors of [`KernelText::plan`].
    pub fn plan_texture(
        &self,
        format: PixelFormat,
        at: &Placement,
        args: &[Arg<'_>],
        limits: &Limits,
    ) -> Result<Launch> {
        let (Region { x, width, height, .. }, (row, step)) = (at.region, at.first_row());
        let head = [x, row, width, height, 0, step.cast_unsigned(), 0, 0];
        self.launch(&Plan { format, head, groups: self.groups(width, height) }, args, limits)
    }

    fn groups(&self, width: u32, height: u32) -> [u32; 2] {
        let [across, down] = self.group;
        [width.div_ceil(across), height.div_ceil(down)]
    }

    fn launch(&self, plan: &Plan, args: &[Arg<'_>], limits: &Limits) -> Result<Launch> {
        let numbers: [u32; MOST_NUMBERS] = self.numbers.bits(self.name(), args)?;
        let launch = Launch::new(plan.head.into_iter().chain(numbers), plan.groups);
        if !launch.is_empty() && plan.groups.iter().any(|count| *count > limits.groups) {
            let ([x, y], most) = (plan.groups, limits.groups);
            return Err(limits.unsupported(format!("{x} x {y} groups exceed the maximum of {most} in one direction")));
        }
        Ok(launch)
    }

    /// Returns the memories among the arguments; `target` is the target if it could be one of them.
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another backend; [`Error::InvalidInput`] where the memories do not match the
    /// text, one is smaller than its type, or one is the target.
    pub fn own_memories<'m, M: MakerObject + ComputeMemory>(
        &self,
        target: Option<&M>,
        args: &[Arg<'m>],
        maker: &M::Maker,
    ) -> Result<Vec<&'m M>> {
        let invalid = |problem: String| Error::refused(format!("kernel '{}': {problem}", self.name()));
        let given = args.iter().filter_map(|arg| match arg {
            Arg::Memory(memory) => Some(own::<M>(*memory, maker)),
            _ => None,
        });
        let given: Vec<_> = given.collect::<Result<_>>()?;
        if given.len() != self.memories() {
            return Err(invalid(format!("memories in its text: {}, given: {}", self.memories(), given.len())));
        }
        for (at, (memory, least)) in given.iter().zip(&self.memories).enumerate() {
            let has = memory.len().next_multiple_of(WORD);
            if (has as u64) < *least {
                return Err(invalid(format!("memory {at} has {has} bytes, but its text declares {least}")));
            }
        }
        if given.iter().any(|memory| target.is_some_and(|target| ptr::eq(*memory, target))) {
            return Err(invalid(
                "the target is also an argument; WGSL cannot read memory that the same launch writes".into(),
            ));
        }
        Ok(given)
    }

    fn of_image(&self, view: &ImageView) -> Result<Plan> {
        let align = view.format.bytes_per_pixel().min(WORD);
        if !view.offset.is_multiple_of(align) || !view.row_pitch.unsigned_abs().is_multiple_of(align) {
            return Err(Error::refused(format!("{view:?} is not aligned to {align} bytes, as its pixels must be")));
        }
        let (width, height) = (view.extent.width, view.extent.height);
        // The view lies within 32-bit addresses; a negative pitch wraps around.
        let head = [view.offset as u32, view.row_pitch as u32, width, height, 0, 0, 0, 0];
        Ok(Plan { format: view.format, head, groups: self.groups(width, height) })
    }

    fn of_buffer(&self, view: &BufferView, items: Option<usize>, limits: &Limits) -> Result<Plan> {
        if !view.offset.is_multiple_of(WORD) {
            return Err(Error::refused(format!("{view:?} does not begin at a multiple of {WORD} bytes")));
        }
        let items = items.or(self.items).unwrap_or(view.len / WORD);
        let too_many = || Error::refused(format!("{items} work items are more than a device supports"));
        let items = u32::try_from(items).map_err(|_| too_many())?;
        let [across, down] = self.group;
        let groups = items.div_ceil(across);
        let rows = groups.div_ceil(limits.groups).next_multiple_of(down);
        let columns = if rows == 0 { 0 } else { groups.div_ceil(rows) };
        let stride = columns.checked_mul(across).ok_or_else(too_many)?;
        let head = [view.offset as u32, view.len as u32, items, 1, stride, 0, 0, 0];
        Ok(Plan { format: PixelFormat::Rgba8, head, groups: [columns, rows / down] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interop_core::{Extent, KernelSource};

    fn limits() -> Limits {
        Limits { device: "a device".into(), memories: 4, groups: 100, items: 256 }
    }

    fn text(group: &str) -> KernelText {
        let text = format!("@compute @workgroup_size({group}) fn k() {{ pf_put(0u, 1u); }}");
        KernelText::of(&KernelSource::new("k").wgsl(text), &limits()).unwrap()
    }

    fn word(launch: &Launch, at: usize) -> u32 {
        u32::from_ne_bytes(launch.numbers()[4 * at..4 * at + 4].try_into().unwrap())
    }

    #[test]
    fn grids_cover_every_item_once() {
        for (group, [across, down]) in [("64", [64, 1]), ("8, 8", [8, 8]), ("1", [1, 1])] {
            for items in [0_usize, 1, 63, 64, 65, 6400, 6401, 9999] {
                let view = View::Buffer(BufferView { offset: 4, len: 40_000 });
                let planned = text(group).plan(&view, Some(items), &[], &limits());
                if group == "1" && items > 100 * 100 {
                    assert!(planned.is_err());
                    continue;
                }
                let (_, launch) = planned.unwrap();
                let [columns, rows] = launch.groups;
                let stride = word(&launch, 4);
                assert_eq!((word(&launch, 0), word(&launch, 2)), (4, items as u32));
                assert_eq!(stride, columns * across, "{group}, {items}");
                assert!(stride as usize * (rows * down) as usize >= items, "{group}, {items}");
                assert_eq!(launch.is_empty(), items == 0);
            }
        }
    }

    #[test]
    fn images_are_covered_and_too_large_ones_refused() {
        let image = |width, height| {
            View::Image(ImageView::packed(Extent::new(width, height), PixelFormat::R8, 1, 0, true).unwrap())
        };
        let (format, launch) = text("8, 4").plan(&image(17, 9), None, &[], &limits()).unwrap();
        assert_eq!((format, launch.groups), (PixelFormat::R8, [3, 3]));
        assert_eq!([word(&launch, 1), word(&launch, 2), word(&launch, 3)], [17_u32.wrapping_neg(), 17, 9]);
        assert!(launch.numbers().len() <= NUMBERS);
        let error = text("8, 4").plan(&image(801, 9), None, &[], &limits()).unwrap_err().to_string();
        assert!(error.contains("101 x 3 groups") && error.contains("a device"), "{error}");
    }
}
